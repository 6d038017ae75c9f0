/** Acknowledged means durable, to the letter: `kill -9`, again and again, over one database file (EV-03). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runSeed } from '../support/seed.js'
import { KilledQueue } from './killed-queue.js'

const underLoad = 100
let queue: KilledQueue

beforeAll(async () => {
  queue = await KilledQueue.create(runSeed)
})
afterAll(() => queue.end())

test(`INV-9, INV-15, INV-19: ${underLoad} kills under load: everything acknowledged is there once, and every start succeeds`, async () => {
  for (let i = 1; i <= underLoad; i++) {
    await queue.runAndKill({ after: 'ready', answersMin: 1, answersMax: i % 10 === 0 ? 120 : 40, msMax: 10 })
    if (i % 20 === 0) await queue.check()
  }
  const log = await queue.check()
  expect(queue.kills).toBe(underLoad)
  expect(queue.starts).toBe(underLoad)
  // Enough happened to be a test:
  expect(queue.exchanges.length).toBeGreaterThan(5 * underLoad)
  expect(queue.fromSnapshot).toBeGreaterThan(10)
  expect(queue.carried).toBeGreaterThan(10)
  expect(queue.retried).toBeGreaterThan(1)
  expect(queue.warnings).toEqual([])
  const types = new Set(log.map(({ event }) => event.type))
  for (const type of ['TaskEnqueued', 'Claimed', 'Completed', 'Failed', 'Released', 'Cancelled', 'DeadLettered', 'ClaimExpired']) {
    expect(types).toContain(type)
  }
}, 1_800_000)

test('INV-15, INV-19: kills while it starts: opening the file, loading the snapshot, replaying, first commands', async () => {
  const before = queue.kills
  for (let i = 0; i < 20; i++) await queue.runAndKill({ after: 'go', msMax: 120 })
  await queue.check()
  expect(queue.kills - before).toBe(20)
}, 600_000)

test('INV-15, INV-19: kills in the middle of a snapshot', async () => {
  for (let i = 0; i < 12; i++) await queue.runAndKill({ after: 'snapshot', msMax: 12 })
  await queue.check()
  await queue.runAndKill({ after: 'ready', answersMax: 20, msMax: 10 })
  await queue.check()
  expect(queue.warnings).toEqual([])
}, 600_000)

test('teeth: a process that acknowledges before it is durable is caught', async () => {
  const hasty = await KilledQueue.create(runSeed, 'early')
  const caught = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) {
      await hasty.runAndKill({ after: 'ready', answersMin: 20, answersMax: 40, msMax: 10 })
      await hasty.check()
    }
  }
  await expect(caught()).rejects.toThrow('INV-19')
  await hasty.end()
}, 600_000)
