/**
 * How long finished tasks stay known. This is judged at the time of the question (INV-25), by the task's finish time, and does not depend on whether
 * the task was evicted from the state. Eviction is bookkeeping: the fold evicts some tasks with every event, so that no single event pays for a long
 * pause, and the engine's timer evicts the rest.
 */
import { type Batch, batchesMax, isEnded } from './batches.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from './tables.js'
import { isFinal } from '../model/task.js'

/** The largest number of tasks that are evicted with one event. An event finishes at most one task, so the backlog shrinks. */
const evictionsMax = 16

/** Tasks that finished at or before this time are no longer known at `at`. */
export const forgottenAt = ({ head }: Tables, at: number): number =>
  Math.max(head.forgottenUntil, at - head.settings.retentionSeconds * 1_000)

const isKnown = (tables: Tables, task: TaskRecord, at: number): boolean =>
  !isFinal(task.status) || task.finishedAt > forgottenAt(tables, at)

/** The task, if it is known at `at`. */
export const knownAt = (tables: Tables, task: TaskRecord | undefined, at: number): TaskRecord | undefined =>
  task !== undefined && isKnown(tables, task, at) ? task : undefined

/** The batch, if it is known at `at`. A finished one is for as long as a task that finished with it, or while a task of it is not final. */
export const batchAt = (tables: Tables, id: string, at: number): Batch | undefined => {
  const batch = tables.batches.get(id)
  return batch !== undefined && isBatchKnown(tables, batch, at) ? batch : undefined
}

export const isBatchKnown = (tables: Tables, batch: Batch, at: number): boolean => !isEnded(batch) || batch.finishedAt > forgottenAt(tables, at)

/** The task of which a task with this key would be a duplicate at `at`. */
export const holderOfKey = (tables: Tables, key: string, at: number): TaskRecord | undefined =>
  knownAt(tables, tables.byKey.get(key), at)

/** The tasks that are known at one time, for a decision. */
export class KnownTasks {
  private readonly until: number

  constructor(
    readonly tables: Tables,
    at: number,
  ) {
    this.until = forgottenAt(tables, at)
  }

  byId(id: string): TaskRecord | undefined {
    return this.ifKnown(this.tables.byId.get(id))
  }

  /** The task of which a task with this key would be a duplicate. */
  byKey(key: string): TaskRecord | undefined {
    return this.ifKnown(this.tables.byKey.get(key))
  }

  private ifKnown(task: TaskRecord | undefined): TaskRecord | undefined {
    return task !== undefined && (!isFinal(task.status) || task.finishedAt > this.until) ? task : undefined
  }
}

/** Tasks in the state that are no longer known at `at`, the longest finished first. */
export const forgotten = function* (tables: Tables, at: number): Generator<TaskRecord> {
  const until = forgottenAt(tables, at)
  for (const task of tables.finished) {
    if (task.finishedAt > until) return
    yield task
  }
}

/** When the next task will be forgotten; `undefined` if none is retained. */
export const nextForgotten = (tables: Tables): number | undefined => {
  const { oldestAt } = tables.finished
  return oldestAt === undefined ? undefined : oldestAt + tables.head.settings.retentionSeconds * 1_000
}

/** Evicts tasks that are no longer known at `at`, at most `max`. True if none of them is left. */
export const evictForgotten = (tables: Tables, at: number, max = evictionsMax): boolean => {
  const until = forgottenAt(tables, at)
  if (tables.batches.endedCount > 0) evictBatches(tables, until, max)
  for (let n = 0; ; n++) {
    const { finished } = tables
    if (finished.oldestAt === undefined || finished.oldestAt > until) return true
    if (n === max) return false
    tables.evict(finished.first() as TaskRecord)
  }
}

const evictBatches = ({ batches }: Tables, until: number, max: number): void => {
  for (let n = 0; n < max; n++) {
    const first = batches.firstEnded()
    if (first === undefined || (first.finishedAt > until && batches.endedCount <= batchesMax)) return
    batches.delete(first.id)
  }
}

/** Records the tasks that are forgotten at the time of the last event, so that a longer retention does not bring them back. */
export const passTime = (tables: Tables): void => {
  const { head } = tables
  head.forgottenUntil = forgottenAt(tables, head.at)
  evictForgotten(tables, head.at)
}

/**
 * Evicts the finished task that still has this id or key, because an event uses it again: its decision treated it as free. This is done even if the
 * task is still known at this state's time, because another server's clock may differ.
 */
export const freeId = (tables: Tables, id: string): void => {
  const task = tables.byId.get(id)
  if (task !== undefined && isFinal(task.status)) tables.evict(task)
}
export const freeKey = (tables: Tables, key: string): void => {
  const task = tables.byKey.get(key)
  if (task !== undefined && !isKnown(tables, task, tables.head.at)) tables.evict(task)
}
