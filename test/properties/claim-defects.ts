/** Defects of claims and what keeps tasks from them: leases and their tokens, dependencies, breakers, capacity, limits, order. */
import { decide, type Envelope, listTasks, type QueueEvent, type QueueState, taskOf } from '@daybook/core'
import { asked, deciding, type Defect, type Events, folding, unchanged } from './defect.js'
import { daybook, type System } from './world.js'

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

export const claimDefects: ReadonlyArray<Defect> = [
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
]

const newestTokenOf = (state: QueueState, id: string): { readonly token: number; readonly agent: string } | undefined => {
  const task = taskOf(state, id)
  if (task?.claimedBy === undefined) return undefined
  // The refusal of an impossible token names the newest one.
  const refusal = decide({ type: 'Heartbeat', task: id, agent: task.claimedBy, token: Number.MAX_SAFE_INTEGER }, { at: 0, random: 0 })(state)
  const newest = refusal._tag === 'Left' ? /the newest is (\d+)/u.exec(refusal.left.detail)?.[1] : undefined
  return newest === undefined ? undefined : { token: Number(newest), agent: task.claimedBy }
}

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
