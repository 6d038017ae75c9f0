/** What a client can do: one method for each operation of the HTTP API. */
import type { DeadLetterFilter, Json, Settings, SettingsPatch } from '@daybook/core'
import type { Approvals } from './approvals.js'
import type { Difference, DiffOptions, Moment, PastQueue, QueueMoment } from './audit.js'
import type { CallbackTaken, Claim, ClaimOptions, ClaimRequest, CompleteReport, Extended, FailReport, HeartbeatReport, Memory, Outcome, OutcomeAnswer, ParkReport, ReleaseReport, Settled } from './claims.js'
import type { DeadLetterListFilter, Discarded, Escalated, FailurePattern, Redrive, RedriveBegun, Retried, RetryReview, Review, Snoozed } from './dead-letters.js'
import type { ExplainFor, Explanation } from './explanation.js'
import type { Limits } from './limits.js'
import type { CallOptions } from './options.js'
import type { AgentView, AlertView, BreakerView, Depth, QueueSummary, ReadModels, Ready, Registered, Registration, Report, ReportName, ReportOptions, Terminated, Verdict } from './queue.js'
import type { Schedules } from './schedules.js'
import type { Amended, Amendment, Bumped, CancelAllOptions, CancelFilter, Cancelled, CancelledAll, Each, Enqueued, EnqueuedAll, Erased, EventFilter, EventPage, HistoryEvent, ImportedTask, NewTask, Restarted, TaskFilter, TaskPage, TaskResult, TaskView, Time } from './tasks.js'
import type { ClientTokens, Me } from './tokens.js'
import type { WatchMessage, WatchOptions } from './watch.js'

/** Options of {@link DaybookClient.enqueueAll}. */
export interface EnqueueAllOptions extends CallOptions {
  /**
   * True (default): all tasks or none, in one request of at most 1,000; they may refer to each other in any
   * order. False: each on its own, in as many requests as necessary.
   */
  readonly atomic?: boolean
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
  /** The queue as it was. Each answer is the one that was given, or would have been given, at that moment. */
  readonly at: (moment: Moment) => PastQueue

  /**
   * Enqueues a task. Concurrent calls share a request.
   *
   * *Gotchas*: the call is repeated if its answer is lost, so `duplicate` may be true for a task that this same call
   * has enqueued. A task without `id` and `idempotencyKey` is identified by its content, unless `deduplicate` says otherwise: the
   * same type and payload again enqueue nothing while the first task is unfinished or within the queue's retention.
   */
  readonly enqueue: (task: NewTask, options?: CallOptions) => Promise<Enqueued>
  /**
   * Enqueues many tasks; see `atomic`.
   *
   * *Gotchas*: with `atomic: false` it rejects only if no request was answered. `results` has the result of each task.
   */
  readonly enqueueAll: {
    (tasks: ReadonlyArray<NewTask>, options: EnqueueAllOptions & { readonly atomic: false }): Promise<EnqueuedAll<Each<Enqueued>>>
    (tasks: ReadonlyArray<NewTask>, options?: EnqueueAllOptions & { readonly atomic?: true }): Promise<EnqueuedAll<Enqueued>>
  }
  /** Imports tasks with their status and history; at most 1,000 in a call, all or none. */
  readonly importTasks: (tasks: ReadonlyArray<ImportedTask>, options?: CallOptions) => Promise<EnqueuedAll<Enqueued>>

  /** One page. */
  readonly tasks: (filter?: TaskFilter, options?: CallOptions) => Promise<TaskPage>
  /** All pages, read as they are needed. The queue may change between two pages. */
  readonly eachTask: (filter?: Omit<TaskFilter, 'cursor'>, options?: CallOptions) => AsyncGenerator<TaskView, void>
  /** By id, or by number as `#42`. */
  readonly task: (id: string, options?: CallOptions & { readonly atLeast?: number }) => Promise<TaskView>
  /**
   * The result of the task. Waits until it is completed, cancelled, discarded or a dead letter: at most `wait` seconds (default: 60, 0 for not at
   * all); then `status` says where it stands.
   */
  readonly result: (id: string, options?: CallOptions & { readonly wait?: number }) => Promise<TaskResult>
  /** Why the task is not running: all reasons, its position, its score. `claim`: for a claim that asks for this. */
  readonly explain: (id: string, claim?: ExplainFor, options?: CallOptions) => Promise<Explanation>
  /**
   * The task's events, oldest first. If the queue does not know the task any more, the log is searched, as far back as
   * necessary; `onSearch` is called with the revision from which it is being searched.
   */
  readonly history: (id: string, options?: CallOptions & { readonly onSearch?: (before: number) => void }) => Promise<ReadonlyArray<HistoryEvent>>
  /** Does a finished task or a dead letter once more, as a new task. The old one keeps its status and its history. */
  readonly restart: (id: string, reason: string, options?: CallOptions) => Promise<Restarted>
  /**
   * Changes a task that nobody holds. Its former values stay in its history. A dead letter stays one: {@link DaybookClient.deadLetters} sends it
   * back, also with another payload.
   */
  readonly amend: (id: string, amendment: Amendment, reason: string, options?: CallOptions) => Promise<Amended>
  /** Puts a ready task before all others, and lets it start beyond capacity. `agentId`: the agent that waited for a task and got it at once. */
  readonly bump: (id: string, reason: string, options?: CallOptions) => Promise<Bumped>
  /** Throws away the key of a finished task in an erasable queue: what it contained is gone. */
  readonly erase: (id: string, reason: string, options?: CallOptions) => Promise<Erased>
  /** Cancels the task and everything that depends on it. */
  readonly cancel: (id: string, reason: string, options?: CallOptions) => Promise<Cancelled>
  /**
   * Cancels the tasks that match and everything that depends on them: a page of about 1,000, all or none. `nextCursor` of the answer
   * is the `cursor` of the next page. With `dryRun` nothing is cancelled, and `cancelled` are those that match.
   */
  readonly cancelAll: (filter: CancelFilter, reason: string, options?: CancelAllOptions & CallOptions) => Promise<CancelledAll>

  /**
   * Claims tasks, waiting up to `wait` seconds if there are none.
   *
   * *Gotchas*: never repeated by the client. If the answer is lost, the claimed tasks become available again: at once if the server
   * notices the end of the connection before its answer is sent, otherwise when their leases end.
   */
  readonly claim: (request: ClaimRequest, options?: ClaimOptions & CallOptions) => Promise<ReadonlyArray<Claim>>
  /** Extends a lease. If it fails with `lease-lost`, `detail` says why; then stop working (GB-03). */
  readonly heartbeat: (taskId: string, report: HeartbeatReport) => Promise<Extended>
  /** Status `incomplete` means that the queue requires a decision report: complete again with one. */
  readonly complete: (taskId: string, report: CompleteReport) => Promise<Settled>
  readonly fail: (taskId: string, report: FailReport) => Promise<Settled>
  /** Gives a task back. Counts as an attempt, and bars this agent from the task (GB-02, GB-04), unless it is `stopping`. */
  readonly release: (taskId: string, report: ReleaseReport) => Promise<Settled>
  /**
   * Parks a task until a callback comes, for example a person's approval: its lease ends, and no attempt is counted. The next claim has the
   * callback's payload.
   */
  readonly park: (taskId: string, report: ParkReport) => Promise<Settled>
  /** Makes the task that waits for this key ready again. Repeated calls get the same answer, and the first payload counts. */
  readonly callback: (key: string, payload?: Json, options?: CallOptions) => Promise<CallbackTaken>
  /** Many reports, each with its own answer, in order; in as many requests as it takes. Rejects only if none was answered. */
  readonly outcomes: (outcomes: ReadonlyArray<Outcome>, options?: CallOptions) => Promise<ReadonlyArray<Each<OutcomeAnswer>>>

  readonly deadLetters: {
    readonly list: (filter?: DeadLetterListFilter, options?: CallOptions) => Promise<TaskPage>
    /** Dead letters grouped by failure, most frequent first. */
    readonly patterns: (filter?: DeadLetterFilter, options?: CallOptions) => Promise<ReadonlyArray<FailurePattern>>
    readonly retry: (id: string, review: RetryReview, options?: CallOptions) => Promise<Retried>
    readonly discard: (id: string, review: Review, options?: CallOptions) => Promise<Discarded>
    /** All that match, at most 1,000 in one call. */
    readonly retryAll: (filter: DeadLetterFilter, review: Review, options?: CallOptions) => Promise<Retried>
    /** Sends it back at `until`, unless it is reviewed otherwise before. */
    readonly snooze: (id: string, until: Time, review: Review, options?: CallOptions) => Promise<Snoozed>
    readonly snoozeAll: (filter: DeadLetterFilter, until: Time, review: Review, options?: CallOptions) => Promise<Snoozed>
    /** Marks it: a person has to decide. */
    readonly escalate: (id: string, review: Review, options?: CallOptions) => Promise<Escalated>
    readonly escalateAll: (filter: DeadLetterFilter, review: Review, options?: CallOptions) => Promise<Escalated>
    /** How many match. */
    readonly count: (filter: DeadLetterFilter, review: Review, options?: CallOptions) => Promise<number>
    /** Sends all that match back, so many a minute, until none is left or a breaker opens again. One at a time. */
    readonly redrive: (filter: DeadLetterFilter, perMinute: number, review: Review, options?: CallOptions) => Promise<RedriveBegun>
    /** The last redrive; `null` if there was none. */
    readonly redriveStatus: (options?: CallOptions) => Promise<Redrive | null>
    readonly stopRedrive: (reason: string, options?: CallOptions) => Promise<Redrive>
    /** All that match, at most 1,000 in one call. */
    readonly discardAll: (filter: DeadLetterFilter, review: Review, options?: CallOptions) => Promise<Discarded>
  }
  /** How far the tables of the server's `views.db` are. With `atLeast` it waits until they show that revision. */
  readonly readModels: (options?: CallOptions & { readonly atLeast?: number }) => Promise<ReadModels>
  /** Has the server read the whole log of the queue and verify its hashes, which takes seconds for a million events. Default time-out: an hour. */
  readonly verify: (options?: CallOptions) => Promise<Verdict>
  /** A report of a period, by bucket and group: see docs/reports.md. */
  readonly report: (name: ReportName, report?: ReportOptions, options?: CallOptions) => Promise<Report>
  /** The same as CSV, or as a picture. */
  readonly reportText: (name: ReportName, format: 'csv' | 'svg', report?: ReportOptions, options?: CallOptions) => Promise<string>
  /** What is remembered: of a ticket, and what fits the words of `q` best; without both, the newest. */
  readonly memories: (filter?: { readonly q?: string; readonly ticketId?: string; readonly limit?: number }, options?: CallOptions) => Promise<ReadonlyArray<Memory>>
  readonly approvals: Approvals
  readonly breakers: {
    /** By task type. */
    readonly list: (options?: CallOptions) => Promise<Readonly<Record<string, BreakerView>>>
    readonly open: (type: string, reason: string, options?: CallOptions) => Promise<void>
    readonly close: (type: string, reason: string, options?: CallOptions) => Promise<void>
  }
  readonly agents: {
    readonly list: (options?: CallOptions) => Promise<ReadonlyArray<AgentView>>
    /** Says what an agent can take. Its claims take over what they leave out. The registration ends `ttlSeconds` after the agent was last heard of. */
    readonly register: (registration: Registration, options?: CallOptions) => Promise<Registered>
    /** Ends the registration and all leases of an agent; its tasks go to others. Counts neither as an attempt nor a retry nor a failure for a breaker. */
    readonly terminate: (agentId: string, reason: string, options?: CallOptions) => Promise<Terminated>
  }
  readonly settings: {
    readonly get: (options?: CallOptions) => Promise<Settings>
    /** Changes some settings; the others stay. */
    readonly patch: (patch: SettingsPatch, options?: CallOptions) => Promise<Settings>
  }
  readonly limits: Limits
  readonly schedules: Schedules
  /** The alerts that are raised now. */
  readonly alerts: (options?: CallOptions) => Promise<ReadonlyArray<AlertView>>
  /** No task is claimed until {@link DaybookClient.resume}. */
  readonly pause: (reason: string, options?: CallOptions) => Promise<void>
  readonly resume: (reason: string, options?: CallOptions) => Promise<void>
  readonly depth: (options?: CallOptions) => Promise<Depth>
  /** A summary of the queue: tasks by status, and whether it is paused. */
  readonly summary: (options?: CallOptions) => Promise<QueueSummary>
  /** Deletes the queue, which must have no unfinished tasks. Its log stays, and its next task creates it again. */
  readonly deleteQueue: (reason: string, options?: CallOptions) => Promise<void>
  /** The whole queue at one moment: counts, breakers, agents, and the tasks that match the filter. */
  readonly state: (filter?: TaskFilter, options?: CallOptions) => Promise<QueueMoment>
  /** What differs between two moments: tasks and breakers, and the events that changed them. At most 100,000 events may lie between. */
  readonly diff: (between?: DiffOptions, options?: CallOptions) => Promise<Difference>
  /** One page of the queue's log. */
  readonly events: (filter?: EventFilter, options?: CallOptions) => Promise<EventPage>
  /** The log as a stream: bounded memory, however long it is. */
  readonly eachEvent: (filter?: EventFilter, options?: CallOptions) => AsyncGenerator<HistoryEvent, void>
  /** The same as lines of JSON in UTF-8, as the server sends them, many at a time. */
  readonly eventLines: (filter?: EventFilter, options?: CallOptions) => AsyncGenerator<Buffer, void>

  /**
   * What happens in the queue, message by message, as it happens; with `from`, also what has happened since that revision. Connects again from where it was
   * whenever the connection ends, so nothing is missed, and yields each message once and in order.
   */
  readonly watch: (options?: WatchOptions) => AsyncGenerator<WatchMessage, void>

  readonly tokens: ClientTokens
  /** What this client's own token is for. */
  readonly me: (options?: CallOptions) => Promise<Me>
  /** All queues of the server. */
  readonly queues: (options?: CallOptions) => Promise<ReadonlyArray<QueueSummary>>
  /** Whether the server is alive (`/healthz`). One try. */
  readonly health: (options?: CallOptions) => Promise<{ readonly status: string }>
  /** Whether it takes commands (`/readyz`); rejects with `unavailable` and the reason while it does not. One try. */
  readonly ready: (options?: CallOptions) => Promise<Ready>
  /** Refuses new calls, cancels waiting claims, waits for the other running calls, and disconnects. */
  readonly close: () => Promise<void>
}
