/** The cost of cancelling a task on which many others depend, in records that are made again from the bytes of finished tasks. */
import { FinishedByText } from '@daybook/core/testing'
import { expect, test, vi } from 'vitest'
import { Queue, task } from './queue.js'

/** How many finished tasks are read while the first of a chain is cancelled, and with it all others. */
const readsOf = (length: number): number => {
  const q = new Queue()
  q.enqueue(...Array.from({ length }, (_, i) => task(`t${i}`, i === 0 ? {} : { dependencies: [`t${i - 1}`] })))
  const reads = vi.spyOn(FinishedByText.prototype, 'get')
  try {
    q.do({ type: 'Cancel', task: 't0', reason: 'not needed any more' })
    return reads.mock.calls.length
  } finally {
    reads.mockRestore()
  }
}

test('INV-8: cancelling a chain reads no more finished tasks the longer the chain is', () => {
  expect(readsOf(400)).toBe(readsOf(4))
})
