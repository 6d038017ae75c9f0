/** Acknowledged means durable, to the letter: `kill -9`, again and again, over one database file (EV-03). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixedSeed, runSeed } from '../support/seed.js'
import { useChildren } from './child.js'
import { KilledQueue } from './killed-queue.js'

useChildren()

const underLoad = 50
let queue: KilledQueue

beforeAll(async () => {
  queue = await KilledQueue.create(runSeed)
})
afterAll(() => queue.end())

test(`INV-9, INV-15, INV-19: ${underLoad} kills under load: everything acknowledged is there once, and every start succeeds`, async () => {
  // The situations in which the kills fall depend on chance and on the machine. So kills go on until each situation has occurred often enough.
  const enough = (): boolean => queue.fromSnapshot > 10 && queue.carried > 10 && queue.retried > 1 && queue.exchanges.length > 5 * underLoad
  for (let i = 1; i <= underLoad || (!enough() && i <= 5 * underLoad); i++) {
    await queue.runAndKill({ after: 'ready', answersMin: 1, answersMax: i % 10 === 0 ? 120 : 40, msMax: 10 })
    if (i % 20 === 0) await queue.check()
  }
  await queue.checkSnapshotsAreRemoved()
  const log = await queue.check()
  expect(queue.kills).toBeGreaterThanOrEqual(underLoad)
  expect(queue.starts).toBe(queue.kills)
  expect(enough(), JSON.stringify([queue.exchanges.length, queue.fromSnapshot, queue.carried, queue.retried])).toBe(true)
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
  await queue.checkSnapshotsAreRemoved()
  await queue.check()
  expect(queue.warnings).toEqual([])
}, 600_000)

test('teeth: a process that acknowledges before it is durable is caught', async () => {
  const hasty = await KilledQueue.create(fixedSeed, 'early')
  const caught = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) {
      await hasty.runAndKill({ after: 'ready', answersMin: 20, answersMax: 40, msMax: 10 })
      await hasty.check()
    }
  }
  await expect(caught()).rejects.toThrow('INV-19')
  await hasty.end()
}, 600_000)
