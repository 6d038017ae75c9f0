/** Streams of the log, and other large answers: many at the same time must leave the server's time and memory to others. */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { openMemoryStore } from '@daybook/adapters/memory'
import { expect, onTestFinished, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { mostPerTurn, pagesPerTurn } from '../support/per-turn.js'
import { adminToken, startTestServer, type TestServer } from './support.js'

const streamOf = async ({ http }: TestServer, path = '/api/queues/q/events', accept = 'application/x-ndjson'): Promise<IncomingMessage> => {
  const request = get(`${http.url}${path}`, { agent: false, headers: { accept, authorization: `Bearer ${adminToken}` } })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  answer.on('error', () => undefined)
  onTestFinished(() => void answer.destroy())
  return answer
}

/** More than the operating system takes from a server whose client does not read. */
const fill = async (server: TestServer): Promise<void> => {
  onTestFinished(() => server.stop())
  for (let i = 0; i < 24; i++) {
    const tasks = Array.from({ length: 16 }, (_, each) => ({ type: 'mail', payload: { i, each, text: 'x'.repeat(60_000) } }))
    expect((await server.post('/api/queues/q/tasks', { tasks })).status).toBe(201)
  }
}

test('streams that nobody reads are limited in number; one that ends makes room, also if its client goes away', async () => {
  const server = await startTestServer({ limits: { streamsMax: 2 } })
  await fill(server)
  const open = [await streamOf(server), await streamOf(server, '/api/queues/q/events?revision=300')]
  expect(open.map(({ statusCode }) => statusCode)).toEqual([200, 200])
  const more = await server.get('/api/queues/q/events', { headers: { accept: 'application/x-ndjson' } })
  expect([more.status, more.body.code, more.headers.get('retry-after')]).toEqual([503, 'overloaded', '5'])
  // A page is no stream.
  expect((await server.get('/api/queues/q/events?limit=2')).body.events).toHaveLength(2)
  open[0]?.destroy()
  let next = await streamOf(server)
  const again = async (): Promise<void> => {
    while (next.statusCode !== 200) next = await streamOf(server)
  }
  await inTime('room for another stream', again())
  let bytes = 0
  for await (const part of next) bytes += (part as Buffer).length
  expect(bytes).toBeGreaterThan(24 * 16 * 60_000)
  expect((await streamOf(server)).statusCode).toBe(200)
})

test('a client that reads nothing of a stream is cut off after a while, so that others get its place', async () => {
  const server = await startTestServer({ limits: { streamsMax: 1, stalledMs: 1_000 } })
  await fill(server)
  const both = await Promise.all([streamOf(server), streamOf(server)])
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 503])
  const free = async (): Promise<void> => {
    while ((await streamOf(server)).statusCode !== 200);
  }
  await inTime('the place of the stream that nobody reads', free())
})

test('an answer that takes the server longer than a client may read nothing is waited for', async () => {
  const stalledMs = 1_000
  const inner = openMemoryStore()
  let opened: Promise<void> = Promise.resolve()
  const read: typeof inner.read = async function* (...args) {
    await opened
    yield* inner.read(...args)
  }
  const server = await startTestServer({ limits: { stalledMs } }, { ...inner, read })
  onTestFinished(() => server.stop())
  await server.post('/api/queues/q/tasks', { type: 'mail', payload: 1 })
  let open = (): void => undefined
  opened = new Promise((resolve) => (open = resolve))
  const verified = server.get('/api/queues/q/verify')
  const lines = streamOf(server)
  await new Promise((resolve) => setTimeout(resolve, 2.5 * stalledMs))
  open()
  expect((await verified).body).toMatchObject({ ok: true, events: 1 })
  expect((await lines).statusCode).toBe(200)
})

test('of many streams that are read at the same time, each turn of the event loop reads one page of one', async () => {
  const counted = pagesPerTurn(openMemoryStore())
  const server = await startTestServer({}, counted.store)
  onTestFinished(() => server.stop())
  for (let i = 0; i < 5; i++) await server.post('/api/queues/q/tasks', { tasks: Array.from({ length: 1_000 }, (_, each) => ({ type: 'mail', payload: { i, each } })) })
  const { pages, most } = await counted.during(async () => {
    const streams = await Promise.all(Array.from({ length: 8 }, () => streamOf(server)))
    await Promise.all(streams.map(async (stream) => once(stream.resume(), 'end')))
  })
  expect(pages).toBeGreaterThan(8)
  expect(most).toBe(1)
})

test('of many long lists that have waited for the same append, each turn of the event loop answers one, so others are answered in between', async () => {
  const inner = openMemoryStore()
  let append: Promise<void> = Promise.resolve()
  const server = await startTestServer({}, { ...inner, append: (...args) => () => append.then(inner.append(...args)) })
  onTestFinished(() => server.stop())
  await server.post('/api/queues/q/tasks', { tasks: Array.from({ length: 1_000 }, (_, each) => ({ type: 'mail', payload: { each } })) })
  let release = (): void => undefined
  append = new Promise((resolve) => (release = resolve))
  const enqueued = server.post('/api/queues/q/tasks', { type: 'mail', payload: 'held' })
  let answered = 0
  const lists = Array.from({ length: 20 }, async () => {
    const list = await streamOf(server, '/api/queues/q/tasks?limit=1000', 'application/json')
    answered++
    return list
  })
  // All of them wait for the append.
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(answered).toBe(0)
  const { most } = await mostPerTurn(() => answered, async () => {
    release()
    await Promise.all(lists)
  })
  const answers = await Promise.all(lists)
  await Promise.all(answers.map(async (list) => once(list.resume(), 'end')))
  await enqueued
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200))
  expect(most).toBeLessThanOrEqual(3)
})

test('large answers that nobody reads are limited in bytes; small ones are always sent', async () => {
  const server = await startTestServer({ limits: { unreadBytesMax: 20 * 2 ** 20, pageBytesMax: 16 * 2 ** 20 } })
  await fill(server)
  const path = '/api/queues/q/tasks?limit=1000'
  const first = await streamOf(server, path, 'application/json')
  expect(first.statusCode).toBe(200)
  const second = await server.get(path)
  expect([second.status, second.body.code]).toEqual([503, 'overloaded'])
  expect((await server.get('/api/queues/q/tasks?limit=1')).status).toBe(200)
  first.destroy()
  const again = async (): Promise<void> => {
    while ((await server.get(path)).status !== 200);
  }
  await inTime('room for another large answer', again())
})
