/** Waiting for the result of a task, over real sockets. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Body, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const newQueue = async (...tasks: ReadonlyArray<Body>): Promise<string> => {
  const q = `/api/queues/r${++count}`
  await server.call('PATCH', `${q}/settings`, { decisionReport: 'optional', defaults: { maxRetries: 1 } })
  await server.post(`${q}/tasks`, { tasks: tasks.map((task) => ({ type: 't', ...task })) })
  return q
}
const held = async (q: string): Promise<Body> => {
  const { task, lease } = (await server.post(`${q}/claims`, { agentId: 'w' })).body.claims[0]
  return { path: `${q}/tasks/${task.id}`, agentId: 'w', token: lease.token }
}
const waitsOf = (q: string) => server.daybook.queue(q.slice('/api/queues/'.length))?.status().settledWaits
const isWaitedFor = async (q: string): Promise<void> => {
  for (let i = 0; waitsOf(q) !== 1; i++) {
    if (i > 3_000) throw new Error('nobody waits')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test('a wait may have as many digits as a program prints', async () => {
  const q = await newQueue({ id: 'a' })
  expect((await server.get(`${q}/tasks/a/result?wait=0.012345678901234568`)).body).toEqual({ status: 'pending' })
  expect((await server.get(`${q}/tasks/a/result?wait=60.00000001`)).status).toBe(400)
})

test('the result of a task that was imported as completed is the one that the task is shown with', async () => {
  const q = await newQueue()
  await server.post(`${q}/imports`, { tasks: [{ id: 'old', type: 't', payload: 1, status: 'completed', result: { output: { n: [1] }, decisionReport: 'd' } }, { id: 'bare', type: 't', payload: 2, status: 'completed' }] })
  const { result } = (await server.get(`${q}/tasks/old`)).body
  expect(result).toEqual({ output: { n: [1] }, decisionReport: 'd' })
  expect((await server.get(`${q}/tasks/old/result?wait=60`)).body).toEqual({ status: 'completed', result })
  expect((await server.get(`${q}/tasks/bare/result`)).body).toEqual({ status: 'completed' })
})

test('LK-02: the result of a task comes as soon as it is completed, to all who wait for it, by id and by number', async () => {
  const q = await newQueue({ id: 'a' })
  expect((await server.get(`${q}/tasks/a/result`)).body).toEqual({ status: 'pending' })
  const { path, ...holder } = await held(q)
  const waits = ['a', '%231'].map((id) => server.get(`${q}/tasks/${id}/result?wait=60`))
  await isWaitedFor(q)
  await server.post(`${path}/complete`, { ...holder, result: { output: { n: 1 } } })
  for (const answer of [...(await Promise.all(waits)), await server.get(`${q}/tasks/a/result?wait=60`)]) {
    expect([answer.status, answer.body]).toEqual([200, { status: 'completed', result: { output: { n: 1 } } }])
  }
})

test.each([
  ['a dead letter', 'fail', { error: 'broken', retryable: false }, { status: 'dead-letter', error: 'broken' }],
  ['a cancelled task', 'cancel', { reason: 'not needed' }, { status: 'cancelled' }],
])('who waits for %s is told', async (_, verb, body, expected) => {
  const q = await newQueue({ id: 'a' })
  const { path, ...holder } = await held(q)
  const waits = server.get(`${q}/tasks/a/result?wait=60`)
  await isWaitedFor(q)
  await server.post(`${path}/${verb}`, verb === 'cancel' ? body : { ...holder, ...body })
  expect(waitsOf(q)).toBe(0)
  expect((await waits).body).toEqual(expected)
})

test('when the wait is over, the answer says where the task stands; nobody waits any more', async () => {
  const q = await newQueue({ id: 'a' })
  await held(q)
  expect((await server.get(`${q}/tasks/a/result?wait=0.05`)).body).toEqual({ status: 'in-progress' })
  expect(waitsOf(q)).toBe(0)
  expect((await server.get(`${q}/tasks/none/result?wait=60`)).status).toBe(404)
  expect((await server.get(`${q}/tasks/a/result?wait=61`)).body).toMatchObject({ code: 'invalid', errors: [{ path: 'query.wait' }] })
})
