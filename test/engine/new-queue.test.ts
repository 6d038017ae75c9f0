/** A new queue and the settings that new queues begin with: they are there with its first event, and not before (INV-16). */
import { headOf } from '@daybook/core'
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
