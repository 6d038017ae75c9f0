/** Checkers about single tasks: claims, how they end, and breakers. They use events and views only. */
import { agentsOf, deadLetters, type EventType, isClaimable, type QueueEvent, taskOf, type TaskView } from '@daybook/core'
import type { ShadowTask } from '../support/states/index.js'
import { all, same, taskIn } from './look.js'
import { skillNames } from './steps.js'
import { type Checker, holds } from './world.js'

const endings: ReadonlyArray<EventType> = ['Released', 'TaskParked', 'RateLimited', 'ClaimReturned', 'ClaimExpired', 'ClaimRevoked', 'Failed', 'Completed', 'Cancelled', 'Discarded']
const onLease: ReadonlyArray<EventType> = ['LeaseExtended', 'TaskParked', 'RateLimited', 'Released', 'ClaimReturned', 'ClaimExpired', 'ClaimRevoked', 'Failed', 'MarkedIncomplete', 'Completed']

/** INV-1: at most one live lease per task. */
export const oneLease = (): Checker => {
  const open = new Map<string, number>()
  return {
    event: (_, event) => {
      if (event.type === 'Claimed') holds(!open.has(event.data.task), `${event.data.task} is claimed, and was held already`)
    },
    note: (event) => {
      if (event.type === 'Claimed') open.set(event.data.task, event.data.token)
      if (endings.includes(event.type)) open.delete(taskIn(event) as string)
    },
    step: ({ state }) => {
      const held = agentsOf(state).flatMap(({ tasks }) => tasks)
      same([...held].sort(), [...open.keys()].sort(), 'who holds what')
    },
  }
}

/** INV-2: tokens grow, and only the newest token settles a task. */
export const newestToken = (): Checker => {
  const newest = new Map<string, { readonly token: number; readonly agent: string }>()
  let last = 0
  return {
    command: ({ shadow }, command, decision, { at }) => {
      if (!('token' in command)) return
      const task = shadow.task(command.task, Math.max(at, shadow.at))
      const lease = task?.lease
      // The holder's own parking is refused if another task waits for the same key: see `keysOnce`.
      if (command.type === 'Park' && decision._tag === 'Left' && decision.left.code === 'conflict') return
      const isHolders = lease?.token === command.token && lease.agent === command.agent
      if (task !== undefined && isHolders && shadow.isHeld(task)) {
        holds(decision._tag === 'Right' && decision.right.length > 0, `the holder of ${command.task} was not listened to`)
      } else if (command.type === 'Complete' && isHolders && task?.stage === 'completed') {
        same(decision, { _tag: 'Right', right: [] }, 'a completion told twice')
      } else {
        const code = decision._tag === 'Left' ? decision.left.code : 'accepted'
        holds(code === 'lease-lost' || code === 'not-found', `${command.type} by token ${command.token}: ${code}`)
      }
    },
    event: (_, event) => {
      if (event.type === 'Claimed') holds(event.data.token > last, `token ${event.data.token} after ${last}`)
      if (onLease.includes(event.type)) {
        const { task, agent, token } = event.data as { task: string; agent: string; token: number }
        same({ token, agent }, newest.get(task), `${event.type} of ${task} by its newest token`)
      }
    },
    note: (event) => {
      if (event.type !== 'Claimed') return
      last = event.data.token
      newest.set(event.data.task, { token: last, agent: event.data.agent })
    },
  }
}

const isFailedWait = (event: QueueEvent): boolean => event.type === 'ParkTimedOut' && event.data.onTimeout === 'fail'

/** Whether a claim ended as an attempt: the agent failed or released the task. It had received the claim and was not stopping, and no operator ended it. */
const isAttempt = (event: QueueEvent): boolean =>
  event.type === 'Failed' || event.type === 'ClaimExpired' || isFailedWait(event) || (event.type === 'Released' && event.data.undelivered !== true)

/** INV-3: attempts and retries agree with the log. */
export const countsOfAttempts = (): Checker => {
  const tallies = new Map<string, { attempts: number; retries: number }>()
  return {
    note: (event) => {
      const id = taskIn(event)
      if (id === undefined) return
      if (event.type === 'TaskEnqueued' || event.type === 'Requeued') tallies.set(id, { attempts: 0, retries: 0 })
      if (event.type === 'TaskImported') tallies.set(id, { attempts: 0, retries: event.data.retries })
      const tally = tallies.get(id)
      if (tally === undefined) return
      if (isAttempt(event)) tally.attempts++
      if (['Failed', 'ClaimExpired'].includes(event.type) || isFailedWait(event)) tally.retries++
    },
    step: (world) => {
      if (!world.isCloseLook) return
      for (const { id, attempts, retries } of world.tasks) same({ attempts, retries }, tallies.get(id), `counts of ${id}`)
    },
  }
}

const reviews: ReadonlyArray<EventType> = ['Requeued', 'Discarded', 'Snoozed', 'SnoozeLapsed', 'Escalated', 'TaskAmended']

/** INV-4: a task becomes a dead letter exactly when it should, the reason is right, and only a reviewer sends it back. */
export const deadLetterRule = (): Checker => {
  const reasonAfter = (task: ShadowTask, event: QueueEvent, maxAttempts: number): string | undefined => {
    if (event.type === 'Failed' && !event.data.retryable) return 'not-retryable'
    if (event.type !== 'Released' && task.retries + 1 >= task.facts.maxRetries) return 'retries-exhausted'
    return task.attempts + 1 >= maxAttempts ? 'attempts-exhausted' : undefined
  }
  return {
    event: ({ shadow, state }, event, decided, index) => {
      const id = taskIn(event) ?? ''
      const task = shadow.task(id)
      const next = decided[index + 1]
      if (task !== undefined && isAttempt(event)) {
        const isNext = next?.type === 'DeadLettered' && next.data.task === id
        if (event.type === 'ClaimExpired' || (event.type === 'Failed' && event.data.retryable)) {
          const { attempt, attemptsMax } = taskOf(state, id) as TaskView
          holds(isNext === (attempt === attemptsMax), `attempt ${attempt} of ${attemptsMax} of ${id} failed, and it ${isNext ? 'is' : 'is no'} dead letter`)
        }
        same(isNext ? next.data.reason : undefined, reasonAfter(task, event, shadow.settings.maxAttempts), `why ${id} is a dead letter`)
      }
      if (event.type === 'DeadLettered') {
        const before = decided[index - 1]
        const isEnd = before !== undefined && isAttempt(before) && taskIn(before) === id
        holds(isEnd, `${id} is dead-lettered out of nothing`)
      }
      if (event.type === 'Requeued') holds(task?.stage === 'dead-letter', `${id} is requeued from ${task?.stage}`)
      if (task?.stage === 'dead-letter') {
        const isCascade = event.type === 'Cancelled' && index > 0
        holds(reviews.includes(event.type) || isCascade, `${event.type} of the dead letter ${id}`)
      }
    },
    step: ({ shadow, state }) => {
      const dead = deadLetters(state, {}, all).map(({ id }) => id)
      const wanted = shadow.tasks.filter(({ stage }) => stage === 'dead-letter').map(({ facts }) => facts.task)
      same(dead.sort(), wanted.sort(), 'dead letters')
    },
  }
}

/** INV-5: all dependencies completed before a claim. */
export const dependenciesFirst = (): Checker => {
  const completed = new Set<string>()
  const wanted = new Map<string, ReadonlyArray<string>>()
  return {
    event: (_, event) => {
      if (event.type !== 'Claimed') return
      for (const id of wanted.get(event.data.task) ?? []) {
        holds(completed.has(id), `${event.data.task} is claimed though ${id} is not completed`)
      }
    },
    note: (event) => {
      if (event.type === 'TaskEnqueued' || event.type === 'TaskImported') {
        // An id may be used again once its first task is gone. A dependency then means the new task.
        completed.delete(event.data.task)
        wanted.set(event.data.task, (event.data.dependencies ?? []).filter((id) => !completed.has(id)))
      }
      if (event.type === 'Completed' || (event.type === 'TaskImported' && event.data.status === 'completed')) {
        for (const [task, ids] of wanted) wanted.set(task, ids.filter((id) => id !== event.data.task))
        completed.add(event.data.task)
      }
    },
  }
}

/** INV-6: breakers admit the right tasks, make only legal transitions, and are never stuck. */
export const breakerRule = (): Checker => {
  let counted = new Map<string, unknown>()
  return {
    command: ({ shadow }) => {
      counted = new Map([...shadow.breakers].map(([type, { failures }]) => [type, failures]))
    },
    event: ({ shadow }, event, decided) => {
      const about = shadow.task(taskIn(event) ?? '')
      if (about !== undefined && shadow.breakers.get(about.facts.type)?.probe === about.facts.task) {
        const next = decided.find(
          (each) => (each.type === 'BreakerOpened' || each.type === 'BreakerClosed') && each.data.taskType === about.facts.type,
        )
        const want = { Completed: 'probe-succeeded', Failed: 'probe-failed', ClaimExpired: 'probe-failed' }[event.type as string]
        if (want !== undefined) same(next !== undefined && 'cause' in next.data ? next.data.cause : undefined, want, `after ${event.type} of the probe ${about.facts.task}`)
      }
      if (event.type === 'Claimed') {
        const type = shadow.task(event.data.task)?.facts.type ?? ''
        const { state = 'closed', probe = null } = shadow.breakers.get(type) ?? {}
        holds(state !== 'open', `${event.data.task} is claimed while the breaker of ${type} is open`)
        holds(state !== 'half-open' || probe === null, `${event.data.task} is a second probe of ${type}`)
        holds((state === 'half-open') === (event.data.probe === true), `${event.data.task}: probe or not, ${state}`)
      }
      if (event.type !== 'BreakerOpened' && event.type !== 'BreakerHalfOpened' && event.type !== 'BreakerClosed') return
      const { taskType } = event.data
      const breaker = shadow.breakers.get(taskType)
      const state = breaker?.state ?? 'closed'
      const edge = `${state} → ${event.type}${'cause' in event.data ? `: ${event.data.cause}` : ''}`
      holds(legalEdges.has(edge), `illegal: ${edge}`)
      if (edge.endsWith('threshold')) {
        holds(shadow.failuresNow(taskType).length >= shadow.rules(taskType).failureThreshold, `${taskType} opened below its threshold`)
      }
      if (event.type === 'BreakerHalfOpened') {
        holds(breaker?.halfOpenAt !== 0 && event.at >= (breaker?.halfOpenAt ?? 0), `${taskType} half-open before its time`)
      }
    },
    step: ({ shadow, state }, command) => {
      for (const [type, breaker] of shadow.breakers) {
        const countedNow = breaker.failures.length > 0 && breaker.failures !== counted.get(type)
        if (breaker.state === 'closed' && command !== undefined && countedNow) {
          holds(breaker.failures.length < shadow.rules(type).failureThreshold, `${type} stays closed after ${breaker.failures.length} failures`)
        }
        if (breaker.state !== 'half-open' || shadow.paused !== null || shadow.slowdowns.has(type)) continue
        const probe = breaker.probe === null ? undefined : shadow.task(breaker.probe)
        if (breaker.probe !== null) {
          holds(probe !== undefined && shadow.isHeld(probe), `${type} is stuck half-open: its probe ${breaker.probe} does not run`)
        }
        const mayStart = shadow.tasks.some(
          (task) => task.facts.type === type && shadow.statusOf(task) === 'pending' && !shadow.isLimited(task.facts) && shadow.hasCapacityFor(task, 'newcomer'),
        )
        const request = { agent: 'newcomer', types: [type], skills: skillNames }
        same(isClaimable(state, request), mayStart && breaker.probe === null, `whether a probe of ${type} can be claimed`)
      }
    },
  }
}
const legalEdges = new Set([
  'closed → BreakerOpened: threshold',
  'half-open → BreakerOpened: probe-failed',
  'closed → BreakerOpened: manual',
  'open → BreakerOpened: manual',
  'half-open → BreakerOpened: manual',
  'open → BreakerHalfOpened',
  'half-open → BreakerClosed: probe-succeeded',
  'half-open → BreakerClosed: manual',
  'open → BreakerClosed: manual',
])
