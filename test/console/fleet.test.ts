import { expect, test } from 'vitest'
import { withoutBrowser } from './browser.js'
import { useConsoleServer } from './server.js'

const server = useConsoleServer()

test.skipIf(withoutBrowser)('the fleet of the console\'s tests has something for each page to show', async () => {
  const { admin } = server()
  const { byStatus, byTenant } = await admin.depth()
  for (const status of ['scheduled', 'waiting', 'blocked', 'pending', 'in-progress', 'completed', 'dead-letter'] as const) expect(byStatus[status], status).toBeGreaterThan(0)
  expect(byStatus.completed).toBeGreaterThan(300)
  expect(Object.keys(byTenant).sort()).toEqual(['acme', 'globex', 'initech'])
  const patterns = await admin.deadLetters.patterns()
  expect(new Set(patterns.map(({ signature }) => signature)).size).toBeGreaterThanOrEqual(5)
  expect((await admin.breakers.list())['ops-security']).toMatchObject({ state: 'open' })
  expect((await admin.agents.list()).filter(({ status }) => status === 'working').length).toBeGreaterThanOrEqual(3)
  expect((await admin.approvals.list()).length).toBeGreaterThan(0)
  // Whether the others have run in the fleet's six hours depends on the time of day.
  const schedules = await admin.schedules.list()
  expect(schedules.map(({ name }) => name).sort()).toEqual(['month-end', 'nightly-backup', 'triage'])
  expect(schedules.find(({ name }) => name === 'triage')?.last.length).toBeGreaterThan(0)
  expect((await admin.limits.list()).length).toBe(3)
  expect((await admin.queues()).map(({ name }) => name)).toEqual(['default', 'mail', 'nightly'])
  // Over several hours, so that charts have something to show.
  expect((await admin.report('throughput', { bucket: 'hour', from: new Date(Date.now() - 6 * 3_600_000) })).rows.filter(({ completed }) => Number(completed) > 0).length).toBeGreaterThanOrEqual(5)
})
