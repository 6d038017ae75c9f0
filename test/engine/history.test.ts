/** A task's history is read by following the links of its events, many events per read if they are close together. */
import { historyOf, viewOf } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { expect, test } from 'vitest'
import { caller, claim, complete, enqueue, ok, openQueue } from '../support/queue.js'

/** Counts reads of the log. */
const counted = (inner: EventStore) => {
  const asked = { reads: 0 }
  const store: EventStore = {
    ...inner,
    read: (...args) => (asked.reads++, inner.read(...args)),
    pick: (...args) => (asked.reads++, inner.pick(...args)),
  }
  return { store, asked }
}

test.each([
  ['close together', 0, 20],
  ['among those of others', 3, 60],
  ['far apart', 100, 205],
])('the history of a task with 200 heartbeats, %s', async (_, others, readsMax) => {
  const { store, asked } = counted(openMemoryStore())
  const { engine } = await openQueue({ store })
  await engine.submit(enqueue('a'), caller)
  const [held] = ok(await engine.claim(claim('ann'), caller))
  for (let beat = 0; beat < 200; beat++) {
    await engine.submit({ type: 'Heartbeat', task: 'a', agent: 'ann', token: held!.token }, caller)
    await engine.submitAll(Array.from({ length: others }, (__, i) => enqueue(`${beat} ${i}`)), caller)
  }
  await engine.submit(complete(held!), caller)
  asked.reads = 0
  const history = ok(await historyOf(viewOf(engine, store), 'a'))?.events ?? []
  expect(history.map(({ type }) => type)).toEqual(['TaskEnqueued', 'Claimed', ...Array<string>(200).fill('LeaseExtended'), 'Completed'])
  expect(history.every(({ data }) => data.startsWith('{"task":"a"'))).toBe(true)
  expect(asked.reads).toBeLessThanOrEqual(readsMax)
})
