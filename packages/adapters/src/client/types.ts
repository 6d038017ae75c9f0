/** What goes over the wire, as the server spells it. Times are ISO 8601 in UTC; durations are seconds. */
import type {
  Band,
  DeadLetterFilter,
  Failure,
  Json,
  JsonObject,
  NewTask as CoreNewTask,
  Phase,
  Result,
  Settings,
  SettingsPatch,
  Status,
} from '@daybook/core'
import type { DaybookError } from './errors.js'

export type { Band, DeadLetterFilter, Failure, Json, JsonObject, Phase, Result, Settings, SettingsPatch, Status }

/** A moment to send: ISO 8601 text, or a `Date`, which JSON prints as that. */
export type Time = string | Date

/** A task to enqueue; only `type` is needed. */
export type NewTask = Omit<CoreNewTask, 'availableAt' | 'deadlineAt'> & {
  readonly availableAt?: Time
  readonly deadlineAt?: Time
}

/** What became of an enqueued task. */
export interface Enqueued {
  readonly id: string
  /** 1, 2, 3 … per queue; `#42` is usable wherever an id is. */
  readonly number: number
  readonly status: Status
  /**
   * The task was there before: same id, same idempotency key or same content. Also true when a request
   * of which the answer was lost had in fact succeeded and was sent again.
   */
  readonly duplicate: boolean
  /** The queue's revision that shows it. */
  readonly revision: number
}

/** One answer among many: each stands for itself. */
export type Each<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: DaybookError }

export interface EnqueuedAll<R> {
  /** In the order of the tasks. */
  readonly results: ReadonlyArray<R>
  readonly revision: number
}

/** A task as the server shows it. */
export interface TaskView {
  readonly id: string
  readonly number: number
  readonly type: string
  readonly priority: number
  readonly status: Status
  readonly payload?: Json
  readonly description?: string
  readonly metadata?: JsonObject
  readonly result?: Result
  readonly idempotencyKey?: string
  readonly dependencies?: ReadonlyArray<string>
  /** Seconds that a lease lasts without a heartbeat. */
  readonly timeout?: number
  readonly maxRetries?: number
  readonly backoffSeconds?: number
  readonly retries?: number
  readonly attempts?: number
  readonly createdAt?: string
  readonly phase?: Phase
  readonly tenant?: string
  readonly skills?: ReadonlyArray<string>
  readonly ticketId?: string
  readonly parentTaskId?: string
  readonly deadlineAt?: string
  readonly availableAt?: string
  readonly claimedBy?: string
  readonly claimedAt?: string
  readonly leaseExpiresAt?: string
  readonly claimants?: ReadonlyArray<string>
  readonly finishedAt?: string
  readonly completedAt?: string
  readonly lastError?: string
  readonly signature?: string
  readonly deadLetteredAt?: string
  readonly deadLetterReason?: string
}

export interface TaskFilter {
  readonly status?: Status | ReadonlyArray<Status>
  /** Exact, `eng-*` or `*`. */
  readonly type?: string
  readonly phase?: Phase
  /** A number, or the name of a band. */
  readonly priority?: number | Band
  readonly ticketId?: string
  readonly tenant?: string
  /** Holds the task, or completed it. */
  readonly agent?: string
  /** Part of the id, type, ticket or last error. */
  readonly q?: string
  readonly limit?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
  /** Waits (≤ 5 s) until the view has this revision. */
  readonly atLeast?: number
}

export interface TaskPage {
  readonly tasks: ReadonlyArray<TaskView>
  /** `null` or absent on the last page. */
  readonly nextCursor?: string | null
  readonly revision: number
}

export interface HistoryEvent {
  readonly revision: number
  readonly type: string
  readonly at: string
  readonly actor?: string
  readonly correlationId?: string
  readonly data: JsonObject
}

export interface EventFilter {
  /** First revision. */
  readonly from?: number
  readonly limit?: number
  readonly type?: string
  /** Id or `#number`. */
  readonly task?: string
}

export interface EventPage {
  readonly events: ReadonlyArray<HistoryEvent>
  readonly revision?: number
  readonly next?: number | null
}

export interface ClaimRequest {
  readonly agentId: string
  /** Patterns: exact, `eng-*` or `*`. Default: every type. */
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<Phase>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  /** At most so many tasks. Default 1; the server takes up to 1,000. */
  readonly max?: number
  /** Seconds to wait for a task when there is none (long poll). Default 0; the server takes up to 60. */
  readonly wait?: number
}

export interface Lease {
  /** Fencing token: grows with every claim. */
  readonly token: number
  readonly expiresAt: string
}

export interface Claim {
  readonly task: TaskView
  readonly lease: Lease
  /** What a former holder left. */
  readonly checkpoint?: Json
}

/** Who reports, about which claim. */
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
}

/** One of many reports in one request. */
export type Outcome = { readonly taskId: string } & (
  | ({ readonly kind: 'heartbeat' } & HeartbeatReport)
  | ({ readonly kind: 'complete' } & CompleteReport)
  | ({ readonly kind: 'fail' } & FailReport)
  | ({ readonly kind: 'release' } & ReleaseReport)
)

export interface Extended {
  readonly lease: Lease
}
export interface Settled {
  /** `incomplete` after `complete`: the queue wants a decision report, and the lease runs on. */
  readonly status: Status
  /** When a failed task is tried again. */
  readonly availableAt?: string
  readonly spawned?: ReadonlyArray<string>
}
/** The answer to an {@link Outcome}: `lease` for a heartbeat, `status` for the others. */
export type OutcomeAnswer = Partial<Extended> & Partial<Settled>

export interface Cancelled {
  /** The task and everything that depended on it. */
  readonly cancelled: ReadonlyArray<string>
}

export interface DeadLetterListFilter {
  readonly type?: string
  readonly signature?: string
  readonly limit?: number
  readonly cursor?: string
  readonly atLeast?: number
}

export interface FailurePattern {
  readonly signature: string
  readonly type: string
  readonly count: number
  readonly sample: string
  readonly firstAt: string
  readonly lastAt: string
  /** Ids of some of them. */
  readonly tasks: ReadonlyArray<string>
}

/** Who decides about dead letters, and why. */
export interface Review {
  readonly reviewer: string
  readonly reason: string
}

export interface Retried {
  readonly retried: ReadonlyArray<string>
}
export interface Discarded {
  readonly discarded: ReadonlyArray<string>
  readonly cancelled: ReadonlyArray<string>
}

export interface BreakerView {
  readonly state: 'closed' | 'open' | 'half-open'
  readonly failures: number
  readonly lastFailure?: string
  readonly openedAt?: string
  readonly halfOpenAt?: string
  readonly probe?: string
  readonly reason?: string
}

export interface AgentView {
  readonly agentId: string
  /** Ids of the tasks it holds. */
  readonly tasks: ReadonlyArray<string>
}

export interface Depth {
  readonly total: number
  readonly byStatus: Readonly<Record<Status, number>>
  readonly byPriority: Readonly<Record<Band, number>>
  readonly byType: Readonly<Record<string, number>>
  readonly byPhase: Readonly<Record<string, number>>
  readonly byTenant: Readonly<Record<string, number>>
  readonly oldestPendingAt?: string | null
  readonly oldestWaitSeconds?: number | null
  readonly revision?: number
}

/** A task taken over from elsewhere, with what has happened to it there. */
export type ImportedTask = NewTask & {
  readonly status?: Status
  readonly createdAt?: Time
  readonly completedAt?: Time
  readonly result?: Result
  readonly lastError?: string
  readonly retries?: number
}

export interface QueueSummary {
  readonly queue?: string
  readonly name?: string
  readonly revision?: number
  readonly [key: string]: unknown
}

export interface Health {
  readonly status?: string
  readonly [key: string]: unknown
}
