/** The messages between the serving thread and the thread of the past. Each query has its own number. */
import type * as E from 'fp-ts/lib/Either.js'
import type { PastLimits } from '../../past/index.js'
import type { LogAddress } from '../../store/index.js'
import type { HttpLimits } from '../limits.js'
import type { Problem } from '../problem.js'
import type { Reply } from '../routes/route.js'
import type { PastQuestion } from './answer-past.js'

export interface PastThreadOptions {
  readonly log: LogAddress
  /** The folder of the snapshots. */
  readonly snapshots: string
  /** The file with the keys of erasable tasks. */
  readonly keys?: string | undefined
  /** The file of the read models. */
  readonly views?: string | undefined
  readonly limits: HttpLimits
  readonly states?: PastLimits | undefined
}

export type ToPast =
  | { readonly kind: 'ask'; readonly id: number; readonly question: PastQuestion }
  /** Nobody waits for the answer, or for the rest of it, any more. */
  | { readonly kind: 'gone'; readonly id: number }
  /** The next part of a streamed answer. */
  | { readonly kind: 'more'; readonly id: number }

/** An answer without `text` comes in parts. */
export type SentReply = Omit<Reply, 'text' | 'undelivered'> & { readonly text: string | undefined }

export type FromPast = { readonly id: number } & (
  | { readonly kind: 'answer'; readonly handled: E.Either<Problem & { readonly revision?: number }, SentReply> }
  /** `undefined` after the last part. */
  | { readonly kind: 'part'; readonly bytes: Uint8Array | undefined }
  /** `code`: that of a StoreError. */
  | { readonly kind: 'failed'; readonly code?: string; readonly message: string }
)
