import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DaybookError } from '@daybook/adapters/client';
import { type ClientOptions, createClient, type DaybookClient } from '@daybook/adapters/client'
import { inTime } from '../support/in-time.js'
import { type FaultyServer, faultyServer, latch, problemOf, refuse, until } from './faulty-server.js'

let server: FaultyServer
let client: DaybookClient
const connect = (options: ClientOptions = {}): DaybookClient => (client = createClient({ url: server.url, ...options }))
const task = (n: unknown) => ({ type: 'mail', payload: n as number })
const holder = { agentId: 'a', token: 1 }
const codeOf = (call: Promise<unknown>): Promise<string> => inTime('the end of a call', call.then(() => 'ok', (error: DaybookError) => error.code))

beforeEach(async () => {
  server = await faultyServer()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await inTime('the end of the client', client.close())
  await server.close()
})

/**
 * The pauses that the client makes before it tries again, in milliseconds. They take no time, and from now on the clock goes on
 * by them alone, so that nothing depends on how long a request takes.
 */
const pausesMade = (): ReadonlyArray<number> => {
  const pauses: Array<number> = []
  const { setTimeout: timeout } = globalThis
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const pausing = (...[body, ms = 0, ...rest]: Parameters<typeof timeout>) => {
    if (new Error().stack?.includes('client/dist/transport/retry.js') !== true) return timeout(body, ms, ...rest)
    pauses.push(ms)
    now += ms
    return timeout(body, 0, ...rest)
  }
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(Object.assign(pausing, timeout))
  return pauses
}

describe('repeatable requests are repeated', () => {
  test.each(['drop-before', 'drop-after', 'half'] as const)('LK-05 an enqueue that ends in %s is repeated, and enqueued once', async (fault) => {
    connect()
    server.fault = (_, index) => (index < 2 ? fault : undefined)
    const answer = await client.enqueue(task(1))
    expect(answer).toMatchObject({ id: 'id-of-1', duplicate: fault !== 'drop-before' })
    expect(server.seen.length).toBe(3)
    expect(server.tasks.size).toBe(1)
  })

  test.each([
    ['a call with a key', () => client.cancel('t1', 'no', { idempotencyKey: 'k' })],
    ['a report', () => client.fail('t1', { ...holder, error: 'no' })],
  ])('%s waits for the answer to its first request, if that is still running', async (_, call) => {
    connect()
    pausesMade()
    server.fault = (_, index) => (index < 2 ? { status: 409, text: JSON.stringify(problemOf(409, 'conflict', { retryAfterSeconds: 1 })) } : undefined)
    expect(await codeOf(call())).toBe('ok')
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  test('an overloaded server is asked again, not before the time it asked for', async () => {
    connect()
    const pauses = pausesMade()
    server.fault = (_, index) => (index === 0 ? refuse(503, 'overloaded', { 'retry-after': '1' }) : undefined)
    await client.enqueue(task(1))
    expect(server.seen.length).toBe(2)
    expect(pauses.length).toBe(1)
    expect(pauses[0]).toBeGreaterThanOrEqual(1_000)
    expect(pauses[0]).toBeLessThanOrEqual(1_013)
  })

  test('if the server asks for more time than is left, the call fails at once', async () => {
    connect({ retryForMs: 500 })
    server.fault = () => refuse(503, 'unavailable', { 'retry-after': '60' })
    await expect(inTime('the refusal', client.enqueue(task(1)))).rejects.toMatchObject({ code: 'unavailable', status: 503, retryAfterSeconds: 60 })
    expect(server.seen.length).toBe(1)
  })

  test('repeating ends at the time limit', async () => {
    connect({ retryForMs: 600 })
    const pauses = pausesMade()
    server.fault = (_, index) => (index < 1_000 ? 'drop-before' : undefined)
    expect(await codeOf(client.enqueue(task(1)))).toBe('unreachable')
    const spent = pauses.reduce((sum, ms) => sum + ms, 0)
    // The longest pause that did not fit any more is one of 250 ms.
    expect(spent).toBeGreaterThan(350)
    expect(spent).toBeLessThanOrEqual(600)
    expect(server.seen.length).toBe(pauses.length + 1)
  })

  test('a clock that jumps ahead meanwhile ends no call', async () => {
    connect({ retryForMs: 10_000 })
    const calls: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
      ['gathered', () => client.enqueue(task(1))],
      ['by itself', () => client.outcomes([{ kind: 'fail', taskId: 't', ...holder, error: 'no' }])],
      ['put off by the queue', () => client.enqueue(task('put off'))],
    ]
    for (const [name, call] of calls) {
      const before = server.seen.length
      const time = Date.now()
      // Every request makes the clock jump by a year.
      vi.spyOn(Date, 'now').mockImplementation(() => time + (server.seen.length - before) * 365 * 86_400_000)
      server.fault = (_, index) => (name !== 'put off by the queue' && index - before < 2 ? 'drop-before' : undefined)
      server.item = ({ payload }) => (payload === 'put off' && server.seen.length - before < 3 ? problemOf(503, 'overloaded') : undefined)
      expect(await codeOf(call()), name).toBe('ok')
      expect(server.seen.length - before, name).toBe(3)
      vi.restoreAllMocks()
    }
  })

  test('a server that restarts is found at once: in the first seconds the tries are at most 250 ms apart', async () => {
    connect({ retryForMs: 3_000 })
    const pauses = pausesMade()
    server.fault = (_, index) => (index < 1_000 ? 'drop-before' : undefined)
    expect(await codeOf(client.enqueue(task(1)))).toBe('unreachable')
    expect(pauses.length).toBeGreaterThanOrEqual(14)
    for (const [index, ms] of pauses.entries()) {
      const full = Math.min(250, 25 * 2 ** index)
      expect(ms).toBeGreaterThanOrEqual(full / 2)
      expect(ms).toBeLessThanOrEqual(full)
    }
  })

  test('a call with the caller’s own key is repeated with it, whatever the call', async () => {
    connect()
    const keyed = { idempotencyKey: 'my-key' }
    const reviewed = { reviewer: 'r', reason: 'why' }
    const calls: ReadonlyArray<() => Promise<unknown>> = [
      () => client.cancel('t', 'because', keyed),
      () => client.claim({ agentId: 'a' }, keyed),
      () => client.deadLetters.retry('t', reviewed, keyed),
      () => client.deadLetters.discardAll({ type: 'x' }, reviewed, keyed),
      () => client.agents.terminate('a', 'it hangs', keyed),
      () => client.outcomes([{ kind: 'fail', taskId: 't', ...holder, error: 'no' }], keyed),
    ]
    for (const call of calls) {
      const before = server.seen.length
      server.fault = (_, index) => (index === before ? 'drop-after' : undefined)
      await call()
      const tries = server.seen.slice(before)
      expect(tries.map(({ method, path, headers }) => [method, path, headers['idempotency-key']])).toEqual([
        [tries[0]!.method, tries[0]!.path, 'my-key'],
        [tries[0]!.method, tries[0]!.path, 'my-key'],
      ])
      expect(tries[1]!.text).toBe(tries[0]!.text)
    }
  })

  test('many outcomes are sent in several requests, each with its own key, and are repeated with it', async () => {
    connect()
    const failures = Array.from({ length: 2_500 }, (_, n) => ({ kind: 'fail' as const, taskId: `t${n}`, ...holder, error: 'no' }))
    const dropped = new Set<string>()
    server.fault = ({ headers }) => {
      const key = String(headers['idempotency-key'])
      return dropped.has(key) ? undefined : (dropped.add(key), 'drop-after')
    }
    const results = await client.outcomes(failures)
    expect(results.every(({ ok }) => ok)).toBe(true)
    const texts = new Map<string, Set<string>>()
    for (const { headers, text } of server.seen) {
      const key = String(headers['idempotency-key'])
      texts.set(key, new Set([...(texts.get(key) ?? []), text]))
    }
    // Three keys for three requests: with one key for two of them, one would get the other's answer.
    expect([...texts.values()].map(({ size }) => size)).toEqual([1, 1, 1])
    expect(server.seen.length).toBe(6)
  })

  test('if nothing listens, the error says so, and that nothing was sent', async () => {
    const { url } = server
    await server.close()
    client = createClient({ url, retryForMs: 0 })
    await expect(client.enqueue(task(1))).rejects.toMatchObject({ code: 'unreachable', status: 0, unsent: true })
    await expect(client.claim({ agentId: 'a' })).rejects.toMatchObject({ code: 'unreachable', unsent: true })
  })

  test('an answer of a proxy instead of the server counts as no answer', async () => {
    connect()
    server.fault = (_, index) => (index === 0 ? { status: 502, text: '<html>Bad Gateway</html>' } : undefined)
    await client.enqueue(task(1))
    expect(server.seen.length).toBe(2)
  })

  test('a failure is repeated with one key, because a second one would be refused; a completion needs none', async () => {
    connect()
    server.fault = (_, index) => (index === 0 || index === 2 ? 'drop-after' : undefined)
    await client.fail('t', { ...holder, error: 'no' })
    await client.complete('t', { ...holder, result: {} })
    const keys = server.seen.map(({ headers }) => headers['idempotency-key'])
    expect(keys.length).toBe(4)
    expect(keys[0]).toMatch(/./)
    expect(keys[1]).toBe(keys[0])
    expect(keys.slice(2)).toEqual([undefined, undefined])
    expect(server.seen[1]!.text).toBe(server.seen[0]!.text)
  })
})

describe('other requests are not repeated', () => {
  test.each(['drop-before', 'drop-after', 'half'] as const)('LK-07 a claim that ends in %s is left to the caller', async (fault) => {
    connect()
    server.fault = () => fault
    expect(await codeOf(client.claim({ agentId: 'a', wait: 1 }))).toBe('unreachable')
    server.fault = () => refuse(503, 'overloaded')
    expect(await codeOf(client.claim({ agentId: 'a' }))).toBe('overloaded')
    expect(server.seen.length).toBe(2)
  })

  test('a cancel whose answer is lost fails; one refused as overloaded had no effect and is repeated', async () => {
    connect()
    server.fault = () => 'drop-after'
    expect(await codeOf(client.cancel('t', 'because'))).toBe('unreachable')
    expect(server.seen.length).toBe(1)
    server.fault = (_, index) => (index === 1 ? refuse(503, 'overloaded') : undefined)
    await client.cancel('t', 'because')
    expect(server.seen.length).toBe(3)
  })

  test.each([
    [400, 'invalid'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [409, 'wrong-state'],
    [409, 'lease-lost'],
    [500, 'internal'],
  ])('a refusal is final: %i %s', async (status, code) => {
    connect()
    server.fault = () => refuse(status, code)
    await expect(client.task('t')).rejects.toMatchObject({ name: 'DaybookError', status, code, detail: `${code}, said the server` })
    expect(server.seen.length).toBe(1)
  })
})

describe('waiting has an end', () => {
  test('a server that never answers is unreachable after timeoutMs', async () => {
    connect({ timeoutMs: 300, retryForMs: 0 })
    server.held = new Promise(() => undefined)
    expect(await codeOf(client.enqueue(task(1)))).toBe('unreachable')
  })

  test('a claim that waits longer than timeoutMs is not a failure', async () => {
    connect()
    const gate = latch()
    server.held = gate.opened
    const claim = client.claim({ agentId: 'a', wait: 60 }, { timeoutMs: 300 })
    await until(() => server.seen.length === 1, 'the claim is there')
    // Time-outs are kept to the second.
    setTimeout(gate.open, 2_000)
    expect(await claim).toEqual([])
  })

  test('an aborted claim ends at once and closes its connection, so that the server does not serve it', async () => {
    connect()
    server.held = new Promise(() => undefined)
    const stop = new AbortController()
    const claim = codeOf(client.claim({ agentId: 'a', wait: 30 }, { signal: stop.signal }))
    await until(() => server.seen.length === 1, 'the claim is there')
    stop.abort()
    expect(await claim).toBe('aborted')
    await until(() => server.seen[0]!.left, 'the server sees that the caller is gone')
    expect(await codeOf(client.claim({ agentId: 'a' }, { signal: stop.signal }))).toBe('aborted')
    expect(server.seen.length).toBe(1)
  })

  test('waiting claims do not delay other calls, and many can share a signal', async () => {
    connect({ connectionsMax: 2 })
    const warnings: Array<Error> = []
    const warned = (warning: Error): number => warnings.push(warning)
    process.on('warning', warned)
    const gate = latch()
    server.held = gate.opened
    const stop = new AbortController()
    const claims = Array.from({ length: 30 }, () => client.claim({ agentId: 'a', wait: 30 }, { signal: stop.signal }))
    await until(() => server.seen.length === 30, 'all claims are waiting')
    server.held = Promise.resolve()
    await client.enqueue(task(1))
    gate.open()
    expect((await Promise.all(claims)).flat()).toEqual([])
    process.off('warning', warned)
    expect(warnings).toEqual([])
  })
})

describe('a client', () => {
  test('never shows its token', async () => {
    const token = 'dbk_very-secret-token'
    connect({ token, retryForMs: 0 })
    await client.health()
    expect(server.seen[0]!.headers.authorization).toBe(`Bearer ${token}`)
    const shown: Array<string> = [inspect(client, { depth: 9, showHidden: true })]
    for (const fault of ['drop-before', 'half', refuse(401, 'unauthorized'), { status: 200, text: 'hello' }] as const) {
      server.fault = () => fault
      const calls = [client.tasks(), client.claim({ agentId: 'a', wait: 1 }), client.enqueue(task(1))]
      for (const each of await Promise.allSettled<unknown>(calls)) {
        const { reason } = each as PromiseRejectedResult
        shown.push(inspect(reason, { depth: 9, showHidden: true }), String(reason), JSON.stringify(reason))
      }
    }
    expect(shown.length).toBeGreaterThan(30)
    for (const text of shown) expect(text).not.toContain('secret')
  })

  test('reports a server that is not Daybook', async () => {
    connect()
    server.fault = () => ({ status: 200, text: '<html>' })
    expect(await codeOf(client.tasks())).toBe('unexpected-answer')
    server.fault = () => ({ status: 404, text: 'nothing here' })
    expect(await codeOf(client.tasks())).toBe('unexpected-answer')
  })

  test('once closed answers earlier calls and refuses later ones', async () => {
    connect()
    const gate = latch()
    server.held = gate.opened
    const claim = codeOf(client.claim({ agentId: 'a', wait: 30 }))
    const enqueued = client.enqueue(task(1))
    const listed = client.depth()
    await until(() => server.seen.length === 3, 'all three are there')
    const closed = client.close()
    expect(await claim).toBe('closed')
    gate.open()
    expect((await enqueued).id).toBe('id-of-1')
    expect(await listed).toEqual({ status: 'ok' })
    await closed
    expect(await codeOf(client.enqueue(task(2)))).toBe('closed')
    expect(await codeOf(client.tasks())).toBe('closed')
    expect(await codeOf(client.claim({ agentId: 'a' }))).toBe('closed')
    expect(server.seen.length).toBe(3)
  })

  test('closed before its first call it sends none, and closed at its first call it answers that', async () => {
    connect()
    await client.close()
    expect(await codeOf(client.tasks())).toBe('closed')
    expect(await codeOf(client.claim({ agentId: 'a', wait: 30 }))).toBe('closed')
    expect(server.seen.length).toBe(0)
    connect()
    const gate = latch()
    server.held = gate.opened
    const enqueued = client.enqueue(task(1))
    const claim = codeOf(client.claim({ agentId: 'a', wait: 30 }))
    const closed = client.close()
    expect(await claim).toBe('closed')
    gate.open()
    expect((await enqueued).id).toBe('id-of-1')
    await closed
    expect(await codeOf(client.tasks())).toBe('closed')
  })

  test.each([
    ['is under way', () => undefined],
    ['is being repeated', (index: number) => (index < 3 ? 'drop-before' : undefined)],
  ] as const)('once closed answers a call that %s', async (_, fault) => {
    connect()
    server.fault = (__, index) => fault(index)
    const gate = latch()
    server.held = gate.opened
    const call = codeOf(client.enqueue(task(1)))
    const report = codeOf(client.complete('t', { ...holder, result: {} }))
    await until(() => server.seen.length > 0, 'the first try is there')
    const closed = client.close()
    gate.open()
    expect([await call, await report]).toEqual(['ok', 'ok'])
    await closed
  })

  test('once closed answers a call that the server has deferred', async () => {
    connect()
    let putOff = 0
    server.item = () => (putOff++ < 2 ? problemOf(503, 'overloaded', { retryAfterSeconds: 0.1 }) : undefined)
    const call = codeOf(client.enqueue(task(1)))
    await until(() => putOff > 0, 'it is put off')
    const closed = client.close()
    expect(await call).toBe('ok')
    await closed
  })

  test.each([
    [{ timeoutMs: 0 }],
    [{ retryForMs: -1 }],
    [{ connectionsMax: 0 }],
    [{ gather: { itemsMax: 1_001 } }],
    [{ gather: { inFlightMax: Number.NaN } }],
  ])('refuses options out of range: %j', (options) => {
    connect()
    expect(() => createClient(options)).toThrow(RangeError)
  })

  test('escapes what it puts into a path', async () => {
    connect({ queue: 'q' })
    await client.task('#42')
    await client.task('a/b?c', { atLeast: 7 })
    await client.tasks({ status: ['pending', 'blocked'], q: 'ä&b', limit: 5 })
    await client.agents.terminate('host/1', 'it hangs')
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/queues/q/tasks/%2342',
      'GET /api/queues/q/tasks/a%2Fb%3Fc?atLeast=7',
      'GET /api/queues/q/tasks?status=pending%2Cblocked&q=%C3%A4%26b&limit=5',
      'DELETE /api/queues/q/agents/host%2F1?reason=it%20hangs',
    ])
  })

  test('reads a log of any length line by line, and fails if it breaks off', async () => {
    connect()
    const line = (revision: number): string => JSON.stringify({ revision, type: 'Claimed', at: '2026-07-01T12:00:00.000Z', data: { ö: 'ü'.repeat(500) } })
    const text = Array.from({ length: 2_000 }, (_, n) => line(n)).join('\n')
    server.fault = () => ({ status: 200, text: `${text}\n` })
    let next = 0
    for await (const { revision, data } of client.eachEvent({ from: 3 })) {
      expect(revision).toBe(next++)
      expect((data as { ö: string }).ö.length).toBe(500)
    }
    expect(next).toBe(2_000)
    expect(server.seen[0]!.headers.accept).toBe('application/x-ndjson')
    server.fault = () => ({ status: 200, text, headers: { 'content-length': '9000000' } })
    const reading = async (): Promise<void> => {
      for await (const _ of client.eachEvent()) if (_.revision === 1_500) await server.close()
    }
    expect(await codeOf(reading())).toBe('unreachable')
  })
})
