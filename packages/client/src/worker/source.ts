/** The port between a worker and a queue. There are two implementations: `httpSource` over the client, and `engineSource` for an engine in the same process. */
import type { Memory } from '../methods/memory.js'
import type { Failure, Json, JsonObject, ParkRequest, Phase, Result, Status } from '@daybook/core'
import type { Reason } from '../methods/explanation.js'
import type { SentFields } from '../sent-fields.js'

type MaybeFields = { readonly [K in keyof SentFields]: SentFields[K] | undefined }

/**
 * A task as a handler sees it.
 *
 * *Gotchas*: `P` is only the handler's assumption. It is not checked: a producer may have sent anything.
 */
export interface WorkTask<P = Json> extends MaybeFields {
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
   * The producer's key, or one that the queue has made. It is unique among the tasks that the queue knows, and is the same in all attempts. Use it as
   * an idempotency key for other systems, for example for a payment.
   */
  readonly idempotencyKey: string
  /** Number of this attempt: 1, 2, 3 … */
  readonly attempt: number
  /** Number of the last attempt: if it fails, the task becomes a dead letter. */
  readonly attemptsMax: number
  /** Ids of the tasks on which this one depended. All are completed. */
  readonly dependencies: ReadonlyArray<string>
  /** When it was enqueued; ISO 8601. */
  readonly createdAt: string
}

export interface ClaimedWork {
  readonly task: WorkTask
  /** Fencing token. Only the holder of the newest one can complete, fail, release or keep a task. */
  readonly token: number
  /** Length of the lease without a heartbeat, in milliseconds. */
  readonly leaseMs: number
  /**
   * How long the claim had waited in the queue when the lease began, in milliseconds. The worker measures the lease from the sending of the claim
   * plus this time. Measured from the arrival of a late answer, the lease would seem to continue after the queue has given the task to another agent.
   */
  readonly waitedMs: number
  /** The last checkpoint of an earlier attempt. */
  readonly checkpoint?: Json | undefined
  readonly callback?: ReceivedCallback | undefined
  /** Memories of earlier tasks. */
  readonly memories?: ReadonlyArray<Partial<Memory>> | undefined
  /** Why some memories may be missing. */
  readonly memoriesMissing?: string | undefined
}

/** A callback that a parked task got; `payload` is `null` if it had none. `at`: ISO 8601. */
export interface ReceivedCallback {
  readonly key: string
  readonly payload: Json
  readonly at: string
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
  /** Requested length of the leases without a heartbeat, in seconds. A task's `timeout` may make them shorter. */
  readonly leaseSeconds: number
  /** Called when there are no tasks. It gets the reason if matching tasks are ready. */
  readonly onNothing?: ((reason: Reason | undefined) => void) | undefined
}

/** What an agent can take. The registration ends `ttlSeconds` after the agent was last heard of. */
export interface SourceRegistration extends Pick<SourceClaim, 'agentId' | 'types' | 'phases' | 'skills' | 'tenant'> {
  readonly maxTasks?: number | undefined
  readonly ttlSeconds: number
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
    /** `stopping`: the worker gives the task back because it stops. Otherwise the agent refuses the task and is barred from it (GB-04). */
    | { readonly kind: 'release'; readonly reason: string; readonly stopping?: true }
    | ({ readonly kind: 'park' } & ParkRequest)
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
/** An extended lease lasts `leaseMs` from the heartbeat. */
export type HeartbeatAnswer = { readonly ok: true } | Refused

/**
 * All methods reject if the queue cannot be reached. The worker respects the error's `code` and `retryAfterSeconds`, if it has them. Answers have the
 * order of the requests. A source does not retry: the worker does.
 */
export interface TaskSource {
  /** Claims up to `max` tasks, waiting for the first. When the signal aborts, it rejects or resolves with no tasks. */
  readonly claim: (request: SourceClaim, signal: AbortSignal) => Promise<ReadonlyArray<ClaimedWork>>
  /** Sends outcomes. If they are sent again because the answer was lost, `attempt` is the same. */
  readonly settle: (outcomes: ReadonlyArray<SettleOutcome>, attempt: string) => Promise<ReadonlyArray<SettleAnswer>>
  /** `timeoutMs`: an answer that takes longer is not waited for, because the heartbeats must be sent again before the leases end. */
  readonly heartbeat: (heartbeats: ReadonlyArray<Heartbeat>, timeoutMs?: number) => Promise<ReadonlyArray<HeartbeatAnswer>>
  /** Optional: a source may have no registration. */
  readonly register?: (registration: SourceRegistration) => Promise<void>
}
