/** Tasks: enqueueing, showing and changing them. Times are ISO 8601 in UTC; durations are seconds. */
import type { AmendedField, Band, Json, JsonObject, NewTask as CoreNewTask, OnTimeout, Phase, Result, Status, TimeField } from '@daybook/core'
import type { SentFields } from './sent-fields.js'
import type { DaybookError } from './errors.js'
import type { Reason } from './explanation.js'

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
  /** Enqueued at this time or later, and before that one. ISO 8601. */
  readonly createdAfter?: string
  readonly createdBefore?: string
  /** Blocked until the task with this id is completed, among others perhaps. */
  readonly waitsFor?: string
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

/** A callback that a task got; `payload` is `null` if it had none. */
export interface Callback {
  readonly key: string
  readonly payload: Json
  readonly at: string
}

export interface TaskResult {
  readonly status: Status
  /** Of a completed task. */
  readonly result?: Result
  /** The last error of a task that is not completed. */
  readonly error?: string
}

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
