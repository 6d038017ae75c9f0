/** The log of requests: which get a line, how many at most, and that what is left out is counted. */
import { requestFields, RequestLog, type EndedRequest, type RequestLogChoice } from '@daybook/adapters/http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../worker/memory-source.js'
import { adminToken, rawRequest, startTestServer, type TestServer } from './support.js'

interface Line {
  readonly level: 'info' | 'warn' | 'error'
  readonly msg: string
  readonly [field: string]: unknown
}

/** A log whose lines are kept, in virtual time. */
const logged = (choice: Exclude<RequestLogChoice, 'off'>, now?: () => number) => {
  const lines: Array<Line> = []
  const write = (level: Line['level']) => (fields: object, msg: string) => void lines.push({ level, msg, ...fields })
  return { lines, log: new RequestLog({ info: write('info'), warn: write('warn'), error: write('error') } as unknown as ConstructorParameters<typeof RequestLog>[0], choice, now) }
}

const ended = (over: Partial<EndedRequest> = {}): EndedRequest => ({ method: 'GET', route: '/api/queues', status: 200, gone: false, ms: 1, waitMs: 0, correlationId: 'c', ...over })

describe('which requests get a line', () => {
  const fine = ended()
  const rows: ReadonlyArray<readonly [string, EndedRequest, Line['level'], ReadonlyArray<string>]> = [
    ['went well', fine, 'info', ['sampled', 'all']],
    ['a probe', ended({ route: '/readyz' }), 'info', ['all']],
    ['a probe that failed', ended({ route: '/readyz', status: 503 }), 'error', ['errors', 'sampled', 'all']],
    ['refused', ended({ status: 401, code: 'unauthorized' }), 'warn', ['errors', 'sampled', 'all']],
    ['failed', ended({ status: 500, code: 'internal' }), 'error', ['errors', 'sampled', 'all']],
    ['slow', ended({ ms: 1_000 }), 'warn', ['errors', 'sampled', 'all']],
    ['long because it asked to wait', ended({ ms: 30_900, waitMs: 30_000 }), 'info', ['sampled', 'all']],
    ['given up by its caller', ended({ status: undefined, gone: true }), 'warn', ['errors', 'sampled', 'all']],
  ]
  test.each(rows)('%s', (_, request, level, choices) => {
    for (const choice of ['errors', 'sampled', 'all'] as const) {
      const { lines, log } = logged(choice)
      log.note(request)
      expect(lines.map((line) => line.level), choice).toEqual(choices.includes(choice) ? [level] : [])
    }
  })

  test('a line tells what is known, and nothing of what is not', () => {
    const { lines, log } = logged('all')
    log.note(ended({ ms: 1_234.5678, code: 'lease-lost', status: 409, queue: 'q', actor: 'ci', remote: '::1', traceId: 'ab' }))
    expect(lines).toEqual([{ level: 'warn', msg: 'request', method: 'GET', route: '/api/queues', status: 409, ms: 1_234.6, correlationId: 'c', code: 'lease-lost', queue: 'q', actor: 'ci', remote: '::1', traceId: 'ab', slow: true }])
  })
})

describe('the bound', () => {
  test('10 lines a second of a kind; the next line says how many were left out', () => {
    let now = 0
    const { lines, log } = logged('sampled', () => now)
    for (let i = 0; i < 25; i++) log.note(ended())
    log.note(ended({ status: 404, code: 'not-found' }))
    expect(lines.map(({ status, leftOut }) => [status, leftOut])).toEqual([...Array.from({ length: 10 }, () => [200, undefined]), [404, undefined]])
    now = 1_000
    log.note(ended())
    expect(lines.at(-1)).toMatchObject({ status: 200, leftOut: 15 })
    log.close()
    expect(lines.length).toBe(12)
  })

  test('200 lines a second in all, however many kinds there are', () => {
    const { lines, log } = logged('errors', () => 500)
    for (let i = 0; i < 1_000; i++) log.note(ended({ route: `/${i % 100}`, status: 400 }))
    expect(lines.length).toBe(200)
    log.close()
    expect(lines.filter(({ msg }) => msg === 'requests left out').reduce((sum, { leftOut }) => sum + Number(leftOut), 0)).toBe(800)
  })

  test('all has no bound', () => {
    const { lines, log } = logged('all', () => 0)
    for (let i = 0; i < 1_000; i++) log.note(ended())
    expect(lines.length).toBe(1_000)
  })

  test('lines and what was left out add up to what was answered, whenever it came', () => {
    const route = fc.constantFrom('/a', '/b', '/c')
    const status = fc.constantFrom(200, 401, 503, undefined)
    fc.assert(
      fc.property(fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 700 }), times: fc.integer({ min: 1, max: 40 }), route, status })), (bursts) => {
        let now = 0
        const { lines, log } = logged('sampled', () => now)
        let answered = 0
        for (const { afterMs, times, ...each } of bursts) {
          now += afterMs
          for (let i = 0; i < times; i++) log.note(ended({ ...each, gone: each.status === undefined }))
          answered += times
        }
        log.close()
        expect(lines.reduce((sum, { msg, leftOut }) => sum + (msg === 'request' ? 1 : 0) + Number(leftOut ?? 0), 0)).toBe(answered)
      }),
    )
  })
})

describe('of a server', () => {
  const withLog = async (use: (server: TestServer, linesOf: (count: number) => Promise<ReadonlyArray<Line>>) => Promise<void>): Promise<void> => {
    const { lines, log } = logged('all')
    const server = await startTestServer({ requestLog: log })
    // The test's own questions for the contract are none of those that are counted.
    await until(() => lines.length > 0, 'a first line')
    lines.length = 0
    try {
      await use(server, async (count) => {
        await until(() => lines.length >= count, `${count} lines`)
        return lines
      })
    } finally {
      await server.stop()
    }
  }

  test('a request that was refused has its code, its token\'s name and its route; an accepted one its queue and trace', () =>
    withLog(async (server, linesOf) => {
      const limited = await server.post('/api/tokens', { name: 'ci', roles: ['producer'], rate: { perSecond: 0.001, burst: 2 } })
      const as = { headers: { authorization: `Bearer ${limited.body.token}`, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x-correlation-id': 'run-7' } }
      await server.post('/api/queues/q/tasks', { id: 'a', type: 't' }, as)
      await server.post('/api/queues/q/claims', { agentId: 'w' }, as)
      await server.post('/api/queues/q/tasks', { type: 't' }, as)
      await server.get('/api/queues/q/tasks/a?secret=x', { headers: { authorization: 'Bearer wrong' } })
      await server.post('/api/queues/q/tasks/a/complete', { agentId: 'w', token: 1, result: {} })
      await fetch(`${server.http.url}/no/such/path`, { headers: { authorization: `Bearer ${adminToken}` } })
      const found = (await linesOf(7)).slice(1).map(({ status, code, actor, queue, route, traceId, correlationId }) => ({ status, code, actor, queue, route, traceId, isGiven: correlationId === 'run-7' }))
      const traceId = '0af7651916cd43dd8448eb211c80319c'
      expect(found).toEqual([
        { status: 201, code: undefined, actor: 'ci', queue: 'q', route: '/api/queues/{queue}/tasks', traceId, isGiven: true },
        { status: 403, code: 'forbidden', actor: 'ci', queue: 'q', route: '/api/queues/{queue}/claims', traceId, isGiven: true },
        { status: 429, code: 'too-many-requests', actor: 'ci', queue: 'q', route: '/api/queues/{queue}/tasks', traceId, isGiven: true },
        { status: 401, code: 'unauthorized', actor: undefined, queue: 'q', route: '/api/queues/{queue}/tasks/{id}', traceId: undefined, isGiven: false },
        { status: 409, code: 'lease-lost', actor: 'admin', queue: 'q', route: '/api/queues/{queue}/tasks/{id}/complete', traceId: undefined, isGiven: false },
        { status: 404, code: 'not-found', actor: undefined, queue: undefined, route: '(none)', traceId: undefined, isGiven: false },
      ])
    }))

  test('what never became a request, and WebSockets, have lines as well', () =>
    withLog(async (server, linesOf) => {
      await rawRequest(server.http.port, ['nonsense\r\n\r\n'])
      await rawRequest(server.http.port, ['GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'])
      const url = `${server.http.url.replace('http', 'ws')}/api/ws?queue=q`
      for (const token of ['wrong', adminToken]) {
        const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
        await new Promise<void>((resolve) => socket.on('unexpected-response', () => resolve()).on('open', () => resolve()).on('error', () => resolve()))
        socket.terminate()
      }
      const lines = await linesOf(4)
      expect(lines.map(({ method, route, status, code, actor }) => [method, route, status, code, actor])).toEqual([
        ['-', '(none)', 400, 'invalid', undefined],
        ['GET', '(none)', 400, 'invalid', undefined],
        ['GET', '/api/ws', 401, 'unauthorized', undefined],
        ['GET', '/api/ws', 101, undefined, 'admin'],
      ])
    }))

  test('a caller that goes away while it waits is gone, and not slow', () =>
    withLog(async (server, linesOf) => {
      await server.post('/api/queues/q/tasks', { type: 't' })
      await server.post('/api/queues/q/claims', { agentId: 'w' })
      const leave = new AbortController()
      const waiting = server.post('/api/queues/q/claims', { agentId: 'w', wait: 60 }, { signal: leave.signal })
      await until(() => server.daybook.queue('q')?.status().waitingClaims === 1, 'a claim that waits')
      leave.abort()
      await expect(waiting).rejects.toThrow()
      const line = (await linesOf(3))[2]
      expect(line).toMatchObject({ level: 'warn', route: '/api/queues/{queue}/claims', gone: true })
      expect(line).not.toHaveProperty('slow')
      expect(line?.status).toBeUndefined()
    }))

  test('no line has another member than those that the reference names', () =>
    withLog(async (server, linesOf) => {
      await server.get('/api/queues')
      const [line] = await linesOf(1)
      expect(Object.keys(line ?? {}).filter((name) => !['level', 'msg', ...requestFields].includes(name))).toEqual([])
    }))
})
