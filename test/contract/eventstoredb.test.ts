/**
 * Runs against the real node that `EVENTSTOREDB_URL` names, or else against the protocol server, and prints
 * which.
 */
import { openEngine } from '@daybook/adapters/engine'
import { afterAll, expect, test } from 'vitest'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { eventStoreDbUrl } from '../support/eventstoredb/node.js'
import { caller, codeOf, enqueue } from '../support/queue.js'
import { eventStoreContract } from './event-store-contract.js'

// The largest appends may take a slow machine longer than the store waits otherwise.
const patient = { connectMs: 60_000, appendMs: 60_000, silenceMs: 60_000, readMs: 60_000 }

const node = await eventStoreDbUrl()
afterAll(node.close)

eventStoreContract(`eventstoredb, ${node.what}`, async () => openEventStoreDb({ url: node.url, ...patient }), { numRuns: 30 })

test("a node says its time with each call, and a server whose clock is ahead of it writes nothing, not even when it starts with it", async () => {
  const store = openEventStoreDb({ url: node.url, ...patient })
  const queue = `clock-${crypto.randomUUID()}`
  expect(store.time?.()).toBeUndefined()
  const engineAhead = (hours: number) =>
    openEngine(store, queue, undefined, { skipped: () => undefined, progress: () => undefined }, { clock: () => Date.now() + hours * 3_600_000 })
  const fast = await engineAhead(1)
  // Both clocks are this machine's. The node reports its time in whole seconds, up to two seconds late.
  const { time, heardAt } = store.time?.() ?? { time: 0, heardAt: 0 }
  const behindMs = Date.now() - (performance.now() - heardAt) - time
  expect(behindMs).toBeGreaterThan(-1_000)
  expect(behindMs).toBeLessThan(60_000)
  const refused = await fast.submit(enqueue('a'), caller)
  expect(refused).toMatchObject({ left: { code: 'clock', detail: expect.stringMatching(/is 36\d\d s ahead of the store's/) as string } })
  expect(await store.head(`taskqueue-${queue}`)).toBe(-1)
  await fast.close()
  const right = await engineAhead(0)
  expect(codeOf(await right.submit(enqueue('a'), caller))).toBe('success')
  await right.close()
  await store.close()
})
