/** The server itself: readiness, metrics, logging and stopping. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openTokens } from '@daybook/adapters/auth'
import { createDaybook, type Daybook } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { inTime, patienceMs } from '../support/in-time.js'
import { until } from '../support/queue.js'
import { adminToken, type Body, rawRequest, report, startTestServer, type TestServer } from './support.js'

/** The answer of a server that has read the head of a request and waits for its body. */
const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'
const using = async (started: Promise<TestServer>, body: (server: TestServer) => Promise<void>): Promise<void> => {
  const server = await started
  try {
    await body(server)
  } finally {
    await server.stop()
  }
}

test('while the log is being read: alive, not ready (with the progress), and no answer about any queue', async () => {
  let finish = (): void => undefined
  const ready = new Promise<void>((resolve) => (finish = resolve))
  let loading = [{ queue: 'big', events: 5, of: 10 }]
  const daybook: Daybook = {
    store: 'memory', log: openMemoryStore(), contentLog: openMemoryStore(), queue: () => undefined,
    find: async () => undefined,
    refused: () => [],
    problem: () => undefined, open: () => Promise.reject(new Error('not asked for')), visit: () => Promise.reject(new Error('not asked for')),
    queues: () => [], now: Date.now, loading: () => loading, ready, close: () => Promise.resolve(),
  }
  await using(startTestServer({ daybook }), async (server) => {
    expect((await server.get('/healthz')).body).toEqual({ status: 'ok' })
    const before = await server.get('/readyz')
    expect(before).toMatchObject({ status: 503, body: { code: 'unavailable', loading } })
    expect(before.body.detail).toContain('big 5 of 10 events')
    for (const answer of [await server.get('/api/queues/big/depth'), await server.post('/api/queues/big/tasks', { type: 't' })]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    loading = []
    finish()
    await ready
    expect((await server.get('/readyz')).body).toEqual({ status: 'ready', queues: 0 })
    expect(await server.get('/api/queues/big/depth')).toMatchObject({ status: 200, revision: -1, body: { total: 0 } })
  })
})

test('a server that does not hear of revoked tokens is ready, and says so', async () => {
  const { tokens } = openTokens({ dir: 'memory', adminToken })
  const problem = { reason: 'the events of tokens cannot be read: not now', since: 0 }
  await using(startTestServer({ tokens: { ...tokens, problem: () => problem } }), async (server) => {
    expect((await server.get('/readyz')).body).toMatchObject({ status: 'ready', degraded: [{ part: 'tokens', reason: problem.reason, since: '1970-01-01T00:00:00.000Z' }] })
  })
  await tokens.close()
})

test('a queue that cannot append makes the server not ready', () =>
  using(startTestServer(), async (server) => {
    await server.post('/api/queues/q/tasks', { type: 't' })
    const engine = server.daybook.queue('q')
    const status = engine?.status()
    Object.defineProperty(engine, 'status', { value: () => ({ ...status, unavailable: 'the disk is full' }) })
    expect(await server.get('/readyz')).toMatchObject({ status: 503, body: { detail: 'q: the disk is full', queues: [{ queue: 'q', reason: 'the disk is full' }] } })
  }))

test('a server whose clock is refused is not ready, and says why to everybody', async () => {
  let offset = 0
  const daybook = createDaybook({ store: openMemoryStore(), clock: () => Date.now() + offset })
  await using(startTestServer({ daybook }), async (server) => {
    expect((await server.post('/api/queues/q/tasks', { id: 'before', type: 't' })).status).toBe(201)
    offset = 3_600_000
    const refused = await server.post('/api/queues/q/tasks', { type: 'u' })
    expect(refused).toMatchObject({ status: 503, body: { code: 'clock', detail: expect.stringContaining('jumped ahead by 3600 s') as string, retryAfterSeconds: 5 } })
    expect((await server.get('/readyz')).body.detail).toContain("q: this server's clock jumped ahead")
    // Nor does it say that a task can be claimed, which nobody could.
    expect((await server.get('/api/queues/q/tasks/before/explain')).body).toMatchObject({
      runnable: false, position: null, reasons: [{ code: 'unavailable', message: expect.stringContaining('jumped ahead by 3600 s') as string }],
    })
    expect((await server.get('/metrics')).text).toContain('daybook_queue_available{queue="q"} 0')
    expect((await server.get('/api/queues/q/depth')).body.total).toBe(1)
    offset = 0
    expect((await server.post('/api/queues/q/tasks', { type: 'u' })).status).toBe(201)
    expect((await server.get('/readyz')).body.status).toBe('ready')
  })
})

test("a queue whose time is ahead of this server's clock: readiness and metrics say how far, and waits are counted in its time", async () => {
  const store = openMemoryStore()
  const fast = createDaybook({ store: { ...store, close: async () => undefined }, clock: () => Date.now() + 86_400_000 })
  const there = await fast.open('q')
  await there.submit({ type: 'Pause', reason: 'a fast clock' }, { actor: 'tester' })
  await fast.close()
  await using(startTestServer({}, store), async (server) => {
    await server.daybook.ready
    await server.post('/api/queues/q/tasks', { type: 't' })
    const { ahead } = (await server.get('/readyz')).body
    expect(ahead).toMatchObject([{ queue: 'q' }])
    expect(ahead[0].seconds).toBeCloseTo(86_400, -2)
    const [, seconds] = /daybook_queue_time_ahead_seconds\{queue="q"\} (\S+)/.exec((await server.get('/metrics')).text) ?? []
    expect(Number(seconds)).toBeCloseTo(86_400, -2)
    // As long as the task waits, to the day.
    let wait = 0
    while (wait === 0) wait = (await server.get('/api/queues/q/depth')).body.oldestWaitSeconds
    expect(wait).toBeLessThan(3_600)
  })
})

test('metrics: gauges, counters, and no ids', () =>
  using(startTestServer(), async (server) => {
    const q = '/api/queues/q'
    await server.post(`${q}/tasks`, { tasks: [1, 2, 3].map((payload) => ({ id: `task-${payload}`, type: 'eng', payload, maxRetries: 2, backoffSeconds: 0 })) })
    const { body } = await server.post(`${q}/claims`, { agentId: 'agent-7', max: 2 })
    const [a, b] = body.claims
    await server.post(`${q}/outcomes`, { outcomes: [
      { kind: 'complete', taskId: a.task.id, agentId: 'agent-7', token: a.lease.token, result: report },
      { kind: 'fail', taskId: b.task.id, agentId: 'agent-7', token: b.lease.token, error: 'x' },
      { kind: 'fail', taskId: b.task.id, agentId: 'agent-7', token: 99, error: 'x' },
    ] })
    await server.get(`${q}/depth`, { headers: { authorization: 'Bearer wrong' } })
    const { text, headers } = await server.get('/metrics')
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const value = (name: string): number | undefined => {
      const line = text.split('\n').find((each) => each.startsWith(`${name} `))
      return line === undefined ? undefined : Number(line.split(' ').at(-1))
    }
    expect({
      completed: value('daybook_tasks{queue="q",status="completed"}'),
      pending: value('daybook_pending_tasks{queue="q",type="eng"}'),
      enqueued: value('daybook_enqueued_total{queue="q"}'),
      claims: value('daybook_claims_total{queue="q"}'),
      done: value('daybook_completions_total{queue="q",outcome="completed"}'),
      failed: value('daybook_completions_total{queue="q",outcome="failed"}'),
      retries: value('daybook_retries_total{queue="q",reason="failed"}'),
      fenced: value('daybook_fenced_results_total'),
      denied: value('daybook_denied_total{reason="unauthorized"}'),
      position: value('daybook_log_position{queue="q"}'),
      waits: value('daybook_queue_wait_seconds_count{queue="q"}'),
      runs: value('daybook_run_seconds_bucket{queue="q",le="+Inf"}'),
      claimRequests: value('daybook_http_requests_total{method="POST",route="/api/queues/{queue}/claims",status="200"}'),
      build: value('daybook_build_info{version="0.1.0"}'),
    }).toEqual({ completed: 1, pending: 2, enqueued: 3, claims: 2, done: 1, failed: 1, retries: 1, fenced: 1, denied: 1, position: (await server.eventCount('q')) - 1, waits: 2, runs: 2, claimRequests: 1, build: 1 })
    expect(text).not.toMatch(/task-|agent-7/)
    // A second scrape does not count anything twice.
    expect((await server.get('/metrics')).text).toContain('daybook_enqueued_total{queue="q"} 3\n')
    for (const name of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) expect(name[1], 'one prefix for all').toMatch(/^daybook_/)
  }))

test('metrics: a claim that ends with a rate limit or a parked task is counted as ended, and the next claim is not the first', () =>
  using(startTestServer(), async (server) => {
    const q = '/api/queues/q'
    const value = async (name: string): Promise<number> => Number((await server.get('/metrics')).text.split('\n').find((each) => each.startsWith(`${name} `))?.split(' ').at(-1))
    const claim = async (agentId: string) => (await server.post(`${q}/claims`, { agentId })).body.claims[0]
    await server.post(`${q}/tasks`, { tasks: ['a', 'b', 'c', 'd'].map((id) => ({ id, type: id, payload: id })) })
    const limited = await claim('one')
    await server.post(`${q}/tasks/a/fail`, { agentId: 'one', token: limited.lease.token, error: { message: '429', retryAfter: 0.001 } })
    const parked = await claim('two')
    await server.post(`${q}/tasks/${parked.task.id}/park`, { agentId: 'two', token: parked.lease.token, callbackKey: 'k', timeoutSeconds: 60 })
    const returned = await claim('three')
    await server.post(`${q}/tasks/${returned.task.id}/release`, { agentId: 'three', token: returned.lease.token, reason: 'stops', stopping: true })
    expect(await value('daybook_completions_total{queue="q",outcome="rate-limited"}')).toBe(1)
    expect(await value('daybook_completions_total{queue="q",outcome="parked"}')).toBe(1)
    await server.post(`${q}/callbacks/k`, {})
    const again: Array<string> = []
    for (let tries = 0; again.length < 4; tries++) {
      expect(tries).toBeLessThan(1_000)
      const claimed = await claim(`again-${tries}`)
      if (claimed !== undefined) again.push(claimed.task.id)
    }
    expect(again.sort()).toEqual(['a', 'b', 'c', 'd'])
    // Four tasks had a first claim.
    expect(await value('daybook_queue_wait_seconds_count{queue="q"}')).toBe(4)
  }))

test('metrics: requests that were refused are counted as well, whoever refused them', () =>
  using(startTestServer(), async (server) => {
    await server.get('/api/queues/q/depth', { headers: { authorization: 'Bearer wrong' } })
    await server.post('/api/queues/q/tasks', undefined, { raw: '{', headers: { 'content-type': 'application/json' } })
    await server.get('/api/queues/q/tasks/%E0%A4%A')
    await server.get('/api/secret-path-of-somebody')
    await server.call('PUT', '/api/queues')
    await rawRequest(server.http.port, ['nonsense\r\n\r\n'])
    await rawRequest(server.http.port, [`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`])
    const upgrade = 'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    for (const target of ['/api/ws', '/api/ws?queue=q', '/secret-path']) await rawRequest(server.http.port, [`GET ${target} HTTP/1.1\r\n${upgrade}Authorization: Bearer wrong\r\n\r\n`])
    const { text } = await server.get('/metrics')
    const counted = [...text.matchAll(/^daybook_http_requests_total\{(.*)\} (\d+)$/gm)].map(([, labels, count]) => `${labels} ${count}`)
    expect(counted).toEqual(expect.arrayContaining([
      'method="GET",route="/api/queues/{queue}/depth",status="401" 1',
      'method="POST",route="/api/queues/{queue}/tasks",status="400" 1',
      'method="GET",route="(none)",status="400" 1',
      'method="GET",route="(none)",status="404" 2',
      'method="PUT",route="(none)",status="405" 1',
      'method="-",route="(none)",status="400" 1',
      'method="-",route="(none)",status="431" 1',
      'method="GET",route="/api/ws",status="401" 2',
    ]))
    expect(text).toContain('daybook_denied_total{reason="unauthorized"} 3\n')
    expect(text).toContain('daybook_refused_total{code="headers-too-large"} 1\n')
    expect(text).not.toContain('secret-path')
  }))

test('metrics: how long requests took, but for those that may wait', () =>
  using(startTestServer(), async (server) => {
    await server.post('/api/queues/q/tasks', { type: 'eng' })
    await server.post('/api/queues/q/tasks', {})
    await server.post('/api/queues/q/claims', { agentId: 'ann', types: ['other'], wait: 0.05 })
    await server.post('/api/queues/q/claims', { agentId: 'ann' })
    const { text } = await server.get('/metrics')
    const counted = (route: string): string | undefined => new RegExp(`^daybook_http_request_seconds_count\\{method="POST",route="/api/queues/\\{queue\\}/${route}"\\} (\\d+)$`, 'm').exec(text)?.[1]
    expect([counted('tasks'), counted('claims')]).toEqual(['2', '1'])
    const [, sum] = /^daybook_http_request_seconds_sum\{method="POST",route="\/api\/queues\/\{queue\}\/tasks"\} (\S+)$/m.exec(text) ?? []
    expect(Number(sum)).toBeGreaterThan(0)
  }))

test('metrics: how many WebSockets are open', () =>
  using(startTestServer(), async (server) => {
    const count = async (): Promise<number> => Number(/^daybook_websockets (\d+)$/m.exec((await server.get('/metrics')).text)?.[1])
    const open = (): WebSocket => new WebSocket(`${server.http.url.replace('http', 'ws')}/api/ws?queue=q`, { headers: { authorization: `Bearer ${adminToken}` } })
    const clients = [open(), open()] as const
    for (const client of clients) await once(client, 'open')
    expect(await count()).toBe(2)
    clients[0].close()
    clients[1].terminate()
    await until(async () => (await count()) === 0)
  }))

test('metrics: no reader takes the highest delay of the event loop from another', () =>
  using(startTestServer(), async (server) => {
    const highest = async (): Promise<number> => Number(/^daybook_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec((await server.get('/metrics')).text)?.[1])
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (const until = performance.now() + 400; performance.now() < until; );
    await new Promise((resolve) => setTimeout(resolve, 50))
    const first = await highest()
    expect(first).toBeGreaterThan(0.2)
    expect(await highest()).toBeGreaterThanOrEqual(first)
  }))

test('metrics: of many breakers, an open one is always there', () =>
  using(startTestServer(), async (server) => {
    const types = Array.from({ length: 120 }, (_, i) => `t${String(i).padStart(3, '0')}`)
    await server.post('/api/queues/q/tasks', { type: 'eng', payload: 1 })
    for (const type of types) for (const verb of ['open', 'close']) await server.post(`/api/queues/q/breakers/${type}/${verb}`, { reason: 'a test' })
    await server.post('/api/queues/q/breakers/zzz/open', { reason: 'down' })
    const { text } = await server.get('/metrics')
    expect(text).toContain('daybook_breaker_state{queue="q",type="zzz"} 2\n')
    expect(text.match(/^daybook_breaker_state\{/gm)).toHaveLength(100)
  }))

test('metrics: what alerts count is there with 0 before it happens, so that the first time counts', () =>
  using(startTestServer(), async (server) => {
    await server.post('/api/queues/q/tasks', { type: 'eng', payload: 1 })
    const { text } = await server.get('/metrics')
    for (const reason of ['retries-exhausted', 'attempts-exhausted', 'not-retryable']) expect(text).toContain(`daybook_dead_letters_total{queue="q",reason="${reason}"} 0\n`)
    for (const reason of ['failed', 'callback-missing', 'lease-expired', 'ran-too-long']) expect(text).toContain(`daybook_retries_total{queue="q",reason="${reason}"} 0\n`)
    for (const outcome of ['unknown', 'unavailable']) expect(text).toContain(`daybook_append_seconds_count{outcome="${outcome}"} 0\n`)
  }))

test('metrics: tasks of a type that is called "other" are counted beside those of the types that are not named', () =>
  using(startTestServer(), async (server) => {
    const types = ['other', 'other', ...Array.from({ length: 120 }, (_, i) => [`t${i}`, `t${i}`]).flat(), 'other']
    await server.post('/api/queues/q/tasks', { tasks: types.map((type, payload) => ({ type, payload })) })
    const { text } = await server.get('/metrics')
    const counts = [...text.matchAll(/^daybook_pending_tasks\{queue="q",type=".*"\} (\d+)$/gm)].map(([, count]) => Number(count))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(types.length)
  }))

test('metrics: checkpoints that fail before any queue is signed, and a webhook for which alerts cannot be read, are failing', () => {
  const problem = { reason: 'checkpoints are late: the folder cannot be read', since: 0 }
  const webhook = { name: 'w', delivered: 0, dropped: 0, failed: 0, isGone: false, problem: undefined, oldestAt: undefined, waiting: 0 }
  const options = {
    checkpoints: () => ({ status: () => [], problems: () => [problem], close: () => Promise.resolve() }),
    webhooks: () => [{ ...webhook, unread: [{ queue: 'q', ...problem }] }, { ...webhook, name: 'well', unread: [] }],
  }
  return using(startTestServer(options), async (server) => {
    await server.post('/api/queues/q/tasks', { type: 'eng', payload: 1 })
    const { text } = await server.get('/metrics')
    expect(text).toContain('daybook_checkpoints_failing{queue="q"} 1\n')
    expect(text).toContain('daybook_webhook_failing{webhook="w"} 1\n')
    expect(text).toContain('daybook_webhook_failing{webhook="well"} 0\n')
  })
})

test('metrics: a run that ends on another server than it began counts there, from its own claim', async () => {
  const store = openMemoryStore({ isShared: true })
  await using(startTestServer({}, store), (one) =>
    using(startTestServer({}, store), async (other) => {
      const q = '/api/queues/q'
      const runs = async (server: TestServer): Promise<string | undefined> => /^daybook_run_seconds_count\{queue="q"\} (\d+)$/m.exec((await server.get('/metrics')).text)?.[1]
      await other.post(`${q}/tasks`, { id: 'a', type: 't', payload: 1 })
      const claimed = await one.post(`${q}/claims`, { agentId: 'w' })
      await other.get(`${q}?atLeast=${claimed.revision}`)
      const { lease } = claimed.body.claims[0]
      expect((await other.post(`${q}/tasks/a/complete`, { agentId: 'w', token: lease.token, result: report })).status).toBe(200)
      expect([await runs(one), await runs(other)]).toEqual(['0', '1'])
    }))
})

test('metrics need a token, unless openMetrics is set', async () => {
  await using(startTestServer(), async (server) => expect((await server.get('/metrics', { headers: { authorization: '' } })).status).toBe(401))
  await using(startTestServer({ openMetrics: true }), async (server) => expect((await server.get('/metrics', { headers: { authorization: '' } })).status).toBe(200))
})

test('stopping: waiting claims are answered with no tasks, running requests are finished, new ones are not accepted', async () => {
  const server = await startTestServer()
  const q = '/api/queues/q'
  await server.post(`${q}/tasks`, { type: 't' })
  await server.post(`${q}/claims`, { agentId: 'w' })
  const waiting = server.post(`${q}/claims`, { agentId: 'w', wait: 60 })
  await until(() => server.daybook.queue('q')?.status().waitingClaims === 1)
  // A request whose body is still arriving when the server stops. It answers `100 Continue` when it has started with the request.
  const body = JSON.stringify({ id: 'late', type: 'late' })
  let received = ''
  const socket = connect(server.http.port, '127.0.0.1')
  socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
  socket.write(`POST ${q}/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`)
  await until(() => received.startsWith(goOn))
  const closing = server.http.close(5_000)
  expect((await waiting).body).toEqual({ claims: [] })
  await expect(fetch(`${server.http.url}/healthz`)).rejects.toThrow()
  const answered = new Promise((resolve) => socket.once('close', resolve))
  socket.write(body.slice(5))
  await Promise.all([closing, answered])
  expect(received.slice(goOn.length)).toMatch(/^HTTP\/1\.1 201 /)
  expect(await server.eventCount('q')).toBe(3)
  await server.daybook.close()
})

test('stopping takes no longer than graceMs, whatever a client does', async () => {
  const server = await startTestServer()
  const socket = connect(server.http.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`POST /api/queues/q/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n{`)
  await once(socket, 'data')
  const startedAt = Date.now()
  await server.http.close(300)
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(280)
  await server.daybook.close()
})

test('stopping does not wait for clients that read nothing of their answers, but for those that read slowly', async () => {
  const stalledMs = 1_500
  const server = await startTestServer()
  for (let i = 0; i < 24; i++) await server.post('/api/queues/q/tasks', { tasks: Array.from({ length: 16 }, (_, each) => ({ type: 't', payload: { i, each, text: 'x'.repeat(60_000) } })) })
  const open = async (): Promise<Socket> => {
    const socket = connect(server.http.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`GET /api/queues/q/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nAccept: application/x-ndjson\r\n\r\n`)
    await once(socket, 'readable')
    return socket
  }
  const [stalled, slow] = [await open(), await open()]
  let received = 0
  slow.on('data', (part: Buffer) => {
    received += part.length
    slow.pause()
    setTimeout(() => slow.resume(), 8)
  })
  const startedAt = Date.now()
  // Far longer than the test waits, so that only the cut of the stalled connection can end it.
  const closed = server.http.close(10 * patienceMs, stalledMs)
  const read = once(slow, 'close')
  await inTime('the end of the server', closed)
  await inTime('the rest, which the operating system has', read)
  // The slow client took longer than a client may read nothing, and got everything.
  expect(Date.now() - startedAt).toBeGreaterThan(stalledMs)
  expect(received).toBeGreaterThan(24 * 16 * 60_000)
  stalled.destroy()
  await server.daybook.close()
})

test.each([
  ['sends nothing', ''],
  ['sends a part of a head', 'GET /api/queues HTTP/1.1\r\nHo'],
  ['sends a part of a body', `POST /api/queues/q/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`],
])('stopping does not wait for a client that %s', async (_, sent) => {
  const server = await startTestServer()
  const socket = connect(server.http.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(sent)
  // Whatever was sent before has arrived.
  await server.get('/healthz')
  await inTime('the end of the server', server.http.close(10 * patienceMs, 50))
  await server.daybook.close()
})

test('each of many concurrent callers gets its own answer', () =>
  using(startTestServer(), async (server) => {
    await server.call('PATCH', '/api/queues/q/settings', { capacity: { maxConcurrentAgents: 200 } })
    const made = await Promise.all(Array.from({ length: 200 }, (_, i) => server.post('/api/queues/q/tasks', { type: 't', payload: i })))
    expect(new Set(made.map(({ body }: Body) => body.number)).size).toBe(200)
    const claimed = await Promise.all(Array.from({ length: 200 }, (_, i) => server.post('/api/queues/q/claims', { agentId: `w${i}` })))
    expect(new Set(claimed.map(({ body }: Body) => body.claims[0].task.id)).size).toBe(200)
  }))
