/** Claims, and the reports on claimed tasks. Times are ISO 8601 in UTC; durations are in seconds. */
import type { Failure, Json, ParkRequest, Phase, Result, Status } from '@daybook/core'
import type { Memory as BankMemory } from './memory.js'
import type { Reason } from './explanation.js'
import type { Callback, ClaimedTask } from './tasks.js'

export interface ClaimRequest {
  readonly agentId: string
  /** Patterns: exact, `eng-*` or `*`. Default: every type. */
  readonly types?: ReadonlyArray<string> | undefined
  readonly phases?: ReadonlyArray<Phase> | undefined
  readonly skills?: ReadonlyArray<string> | undefined
  readonly tenant?: string | undefined
  /** Maximum number of tasks. Default 1; the server accepts up to 1,000. */
  readonly max?: number | undefined
  /** Seconds to wait for a task if there is none (long poll). Default 0; the server accepts up to 60. */
  readonly wait?: number | undefined
  /**
   * Seconds that the leases last without a heartbeat, if that is shorter than the task's `timeout`. Each heartbeat
   * extends a lease by the same time. Default: the task's `timeout`.
   */
  readonly leaseSeconds?: number | undefined
}

export interface Lease {
  /** Fencing token. It grows with every claim. */
  readonly token: number
  readonly expiresAt: string
}

/** A lease in the answer to a claim. */
export interface ClaimedLease extends Lease {
  /** Length of the lease without a heartbeat, in seconds. */
  readonly seconds: number
  /**
   * How long the claim had waited at the server when the lease began. By the agent's own clock, the lease ends at the earliest `waitedSeconds +
   * seconds` after the claim was sent.
   */
  readonly waitedSeconds: number
}

export interface Claim {
  readonly task: ClaimedTask
  readonly lease: ClaimedLease
  /** Number of this attempt: 1, 2, 3 … */
  readonly attempt: number
  /** The last checkpoint of an earlier attempt. */
  readonly checkpoint?: Json
  /** The callback for which an earlier attempt parked the task. */
  readonly callback?: Callback
  /** Memories of earlier tasks of the same ticket, and of similar tasks. */
  readonly memories?: ReadonlyArray<Memory>
  /** Why some memories may be missing: for example, the memory did not answer in time. */
  readonly memoriesMissing?: string
}

/** A memory of an earlier task. An external memory may leave members out. */
export type Memory = Partial<BankMemory>

/** The reporting agent, and the token of its claim. */
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
  /** Default true. False makes the task a dead letter at once. */
  readonly retryable?: boolean
  readonly checkpoint?: Json
}

export interface ReleaseReport extends Holder {
  readonly reason: string
  /** The agent stops, and does not refuse the task: no attempt is counted, and the agent is not barred. Default false. */
  readonly stopping?: boolean
}

/**
 * The key must be unique among waiting tasks. Best is a new key for each wait, made of the task's id and what it waits for. `onTimeout` says what
 * happens without a callback: `fail` counts a failed attempt (default), `requeue` makes the task ready again.
 */
export type ParkReport = Holder & ParkRequest

export interface CallbackTaken {
  readonly task: string
  readonly status: Status
}

/** One of several reports in one request. */
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
  /** `incomplete` after `complete` means that the queue requires a decision report. The lease continues, and what was handed in is kept. */
  readonly status: Status
  /** For people: what to do about an incomplete task. */
  readonly detail?: string
  /** When a failed task is tried again. ISO 8601. */
  readonly availableAt?: string
  readonly spawned?: ReadonlyArray<string>
  /** Ids of the approvals that wait for a guardian because of this report: see `approvals`. */
  readonly approvals?: ReadonlyArray<string>
  /** Number of discoveries that led to nothing: not understood, of a kind without a rule, or too many. The result still has them. */
  readonly left?: number
}

/** The answer to an {@link Outcome}: `lease` for a heartbeat, `status` for all others. */
export type OutcomeAnswer = Partial<Extended> & Partial<Settled>

export interface ClaimOptions {
  /** Called if there are no tasks. It gets the reason if matching tasks are ready. */
  readonly onNothing?: ((reason: Reason | undefined) => void) | undefined
}
