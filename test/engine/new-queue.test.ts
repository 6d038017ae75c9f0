/** A new queue and the settings that new queues begin with: they are there with its first event, and not before (INV-16). */
import { headOf } from '@daybook/core'
import { openMemoryStore } from '@daybook/adapters/memory'
import { expect, test } from 'vitest'
import { caller, codeOf, enqueue, logOf, ok, openQueue, stateText, task, textOf, foldAll, typesIn } from '../support/queue.js'

test('INV-16: a first command that the settings for new queues refuse leaves no queue behind', async () => {
  const { engine, store } = await openQueue({ defaults: { tenants: 'isolated' } })
  expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe('invalid')
  expect(engine.status().revision).toBe(-1)
  expect(await logOf(store)).toEqual([])
  expect(codeOf(await engine.submit(enqueue(task('b', { tenant: 't' })), caller))).toBe('success')
  expect(await typesIn(store)).toEqual(['QueueConfigured', 'TaskEnqueued'])
  expect(ok(await engine.read((state) => headOf(state).settings.tenants))).toBe('isolated')
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
})

test('INV-16: a first command that is too large for one append leaves no queue behind, and the settings begin with the next one', async () => {
  const inner = openMemoryStore()
  const { engine, store } = await openQueue({ store: { ...inner, limits: { ...inner.limits, appendEventsMax: 4 } }, defaults: { tenants: 'isolated' } })
  const tasks = (n: number) => enqueue(...Array.from({ length: n }, (_, i) => task(`t${i}`, { tenant: 't' })))
  // Four alone would fit, but not with the settings.
  const outcomes = await engine.submitAll([tasks(9), tasks(4)], caller)
  expect(outcomes.map(codeOf)).toEqual(['too-large', 'too-large'])
  expect(engine.status().revision).toBe(-1)
  expect(await logOf(store)).toEqual([])
  expect(codeOf(await engine.submit(tasks(3), caller))).toBe('success')
  expect(await typesIn(store)).toEqual(['QueueConfigured', 'TaskEnqueued', 'TaskEnqueued', 'TaskEnqueued'])
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
})
