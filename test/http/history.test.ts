/** A task's history over HTTP, including that of a task that the queue no longer knows. Times are ISO 8601. */
import { randomUUID } from 'node:crypto'
import { createClient } from '@daybook/client'
import { encodeData } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { httpLimitsDefault } from '@daybook/adapters/http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyEvent } from '../golden/history.js'
import { adminToken, type Body, startTestServer, type TestServer } from './support.js'

const scanEventsMax = 7
let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ limits: { ...httpLimitsDefault, scanEventsMax } })
})
afterAll(() => server?.stop())

/** Follows `next` to the end of the search, as a client does, and counts the requests. */
const search = async (path: string): Promise<{ readonly events: ReadonlyArray<Body>; readonly status: number; readonly requests: number }> => {
  for (let before: number | null | undefined, requests = 1; ; requests++) {
    const { status, body } = await server.get(`${path}${before === undefined ? '' : `?before=${before}`}`)
    if (status !== 200 || body.next === null) return { events: body.events, status, requests }
    expect(body.events).toEqual([])
    if (before !== undefined) expect(body.next).toBeLessThan(before as number)
    before = body.next
  }
}

describe('a task whose retention is over', () => {
  const q = '/api/queues/left'
  const ids = Array.from({ length: 12 }, (_, i) => `t${i}`)
  let all: ReadonlyArray<Body> = []
  beforeAll(async () => {
    await server.call('PATCH', `${q}/settings`, { retentionSeconds: 0, decisionReport: 'optional' })
    for (const id of ids) await server.post(`${q}/tasks`, { type: 'x', id, payload: { of: id, note: '"task":"t3"', task: 't4' } })
    for (const id of ids) {
      const { claims: [{ lease }] } = (await server.post(`${q}/claims`, { agentId: 'ann' })).body
      await server.post(`${q}/tasks/${id}/heartbeat`, { agentId: 'ann', token: lease.token, progress: { task: 't5' } })
      await server.post(`${q}/tasks/${id}/complete`, { agentId: 'ann', token: lease.token, result: { output: { task: 't6' } } })
    }
    // Finished tasks are evicted with the next event after their retention.
    await server.post(`${q}/pause`, {})
    await server.post(`${q}/resume`, {})
    const store = server.store.read('taskqueue-left')
    const events: Array<Body> = []
    for await (const page of store) events.push(...page)
    all = events.map(({ revision, type, data }) => ({ revision, type, task: JSON.parse(data).task }))
  })

  test('is found in the log, however far back, in bounded steps; events of other tasks are not mistaken for its own', async () => {
    for (const id of ids) {
      expect((await server.get(`${q}/tasks/${id}`)).status).toBe(404)
      const { events, requests } = await search(`${q}/tasks/${id}/history`)
      expect(events.map(({ revision, type, data }) => ({ revision, type, task: data.task }))).toEqual(all.filter(({ task }) => task === id))
      const distance = all.length - Math.max(...events.map(({ revision }) => revision))
      expect(requests).toBe(Math.ceil(distance / scanEventsMax))
    }
  })

  test('a task that never existed is not found, after the whole log was searched', async () => {
    expect(await search(`${q}/tasks/nobody/history`)).toMatchObject({ status: 404, requests: Math.ceil(all.length / scanEventsMax) })
    expect((await server.get(`${q}/tasks/%232/history`)).status).toBe(404)
  })

  test('an id that is used again shows the history of the present task', async () => {
    await server.post(`${q}/tasks`, { type: 'x', id: 't0', payload: 'again' })
    expect((await search(`${q}/tasks/t0/history`)).events.map(({ type }) => type)).toEqual(['TaskEnqueued'])
  })
})

test('a history of large checkpoints comes in pages, the newest first, by id and by number; clients put them together', async () => {
  const pageBytesMax = 10_000
  const own = await startTestServer({ limits: { ...httpLimitsDefault, pageBytesMax } })
  const client = createClient({ url: own.http.url, token: adminToken, queue: 'q' })
  try {
    await own.post('/api/queues/q/tasks', { id: 'long', type: 't' })
    const { claims: [{ lease }] } = (await own.post('/api/queues/q/claims', { agentId: 'ann' })).body
    for (let i = 0; i < 20; i++) await own.post('/api/queues/q/tasks/long/heartbeat', { agentId: 'ann', token: lease.token, checkpoint: { i, text: 'x'.repeat(3_000) } })
    for (const id of ['long', '%231']) {
      const pages: Array<Body> = []
      for (let next: number | null | undefined; next !== null; next = pages[0].next) pages.unshift((await own.get(`/api/queues/q/tasks/${id}/history${next === undefined ? '' : `?before=${next}`}`)).body)
      for (const { events } of pages) expect(JSON.stringify(events).length).toBeLessThan(pageBytesMax)
      const events = pages.flatMap((page) => page.events)
      expect(events.map(({ revision }: Body) => revision)).toEqual(Array.from({ length: 22 }, (_, i) => i))
      expect(await client.history(decodeURIComponent(id))).toEqual(events)
    }
  } finally {
    await client.close()
    await own.stop()
  }
})

/** Every number in the facts that can only be a time. What producers and agents wrote is left out. */
const times = (data: Body): Body =>
  Object.fromEntries(Object.entries(data as object).filter(([key, value]) => !['content', 'progress', 'checkpoint'].includes(key) && typeof value === 'number' && value > 1e12))

test('times in a history are ISO 8601 for every type of event; /events shows the data as recorded', async () => {
  const store = openMemoryStore()
  const recorded = everyEvent().map((event) => ({
    id: randomUUID(), type: event.type, data: encodeData(event), metadata: JSON.stringify({ schemaVersion: 1, at: new Date(event.at).toISOString() }),
  }))
  await store.append('taskqueue-q', recorded, 'no_stream')()
  const own = await startTestServer({}, store)
  try {
    await own.daybook.ready
    const { events } = (await own.get('/api/queues/q/events?limit=1000')).body
    let seen = 0
    for (const [revision, raw] of (events as ReadonlyArray<Body>).entries()) {
      expect(raw.data).toEqual(JSON.parse(recorded[revision]!.data))
      if (raw.data.task === undefined) continue
      // These events are not linked to each other, so a search that begins at each event must find it.
      const { body } = await own.get(`/api/queues/q/tasks/${raw.data.task}/history?before=${revision}`)
      const [shown] = body.events
      const wanted = times(raw.data)
      seen += Object.keys(wanted).length
      expect(shown.data).toEqual({ ...raw.data, ...Object.fromEntries(Object.entries(wanted).map(([key, ms]) => [key, new Date(ms as number).toISOString()])) })
      expect(times(shown.data)).toEqual({})
    }
    expect(seen).toBeGreaterThan(10)
  } finally {
    await own.stop()
  }
})
