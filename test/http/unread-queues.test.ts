/** The list of queues while some of them cannot be read: they hide neither themselves nor the others. */
import { createDaybook, type Daybook, type QueueEngine } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { startTestServer, type TestServer } from './support.js'

const reason = 'it is not known whether the last append succeeded'
let server: TestServer | undefined
afterEach(() => server?.stop())

/** A server whose queues with these names answer no question, and one that is not opened. */
const serverWithout = async (unread: ReadonlyArray<string>): Promise<TestServer> => {
  const daybook = createDaybook({ store: openMemoryStore() })
  const silent = (engine: QueueEngine): QueueEngine => Object.create(engine, { read: { value: () => Promise.resolve(E.left({ code: 'unavailable', detail: reason })) } }) as QueueEngine
  const queues = (): ReadonlyArray<QueueEngine> => daybook.queues().map((queue) => (unread.includes(queue.name) ? silent(queue) : queue))
  const refused = (): ReturnType<Daybook['refused']> => [{ queue: 'cut', reason: 'its first events are gone' }]
  server = await startTestServer({ daybook: Object.create(daybook, { queues: { value: queues }, refused: { value: refused } }) as Daybook })
  for (const queue of ['mail', 'print']) await server.post(`/api/queues/${queue}/tasks`, { type: 'mow', payload: null })
  return server
}

test('the others are listed, and those that cannot be read with the reason', async () => {
  const { get } = await serverWithout(['mail'])
  const { status, body } = await get('/api/queues')
  expect(status).toBe(200)
  expect(body).toEqual({
    queues: [expect.objectContaining({ name: 'print', total: 1 })],
    refused: [{ queue: 'cut', reason: 'its first events are gone' }, { queue: 'mail', reason }],
  })
})

test('all queues are asked at once: one that waits for its turn does not keep the others waiting', async () => {
  const daybook = createDaybook({ store: openMemoryStore() })
  let asked = 0
  let isAskedOfBoth: () => void = () => undefined
  const both = new Promise<void>((resolve) => (isAskedOfBoth = resolve))
  const patient = (engine: QueueEngine): QueueEngine => {
    const read: QueueEngine['read'] = async (question) => {
      if (++asked === 2) isAskedOfBoth()
      await both
      return engine.read(question)
    }
    return Object.create(engine, { read: { value: read } }) as QueueEngine
  }
  server = await startTestServer({ daybook: Object.create(daybook, { queues: { value: () => daybook.queues().map(patient) } }) as Daybook })
  for (const queue of ['mail', 'print']) await server.post(`/api/queues/${queue}/tasks`, { type: 'mow', payload: null })
  const { body } = await inTime('the list', server.get('/api/queues'))
  expect(body.queues).toMatchObject([{ name: 'mail', total: 1 }, { name: 'print', total: 1 }])
})

test('if none can be read, the request is refused', async () => {
  const { get } = await serverWithout(['mail', 'print'])
  expect(await get('/api/queues')).toMatchObject({ status: 503, body: { code: 'unavailable', detail: reason } })
})

test('a token is told of its own queues only', async () => {
  const { post, http } = await serverWithout(['mail'])
  const { body } = await post('/api/tokens', { name: 'printer', roles: ['auditor'], queues: ['print'] })
  const answer = await fetch(`${http.url}/api/queues`, { headers: { authorization: `Bearer ${body.token}` } })
  expect(await answer.json()).toEqual({ queues: [expect.objectContaining({ name: 'print' })] })
})

test('metrics: while the store cannot be looked at, no queue is available, as /readyz says', async () => {
  const daybook = createDaybook({ store: openMemoryStore() })
  server = await startTestServer({ daybook: Object.create(daybook, { problem: { value: () => 'the store cannot be reached' } }) as Daybook })
  await server.post('/api/queues/mail/tasks', { type: 'mow', payload: null })
  expect((await server.get('/readyz')).status).toBe(503)
  expect((await server.get('/metrics')).text).toContain('daybook_queue_available{queue="mail"} 0\n')
})

test('metrics: a queue that could not be opened is not available, so that its alert fires', async () => {
  const { get } = await serverWithout([])
  const { text } = await get('/metrics')
  expect(text).toContain('daybook_queue_available{queue="cut"} 0\n')
  expect(text).toContain('daybook_queue_available{queue="mail"} 1\n')
})
