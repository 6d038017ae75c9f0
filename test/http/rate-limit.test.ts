/** LK-16: rate limits over real sockets. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Body, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const queueOf = async (...tasks: ReadonlyArray<Body>): Promise<string> => {
  const q = `/api/queues/r${++count}`
  await server.post(`${q}/tasks`, { tasks: tasks.map((task, i) => ({ type: 't', idempotencyKey: `k${i}`, ...task })) })
  return q
}
const claims = async (q: string, agentId: string): Promise<ReadonlyArray<Body>> => (await server.post(`${q}/claims`, { agentId, max: 9 })).body.claims
const secondsFrom = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1_000

test.each<readonly [string, Body, number, number]>([
  ['Retry-After in seconds', { message: 'slow down', code: 'rate_limited', retryAfter: 120 }, 120, 120],
  ['Retry-After in the text', '429 Too Many Requests (Retry-After: 90)', 90, 90],
  ['no Retry-After', 'rate limit exceeded', 60, 66],
  ['a hostile one: a year', { message: 'no', retryAfter: 31_536_000 }, 86_400, 86_400],
  ['a hostile one: negative', { message: 'no', retryAfter: -1 }, 60, 66],
  ['a hostile one: a date in the past', { message: 'no', retryAfter: 'Thu, 01 Jan 1970 00:00:00 GMT' }, 60, 66],
  ['a hostile one: no number', { message: 'no', retryAfter: 'NaN' }, 60, 66],
])('LK-16: %s', async (_, error, least, most) => {
  const q = await queueOf({ id: 'a', maxRetries: 1 }, { id: 'b', type: 'u' })
  const [first] = await claims(q, 'w1')
  const failed = await server.post(`${q}/tasks/a/fail`, { agentId: 'w1', token: first.lease.token, error, checkpoint: { page: 3 } })
  expect(failed.body.status).toBe('scheduled')
  const { events } = (await server.get(`${q}/tasks/a/history`)).body
  const limited = events.find(({ type }: Body) => type === 'RateLimited')
  const waits = secondsFrom(limited.at, limited.data.availableAt)
  expect(waits).toBeGreaterThanOrEqual(least)
  expect(waits).toBeLessThanOrEqual(most)
  expect(failed.body.availableAt).toBe(limited.data.availableAt)
  const { body: shown } = await server.get(`${q}/tasks/a`)
  expect(shown).toMatchObject({ status: 'scheduled', retries: 0, attempts: 0, rateLimits: 1, checkpoint: { page: 3 } })
  expect((await server.get(`${q}/breakers`)).body.breakers).toEqual({})
  // The agent sleeps, and the others slow down by half the wait.
  const all = (await server.get(`${q}/events?limit=100`)).body.events
  const slow = all.find(({ type }: Body) => type === 'SlowdownSignalled')
  expect((slow.data.until - Date.parse(slow.at)) / 1_000).toBeCloseTo(Math.min(waits, 3_600) / 2, 2)
  expect(await claims(q, 'w1')).toEqual([])
})

test('LK-16: explain names the slow-down and its end, and that the agent sleeps; agents that ask for another type work on', async () => {
  const q = await queueOf({ id: 'a' }, { id: 'b' }, { id: 'c', type: 'u' })
  const { body: { claims: [first] } } = await server.post(`${q}/claims`, { agentId: 'w1' })
  await server.post(`${q}/tasks/a/fail`, { agentId: 'w1', token: first.lease.token, error: { message: '429', retryAfter: 100 } })
  const explained = await server.get(`${q}/tasks/b/explain`)
  expect(explained.body).toMatchObject({ runnable: false, reasons: [{ code: 'slow-down', until: expect.any(String) }] })
  expect((await server.get(`${q}/tasks/c/explain?agentId=w1`)).body).toMatchObject({ runnable: false, reasons: [{ code: 'agent-sleeps', until: expect.any(String) }] })
  expect((await server.get(`${q}/tasks/a`)).body.reasons[0]).toMatchObject({ code: 'scheduled', message: 'it met a rate limit, and is tried again later' })
  expect((await claims(q, 'w2')).map(({ task }) => task.id)).toEqual(['c'])
  await server.post(`${q}/agents`, { agentId: 'w1' })
  const agents = (await server.get(`${q}/agents`)).body.agents
  expect(agents.map(({ agentId }: Body) => agentId)).toContain('w2')
  // An agent that sleeps is not idle for want of tasks.
  const { data: { availableAt } } = (await server.get(`${q}/tasks/a/history`)).body.events.find(({ type }: Body) => type === 'RateLimited')
  expect(agents.map(({ agentId, sleepsUntil }: Body) => [agentId, sleepsUntil])).toEqual([['w1', availableAt], ['w2', undefined]])
  expect((await server.get('/metrics')).text).toContain(`daybook_slowed_types{queue="${q.split('/').at(-1)}"} 1\n`)
})

test('LK-16: the settings are checked', async () => {
  const patch = (rateLimit: Body) => server.call('PATCH', '/api/queues/r-settings/settings', { rateLimit })
  expect((await patch({ maxPerTask: 0, base: 1 })).body.rateLimit).toEqual({ base: 1, max: 3_600, jitter: 0.1, slowdownFactor: 0.5, maxPerTask: 0 })
  for (const wrong of [{ base: 0 }, { slowdownFactor: 2 }, { maxPerTask: -1 }, { wait: 1 }]) expect((await patch(wrong)).status).toBe(400)
})
