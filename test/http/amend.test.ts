/** LK-11: a task is amended over real sockets, and a dead letter is edited and sent back. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '@daybook/adapters/client'
import { adminToken, type Body, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const queue = (): string => `/api/queues/amend${++count}`
const amend = (q: string, id: string, body: object) => server.call('PATCH', `${q}/tasks/${id}`, { reason: 'a slip', ...body })
const review = { reviewer: 'rev', reason: 'the path was wrong' }
const claimOne = async (q: string): Promise<Body> => (await server.post(`${q}/claims`, { agentId: 'w' })).body.claims[0]

test('LK-11: PATCH changes priority, payload and times; the claim, the task and the list have the new values, and the history both', async () => {
  const q = queue()
  await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 't', payload: { path: '/tpm' }, description: 'd', metadata: { m: 1 } }, { id: 'b', type: 't' }] })
  const deadlineAt = new Date(Date.now() + 7_200_000).toISOString()
  const availableAt = new Date(Date.now() + 3_600_000).toISOString()
  const answer = await amend(q, 'a', { priority: 'HIGH', payload: { path: '/tmp' }, deadlineAt, availableAt })
  expect(answer).toMatchObject({ status: 200, body: { id: 'a', status: 'scheduled', changed: ['priority', 'payload', 'deadlineAt', 'availableAt'], revision: 2 } })
  const now = { id: 'a', priority: 8, payload: { path: '/tmp' }, description: 'd', metadata: { m: 1 }, deadlineAt, availableAt }
  expect((await server.get(`${q}/tasks/a`)).body).toMatchObject(now)
  expect((await server.get(`${q}/tasks?status=scheduled`)).body.tasks).toMatchObject([now])
  const { events } = (await server.get(`${q}/tasks/a/history`)).body
  expect(events).toMatchObject([
    { type: 'TaskEnqueued', data: { priority: 5, content: { payload: { path: '/tpm' } } } },
    { type: 'TaskAmended', data: { reason: 'a slip', priority: 8, formerPriority: 5, deadlineAt, formerDeadlineAt: null, availableAt, formerAvailableAt: null, formerContentRevision: 0, content: { payload: { path: '/tmp' } } } },
  ])
  expect((await amend(q, '%231', { availableAt: null })).body).toMatchObject({ id: 'a', status: 'pending', changed: ['availableAt'] })
  expect((await claimOne(q)).task).toMatchObject({ id: 'a', priority: 8, payload: { path: '/tmp' }, description: 'd', deadlineAt })
})

test('LK-11: the same again changes nothing; what is wrong, held or finished is refused with what to do', async () => {
  const q = queue()
  await server.post(`${q}/tasks`, { id: 'a', type: 't', payload: { b: 1, a: 2 }, description: 'd' })
  expect((await amend(q, 'a', { priority: 5, payload: { a: 2, b: 1 }, deadlineAt: null })).body).toMatchObject({ changed: [], revision: 0 })
  expect(await amend(q, 'a', {})).toMatchObject({ status: 400, body: { detail: expect.stringContaining('must change something') } })
  expect(await amend(q, 'a', { priority: 11 })).toMatchObject({ status: 400 })
  expect(await amend(q, 'a', { type: 'other' })).toMatchObject({ status: 400 })
  expect(await amend(q, 'a', { payload: 'x'.repeat(300_000) })).toMatchObject({ status: 413, body: { code: 'too-large' } })
  expect(await amend(q, 'none', { payload: 1 })).toMatchObject({ status: 404 })
  const { lease } = await claimOne(q)
  expect(await amend(q, 'a', { payload: 1 })).toMatchObject({ status: 409, body: { code: 'wrong-state', detail: expect.stringContaining('w is working on a') } })
  await server.post(`${q}/tasks/a/complete`, { agentId: 'w', token: lease.token, result: { decisionReport: 'r' } })
  expect(await amend(q, 'a', { priority: 9 })).toMatchObject({ status: 409, body: { code: 'wrong-state', detail: expect.stringContaining('completed') } })
  expect((await server.get(`${q}/tasks/a`)).body).toMatchObject({ priority: 5, payload: { a: 2, b: 1 } })
})

test('LK-11: a restart, a later claim and a duplicate know the newest payload', async () => {
  const q = queue()
  await server.post(`${q}/tasks`, { id: 'a', type: 't', payload: 1 })
  await amend(q, 'a', { payload: 2 })
  await amend(q, 'a', { payload: 3 })
  const first = await claimOne(q)
  expect(first.task.payload).toBe(3)
  await server.post(`${q}/tasks/a/fail`, { agentId: 'w', token: first.lease.token, error: 'boom' })
  await amend(q, 'a', { availableAt: null })
  const second = await claimOne(q)
  expect(second.task.payload).toBe(3)
  await server.post(`${q}/tasks/a/complete`, { agentId: 'w', token: second.lease.token, result: { decisionReport: 'r' } })
  expect((await server.get(`${q}/tasks/a`)).body.payload).toBe(3)
  // The key is that of the request that enqueued it, so a repetition of that request is still a duplicate.
  expect((await server.post(`${q}/tasks`, { type: 't', payload: 1 })).body).toMatchObject({ id: 'a', duplicate: true })
  const restarted = (await server.post(`${q}/tasks/a/restart`, { reason: 'again' })).body
  expect((await server.get(`${q}/tasks/${restarted.id}`)).body.payload).toBe(3)
})

test('LK-11: edit-and-retry: a dead letter goes back with another payload, in one append; the client does the same', async () => {
  const q = queue()
  const client = createClient({ url: server.http.url, token: adminToken, queue: q.slice('/api/queues/'.length) })
  await client.enqueue({ id: 'a', type: 't', payload: { path: '/tpm' }, description: 'd' })
  const kill = async (): Promise<void> => {
    const { lease } = await claimOne(q)
    await server.post(`${q}/tasks/a/fail`, { agentId: 'w', token: lease.token, error: 'ENOENT', retryable: false })
  }
  await kill()
  expect((await server.post(`${q}/dead-letters/a/retry`, { ...review, payload: { path: '/tmp' } })).body).toEqual({ retried: ['a'] })
  const { events } = (await server.get(`${q}/tasks/a/history`)).body
  expect(events.slice(-2)).toMatchObject([
    { type: 'TaskAmended', data: { reason: review.reason, formerContentRevision: 0, content: { payload: { path: '/tmp' }, description: 'd' } } },
    { type: 'Requeued', data: review },
  ])
  expect(events.at(-1).correlationId).toBe(events.at(-2).correlationId)
  await kill()
  // The same payload is no amendment.
  expect(await client.deadLetters.retry('a', { ...review, payload: { path: '/tmp' } })).toMatchObject({ retried: ['a'] })
  expect((await client.history('a')).map(({ type }) => type).slice(-2)).toEqual(['DeadLettered', 'Requeued'])
  expect(await server.post(`${q}/dead-letters/a/retry`, { ...review, payload: 1 })).toMatchObject({ status: 409, body: { code: 'wrong-state' } })
  expect(await client.amend('a', { payload: 'text', deadlineAt: new Date(4e12) }, 'why not')).toMatchObject({ changed: ['payload', 'deadlineAt'] })
  expect(await client.task('a')).toMatchObject({ payload: 'text', description: 'd' })
  await client.close()
})

test('LK-11: of many that amend one payload at once, each has its turn', async () => {
  const q = queue()
  await server.post(`${q}/tasks`, { id: 'a', type: 't', payload: -1 })
  const answers = await Promise.all([0, 1, 2].map((payload) => amend(q, 'a', { payload })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const { events } = (await server.get(`${q}/tasks/a/history`)).body
  const told = events.map(({ data }: Body) => data.content.payload)
  expect([...told].sort()).toEqual([-1, 0, 1, 2])
  expect((await server.get(`${q}/tasks/a`)).body.payload).toBe(told.at(-1))
  expect(events.slice(1).map(({ data }: Body) => data.formerContentRevision)).toEqual(events.slice(0, -1).map(({ revision }: Body) => revision))
})
