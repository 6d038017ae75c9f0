/** The types of the HTTP API. Times are ISO 8601 in UTC; durations are seconds. */
import type {
  AlertKind,
  AmendedField,
  Band,
  DeadLetterFilter,
  Failure,
  Json,
  JsonObject,
  Deduplicate,
  NewTask as CoreNewTask,
  OnTimeout,
  ParkRequest,
  Phase,
  Result,
  Settings,
  SettingsPatch,
  Status,
  TimeField,
} from '@daybook/core'
import type { Memory as BankMemory } from '../memory-bank/index.js'
import type { SentFields } from '../sent-fields.js'
import type { DaybookError } from './errors.js'
import type { Reason } from './explanation.js'

export type { Band, DeadLetterFilter, Deduplicate, Failure, Json, JsonObject, OnTimeout, ParkRequest, Phase, Result, Settings, SettingsPatch, Status }

/** A time to send: ISO 8601 text, or a `Date`, which JSON prints as such. */
export type Time = string | Date

/** A task to enqueue; only `type` is needed. */
export type NewTask = Omit<CoreNewTask, TimeField> & { readonly [K in TimeField]?: Time }

/** The result of an enqueued task. */
export interface Enqueued {
  readonly id: string
  /** 1, 2, 3 … per queue; `#42` can be used wherever an id can. */
  readonly number: number
  readonly status: Status
  /**
   * The task was there before: same id, same idempotency key or same content. Also true if a request
   * had succeeded, its answer was lost, and it was sent again.
   */
  readonly duplicate: boolean
  /** Of a duplicate: what it has in common with the task named here. */
  readonly duplicateBy?: 'id' | 'key' | 'content'
  /** Of a duplicate of a finished task: until when that blocks duplicates. */
  readonly until?: string
  /** The queue's revision that shows it. */
  readonly revision: number
}

/** One result of many, independent of the others. */
export type Each<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: DaybookError }

export interface EnqueuedAll<R> {
  /** In the order of the tasks. */
  readonly results: ReadonlyArray<R>
  readonly revision: number
}

interface TaskCommon extends SentFields {
  readonly id: string
  readonly number: number
  readonly type: string
  readonly priority: number
  /** What the producer sent; `null` if nothing. */
  readonly payload: Json
  readonly description?: string
  readonly metadata?: JsonObject
  /** Why payload, description and metadata are not shown, of a task in an erasable queue. */
  readonly withheld?: 'erased' | 'key-missing' | 'damaged'
  readonly dependencies: ReadonlyArray<string>
  /** Seconds that a lease lasts without a heartbeat, unless its claim asked for less. */
  readonly timeout: number
  /** Number of failures that makes it a dead letter, including the first; at least one attempt is made. */
  readonly maxRetries: number
  /** Attempts that failed or expired since the last requeue. */
  readonly retries: number
  /** Claims that ended without success since the last requeue, releases included. */
  readonly attempts: number
  /** The attempt under way, or the last one: 1, 2, 3 …; 0 before the first. */
  readonly attempt: number
  /** If the attempt of this number fails, the task becomes a dead letter. */
  readonly attemptsMax: number
  /** The producer's key, or one that the queue has made; no other known task has it. */
  readonly idempotencyKey: string
  readonly createdAt: string
}

/** A task as the server shows it. */
export interface TaskView extends TaskCommon {
  readonly status: Status
  /** It was bumped: it is served before all others, or is being worked on. */
  readonly priorityBoosted?: true
  readonly backoffSeconds: number
  /** The last progress that the holder, or the last one, reported. */
  readonly progress?: Json
  /** The next holder can continue from here. */
  readonly checkpoint?: Json
  readonly result?: Result
  readonly requires?: { readonly skills: ReadonlyArray<string> }
  /** When a scheduled task becomes ready. */
  readonly availableAt?: string
  /** What a waiting task waits for, and until when. */
  readonly parked?: { readonly callbackKey: string; readonly until: string; readonly onTimeout: OnTimeout }
  /** The callback for which it was parked last. */
  readonly callback?: Callback
  /** Who holds the task, or completed it. */
  readonly claimedBy: string | null
  readonly claimedAt: string | null
  /** Who holds it now. */
  readonly currentClaimant: string | null
  readonly leaseExpiresAt?: string
  /** Agents that released it and are barred from it. */
  readonly claimants: ReadonlyArray<string>
  readonly completedAt: string | null
  readonly finishedAt?: string
  readonly lastError: string | null
  /** How often it met a rate limit, which is no failure. */
  readonly rateLimits?: number
  readonly signature?: string
  readonly deadLetter?: {
    readonly at: string
    readonly reason: string
    /** When it is sent back, unless it is reviewed otherwise before. */
    readonly snoozedUntil?: string
    readonly escalated?: { readonly at: string; readonly reviewer: string; readonly reason: string }
  }
  /** When its content was erased, by whom and why. Only in the answer about a single task. */
  readonly erased?: { readonly at: string; readonly actor?: string; readonly reason: string }
  /** Of a `queued` task: since when it has been in the queue, and its place, `null` beyond 1,000. Only in the answer about a single task. */
  readonly queuedAt?: string
  readonly queuePosition?: number | null
  /** All reasons why it is not running. Only in the answer about a single task. */
  readonly reasons?: ReadonlyArray<Reason>
}

/** A claimed task. */
export interface ClaimedTask extends TaskCommon {
  readonly status: 'in-progress'
  readonly claimedBy: string
}

export interface TaskFilter {
  readonly status?: Status | ReadonlyArray<Status>
  /** Exact, `eng-*` or `*`. */
  readonly type?: string
  readonly phase?: Phase
  /** A number, the name of a band, or a range such as `5-7`. */
  readonly priority?: number | Band | (string & {})
  readonly ticketId?: string
  readonly tenant?: string
  /** Holds the task, or completed it. */
  readonly agent?: string
  /** Part of the id, type, ticket or last error. */
  readonly q?: string
  readonly limit?: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string
  /** Waits (≤ 5 s) until the view has this revision. */
  readonly atLeast?: number
}

export interface TaskPage {
  readonly tasks: ReadonlyArray<TaskView>
  /** `null` on the last page. */
  readonly nextCursor: string | null
  readonly revision: number
}

export interface HistoryEvent {
  readonly revision: number
  readonly type: string
  readonly schemaVersion?: number
  /** The version of Daybook that can read the event. Most events do not have it. */
  readonly needs?: string
  readonly at: string
  readonly actor?: string
  readonly correlationId?: string
  readonly data: JsonObject
}

export interface History {
  readonly events: ReadonlyArray<HistoryEvent>
  /** Where to continue the search for a task that is no longer in memory. */
  readonly next?: number | null
}

export interface EventFilter {
  /** First revision, or a time. */
  readonly from?: number | Time
  readonly limit?: number
  readonly type?: string
  /** Id or `#number`. */
  readonly task?: string
  /** The name of the token that was used. */
  readonly actor?: string
  readonly correlationId?: string
  readonly atLeast?: number
}

export interface EventPage {
  readonly events: ReadonlyArray<HistoryEvent>
  /** `from` of the next page; `null` at the head of the log. */
  readonly next: number | null
  readonly revision: number
}

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

/** A callback that a task got; `payload` is `null` if it had none. */
export interface Callback {
  readonly key: string
  readonly payload: Json
  readonly at: string
}

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
export interface TaskResult {
  readonly status: Status
  /** Of a completed task. */
  readonly result?: Result
  /** The last error of a task that is not completed. */
  readonly error?: string
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

export interface Restarted {
  readonly id: string
  readonly number: number
  /** The task that was finished. */
  readonly restartOf: string
  readonly status: Status
}

/** What to change of a task. `null` takes a time away. */
export interface Amendment {
  readonly priority?: NewTask['priority']
  readonly payload?: Json
  readonly deadlineAt?: Time | null
  /** When it becomes ready. A time that has passed makes it ready now. */
  readonly availableAt?: Time | null
}

export interface Amended {
  readonly id: string
  readonly status: Status
  /** The fields that have another value now. Empty if all were so already. */
  readonly changed: ReadonlyArray<AmendedField>
  readonly revision: number
}

/** Nobody can read what the task contained any more. */
export interface Erased {
  readonly id: string
  readonly erased: true
  readonly revision: number
}

export interface Bumped {
  readonly id: string
  readonly status: Status
  /** Who works on it; `null` until an agent takes it. */
  readonly agentId: string | null
  /** Whether more agents work than `maxConcurrentAgents`. */
  readonly overCapacity: boolean
  readonly activeAgents: number
  readonly maxConcurrentAgents: number
}

export interface Cancelled {
  /** The task and everything that depended on it. */
  readonly cancelled: ReadonlyArray<string>
}

/** How far the tables of the server's `views.db` are. */
export interface ReadModels {
  /** The revision that they show; -1 for none. */
  readonly revision: number
  /** Events of the log that they do not show yet. */
  readonly behind: number
  /** Projections that are built anew, while the old tables still answer: events done, of all events. */
  readonly building?: { readonly projections: ReadonlyArray<string>; readonly done: number; readonly of: number }
}

/** Whether the log of a queue is what was appended. */
export interface Verdict {
  readonly ok: boolean
  readonly events: number
  /** The last event, -1 for none, and the last hash of the chain, `null` if there is none. */
  readonly head: { readonly revision: number; readonly hash: string | null }
  /** The first event that a hash covers; `null` for a log without hashes. */
  readonly begins: number | null
  /** The first `size` events are those that were signed, in so many checkpoints. */
  readonly checkpoint?: { readonly size: number; readonly signer: string; readonly count: number }
  /** Events after the last hash, which nothing covers yet: an older server wrote them, or a hash was removed. */
  readonly unsealed?: { readonly from: number; readonly to: number }
  readonly broken?: {
    readonly kind: 'altered' | 'missing' | 'inserted' | 'reordered' | 're-signed' | 'cut' | 'rewritten'
    /** The first event that is not what was appended; with `to`, one between the two. */
    readonly revision: number
    readonly to?: number
    readonly reason: string
  }
}

export type ReportName = 'summary' | 'throughput' | 'latency' | 'retries' | 'deadlines' | 'failures' | 'breakers' | 'fairness'

export interface ReportOptions {
  /** A time, or a day as `2026-07-01`: when it begins in the zone. Default: a day before `to`. */
  readonly from?: Time
  /** Not included. Default: now. */
  readonly to?: Time
  /** A number is of minutes. Default: by the length of the period. */
  readonly bucket?: 'month' | 'week' | 'day' | 'hour' | 'total' | number
  /** Of the IANA list. Default: UTC. */
  readonly zone?: string
  readonly by?: 'all' | 'type' | 'phase' | 'tenant' | 'agent' | 'discovery'
  /** So many groups are told one by one, and the others are added up. Default 20. */
  readonly top?: number
  /** Waits until the tables show this revision. */
  readonly atLeast?: number
}

export interface Report {
  readonly report: ReportName
  readonly queue: string
  /** The revision of the last event that it shows; -1 for none. */
  readonly revision: number
  /** Events of the log that it does not show yet. */
  readonly behind?: number
  readonly from: string
  readonly to: string
  readonly zone: string
  readonly bucket?: string
  readonly by?: string
  /** Of quantiles. */
  readonly relativeError?: number
  /** Their members depend on the report: docs/reports.md has them. Times of the bucket are in the zone. */
  readonly rows: ReadonlyArray<Readonly<Record<string, string | number | null>>>
}

/** The filter of a list, but only for tasks that are neither finished nor dead letters. */
export type CancelFilter = Omit<TaskFilter, 'limit' | 'cursor' | 'atLeast'>

export interface CancelAllOptions {
  readonly dryRun?: boolean | undefined
  readonly cursor?: string | undefined
}

export interface CancelledAll extends Cancelled {
  readonly count: number
  /** `null` if no more tasks match. */
  readonly nextCursor: string | null
  readonly revision: number
}

export interface DeadLetterListFilter {
  readonly type?: string
  readonly signature?: string
  /** Part of the error. */
  readonly error?: string
  readonly escalated?: boolean
  readonly snoozed?: boolean
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

export interface RetryReview extends Review {
  /** Replaces the payload of the dead letter. */
  readonly payload?: Json
}

export interface Retried {
  readonly retried: ReadonlyArray<string>
}
export interface Snoozed {
  readonly snoozed: ReadonlyArray<string>
}
export interface Escalated {
  readonly escalated: ReadonlyArray<string>
}
/** Dead letters that are sent back one after the other. */
export interface Redrive extends Review {
  readonly filter: DeadLetterFilter
  readonly perMinute: number
  readonly startedAt: string
  /** How many it has sent back. */
  readonly retried: number
  /** When the next is due; `null` when it has stopped. */
  readonly nextAt: string | null
  readonly stopped?: { readonly at: string; readonly cause: 'nothing-left' | 'breaker-opened' | 'by-hand'; readonly taskType?: string }
}
export interface RedriveBegun {
  /** How many match. */
  readonly count: number
  readonly redrive: Redrive
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

/** What an agent can take. */
export interface Abilities {
  /** Exact, `eng-*` or `*`. */
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<Phase>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  /** Tasks that it holds at most at the same time. */
  readonly maxTasks?: number
}
/** A condition that people should know of. It is raised once, and cleared once when it ends. */
export interface AlertView {
  /** The kind, and what it is about: `breaker-open:eng-backend`. */
  readonly key: string
  readonly kind: AlertKind
  readonly message: string
  readonly raisedAt: string
}

export interface Registration extends Abilities {
  readonly agentId: string
  /** So long after the agent was last heard of the registration ends. Default 600. */
  readonly ttlSeconds?: number
}
export interface Registered {
  readonly agentId: string
  readonly registeredUntil: string
}

export interface AgentView extends Abilities {
  readonly agentId: string
  /** Whether it holds a task. */
  readonly status: 'idle' | 'working'
  /** Ids of the tasks it holds. */
  readonly tasks: ReadonlyArray<string>
  readonly leases: ReadonlyArray<{ readonly task: string; readonly expiresAt: string }>
  /** Of a registered agent: when it was last heard of, to a 64th of the registration's length, and when the registration ends. */
  readonly lastSeenAt?: string
  readonly registeredUntil?: string
}

export interface ClaimOptions {
  /** Called if there are no tasks; with the reason, if tasks are ready that match. */
  readonly onNothing?: (reason: Reason | undefined) => void
}

export interface Depth {
  readonly total: number
  readonly byStatus: Readonly<Record<Status, number>>
  readonly byPriority: Readonly<Record<Band, number>>
  readonly byType: Readonly<Record<string, number>>
  readonly byPhase: Readonly<Record<string, number>>
  readonly byTenant: Readonly<Record<string, number>>
  readonly oldestPendingAt: string | null
  readonly oldestWaitSeconds: number
  readonly revision: number
}

/** A task taken over from elsewhere, with what has happened to it there. */
export type ImportedTask = Omit<NewTask, 'deduplicate'> & {
  /** Where it stood. Default `pending`. */
  readonly status?: 'pending' | 'completed' | 'cancelled' | 'dead-letter'
  readonly createdAt?: Time
  readonly completedAt?: Time
  readonly result?: Result
  readonly lastError?: string
  readonly retries?: number
  /** Of a spawned task: the first task of its chain, and its place in the chain. */
  readonly rootTaskId?: string
  readonly generation?: number
}

/** The server takes work. */
export interface Ready {
  readonly status: 'ready'
  readonly queues: number
  /** Queues that were deleted or cut in the store, and are not opened. */
  readonly refused?: ReadonlyArray<{ readonly queue: string; readonly reason: string }>
  /** Queues whose log holds events that this server cannot read: nothing is decided on them here. */
  readonly readOnly?: ReadonlyArray<{ readonly queue: string; readonly reason: string }>
  /** Queues whose time is ahead of this server's clock, because a clock was wrong once: it goes on from the last event. */
  readonly ahead?: ReadonlyArray<{ readonly queue: string; readonly seconds: number }>
  /** What does not work, and keeps no command from being taken: queue files that cannot be written, a memory or a webhook that cannot be reached. */
  readonly degraded?: ReadonlyArray<{ readonly part: string; readonly queue?: string; readonly reason: string; readonly since: string }>
}

export interface QueueSummary {
  readonly name: string
  readonly revision: number
  /** Why it is paused; `null` when it is not. */
  readonly paused: string | null
  readonly total: number
  readonly byStatus: Readonly<Record<Status, number>>
}

export interface Terminated {
  readonly agentId: string
  readonly terminated: true
  /** Ids of the tasks it held. */
  readonly reassignedTasks: ReadonlyArray<string>
  /** The same, and what has become of each. */
  readonly tasks: ReadonlyArray<{ readonly id: string; readonly number: number; readonly status: Status }>
}
