/** SEC-8: how often a token may be used. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openTokens, type Tokens, turnsAt } from '@daybook/adapters/auth'
import { createClient } from '@daybook/adapters/client'
import { adminToken, startTestServer, type TestServer } from './support.js'

let server: TestServer
let tokens: Tokens
beforeAll(async () => {
  tokens = openTokens({ dir: 'memory', adminToken }).tokens
  server = await startTestServer({ tokens })
})
afterAll(async () => {
  await server.stop()
  await tokens.close()
})

test('SEC-8: in any time, no more are admitted than the burst and what the rate gives; whoever waits as told is admitted', () => {
  const rate = fc.record({ perSecond: fc.double({ min: 0.01, max: 1_000, noNaN: true }), burst: fc.integer({ min: 1, max: 50 }) })
  fc.assert(
    fc.property(rate, fc.array(fc.double({ min: 0, max: 2_000, noNaN: true }), { maxLength: 200 }), ({ perSecond, burst }, pauses) => {
      const take = turnsAt({ perSecond, burst })
      const admitted: Array<number> = []
      let now = 0
      for (const pause of pauses) {
        now += pause
        const waitMs = take(now)
        if (waitMs === 0) admitted.push(now)
        else {
          // A refused request does not count: the next one gets the same answer.
          expect(take(now)).toBe(waitMs)
          now += waitMs
          expect(take(now)).toBe(0)
          admitted.push(now)
        }
      }
      for (let first = 0; first < admitted.length; first++) {
        for (let last = first; last < admitted.length; last++) {
          const span = (admitted[last] as number) - (admitted[first] as number)
          expect(last - first + 1).toBeLessThanOrEqual(burst + (span * perSecond) / 1_000 + 0.01)
        }
      }
    }),
  )
})

test('SEC-8: a token is refused when it is used too often, with the time to wait; others and open routes are not', async () => {
  const made = await server.post('/api/tokens', { name: 'slow', roles: ['auditor'], rate: { perSecond: 0.001, burst: 3 } })
  expect(made.body.rate).toEqual({ perSecond: 0.001, burst: 3 })
  const slow = { headers: { authorization: `Bearer ${made.body.token}` } }
  // Requests that are refused for another reason count, too.
  expect((await server.get('/api/queues', slow)).status).toBe(200)
  expect((await server.post('/api/queues/q/tasks', { type: 't' }, slow)).status).toBe(403)
  expect((await server.get('/api/queues', slow)).status).toBe(200)
  const refused = await server.get('/api/queues', slow)
  expect(refused).toMatchObject({ status: 429, body: { code: 'too-many-requests' } })
  expect(refused.body.retryAfterSeconds).toBeGreaterThan(0)
  expect(refused.body.retryAfterSeconds).toBeLessThanOrEqual(1_000)
  expect(Number(refused.headers.get('retry-after'))).toBe(Math.ceil(refused.body.retryAfterSeconds))
  expect((await server.get('/healthz', slow)).status).toBe(200)
  expect((await server.get('/api/queues')).status).toBe(200)
  const status = await new Promise((resolve, reject) => {
    const socket = new WebSocket(`${server.http.url.replace('http', 'ws')}/api/ws`, slow)
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode)).on('open', () => reject(new Error('admitted'))).on('error', () => undefined)
  })
  expect(status).toBe(429)
})

test('SEC-8: the client waits for its turn', async () => {
  const { body } = await server.post('/api/tokens', { name: 'patient', roles: ['producer', 'auditor'], rate: { perSecond: 20, burst: 1 } })
  const client = createClient({ url: server.http.url, token: body.token, queue: 'patient' })
  for (let n = 1; n <= 3; n++) {
    expect((await client.enqueue({ type: 't', payload: n })).number).toBe(n)
    expect((await client.depth()).total).toBe(n)
  }
  await client.close()
})

test('the burst is by default what the rate gives in a second, and at least one', async () => {
  const burstOf = async (name: string, perSecond: number) => (await server.post('/api/tokens', { name, roles: ['worker'], rate: { perSecond } })).body.rate.burst
  expect(await burstOf('fast', 12.5)).toBe(13)
  expect(await burstOf('rare', 0.01)).toBe(1)
  for (const rate of [{ perSecond: 0 }, { perSecond: 1, burst: 0 }, { burst: 1 }]) expect((await server.post('/api/tokens', { name: 'none', roles: ['worker'], rate })).status).toBe(400)
})
