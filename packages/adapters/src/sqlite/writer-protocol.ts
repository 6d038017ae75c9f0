/** The messages between the store's thread and the writer's thread. */
import type { AppendVerdict } from './append-transaction.js'
import type { StoreProblem } from './errors.js'
import type { PostedBatch } from './posted-batch.js'

export interface WriterOptions {
  readonly file: string
  /** How long an append waits for another process's transaction, in milliseconds. */
  readonly busyTimeoutMs: number
  /**
   * Write something first. After an I/O error in a commit, its pages may still be in the WAL, unseen until the next recovery finds them. A durable
   * write over them makes sure that they are gone.
   */
  readonly settle: boolean
}

export type ToWriter = { readonly kind: 'append'; readonly batch: PostedBatch } | { readonly kind: 'close' }

export type FromWriter =
  | { readonly kind: 'open' }
  | { readonly kind: 'cannot-open'; readonly problem: StoreProblem }
  /** Verdicts in the order of the appends. After `fatal` every append is refused. */
  | { readonly kind: 'verdicts'; readonly verdicts: ReadonlyArray<AppendVerdict>; readonly fatal: boolean }
