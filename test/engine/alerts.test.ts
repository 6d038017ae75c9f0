/** EV-08: alerts are raised and cleared once, across restarts and several servers. */
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { alertsOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { caller, claim, enqueue, fail, logOf, ok, openQueue, sleep, task, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const alertsIn = async (store: EventStore) =>
  (await logOf(store)).flatMap(({ type, data }) => (type.startsWith('Alert') ? [`${type} ${(JSON.parse(data) as { key: string }).key}`] : []))

test('EV-08: two servers and a restart: a condition is raised once and cleared once', async () => {
  const inner = openMemoryStore({ isShared: true })
  const open = () => openQueue({ store: inner, alerts: true })
  const [one, two] = [await open(), await open()]
  ok(await one.engine.submit(enqueue(task('a', { maxRetries: 1 })), caller))
  const [held] = ok(await two.engine.claim(claim(), caller, { waitMs: 5_000 }))
  ok(await two.engine.submit(fail(held!), caller))
  await until(async () => (await alertsIn(inner)).length > 0)
  await sleep(10_000)
  await one.engine.close()
  const three = await open()
  await sleep(10_000)
  expect(await alertsIn(inner)).toEqual(['AlertRaised dead-letters:work'])
  expect(ok(await three.engine.read(alertsOf)).map(({ key }) => key)).toEqual(['dead-letters:work'])
  ok(await three.engine.submit({ type: 'Discard', task: 'a', reviewer: 'r', reason: 'x' }, caller))
  await sleep(10_000)
  expect(await alertsIn(inner)).toEqual(['AlertRaised dead-letters:work', 'AlertCleared dead-letters:work'])
  await Promise.all([two.engine.close(), three.engine.close()])
})

test('TQM-OBS-002: a CRITICAL task that waits for a minute raises an alert when the minute is over; the engine sleeps until then', async () => {
  const { engine, store } = await openQueue({ alerts: true })
  ok(await engine.submit(enqueue(task('a', { priority: 10 })), caller))
  await sleep(59_900)
  expect([await alertsIn(store), store.appends.length]).toEqual([[], 1])
  await sleep(200)
  expect(await alertsIn(store)).toEqual(['AlertRaised critical-waiting'])
  ok(await engine.claim(claim(), caller))
  await sleep(1)
  expect(await alertsIn(store)).toEqual(['AlertRaised critical-waiting', 'AlertCleared critical-waiting'])
  await sleep(10_000)
  expect(store.appends.length).toBe(4)
  await engine.close()
})

test('an engine that is not asked for alerts raises none', async () => {
  const { engine, store } = await openQueue()
  ok(await engine.submit(enqueue(task('a', { priority: 10 })), caller))
  await sleep(120_000)
  expect(await alertsIn(store)).toEqual([])
  await engine.close()
})
