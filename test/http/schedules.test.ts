/** Schedules over HTTP, and by the client. */
import { createClient } from '@daybook/adapters/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminToken, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const q = '/api/queues/q'
const task = { type: 'report', payload: { of: 'day' }, priority: 'HIGH', requires: { skills: ['sql'] } }

test('INV-27: a schedule is created, shown, changed, paused, listed and removed', async () => {
  const created = await server.post(`${q}/schedules`, { name: 'nightly', cron: '30 2 * * *', timeZone: 'Europe/Berlin', task })
  expect([created.status, created.body]).toEqual([201, expect.objectContaining({ name: 'nightly', cron: '30 2 * * *', timeZone: 'Europe/Berlin', missed: 'once', overlap: 'allow', paused: false, task, last: [] })])
  expect(created.body.next).toHaveLength(5)
  expect(created.revision).toBe(0)
  // The same request again changes nothing, another one is refused.
  expect(await server.post(`${q}/schedules`, { name: 'nightly', cron: '30 2 * * *', timeZone: 'Europe/Berlin', task })).toMatchObject({ status: 201, revision: 0 })
  expect(await server.post(`${q}/schedules`, { name: 'nightly', every: 60, task })).toMatchObject({ status: 409, body: { code: 'conflict' } })
  expect(await server.call('PATCH', `${q}/schedules/nightly`, { paused: true, missed: 'skip', overlap: 'queue' })).toMatchObject({ status: 200, body: { paused: true, missed: 'skip', overlap: 'queue', next: [] } })
  expect((await server.get(`${q}/schedules`)).body).toMatchObject({ schedules: [{ name: 'nightly', paused: true, next: [] }], revision: 1 })
  expect(await server.call('DELETE', `${q}/schedules/nightly`)).toMatchObject({ status: 200, body: { name: 'nightly', removed: true } })
  for (const method of ['GET', 'DELETE'] as const) expect(await server.call(method, `${q}/schedules/nightly`)).toMatchObject({ status: 404, body: { detail: 'queue q has no schedule nightly' } })
  expect(await server.call('PATCH', `${q}/schedules/nightly`, { paused: true })).toMatchObject({ status: 404 })
})

test.each([
  [{ name: 'n', task }, 'cron', 'is required, or every'],
  [{ name: 'n', cron: '0 25 * * *', task }, 'cron', 'hour'],
  [{ name: 'n', cron: '0 2 * * *', timeZone: 'Berlin', task }, 'timeZone', 'IANA'],
  [{ name: 'a b', every: 60, task }, 'name', 'schedule name'],
  [{ name: 'n', every: 0.5, task }, 'every', 'whole number'],
  [{ name: 'n', every: 60, task: { ...task, availableAt: '2026-01-05T09:00:00Z' } }, 'task.availableAt', 'is not a field here'],
  [{ name: 'n', every: 60, task: { ...task, generation: 99 } }, 'task.generation', 'is not a field here'],
  [{ name: 'n', every: 60, task: { ...task, payload: 2 ** 60 } }, 'task.payload', '9007199254740991'],
])('refused: %j', async (body, path, message) => {
  const answer = await server.post(`${q}/schedules`, body)
  expect([answer.status, answer.body.errors]).toEqual([400, expect.arrayContaining([{ path, message: expect.stringContaining(message) }])])
})

test('INV-27: a run is a task like any other: a worker gets it with its content, and its history begins with the run', async () => {
  const client = createClient({ url: server.http.url, token: adminToken, queue: 'runs' })
  await client.schedules.create('often', { every: 1, task: { type: 'ping', payload: { n: 1 }, description: 'again' } })
  const [claim] = await client.claim({ agentId: 'w', wait: 30 })
  expect(claim?.task).toMatchObject({ type: 'ping', payload: { n: 1 }, description: 'again', id: expect.stringMatching(/^often@20\d\d-/) })
  const { id } = claim!.task
  expect((await client.history(id)).map(({ type }) => type)).toEqual(['ScheduleRan', 'TaskEnqueued', 'Claimed'])
  await client.schedules.change('often', { paused: true })
  const { last } = await client.schedules.get('often')
  expect(last.map((run) => run.task)).toContain(id)
  expect(await client.schedules.list()).toMatchObject([{ name: 'often', every: 1, paused: true }])
  await client.schedules.remove('often')
  expect(await client.schedules.list()).toEqual([])
  await client.close()
})
