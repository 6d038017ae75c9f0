/** LK-11: the review of dead letters over real sockets: snooze, escalate, redrive. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/queue.js'
import { type Body, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const review = { reviewer: 'rev', reason: 'looked at it' }
let count = 0
/** A queue with this many dead letters: `d0`, `d1` … */
const dead = async (n: number): Promise<string> => {
  const q = `/api/queues/d${++count}`
  await server.post(`${q}/tasks`, { tasks: Array.from({ length: n }, (_, i) => ({ id: `d${i}`, type: 't', payload: i })) })
  await server.call('PATCH', `${q}/settings`, { breakers: { defaults: { failureThreshold: 1_000 } } })
  const { claims } = (await server.post(`${q}/claims`, { agentId: 'w', max: n })).body
  await server.post(`${q}/outcomes`, { outcomes: claims.map(({ task, lease }: Body) => ({ kind: 'fail', taskId: task.id, agentId: 'w', token: lease.token, error: `boom ${task.id}`, retryable: false })) })
  return q
}

test('LK-11: snooze: one or all that match; shown, listed by filter, and sent back at the time', async () => {
  const q = await dead(3)
  const later = new Date(Date.now() + 3_600_000).toISOString()
  expect((await server.post(`${q}/dead-letters/d0/snooze`, { ...review, until: later })).body).toEqual({ snoozed: ['d0'] })
  expect((await server.get(`${q}/tasks/d0`)).body).toMatchObject({ status: 'dead-letter', deadLetter: { snoozedUntil: later }, reasons: [{ code: 'dead-letter', until: later }] })
  expect((await server.get(`${q}/dead-letters?snoozed=false`)).body.tasks.map(({ id }: Body) => id)).toEqual(['d1', 'd2'])
  expect(await server.post(`${q}/dead-letters/d0/snooze`, { ...review, until: '2020-01-01T00:00:00.000Z' })).toMatchObject({ status: 400, body: { errors: [{ path: 'until' }] } })
  // Later than a busy machine takes for the request.
  const soon = new Date(Date.now() + 2_000).toISOString()
  expect((await server.post(`${q}/dead-letters/snooze`, { ...review, filter: { snoozed: false }, until: soon })).body).toEqual({ snoozed: ['d1', 'd2'] })
  await until(async () => (await server.get(`${q}/depth`)).body.byStatus.pending === 2)
  const { events } = (await server.get(`${q}/tasks/d1/history`)).body
  expect(events.slice(-2)).toMatchObject([{ type: 'Snoozed', data: { until: soon } }, { type: 'Requeued', data: review }])
})

test('LK-11: a retry of all that match names those that stay, because another task has their key', async () => {
  const q = await dead(2)
  const [{ idempotencyKey }] = (await server.get(`${q}/dead-letters`)).body.tasks
  await server.post(`${q}/tasks`, { id: 'rival', type: 't', idempotencyKey })
  expect((await server.post(`${q}/dead-letters/retry`, { ...review, filter: {} })).body).toEqual({ retried: ['d1'], skipped: ['d0'] })
  expect((await server.post(`${q}/dead-letters/retry`, { ...review, filter: {} })).body).toEqual({ retried: [], skipped: ['d0'] })
  await server.post(`${q}/tasks/rival/cancel`, { reason: 'r' })
  expect((await server.post(`${q}/dead-letters/retry`, { ...review, filter: {} })).body).toEqual({ retried: ['d0'] })
})

test('LK-11: escalate: one or all that match, shown and listed by filter', async () => {
  const q = await dead(3)
  expect((await server.post(`${q}/dead-letters/d1/escalate`, review)).body).toEqual({ escalated: ['d1'] })
  expect((await server.get(`${q}/dead-letters?escalated=true`)).body.tasks).toMatchObject([{ id: 'd1', deadLetter: { escalated: review } }])
  expect((await server.post(`${q}/dead-letters/escalate`, { ...review, filter: { error: 'boom d2' } })).body).toEqual({ escalated: ['d2'] })
  expect((await server.post(`${q}/dead-letters/retry`, { ...review, filter: { escalated: true } })).body).toEqual({ retried: ['d1', 'd2'] })
  expect(await server.post(`${q}/dead-letters/d1/escalate`, review)).toMatchObject({ status: 409, body: { code: 'wrong-state' } })
})

test('LK-11: dead letters are listed with what they hold up', async () => {
  const q = await dead(2)
  await server.post(`${q}/tasks`, { tasks: [{ id: 'next', type: 't', payload: 1, dependencies: ['d1'] }] })
  const { tasks } = (await server.get(`${q}/dead-letters`)).body
  expect(tasks.map(({ deadLetter }: Body) => deadLetter.holdsUp)).toEqual([undefined, { dependents: 1, inLine: 0 }])
  expect((await server.get(`${q}/tasks/d1`)).body.deadLetter.holdsUp).toEqual({ dependents: 1, inLine: 0 })
})

test('LK-11: a redrive: dry run with the count, progress, one at a time, and its end', async () => {
  const q = await dead(5)
  const filter = { type: 't' }
  expect((await server.post(`${q}/dead-letters/retry`, { ...review, filter, dryRun: true })).body).toEqual({ retried: [], count: 5 })
  expect((await server.get(`${q}/dead-letters/redrive`)).body).toEqual({ redrive: null })
  const begun = await server.post(`${q}/dead-letters/retry`, { ...review, filter, perMinute: 1 })
  expect(begun.body).toMatchObject({ count: 5, retried: [], redrive: { filter, perMinute: 1, retried: 0, ...review } })
  await until(async () => (await server.get(`${q}/dead-letters/redrive`)).body.redrive.retried === 1)
  expect(await server.post(`${q}/dead-letters/retry`, { ...review, filter, perMinute: 1 })).toMatchObject({ status: 409, body: { code: 'conflict' } })
  const stopped = await server.call('DELETE', `${q}/dead-letters/redrive?reason=enough`)
  expect(stopped.body.redrive).toMatchObject({ retried: 1, nextAt: null, stopped: { cause: 'by-hand' } })
  expect(await server.call('DELETE', `${q}/dead-letters/redrive`)).toMatchObject({ status: 404 })

  await server.post(`${q}/dead-letters/retry`, { ...review, filter, perMinute: 60_000 })
  await until(async () => (await server.get(`${q}/dead-letters/redrive`)).body.redrive.stopped?.cause === 'nothing-left')
  expect((await server.get(`${q}/depth`)).body.byStatus).toMatchObject({ pending: 5, 'dead-letter': 0 })
})
