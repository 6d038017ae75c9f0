/** Tasks: enqueueing, showing and changing them. Times are ISO 8601 in UTC; durations are seconds. */
import type { AmendedField, Band, Json, JsonObject, NewTask as CoreNewTask, OnTimeout, Phase, Result, Status, TimeField } from '@daybook/core'
import type { SentFields } from '../sent-fields.js'
import type { DaybookError } from '../errors.js'
import type { Reason } from './explanation.js'

/** A time to send: ISO 8601 text, or a `Date`, which JSON prints as such. */
export type Time = string | Date

/** A task to enqueue. Only `type` is required; a field that is `undefined` is not there. */
export type NewTask = Pick<CoreNewTask, 'type'> & { readonly [K in keyof Omit<CoreNewTask, 'type' | TimeField>]?: CoreNewTask[K] | undefined } & { readonly [K in TimeField]?: Time | undefined }

/** The result of enqueueing a task. */
export interface Enqueued {
  readonly id: string
  /** 1, 2, 3 … per queue; `#42` can be used wherever an id can. */
  readonly number: number
  readonly status: Status
  /** The task existed before: it has the same id, idempotency key or content. Also true if a request succeeded, its answer was lost, and it was sent again. */
  readonly duplicate: boolean
  /** Only of a duplicate: what it has in common with the task named here. */
  readonly duplicateBy?: 'id' | 'key' | 'content'
  /** Only of a duplicate of a finished task: until when that task blocks duplicates. ISO 8601. */
  readonly until?: string
  /** The revision of the queue that includes the task. */
  readonly revision: number
}

/** One result of several, independent of the others. */
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
  /** Why payload, description and metadata of a task in an erasable queue are missing. */
  readonly withheld?: 'erased' | 'key-missing' | 'damaged'
  readonly dependencies: ReadonlyArray<string>
  /** Length of a lease without a heartbeat, in seconds, unless the claim asked for less. */
  readonly timeout: number
  /** After this many failures, the first included, the task is a dead letter. At least one attempt is made. */
  readonly maxRetries: number
  /** Attempts that failed or expired since the last requeue. */
  readonly retries: number
  /** Claims that ended without success since the last requeue, releases included. */
  readonly attempts: number
  /** Number of the current or last attempt: 1, 2, 3 …; 0 before the first. */
  readonly attempt: number
  /** Number of the last attempt: if it fails, the task becomes a dead letter. */
  readonly attemptsMax: number
  /** The producer's key, or one that the queue has made. No other known task has it. */
  readonly idempotencyKey: string
  readonly createdAt: string
}

/** A task as the server shows it. */
export interface TaskView extends TaskCommon {
  readonly status: Status
  /** The task was bumped: it is served before all others, or is being worked on. */
  readonly priorityBoosted?: true
  readonly backoffSeconds: number
  /** The last reported progress. */
  readonly progress?: Json
  /** The last checkpoint, from which the next attempt can continue. */
  readonly checkpoint?: Json
  readonly result?: Result
  readonly requires?: { readonly skills: ReadonlyArray<string> }
  /** When a scheduled task becomes ready. */
  readonly availableAt?: string
  /** What a waiting task waits for, and until when. */
  readonly parked?: { readonly callbackKey: string; readonly until: string; readonly onTimeout: OnTimeout }
  /** The callback for which the task was last parked. */
  readonly callback?: Callback
  /** The agent that holds or completed the task. */
  readonly claimedBy: string | null
  readonly claimedAt: string | null
  /** The agent that holds the task now. */
  readonly currentClaimant: string | null
  readonly leaseExpiresAt?: string
  /** Agents that released the task and are barred from it. */
  readonly claimants: ReadonlyArray<string>
  readonly completedAt: string | null
  readonly finishedAt?: string
  readonly lastError: string | null
  /** How often the task met a rate limit, which is no failure. */
  readonly rateLimits?: number
  readonly signature?: string
  readonly deadLetter?: {
    readonly at: string
    readonly reason: string
    /** When the dead letter is sent back, unless it is reviewed otherwise before. */
    readonly snoozedUntil?: string
    readonly escalated?: { readonly at: string; readonly reviewer: string; readonly reason: string }
    /** How many tasks cannot run before it is finished: those that depend on it directly, and those after it with the same ordering key. Missing if there are none. */
    readonly holdsUp?: { readonly dependents: number; readonly inLine: number }
  }
  /** When the content was erased, by whom and why. Only in the answer about a single task. */
  readonly erased?: { readonly at: string; readonly actor?: string; readonly reason: string }
  /** Only of a `queued` task: when it was enqueued, and its place; `null` beyond 1,000. Only in the answer about a single task. */
  readonly queuedAt?: string
  readonly queuePosition?: number | null
  /** All reasons why the task is not running. Only in the answer about a single task. */
  readonly reasons?: ReadonlyArray<Reason>
}

/** A claimed task. */
export interface ClaimedTask extends TaskCommon {
  readonly status: 'in-progress'
  readonly claimedBy: string
}

export interface TaskFilter {
  readonly status?: Status | ReadonlyArray<Status> | undefined
  /** Exact, `eng-*` or `*`. */
  readonly type?: string | undefined
  readonly phase?: Phase | undefined
  /** A number, the name of a band, or a range such as `5-7`. */
  readonly priority?: number | Band | (string & {}) | undefined
  readonly ticketId?: string | undefined
  readonly tenant?: string | undefined
  readonly batchId?: string | undefined
  /** The agent that holds or completed the task. */
  readonly agent?: string | undefined
  /** Part of the id, type, ticket or last error, in any case. */
  readonly q?: string | undefined
  /** Enqueued at or after `createdAfter`, and before `createdBefore`. ISO 8601. */
  readonly createdAfter?: string | undefined
  readonly createdBefore?: string | undefined
  /** Blocked by the task with this id, perhaps among others. */
  readonly waitsFor?: string | undefined
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
  /** Waits at most 5 s until the view includes this revision. */
  readonly atLeast?: number | undefined
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
  /** The version of Daybook that can read the event. Most events do not have this member. */
  readonly needs?: string
  readonly at: string
  readonly actor?: string
  readonly correlationId?: string
  readonly data: JsonObject
}

export interface History {
  readonly events: ReadonlyArray<HistoryEvent>
  /** Where to continue the search for a task that the queue no longer knows. */
  readonly next?: number | null
}

export interface EventFilter {
  /** First revision, or a time. */
  readonly from?: number | Time | undefined
  readonly limit?: number | undefined
  readonly type?: string | undefined
  /** A task's id, or its number as `#42`. */
  readonly task?: string | undefined
  /** The name of the token that was used. */
  readonly actor?: string | undefined
  readonly correlationId?: string | undefined
  readonly atLeast?: number | undefined
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
  /** Only of a completed task. */
  readonly result?: Result
  /** Only of a task that is not completed: its last error. */
  readonly error?: string
}

export interface RestartOptions {
  /** What the new task waits for besides what the old one waited for: of several tasks that are restarted, the restarts of its dependencies. */
  readonly dependencies?: ReadonlyArray<string> | undefined
}

export interface Restarted {
  readonly id: string
  readonly number: number
  /** Id of the old task. */
  readonly restartOf: string
  readonly status: Status
}

/** What to change about a task. A time of `null` is removed. */
export interface Amendment {
  readonly priority?: NewTask['priority'] | undefined
  readonly payload?: Json | undefined
  readonly deadlineAt?: Time | null | undefined
  /** When the task becomes ready. A time that has passed makes it ready now. */
  readonly availableAt?: Time | null | undefined
}

export interface Amended {
  readonly id: string
  readonly status: Status
  /** The fields whose values have changed. Empty if all had the wanted values already. */
  readonly changed: ReadonlyArray<AmendedField>
  readonly revision: number
}

/** The answer to an erasure: nobody can read the task's content any more. */
export interface Erased {
  readonly id: string
  readonly erased: true
  readonly revision: number
}

export interface Bumped {
  readonly id: string
  readonly status: Status
  /** The agent that works on the task; `null` until an agent takes it. */
  readonly agentId: string | null
  /** Whether more agents work than `maxConcurrentAgents` allows. */
  readonly overCapacity: boolean
  readonly activeAgents: number
  readonly maxConcurrentAgents: number
}

export interface Cancelled {
  /** Ids of the task and of all tasks that depended on it. */
  readonly cancelled: ReadonlyArray<string>
}

/** The filter of a list, limited to tasks that are neither finished nor dead letters. */
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

/** A task from another system, with its history there. */
export type ImportedTask = Omit<NewTask, 'deduplicate'> & {
  /** The status in the other system. Default `pending`. */
  readonly status?: 'pending' | 'completed' | 'cancelled' | 'dead-letter'
  readonly createdAt?: Time
  readonly completedAt?: Time
  readonly result?: Result
  readonly lastError?: string
  readonly retries?: number
  /** Only of a spawned task: the first task of its chain, and its distance from that task. */
  readonly rootTaskId?: string
  readonly generation?: number
}
