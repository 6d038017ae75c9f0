/** Claims, and what is reported of the claimed tasks. Times are ISO 8601 in UTC; durations are seconds. */
import type { Failure, Json, ParkRequest, Phase, Result, Status } from '@daybook/core'
import type { Memory as BankMemory } from './memory.js'
import type { Reason } from './explanation.js'
import type { Callback, ClaimedTask } from './tasks.js'

export interface ClaimRequest {
  readonly agentId: string
  /** Patterns: exact, `eng-*` or `*`. Default: every type. */
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<Phase>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  /** Maximum number of tasks. Default 1; the server accepts up to 1,000. */
  readonly max?: number
  /** Seconds to wait for a task if there is none (long poll). Default 0; the server accepts up to 60. */
  readonly wait?: number
  /**
   * Seconds that the leases last without a heartbeat, if that is shorter than the task's `timeout`. Each heartbeat
   * extends a lease by the same time. Default: the task's `timeout`.
   */
  readonly leaseSeconds?: number
}

export interface Lease {
  /** Fencing token: grows with every claim. */
  readonly token: number
  readonly expiresAt: string
}

/** A lease in the answer to a claim. */
export interface ClaimedLease extends Lease {
  /** Seconds that it lasts without a heartbeat. */
  readonly seconds: number
  /**
   * How long the claim had waited at the server when the lease began. By the agent's own clock the lease ends
   * `waitedSeconds + seconds` after the claim was sent, at the earliest.
   */
  readonly waitedSeconds: number
}

export interface Claim {
  readonly task: ClaimedTask
  readonly lease: ClaimedLease
  /** Number of this attempt: 1, 2, 3 … */
  readonly attempt: number
  /** The checkpoint of a former holder. */
  readonly checkpoint?: Json
  /** The callback for which a former holder parked the task. */
  readonly callback?: Callback
  /** What was found in earlier tasks of the ticket, or in similar ones. */
  readonly memories?: ReadonlyArray<Memory>
  /** Why there may be more memories than these: the memory did not answer in time, for example. */
  readonly memoriesMissing?: string
}

/** What is remembered of an earlier task. An outside memory may leave members out. */
export type Memory = Partial<BankMemory>

/** The reporting agent, and its claim. */
export interface Holder {
  readonly agentId: string
  readonly token: number
}

export interface HeartbeatReport extends Holder {
  readonly progress?: Json
  readonly checkpoint?: Json
}

export interface CompleteReport extends Holder {
  readonly result: Result
}

export interface FailReport extends Holder {
  readonly error: string | Failure
  /** Default true; false dead-letters the task at once. */
  readonly retryable?: boolean
  readonly checkpoint?: Json
}

export interface ReleaseReport extends Holder {
  readonly reason: string
  /** The agent stops and does not refuse the task: no attempt, no bar. Default false. */
  readonly stopping?: boolean
}

/**
 * No other task may wait for the same key. A key for each wait is best: the id of the task, and what it waits for. `onTimeout` says what happens without a
 * callback: the attempt has failed (default), or the task is ready again.
 */
export type ParkReport = Holder & ParkRequest

export interface CallbackTaken {
  readonly task: string
  readonly status: Status
}

/** One of many reports in one request. */
export type Outcome = { readonly taskId: string } & (
  | ({ readonly kind: 'heartbeat' } & HeartbeatReport)
  | ({ readonly kind: 'complete' } & CompleteReport)
  | ({ readonly kind: 'fail' } & FailReport)
  | ({ readonly kind: 'release' } & ReleaseReport)
  | ({ readonly kind: 'park' } & ParkReport)
)

export interface Extended {
  readonly lease: Lease
}

export interface Settled {
  /** `incomplete` after `complete`: the queue requires a decision report, and the lease continues. */
  readonly status: Status
  /** When a failed task is tried again. */
  readonly availableAt?: string
  readonly spawned?: ReadonlyArray<string>
  /** Ids of what waits for a guardian because of it: see `approvals`. */
  readonly approvals?: ReadonlyArray<string>
  /** Number of discoveries of which nothing became: not understood, of a kind without a rule, or too many. They are in the result. */
  readonly left?: number
}

/** The answer to an {@link Outcome}: `lease` for a heartbeat, `status` for the others. */
export type OutcomeAnswer = Partial<Extended> & Partial<Settled>

export interface ClaimOptions {
  /** Called if there are no tasks; with the reason, if tasks are ready that match. */
  readonly onNothing?: (reason: Reason | undefined) => void
}
