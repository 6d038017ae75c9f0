/** The common steps of every request: tokens, correlation ids, revisions, and idempotency keys. */
import { createServer, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHttpServer } from '@daybook/adapters/http'
import { until } from '../support/queue.js'
import { type Body, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())


describe('tokens', () => {
  test('no token, a wrong token, a token without Bearer: 401, and nothing is read or done', async () => {
    for (const authorization of ['', 'Bearer wrong', 'Bearer', 'Basic abc', 'dbk_test-token-of-the-http-tests']) {
      const answer = await server.post('/api/queues/locked/tasks', undefined, { raw: 'not even JSON', headers: { authorization } })
      expect(answer, authorization).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    expect(await server.eventCount('locked')).toBe(0)
  })

  test('every route needs one, except health and the OpenAPI document', async () => {
    const open = []
    for (const { method, path } of server.http.routes) {
      if (method === 'HEAD') continue
      const answer = await server.call(method, path.replace(/\{\w+\}/g, 'x'), undefined, { headers: { authorization: '' } })
      if (answer.status !== 401) open.push(`${method} ${path}`)
    }
    expect(open).toEqual(['GET /healthz', 'GET /readyz', 'GET /api/openapi.json'])
  })

  test('the log has the name of the caller', async () => {
    await server.post('/api/queues/named/tasks', { id: 'a', type: 't' })
    expect((await server.get('/api/queues/named/tasks/a/history')).body.events[0].actor).toBe('admin')
  })
})

describe('without tokens', () => {
  /** `fetch` does not allow Host and Origin to be set. */
  const ask = (url: string, headers: Readonly<Record<string, string>>): Promise<number> =>
    new Promise((resolve, reject) => {
      httpRequest(`${url}/api/queues`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      }).on('error', reject).end()
    })

  test('programs on this machine are admitted, pages from elsewhere are not', async () => {
    const open = await startTestServer({ tokens: 'off' })
    try {
      const { url, port } = open.http
      expect(await ask(url, {})).toBe(200)
      expect(await ask(url, { Host: `localhost:${port}` })).toBe(200)
      expect(await ask(url, { Origin: `http://127.0.0.1:${port}` })).toBe(200)
      expect(await ask(url, { Origin: 'https://evil.example' })).toBe(403)
      expect(await ask(url, { Origin: 'null' })).toBe(403)
      expect(await ask(url, { Host: `evil.example:${port}` })).toBe(403)
      expect(await ask(url, { Host: `127.0.0.1.evil.example:${port}` })).toBe(403)
    } finally {
      await open.stop()
    }
  })
})

describe('correlation', () => {
  test('X-Correlation-Id is recorded in the log and sent back, also with refusals', async () => {
    const headers = { 'x-correlation-id': 'ticket-42' }
    const made = await server.post('/api/queues/corr/tasks', { id: 'a', type: 't' }, { headers })
    expect(made.headers.get('x-correlation-id')).toBe('ticket-42')
    expect((await server.get('/api/queues/corr/tasks/a/history')).body.events[0].correlationId).toBe('ticket-42')
    const refused = await server.get('/api/queues/nowhere/tasks/a', { headers })
    expect(refused.body.correlationId).toBe('ticket-42')
    expect(refused.headers.get('x-correlation-id')).toBe('ticket-42')
  })

  test('one is made if it is absent or invalid', async () => {
    const seen = new Set<string | null>()
    for (const headers of [{}, {}, { 'x-correlation-id': 'a b' }, { 'x-correlation-id': 'x'.repeat(129) }] as ReadonlyArray<Record<string, string>>) {
      const made = (await server.get('/healthz', { headers })).headers.get('x-correlation-id')
      expect(made).toMatch(/^[0-9a-f-]{36}$/)
      seen.add(made)
    }
    expect(seen.size).toBe(4)
  })
})

describe('EV-04: revisions', () => {
  test('every answer about a queue has its revision, refusals too', async () => {
    await server.post('/api/queues/rev/tasks', { tasks: [{ id: 'a', type: 't', payload: 1 }, { id: 'b', type: 't', payload: 2 }] })
    expect((await server.get('/api/queues/rev/depth')).revision).toBe(1)
    expect((await server.get('/api/queues/rev/tasks/a')).revision).toBe(1)
    expect(await server.get('/api/queues/rev/tasks/nobody')).toMatchObject({ status: 404, revision: 1 })
    expect(await server.post('/api/queues/rev/claims', { agentId: 'w' })).toMatchObject({ revision: 2 })
  })

  test('?atLeast= waits for a revision, and gives up with 503 when it does not come', async () => {
    const waiting = server.get('/api/queues/rev/tasks/late?atLeast=3')
    await new Promise((resolve) => setTimeout(resolve, 100))
    await server.post('/api/queues/rev/tasks', { id: 'late', type: 't', payload: 3 })
    expect(await waiting).toMatchObject({ status: 200, body: { id: 'late' }, revision: 3 })

    const impatient = await startTestServer({ limits: { atLeastWaitMs: 100 } })
    try {
      await impatient.post('/api/queues/q/tasks', { type: 't' })
      const late = await impatient.get('/api/queues/q/depth?atLeast=99')
      expect(late).toMatchObject({ status: 503, body: { code: 'unavailable', retryAfterSeconds: 1 }, revision: 0 })
      expect(late.headers.get('retry-after')).toBe('1')
    } finally {
      await impatient.stop()
    }
  })
})

describe('Idempotency-Key', () => {
  const q = '/api/queues/idem'
  const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

  test('the same key and body: the same answer, and the request runs once', async () => {
    await server.post(`${q}/tasks`, { tasks: [1, 2, 3].map((payload) => ({ type: 't', payload })) })
    const first = await server.post(`${q}/claims`, { agentId: 'w' }, withKey('k1'))
    const again = await server.post(`${q}/claims`, { agentId: 'w' }, withKey('k1'))
    expect(first.body.claims).toHaveLength(1)
    expect(again).toMatchObject({ status: 200, text: first.text, revision: first.revision })
    // Without the key, the same request is another claim.
    expect((await server.post(`${q}/claims`, { agentId: 'w' })).body.claims[0].task.id).not.toBe(first.body.claims[0].task.id)
  })

  test('refusals are kept as well', async () => {
    const ask = () => server.post(`${q}/tasks`, { id: 'x', type: 't', dependencies: ['later'] }, withKey('k2'))
    expect((await ask()).status).toBe(422)
    await server.post(`${q}/tasks`, { id: 'later', type: 't', payload: 'l' })
    expect((await ask()).status).toBe(422)
  })

  test('the same key with another body or another path: 422', async () => {
    await server.post(`${q}/pause`, { reason: 'a' }, withKey('k3'))
    expect(await server.post(`${q}/pause`, { reason: 'b' }, withKey('k3'))).toMatchObject({ status: 422, body: { code: 'conflict' } })
    expect(await server.post(`${q}/resume`, { reason: 'a' }, withKey('k3'))).toMatchObject({ status: 422 })
    await server.post(`${q}/resume`)
  })

  test('while the first request is running: 409', async () => {
    await server.post('/api/queues/slow/tasks', { type: 't' })
    await server.post('/api/queues/slow/claims', { agentId: 'w' })
    const ask = () => server.post('/api/queues/slow/claims', { agentId: 'w', wait: 20 }, withKey('k4'))
    const first = ask()
    await until(() => server.daybook.queue('slow')?.status().waitingClaims === 1)
    expect(await ask()).toMatchObject({ status: 409, body: { code: 'conflict' } })
    await server.post('/api/queues/slow/tasks', { type: 't', payload: 2 })
    expect((await first).body.claims).toHaveLength(1)
    expect((await ask()).text).toBe((await first).text)
  })

  test('an invalid key: 400', async () => {
    expect(await server.post(`${q}/pause`, {}, withKey('x'.repeat(256)))).toMatchObject({ status: 400, body: { errors: [{ path: 'Idempotency-Key' }] } })
  })

  test('the number of kept answers is bounded: the oldest are dropped', async () => {
    const small = await startTestServer({ limits: { idempotencyEntriesMax: 2 } })
    try {
      await small.post('/api/queues/q/tasks', { tasks: [1, 2, 3, 4, 5].map((payload) => ({ type: 't', payload })) })
      const claim = async (key: string): Promise<Body> => (await small.post('/api/queues/q/claims', { agentId: 'w' }, withKey(key))).body.claims[0].task.payload
      expect([await claim('a'), await claim('b'), await claim('a')]).toEqual([1, 2, 1])
      expect([await claim('c'), await claim('b'), await claim('a')]).toEqual([3, 2, 4])
    } finally {
      await small.stop()
    }
  })
})

describe('unknown routes', () => {
  test('an unknown path: 404; another method: 405 with the allowed methods', async () => {
    expect(await server.get('/api/nothing')).toMatchObject({ status: 404, body: { code: 'not-found' } })
    expect(await server.get('/')).toMatchObject({ status: 404 })
    const wrong = await server.call('PUT', '/api/queues/q/tasks', { type: 't' })
    expect(wrong).toMatchObject({ status: 405, body: { code: 'method-not-allowed' } })
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST')
    expect((await server.call('DELETE', '/healthz')).status).toBe(405)
  })

  test('a path that cannot be decoded: 400', async () => {
    expect(await server.get('/api/queues/%zz/depth')).toMatchObject({ status: 400, body: { code: 'invalid' } })
  })
})

test('an internal error: 500 with a correlation id and without details', async () => {
  const secret = 'the secret of the inside'
  const broken = await startTestServer()
  try {
    await broken.post('/api/queues/q/tasks', { id: 'a', type: 't' })
    const engine = broken.daybook.queue('q')
    Object.defineProperty(engine, 'contents', { value: () => Promise.reject(new Error(secret)) })
    const answer = await broken.get('/api/queues/q/tasks/a')
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } })
    expect(answer.body.correlationId).toBe(answer.headers.get('x-correlation-id'))
    expect(answer.text).not.toContain(secret)
  } finally {
    await broken.stop()
  }
})

test('a refusal of the engine: 503 with Retry-After', async () => {
  const busy = await startTestServer()
  try {
    await busy.post('/api/queues/q/tasks', { id: 'a', type: 't' })
    const left = { code: 'overloaded', detail: 'slow down', retryAfterSeconds: 2 }
    Object.defineProperty(busy.daybook.queue('q'), 'submit', { value: () => Promise.resolve({ _tag: 'Left', left }) })
    const answer = await busy.post('/api/queues/q/tasks', { type: 't', payload: report })
    expect(answer).toMatchObject({ status: 503, body: left })
    expect(answer.headers.get('retry-after')).toBe('2')
  } finally {
    await busy.stop()
  }
})

test('an address in use is an error at the start', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  await expect(startHttpServer({ daybook: server.daybook, tokens: 'off', port })).rejects.toThrow('EADDRINUSE')
  taken.close()
})
