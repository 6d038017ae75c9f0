/** The data of an import: tasks as they are sent, and notes on how they were read. */
import type { JsonObject, Json, Result, Status } from '@daybook/core'
import type { PlainFields } from './fields.js'

/** The status with which a task is imported. */
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

/** A note on a change while reading, with the tasks that it is about. */
export interface Mapped {
  readonly file: string
  readonly what: string
  readonly tasks: ReadonlyArray<string>
}

/** What was refused: a whole file, a list in it, or one task. */
export interface Refused {
  readonly file: string
  /** The task's id; without one, its position (`#3`). */
  readonly task?: string
  readonly why: string
  /** Number of tasks. 0 if it is unknown, because the file cannot be read. */
  readonly tasks: number
}

/** How far a task got, in the words of the files. Of two tasks with the same id, the one that got further is used. */
export const stages = ['pending', 'in-progress', 'dead-letter', 'cancelled', 'completed'] as const
export type Stage = (typeof stages)[number]

/** Names that may be ids of tasks, from a field that may also contain something else. */
export interface MaybeDependencies {
  readonly names: ReadonlyArray<string>
  /** Where they were found: `requires`, `payload.dependencies`. */
  readonly field: string
  /** A member of the metadata that is redundant once these are dependencies. */
  readonly metadata?: string
}

/** A task found in a file. */
export interface Found {
  readonly task: ImportTask
  readonly stage: Stage
  readonly file: string
  /** A number given as its priority. Only all files together show whether it is a rank (1 first) or a priority (10 first). */
  readonly number?: number
  readonly maybe: ReadonlyArray<MaybeDependencies>
}

/** One file, read. */
export interface QueueFile {
  readonly name: string
  /** Whether it is a queue file at all: a list of tasks, which may be empty. */
  readonly isQueueFile: boolean
  /** Of a queue file that Daybook wrote or exported: the revision of the queue that it shows. */
  readonly revision?: number
  /** Number of entries in its lists, whether they were accepted or not. */
  readonly entries: number
  readonly found: ReadonlyArray<Found>
  readonly mapped: ReadonlyArray<Mapped>
  readonly refused: ReadonlyArray<Refused>
}

/** All files together. Every entry of every file is accepted, a repetition, or refused. */
export interface ImportPlan {
  readonly files: ReadonlyArray<{ readonly name: string; readonly tasks: number }>
  /** The tasks to import: every dependency before its dependents, otherwise by rank, otherwise in the order of the files. */
  readonly took: ReadonlyArray<ImportTask>
  /** Number of entries that repeat a task in another position. */
  readonly repeated: number
  readonly mapped: ReadonlyArray<Mapped>
  readonly refused: ReadonlyArray<Refused>
}

export interface ImportOptions {
  /** Whether numbers that are given as priorities are ranks, 1 first. Default: if any of them is above 10. */
  readonly ranks?: boolean
}

/** The statuses of tasks that are in the queue already. */
export type KnownTasks = ReadonlyMap<string, Status>

export const tasksIn = (refused: ReadonlyArray<Refused>): number => refused.reduce((sum, { tasks }) => sum + tasks, 0)
