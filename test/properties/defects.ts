/** Systems with one defect each. The checker of the named invariant must catch every one of them. */
import {
  type Command,
  decide,
  type Envelope,
  evolve,
  listTasks,
  mark,
  type QueueEvent,
  type QueueState,
  rollback,
  skip,
  snapshotPages,
  snapshotReader,
  taskOf,
  timeOf,
} from '@daybook/core'
import type { Invariant } from './checkers.js'
import { daybook, type System } from './world.js'

type Events = ReadonlyArray<QueueEvent>
export interface Defect {
  readonly breaks: Invariant
  readonly by: string
  /** Makes a new system for each history. */
  readonly system: () => System
}

/** The decider with changed events. */
const deciding = (change: (events: Events, state: QueueState, command: Command, envelope: Envelope) => Events): (() => System) => () => ({
  ...daybook,
  decide: (command, envelope) => (state) => {
    const decision = decide(command, envelope)(state)
    return decision._tag === 'Left' ? decision : { _tag: 'Right', right: change(decision.right, state, command, envelope) }
  },
})
/** The decider with a changed command. */
const asked = (change: (command: Command, state: QueueState) => Command, back: (events: Events, command: Command) => Events): (() => System) => () => ({
  ...daybook,
  decide: (command, envelope) => (state) => {
    const decision = decide(change(command, state), envelope)(state)
    return decision._tag === 'Left' ? decision : { _tag: 'Right', right: back(decision.right, command) }
  },
})
/** The fold with a changed event, or none. */
const folding = (change: (event: QueueEvent, state: QueueState) => QueueEvent | undefined): (() => System) => () => ({
  ...daybook,
  evolve: (state, event) => {
    const other = change(event, state)
    return other === undefined ? skip(state, event.type, { _tag: 'Unreadable', why: 'unknown type' }) : evolve(state, other)
  },
})
const unchanged = (events: Events): Events => events
const tasksIn = (state: QueueState, status: 'pending' | 'blocked' | 'in-progress' | 'completed') =>
  listTasks(state, { statuses: [status] }, 1_000).tasks
const claimOf = (task: string, token: number, { at }: Envelope): QueueEvent => ({
  type: 'Claimed',
  at,
  data: { task, agent: 'ann', token, expiresAt: at + 30_000 },
})
const lastToken = (events: Events): number =>
  Math.max(...events.flatMap((event) => (event.type === 'Claimed' ? [event.data.token] : [])), 0)

/** Claims one task too many: the first in this status. */
const claimsToo = (status: 'pending' | 'blocked' | 'in-progress') =>
  deciding((events, state, command, envelope) => {
    const [extra] = tasksIn(state, status)
    if (command.type !== 'Claim' || extra === undefined || events.length === 0) return events
    if (events.some((event) => event.type === 'Claimed' && event.data.task === extra.id)) return events
    return [...events, claimOf(extra.id, lastToken(events) + 1, envelope)]
  })

export const defects: ReadonlyArray<Defect> = [
  {
    breaks: 'INV-27',
    by: 'a run without its task',
    system: deciding((events, _, command) => (command.type === 'Tick' ? events.filter(({ type }) => type !== 'TaskEnqueued') : events)),
  },
  {
    breaks: 'INV-27',
    by: 'a run that is left out, and the next one is not',
    system: deciding((events) => events.filter((event, i) => event.type !== 'ScheduleSkipped' && !(event.type === 'TaskEnqueued' && events[i - 1]?.type === 'ScheduleSkipped'))),
  },
  {
    breaks: 'INV-27',
    by: 'a run that does not wait for the one before',
    system: folding((event) => (event.type === 'ScheduleHeld' ? { ...event, type: 'ScheduleSkipped', data: { ...event.data, why: 'overlap' } } : event)),
  },
  {
    breaks: 'INV-27',
    by: 'a run that happens, and is due again',
    system: folding((event) => (event.type === 'ScheduleRan' ? undefined : event)),
  },
  {
    breaks: 'INV-29',
    by: 'a completion that forgets the last thing it found',
    system: asked(
      (command) => (command.type === 'Complete' && command.found !== undefined ? { ...command, found: { ...command.found, discoveries: command.found.discoveries.slice(1) } } : command),
      unchanged,
    ),
  },
  {
    breaks: 'INV-29',
    by: 'a chain whose rounds are not counted',
    system: folding((event) => (event.type === 'ValidationFailed' ? undefined : event)),
  },
  {
    breaks: 'INV-29',
    by: 'an approval that enqueues nothing',
    system: deciding((events, _, command) => (command.type === 'Approve' ? events.slice(0, 1) : events)),
  },
  {
    breaks: 'INV-8',
    by: 'a bulk cancel that leaves those that depend on what it cancels',
    system: deciding((events, _, command) =>
      command.type === 'CancelAll' ? events.filter((event) => event.type !== 'Cancelled' || event.data.reason === command.reason) : events,
    ),
  },
  {
    breaks: 'INV-8',
    by: 'a bulk cancel that knows no bound',
    system: asked((command) => (command.type === 'CancelAll' ? { ...command, max: 1_000 } : command), unchanged),
  },
  {
    breaks: 'INV-20',
    by: 'a deleted queue that keeps what it knew',
    system: folding((event) => (event.type === 'QueueDeleted' ? { type: 'QueueResumed', at: event.at, data: event.data } : event)),
  },
  { breaks: 'INV-1', by: 'a claim of a task that is held', system: claimsToo('in-progress') },
  {
    breaks: 'INV-1',
    by: 'a release that the fold forgets',
    system: folding((event) => (event.type === 'Released' ? undefined : event)),
  },
  {
    breaks: 'INV-2',
    by: 'taking any token for the newest',
    system: asked((command, state) => {
      if (!('token' in command)) return command
      const token = newestTokenOf(state, command.task)
      return token === undefined ? command : { ...command, ...token }
    }, unchanged),
  },
  {
    breaks: 'INV-2',
    by: 'a token given twice',
    system: deciding((events) =>
      events.map((event) => (event.type === 'Claimed' ? { ...event, data: { ...event.data, token: Math.max(1, event.data.token - 1) } } : event)),
    ),
  },
  {
    breaks: 'INV-3',
    by: 'a failure that counts as no retry',
    system: folding((event) =>
      event.type === 'Failed'
        ? { type: 'Released', at: event.at, data: { task: event.data.task, agent: event.data.agent, token: event.data.token, reason: '' } }
        : event,
    ),
  },
  {
    breaks: 'INV-3',
    by: 'an expiry that happens twice',
    system: deciding((events) => events.flatMap((event): Events => (event.type === 'ClaimExpired' ? [event, event] : [event]))),
  },
  {
    breaks: 'INV-3',
    by: 'a stop that uses up attempts',
    system: folding((event) => (event.type === 'ClaimReturned' ? { ...event, type: 'Released' } : event)),
  },
  {
    breaks: 'INV-20',
    by: 'a stop that bars the agent',
    system: folding((event) => (event.type === 'ClaimReturned' ? { ...event, type: 'Released' } : event)),
  },
  {
    breaks: 'INV-3',
    by: 'an operator who uses up attempts',
    system: folding((event) =>
      event.type === 'ClaimRevoked' ? { type: 'ClaimExpired', at: event.at, data: { ...event.data, cause: 'agent-terminated', signature: '' } } : event,
    ),
  },
  {
    breaks: 'INV-4',
    by: 'an operator who makes dead letters',
    system: deciding((events) =>
      events.flatMap((event): Events =>
        event.type === 'ClaimRevoked' ? [event, { type: 'DeadLettered', at: event.at, data: { task: event.data.task, reason: 'retries-exhausted' } }] : [event],
      ),
    ),
  },
  {
    breaks: 'INV-4',
    by: 'retries without end',
    system: deciding((events) => events.filter((event) => event.type !== 'DeadLettered' || event.data.reason !== 'retries-exhausted')),
  },
  {
    breaks: 'INV-4',
    by: 'a dead letter one failure early',
    system: deciding((events) =>
      events.flatMap((event, i): Events =>
        event.type === 'Failed' && events[i + 1]?.type !== 'DeadLettered'
          ? [event, { type: 'DeadLettered', at: event.at, data: { task: event.data.task, reason: 'retries-exhausted' } }]
          : [event],
      ),
    ),
  },
  {
    breaks: 'INV-3',
    by: 'parking that counts as an attempt',
    system: folding((event) =>
      event.type === 'TaskParked' ? { type: 'Released', at: event.at, data: { task: event.data.task, agent: event.data.agent, token: event.data.token, reason: '' } } : event,
    ),
  },
  {
    breaks: 'INV-21',
    by: 'a rate limit that counts as a failure',
    system: folding((event) =>
      event.type === 'RateLimited' ? { type: 'Failed', at: event.at, data: { task: event.data.task, agent: event.data.agent, token: event.data.token, error: event.data.error, retryable: true, signature: '' } } : event,
    ),
  },
  {
    breaks: 'INV-21',
    by: 'a slow-down that slows nobody',
    system: folding((event) => (event.type === 'SlowdownSignalled' ? { ...event, data: { ...event.data, taskType: 'nothing' } } : event)),
  },
  {
    breaks: 'INV-21',
    by: 'an agent that does not sleep',
    system: folding((event) => (event.type === 'RateLimited' ? { ...event, data: { ...event.data, availableAt: 0 } } : event)),
  },
  {
    breaks: 'INV-20',
    by: 'a snooze that knows no end',
    system: folding((event) => (event.type === 'Snoozed' ? { ...event, type: 'Escalated' } : event)),
  },
  {
    breaks: 'INV-7',
    by: 'a callback that is forgotten when it has come',
    system: folding((event) => (event.type === 'CallbackReceived' ? { ...event, type: 'ParkTimedOut', data: { ...event.data, onTimeout: 'requeue', signature: '' } } : event)),
  },
  {
    breaks: 'INV-20',
    by: 'a wait that knows no end',
    system: folding((event) => (event.type === 'TaskParked' ? { ...event, data: { ...event.data, until: event.data.until + 1_000 } } : event)),
  },
  { breaks: 'INV-5', by: 'a claim of a blocked task', system: claimsToo('blocked') },
  {
    breaks: 'INV-5',
    by: 'dependencies that the fold forgets',
    system: folding((event) =>
      event.type === 'TaskEnqueued' ? { ...event, data: (({ dependencies: _, ...rest }) => rest)(event.data) } : event,
    ),
  },
  { breaks: 'INV-6', by: 'a claim past the breaker', system: claimsToo('pending') },
  {
    breaks: 'INV-6',
    by: 'a second probe',
    system: folding((event) =>
      event.type === 'Claimed' ? { ...event, data: (({ probe: _, ...rest }) => rest)(event.data) } : event,
    ),
  },
  {
    breaks: 'INV-6',
    by: 'a released probe that keeps its place',
    system: folding((event) => (event.type === 'Released' ? undefined : event)),
  },
  {
    breaks: 'INV-6',
    by: 'a parked probe that keeps its place',
    system: folding((event) => (event.type === 'TaskParked' ? undefined : event)),
  },
  {
    breaks: 'INV-6',
    by: 'a rate-limited probe that keeps its place',
    system: folding((event) => (event.type === 'RateLimited' ? undefined : event)),
  },
  {
    breaks: 'INV-6',
    by: 'a lost probe that leaves the breaker half-open',
    system: deciding((events) => events.filter((event) => event.type !== 'BreakerOpened' || event.data.cause !== 'probe-failed')),
  },
  {
    breaks: 'INV-6',
    by: 'a threshold that opens nothing',
    system: deciding((events) => events.filter((event) => event.type !== 'BreakerOpened' || event.data.cause !== 'threshold')),
  },
  {
    breaks: 'INV-7',
    by: 'a key that is not looked up',
    system: asked(
      (command) =>
        command.type === 'Enqueue'
          ? { ...command, tasks: command.tasks.map((task, i) => ({ ...task, idempotencyKey: `${task.idempotencyKey}-${i}-${unique++}` })) }
          : command,
      (events, command) =>
        events.map((event) => {
          if (event.type !== 'TaskEnqueued' || command.type !== 'Enqueue') return event
          const { idempotencyKey } = command.tasks.find((task) => task.id === event.data.task) ?? { idempotencyKey: '' }
          return { ...event, data: { ...event.data, idempotencyKey } }
        }),
    ),
  },
  {
    breaks: 'INV-7',
    by: 'an id of its own that is swallowed for its content',
    system: asked(
      (command) => (command.type === 'Enqueue' ? { ...command, tasks: command.tasks.map(({ isContentKey: _, ...task }) => task) } : command),
      unchanged,
    ),
  },
  {
    breaks: 'INV-7',
    by: 'a task that is not asked what makes it a duplicate',
    system: asked(
      (command) => (command.type === 'Enqueue' ? { ...command, tasks: command.tasks.map(({ deduplicate: _, ...task }) => task) } : command),
      unchanged,
    ),
  },
  {
    breaks: 'INV-7',
    by: 'a cancelled task that keeps its key',
    system: folding((event) => (event.type === 'Cancelled' ? undefined : event)),
  },
  {
    breaks: 'INV-8',
    by: 'a cancel without its cascade',
    system: deciding((events, _, command) => (command.type === 'Cancel' ? events.slice(0, 1) : events)),
  },
  {
    breaks: 'INV-8',
    by: 'a cascade one level deep',
    system: deciding((events, _, command) =>
      command.type === 'Cancel'
        ? events.filter((event, i) => i === 0 || (event.type === 'Cancelled' && event.data.reason === `Parent ${command.task} cancelled`))
        : events,
    ),
  },
  { breaks: 'INV-9', by: 'a task that the fold loses', system: folding((event) => (isEnqueued(event, 3) ? undefined : event)) },
  {
    breaks: 'INV-10',
    by: 'a capacity that nobody looks at',
    system: folding((event) =>
      event.type === 'QueueConfigured' ? { ...event, data: { patch: (({ capacity: _, ...patch }) => patch)(event.data.patch) } } : event,
    ),
  },
  {
    breaks: 'INV-10',
    by: 'a bump that has no bound',
    system: folding((event) =>
      event.type === 'QueueConfigured' ? { ...event, data: { patch: { ...event.data.patch, capacity: { ...event.data.patch.capacity, overcapLimit: 9 } } } } : event,
    ),
  },
  {
    breaks: 'INV-23',
    by: 'a limit that the fold forgets',
    system: folding((event) => (event.type === 'LimitSet' ? { ...event, data: { limit: event.data.limit, concurrency: 1_000_000 } } : event)),
  },
  {
    breaks: 'INV-23',
    by: 'an ordering key that the fold forgets',
    system: folding((event) => {
      if (event.type !== 'TaskEnqueued') return event
      const { orderingKey: _, ...data } = event.data
      return { ...event, data }
    }),
  },
  { breaks: 'INV-11', by: 'the second best task', system: secondBest() },
  {
    breaks: 'INV-11',
    by: 'the oldest, whatever its priority',
    system: folding((event) => (event.type === 'TaskEnqueued' ? { ...event, data: { ...event.data, priority: 5 } } : event)),
  },
  {
    breaks: 'INV-14',
    by: 'a clock taken at its word',
    system: deciding((events, _, __, { at }) => events.map((event) => ({ ...event, at }))),
  },
  { breaks: 'INV-15', by: 'a rollback that is none', system: () => ({ ...daybook, rollback: (state) => state }) },
  {
    breaks: 'INV-15',
    by: 'a rollback that loses an event',
    system: () => ({
      ...daybook,
      rollback: (state, point) => evolve(rollback(state, point), { type: 'AgentTerminated', at: 0, data: { agent: 'x', reason: '' } }),
    }),
  },
  {
    breaks: 'INV-15',
    by: 'a snapshot that loses a page',
    system: () => ({
      ...daybook,
      fork: (state) => {
        const reader = snapshotReader()
        for (const page of snapshotPages(state).slice(0, 1)) reader.page(page)
        return reader.finish()
      },
    }),
  },
  {
    breaks: 'INV-15',
    by: 'a decider that draws its own lots',
    system: () => {
      let calls = 0
      return { ...daybook, decide: (command, envelope) => decide(command, { ...envelope, random: (++calls * 0.37) % 1 }) }
    },
  },
  {
    breaks: 'INV-15',
    by: 'a decider that leaves a trace',
    system: () => ({
      ...daybook,
      decide: (command, envelope) => (state) => {
        const decision = decide(command, envelope)(state)
        if (command.type === 'Claim') rollback(state, mark(state))
        return decision
      },
    }),
  },
  {
    breaks: 'INV-16',
    by: 'taking in what can be taken in',
    system: () => ({
      ...daybook,
      decide: (command, envelope) => (state) => {
        const decision = decide(command, envelope)(state)
        if (decision._tag === 'Right' || command.type !== 'Enqueue') return decision
        const first = command.tasks.map((task) => decide({ ...command, tasks: [task] }, envelope)(state)).find((each) => each._tag === 'Right')
        return first ?? decision
      },
    }),
  },
  {
    breaks: 'INV-16',
    by: 'the first half of a request',
    system: deciding((events, _, command) => (command.type === 'Enqueue' ? events.slice(0, Math.ceil(events.length / 2)) : events)),
  },
  {
    breaks: 'INV-17',
    by: 'erasing what is not finished',
    system: () => ({
      ...daybook,
      decide: (command, envelope) => (state) => {
        const isLive = command.type === 'Erase' && taskOf(state, command.task)?.status === 'pending'
        if (!isLive) return decide(command, envelope)(state)
        const { task, reason } = command
        return { _tag: 'Right', right: [{ type: 'TaskErased', at: envelope.at, data: { task, reason } }] }
      },
    }),
  },
  {
    breaks: 'INV-17',
    by: 'cancelling what is completed',
    system: () => ({
      ...daybook,
      decide: (command, envelope) => (state) => {
        const isDone = command.type === 'Cancel' && taskOf(state, command.task)?.status === 'completed'
        if (!isDone) return decide(command, envelope)(state)
        const { task, reason } = command
        return { _tag: 'Right', right: [{ type: 'Cancelled', at: envelope.at, data: { task, reason } }] }
      },
    }),
  },
  {
    breaks: 'INV-18',
    by: 'forgetting who gave a task back',
    system: asked(
      (command) => (command.type === 'Claim' ? { ...command, agent: `${command.agent}-again` } : command),
      (events, command) =>
        events.map((event) => (event.type === 'Claimed' && command.type === 'Claim' ? { ...event, data: { ...event.data, agent: command.agent } } : event)),
    ),
  },
  {
    breaks: 'INV-20',
    by: 'a heartbeat that is not shown',
    system: folding((event) => (event.type === 'LeaseExtended' ? undefined : event)),
  },
  {
    breaks: 'INV-20',
    by: 'a signature that is not kept',
    system: folding((event) => (event.type === 'Failed' ? { ...event, data: { ...event.data, signature: '' } } : event)),
  },
  {
    breaks: 'INV-22',
    by: 'a retention without end',
    system: folding((event) =>
      event.type === 'QueueConfigured' ? { ...event, data: { patch: (({ retentionSeconds: _, ...patch }) => patch)(event.data.patch) } } : event,
    ),
  },
  { breaks: 'INV-7', by: 'a duplicate of what is known no longer', system: judgedAtTheLastEvent() },
  { breaks: 'INV-32', by: 'a redrive at twice its rate', system: deciding((events) => events.map((event) => (event.type === 'RedriveAdvanced' ? { ...event, data: { ...event.data, nextAt: event.at + Math.ceil((event.data.nextAt - event.at) / 2) } } : event))) },
  { breaks: 'INV-32', by: 'a redrive that takes later dead letters, too', system: folding((event) => (event.type === 'DeadLettered' ? { ...event, at: 0 } : event)) },
  { breaks: 'INV-32', by: 'a redrive that takes other types, too', system: folding((event) => (event.type === 'RedriveStarted' ? { ...event, data: { ...event.data, filter: {} } } : event)) },
  { breaks: 'INV-32', by: 'a snooze that ends with the next tick', system: deciding((events, state, command, { at }) => {
    if (command.type !== 'Tick') return events
    const [early] = listTasks(state, { snoozed: true, statuses: ['dead-letter'] }, 1_000).tasks.filter(({ id }) => !events.some((event) => 'task' in event.data && event.data.task === id))
    return early === undefined ? events : [...events, { type: 'Requeued', at: Math.max(at, timeOf(state)), data: { task: early.id, reviewer: 'rev', reason: 'looked at it' } }]
  }) },
  { breaks: 'INV-32', by: 'a snooze that does not end', system: deciding((events, _, command) => (command.type === 'Tick' ? events.filter(({ type }, i) => type !== 'Requeued' || events[i + 1]?.type === 'RedriveAdvanced') : events)) },
  { breaks: 'INV-32', by: 'a snooze that is not kept', system: folding((event) => (event.type === 'Snoozed' ? { ...event, data: { ...event.data, until: event.data.until + 60_000 } } : event)) },
  { breaks: 'INV-31', by: 'a heartbeat that extends a lease without end', system: deciding((events) => events.map((event) => (event.type === 'LeaseExtended' ? { ...event, data: { ...event.data, expiresAt: event.data.expiresAt + 500_000 } } : event))) },
  { breaks: 'INV-30', by: 'an amendment that does not tell the former priority', system: deciding((events) => events.map((event) => {
    if (event.type !== 'TaskAmended') return event
    const { formerPriority: _, ...data } = event.data
    return { ...event, data }
  })) },
  { breaks: 'INV-30', by: 'an amendment that says what it wants again', system: asked((command) => command, (events, command) => (command.type === 'AmendTask' && events.length === 0 ? [{ type: 'TaskAmended', at: 0, data: { task: command.task, reason: command.reason } }] : events)) },
  { breaks: 'INV-30', by: 'a new payload that is not found', system: folding((event) => {
    if (event.type !== 'TaskAmended') return event
    const { formerContentRevision: _, ...data } = event.data
    return { ...event, data }
  }) },
  { breaks: 'INV-25', by: 'a retention that is over only when another event comes', system: judgedAtTheLastEvent() },
]

/** Decides as of the time of the last event, but records the present time. */
function judgedAtTheLastEvent(): () => System {
  return () => ({
    ...daybook,
    decide: (command, envelope) => (state) => {
      if (command.type !== 'Enqueue') return decide(command, envelope)(state)
      const decision = decide(command, { ...envelope, at: timeOf(state) })(state)
      const at = Math.max(envelope.at, timeOf(state))
      return decision._tag === 'Left' ? decision : { _tag: 'Right', right: decision.right.map((event) => ({ ...event, at })) }
    },
  })
}

let unique = 0

const newestTokenOf = (state: QueueState, id: string): { readonly token: number; readonly agent: string } | undefined => {
  const task = taskOf(state, id)
  if (task?.claimedBy === undefined) return undefined
  // The refusal of an impossible token names the newest one.
  const refusal = decide({ type: 'Heartbeat', task: id, agent: task.claimedBy, token: Number.MAX_SAFE_INTEGER }, { at: 0, random: 0 })(state)
  const newest = refusal._tag === 'Left' ? /the newest is (\d+)/u.exec(refusal.left.detail)?.[1] : undefined
  return newest === undefined ? undefined : { token: Number(newest), agent: task.claimedBy }
}

const isEnqueued = (event: QueueEvent, number: number): boolean => event.type === 'TaskEnqueued' && event.data.number === number

function secondBest(): () => System {
  return () => ({
    ...daybook,
    decide: (command, envelope) => (state) => {
      if (command.type !== 'Claim') return decide(command, envelope)(state)
      const more = decide({ ...command, max: command.max + 1 }, envelope)(state)
      if (more._tag === 'Left' || more.right.length <= command.max) return decide(command, envelope)(state)
      return { _tag: 'Right', right: more.right.slice(1) }
    },
  })
}
