/** Parked tasks and callbacks over real sockets. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Body, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const queueOf = async (...tasks: ReadonlyArray<Body>): Promise<string> => {
  const q = `/api/queues/p${++count}`
  await server.post(`${q}/tasks`, { tasks: tasks.map((task, i) => ({ type: 't', idempotencyKey: `k${i}`, ...task })) })
  return q
}
const claimOne = async (q: string, agentId = 'w1', more: Body = {}): Promise<Body> => (await server.post(`${q}/claims`, { agentId, ...more })).body.claims[0]
const park = async (q: string, id: string, more: Body = {}): Promise<Body> => {
  const { lease } = await claimOne(q)
  return server.post(`${q}/tasks/${id}/park`, { agentId: 'w1', token: lease.token, callbackKey: 'approve/1', timeoutSeconds: 3_600, ...more })
}
const callback = (q: string, body?: Body, key = 'approve/1') => server.post(`${q}/callbacks/${encodeURIComponent(key)}`, body)

test('waiting for the world: park, callback, and the next claim has the payload', async () => {
  const q = await queueOf({ id: 'a', payload: { n: 1 } })
  expect(await park(q, 'a', { checkpoint: { built: true } })).toMatchObject({ status: 200, body: { status: 'waiting' } })
  const { body: waiting } = await server.get(`${q}/tasks/a`)
  expect(waiting).toMatchObject({ status: 'waiting', attempts: 0, claimedBy: null, checkpoint: { built: true }, parked: { callbackKey: 'approve/1', onTimeout: 'fail' }, reasons: [{ code: 'waiting', until: waiting.parked.until }] })
  expect((await server.get(`${q}/tasks/a/explain`)).body).toMatchObject({ status: 'waiting', runnable: false, reasons: [{ code: 'waiting', message: expect.stringContaining('approve/1') }] })
  expect((await server.get(`${q}/tasks?status=waiting`)).body.tasks).toHaveLength(1)
  expect((await server.get(`${q}/depth`)).body.byStatus.waiting).toBe(1)

  const taken = await callback(q, { payload: { approved: true, by: ['ann'] } })
  expect(taken).toMatchObject({ status: 200, body: { task: 'a', status: 'pending' } })
  const claim = await claimOne(q, 'w2')
  expect(claim).toMatchObject({ attempt: 1, task: { payload: { n: 1 } }, checkpoint: { built: true }, callback: { key: 'approve/1', payload: { approved: true, by: ['ann'] } } })
  expect((await server.get(`${q}/tasks/a`)).body.callback).toEqual(claim.callback)
  await server.post(`${q}/tasks/a/complete`, { agentId: 'w2', token: claim.lease.token, result: report })

  // Sent again, even with another payload: the first one counts.
  const again = await callback(q, { payload: { approved: false } })
  expect([again.body, again.revision]).toEqual([taken.body, (await server.get(`${q}/tasks/a`)).revision])
})

test('a callback needs no body; its payload is null then', async () => {
  const q = await queueOf({ id: 'a' })
  await park(q, 'a')
  expect((await callback(q)).body).toEqual({ task: 'a', status: 'pending' })
  expect((await claimOne(q)).callback).toMatchObject({ key: 'approve/1', payload: null })
})

test('a key that nobody waits for is 404, a key that another task waits for is 409', async () => {
  const q = await queueOf({ id: 'a' }, { id: 'b' })
  expect(await callback(q)).toMatchObject({ status: 404, body: { code: 'not-found' } })
  await park(q, 'a')
  expect(await park(q, 'b')).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('a already waits') } })
  expect(await callback(q, {}, 'line\nbreak')).toMatchObject({ status: 400, body: { code: 'invalid' } })
  expect(await callback(q, { payload: 2 ** 60 })).toMatchObject({ status: 400, body: { code: 'invalid', errors: [{ path: 'payload' }] } })
  expect(await callback(q, { payload: 'x'.repeat(300_000) })).toMatchObject({ status: 413, body: { code: 'too-large' } })
})

test('among many outcomes', async () => {
  const q = await queueOf({ id: 'a' }, { id: 'b' })
  const { body: { claims } } = await server.post(`${q}/claims`, { agentId: 'w1', max: 2 })
  const outcomes = claims.map(({ task, lease }: Body) => ({ kind: 'park', taskId: task.id, agentId: 'w1', token: lease.token, callbackKey: 'one', timeoutSeconds: 60, onTimeout: 'requeue' }))
  expect((await server.post(`${q}/outcomes`, { outcomes })).body.results).toMatchObject([{ status: 'waiting' }, { code: 'conflict', status: 409 }])
})

test('a claim that waits gets the task when its callback comes, or when its wait is over', async () => {
  const q = await queueOf({ id: 'a' })
  const engine = await server.daybook.open(q.slice('/api/queues/'.length))
  for (const [timeoutSeconds, wake] of [[3_600, true], [0.01, false]] as const) {
    await park(q, 'a', { timeoutSeconds, onTimeout: 'requeue' })
    const waiting = claimOne(q, 'w2', { wait: 30 })
    if (wake) {
      while (engine.status().waitingClaims === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      await callback(q, { payload: 7 })
    }
    const claim = await waiting
    expect(claim.task.id).toBe('a')
    expect(claim.callback?.payload).toBe(wake ? 7 : undefined)
    await server.post(`${q}/tasks/a/release`, { agentId: 'w2', token: claim.lease.token, reason: 'r', stopping: true })
  }
})
