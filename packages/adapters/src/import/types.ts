/** The data of an import: tasks as they are sent, and notes on how they were read. */
import type { JsonObject, Json, Result, Status } from '@daybook/core'
import type { PlainFields } from './fields.js'

/** The status that a task is imported with. */
export type ImportStatus = 'pending' | 'completed' | 'cancelled' | 'dead-letter'

/** A task for `POST …/imports`: a new task with its past. Times are ISO 8601. */
export interface ImportTask extends PlainFields {
  readonly id: string
  readonly type: string
  readonly status: ImportStatus
  readonly idempotencyKey: string
  readonly priority?: number
  readonly payload?: Json
  readonly description?: string
  readonly dependencies?: ReadonlyArray<string>
  readonly requires?: { readonly skills: ReadonlyArray<string> }
  readonly metadata?: JsonObject
  readonly createdAt?: string
  /** When it was completed, cancelled or given up. */
  readonly completedAt?: string
  readonly retries?: number
  readonly lastError?: string
  readonly result?: Result
}

/** A note on what was changed while reading, with the tasks it is about. */
export interface Mapped {
  readonly file: string
  readonly what: string
  readonly tasks: ReadonlyArray<string>
}

/** What was not taken: a whole file, a list of it, or one task. */
export interface Refused {
  readonly file: string
  /** Its id, or its place (`#3`) when it has none. */
  readonly task?: string
  readonly why: string
  /** How many tasks. 0 when that is unknown, because the file cannot be read. */
  readonly tasks: number
}

/** How far a task got, in the words of the files. Of two tasks with one id, the one that got further counts. */
export const stages = ['pending', 'in-progress', 'dead-letter', 'cancelled', 'completed'] as const
export type Stage = (typeof stages)[number]

/** Names that may be ids of tasks, from a field that may also hold something else. */
export interface MaybeDependencies {
  readonly names: ReadonlyArray<string>
  /** Where they stand: `requires`, `payload.dependencies`. */
  readonly field: string
  /** A member of the metadata that says no more than these, once they are dependencies. */
  readonly metadata?: string
}

/** A task found in a file. */
export interface Found {
  readonly task: ImportTask
  readonly stage: Stage
  readonly file: string
  /** A number given as its priority. All files together show whether it is a rank (1 first) or a priority (10 first). */
  readonly number?: number
  readonly maybe: ReadonlyArray<MaybeDependencies>
}

/** One file, read. */
export interface QueueFile {
  readonly name: string
  /** Whether it is one at all: a list of tasks, if perhaps an empty one. */
  readonly isQueueFile: boolean
  /** Entries of its lists, whatever became of them. */
  readonly entries: number
  readonly found: ReadonlyArray<Found>
  readonly mapped: ReadonlyArray<Mapped>
  readonly refused: ReadonlyArray<Refused>
}

/** All files together. Every entry of every file is taken, a repetition, or refused. */
export interface ImportPlan {
  readonly files: ReadonlyArray<{ readonly name: string; readonly tasks: number }>
  /** What to take: every dependency before its dependents, else by rank, else in the order of the files. */
  readonly took: ReadonlyArray<ImportTask>
  /** Entries that stand for a task that is taken from another place. */
  readonly repeated: number
  readonly mapped: ReadonlyArray<Mapped>
  readonly refused: ReadonlyArray<Refused>
}

export interface ImportOptions {
  /** Numbers that stand as priorities are ranks, 1 first. Default: when any of them is above 10. */
  readonly ranks?: boolean
}

/** What is known of tasks that are in the queue already. */
export type KnownTasks = ReadonlyMap<string, Status>

export const tasksIn = (refused: ReadonlyArray<Refused>): number => refused.reduce((sum, { tasks }) => sum + tasks, 0)
