/** A filter may match more than one append holds: it is cancelled in parts, and no part leaves behind what depends on it. */
import { openMemoryStore } from '@daybook/adapters/memory'
import { depthOf, headOf, listTasks } from '@daybook/core'
import { expect, test } from 'vitest'
import { caller, configure, enqueue, ok, openQueue, task } from '../support/queue.js'

test.each([10, 25, 64])('where an append holds %i events', async (appendEventsMax) => {
  const inner = openMemoryStore()
  const { engine } = await openQueue({ store: { ...inner, limits: { ...inner.limits, appendEventsMax } } })
  // Roots with three tasks behind each, which depend on one another.
  for (let i = 0; i < 60; i++) {
    ok(await engine.submit(enqueue(task(`${i}`, { type: 'root' }), task(`${i}-a`, { dependencies: [`${i}`] }), task(`${i}-b`, { dependencies: [`${i}-a`] }), task(`${i}-c`, { dependencies: [`${i}-b`] })), caller))
  }
  const cancelled = new Set<string>()
  let parts = 0
  for (let after: string | undefined; ; parts++) {
    const reply = ok(await engine.submit({ type: 'CancelAll', filter: { type: 'root' }, reason: 'r', ...(after === undefined ? {} : { after }) }, caller))
    for (const id of reply.cancelled) cancelled.add(id)
    const waiting = ok(await engine.read((state) => listTasks(state, { statuses: ['blocked'] }, 1_000).tasks))
    for (const { dependencies } of waiting) expect(dependencies.filter((id) => cancelled.has(id))).toEqual([])
    if (reply.next === undefined) break
    after = reply.next
  }
  expect([cancelled.size, parts > 0]).toEqual([240, true])
  expect(ok(await engine.read(depthOf)).byStatus).toMatchObject({ cancelled: 240, pending: 0, blocked: 0 })
})

test('a deleted queue begins anew with the settings that new queues begin with here; whoever looks at its status knows that it is deleted', async () => {
  const { engine } = await openQueue({ defaults: { maxAttempts: 3 } })
  ok(await engine.submit(configure({ maxAttempts: 9 }), caller))
  expect(engine.status().deleted).toBeNull()
  ok(await engine.submit({ type: 'DeleteQueue', reason: 'a slip' }, caller))
  expect(engine.status().deleted).toBe('a slip')
  ok(await engine.submit(enqueue('a'), caller))
  expect(engine.status().deleted).toBeNull()
  expect(ok(await engine.read(headOf))).toMatchObject({ settings: { maxAttempts: 3 }, deleted: null })
})
