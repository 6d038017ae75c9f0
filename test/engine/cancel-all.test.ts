/** A filter may match more tasks than one append can cancel. They are cancelled in parts, and each part includes its dependents. */
import { openMemoryStore } from '@daybook/adapters/memory'
import { depthOf, headOf, listTasks } from '@daybook/core'
import { expect, test } from 'vitest'
import { caller, configure, enqueue, ok, openQueue, task } from '../support/queue.js'

test.each([10, 25, 64])('with at most %i events per append', async (appendEventsMax) => {
  const inner = openMemoryStore()
  const { engine } = await openQueue({ store: { ...inner, limits: { ...inner.limits, appendEventsMax } } })
  // Roots, each with a chain of three tasks that depend on it.
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

test('a deleted queue begins again with the settings for new queues; its status shows that it is deleted', async () => {
  const { engine } = await openQueue({ defaults: { maxAttempts: 3 } })
  ok(await engine.submit(configure({ maxAttempts: 9 }), caller))
  expect(engine.status().deleted).toBeNull()
  ok(await engine.submit({ type: 'DeleteQueue', reason: 'a slip' }, caller))
  expect(engine.status().deleted).toBe('a slip')
  ok(await engine.submit(enqueue('a'), caller))
  expect(engine.status().deleted).toBeNull()
  expect(ok(await engine.read(headOf))).toMatchObject({ settings: { maxAttempts: 3 }, deleted: null })
})
