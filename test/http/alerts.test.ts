/** EV-08: alerts over HTTP, raised by the server itself. */
import { createDaybook } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/queue.js'
import { startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  const store = openMemoryStore()
  server = await startTestServer({ daybook: createDaybook({ store, alerts: true }) }, store)
})
afterAll(() => server.stop())

const q = '/api/queues/q'
const alerts = async () => (await server.get(`${q}/alerts`)).body.alerts

test('EV-08, LK-10: a dead letter raises an alert without another command, and its review clears it', async () => {
  expect(await alerts()).toEqual([])
  await server.post(`${q}/tasks`, { id: 'a', type: 'mail', maxRetries: 1 })
  const { body: { claims: [{ lease }] } } = await server.post(`${q}/claims`, { agentId: 'w' })
  await server.post(`${q}/tasks/a/fail`, { agentId: 'w', token: lease.token, error: 'no luck' })
  await until(async () => (await alerts()).length === 1)
  expect(await alerts()).toEqual([{ key: 'dead-letters:mail', kind: 'dead-letters', message: expect.stringContaining('tasks of type mail were given up'), raisedAt: expect.stringMatching(/Z$/) }])
  await server.post(`${q}/dead-letters/a/discard`, { reviewer: 'ada', reason: 'seen' })
  await until(async () => (await alerts()).length === 0)
  const { body: { events } } = await server.get(`${q}/events`)
  expect(events.map(({ type, actor }: { type: string; actor: string }) => `${type} by ${actor}`).filter((text: string) => text.startsWith('Alert'))).toEqual(['AlertRaised by daybook', 'AlertCleared by daybook'])
})

test('TQM-OBS-003: failed attempts of the last hour are in the metrics, by phase and by kind of discovery', async () => {
  const of = '/api/queues/failing'
  await server.post(`${of}/tasks`, { id: 'a', type: 'mail', phase: 'TESTING', discovery: 'flaky_test' })
  const { body: { claims: [{ lease }] } } = await server.post(`${of}/claims`, { agentId: 'w' })
  await server.post(`${of}/tasks/a/fail`, { agentId: 'w', token: lease.token, error: 'no luck' })
  const { text } = await server.get('/metrics')
  expect(text.split('\n').filter((line) => line.startsWith('daybook_failed_attempts{queue="failing"'))).toEqual([
    'daybook_failed_attempts{queue="failing",by="phase",name="TESTING"} 1',
    'daybook_failed_attempts{queue="failing",by="discovery",name="flaky_test"} 1',
  ])
})

test('the limit is a setting', async () => {
  expect((await server.call('PATCH', `${q}/settings`, { alerts: { criticalDepthSeconds: 0 } })).body.alerts).toEqual({ criticalDepthSeconds: 0, retrySpikeMin: 10 })
  await server.post(`${q}/tasks`, { type: 'urgent', priority: 'CRITICAL' })
  await until(async () => (await alerts()).some(({ kind }: { kind: string }) => kind === 'critical-waiting'))
  expect((await server.call('PATCH', `${q}/settings`, { alerts: { criticalDepthSeconds: -1 } })).status).toBe(400)
})

test('scrapes at the same time do not disturb each other: each has every alert once', async () => {
  // So many that a scrape begins while another one still reads.
  for (let i = 0; i < 50; i++) await server.post(`/api/queues/other-${i}/tasks`, { type: 'mail' })
  const of = '/api/queues/scraped'
  await server.post(`${of}/tasks`, { id: 'a', type: 'mail', maxRetries: 1 })
  const { body: { claims: [{ lease }] } } = await server.post(`${of}/claims`, { agentId: 'w' })
  await server.post(`${of}/tasks/a/fail`, { agentId: 'w', token: lease.token, error: 'no luck' })
  await until(async () => (await server.get(`${of}/alerts`)).body.alerts.length === 1)
  const texts = await Promise.all(Array.from({ length: 8 }, async () => (await server.get('/metrics')).text))
  for (const text of texts) expect(text).toContain('daybook_alerts{queue="scraped",kind="dead-letters"} 1\n')
})
