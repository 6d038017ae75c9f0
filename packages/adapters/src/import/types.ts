/** What an import is made of: tasks as they are sent, and what is said about how they came to be. */
import type { JsonObject, Json, Phase, Result } from '@daybook/core'

/** Where a task stands when it has been taken in. */
export type ImportStatus = 'pending' | 'completed' | 'cancelled' | 'dead-letter'

/** A task as `POST …/imports` takes it: a new task, and where it stood before. Times are ISO 8601. */
export interface ImportTask {
  readonly id: string
  readonly type: string
  readonly status: ImportStatus
  readonly idempotencyKey: string
  readonly priority?: number
  readonly payload?: Json
  readonly description?: string
  readonly dependencies?: ReadonlyArray<string>
  readonly timeout?: number
  readonly maxRetries?: number
  readonly backoffSeconds?: number
  readonly availableAt?: string
  readonly deadlineAt?: string
  readonly ticketId?: string
  readonly phase?: Phase
  readonly tenant?: string
  readonly requires?: { readonly skills: ReadonlyArray<string> }
  readonly parentTaskId?: string
  readonly metadata?: JsonObject
  readonly createdAt?: string
  /** When it was completed, cancelled or given up. */
  readonly completedAt?: string
  readonly retries?: number
  readonly lastError?: string
  readonly result?: Result
}

/** Something that is not as it stood in the file, and how it is now; for all tasks to which it happened. */
export interface Mapped {
  readonly file: string
  readonly what: string
  readonly tasks: ReadonlyArray<string>
}

/** What was not taken: a whole file, or one task of it. */
export interface Refused {
  readonly file: string
  /** Its id, or its place (`#3`) when it has none. */
  readonly task?: string
  readonly why: string
}

/** How far a task got, in the words of the files. Of two tasks with one id, the one that got further counts. */
export const stages = ['pending', 'in-progress', 'dead-letter', 'cancelled', 'completed'] as const
export type Stage = (typeof stages)[number]

/** A task found in a file. */
export interface Found {
  readonly task: ImportTask
  readonly stage: Stage
  readonly file: string
}

/** One file, read. */
export interface QueueFile {
  readonly name: string
  readonly found: ReadonlyArray<Found>
  readonly mapped: ReadonlyArray<Mapped>
  readonly refused: ReadonlyArray<Refused>
}

/** All files together. */
export interface ImportPlan {
  readonly files: ReadonlyArray<{ readonly name: string; readonly tasks: number }>
  /** What to take: every dependency before its dependents, else in the order of the files. */
  readonly took: ReadonlyArray<ImportTask>
  readonly mapped: ReadonlyArray<Mapped>
  readonly refused: ReadonlyArray<Refused>
}
