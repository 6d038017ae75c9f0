/** The client over HTTP: {@link createClient}. */
import { randomUUID } from 'node:crypto'
import type { CreatedBatch } from './methods/batches.js'
import { newTaskId } from './task-id.js'
import type { Approval } from './methods/approvals.js'
import { callsAt, questionsOf, replayTimeoutMs, spanOf } from './methods/audit.js'
import { type Calls, createCalls, query } from './transport/calls.js'
import { type Chunk, chunksOf } from './transport/chunks.js'
import type { Claim, Memory, Outcome, OutcomeAnswer } from './methods/claims.js'
import type { DaybookClient, EnqueueAllOptions } from './methods/daybook-client.js'
import type { FailurePattern, PatternPage, Redrive, Review } from './methods/dead-letters.js'
import { DaybookError, errorOf, isProblem } from './errors.js'
import type { Reason } from './methods/explanation.js'
import { answerMissing, asDaybookError, type BulkAnswer, Gatherer, ownPaths, textOf } from './transport/gather.js'
import { failover } from './transport/failover.js'
import { type EnqueuedTask, handleOf, type HandleSource, type TaskHandle } from './handles/handle.js'
import type { LimitView } from './methods/limits.js'
import { ndjson, ndjsonLines } from './transport/ndjson.js'
import { type CallOptions, type ClientOptions, type Configured, configure } from './options.js'
import type { AgentView, AlertView, BreakerView, QueueList } from './methods/queue.js'
import type { ReportName, ReportOptions } from './methods/reports.js'
import type { ScheduleView } from './methods/schedules.js'
import { exactTextOf, taskTextOf } from './task-text.js'
import { type AnyTaskType, isTaskType, isTyped, sentTask, type TypedTask } from './handles/task-type.js'
import type { Each, Enqueued, EnqueuedAll, EventFilter, History, HistoryEvent, NewTask, TaskFilter, TaskPage, TaskView } from './methods/tasks.js'
import type { TokenView } from './methods/tokens.js'
import { withActiveTrace } from './transport/tracing.js'
import { lazyTransport } from './transport/lazy-transport.js'
import type { HttpRequest, Transport } from './transport/transport.js'
import { watch, type WatchMessage, type WatchOptions } from './methods/watch.js'

/** Makes a client. Nothing is connected until the first call. */
export const createClient = (options: ClientOptions = {}): DaybookClient => {
  const config = configure(options)
  const { url, urls, token } = config
  const transportTo = (url: string): Transport => lazyTransport({
    url,
    token,
    userAgent: config.agentName,
    connectionsMax: config.connectionsMax,
    waitingClaimsMax: config.waitingClaimsMax,
    timeoutMs: config.timeoutMs,
    answerBytesMax: config.answerBytesMax,
  })
  const servers = urls.length === 0 ? [url] : urls
  const transport = servers.length === 1 ? transportTo(servers[0] as string) : failover(servers.map(transportTo))
  const closing = new AbortController()
  const stopWaiting = (): void => {
    closing.abort()
    transport.stopWaiting()
  }
  const link: Link = { transport: { ...transport, stopWaiting }, watch: (queue, watched) => watch({ urls: servers, token, queue, closing: closing.signal }, watched), url: servers[0] }
  return clientOver(link, config)
}

/** The connection to the queues: HTTP, or an engine in the same process. */
export interface Link {
  readonly transport: Transport
  readonly watch: (queue: string, options: WatchOptions | undefined) => AsyncGenerator<WatchMessage, void>
  /** Where people find the console, if there is one. */
  readonly url?: string | undefined
}

/** A client over any link. Closing the client closes the link. */
export const clientOver = (link: Link, config: Configured): DaybookClient => {
  const { transport } = link
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
    const made = queueClient(queue, config, calls, link, clientOf, close)
    clients.set(queue, made)
    return made.client
  }
  return clientOf(config.queue)
}

const queueClient = (
  queue: string,
  config: Configured,
  calls: Calls,
  link: Link,
  clientOf: (queue: string) => DaybookClient,
  close: () => Promise<void>,
): { readonly client: DaybookClient; readonly finish: () => Promise<void> } => {
  const base = `/api/queues/${encodeURIComponent(queue)}`
  const taskPath = (id: string): string => `${base}/tasks/${encodeURIComponent(id)}`
  const limitPath = (key: string): string => `${base}/limits/${encodeURIComponent(key)}`
  const batchPath = (id: string): string => `${base}/batches/${encodeURIComponent(id)}`
  const schedulePath = (name: string): string => `${base}/schedules/${encodeURIComponent(name)}`
  const { json, once } = calls

  const reportPath = (name: ReportName, { from, to, ...report }: ReportOptions & { readonly format?: string }): string =>
    `${base}/reports/${name}${query({ ...report, from: from instanceof Date ? from.toISOString() : from, to: to instanceof Date ? to.toISOString() : to })}`
  const get = <T>(path: string, options?: CallOptions): Promise<T> => json<T>({ method: 'GET', path }, 'safe', options)
  const post = async <T>(path: string, body: unknown, options?: CallOptions, policy: 'safe' | 'unsent' = 'unsent'): Promise<T> =>
    json<T>({ method: 'POST', path, body: bodyOf(body) }, policy, options)

  const eventsRequest = (filter: EventFilter, options?: CallOptions): HttpRequest => ({ method: 'GET', path: `${base}/events${query(spanOf(filter))}`, signal: options?.signal })
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
    send: (texts: ReadonlyArray<string>, key: string | undefined, traceparent: string | undefined) => Promise<BulkAnswer>,
    keyOf: (batch: ReadonlyArray<{ readonly keyed: boolean }>) => string | undefined,
  ): Gatherer =>
    new Gatherer({ limits: { itemsMax, bytesMax, inFlightMax, splitMin }, waitingMax, retryForMs: config.retryForMs, print, send, keyOf })
  // A repeated request enqueues nothing twice: its tasks have ids, or get them from the request id.
  const enqueues = gatherer((task) => taskTextOf(withActiveTrace(task)), (texts, requestId, traceparent) => once({ ...bulkTasks(texts, requestId), traceparent }), newTaskId)
  const reports = gatherer(textOf, (texts, key, traceparent) => once({ ...bulkOutcomes(texts, key), traceparent }), keyIfNeeded)
  const finish = async (): Promise<void> => {
    await Promise.all([enqueues.close(), reports.close()])
  }

  const source: HandleSource = { queue, url: link.url, retryForMs: config.retryForMs, result: (id, options) => client.result(id, options) }
  const handled = <A extends Enqueued>(answer: A, task: NewTask | TypedTask | undefined): A & TaskHandle =>
    handleOf(answer, source, task !== undefined && isTyped(task) ? task.type : undefined)

  const report = <T>(taskId: string, kind: Outcome['kind'], said: object): Promise<T> =>
    reports.call<T>({ taskId, kind, ...said }, endsLease(kind))

  /** Sends as many requests as necessary, a few at a time. The answers are in the order of the chunks. */
  const inChunks = async <T>(
    values: ReadonlyArray<unknown>,
    print: (value: unknown) => string | DaybookError,
    send: (texts: ReadonlyArray<string>) => Promise<BulkAnswer>,
  ): Promise<{ readonly results: ReadonlyArray<Each<T>>; readonly revision: number }> => {
    const results = new Array<Each<T>>(values.length)
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
    tasks: ReadonlyArray<NewTask | TypedTask>,
    { atomic = true, ...options }: EnqueueAllOptions = {},
  ): Promise<EnqueuedAll<EnqueuedTask> | EnqueuedAll<Each<EnqueuedTask>>> => {
    const sent = tasks.some(isTyped) ? await Promise.all(tasks.map(sentTask)) : tasks
    const print = (task: unknown): string | DaybookError => (task instanceof DaybookError ? task : taskTextOf(task))
    const handleAt = <A extends Enqueued>(answer: A, index: number): A & TaskHandle => handled(answer, tasks[index])
    if (atomic) {
      let texts = ''
      for (const task of sent) texts += `${texts === '' ? '' : ','}${certain(print(task))}`
      const { results, revision } = withRevisions(await json<EnqueuedAll<Enqueued>>(tasksRequest(`{"tasks":[${texts}]}`), 'safe', options))
      return { results: results.map(handleAt), revision }
    }
    const { results, revision } = await inChunks<Enqueued>(sent, print, (texts) => json<BulkAnswer>(bulkTasks(texts), 'safe', options))
    return { results: results.map((each, index): Each<EnqueuedTask> => (each.ok ? { ok: true, value: handleAt(each.value, index) } : each)), revision }
  }

  const enqueue = async (task: NewTask | TypedTask, options?: CallOptions): Promise<EnqueuedTask> => {
    const sent = isTyped(task) ? await sentTask(task) : task
    if (sent instanceof DaybookError) throw sent
    return handled(await (options === undefined ? enqueues.call<Enqueued>(sent, false) : json<Enqueued>(tasksRequest(certain(taskTextOf(sent))), 'safe', options)), task)
  }

  const eachTask = async function* (filter: Omit<TaskFilter, 'cursor'> = {}, options?: CallOptions): AsyncGenerator<TaskView, void> {
    for (let cursor: string | undefined; ; ) {
      const page: TaskPage = await client.tasks(cursor === undefined ? filter : { ...filter, cursor }, options)
      yield* page.tasks
      if (page.nextCursor === undefined || page.nextCursor === null) return
      cursor = page.nextCursor
    }
  }

  const review = async <T>(verb: 'retry' | 'discard', id: string, body: Review, options?: CallOptions): Promise<T> =>
    post<T>(`${base}/dead-letters/${encodeURIComponent(id)}/${verb}`, body, options)

  const client: DaybookClient = {
    queue,
    in: clientOf,
    at: (moment) => questionsOf(queueClient(queue, config, callsAt(calls, moment), link, clientOf, close).client),

    enqueue: ((asked: NewTask | TypedTask | AnyTaskType, ...rest: ReadonlyArray<never>) =>
      isTaskType(asked) ? enqueue(asked.task(rest[0] as never, rest[1]), rest[2]) : enqueue(asked, rest[0])) as DaybookClient['enqueue'],
    enqueueAll: enqueueAll as DaybookClient['enqueueAll'],
    importTasks: async (tasks, options) =>
      withRevisions(await json<EnqueuedAll<Enqueued>>({ method: 'POST', path: `${base}/imports`, body: exactBodyOf({ tasks }) }, 'safe', options)),

    handle: ((id: string, type?: AnyTaskType) => handleOf({ id }, source, type)) as DaybookClient['handle'],
    tasks: (filter = {}, options) => get(`${base}/tasks${query(filter)}`, options),
    eachTask,
    task: (id, { atLeast, ...options } = {}) => get(`${taskPath(id)}${query({ atLeast })}`, options),
    result: (id, { wait = 60, ...options } = {}) =>
      json({ method: 'GET', path: `${taskPath(id)}/result${query({ wait })}`, waitMs: wait * 1_000 }, 'safe', options),
    explain: (id, claim = {}, options) => get(`${taskPath(id)}/explain${query(claim)}`, options),
    history: async (id, { onSearch, ...options } = {}) => {
      // The search may find the erasure of a task long before it finds the task's other events.
      let found: ReadonlyArray<HistoryEvent> = []
      for (let before: number | undefined; ; ) {
        const { events, next } = await get<History>(`${taskPath(id)}/history${query({ before })}`, options)
        found = [...events, ...found]
        if (next === undefined || next === null) return found
        before = next
        onSearch?.(before)
      }
    },
    restart: async (id, reason, { dependencies, ...options } = {}) =>
      json({ method: 'POST', path: `${taskPath(id)}/restart`, body: bodyOf({ reason, dependencies }), requestId: newTaskId() }, 'safe', options),
    amend: async (id, amendment, reason, options) => json({ method: 'PATCH', path: taskPath(id), body: exactBodyOf({ ...amendment, reason }) }, 'unsent', options),
    bump: (id, reason, options) => post(`${taskPath(id)}/bump`, { reason }, options),
    erase: (id, reason, options) => post(`${taskPath(id)}/erase`, { reason }, options),
    cancel: (id, reason, options) => post(`${taskPath(id)}/cancel`, { reason }, options),
    cancelAll: (filter, reason, { dryRun, cursor, ...options } = {}) => post(`${base}/tasks/cancel`, { filter, reason, dryRun, cursor }, options),

    claim: async (request, { onNothing, ...options } = {}) => {
      const waitMs = (request.wait ?? 0) * 1_000
      const asked: HttpRequest = { method: 'POST', path: `${base}/claims`, body: bodyOf(request), waitMs }
      const { claims, reason, memoriesMissing } = await json<{ readonly claims: ReadonlyArray<Claim>; readonly reason?: Reason; readonly memoriesMissing?: string }>(asked, 'never', options)
      if (claims.length === 0) onNothing?.(reason)
      return memoriesMissing === undefined ? claims : claims.map((claim) => ({ ...claim, memoriesMissing }))
    },
    heartbeat: (taskId, said) => report(taskId, 'heartbeat', said),
    complete: (taskId, said) => report(taskId, 'complete', said),
    fail: (taskId, said) => report(taskId, 'fail', said),
    release: (taskId, said) => report(taskId, 'release', said),
    park: (taskId, said) => report(taskId, 'park', said),
    callback: async (key, payload, options) =>
      json({ method: 'POST', path: `${base}/callbacks/${encodeURIComponent(key)}`, body: exactBodyOf(payload === undefined ? {} : { payload }) }, 'safe', options),
    outcomes: async (outcomes, options) => {
      const key = options?.idempotencyKey ?? keyIfNeeded(outcomes.map(({ kind }) => ({ keyed: endsLease(kind) })))
      let chunk = 0
      const { results } = await inChunks<OutcomeAnswer>(outcomes, textOf, (texts) => {
        const own = key === undefined || chunk++ === 0 ? key : `${key}.${chunk}`
        return json<BulkAnswer>(bulkOutcomes(texts, own), 'safe', own === undefined ? options : { ...options, idempotencyKey: own })
      })
      return results
    },

    deadLetters: {
      list: (filter = {}, options) => get(`${base}/dead-letters${query(filter)}`, options),
      patterns: async ({ limit, ...filter } = {}, options) => {
        const found: Array<FailurePattern> = []
        // An older server knows neither parameter, and answers with all patterns and without a cursor.
        for (let cursor: string | undefined; ; ) {
          const page = await get<PatternPage>(`${base}/dead-letters/patterns${query({ ...filter, cursor })}`, options)
          found.push(...page.patterns)
          if (page.nextCursor === undefined || page.nextCursor === null || (limit !== undefined && found.length >= limit)) return found.slice(0, limit)
          cursor = page.nextCursor
        }
      },
      retry: (id, body, options) => review('retry', id, body, options),
      discard: (id, body, options) => review('discard', id, body, options),
      retryAll: (filter, body, options) => post(`${base}/dead-letters/retry`, { filter, ...body }, options),
      snooze: (id, until, body, options) => post(`${base}/dead-letters/${encodeURIComponent(id)}/snooze`, { ...body, until }, options, 'safe'),
      snoozeAll: (filter, until, body, options) => post(`${base}/dead-letters/snooze`, { filter, ...body, until }, options, 'safe'),
      escalate: (id, body, options) => post(`${base}/dead-letters/${encodeURIComponent(id)}/escalate`, body, options, 'safe'),
      escalateAll: (filter, body, options) => post(`${base}/dead-letters/escalate`, { filter, ...body }, options, 'safe'),
      count: async (filter, body, options) => (await post<{ readonly count: number }>(`${base}/dead-letters/retry`, { filter, ...body, dryRun: true }, options, 'safe')).count,
      redrive: (filter, perMinute, body, options) => post(`${base}/dead-letters/retry`, { filter, ...body, perMinute }, options),
      redriveStatus: async (options) => (await get<{ readonly redrive: Redrive | null }>(`${base}/dead-letters/redrive`, options)).redrive,
      stopRedrive: async (reason, options) =>
        (await json<{ readonly redrive: Redrive }>({ method: 'DELETE', path: `${base}/dead-letters/redrive${query({ reason })}` }, 'unsent', options)).redrive,
      discardAll: (filter, body, options) => post(`${base}/dead-letters/discard`, { filter, ...body }, options),
    },
    readModels: ({ atLeast, ...options } = {}) => get(`${base}/read-models${query({ atLeast })}`, options),
    verify: (options) => get(`${base}/verify`, { timeoutMs: replayTimeoutMs, ...options }),
    report: (name, report = {}, options) => get(reportPath(name, report), options),
    reportText: (name, format, report = {}, options) => calls.text({ method: 'GET', path: reportPath(name, { ...report, format }) }, 'safe', options),
    memories: async (filter = {}, options) => (await get<{ readonly memories: ReadonlyArray<Memory> }>(`${base}/memories${query(filter)}`, options)).memories,
    approvals: {
      list: async (options) => (await get<{ readonly approvals: ReadonlyArray<Approval> }>(`${base}/approvals`, options)).approvals,
      get: (id, options) => get(`${base}/approvals/${encodeURIComponent(id)}`, options),
      approve: (id, reason, options) => post(`${base}/approvals/${encodeURIComponent(id)}/approve`, { reason }, options),
      refuse: async (id, reason, options) => void (await post(`${base}/approvals/${encodeURIComponent(id)}/refuse`, { reason }, options)),
    },
    breakers: {
      list: async (options) =>
        (await get<{ readonly breakers: Readonly<Record<string, BreakerView>> }>(`${base}/breakers`, options)).breakers,
      open: async (type, reason, options) => void (await post(`${base}/breakers/${encodeURIComponent(type)}/open`, { reason }, options, 'safe')),
      close: async (type, reason, options) => void (await post(`${base}/breakers/${encodeURIComponent(type)}/close`, { reason }, options, 'safe')),
    },
    agents: {
      list: async (options) => (await get<{ readonly agents: ReadonlyArray<AgentView> }>(`${base}/agents`, options)).agents,
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
      set: async (key, limit, options) => json({ method: 'PUT', path: limitPath(key), body: bodyOf(limit) }, 'safe', options),
      remove: async (key, options) => void (await json({ method: 'DELETE', path: limitPath(key) }, 'unsent', options)),
    },
    schedules: {
      list: async (options) => (await get<{ readonly schedules: ReadonlyArray<ScheduleView> }>(`${base}/schedules`, options)).schedules,
      get: (name, options) => get(schedulePath(name), options),
      create: async (name, schedule, options) => json({ method: 'POST', path: `${base}/schedules`, body: exactBodyOf({ name, ...schedule }) }, 'safe', options),
      change: async (name, patch, options) => json({ method: 'PATCH', path: schedulePath(name), body: exactBodyOf(patch) }, 'safe', options),
      remove: async (name, options) => void (await json({ method: 'DELETE', path: schedulePath(name) }, 'unsent', options)),
    },
    batches: {
      create: async (batch, options) => {
        const { tasks = [], ...rest } = batch
        const texts = tasks.map((task) => certain(taskTextOf(task)))
        const others = exactBodyOf(rest)
        const body = `{"tasks":[${texts.join(',')}]${others.length > 2 ? ',' : ''}${others.slice(1)}`
        return withRevisions(await json<CreatedBatch & EnqueuedAll<Enqueued>>({ method: 'POST', path: `${base}/batches`, body, requestId: newTaskId() }, 'safe', options))
      },
      list: (filter = {}, options) => get(`${base}/batches${query(filter)}`, options),
      get: (id, options) => get(batchPath(id), options),
      close: (id, options) => json({ method: 'POST', path: `${batchPath(id)}/close` }, 'safe', options),
      cancel: (id, reason, { runsCallback, ...options } = {}) => post(`${batchPath(id)}/cancel`, { reason, runsCallback }, options, 'safe'),
    },
    alerts: async (options) => (await get<{ readonly alerts: ReadonlyArray<AlertView> }>(`${base}/alerts`, options)).alerts,
    pause: async (reason, options) => void (await post(`${base}/pause`, { reason }, options, 'safe')),
    resume: async (reason, options) => void (await post(`${base}/resume`, { reason }, options, 'safe')),
    depth: (options) => get(`${base}/depth`, options),
    summary: (options) => get(base, options),
    deleteQueue: async (reason, options) => void (await json({ method: 'DELETE', path: `${base}${query({ reason })}` }, 'unsent', options)),
    state: (filter = {}, options) => get(`${base}/state${query(filter)}`, options),
    diff: (between = {}, options) => get(`${base}/diff${query(spanOf(between))}`, { timeoutMs: replayTimeoutMs, ...options }),
    events: (filter = {}, options) => get(`${base}/events${query(spanOf(filter))}`, options),
    eachEvent: (filter = {}, options) => ndjson<HistoryEvent>(calls, eventsRequest(filter, options)),
    eventLines: (filter = {}, options) => ndjsonLines(calls, eventsRequest(filter, options)),

    watch: (options) => link.watch(queue, options),

    me: (options) => get('/api/me', options),
    tokens: {
      list: async (options) => (await get<{ readonly tokens: ReadonlyArray<TokenView> }>('/api/tokens', options)).tokens,
      create: (made, options) => post('/api/tokens', { ...made, expiresAt: made.expiresAt instanceof Date ? made.expiresAt.toISOString() : made.expiresAt }, options),
      revoke: (id, reason, options) => json({ method: 'DELETE', path: `/api/tokens/${encodeURIComponent(id)}${query({ reason })}` }, 'safe', options),
    },
    queues: async (options) => (await get<QueueList>('/api/queues', options)).queues,
    // `refused` is absent when empty, and from older servers.
    listQueues: async (options) => ({ refused: [], ...(await get<Pick<QueueList, 'queues'>>('/api/queues', options)) }),
    health: (options) => json({ method: 'GET', path: '/healthz' }, 'never', options),
    ready: (options) => json({ method: 'GET', path: '/readyz' }, 'never', options),
    close,
  }
  return { client, finish }
}

const endsLease = (kind: Outcome['kind']): boolean => kind === 'fail' || kind === 'release' || kind === 'park'

/** A repeated failure, release or parking would be refused as `lease-lost`, because the first one ended the lease. */
const keyIfNeeded = (batch: ReadonlyArray<{ readonly keyed: boolean }>): string | undefined =>
  batch.some(({ keyed }) => keyed) ? randomUUID() : undefined

const bodyOf = (value: unknown): string => certain(textOf(value))

/** The same for a body with payloads. */
const exactBodyOf = (value: unknown): string => certain(exactTextOf(value))

/** @throws DaybookError if there is no text. */
const certain = (text: string | DaybookError): string => {
  if (text instanceof DaybookError) throw text
  return text
}

/** Adds the revision of the answer to each result. The answer is changed in place: it was parsed for this caller alone. */
const withRevisions = <A extends EnqueuedAll<Enqueued>>(answer: A): A => {
  const results = answer.results as ReadonlyArray<{ revision?: number }>
  for (const result of results) result.revision ??= answer.revision
  return answer
}

const eachOf = <T>(result: unknown, revision: number | undefined): Each<T> => {
  if (isProblem(result)) return { ok: false, error: errorOf(ownPaths(result)) }
  if (typeof result !== 'object' || result === null) return { ok: false, error: answerMissing() }
  const value = result as { revision?: number }
  if (revision !== undefined && value.revision === undefined) value.revision = revision
  return { ok: true, value: value as T }
}
