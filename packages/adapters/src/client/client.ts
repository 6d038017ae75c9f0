/** The client: one method for each operation of the HTTP API. */
import { randomUUID } from 'node:crypto'
import type { Json } from '@daybook/core'
import { newTaskId } from '../engine/ids.js'
import type { Approval, Approvals } from './approvals.js'
import { callsAt, type Difference, type DiffOptions, type Moment, type PastQueue, questionsOf, type QueueMoment, spanOf } from './audit.js'
import { type Calls, createCalls, query } from './calls.js'
import { DaybookError, errorOf, isProblem } from './errors.js'
import type { ExplainFor, Explanation, Reason } from './explanation.js'
import { asDaybookError, type BulkAnswer, Gatherer, ownPaths, textOf } from './gather.js'
import { type CallOptions, type ClientOptions, type Configured, configure } from './options.js'
import { ndjson } from './ndjson.js'
import type { Limits, LimitView } from './limits.js'
import type { Schedules, ScheduleView } from './schedules.js'
import { taskTextOf } from './task-text.js'
import { createTransport, type HttpRequest } from './transport.js'
import type * as W from './types.js'
import { watch, type WatchMessage, type WatchOptions } from './watch.js'

/** Options of {@link DaybookClient.enqueueAll}. */
export interface EnqueueAllOptions extends CallOptions {
  /**
   * True (default): all tasks or none, in one request of at most 1,000; they may refer to each other in any
   * order. False: each on its own, in as many requests as necessary.
   */
  readonly atomic?: boolean
}

/**
 * A client of one queue. All methods reject with a {@link DaybookError} and nothing else.
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
  readonly enqueue: (task: W.NewTask, options?: CallOptions) => Promise<W.Enqueued>
  /**
   * Enqueues many tasks; see `atomic`.
   *
   * *Gotchas*: with `atomic: false` it rejects only if no request was answered. `results` has the result of each task.
   */
  readonly enqueueAll: {
    (tasks: ReadonlyArray<W.NewTask>, options: EnqueueAllOptions & { readonly atomic: false }): Promise<W.EnqueuedAll<W.Each<W.Enqueued>>>
    (tasks: ReadonlyArray<W.NewTask>, options?: EnqueueAllOptions & { readonly atomic?: true }): Promise<W.EnqueuedAll<W.Enqueued>>
  }
  /** Imports tasks with their status and history; at most 1,000 in a call, all or none. */
  readonly importTasks: (tasks: ReadonlyArray<W.ImportedTask>, options?: CallOptions) => Promise<W.EnqueuedAll<W.Enqueued>>

  /** One page. */
  readonly tasks: (filter?: W.TaskFilter, options?: CallOptions) => Promise<W.TaskPage>
  /** All pages, read as they are needed. The queue may change between two pages. */
  readonly eachTask: (filter?: Omit<W.TaskFilter, 'cursor'>, options?: CallOptions) => AsyncGenerator<W.TaskView, void>
  /** By id, or by number as `#42`. */
  readonly task: (id: string, options?: CallOptions & { readonly atLeast?: number }) => Promise<W.TaskView>
  /**
   * The result of the task. Waits until it is completed, cancelled, discarded or a dead letter: at most `wait` seconds (default: 60, 0 for not at
   * all); then `status` says where it stands.
   */
  readonly result: (id: string, options?: CallOptions & { readonly wait?: number }) => Promise<W.TaskResult>
  /** Why the task is not running: all reasons, its position, its score. `claim`: for a claim that asks for this. */
  readonly explain: (id: string, claim?: ExplainFor, options?: CallOptions) => Promise<Explanation>
  /**
   * The task's events, oldest first. If the queue does not know the task any more, the log is searched, as far back as
   * necessary; `onSearch` is called with the revision from which it is being searched.
   */
  readonly history: (id: string, options?: CallOptions & { readonly onSearch?: (before: number) => void }) => Promise<ReadonlyArray<W.HistoryEvent>>
  /** Does a finished task or a dead letter once more, as a new task. The old one keeps its status and its history. */
  readonly restart: (id: string, reason: string, options?: CallOptions) => Promise<W.Restarted>
  /**
   * Changes a task that nobody holds. Its former values stay in its history. A dead letter stays one: {@link DaybookClient.deadLetters} sends it
   * back, also with another payload.
   */
  readonly amend: (id: string, amendment: W.Amendment, reason: string, options?: CallOptions) => Promise<W.Amended>
  /** Puts a ready task before all others, and lets it start beyond capacity. `agentId`: the agent that waited for a task and got it at once. */
  readonly bump: (id: string, reason: string, options?: CallOptions) => Promise<W.Bumped>
  /** Cancels the task and everything that depends on it. */
  /** Throws away the key of a finished task in an erasable queue: what it contained is gone. */
  readonly erase: (id: string, reason: string, options?: CallOptions) => Promise<W.Erased>
  readonly cancel: (id: string, reason: string, options?: CallOptions) => Promise<W.Cancelled>
  /**
   * Cancels the tasks that match and everything that depends on them: a page of about 1,000, all or none. `nextCursor` of the answer
   * is the `cursor` of the next page. With `dryRun` nothing is cancelled, and `cancelled` are those that match.
   */
  readonly cancelAll: (filter: W.CancelFilter, reason: string, options?: W.CancelAllOptions & CallOptions) => Promise<W.CancelledAll>

  /**
   * Claims tasks, waiting up to `wait` seconds if there are none.
   *
   * *Gotchas*: never repeated by the client. If the answer is lost, the claimed tasks become available again: at once if the server
   * notices the end of the connection before its answer is sent, otherwise when their leases end.
   */
  readonly claim: (request: W.ClaimRequest, options?: W.ClaimOptions & CallOptions) => Promise<ReadonlyArray<W.Claim>>
  /** Extends a lease. If it fails with `lease-lost`, `detail` says why; then stop working (GB-03). */
  readonly heartbeat: (taskId: string, report: W.HeartbeatReport) => Promise<W.Extended>
  /** Status `incomplete` means that the queue requires a decision report: complete again with one. */
  readonly complete: (taskId: string, report: W.CompleteReport) => Promise<W.Settled>
  readonly fail: (taskId: string, report: W.FailReport) => Promise<W.Settled>
  /** Gives a task back. Counts as an attempt, and bars this agent from the task (GB-02, GB-04), unless it is `stopping`. */
  readonly release: (taskId: string, report: W.ReleaseReport) => Promise<W.Settled>
  /**
   * Parks a task until a callback comes, for example a person's approval: its lease ends, and no attempt is counted. The next claim has the
   * callback's payload.
   */
  readonly park: (taskId: string, report: W.ParkReport) => Promise<W.Settled>
  /** Makes the task that waits for this key ready again. Repeated calls get the same answer, and the first payload counts. */
  readonly callback: (key: string, payload?: Json, options?: CallOptions) => Promise<W.CallbackTaken>
  /** Many reports, each with its own answer, in order; in as many requests as it takes. Rejects only if none was answered. */
  readonly outcomes: (outcomes: ReadonlyArray<W.Outcome>, options?: CallOptions) => Promise<ReadonlyArray<W.Each<W.OutcomeAnswer>>>

  readonly deadLetters: {
    readonly list: (filter?: W.DeadLetterListFilter, options?: CallOptions) => Promise<W.TaskPage>
    /** Dead letters grouped by failure, most frequent first. */
    readonly patterns: (filter?: W.DeadLetterFilter, options?: CallOptions) => Promise<ReadonlyArray<W.FailurePattern>>
    readonly retry: (id: string, review: W.RetryReview, options?: CallOptions) => Promise<W.Retried>
    readonly discard: (id: string, review: W.Review, options?: CallOptions) => Promise<W.Discarded>
    /** All that match, at most 1,000 in one call. */
    readonly retryAll: (filter: W.DeadLetterFilter, review: W.Review, options?: CallOptions) => Promise<W.Retried>
    /** Sends it back at `until`, unless it is reviewed otherwise before. */
    readonly snooze: (id: string, until: W.Time, review: W.Review, options?: CallOptions) => Promise<W.Snoozed>
    readonly snoozeAll: (filter: W.DeadLetterFilter, until: W.Time, review: W.Review, options?: CallOptions) => Promise<W.Snoozed>
    /** Marks it: a person has to decide. */
    readonly escalate: (id: string, review: W.Review, options?: CallOptions) => Promise<W.Escalated>
    readonly escalateAll: (filter: W.DeadLetterFilter, review: W.Review, options?: CallOptions) => Promise<W.Escalated>
    /** How many match. */
    readonly count: (filter: W.DeadLetterFilter, review: W.Review, options?: CallOptions) => Promise<number>
    /** Sends all that match back, so many a minute, until none is left or a breaker opens again. One at a time. */
    readonly redrive: (filter: W.DeadLetterFilter, perMinute: number, review: W.Review, options?: CallOptions) => Promise<W.RedriveBegun>
    /** The last redrive; `null` if there was none. */
    readonly redriveStatus: (options?: CallOptions) => Promise<W.Redrive | null>
    readonly stopRedrive: (reason: string, options?: CallOptions) => Promise<W.Redrive>
    /** All that match, at most 1,000 in one call. */
    readonly discardAll: (filter: W.DeadLetterFilter, review: W.Review, options?: CallOptions) => Promise<W.Discarded>
  }
  /** How far the tables of the server's `views.db` are. With `atLeast` it waits until they show that revision. */
  readonly readModels: (options?: CallOptions & { readonly atLeast?: number }) => Promise<W.ReadModels>
  /** Has the server read the whole log of the queue and verify its hashes, which takes seconds for a million events. Default time-out: an hour. */
  readonly verify: (options?: CallOptions) => Promise<W.Verdict>
  /** A report of a period, by bucket and group: see docs/reports.md. */
  readonly report: (name: W.ReportName, report?: W.ReportOptions, options?: CallOptions) => Promise<W.Report>
  /** The same as CSV, or as a picture. */
  readonly reportText: (name: W.ReportName, format: 'csv' | 'svg', report?: W.ReportOptions, options?: CallOptions) => Promise<string>
  /** What is remembered: of a ticket, and what fits the words of `q` best; without both, the newest. */
  readonly memories: (filter?: { readonly q?: string; readonly ticketId?: string; readonly limit?: number }, options?: CallOptions) => Promise<ReadonlyArray<W.Memory>>
  readonly approvals: Approvals
  readonly breakers: {
    /** By task type. */
    readonly list: (options?: CallOptions) => Promise<Readonly<Record<string, W.BreakerView>>>
    readonly open: (type: string, reason: string, options?: CallOptions) => Promise<void>
    readonly close: (type: string, reason: string, options?: CallOptions) => Promise<void>
  }
  readonly agents: {
    readonly list: (options?: CallOptions) => Promise<ReadonlyArray<W.AgentView>>
    /** Says what an agent can take. Its claims take over what they leave out. The registration ends `ttlSeconds` after the agent was last heard of. */
    readonly register: (registration: W.Registration, options?: CallOptions) => Promise<W.Registered>
    /** Ends the registration and all leases of an agent; its tasks go to others. Counts neither as an attempt nor a retry nor a failure for a breaker. */
    readonly terminate: (agentId: string, reason: string, options?: CallOptions) => Promise<W.Terminated>
  }
  readonly settings: {
    readonly get: (options?: CallOptions) => Promise<W.Settings>
    /** Changes some settings; the others stay. */
    readonly patch: (patch: W.SettingsPatch, options?: CallOptions) => Promise<W.Settings>
  }
  readonly limits: Limits
  readonly schedules: Schedules
  /** The alerts that are raised now. */
  readonly alerts: (options?: CallOptions) => Promise<ReadonlyArray<W.AlertView>>
  /** No task is claimed until {@link DaybookClient.resume}. */
  readonly pause: (reason: string, options?: CallOptions) => Promise<void>
  readonly resume: (reason: string, options?: CallOptions) => Promise<void>
  readonly depth: (options?: CallOptions) => Promise<W.Depth>
  /** A summary of the queue: tasks by status, and whether it is paused. */
  readonly summary: (options?: CallOptions) => Promise<W.QueueSummary>
  /** Deletes the queue, which must have no unfinished tasks. Its log stays, and its next task creates it again. */
  readonly deleteQueue: (reason: string, options?: CallOptions) => Promise<void>
  /** The whole queue at one moment: counts, breakers, agents, and the tasks that match the filter. */
  readonly state: (filter?: W.TaskFilter, options?: CallOptions) => Promise<QueueMoment>
  /** What differs between two moments: tasks and breakers, and the events that changed them. At most 100,000 events may lie between. */
  readonly diff: (between?: DiffOptions, options?: CallOptions) => Promise<Difference>
  /** One page of the queue's log. */
  readonly events: (filter?: W.EventFilter, options?: CallOptions) => Promise<W.EventPage>
  /** The log as a stream: bounded memory, however long it is. */
  readonly eachEvent: (filter?: W.EventFilter, options?: CallOptions) => AsyncGenerator<W.HistoryEvent, void>

  /**
   * What happens in the queue, message by message, as it happens; with `from`, also what has happened since that revision. Connects again from where it was
   * whenever the connection ends, so nothing is missed, and yields each message once and in order.
   */
  readonly watch: (options?: WatchOptions) => AsyncGenerator<WatchMessage, void>

  /** All queues of the server. */
  readonly queues: (options?: CallOptions) => Promise<ReadonlyArray<W.QueueSummary>>
  /** Whether the server is alive (`/healthz`). One try. */
  readonly health: (options?: CallOptions) => Promise<{ readonly status: string }>
  /** Whether it takes commands (`/readyz`); rejects with `unavailable` and the reason while it does not. One try. */
  readonly ready: (options?: CallOptions) => Promise<W.Ready>
  /** Refuses new calls, cancels waiting claims, waits for the other running calls, and disconnects. */
  readonly close: () => Promise<void>
}

/** The server's limit on tasks in one request. */
const bulkMax = 1_000

/** Makes a client. Nothing is connected until the first call. */
export const createClient = (options: ClientOptions = {}): DaybookClient => {
  const config = configure(options)
  const transport = createTransport({
    url: config.url,
    token: config.token,
    userAgent: config.agentName,
    connectionsMax: config.connectionsMax,
    waitingClaimsMax: config.waitingClaimsMax,
    timeoutMs: config.timeoutMs,
    answerBytesMax: config.answerBytesMax,
  })
  const calls = createCalls(config, transport)
  const clients = new Map<string, { readonly client: DaybookClient; readonly finish: () => Promise<void> }>()
  let closing: Promise<void> | undefined

  const close = (): Promise<void> => {
    transport.stopWaiting()
    return (closing ??= Promise.all([...clients.values()].map(({ finish }) => finish())).then(() => transport.close()))
  }
  const clientOf = (queue: string): DaybookClient => {
    const known = clients.get(queue)
    if (known !== undefined) return known.client
    const made = queueClient(queue, config, calls, clientOf, close)
    clients.set(queue, made)
    return made.client
  }
  return clientOf(config.queue)
}

const queueClient = (
  queue: string,
  config: Configured,
  calls: Calls,
  clientOf: (queue: string) => DaybookClient,
  close: () => Promise<void>,
): { readonly client: DaybookClient; readonly finish: () => Promise<void> } => {
  const base = `/api/queues/${encodeURIComponent(queue)}`
  const taskPath = (id: string): string => `${base}/tasks/${encodeURIComponent(id)}`
  const limitPath = (key: string): string => `${base}/limits/${encodeURIComponent(key)}`
  const schedulePath = (name: string): string => `${base}/schedules/${encodeURIComponent(name)}`
  const { json, once } = calls

  const reportPath = (name: W.ReportName, { from, to, ...report }: W.ReportOptions & { readonly format?: string }): string =>
    `${base}/reports/${name}${query({ ...report, from: from instanceof Date ? from.toISOString() : from, to: to instanceof Date ? to.toISOString() : to })}`
  const get = <T>(path: string, options?: CallOptions): Promise<T> => json<T>({ method: 'GET', path }, 'safe', options)
  const post = async <T>(path: string, body: unknown, options?: CallOptions, policy: 'safe' | 'unsent' = 'unsent'): Promise<T> =>
    json<T>({ method: 'POST', path, body: bodyOf(body) }, policy, options)

  const tasksRequest = (body: string, requestId = newTaskId()): HttpRequest => ({ method: 'POST', path: `${base}/tasks`, body, requestId })
  const bulkTasks = (texts: ReadonlyArray<string>, requestId?: string): HttpRequest =>
    tasksRequest(`{"atomic":false,"tasks":[${texts.join(',')}]}`, requestId)
  const bulkOutcomes = (texts: ReadonlyArray<string>, idempotencyKey: string | undefined): HttpRequest => ({
    method: 'POST',
    path: `${base}/outcomes`,
    body: `{"outcomes":[${texts.join(',')}]}`,
    idempotencyKey,
  })
  const { itemsMax, bytesMax, inFlightMax, splitMin, waitingMax } = config.gather
  const gatherer = (
    print: (value: unknown) => string | DaybookError,
    send: (texts: ReadonlyArray<string>, key: string | undefined) => Promise<BulkAnswer>,
    keyOf: (batch: ReadonlyArray<{ readonly keyed: boolean }>) => string | undefined,
  ): Gatherer =>
    new Gatherer({ limits: { itemsMax, bytesMax, inFlightMax, splitMin }, waitingMax, retryForMs: config.retryForMs, print, send, keyOf })
  // A repeated request enqueues nothing twice: its tasks have ids, or get them from the request id.
  const enqueues = gatherer(taskTextOf, (texts, requestId) => once(bulkTasks(texts, requestId)), newTaskId)
  const reports = gatherer(textOf, (texts, key) => once(bulkOutcomes(texts, key)), keyIfNeeded)
  const finish = async (): Promise<void> => {
    await Promise.all([enqueues.close(), reports.close()])
  }

  const report = <T>(taskId: string, kind: W.Outcome['kind'], said: object): Promise<T> =>
    reports.call<T>({ taskId, kind, ...said }, endsLease(kind))

  /** Sends as many requests as necessary, a few at a time. The answers are in order. */
  const inChunks = async <T>(
    values: ReadonlyArray<unknown>,
    print: (value: unknown) => string | DaybookError,
    send: (texts: ReadonlyArray<string>) => Promise<BulkAnswer>,
  ): Promise<{ readonly results: ReadonlyArray<W.Each<T>>; readonly revision: number }> => {
    const results = new Array<W.Each<T>>(values.length)
    const chunks = chunksOf(values, print, bytesMax, (index, error) => (results[index] = { ok: false, error }))
    let revision = -1
    let failures = 0
    const run = async ({ texts, indexes }: Chunk): Promise<void> => {
      try {
        const answer = await send(texts)
        const bulkRevision = answer.revision
        if (bulkRevision !== undefined && bulkRevision > revision) revision = bulkRevision
        for (let i = 0; i < indexes.length; i++) results[indexes[i] as number] = eachOf<T>(answer.results[i], bulkRevision)
      } catch (thrown) {
        const error = asDaybookError(thrown)
        // If other requests were answered, throwing would hide their results.
        if (++failures === chunks.length) throw error
        for (const index of indexes) results[index] = { ok: false, error }
      }
    }
    let next = 0
    const worker = async (): Promise<void> => {
      for (let chunk = chunks[next++]; chunk !== undefined; chunk = chunks[next++]) await run(chunk)
    }
    await Promise.all(Array.from({ length: Math.min(inFlightMax, chunks.length) }, worker))
    return { results, revision }
  }

  const enqueueAll = async (
    tasks: ReadonlyArray<W.NewTask>,
    { atomic = true, ...options }: EnqueueAllOptions = {},
  ): Promise<W.EnqueuedAll<W.Enqueued> | W.EnqueuedAll<W.Each<W.Enqueued>>> => {
    if (atomic) {
      let texts = ''
      for (const task of tasks) texts += `${texts === '' ? '' : ','}${certain(taskTextOf(task))}`
      return withRevisions(await json<W.EnqueuedAll<W.Enqueued>>(tasksRequest(`{"tasks":[${texts}]}`), 'safe', options))
    }
    return inChunks<W.Enqueued>(tasks, taskTextOf, (texts) => json<BulkAnswer>(bulkTasks(texts), 'safe', options))
  }

  const eachTask = async function* (filter: Omit<W.TaskFilter, 'cursor'> = {}, options?: CallOptions): AsyncGenerator<W.TaskView, void> {
    for (let cursor: string | undefined; ; ) {
      const page: W.TaskPage = await client.tasks(cursor === undefined ? filter : { ...filter, cursor }, options)
      yield* page.tasks
      if (page.nextCursor === undefined || page.nextCursor === null) return
      cursor = page.nextCursor
    }
  }

  const review = async <T>(verb: 'retry' | 'discard', id: string, body: W.Review, options?: CallOptions): Promise<T> =>
    post<T>(`${base}/dead-letters/${encodeURIComponent(id)}/${verb}`, body, options)

  const client: DaybookClient = {
    queue,
    in: clientOf,
    at: (moment) => questionsOf(queueClient(queue, config, callsAt(calls, moment), clientOf, close).client),

    enqueue: async (task, options) => {
      if (options === undefined) return enqueues.call<W.Enqueued>(task, false)
      return json<W.Enqueued>(tasksRequest(bodyOf(task)), 'safe', options)
    },
    enqueueAll: enqueueAll as DaybookClient['enqueueAll'],
    importTasks: async (tasks, options) =>
      withRevisions(await post<W.EnqueuedAll<W.Enqueued>>(`${base}/imports`, { tasks }, options, 'safe')),

    tasks: (filter = {}, options) => get(`${base}/tasks${query(filter)}`, options),
    eachTask,
    task: (id, { atLeast, ...options } = {}) => get(`${taskPath(id)}${query({ atLeast })}`, options),
    result: (id, { wait = 60, ...options } = {}) =>
      json({ method: 'GET', path: `${taskPath(id)}/result${query({ wait })}`, waitMs: wait * 1_000 }, 'safe', options),
    explain: (id, claim = {}, options) => get(`${taskPath(id)}/explain${query(claim)}`, options),
    history: async (id, { onSearch, ...options } = {}) => {
      // An erasure may be found long before the events that it ended.
      let found: ReadonlyArray<W.HistoryEvent> = []
      for (let before: number | undefined; ; ) {
        const { events, next } = await get<W.History>(`${taskPath(id)}/history${query({ before })}`, options)
        found = [...events, ...found]
        if (next === undefined || next === null) return found
        before = next
        onSearch?.(before)
      }
    },
    restart: (id, reason, options) =>
      json({ method: 'POST', path: `${taskPath(id)}/restart`, body: bodyOf({ reason }), requestId: newTaskId() }, 'safe', options),
    amend: (id, amendment, reason, options) => json({ method: 'PATCH', path: taskPath(id), body: bodyOf({ ...amendment, reason }) }, 'unsent', options),
    bump: (id, reason, options) => post(`${taskPath(id)}/bump`, { reason }, options),
    erase: (id, reason, options) => post(`${taskPath(id)}/erase`, { reason }, options),
    cancel: (id, reason, options) => post(`${taskPath(id)}/cancel`, { reason }, options),
    cancelAll: (filter, reason, { dryRun, cursor, ...options } = {}) => post(`${base}/tasks/cancel`, { filter, reason, dryRun, cursor }, options),

    claim: async (request, { onNothing, ...options } = {}) => {
      const waitMs = (request.wait ?? 0) * 1_000
      const asked: HttpRequest = { method: 'POST', path: `${base}/claims`, body: bodyOf(request), waitMs }
      const { claims, reason, memoriesMissing } = await json<{ readonly claims: ReadonlyArray<W.Claim>; readonly reason?: Reason; readonly memoriesMissing?: string }>(asked, 'never', options)
      if (claims.length === 0) onNothing?.(reason)
      return memoriesMissing === undefined ? claims : claims.map((claim) => ({ ...claim, memoriesMissing }))
    },
    heartbeat: (taskId, said) => report(taskId, 'heartbeat', said),
    complete: (taskId, said) => report(taskId, 'complete', said),
    fail: (taskId, said) => report(taskId, 'fail', said),
    release: (taskId, said) => report(taskId, 'release', said),
    park: (taskId, said) => report(taskId, 'park', said),
    callback: (key, payload, options) => post(`${base}/callbacks/${encodeURIComponent(key)}`, payload === undefined ? {} : { payload }, options, 'safe'),
    outcomes: async (outcomes, options) => {
      const key = options?.idempotencyKey ?? keyIfNeeded(outcomes.map(({ kind }) => ({ keyed: endsLease(kind) })))
      let chunk = 0
      const { results } = await inChunks<W.OutcomeAnswer>(outcomes, textOf, (texts) => {
        const own = key === undefined || chunk++ === 0 ? key : `${key}.${chunk}`
        return json<BulkAnswer>(bulkOutcomes(texts, own), 'safe', own === undefined ? options : { ...options, idempotencyKey: own })
      })
      return results
    },

    deadLetters: {
      list: (filter = {}, options) => get(`${base}/dead-letters${query(filter)}`, options),
      patterns: async (filter = {}, options) =>
        (await get<{ readonly patterns: ReadonlyArray<W.FailurePattern> }>(`${base}/dead-letters/patterns${query(filter)}`, options)).patterns,
      retry: (id, body, options) => review('retry', id, body, options),
      discard: (id, body, options) => review('discard', id, body, options),
      retryAll: (filter, body, options) => post(`${base}/dead-letters/retry`, { filter, ...body }, options),
      snooze: (id, until, body, options) => post(`${base}/dead-letters/${encodeURIComponent(id)}/snooze`, { ...body, until }, options, 'safe'),
      snoozeAll: (filter, until, body, options) => post(`${base}/dead-letters/snooze`, { filter, ...body, until }, options, 'safe'),
      escalate: (id, body, options) => post(`${base}/dead-letters/${encodeURIComponent(id)}/escalate`, body, options, 'safe'),
      escalateAll: (filter, body, options) => post(`${base}/dead-letters/escalate`, { filter, ...body }, options, 'safe'),
      count: async (filter, body, options) => (await post<{ readonly count: number }>(`${base}/dead-letters/retry`, { filter, ...body, dryRun: true }, options, 'safe')).count,
      redrive: (filter, perMinute, body, options) => post(`${base}/dead-letters/retry`, { filter, ...body, perMinute }, options),
      redriveStatus: async (options) => (await get<{ readonly redrive: W.Redrive | null }>(`${base}/dead-letters/redrive`, options)).redrive,
      stopRedrive: async (reason, options) =>
        (await json<{ readonly redrive: W.Redrive }>({ method: 'DELETE', path: `${base}/dead-letters/redrive${query({ reason })}` }, 'unsent', options)).redrive,
      discardAll: (filter, body, options) => post(`${base}/dead-letters/discard`, { filter, ...body }, options),
    },
    readModels: ({ atLeast, ...options } = {}) => get(`${base}/read-models${query({ atLeast })}`, options),
    verify: (options) => get(`${base}/verify`, { timeoutMs: 3_600_000, ...options }),
    report: (name, report = {}, options) => get(reportPath(name, report), options),
    reportText: (name, format, report = {}, options) => calls.text({ method: 'GET', path: reportPath(name, { ...report, format }) }, 'safe', options),
    memories: async (filter = {}, options) => (await get<{ readonly memories: ReadonlyArray<W.Memory> }>(`${base}/memories${query(filter)}`, options)).memories,
    approvals: {
      list: async (options) => (await get<{ readonly approvals: ReadonlyArray<Approval> }>(`${base}/approvals`, options)).approvals,
      get: (id, options) => get(`${base}/approvals/${encodeURIComponent(id)}`, options),
      approve: (id, reason, options) => post(`${base}/approvals/${encodeURIComponent(id)}/approve`, { reason }, options),
      refuse: async (id, reason, options) => void (await post(`${base}/approvals/${encodeURIComponent(id)}/refuse`, { reason }, options)),
    },
    breakers: {
      list: async (options) =>
        (await get<{ readonly breakers: Readonly<Record<string, W.BreakerView>> }>(`${base}/breakers`, options)).breakers,
      open: async (type, reason, options) => void (await post(`${base}/breakers/${encodeURIComponent(type)}/open`, { reason }, options, 'safe')),
      close: async (type, reason, options) => void (await post(`${base}/breakers/${encodeURIComponent(type)}/close`, { reason }, options, 'safe')),
    },
    agents: {
      list: async (options) => (await get<{ readonly agents: ReadonlyArray<W.AgentView> }>(`${base}/agents`, options)).agents,
      register: (registration, options) => post(`${base}/agents`, registration, options, 'safe'),
      terminate: (agentId, reason, options) =>
        json({ method: 'DELETE', path: `${base}/agents/${encodeURIComponent(agentId)}${query({ reason })}` }, 'unsent', options),
    },
    settings: {
      get: (options) => get(`${base}/settings`, options),
      patch: async (patch, options) => json({ method: 'PATCH', path: `${base}/settings`, body: bodyOf(patch) }, 'safe', options),
    },
    limits: {
      list: async (options) => (await get<{ readonly limits: ReadonlyArray<LimitView> }>(`${base}/limits`, options)).limits,
      get: (key, options) => get(limitPath(key), options),
      set: (key, limit, options) => json({ method: 'PUT', path: limitPath(key), body: bodyOf(limit) }, 'safe', options),
      remove: async (key, options) => void (await json({ method: 'DELETE', path: limitPath(key) }, 'unsent', options)),
    },
    schedules: {
      list: async (options) => (await get<{ readonly schedules: ReadonlyArray<ScheduleView> }>(`${base}/schedules`, options)).schedules,
      get: (name, options) => get(schedulePath(name), options),
      create: (name, schedule, options) => post(`${base}/schedules`, { name, ...schedule }, options, 'safe'),
      change: (name, patch, options) => json({ method: 'PATCH', path: schedulePath(name), body: bodyOf(patch) }, 'safe', options),
      remove: async (name, options) => void (await json({ method: 'DELETE', path: schedulePath(name) }, 'unsent', options)),
    },
    alerts: async (options) => (await get<{ readonly alerts: ReadonlyArray<W.AlertView> }>(`${base}/alerts`, options)).alerts,
    pause: async (reason, options) => void (await post(`${base}/pause`, { reason }, options, 'safe')),
    resume: async (reason, options) => void (await post(`${base}/resume`, { reason }, options, 'safe')),
    depth: (options) => get(`${base}/depth`, options),
    summary: (options) => get(base, options),
    deleteQueue: async (reason, options) => void (await json({ method: 'DELETE', path: `${base}${query({ reason })}` }, 'unsent', options)),
    state: (filter = {}, options) => get(`${base}/state${query(filter)}`, options),
    diff: (between = {}, options) => get(`${base}/diff${query(spanOf(between))}`, options),
    events: (filter = {}, options) => get(`${base}/events${query(spanOf(filter))}`, options),
    eachEvent: (filter = {}, options) => ndjson<W.HistoryEvent>(calls, { method: 'GET', path: `${base}/events${query(spanOf(filter))}`, signal: options?.signal }),

    watch: (options) => watch({ url: config.url, token: config.token, queue }, options),

    queues: async (options) => (await get<{ readonly queues: ReadonlyArray<W.QueueSummary> }>('/api/queues', options)).queues,
    health: (options) => json({ method: 'GET', path: '/healthz' }, 'never', options),
    ready: (options) => json({ method: 'GET', path: '/readyz' }, 'never', options),
    close,
  }
  return { client, finish }
}

const endsLease = (kind: W.Outcome['kind']): boolean => kind === 'fail' || kind === 'release' || kind === 'park'

/** A repeated failure, release or parking would be refused as `lease-lost`, since the first one ended the lease. */
const keyIfNeeded = (batch: ReadonlyArray<{ readonly keyed: boolean }>): string | undefined =>
  batch.some(({ keyed }) => keyed) ? randomUUID() : undefined

const bodyOf = (value: unknown): string => certain(textOf(value))

/** @throws DaybookError if it is one. */
const certain = (text: string | DaybookError): string => {
  if (text instanceof DaybookError) throw text
  return text
}

/** Gives each result the revision of the answer. It is changed in place, since it was parsed for this caller alone. */
const withRevisions = (answer: W.EnqueuedAll<W.Enqueued>): W.EnqueuedAll<W.Enqueued> => {
  const results = answer.results as ReadonlyArray<{ revision?: number }>
  for (const result of results) result.revision ??= answer.revision
  return answer
}

const eachOf = <T>(result: unknown, revision: number | undefined): W.Each<T> => {
  if (isProblem(result)) return { ok: false, error: errorOf(ownPaths(result)) }
  if (result === undefined || result === null) return { ok: false, error: asDaybookError('an answer is missing') }
  const value = result as { revision?: number }
  if (revision !== undefined && value.revision === undefined) value.revision = revision
  return { ok: true, value: value as T }
}

interface Chunk {
  readonly texts: Array<string>
  readonly indexes: Array<number>
}

/** Serialises each value once, into requests within the server's limits. A value that is not JSON is refused and left out. */
const chunksOf = (
  values: ReadonlyArray<unknown>,
  print: (value: unknown) => string | DaybookError,
  bytesMax: number,
  refuse: (index: number, error: DaybookError) => void,
): ReadonlyArray<Chunk> => {
  const chunks: Array<Chunk> = []
  let chunk: Chunk | undefined
  let bytes = 0
  for (let i = 0; i < values.length; i++) {
    const text = print(values[i])
    if (text instanceof DaybookError) {
      refuse(i, text)
      continue
    }
    const size = Buffer.byteLength(text) + 1
    if (chunk === undefined || chunk.texts.length >= bulkMax || bytes + size > bytesMax) {
      chunk = { texts: [], indexes: [] }
      chunks.push(chunk)
      bytes = 0
    }
    chunk.texts.push(text)
    chunk.indexes.push(i)
    bytes += size
  }
  return chunks
}
