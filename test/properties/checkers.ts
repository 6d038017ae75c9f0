/** One checker for each invariant, by its id. Each reads events and views only, never the fold's own records. */
import { isDeepStrictEqual } from 'node:util'
import {
  agentsOf,
  breakersOf,
  deadLetterPatterns,
  depthOf,
  duplicateOf,
  type EventType,
  headOf,
  isClaimable,
  isFinal,
  listTasks,
  nextDue,
  type QueueEvent,
  statuses,
  type TaskFilter,
  taskOf,
} from '@daybook/core'
import {
  agentsInShadow,
  breakersInShadow,
  depthInShadow,
  listInShadow,
  patternsInShadow,
  type ShadowTask,
  sizesOf,
} from '@daybook/core/testing'
import { skillNames, taskTypes } from './steps.js'
import { type Checker, holds, textOf, type World } from './world.js'

const endings: ReadonlyArray<EventType> = ['Released', 'ClaimExpired', 'Failed', 'Completed', 'Cancelled', 'Discarded']
const onLease: ReadonlyArray<EventType> = ['LeaseExtended', 'Released', 'ClaimExpired', 'Failed', 'MarkedIncomplete', 'Completed']
const taskIn = (event: QueueEvent): string | undefined => ('task' in event.data ? event.data.task : undefined)
const all = Number.MAX_SAFE_INTEGER
const allTasks = (world: World) => listTasks(world.state, {}, all).tasks
const json = (value: unknown): string => JSON.stringify(value)
const same = (got: unknown, want: unknown, what: string): void =>
  holds(isDeepStrictEqual(got, want), () => `${what}:\n  got  ${json(got)}\n  want ${json(want)}`)

/** INV-1: at most one live lease per task. */
const oneLease = (): Checker => {
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

/** INV-2: tokens grow, and only the newest settles anything. */
const newestToken = (): Checker => {
  const newest = new Map<string, { readonly token: number; readonly agent: string }>()
  let last = 0
  return {
    command: ({ shadow }, command, decision) => {
      if (!('token' in command)) return
      const task = shadow.task(command.task)
      const lease = task?.lease
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

/** INV-3: attempts and retries are what the log says. */
const countsOfAttempts = (): Checker => {
  const tallies = new Map<string, { attempts: number; retries: number }>()
  return {
    note: (event) => {
      const id = taskIn(event)
      if (id === undefined) return
      if (event.type === 'TaskEnqueued' || event.type === 'Requeued') tallies.set(id, { attempts: 0, retries: 0 })
      if (event.type === 'TaskImported') tallies.set(id, { attempts: 0, retries: event.data.retries })
      const tally = tallies.get(id)
      if (tally === undefined) return
      if (['Released', 'Failed', 'ClaimExpired'].includes(event.type)) tally.attempts++
      if (['Failed', 'ClaimExpired'].includes(event.type)) tally.retries++
    },
    step: (world) => {
      for (const { id, attempts, retries } of allTasks(world)) same({ attempts, retries }, tallies.get(id), `counts of ${id}`)
    },
  }
}

/** INV-4: a dead letter exactly when it should be, and back by a reviewer alone. */
const deadLetterRule = (): Checker => {
  const reasonAfter = (task: ShadowTask, event: QueueEvent, maxAttempts: number): string | undefined => {
    if (event.type === 'Failed' && !event.data.retryable) return 'not-retryable'
    if (event.type !== 'Released' && task.retries + 1 >= task.facts.maxRetries) return 'retries-exhausted'
    return task.attempts + 1 >= maxAttempts ? 'attempts-exhausted' : undefined
  }
  return {
    event: ({ shadow }, event, decided, index) => {
      const id = taskIn(event) ?? ''
      const task = shadow.task(id)
      const next = decided[index + 1]
      if (task !== undefined && ['Failed', 'ClaimExpired', 'Released'].includes(event.type)) {
        const isNext = next?.type === 'DeadLettered' && next.data.task === id
        same(isNext ? next.data.reason : undefined, reasonAfter(task, event, shadow.settings.maxAttempts), `why ${id} is a dead letter`)
      }
      if (event.type === 'DeadLettered') {
        const before = decided[index - 1]
        const isEnd = before !== undefined && ['Failed', 'ClaimExpired', 'Released'].includes(before.type) && taskIn(before) === id
        holds(isEnd, `${id} is dead-lettered out of nothing`)
      }
      if (event.type === 'Requeued') holds(task?.stage === 'dead-letter', `${id} is requeued from ${task?.stage}`)
      if (task?.stage === 'dead-letter') {
        const isCascade = event.type === 'Cancelled' && index > 0
        holds(event.type === 'Requeued' || event.type === 'Discarded' || isCascade, `${event.type} of the dead letter ${id}`)
      }
    },
    step: (world) => {
      const dead = allTasks(world).filter((task) => task.status === 'dead-letter').map((task) => task.id)
      same(new Set(dead), new Set(world.shadow.tasks.filter((task) => task.stage === 'dead-letter').map((task) => task.facts.task)), 'dead letters')
    },
  }
}

/** INV-5: all dependencies completed before a claim. */
const dependenciesFirst = (): Checker => {
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
        // An id may be used again once its first task is gone: what depends on it then means the new one.
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

/** INV-6: breakers admit what they should, move along legal edges, and are never stuck. */
const breakerRule = (): Checker => {
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
        if (breaker.state !== 'half-open' || shadow.paused !== null) continue
        const probe = breaker.probe === null ? undefined : shadow.task(breaker.probe)
        if (breaker.probe !== null) {
          holds(probe !== undefined && shadow.isHeld(probe), `${type} is stuck half-open: its probe ${breaker.probe} does not run`)
        }
        const isWaiting = shadow.tasks.some((task) => task.facts.type === type && shadow.statusOf(task) === 'pending')
        const request = { agent: 'newcomer', types: [type], skills: skillNames }
        same(isClaimable(state, request), isWaiting && breaker.probe === null, `whether a probe of ${type} can be claimed`)
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

const blocks = (task: ShadowTask): boolean => !['dead-letter', 'cancelled', 'discarded'].includes(task.stage)

/** INV-7: each key once, duplicates silent. */
const keysOnce = (): Checker => ({
  command: ({ shadow }, command, decision) => {
    if (command.type !== 'Enqueue' || decision._tag === 'Left') return
    const taken = new Map(shadow.tasks.filter(blocks).map((task) => [task.facts.idempotencyKey, task]))
    for (const task of command.tasks) {
      const events = decision.right.filter((event) => event.type === 'TaskEnqueued' && event.data.idempotencyKey === task.idempotencyKey)
      const isKnown = taken.has(task.idempotencyKey)
      same(events.length, isKnown ? 0 : 1, `events for key ${task.idempotencyKey}`)
    }
  },
  step: ({ shadow, state }) => {
    const blocking = shadow.tasks.filter(blocks)
    const keys = blocking.map((task) => task.facts.idempotencyKey)
    holds(new Set(keys).size === keys.length, () => `keys twice: ${json([...keys].sort())}`)
    for (const task of shadow.tasks) {
      const key = task.facts.idempotencyKey
      same(duplicateOf(state, key)?.id, blocking.find((other) => other.facts.idempotencyKey === key)?.facts.task, `whom ${key} duplicates`)
    }
  },
})

/** INV-8: nothing waits for what will never complete. */
const cascades = (): Checker => ({
  command: ({ shadow }, command, decision) => {
    if (command.type !== 'Cancel' || decision._tag === 'Left') return
    const told = decision.right.flatMap((event) => (event.type === 'Cancelled' ? [event.data.task] : []))
    const doomed = new Set([command.task])
    for (let size = 0; size !== doomed.size; ) {
      size = doomed.size
      for (const task of shadow.tasks) {
        if (!shadow.isEnded(task) && task.facts.dependencies?.some((id) => doomed.has(id)) === true) doomed.add(task.facts.task)
      }
    }
    if (shadow.task(command.task)?.stage !== 'cancelled') same([...told].sort(), [...doomed].sort(), `cancelled with ${command.task}`)
  },
  step: (world) => {
    const status = new Map(allTasks(world).map((task) => [task.id, task.status]))
    for (const task of allTasks(world)) {
      if (isFinal(task.status)) continue
      for (const id of task.dependencies) {
        const fate = status.get(id)
        holds(fate !== 'cancelled' && fate !== 'discarded', `${task.id} is ${task.status} and waits for ${id}, which is ${fate}`)
      }
    }
  },
})

/** INV-9: every task in exactly one status, and all counts add up. */
const conservation = (): Checker => {
  let entered = 0
  return {
    note: (event) => {
      if (event.type === 'TaskEnqueued' || event.type === 'TaskImported') entered++
    },
    step: ({ shadow, state }) => {
      const lists = statuses.map((status) => listTasks(state, { statuses: [status] }, all).tasks)
      const ids = lists.flat().map((task) => task.id)
      const depth = depthOf(state)
      holds(new Set(ids).size === ids.length, 'a task in two statuses')
      same(ids.length, entered - shadow.gone.length, 'tasks in the state')
      same(depth.total, ids.length, 'total')
      statuses.forEach((status, s) => same(depth.byStatus[status], lists[s]?.length, status))
      const pending = depth.byStatus.pending
      const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0)
      same([sum(depth.byPriority), sum(depth.byType)], [pending, pending], 'pending by priority, by type')
    },
  }
}

/** INV-11: claims are the brute-force choice. */
const bestFirst = (): Checker => ({
  command: ({ shadow }, command, decision) => {
    if (command.type !== 'Claim' || decision._tag === 'Left') return
    const { type: _, max, ...request } = command
    const got = decision.right.map((event) => (event.type === 'Claimed' ? [event.data.task, event.data.probe === true] : event.type))
    same(got, shadow.pick(request, max).map(({ task, probe }) => [task.facts.task, probe]), `given to ${command.agent}`)
  },
})

/** INV-14: time does not run backward. */
const monotoneTime = (): Checker => {
  let last = 0
  return {
    event: (_, event, __, index) => holds(event.at >= last, `event ${index} at ${event.at}, after ${last}`),
    note: (event) => {
      last = event.at
    },
    step: ({ state }) => same(headOf(state).at, last, 'the time of the state'),
  }
}

/** INV-16: refused is refused as a whole, accepted is accepted as a whole. */
const allOrNone = (): Checker => ({
  command: ({ shadow, state }, command, decision) => {
    if (command.type !== 'Enqueue') return
    const given = new Map(command.tasks.map((task) => [task.id, task]))
    const isKnown = (id: string): boolean => shadow.task(id) !== undefined
    const fresh = command.tasks.filter(
      ({ id, idempotencyKey: key }, i) =>
        !isKnown(id) &&
        duplicateOf(state, key) === undefined &&
        !command.tasks.slice(0, i).some((earlier) => earlier.id === id || earlier.idempotencyKey === key),
    )
    const hopeless = fresh.find((task) =>
      task.dependencies?.some((id) => {
        const stage = shadow.task(id)?.stage
        return (!isKnown(id) && !given.has(id)) || (stage !== undefined && ['cancelled', 'discarded'].includes(stage))
      }),
    )
    const clash = command.tasks.find(({ id, idempotencyKey }) => {
      const known = shadow.task(id)
      return known !== undefined && known.facts.idempotencyKey !== idempotencyKey
    })
    if (hopeless !== undefined || clash !== undefined) {
      holds(decision._tag === 'Left', `a part was taken in, though ${(hopeless ?? clash)?.id} cannot be`)
    }
  },
  step: ({ state, shadow }, command, decided) => {
    same(headOf(state).revision, shadow.revision, 'revision')
    same(headOf(state).misfits, 0, 'misfits')
    if (command?.type !== 'Enqueue' || decided.length === 0) return
    for (const task of command.tasks) {
      const isGone = shadow.gone.some(({ facts }) => facts.task === task.id || facts.idempotencyKey === task.idempotencyKey)
      const isThere = isGone || taskOf(state, task.id) !== undefined || duplicateOf(state, task.idempotencyKey) !== undefined
      holds(isThere, `${task.id} was accepted and is not there`)
    }
  },
})

/** INV-17: final is final. */
const finalIsFinal = (): Checker => {
  const final = new Map<string, string>()
  return {
    event: ({ shadow }, event) => {
      const id = taskIn(event) ?? ''
      const task = shadow.task(id)
      holds(task === undefined || !shadow.isEnded(task) || task.finishedAt === 0, `${event.type} of ${id}, which is ${task?.stage}`)
    },
    note: (event) => {
      const id = taskIn(event) ?? ''
      if (event.type === 'Completed') final.set(id, 'completed')
      else if (event.type === 'Cancelled') final.set(id, 'cancelled')
      else if (event.type === 'Discarded') final.set(id, 'discarded')
      else if (event.type === 'TaskEnqueued' || event.type === 'TaskImported') final.delete(id)
    },
    step: ({ state }) => {
      for (const [id, status] of final) same(taskOf(state, id)?.status ?? status, status, id)
    },
  }
}

/** INV-18: who gave a task back does not get it again. */
const barred = (): Checker => {
  const given = new Map<string, Set<string>>()
  return {
    event: (_, event) => {
      if (event.type !== 'Claimed') return
      const { task, agent } = event.data
      holds(given.get(task)?.has(agent) !== true, `${agent} gets ${task} again, which it released`)
    },
    note: (event) => {
      const id = taskIn(event) ?? ''
      if (event.type === 'Released') given.set(id, new Set([...(given.get(id) ?? []), event.data.agent]))
      if (event.type === 'Requeued' || event.type === 'TaskEnqueued') given.delete(id)
    },
  }
}

const filters: ReadonlyArray<TaskFilter> = [
  {},
  { statuses: ['pending', 'dead-letter'], priorityMin: 3, priorityMax: 8 },
  { type: 'eng-*', phase: 'REQUIREMENTS' },
  { ticketId: 'T-1', priorityMax: 9 },
  { agent: 'ann' },
  { agent: 'bob', statuses: ['in-progress', 'completed'] },
  { tenant: 'acme', text: 'ENOENT' },
  { text: 'T1' },
]

/** INV-20, TQM-DM-003: what is shown is what a scan from scratch finds. */
const viewsAreScans = (): Checker => {
  let turn = 0
  return {
    step: ({ state, shadow }) => {
      const filter = filters[turn++ % filters.length] as TaskFilter
      const shown = []
      for (let after: string | undefined, more = true; more; more = after !== undefined) {
        const page = listTasks(state, filter, 3, after)
        shown.push(...page.tasks)
        after = page.next
      }
      same(shown, listInShadow(shadow, filter), `tasks by ${json(filter)}`)
      same(depthOf(state), depthInShadow(shadow), 'depth')
      same(breakersOf(state), breakersInShadow(shadow), 'breakers')
      same(agentsOf(state), agentsInShadow(shadow), 'agents')
      const patterns = deadLetterPatterns(state)
      const plain = patterns.map(({ sample: _, tasks: __, ...pattern }) => pattern)
      const order = (list: ReadonlyArray<unknown>): ReadonlyArray<string> => list.map(json).sort()
      same(order(plain), order(patternsInShadow(shadow)), 'dead letter patterns')
      holds(patterns.every((pattern, i) => i === 0 || pattern.count <= (patterns[i - 1]?.count ?? 0)), 'most frequent first')
      const dues = shadow.tasks.flatMap((task) => {
        const status = shadow.statusOf(task)
        return status === 'scheduled' ? [task.delayedUntil] : shadow.isHeld(task) ? [task.lease?.expiresAt ?? 0] : []
      })
      const cooling = [...shadow.breakers.values()].flatMap((b) => (b.state === 'open' && b.halfOpenAt !== 0 ? [b.halfOpenAt] : []))
      const due = [...dues, ...cooling]
      same(nextDue(state), due.length === 0 ? undefined : Math.min(...due), 'next due')
    },
  }
}

/** INV-22: nothing is kept but what the live and the retained tasks need. */
const boundedSize = (): Checker => {
  const typesEver = new Set<string>()
  const entered = { count: 0 }
  let finished: ReadonlyArray<number> = []
  return {
    note: (event) => {
      if (event.type !== 'TaskEnqueued' && event.type !== 'TaskImported') return
      entered.count++
      typesEver.add(event.data.type)
    },
    step: (world, command, decided) => {
      const sizes = sizesOf(world.state)
      const { live, retained, entries } = sizes
      const known = live + retained
      same(
        { byId: entries['byId'], byNumber: entries['byNumber'], groups: entries['groups'], finished: entries['finished'] },
        { byId: known, byNumber: known, groups: known, finished: retained },
        'index entries',
      )
      for (const index of ['byKey', 'byTicket']) holds((entries[index] ?? 0) <= known, `${index}: ${entries[index]} of ${known}`)
      for (const index of ['leases', 'timers']) holds((entries[index] ?? 0) <= live, `${index}: ${entries[index]} of ${live}`)
      same({ emptyGroups: sizes.emptyGroups, ghosts: sizes.ghosts }, { emptyGroups: 0, ghosts: 0 }, 'left over')
      holds(sizes.breakers <= Math.max(taskTypes.length, typesEver.size), 'a breaker of a type never seen')
      // Each event takes out up to 16 tasks whose retention is over.
      const horizon = headOf(world.state).at - world.shadow.settings.retentionSeconds * 1_000
      const now = allTasks(world).flatMap((task) => (isFinal(task.status) ? [task.finishedAt ?? 0] : []))
      const overdue = (list: ReadonlyArray<number>): number => list.filter((time) => time <= horizon).length
      const ends = decided.filter((event) => ['Completed', 'Cancelled', 'Discarded', 'TaskImported'].includes(event.type)).length
      if (command !== undefined && command.type !== 'Configure' && decided.length > 0) {
        const bound = Math.max(0, overdue(finished) - 16 * decided.length) + ends
        holds(overdue(now) <= bound, `${overdue(now)} tasks beyond their retention, not ${bound}`)
      }
      finished = now
      holds(known <= entered.count, 'more tasks than were enqueued')
    },
  }
}

/** INV-15, its second part: deciding, and being asked, changes nothing; the same question has the same answer. */
const decideChangesNothing = (): Checker => {
  let text: string | undefined
  return {
    command: (world, command, decision, envelope) => {
      same(world.system.decide(command, envelope)(world.state), decision, 'decided again')
      if (text !== undefined) holds(textOf(world.state) === text, 'decide changed the state')
    },
    step: (world) => {
      text = textOf(world.state)
    },
  }
}

export const checkers = {
  'INV-1': oneLease,
  'INV-2': newestToken,
  'INV-3': countsOfAttempts,
  'INV-4': deadLetterRule,
  'INV-5': dependenciesFirst,
  'INV-6': breakerRule,
  'INV-7': keysOnce,
  'INV-8': cascades,
  'INV-9': conservation,
  'INV-11': bestFirst,
  'INV-14': monotoneTime,
  'INV-15': decideChangesNothing,
  'INV-16': allOrNone,
  'INV-17': finalIsFinal,
  'INV-18': barred,
  'INV-20': viewsAreScans,
  'INV-22': boundedSize,
} as const satisfies Record<string, () => Checker>

export type Invariant = keyof typeof checkers
