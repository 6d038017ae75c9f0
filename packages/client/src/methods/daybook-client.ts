/** The methods of a client: one for each operation of the HTTP API. */
import type { DeadLetterFilter, Json, MayLackAnywhere, Settings, SettingsPatch } from '@daybook/core'
import type { Approvals } from './approvals.js'
import type { Batches } from './batches.js'
import type { Difference, DiffOptions, Moment, PastQueue, QueueMoment } from './audit.js'
import type { CallbackTaken, Claim, ClaimOptions, ClaimRequest, CompleteReport, Extended, FailReport, HeartbeatReport, Memory, Outcome, OutcomeAnswer, ParkReport, ReleaseReport, Settled } from './claims.js'
import type { DeadLetterListFilter, Discarded, Escalated, FailurePattern, Redrive, RedriveBegun, Retried, RetryReview, Review, Snoozed } from './dead-letters.js'
import type { ExplainFor, Explanation } from './explanation.js'
import type { EnqueuedTask, TaskHandle } from '../handles/handle.js'
import type { Limits } from './limits.js'
import type { CallOptions } from '../options.js'
import type { AgentView, AlertView, BreakerView, Depth, QueueList, QueueSummary, ReadModels, Ready, Registered, Registration, Terminated, Verdict } from './queue.js'
import type { Report, ReportName, ReportOptions, ReportRows } from './reports.js'
import type { Schedules } from './schedules.js'
import type { AnyTaskType, PayloadOf, ReceivedOutput, TaskFields, TypedTask } from '../handles/task-type.js'
import type { Amended, Amendment, Bumped, CancelAllOptions, CancelFilter, Cancelled, CancelledAll, Each, Enqueued, EnqueuedAll, Erased, EventFilter, EventPage, HistoryEvent, ImportedTask, NewTask, Restarted, RestartOptions, TaskFilter, TaskPage, TaskResult, TaskView, Time } from './tasks.js'
import type { ClientTokens, Me } from './tokens.js'
import type { WatchMessage, WatchOptions } from './watch.js'

/** Options of {@link DaybookClient.enqueueAll}. */
export interface EnqueueAllOptions extends CallOptions {
  /**
   * True (default): all tasks or none, in one request of at most 1,000 tasks, which may refer to each other in any order. False: each task on its
   * own, in as many requests as necessary.
   */
  readonly atomic?: boolean | undefined
}

/**
 * A client of one queue. All methods reject with a `DaybookError` and nothing else.
 *
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:7878', token, queue: 'mail' })
 * const { id } = await client.enqueue({ type: 'send', payload: { to: 'a@example.org' } })
 * await client.close()
 */
export interface DaybookClient {
  readonly queue: string
  /** A client of another queue over the same connections. Closing either closes both. */
  readonly in: (queue: string) => DaybookClient
  /** The queue at a past moment. Each answer is the one that was given, or would have been given, at that moment. The server may have to replay the log for it. Default time-out: one hour. */
  readonly at: (moment: Moment) => PastQueue

  /**
   * Enqueues a task. Concurrent calls share a request.
   *
   * *Gotchas*: the call is repeated if its answer is lost, so `duplicate` may be true for a task that this same call has enqueued. A task without
   * `id` and `idempotencyKey` is identified by its content, unless `deduplicate` says otherwise. So the same type and payload again enqueue nothing
   * while the first task is unfinished or within the queue's retention.
   *
   * @example
   * const sent = await client.enqueue({ type: 'mail', payload: { to: 'a@example.org' } })
   * const { output } = await sent.result({ timeoutMs: 60_000 })
   */
  readonly enqueue: {
    /** `fields`: what the task has beside its type and payload. A payload that is not one of the type is refused as `invalid`, and not sent. */
    <T extends AnyTaskType>(type: T, payload: PayloadOf<T>, fields?: TaskFields, options?: CallOptions): Promise<EnqueuedTask<ReceivedOutput<T>>>
    <R>(task: TypedTask<R>, options?: CallOptions): Promise<EnqueuedTask<R>>
    (task: NewTask, options?: CallOptions): Promise<EnqueuedTask>
  }
  /**
   * Enqueues many tasks; see `atomic`. Each result is the handle of its task, in the order of the tasks.
   *
   * *Gotchas*: with `atomic: false` the call rejects only if no request was answered. `results` has the result of each task.
   */
  readonly enqueueAll: {
    <T extends NewTask | TypedTask = NewTask>(tasks: ReadonlyArray<T>, options: EnqueueAllOptions & { readonly atomic: false }): Promise<EnqueuedAll<Each<EnqueuedTask<ReceivedOutput<T>>>>>
    <T extends NewTask | TypedTask = NewTask>(tasks: ReadonlyArray<T>, options?: EnqueueAllOptions & { readonly atomic?: true }): Promise<EnqueuedAll<EnqueuedTask<ReceivedOutput<T>>>>
  }
  /** Imports tasks with their status and history: at most 1,000 in one call, all or none. */
  readonly importTasks: (tasks: ReadonlyArray<ImportedTask>, options?: CallOptions) => Promise<EnqueuedAll<Enqueued>>

  /** The handle of a task that was enqueued before, perhaps by another program. Nothing is asked yet. */
  readonly handle: {
    (id: string): TaskHandle
    <T extends AnyTaskType>(id: string, type: T): TaskHandle<ReceivedOutput<T>>
  }
  /** One page of the tasks that match. */
  readonly tasks: (filter?: TaskFilter, options?: CallOptions) => Promise<TaskPage>
  /** All pages, fetched as they are needed. The queue may change between two pages. */
  readonly eachTask: (filter?: Omit<TaskFilter, 'cursor'>, options?: CallOptions) => AsyncGenerator<TaskView, void>
  /** A task by its id, or by its number as `#42`. Rejects with `not-found` if it is not known. */
  readonly task: (id: string, options?: CallOptions & { readonly atLeast?: number }) => Promise<TaskView>
  /**
   * The result of the task. Waits at most `wait` seconds (default 60; 0 does not wait) until the task is completed, cancelled, discarded or a dead
   * letter. After that time `status` is the status so far.
   */
  readonly result: (id: string, options?: CallOptions & { readonly wait?: number }) => Promise<TaskResult>
  /** Why the task is not running: all reasons, its position and its score. `claim`: explains it for a claim with these fields. */
  readonly explain: (id: string, claim?: ExplainFor, options?: CallOptions) => Promise<Explanation>
  /**
   * The task's events, oldest first. If the queue no longer knows the task, the log is searched as far back as necessary. `onSearch` is called with
   * the revision from which the search goes on.
   */
  readonly history: (id: string, options?: CallOptions & { readonly onSearch?: (before: number) => void }) => Promise<ReadonlyArray<HistoryEvent>>
  /** Runs a finished task or a dead letter again, as a new task. The old one keeps its status and its history. */
  readonly restart: (id: string, reason: string, options?: RestartOptions & CallOptions) => Promise<Restarted>
  /**
   * Changes a task that nobody holds. The former values stay in its history. A dead letter remains a dead letter: {@link DaybookClient.deadLetters}
   * sends it back, also with another payload.
   */
  readonly amend: (id: string, amendment: Amendment, reason: string, options?: CallOptions) => Promise<Amended>
  /** Puts a ready task before all others, and lets it start beyond capacity. `agentId`: the agent whose waiting claim got the task at once. */
  readonly bump: (id: string, reason: string, options?: CallOptions) => Promise<Bumped>
  /** Deletes the encryption key of a finished task in an erasable queue, so that nobody can read its content any more. */
  readonly erase: (id: string, reason: string, options?: CallOptions) => Promise<Erased>
  /** Cancels the task and all tasks that depend on it. */
  readonly cancel: (id: string, reason: string, options?: CallOptions) => Promise<Cancelled>
  /**
   * Cancels the matching tasks and all tasks that depend on them. One call cancels a page of about 1,000, all or none; `nextCursor` of the answer is
   * the `cursor` of the next page. With `dryRun` nothing is cancelled, and `cancelled` has the tasks that match.
   */
  readonly cancelAll: (filter: CancelFilter, reason: string, options?: CancelAllOptions & CallOptions) => Promise<CancelledAll>

  /**
   * Claims tasks. Waits up to `wait` seconds if there are none.
   *
   * *Gotchas*: the client never repeats a claim. If the answer is lost, the claimed tasks become available again: at once if the server notices the
   * end of the connection before its answer is sent, otherwise when their leases end.
   */
  readonly claim: (request: ClaimRequest, options?: ClaimOptions & CallOptions) => Promise<ReadonlyArray<Claim>>
  /** Extends a lease. If it rejects with `lease-lost`, `detail` says why: stop working on the task (GB-03). */
  readonly heartbeat: (taskId: string, report: HeartbeatReport) => Promise<Extended>
  /** Completes a task. Status `incomplete` means that the queue requires a decision report: complete again with one. */
  readonly complete: (taskId: string, report: CompleteReport) => Promise<Settled>
  readonly fail: (taskId: string, report: FailReport) => Promise<Settled>
  /** Gives a task back. This counts as an attempt and bars the agent from the task (GB-02, GB-04), unless the agent is `stopping`. */
  readonly release: (taskId: string, report: ReleaseReport) => Promise<Settled>
  /**
   * Parks a task until a callback comes, for example a person's approval. The lease ends, and no attempt is counted. The next claim has the
   * callback's payload.
   */
  readonly park: (taskId: string, report: ParkReport) => Promise<Settled>
  /** Makes the task that waits for this key ready again. Repeated calls get the same answer; only the first payload counts. */
  readonly callback: (key: string, payload?: Json, options?: CallOptions) => Promise<CallbackTaken>
  /** Sends many reports, in as many requests as necessary. Each report has its own answer, in order. Rejects only if no request was answered. */
  readonly outcomes: (outcomes: ReadonlyArray<Outcome>, options?: CallOptions) => Promise<ReadonlyArray<Each<OutcomeAnswer>>>

  readonly deadLetters: {
    readonly list: (filter?: DeadLetterListFilter, options?: CallOptions) => Promise<TaskPage>
    /** Dead letters grouped by failure, the most frequent first: all groups, in as many requests as necessary, or at most `limit`. */
    readonly patterns: (filter?: DeadLetterFilter & { readonly limit?: number }, options?: CallOptions) => Promise<ReadonlyArray<FailurePattern>>
    readonly retry: (id: string, review: RetryReview, options?: CallOptions) => Promise<Retried>
    readonly discard: (id: string, review: Review, options?: CallOptions) => Promise<Discarded>
    /** Sends all matching dead letters back, at most 1,000 in one call. */
    readonly retryAll: (filter: DeadLetterFilter, review: Review, options?: CallOptions) => Promise<Retried>
    /** Sends the dead letter back at `until`, unless it is reviewed otherwise before. */
    readonly snooze: (id: string, until: Time, review: Review, options?: CallOptions) => Promise<Snoozed>
    /** At most 1,000 in one call. The same call again goes on with the next ones. */
    readonly snoozeAll: (filter: DeadLetterFilter, until: Time, review: Review, options?: CallOptions) => Promise<Snoozed>
    /** Marks the dead letter: a person has to decide. */
    readonly escalate: (id: string, review: Review, options?: CallOptions) => Promise<Escalated>
    /** At most 1,000 in one call. The same call again goes on with the next ones. */
    readonly escalateAll: (filter: DeadLetterFilter, review: Review, options?: CallOptions) => Promise<Escalated>
    /** Number of dead letters that match. */
    readonly count: (filter: DeadLetterFilter, review: Review, options?: CallOptions) => Promise<number>
    /** Sends all matching dead letters back, `perMinute` a minute, until none is left or a breaker opens again. A queue has at most one redrive at a time. */
    readonly redrive: (filter: DeadLetterFilter, perMinute: number, review: Review, options?: CallOptions) => Promise<RedriveBegun>
    /** The last redrive; `null` if there was none. */
    readonly redriveStatus: (options?: CallOptions) => Promise<Redrive | null>
    readonly stopRedrive: (reason: string, options?: CallOptions) => Promise<Redrive>
    /** Discards all matching dead letters, at most 1,000 in one call. */
    readonly discardAll: (filter: DeadLetterFilter, review: Review, options?: CallOptions) => Promise<Discarded>
  }
  /** How far the tables of the server's `views.db` are behind the log. With `atLeast` it waits until they include that revision. */
  readonly readModels: (options?: CallOptions & { readonly atLeast?: number }) => Promise<ReadModels>
  /** Lets the server read the whole log of the queue and verify its hashes, which takes seconds for a million events. Default time-out: one hour. */
  readonly verify: (options?: CallOptions) => Promise<Verdict>
  /** A report of a period, by bucket and group: see docs/reports.md. */
  readonly report: <Name extends ReportName>(name: Name, report?: ReportOptions, options?: CallOptions) => Promise<Report<ReportRows[Name]>>
  /** The same report as CSV, or as a picture. */
  readonly reportText: (name: ReportName, format: 'csv' | 'svg', report?: ReportOptions, options?: CallOptions) => Promise<string>
  /** Memories of a ticket, and those that match the words of `q` best. Without both: the newest memories. */
  readonly memories: (filter?: { readonly q?: string; readonly ticketId?: string; readonly limit?: number }, options?: CallOptions) => Promise<ReadonlyArray<Memory>>
  readonly approvals: Approvals
  readonly batches: Batches
  readonly breakers: {
    /** All breakers by task type. */
    readonly list: (options?: CallOptions) => Promise<Readonly<Record<string, BreakerView>>>
    readonly open: (type: string, reason: string, options?: CallOptions) => Promise<void>
    readonly close: (type: string, reason: string, options?: CallOptions) => Promise<void>
  }
  readonly agents: {
    readonly list: (options?: CallOptions) => Promise<ReadonlyArray<AgentView>>
    /**
     * Registers what an agent can take. Fields that its claims leave out are taken from the registration. The registration ends `ttlSeconds` after
     * the agent was last heard of.
     */
    readonly register: (registration: Registration, options?: CallOptions) => Promise<Registered>
    /**
     * Ends the registration and all leases of an agent. Its tasks become available to others. This counts as no attempt, no retry and no failure for
     * a breaker.
     */
    readonly terminate: (agentId: string, reason: string, options?: CallOptions) => Promise<Terminated>
  }
  readonly settings: {
    readonly get: (options?: CallOptions) => Promise<Settings>
    /** Changes some settings; the others stay as they are. */
    readonly patch: (patch: MayLackAnywhere<SettingsPatch>, options?: CallOptions) => Promise<Settings>
  }
  readonly limits: Limits
  readonly schedules: Schedules
  /** The alerts that are raised now. */
  readonly alerts: (options?: CallOptions) => Promise<ReadonlyArray<AlertView>>
  /** Pauses the queue: no task is claimed until {@link DaybookClient.resume}. */
  readonly pause: (reason: string, options?: CallOptions) => Promise<void>
  readonly resume: (reason: string, options?: CallOptions) => Promise<void>
  readonly depth: (options?: CallOptions) => Promise<Depth>
  /** A summary of the queue: tasks by status, and whether it is paused. */
  readonly summary: (options?: CallOptions) => Promise<QueueSummary>
  /** Deletes the queue, which must have no unfinished tasks. Its log stays. The next task creates it again. */
  readonly deleteQueue: (reason: string, options?: CallOptions) => Promise<void>
  /** The whole queue at one moment: counts, breakers, agents, and the tasks that match the filter. */
  readonly state: (filter?: TaskFilter, options?: CallOptions) => Promise<QueueMoment>
  /** The differences between two moments: tasks and breakers, and the events that changed them. At most 100,000 events may lie between them. */
  readonly diff: (between?: DiffOptions, options?: CallOptions) => Promise<Difference>
  /** One page of the queue's log. */
  readonly events: (filter?: EventFilter, options?: CallOptions) => Promise<EventPage>
  /** The log as a stream, in bounded memory, however long it is. */
  readonly eachEvent: (filter?: EventFilter, options?: CallOptions) => AsyncGenerator<HistoryEvent, void>
  /** The same as lines of JSON in UTF-8, as the server sends them, many lines at a time. */
  readonly eventLines: (filter?: EventFilter, options?: CallOptions) => AsyncGenerator<Buffer, void>

  /**
   * What happens in the queue, as it happens, one message at a time. With `from`, also what has happened since that revision. Reconnects whenever the
   * connection ends and goes on from where it was. So it yields each message once, in order, without gaps.
   */
  readonly watch: (options?: WatchOptions) => AsyncGenerator<WatchMessage, void>

  readonly tokens: ClientTokens
  /** What this client's own token permits. */
  readonly me: (options?: CallOptions) => Promise<Me>
  /** All queues of the server that can be read. */
  readonly queues: (options?: CallOptions) => Promise<ReadonlyArray<QueueSummary>>
  /** The same, with the queues that cannot be read now. Rejects if none can be read. */
  readonly listQueues: (options?: CallOptions) => Promise<QueueList>
  /** Whether the server is alive (`/healthz`). Never repeated. */
  readonly health: (options?: CallOptions) => Promise<{ readonly status: string }>
  /** Whether the server accepts commands (`/readyz`). While it does not, rejects with `unavailable` and the reason. Never repeated. */
  readonly ready: (options?: CallOptions) => Promise<Ready>
  /** Refuses new calls, cancels waiting claims, ends watches, waits for all other running calls, and disconnects. */
  readonly close: () => Promise<void>
}
