import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '@daybook/adapters/embedded'
import { expect, test } from 'vitest'
import { withoutBrowser } from './browser.js'
import { seedFleet } from './fleet.js'
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

interface Fleet {
  readonly deadLetters: ReadonlyArray<string>
  /** Of the dead letters, in the same order. */
  readonly numbers: ReadonlyArray<number>
  /** The schedules that were due in its six hours. */
  readonly due: ReadonlyArray<string>
}

const fleetUntil = async (end: number): Promise<Fleet> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-fleet-'))
  try {
    await seedFleet(dataDir, end)
    const client = await openEmbedded({ dataDir, engine: { clock: () => end, clockJumpMs: Number.POSITIVE_INFINITY } })
    try {
      const { tasks } = await client.deadLetters.list({ limit: 500 })
      const schedules = await client.schedules.list()
      return { deadLetters: tasks.map(({ id }) => id), numbers: tasks.map(({ number }) => number), due: schedules.filter(({ last }) => last.length > 0).map(({ name }) => name) }
    } finally {
      await client.close()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

test('the same tasks are dead letters at whatever time of day the tests run', async () => {
  const byDay = await fleetUntil(Date.UTC(2026, 10, 28, 15, 10))
  const byNight = await fleetUntil(Date.UTC(2026, 10, 28, 7, 10))
  expect(byDay.due).toEqual(['triage'])
  expect(byNight.due).toEqual(['nightly-backup', 'triage'])
  // The task of the backup has taken a number, so what depends on numbers differs.
  expect(byNight.numbers).not.toEqual(byDay.numbers)
  expect(byNight.deadLetters).toEqual(byDay.deadLetters)
})
