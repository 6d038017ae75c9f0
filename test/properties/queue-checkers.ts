/** Checkers of the queue as a whole: order, keys, cascades, views, size. They use events and views only. */
import {
  agentsOf,
  breakersOf,
  cancelMax,
  type Command,
  type Decision,
  deadLetterPatterns,
  depthOf,
  duplicateOf,
  headOf,
  isFinal,
  listTasks,
  nextDue,
  type PreparedTask,
  type QueueEvent,
  type QueueState,
  statuses,
  type TaskFilter,
  taskCount,
  taskOf,
  type TaskView,
} from '@daybook/core'
import { agentsInShadow, areSame, breakersInShadow, type Contents, contentsOf, depthInShadow, listInShadow, matchesFilter, patternsInShadow, type Shadow, type ShadowTask, type Sizes, sizesOf } from '../support/states/index.js'
import { all, json, same, taskIn } from './look.js'
import { taskTypes } from './steps.js'
import { type Checker, holds, type World } from './world.js'

const blocks = (task: ShadowTask): boolean => !['dead-letter', 'cancelled', 'discarded'].includes(task.stage)

/** Whether a task may be the duplicate of another by its key (LK-05). */
const sharesKey = ({ settings }: Shadow, { deduplicate, isContentKey }: PreparedTask): boolean =>
  ({ content: true, key: isContentKey !== true, off: false })[deduplicate ?? settings.deduplicate]

/** A name that an isolated queue stores under the tenant's. */
const under = (tenant: string | undefined, name: string): string => (name.startsWith(`${tenant}:`) ? name : `${tenant}:${name}`)

/** The tasks as the queue stores them. If its tenants are isolated, keys and made ids begin with the tenant's name. */
const asStored = ({ settings }: Shadow, tasks: ReadonlyArray<PreparedTask>): ReadonlyArray<PreparedTask> =>
  settings.tenants === 'shared'
    ? tasks
    : tasks.map((task) => ({ ...task, idempotencyKey: under(task.tenant, task.idempotencyKey), id: task.isMadeId === true ? under(task.tenant, task.id) : task.id }))

/** The tasks of an accepted request that are new at `at`, by the rule: each id once, each shared key once, among the tasks retained then (INV-25). */
const newOnes = (shadow: Shadow, at: number, tasks: ReadonlyArray<PreparedTask>): ReadonlyArray<PreparedTask> => {
  const known = shadow.knownAt(at)
  const ids = new Set(known.map((task) => task.facts.task))
  const keys = new Set(known.filter(blocks).map((task) => task.facts.idempotencyKey))
  return tasks.filter((task) => {
    const { id, idempotencyKey: key } = task
    const isShared = sharesKey(shadow, task)
    if (ids.has(id) || (isShared && keys.has(key))) return false
    ids.add(id)
    if (isShared) keys.add(key)
    return true
  })
}

/** By the log: the task that was parked last for this key, and whether it got the callback; `undefined` if it is no longer known. */
const parkedFor = ({ shadow, log }: World, key: string, at: number): { readonly task: string; readonly isAnswered: boolean } | undefined => {
  const from = log.findLastIndex((event) => event.type === 'TaskParked' && event.data.callbackKey === key)
  const id = from < 0 ? '' : (taskIn(log[from] as QueueEvent) as string)
  const since = log.slice(from)
  const task = shadow.task(id, at)
  // Another task with this id may have come since.
  if (task === undefined || since.some((event) => event.type === 'QueueDeleted') || task.enqueuedRevision > from) return undefined
  const isAnswered = since.some((event) => event.type === 'CallbackReceived' && event.data.callbackKey === key)
  return isAnswered || (task.stage === 'parked' && task.parked?.callbackKey === key) ? { task: id, isAnswered } : undefined
}

/** The same for the keys of callbacks: one waiting task for each, and a repetition appends nothing. */
const callbacksOnce = (world: World, command: Command, decision: Decision, at: number): void => {
  if (command.type !== 'Callback' && command.type !== 'Park') return
  const { settings } = world.shadow
  const isUnder = command.type === 'Park' && settings.tenants === 'isolated'
  const parked = parkedFor(world, isUnder ? under(world.shadow.task(command.task)?.facts.tenant, command.callbackKey) : command.callbackKey, at)
  if (command.type === 'Park') {
    if (decision._tag === 'Right') holds(parked === undefined || parked.isAnswered, `two tasks wait for ${command.callbackKey}`)
    else if (decision.left.code === 'conflict') holds(parked?.isAnswered === false, `nobody else waits for ${command.callbackKey}`)
    return
  }
  const got = decision._tag === 'Left' ? decision.left.code : decision.right.map(({ type, data }) => [type, 'task' in data ? data.task : ''])
  same(got, parked === undefined ? 'not-found' : parked.isAnswered ? [] : [['CallbackReceived', parked.task]], `the callback ${command.callbackKey}`)
}

/** INV-7: each key once, duplicates append nothing; and a task with its own id is not dropped because its content is not new. */
export const keysOnce = (): Checker => ({
  command: (world, command, decision, { at }) => {
    const { shadow } = world
    callbacksOnce(world, command, decision, Math.max(at, shadow.at))
    if (command.type !== 'Enqueue' || decision._tag === 'Left') return
    const now = Math.max(at, shadow.at)
    const ids = decision.right.flatMap((event) => (event.type === 'TaskEnqueued' ? [event.data.task] : []))
    const tasks = asStored(shadow, command.tasks)
    same([...ids].sort(), newOnes(shadow, now, tasks).map(({ id }) => id).sort(), 'what is new')
    for (const { id, isContentKey, isMadeId } of tasks) {
      if (isContentKey !== true || isMadeId === true) continue
      holds(ids.includes(id) || shadow.task(id, now) !== undefined, `${id} was swallowed for its content`)
    }
  },
  step: ({ shadow, state }) => {
    const blocking = shadow.knownAt(shadow.at).filter(blocks)
    const holders = new Map(blocking.map(({ facts }) => [facts.idempotencyKey, facts.task]))
    holds(holders.size === blocking.length, () => `keys twice: ${json(blocking.map(({ facts }) => facts.idempotencyKey).sort())}`)
    for (const { facts } of shadow.tasks) {
      const key = facts.idempotencyKey
      if (shadow.settings.tenants === 'isolated') {
        // No producer can give a key without its tenant's name, so those that the queue makes for spawned tasks need none.
        for (const name of [key.startsWith('spawned ') ? undefined : key, facts.orderingKey, facts.concurrencyKey]) holds(name === undefined || name === under(facts.tenant, name), `${facts.task} of tenant ${facts.tenant} has the name ${name}`)
      }
      same(duplicateOf(state, key)?.id, holders.get(key), `whom ${key} duplicates`)
    }
  },
})

const cancellable = statuses.filter((status) => !isFinal(status) && status !== 'dead-letter')

/** These tasks and all that depend on them, directly or indirectly. */
const doomedWith = (shadow: Shadow, ids: ReadonlyArray<string>): ReadonlySet<string> => {
  const doomed = new Set(ids)
  for (let size = 0; size !== doomed.size; ) {
    size = doomed.size
    for (const task of shadow.tasks) {
      const waitsFor = (id: string): boolean => doomed.has(id) && shadow.dependency(task, id, 0) !== undefined
      if (!shadow.isEnded(task) && task.facts.dependencies?.some(waitsFor) === true) doomed.add(task.facts.task)
    }
  }
  return doomed
}

/** INV-8: no task waits for one that will never complete. */
export const cascades = (): Checker => ({
  command: ({ shadow }, command, decision) => {
    if ((command.type !== 'Cancel' && command.type !== 'CancelAll') || decision._tag === 'Left') return
    const told = decision.right.flatMap((event) => (event.type === 'Cancelled' ? [event.data.task] : []))
    if (command.type === 'Cancel') {
      if (shadow.task(command.task)?.stage !== 'cancelled') same([...told].sort(), [...doomedWith(shadow, [command.task])].sort(), `cancelled with ${command.task}`)
      return
    }
    const { filter, max = cancelMax } = command
    // In the order of the list, until there are enough.
    let doomed: ReadonlySet<string> = new Set()
    for (const { id } of listInShadow(shadow, { ...filter, statuses: filter.statuses ?? cancellable })) {
      if (doomed.size < max) doomed = doomedWith(shadow, [...doomed, id])
    }
    same([...told].sort(), [...doomed].sort(), `cancelled by ${json(filter)}`)
  },
  step: (world) => {
    if (!world.isCloseLook) return
    const known = new Map(world.tasks.map((task) => [task.id, task]))
    for (const task of known.values()) {
      if (isFinal(task.status)) continue
      for (const id of task.dependencies) {
        const other = known.get(id)
        // If an id was used again, its new task is not the dependency.
        const fate = other !== undefined && other.number < task.number ? other.status : undefined
        holds(fate !== 'cancelled' && fate !== 'discarded', `${task.id} is ${task.status} and waits for ${id}, which is ${fate}`)
      }
    }
  },
})

/** INV-9: every task is in exactly one status, and all counts add up. */
export const conservation = (): Checker => {
  let entered = 0
  return {
    note: (event) => {
      if (event.type === 'TaskEnqueued' || event.type === 'TaskImported') entered++
    },
    step: (world) => {
      if (!world.isCloseLook) return
      const { shadow, state, tasks } = world
      const ids = tasks.map((task) => task.id)
      const depth = depthOf(state)
      holds(new Set(ids).size === ids.length, 'a task in two statuses')
      const over = shadow.tasks.length - shadow.knownAt(shadow.at).length
      same(ids.length, entered - shadow.gone.length - over, 'tasks that are known')
      same(depth.total, ids.length, 'total')
      for (const status of statuses) same(depth.byStatus[status], tasks.filter((task) => task.status === status).length, status)
      const pending = depth.byStatus.pending + depth.byStatus.queued
      const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0)
      same([sum(depth.byPriority), sum(depth.byType)], [pending, pending], 'pending by priority, by type')
    },
  }
}

/** INV-10: no more agents work than may, except on bumped tasks, and over capacity nothing else starts. */
export const withinCapacity = (): Checker => ({
  event: ({ shadow }, event) => {
    if (event.type !== 'Claimed') return
    const { maxConcurrentAgents: max, overcapLimit, bumpAndStart } = shadow.settings.capacity
    const active = new Set(shadow.tasks.flatMap((task) => (shadow.isHeld(task) ? [task.lease?.agent] : [])))
    const isStart = !active.has(event.data.agent)
    const working = active.size + (isStart ? 1 : 0)
    const isBumped = shadow.task(event.data.task, event.at)?.isBumped === true && bumpAndStart
    holds(isBumped || working <= max, `${event.data.agent} takes ${event.data.task}, and ${working} of ${max} agents work`)
    holds(!isStart || working <= max + overcapLimit, `${working} agents work, more than ${max} and ${overcapLimit}`)
  },
})

/** INV-11: claims equal the brute-force choice. */
export const bestFirst = (): Checker => ({
  command: ({ shadow }, command, decision, { at }) => {
    if (command.type !== 'Claim' || decision._tag === 'Left') return
    const { type: _, max, ...request } = command
    const got = decision.right.map((event) => (event.type === 'Claimed' ? [event.data.task, event.data.probe === true] : event.type))
    same(got, shadow.pick(request, max, at).map(({ task, probe }) => [task.facts.task, probe]), `given to ${command.agent}`)
  },
})

/** INV-14: time does not go back. */
export const monotoneTime = (): Checker => {
  let last = 0
  return {
    event: (_, event, __, index) => holds(event.at >= last, `event ${index} at ${event.at}, after ${last}`),
    note: (event) => {
      last = event.at
    },
    step: ({ state }) => same(headOf(state).at, last, 'the time of the state'),
  }
}

/** INV-16: a request is refused as a whole or accepted as a whole. */
export const allOrNone = (): Checker => ({
  command: ({ shadow }, command, decision, envelope) => {
    if (command.type !== 'Enqueue') return
    const at = Math.max(envelope.at, shadow.at)
    const tasks = asStored(shadow, command.tasks)
    const given = new Map(tasks.map((task) => [task.id, task]))
    const isKnown = (id: string): boolean => shadow.task(id, at) !== undefined
    const fresh = newOnes(shadow, at, tasks)
    const hopeless = fresh.find((task) =>
      task.dependencies?.some((id) => {
        const stage = shadow.task(id, at)?.stage
        return (!isKnown(id) && !given.has(id)) || (stage !== undefined && ['cancelled', 'discarded'].includes(stage))
      }),
    )
    const clash = tasks.find(({ id, idempotencyKey }) => {
      const known = shadow.task(id, at)
      return known !== undefined && ![idempotencyKey, `${idempotencyKey}#${known.facts.number}`].includes(known.facts.idempotencyKey)
    })
    if (hopeless !== undefined || clash !== undefined) {
      holds(decision._tag === 'Left', `a part was taken in, though ${(hopeless ?? clash)?.id} cannot be`)
    }
  },
  step: ({ state, shadow }, command, decided) => {
    same(headOf(state).revision, shadow.revision, 'revision')
    same(headOf(state).misfits, 0, 'misfits')
    if (command?.type !== 'Enqueue' || decided.length === 0) return
    for (const task of asStored(shadow, command.tasks)) {
      const isGone = [...shadow.gone, ...shadow.tasks].some(({ facts }) => facts.task === task.id || facts.idempotencyKey === task.idempotencyKey)
      const isThere = isGone || taskOf(state, task.id) !== undefined || duplicateOf(state, task.idempotencyKey) !== undefined
      holds(isThere, `${task.id} was accepted and is not there`)
    }
  },
})

/** INV-17: final is final. */
export const finalIsFinal = (): Checker => {
  const final = new Map<string, string>()
  return {
    event: ({ shadow }, event) => {
      const id = taskIn(event) ?? ''
      const task = shadow.task(id, event.at)
      // Erasing the content of a task does not change the task, and is only for finished tasks (EV-07).
      if (event.type === 'TaskErased') holds(task === undefined || shadow.isEnded(task), `${id} is erased, which is ${task?.stage}`)
      else holds(task === undefined || !shadow.isEnded(task) || task.finishedAt === 0, `${event.type} of ${id}, which is ${task?.stage}`)
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

/** INV-18: an agent that gave a task back does not get it again. */
export const barred = (): Checker => {
  const given = new Map<string, Set<string>>()
  return {
    event: (_, event) => {
      if (event.type !== 'Claimed') return
      const { task, agent } = event.data
      holds(given.get(task)?.has(agent) !== true, `${agent} gets ${task} again, which it released`)
    },
    note: (event) => {
      const id = taskIn(event) ?? ''
      if (event.type === 'Released' && event.data.undelivered !== true) given.set(id, new Set([...(given.get(id) ?? []), event.data.agent]))
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

/** INV-20, TQM-DM-003: the views show what a complete scan finds. */
export const viewsAreScans = (): Checker => ({
  step: (world) => {
    if (!world.isCloseLook) return
    const { shadow, state } = world
    const listed = listInShadow(shadow)
    same(world.tasks, listed, 'tasks')
    const filter = filters[world.turn % filters.length] as TaskFilter
    same(inPages(state, filter), listed.filter((task) => matchesFilter(task, filter)), `tasks by ${json(filter)}`)
    same(depthOf(state), depthInShadow(shadow, listed), 'depth')
    const { paused, deleted, settings } = headOf(state)
    same({ paused, deleted, settings }, { paused: shadow.paused, deleted: shadow.deleted, settings: shadow.settings }, 'the queue itself')
    same(breakersOf(state), breakersInShadow(shadow), 'breakers')
    same(agentsOf(state), agentsInShadow(shadow), 'agents')
    const patterns = deadLetterPatterns(state)
    const plain = patterns.map(({ sample: _, tasks: __, ...pattern }) => pattern)
    const order = (list: ReadonlyArray<unknown>): ReadonlyArray<string> => list.map(json).sort()
    same(order(plain), order(patternsInShadow(shadow)), 'dead letter patterns')
    holds(patterns.every((pattern, i) => i === 0 || pattern.count <= (patterns[i - 1]?.count ?? 0)), 'most frequent first')
    const dues = shadow.tasks.flatMap((task) => {
      const status = shadow.statusOf(task)
      if (task.stage === 'dead-letter') return task.snooze === undefined ? [] : [task.snooze.until]
      if (task.stage === 'parked') return [task.parked?.until ?? 0]
      return status === 'scheduled' ? [task.delayedUntil] : shadow.isHeld(task) ? [task.lease?.expiresAt ?? 0] : []
    })
    const cooling = [...shadow.breakers.values()].flatMap((b) => (b.state === 'open' && b.halfOpenAt !== 0 ? [b.halfOpenAt] : []))
    const waits = [...shadow.schedules.dueTimes(), ...shadow.slowdowns.values(), ...shadow.sleepers.values(), ...shadow.limits.shut.values(), ...(shadow.redrive === undefined ? [] : [shadow.redrive.nextAt])]
    const due = [...dues, ...cooling, ...waits]
    same(nextDue(state), due.length === 0 ? undefined : Math.min(...due), 'next due')
  },
})

const inPages = (state: QueueState, filter: TaskFilter): ReadonlyArray<TaskView> => {
  const shown: Array<TaskView> = []
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page = listTasks(state, filter, 3, after)
    shown.push(...page.tasks)
    after = page.next
  }
  return shown
}

/** INV-22: the state contains only what the live and the retained tasks need. */
export const boundedSize = (): Checker => {
  const typesEver = new Set<string>()
  let entered = 0
  /** The finish times of the retained tasks, and the number of tasks in the state that are no longer retained. */
  let finished: ReadonlyArray<number> = []
  let left = 0
  return {
    note: (event) => {
      if (event.type !== 'TaskEnqueued' && event.type !== 'TaskImported') return
      entered++
      typesEver.add(event.data.type)
    },
    step: (world, command, decided) => {
      const { shadow, state } = world
      const known = shadow.knownAt(shadow.at)
      const ended = known.flatMap((task) => (shadow.isEnded(task) ? [task.finishedAt] : []))
      const leftNow = taskCount(state) - known.length
      // Each event removes up to 16 tasks whose retention is over.
      const horizon = shadow.at - shadow.settings.retentionSeconds * 1_000
      const ends = decided.filter((event) => ['Completed', 'Cancelled', 'Discarded', 'TaskImported'].includes(event.type)).length
      if (command !== undefined && command.type !== 'Configure' && decided.length > 0) {
        const bound = Math.max(0, left + finished.filter((time) => time <= horizon).length - 16 * decided.length) + ends
        holds(leftNow <= bound, `${leftNow} tasks beyond their retention, not ${bound}`)
      }
      finished = ended
      left = leftNow
      // An entry that an index keeps too long stays there until the next close look.
      if (!world.isCloseLook) return
      const sizes = sizesOf(state)
      holdsNothingElse(sizes)
      same(sizes.retained, ended.length + leftNow, 'retained')
      holds(sizes.breakers <= Math.max(taskTypes.length, typesEver.size), 'a breaker of a type never seen')
      holds(sizes.chains <= sizes.live + sizes.retained + sizes.approvals, `${sizes.chains} chains`)
      holds(sizes.live + sizes.retained <= entered, 'more tasks than were enqueued')
      // Without an event, the timer removes the rest.
      if (leftNow > 0) same(sizesOf(world.clearedAt(shadow.at)).retained, ended.length, 'retained after all is forgotten')
    },
  }
}

const holdsNothingElse = ({ live, retained, records, entries, emptyGroups, emptyKinds, emptyPools, ghosts, numberSlots }: Sizes): void => {
  const known = live + retained
  same(records, live, 'records of finished tasks')
  const { byId, byNumber, lists, finished } = entries
  same({ byId, byNumber, lists, finished }, { byId: known, byNumber: known, lists: known, finished: retained }, 'index entries')
  for (const index of ['byKey', 'byTicket', 'byRoot']) holds((entries[index] ?? 0) <= known, `${index}: ${entries[index]} of ${known}`)
  for (const index of ['leases', 'timers']) holds((entries[index] ?? 0) <= live, `${index}: ${entries[index]} of ${live}`)
  same({ emptyGroups, emptyKinds, emptyPools, ghosts }, { emptyGroups: 0, emptyKinds: 0, emptyPools: 0, ghosts: 0 }, 'left over')
  holds(numberSlots <= 4 * known + 2_048, `${numberSlots} slots for ${known} numbers`)
}

/** INV-25: decisions and views at a time do not depend on which finished tasks have been evicted by then. */
export const judgedAtItsInstant = (): Checker => {
  let compared: QueueState | undefined
  return {
    command: (world, command, decision, envelope) => {
      const { system, state, shadow } = world
      const at = Math.max(envelope.at, shadow.at)
      const known = shadow.knownAt(at)
      // No retention is over, so nothing can differ.
      if (known.length === taskCount(state)) return
      const cleared = world.clearedAt(at)
      same(system.decide(command, envelope)(cleared), decision, `decided at ${at} with nothing left that is over`)
      // Once for all commands that are decided on the same state at the same time.
      if (cleared === compared) return
      compared = cleared
      viewsAreAlike(state, cleared, at, shadow, known)
    },
  }
}

const viewsAreAlike = (state: QueueState, cleared: QueueState, at: number, shadow: Shadow, known: ReadonlyArray<ShadowTask>): void => {
  same(depthOf(state, at), depthOf(cleared, at), `depth at ${at}`)
  same(listTasks(state, {}, all, undefined, at).tasks, listTasks(cleared, {}, all, undefined, at).tasks, `tasks at ${at}`)
  same(depthOf(state, at).total, known.length, `how many are known at ${at}`)
  for (const { facts } of shadow.tasks) {
    same(taskOf(state, facts.task, at) !== undefined, known.some((task) => task.facts.task === facts.task), `whether ${facts.task} is known at ${at}`)
  }
}

/** INV-15, second part: deciding and reading change nothing; the same question has the same answer. */
export const decideChangesNothing = (): Checker => {
  /** Of the state since it last changed. */
  let contents: Contents | undefined
  const compare = (state: QueueState): void => {
    if (contents !== undefined) holds(areSame(contentsOf(state), contents), 'decide changed the state')
    contents = undefined
  }
  return {
    command: ({ state, system }, command, decision, envelope) => {
      same(system.decide(command, envelope)(state), decision, 'decided again')
      // Once for all decisions about this state: just before it changes, or else at the end.
      if (decision._tag === 'Right' && decision.right.length > 0) compare(state)
    },
    step: ({ state, isCloseLook, turn }) => {
      compare(state)
      if (isCloseLook && turn % 2 === 0) contents = contentsOf(state)
    },
  }
}
