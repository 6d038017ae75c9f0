/** Batches as callers see them. */
import type { Batch } from '../state/batches.js'
import type { BatchEnd } from '../model/batch-end.js'
import type { EventOf } from '../model/events.js'
import { plural } from '../text/plural.js'
import { QueueState } from '../fold/queue-state.js'
import { timeOf } from './query.js'
import { batchAt, isBatchKnown } from '../state/retention.js'
import type { Tables } from '../state/tables.js'
import type { ScheduledTask } from '../model/task-fields.js'

/** Open for more tasks; closed, and waiting for the end of those that it has; finished. */
export type BatchState = 'open' | 'closed' | 'finished'

/** Why a batch is not finished. */
export interface BatchReason {
  readonly code: 'batch-open' | 'tasks-open' | 'dead-letters' | 'approvals'
  /** For people. */
  readonly message: string
  /** What would change it, for people. */
  readonly change: string
  /** Ids of some of the tasks that it is about. */
  readonly tasks?: ReadonlyArray<string>
}

export interface BatchView {
  readonly id: string
  readonly tenant?: string
  readonly description?: string
  readonly state: BatchState
  readonly on: BatchEnd
  readonly createdAt: number
  readonly closedAt?: number
  readonly cancelledAt?: number
  readonly cancelReason?: string
  readonly finishedAt?: number
  /** How many tasks it has, and how many of these stand where, now. */
  readonly tasks: number
  readonly open: number
  readonly completed: number
  readonly cancelled: number
  readonly discarded: number
  readonly deadLetters: number
  /** What waits for a guardian, and would become tasks of it. */
  readonly approvals: number
  /** The task that is enqueued when it is finished. */
  readonly callback?: ScheduledTask
  /** The id of that task, once it is enqueued. */
  readonly callbackTask?: string
  /** The revision of its first event. */
  readonly revision: number
  /** Why it is not finished; none if it is. */
  readonly reasons: ReadonlyArray<BatchReason>
}

const stateOfBatch = ({ finishedAt, closedAt }: Pick<Batch, 'finishedAt' | 'closedAt'>): BatchState => (finishedAt > 0 ? 'finished' : closedAt > 0 ? 'closed' : 'open')

export const viewOfBatch = (tables: Tables, batch: Batch): BatchView => {
  const { id, tenant, description, on, createdAt, closedAt, cancelled: ended, finishedAt, callback, callbackTask, revision, counts } = batch
  const { open, completed, cancelled, discarded, deadLetters, approvals } = counts
  return {
    id,
    ...(tenant === undefined ? {} : { tenant }),
    ...(description === undefined ? {} : { description }),
    state: stateOfBatch(batch),
    on,
    createdAt,
    ...(closedAt === 0 ? {} : { closedAt }),
    ...(ended === null ? {} : { cancelledAt: ended.at, cancelReason: ended.reason }),
    ...(finishedAt === 0 ? {} : { finishedAt }),
    tasks: open + completed + cancelled + discarded + deadLetters,
    open,
    completed,
    cancelled,
    discarded,
    deadLetters,
    approvals,
    ...(callback === null ? {} : { callback }),
    ...(callbackTask === null ? {} : { callbackTask }),
    revision,
    reasons: finishedAt > 0 ? [] : reasonsOf(tables, batch),
  }
}

/** Of a batch that is not known any more, what its last event says. */
export const viewOfEnd = ({ at, data }: EventOf<'BatchFinished'>, { head }: Tables): BatchView => {
  const { batch: id, callback, ...counts } = data
  return { id, state: 'finished', on: 'finished', createdAt: at, closedAt: at, finishedAt: at, ...counts, open: 0, approvals: 0, ...(callback === undefined ? {} : { callbackTask: callback }), revision: head.revision, reasons: [] }
}

/** Tasks that a reason names at most, and tasks that are looked at to find them. */
const namedMax = 5
const looksMax = 1_000

const reasonsOf = (tables: Tables, { on, cancelled, closedAt, counts: { open, deadLetters, approvals }, live }: Batch): ReadonlyArray<BatchReason> => {
  const named = (isDead: boolean): ReadonlyArray<string> => {
    const found: Array<string> = []
    let looks = 0
    for (const number of live) {
      const task = tables.unfinished.get(number)
      if (task !== undefined && (task.status === 'dead-letter') === isDead) found.push(task.id)
      if (found.length === namedMax || ++looks === looksMax) break
    }
    return found
  }
  const reasons: Array<BatchReason> = []
  if (closedAt === 0) reasons.push({ code: 'batch-open', message: 'it is open for more tasks', change: 'close it when it has all of them' })
  if (open > 0) reasons.push({ code: 'tasks-open', message: `${plural(open, 'task')} of it ${open === 1 ? 'is' : 'are'} not finished`, change: 'their end; explain says of each why it is not running', tasks: named(false) })
  if (on === 'settled' || cancelled !== null) return reasons
  if (deadLetters > 0) reasons.push({ code: 'dead-letters', message: `${plural(deadLetters, 'dead letter')} of it ${deadLetters === 1 ? 'waits' : 'wait'} for a reviewer`, change: 'a reviewer who retries or discards them', tasks: named(true) })
  if (approvals > 0) reasons.push({ code: 'approvals', message: `what its tasks found waits for a guardian (${approvals})`, change: 'a guardian who approves or refuses it' })
  return reasons
}

/** `undefined` if it is not known at `at`. */
export const batchOf = (state: QueueState, id: string, at = timeOf(state)): BatchView | undefined => {
  const tables = QueueState.tablesOf(state)
  const batch = batchAt(tables, id, at)
  return batch === undefined ? undefined : viewOfBatch(tables, batch)
}

export interface BatchFilter {
  readonly state?: BatchState
  /** Only those of these tenants. */
  readonly tenants?: ReadonlyArray<string>
}

export interface BatchPage {
  readonly batches: ReadonlyArray<BatchView>
  /** Where the next page begins: a revision. `undefined` at the end. */
  readonly next: number | undefined
}

/** The newest first, `max` at most. `before`: only those that were created before this revision. Cost: O(n log n) of all batches that are known. */
export const batchesOf = (state: QueueState, { state: wanted, tenants }: BatchFilter, max: number, before = Number.POSITIVE_INFINITY, at = timeOf(state)): BatchPage => {
  const tables = QueueState.tablesOf(state)
  const found = tables.batches
    .all()
    .filter(
      (batch) =>
        batch.revision < before &&
        isBatchKnown(tables, batch, at) &&
        (wanted === undefined || stateOfBatch(batch) === wanted) &&
        (tenants === undefined || (batch.tenant !== undefined && tenants.includes(batch.tenant))),
    )
    .reverse()
  const page = found.slice(0, max)
  return { batches: page.map((batch) => viewOfBatch(tables, batch)), next: found.length > max ? page[page.length - 1]?.revision : undefined }
}
