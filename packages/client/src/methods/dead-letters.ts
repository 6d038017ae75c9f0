/** Dead letters and their review. */
import type { DeadLetterFilter, Json, Phase } from '@daybook/core'

export interface DeadLetterListFilter {
  readonly type?: string | undefined
  readonly signature?: string | undefined
  /** Part of the error, in any case. */
  readonly error?: string | undefined
  readonly escalated?: boolean | undefined
  readonly snoozed?: boolean | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly atLeast?: number | undefined
}

/** An answer of a server: one page. */
export interface PatternPage {
  readonly patterns: ReadonlyArray<FailurePattern>
  readonly nextCursor?: string | null
}

export interface FailurePattern {
  readonly signature: string
  readonly type: string
  /** The phase of these dead letters, if they have one. Missing for imported ones without a signature. */
  readonly phase?: Phase
  readonly count: number
  readonly sample: string
  readonly firstAt: string
  readonly lastAt: string
  /** Ids of some of these dead letters. */
  readonly tasks: ReadonlyArray<string>
}

/** Who decides about dead letters, and why. */
export interface Review {
  readonly reviewer: string
  readonly reason: string
}

export interface RetryReview extends Review {
  /** Replaces the payload of the dead letter. */
  readonly payload?: Json | undefined
}

export interface Retried {
  readonly retried: ReadonlyArray<string>
  /** Of the first 1,000 that match a filter and are left, those that cannot be sent back, because another task has their idempotency key. Absent if there are none. */
  readonly skipped?: ReadonlyArray<string>
}

export interface Snoozed {
  readonly snoozed: ReadonlyArray<string>
}

export interface Escalated {
  readonly escalated: ReadonlyArray<string>
}

/** A redrive, under way or stopped: dead letters are sent back one after the other. */
export interface Redrive extends Review {
  readonly filter: DeadLetterFilter
  readonly perMinute: number
  readonly startedAt: string
  /** Number of dead letters that it has sent back. */
  readonly retried: number
  /** When the next one is due (ISO 8601); `null` when the redrive has stopped. */
  readonly nextAt: string | null
  readonly stopped?: { readonly at: string; readonly cause: 'nothing-left' | 'breaker-opened' | 'by-hand'; readonly taskType?: string }
}

export interface RedriveBegun {
  /** Number of dead letters that match. */
  readonly count: number
  readonly redrive: Redrive
}

export interface Discarded {
  readonly discarded: ReadonlyArray<string>
  readonly cancelled: ReadonlyArray<string>
}
