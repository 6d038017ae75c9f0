import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DaybookError } from '@daybook/adapters/client';
import { type ClientOptions, createClient, type DaybookClient } from '@daybook/adapters/client'
import { type FaultyServer, faultyServer, latch, problemOf, refuse, until } from './faulty-server.js'

let server: FaultyServer
let client: DaybookClient
const connect = (options: ClientOptions = {}): DaybookClient => (client = createClient({ url: server.url, ...options }))
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)
const task = (n: unknown, more: object = {}) => ({ type: 'mail', payload: n as number, ...more })
const sizes = (): ReadonlyArray<number> => server.seen.map(({ body }) => (body.tasks ?? body.outcomes).length)

beforeEach(async () => {
  server = await faultyServer()
})
afterEach(async () => {
  await client.close()
  await server.close()
})

describe('single calls are gathered into bulk requests', () => {
  test('a thousand callers share a few requests, and each gets its own answer', async () => {
    connect()
    const answers = await Promise.all(numbers(1_000).map((n) => client.enqueue(task(n))))
    answers.forEach(({ id }, n) => expect(id).toBe(`id-of-${n}`))
    expect(server.seen.length).toBeLessThanOrEqual(16)
    expect(sizes().reduce((sum, size) => sum + size, 0)).toBe(1_000)
    expect(server.seen.every(({ body }) => body.atomic === false)).toBe(true)
  })

  test('callers that repeatedly call keep sharing requests', async () => {
    connect()
    const caller = async (first: number): Promise<void> => {
      for (let n = first; n < 6_400; n += 64) expect((await client.enqueue(task(n))).id).toBe(`id-of-${n}`)
    }
    await Promise.all(numbers(64).map(caller))
    expect(server.seen.length).toBeLessThanOrEqual(6_400 / 16)
  })

  test('a single call does not wait for others: it is answered without any timer', async () => {
    connect()
    // Opens the connection first.
    await client.health()
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
    try {
      for (let n = 0; n < 20; n++) expect((await client.enqueue(task(n))).id).toBe(`id-of-${n}`)
    } finally {
      vi.useRealTimers()
    }
    expect(server.seen.slice(1).map(({ body }) => body.tasks?.length ?? 1)).toEqual(Array(20).fill(1))
  })

  test('while requests are in flight, calls are gathered', async () => {
    connect({ gather: { inFlightMax: 1 } })
    const gate = latch()
    server.held = gate.opened
    const first = client.enqueue(task('first'))
    await until(() => server.seen.length === 1, 'the first request is there')
    const others = []
    for (const n of numbers(10)) {
      others.push(client.enqueue(task(n)))
      await turn()
    }
    expect(sizes()).toEqual([1])
    gate.open()
    await Promise.all([first, ...others])
    expect(sizes()).toEqual([1, 10])
  })

  test('requests stay within the limits on tasks and on requests in flight', async () => {
    connect({ gather: { itemsMax: 10, inFlightMax: 2 } })
    const gate = latch()
    server.held = gate.opened
    const calls = numbers(200).map((n) => client.enqueue(task(n)))
    await until(() => server.seen.length === 2, 'two requests are there')
    setTimeout(gate.open, 100)
    await Promise.all(calls)
    expect(Math.max(...sizes())).toBe(10)
    expect(server.openMax).toBe(2)
  })

  test('requests stay within the limit on bytes; a larger task is sent alone', async () => {
    connect({ gather: { bytesMax: 10_000, splitMin: 1_000 } })
    const large = 'ü'.repeat(6_000)
    const texts = numbers(20).map((n) => `${n}${'ü'.repeat(1_000)}`)
    await Promise.all([...texts.slice(0, 10), large, ...texts.slice(10)].map((text) => client.enqueue(task(text))))
    const own = server.seen.filter(({ body }) => body.tasks.some(({ payload }: { payload: string }) => payload === large))
    expect(own.map(({ body }) => body.tasks.length)).toEqual([1])
    const others = server.seen.filter((request) => !own.includes(request))
    for (const { text } of others) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000 + 30)
    expect(others.length).toBeLessThan(10)
  })

  test('outcomes of all kinds are gathered as well', async () => {
    connect()
    const holder = { agentId: 'a', token: 1 }
    const [done, failed, released, extended] = await Promise.all([
      client.complete('t1', { ...holder, result: { output: 1 } }),
      client.fail('t2', { ...holder, error: 'no' }),
      client.release('t3', { ...holder, reason: 'not mine' }),
      client.heartbeat('t4', { ...holder, progress: 0.5 }),
    ])
    expect(done).toMatchObject({ status: 'completed', for: 't1' })
    expect(failed).toMatchObject({ status: 'pending', for: 't2' })
    expect(released).toMatchObject({ status: 'pending', for: 't3' })
    expect(extended.lease.token).toBe(1)
    expect(server.seen.map(({ body }) => body.outcomes)).toEqual([
      [
        { taskId: 't1', kind: 'complete', ...holder, result: { output: 1 } },
        { taskId: 't2', kind: 'fail', ...holder, error: 'no' },
        { taskId: 't3', kind: 'release', ...holder, reason: 'not mine' },
        { taskId: 't4', kind: 'heartbeat', ...holder, progress: 0.5 },
      ],
    ])
  })

  test('queues do not mix', async () => {
    connect()
    await Promise.all([client.enqueue(task(1)), client.in('other').enqueue(task(2)), client.enqueue(task(3))])
    const paths = server.seen.map(({ path, body }) => [path, body.tasks.length]).sort()
    expect(paths).toEqual([['/api/queues/default/tasks', 2], ['/api/queues/other/tasks', 1]])
  })
})

describe('each caller has its own error', () => {
  const settled = async (calls: ReadonlyArray<Promise<unknown>>): Promise<ReadonlyArray<string>> =>
    (await Promise.allSettled(calls)).map((each) => (each.status === 'fulfilled' ? 'ok' : (each.reason as DaybookError).code))

  test('of many tasks one is refused: only its caller gets the error, with paths as in its own call', async () => {
    connect()
    server.item = (each, index) =>
      each.priority === 11
        ? problemOf(400, 'invalid', { detail: `tasks[${index}].priority: 11 is no priority`, errors: [{ path: `tasks[${index}].priority`, message: '11 is no priority' }] })
        : undefined
    const calls = numbers(100).map((n) => client.enqueue(task(n, n === 42 ? { priority: 11 } : {})))
    expect(await settled(calls)).toEqual(numbers(100).map((n) => (n === 42 ? 'invalid' : 'ok')))
    expect(server.seen.length).toBeLessThan(5)
    await expect(calls[42]).rejects.toMatchObject({
      status: 400,
      detail: 'priority: 11 is no priority',
      errors: [{ path: 'priority', message: '11 is no priority' }],
    })
  })

  test('if a whole request is refused because of one task, the others are sent again without it', async () => {
    connect()
    server.fault = ({ text }) => (text.includes('monstrous') ? refuse(413, 'too-large') : undefined)
    const calls = numbers(50).map((n) => client.enqueue(task(n === 17 ? 'monstrous' : n)))
    expect(await settled(calls)).toEqual(numbers(50).map((n) => (n === 17 ? 'too-large' : 'ok')))
    expect(server.tasks.size).toBe(49)
  })

  test('a value that is not JSON is not sent', async () => {
    connect()
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const calls = [client.enqueue(task(1)), client.enqueue(task(cycle)), client.enqueue(task(1n)), client.enqueue(task(2))]
    expect(await settled(calls)).toEqual(['ok', 'invalid', 'invalid', 'ok'])
    expect(sizes()).toEqual([2])
  })

  test('a call that the server defers is repeated, the others are answered at once', async () => {
    connect()
    let putOff = 0
    server.item = ({ payload }) => (payload === 3 && putOff++ < 2 ? problemOf(503, 'overloaded', { retryAfterSeconds: 0.02 }) : undefined)
    expect(await settled(numbers(5).map((n) => client.enqueue(task(n))))).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
    expect(sizes()).toEqual([5, 1, 1])
  })

  test.each([
    [400, 'invalid'],
    [404, 'not-found'],
    [408, 'timeout'],
    [409, 'conflict'],
    [409, 'lease-lost'],
    [409, 'wrong-state'],
    [413, 'too-large'],
    [422, 'unknown-dependency'],
    [500, 'internal'],
    [503, 'unavailable'],
  ])('a call that the queue refused (%i %s) is not repeated', async (status, code) => {
    connect({ retryForMs: 300 })
    server.item = (each) => (each.payload === 3 || each.taskId === 't3' ? problemOf(status, code) : undefined)
    const enqueues = await settled(numbers(5).map((n) => client.enqueue(task(n))))
    const reports = await settled(numbers(5).map((n) => client.fail(`t${n}`, { agentId: 'a', token: 1, error: 'no' })))
    expect([enqueues, reports]).toEqual([numbers(5).map((n) => (n === 3 ? code : 'ok')), numbers(5).map((n) => (n === 3 ? code : 'ok'))])
    expect(sizes()).toEqual([5, 5])
  })

  test('what a proxy refuses is not blamed on one of the calls: they are not sent apart', async () => {
    connect({ retryForMs: 0 })
    server.fault = () => ({ status: 400, text: '<h1>The plain HTTP request was sent to HTTPS port</h1>' })
    expect(await settled(numbers(5).map((n) => client.enqueue(task(n))))).toEqual(numbers(5).map(() => 'unexpected-answer'))
    expect(server.seen).toHaveLength(1)
  })

  test('an answer with fewer items than the request is an error', async () => {
    connect()
    server.fault = () => ({ status: 200, text: '{"results":[],"revision":1}' })
    expect(await settled([client.enqueue(task(1)), client.enqueue(task(2))])).toEqual(['unexpected-answer', 'unexpected-answer'])
  })

  test.each(['', 'null', '5', '[]', '{}', '{"results":null}'])('an answer without results is an error of each call: %j', async (text) => {
    connect({ retryForMs: 0 })
    server.fault = () => ({ status: 200, text })
    expect(await settled([client.enqueue(task(1)), client.enqueue(task(2)), client.fail('t3', { agentId: 'a', token: 1, error: 'no' })])).toEqual(Array(3).fill('unexpected-answer'))
    expect(await settled([client.enqueueAll([task(1)], { atomic: false })])).toEqual(['unexpected-answer'])
  })

  test.each([null, 5])('a result that is none is the error of its own call: %j', async (result) => {
    connect({ retryForMs: 0 })
    server.fault = () => ({ status: 200, text: JSON.stringify({ results: [result, { id: 'two' }], revision: 1 }) })
    expect(await settled([client.enqueue(task(1)), client.enqueue(task(2))])).toEqual(['unexpected-answer', 'ok'])
  })

  test('calls that wait for another try count among the unanswered ones', async () => {
    connect({ gather: { waitingMax: 10 } })
    server.item = () => problemOf(503, 'overloaded', { retryAfterSeconds: 5 })
    const first = settled(numbers(10).map((n) => client.enqueue(task(n))))
    await until(() => server.seen.length === 1, 'the first request is answered')
    await client.health()
    await expect(client.enqueue(task(10))).rejects.toMatchObject({ code: 'overloaded', unsent: true })
    server.item = () => undefined
    await first
  })

  test('too many unanswered calls are refused, not kept', async () => {
    connect({ gather: { waitingMax: 10 } })
    const gate = latch()
    server.held = gate.opened
    const calls = numbers(12).map((n) => client.enqueue(task(n)))
    const told = settled(calls)
    await expect(calls[11]).rejects.toMatchObject({ code: 'overloaded', unsent: true })
    gate.open()
    expect(await told).toEqual([...numbers(10).map(() => 'ok'), 'overloaded', 'overloaded'])
  })
})

describe('bulk calls', () => {
  test('each on its own: any number of tasks, with results and errors in order', async () => {
    connect()
    server.item = ({ payload }) => (payload === 1_500 ? problemOf(422, 'unknown-dependency') : undefined)
    const tasks = numbers(2_500).map((n) => task(n === 7 ? 1n : n))
    const { results } = await client.enqueueAll(tasks, { atomic: false })
    expect(sizes().length).toBe(3)
    expect(Math.max(...sizes())).toBeLessThanOrEqual(1_000)
    results.forEach((each, n) => {
      if (n === 7) expect(each).toMatchObject({ ok: false, error: { code: 'invalid' } })
      else if (n === 1_500) expect(each).toMatchObject({ ok: false, error: { code: 'unknown-dependency' } })
      else expect(each).toMatchObject({ ok: true, value: { id: `id-of-${n}` } })
    })
  })

  test('a failed request is the error of its own tasks only', async () => {
    connect({ retryForMs: 0, gather: { inFlightMax: 1 } })
    server.fault = (_, index) => (index === 1 ? 'drop-before' : undefined)
    const { results } = await client.enqueueAll(numbers(2_500).map((n) => task(n)), { atomic: false })
    expect(results.map(({ ok }) => ok)).toEqual(numbers(2_500).map((n) => n < 1_000 || n >= 2_000))
    expect(results[1_000]).toMatchObject({ error: { code: 'unreachable' } })
  })

  test('all or none is one request', async () => {
    connect()
    const { results } = await client.enqueueAll(numbers(3).map((n) => task(n)))
    expect(results.map(({ id }) => id)).toEqual(['id-of-0', 'id-of-1', 'id-of-2'])
    expect(server.seen.map(({ body }) => body.atomic)).toEqual([undefined])
    server.fault = () => refuse(422, 'dependency-cycle')
    await expect(client.enqueueAll([task(9)])).rejects.toMatchObject({ code: 'dependency-cycle', status: 422 })
  })
})
