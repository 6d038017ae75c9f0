/** Claims whose answer never reached the agent: their tasks go back at once instead of when the leases end. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { EventStore } from '@daybook/adapters/store'
import { openMemoryStore } from '@daybook/adapters/memory'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../support/queue.js'
import { adminToken, type Body, startTestServer, type TestServer } from './support.js'

/** A store whose appends wait while `held` is set. */
const holding = (inner: EventStore): EventStore & { held: Promise<void> | undefined; appends: number } => {
  const store = {
    ...inner,
    held: undefined as Promise<void> | undefined,
    appends: 0,
    append: (...asked: Parameters<EventStore['append']>) => async () => {
      store.appends++
      await store.held
      return inner.append(...asked)()
    },
  }
  return store
}

let store: ReturnType<typeof holding>
let server: TestServer
let sockets: Array<Socket>
beforeEach(async () => {
  store = holding(openMemoryStore())
  server = await startTestServer({}, store)
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await server.stop()
})

const q = '/api/queues/q'
const send = (body: Body, headers = '', to = 'claims'): Socket => {
  const text = JSON.stringify(body)
  const socket = connect(server.http.port, '127.0.0.1')
  sockets.push(socket)
  socket.write(`POST ${q}/${to} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${text.length}\r\n\r\n${text}`)
  return socket
}
const taskOf = async (id: string): Promise<Body> => (await server.get(`${q}/tasks/${id}`)).body
const history = async (id: string): Promise<ReadonlyArray<Body>> => (await server.get(`${q}/tasks/${id}/history`)).body.events

/** A request, by default a claim, whose caller disconnects while its events are being written. */
const breakOff = async (headers = '', body: Body = { agentId: 'gone', max: 10 }, to?: string): Promise<void> => {
  let letGo = (): void => undefined
  store.held = new Promise((resolve) => (letGo = resolve))
  const before = store.appends
  const socket = send(body, headers, to)
  await until(() => store.appends > before)
  // The socket closes once the server has seen its end and has closed it, too. All this happens before the claim is durable.
  socket.resume().end()
  await once(socket, 'close')
  store.held = undefined
  letGo()
}

describe('LK-07, GB-04: a claim whose answer did not arrive', () => {
  test('is taken back if the caller has disconnected; the agent may claim the task again', async () => {
    await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 't', payload: 1 }, { id: 'b', type: 't', payload: 2 }] })
    await breakOff()
    await until(async () => (await history('a')).length === 3)
    expect(await taskOf('a')).toMatchObject({ status: 'pending', attempts: 0 })
    expect(await history('a')).toMatchObject([
      { type: 'TaskEnqueued' },
      { type: 'Claimed', data: { agent: 'gone' } },
      { type: 'Released', actor: 'daybook', data: { agent: 'gone', undelivered: true, reason: expect.stringContaining('connection') as string } },
    ])
    const again = await server.post(`${q}/claims`, { agentId: 'gone', max: 10 })
    expect(again.body.claims.map(({ task }: Body) => task.id)).toEqual(['a', 'b'])
  })

  test('is taken back if the caller disconnects in the middle of the answer', async () => {
    const payload = 'x'.repeat(250_000)
    const count = 80
    for (let n = 0; n < count; n++) await server.post(`${q}/tasks`, { id: `t${n}`, type: 't', payload: `${n} ${payload}` })
    const socket = send({ agentId: 'gone', max: 100 })
    // 20 MB, and the client reads nothing: everything beyond the sockets' buffers stays in the server.
    await once(socket, 'readable')
    socket.destroy()
    const byStatus = async (): Promise<Body> => (await server.get(`${q}/depth`)).body.byStatus
    await until(async () => (await byStatus()).pending === count)
    expect((await history('t0')).map(({ type }) => type)).toEqual(['TaskEnqueued', 'Claimed', 'Released'])
  })

  test.each(['', 'Connection: close\r\n'])('stays once the answer is sent, whatever the agent does then (%j)', async (headers) => {
    await server.post(`${q}/tasks`, { id: 'a', type: 't' })
    const socket = send({ agentId: 'w' }, headers)
    await once(socket, 'data')
    socket.destroy()
    await once(socket, 'close')
    await server.post(`${q}/tasks`, { id: 'b', type: 't', payload: 2 })
    expect((await taskOf('a')).status).toBe('in-progress')
    expect(await history('a')).toHaveLength(2)
  })

  test('stays if the request has a key, and is answered to a retry with that key', async () => {
    await server.post(`${q}/tasks`, { id: 'a', type: 't' })
    const ask = () => server.post(`${q}/claims`, { agentId: 'w' }, { headers: { 'idempotency-key': 'k' } })
    const first = await ask()
    expect((await ask()).body).toEqual(first.body)
    expect((await taskOf('a')).attempts).toBe(0)
  })
})

test('a command with a key runs once, also if its caller disconnected before the answer', async () => {
  const body = { type: 't', payload: 1, deduplicate: 'off' }
  await breakOff('Idempotency-Key: k\r\n', body, 'tasks')
  const again = async (): Promise<Body> => (await server.post(`${q}/tasks`, body, { headers: { 'idempotency-key': 'k' } })).body
  await until(async () => (await again()).code !== 'conflict')
  expect(await again()).toMatchObject({ number: 1, duplicate: false })
  expect((await server.get(q)).body.total).toBe(1)
})

test('a claim with a key whose caller disconnected is made anew', async () => {
  await server.post(`${q}/tasks`, { id: 'a', type: 't' })
  await breakOff('Idempotency-Key: k\r\n')
  await until(async () => (await history('a')).length === 3)
  const again = await server.post(`${q}/claims`, { agentId: 'gone', max: 10 }, { headers: { 'idempotency-key': 'k' } })
  expect(again.body.claims).toMatchObject([{ task: { id: 'a' } }])
})
