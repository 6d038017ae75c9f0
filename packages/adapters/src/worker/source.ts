/**
 * The port through which a worker takes and gives back work. Two implementations: `httpSource` over the
 * client, `engineSource` over the engine in the same process.
 */
import type { Failure, Json, JsonObject, Phase, Result, Status } from '@daybook/core'

/**
 * A task as a handler sees it.
 *
 * *Gotchas*: `P` is what the handler's author says of the payload. Nobody checks it: a producer may have sent anything.
 */
export interface WorkTask<P = Json> {
  readonly id: string
  /** 1, 2, 3 … per queue. */
  readonly number: number
  readonly type: string
  readonly priority: number
  /** What the producer sent; `null` if nothing. */
  readonly payload: P
  readonly description?: string | undefined
  readonly metadata?: JsonObject | undefined
  /**
   * The producer's, or one that the queue has made. No other task that is known to the queue has it, and it stays the same
   * over all attempts: hand it on to whatever must not happen twice, like a payment.
   */
  readonly idempotencyKey: string
  /** Which attempt this is: 1, 2, 3 … */
  readonly attempt: number
  /** If the attempt of this number fails, the task becomes a dead letter. */
  readonly attemptsMax: number
  /** Tasks that were completed before this one could be claimed. */
  readonly dependencies: ReadonlyArray<string>
  /** When it was enqueued; ISO 8601. */
  readonly createdAt: string
  readonly phase?: Phase | undefined
  readonly tenant?: string | undefined
  readonly ticketId?: string | undefined
  readonly parentTaskId?: string | undefined
  readonly deadlineAt?: string | undefined
}

export interface ClaimedWork {
  readonly task: WorkTask
  /** Fencing token: only with the newest one can a task be completed, failed, released or kept. */
  readonly token: number
  /** How long the lease lasts without a heartbeat, in milliseconds. */
  readonly leaseMs: number
  /**
   * How long the claim had waited at the queue when the lease began, in milliseconds. The worker counts the lease
   * from the sending of the claim plus this: an answer may arrive late, and a lease counted from its arrival would
   * go on after the queue has given the task to somebody else.
   */
  readonly waitedMs: number
  /** What a former holder left. */
  readonly checkpoint?: Json | undefined
}

export interface SourceClaim {
  readonly agentId: string
  readonly types?: ReadonlyArray<string> | undefined
  readonly phases?: ReadonlyArray<Phase> | undefined
  readonly skills?: ReadonlyArray<string> | undefined
  readonly tenant?: string | undefined
  readonly max: number
  /** How long to wait for a task when there is none, in milliseconds. */
  readonly waitMs: number
  /** How long the leases are to last without a heartbeat. A task's `timeout` may make them shorter. */
  readonly leaseSeconds: number
}

interface Held {
  readonly taskId: string
  readonly agentId: string
  readonly token: number
}
export type SettleOutcome = Held &
  (
    | { readonly kind: 'complete'; readonly result: Result }
    | { readonly kind: 'fail'; readonly error: Failure; readonly retryable: boolean; readonly checkpoint?: Json }
    /** `stopping`: given back because the worker stops. Else the agent refuses the task, and is barred from it (GB-04). */
    | { readonly kind: 'release'; readonly reason: string; readonly stopping?: true }
  )
export interface Heartbeat extends Held {
  readonly progress?: Json
  readonly checkpoint?: Json
}

/** Why one outcome or heartbeat was refused. */
export interface Refused {
  readonly ok: false
  readonly code: string
  readonly detail: string
  readonly retryAfterSeconds?: number | undefined
}
export type SettleAnswer = { readonly ok: true; readonly status: Status } | Refused
/** An extended lease lasts `leaseMs` from the heartbeat on. */
export type HeartbeatAnswer = { readonly ok: true } | Refused

/**
 * All three reject when the queue cannot be asked at all. If the error has a `code` or `retryAfterSeconds`, the worker
 * heeds them. Answers come in the order of what was asked. A source does not retry: the worker does.
 */
export interface TaskSource {
  /** Claims up to `max` tasks, waiting for the first. Gives up when the signal is aborted: it may reject, or resolve empty. */
  readonly claim: (request: SourceClaim, signal: AbortSignal) => Promise<ReadonlyArray<ClaimedWork>>
  /** The same `attempt` comes with the same outcomes, sent again because the answer was lost. */
  readonly settle: (outcomes: ReadonlyArray<SettleOutcome>, attempt: string) => Promise<ReadonlyArray<SettleAnswer>>
  readonly heartbeat: (heartbeats: ReadonlyArray<Heartbeat>) => Promise<ReadonlyArray<HeartbeatAnswer>>
}
