/**
 * How long finished tasks stay known. Whether one still is, is judged at the instant of the question (INV-25): by
 * its time alone, and not by whether it has left the state yet. To leave the state is bookkeeping: the fold takes out
 * some with every event, so that no single one pays for a long silence, and the engine's timer takes out the rest.
 */
import type { TaskRecord } from './state.js'
import type { Tables } from './tables.js'
import { isFinal } from './task.js'

/** So many leave the state with an event, at most. Each event ends one task's retention at most, so the rest shrinks. */
const evictionsMax = 16

/** Tasks that had finished by then are no longer known at `at`. */
export const forgottenAt = ({ head }: Tables, at: number): number =>
  Math.max(head.forgottenUntil, at - head.settings.retentionSeconds * 1_000)

const isKnown = (tables: Tables, task: TaskRecord, at: number): boolean =>
  !isFinal(task.status) || task.finishedAt > forgottenAt(tables, at)

/** The task, if it is known at `at`. */
export const knownAt = (tables: Tables, task: TaskRecord | undefined, at: number): TaskRecord | undefined =>
  task !== undefined && isKnown(tables, task, at) ? task : undefined

/** The task that one with this key would duplicate at `at`. */
export const holderOfKey = (tables: Tables, key: string, at: number): TaskRecord | undefined =>
  knownAt(tables, tables.byKey.get(key), at)

/** The tasks that are known at one instant: what a decision may look up. */
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

  /** The one that a task with this key would duplicate. */
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

/** When the next one will be; `undefined` when nothing is retained. */
export const nextForgotten = (tables: Tables): number | undefined => {
  const oldest = tables.finished.first()
  return oldest === undefined ? undefined : oldest.finishedAt + tables.head.settings.retentionSeconds * 1_000
}

/** Takes out those that are no longer known at `at`, `max` at most. True when none of them is left. */
export const evictForgotten = (tables: Tables, at: number, max = evictionsMax): boolean => {
  const until = forgottenAt(tables, at)
  for (let n = 0; ; n++) {
    const oldest = tables.finished.first()
    if (oldest === undefined || oldest.finishedAt > until) return true
    if (n === max) return false
    tables.evict(oldest)
  }
}

/** The time has come to the state's last event: what is forgotten by then stays so, though the retention become longer. */
export const passTime = (tables: Tables): void => {
  const { head } = tables
  head.forgottenUntil = forgottenAt(tables, head.at)
  evictForgotten(tables, head.at)
}

/**
 * An event takes this id or key, so whoever decided on it found it free: the finished task that still has it, leaves.
 * That is believed even where by this state's own time the task is known: another server's clock is not ours.
 */
export const freeId = (tables: Tables, id: string): void => {
  const task = tables.byId.get(id)
  if (task !== undefined && isFinal(task.status)) tables.evict(task)
}
export const freeKey = (tables: Tables, key: string): void => {
  const task = tables.byKey.get(key)
  if (task !== undefined && !isKnown(tables, task, tables.head.at)) tables.evict(task)
}
