/** Counts everything that has happened in a queue since it began, for metrics that survive restarts. */
import { type QueueEvent, TaskId, TaskType } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { LoggedEvent, Projection } from './projection.js'

const counts = {
  enqueued: t.number,
  imported: t.number,
  claimed: t.number,
  completed: t.number,
  /** Number of completions without the required decision report. */
  incomplete: t.number,
  failed: t.number,
  /** Number of leases that expired, and of decision reports that did not come in time. */
  expired: t.number,
  /** Number of claims of agents that an operator terminated. */
  revoked: t.number,
  /** Number of claims that stopping workers gave back. */
  returned: t.number,
  released: t.number,
  /** Number of parked tasks, callbacks, and waits that timed out. */
  parked: t.number,
  rateLimited: t.number,
  calledBack: t.number,
  timedOut: t.number,
  retried: t.number,
  deadLettered: t.number,
  requeued: t.number,
  discarded: t.number,
  cancelled: t.number,
  /** Waiting times: from when a task could have been claimed (dependencies do not count) to each claim. Their number, and their sum in milliseconds. */
  waits: t.number,
  waitMs: t.number,
  /** Run times: from each claim to its end, whatever the outcome. Their number, and their sum in milliseconds. */
  runs: t.number,
  runMs: t.number,
}
const TypeTotals = t.type(counts)
export type TypeTotals = Readonly<t.TypeOf<typeof TypeTotals>>
type Counting = { -readonly [K in keyof TypeTotals]: TypeTotals[K] }

export interface Totals {
  /** By event type. */
  readonly events: Readonly<Record<string, number>>
  /** By task type. */
  readonly types: Readonly<Record<string, TypeTotals>>
}

/** A task that may still change: its type, when it began to wait, and when it was claimed (0: it is not claimed). */
interface Open {
  readonly type: string
  since: number
  claimedAt: number
}

export interface TotalsState {
  readonly events: Map<string, number>
  readonly types: Map<string, Counting>
  readonly open: Map<string, Open>
}

const Saved = t.type({
  events: t.array(t.tuple([t.string, t.number])),
  types: t.array(t.tuple([TaskType, TypeTotals])),
  open: t.array(t.tuple([TaskId, TaskType, t.number, t.number])),
})

const none = (): Counting => Object.fromEntries(Object.keys(counts).map((key) => [key, 0])) as Counting

const fold = (state: TotalsState, { event }: LoggedEvent): TotalsState => {
  state.events.set(event.type, (state.events.get(event.type) ?? 0) + 1)
  if (event.type === 'TaskEnqueued' || event.type === 'TaskImported') {
    const { task, type } = event.data
    if (!state.types.has(type)) state.types.set(type, none())
    const totals = state.types.get(type) as Counting
    if (event.type === 'TaskEnqueued') totals.enqueued++
    else totals.imported++
    // A dead letter may be sent back to the queue. Completed and cancelled tasks no longer change.
    const stays = event.type === 'TaskEnqueued' || event.data.status === 'dead-letter'
    if (stays) state.open.set(task, { type, since: event.at, claimedAt: 0 })
    return state
  }
  if (!('task' in event.data)) return state
  const id = event.data.task
  const open = state.open.get(id)
  const totals = open === undefined ? undefined : state.types.get(open.type)
  if (open !== undefined && totals !== undefined && count(event, open, totals)) state.open.delete(id)
  return state
}

/** Counts one event of a task. Returns true if the task will not change any more. */
const count = (event: QueueEvent, open: Open, totals: Counting): boolean => {
  const { at } = event
  const endRun = (): void => {
    open.since = at
    if (open.claimedAt === 0) return
    totals.runs++
    totals.runMs += at - open.claimedAt
    open.claimedAt = 0
  }
  switch (event.type) {
    case 'TaskDue':
      open.since = at
      return false
    case 'Claimed':
      totals.claimed++
      totals.waits++
      totals.waitMs += at - open.since
      open.claimedAt = at
      return false
    case 'MarkedIncomplete':
      totals.incomplete++
      return false
    case 'RetryScheduled':
      totals.retried++
      return false
    case 'DeadLettered':
      totals.deadLettered++
      return false
    case 'Requeued':
      totals.requeued++
      open.since = at
      return false
    case 'Released':
      totals.released++
      endRun()
      return false
    case 'RateLimited':
      totals.rateLimited++
      endRun()
      return false
    case 'TaskParked':
      totals.parked++
      endRun()
      return false
    case 'CallbackReceived':
      totals.calledBack++
      open.since = at
      return false
    case 'ParkTimedOut':
      totals.timedOut++
      open.since = at
      return false
    case 'Failed':
      totals.failed++
      endRun()
      return false
    case 'ClaimExpired':
      totals.expired++
      endRun()
      return false
    case 'ClaimReturned':
      totals.returned++
      endRun()
      return false
    case 'ClaimRevoked':
      totals.revoked++
      endRun()
      return false
    case 'Completed':
      totals.completed++
      endRun()
      return true
    case 'Cancelled':
      totals.cancelled++
      endRun()
      return true
    case 'Snoozed':
    case 'Escalated':
    case 'SnoozeLapsed':
      return false
    case 'Discarded':
      totals.discarded++
      return true
    default:
      return false
  }
}

/**
 * Number of events by event type, and of outcomes by task type.
 *
 * Gotchas: the time that a task is blocked by its dependencies counts as waiting; the time until its `availableAt`
 * or its retry does not. Memory grows with the number of unfinished tasks.
 */
export const totals: Projection<TotalsState, Totals> = {
  name: 'totals',
  version: 4,
  initial: () => ({ events: new Map(), types: new Map(), open: new Map() }),
  fold,
  result: ({ events, types }) => ({
    events: Object.fromEntries(events),
    types: Object.fromEntries([...types].map(([type, counted]) => [type, { ...counted }])),
  }),
  encode: ({ events, types, open }): t.TypeOf<typeof Saved> => ({
    events: [...events],
    types: [...types],
    open: [...open].map(([id, { type, since, claimedAt }]) => [id, type, since, claimedAt]),
  }),
  decode: (json) =>
    Saved.is(json)
      ? E.right({
          events: new Map(json.events),
          types: new Map(json.types),
          open: new Map(json.open.map(([id, type, since, claimedAt]) => [id, { type, since, claimedAt }])),
        })
      : E.left('no totals'),
}
