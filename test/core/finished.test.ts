/** Finished tasks are rows of bytes, and answer like records (ADR 40). */
import { duplicateOf, listTasks, mark, rollback, taskOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { differenceOf, sizesOf, textOf } from '../support/states/index.js'
import { countingRowStore } from '../support/row-store.js'
import { Queue, task } from './queue.js'

const hex = (i: number, digits: number): string => (i * 2_654_435_761).toString(16).padStart(digits, '0').slice(-digits)
/** A task with an id and a key like those that Daybook makes. */
const made = (i: number) => task(`01993f1e-${hex(i, 4)}-7${hex(i, 3)}-8${hex(i, 3)}-${hex(i, 12)}`, { idempotencyKey: hex(i, 64) })

/** The newest 4 chunks and the 16 that were read last, of 512 tasks each, are in memory in any case. */
const twentyChunks = 20 * 512 * 85
test.each([
  ['in memory', 125, 0, undefined],
  ['in a store', 35, twentyChunks, countingRowStore(4)],
])('INV-22: a finished task has no record; with old ones %s, it costs %i bytes at most', (_, bytesMax, beside, store) => {
  const q = new Queue(store)
  const most: Array<number> = []
  for (let from = 0; from < 26_000; from += 500) {
    q.at += 60_000
    const tasks = Array.from({ length: 500 }, (_, i) => made(from + i))
    q.enqueue(...tasks)
    const { ids, token } = q.claim('ann', { max: 500 })
    q.at += 30_000
    ids.forEach((id, i) => (i === 0 ? q.do({ type: 'Cancel', task: id, reason: 'not needed' }) : q.complete(id, token - 499 + i)))
    const { live, retained, records, finishedBytes } = sizesOf(q.state)
    expect([live, retained, records]).toEqual([0, from + 500, 0])
    if (from >= 13_000) most.push((finishedBytes - beside) / retained)
  }
  expect(Math.max(...most)).toBeLessThanOrEqual(bytesMax)
  // Nothing was left out to achieve this.
  expect(q.task('#7')).toMatchObject({ id: made(6).id, status: 'completed', claimedBy: 'ann', createdAt: q.log[0]?.at })
  expect(duplicateOf(q.state, made(6).idempotencyKey)?.number).toBe(7)
  expect(listTasks(q.state, { statuses: ['cancelled'] }, 3).tasks.map(({ number }) => number)).toEqual([1, 501, 1_001])
})

test('LK-05: a task that leaves does not take the key of a later one with it', () => {
  const q = new Queue().configure({ retentionSeconds: 60 })
  q.enqueue(task('first', { idempotencyKey: 'shared' }))
  q.do({ type: 'Cancel', task: 'first', reason: 'not needed' })
  q.wait(30)
  q.enqueue(task('second', { idempotencyKey: 'shared' }))
  const { token } = q.claim()
  q.complete('second', token)
  q.wait(31)
  q.do({ type: 'Pause', reason: 'one more event' })
  expect([q.status('first'), duplicateOf(q.state, 'shared')?.id]).toEqual([undefined, 'second'])
})

test('a dead letter that is discarded does not take the key of a later task with it', () => {
  const q = new Queue().enqueue(task('first', { idempotencyKey: 'shared' }))
  q.kill('first')
  q.enqueue(task('second', { idempotencyKey: 'shared' }))
  q.do({ type: 'Discard', task: 'first', reviewer: 'eve', reason: 'done by hand' })
  expect([q.status('first'), duplicateOf(q.state, 'shared')?.id]).toEqual(['discarded', 'second'])
})

test('INV-15: a finished task that another one takes a callback key from is as before after a rollback', () => {
  const q = new Queue()
  const park = (id: string): void => {
    q.enqueue(task(id))
    const { token } = q.claim()
    q.do({ type: 'Park', task: id, agent: 'ann', token, callbackKey: 'approve', timeoutSeconds: 60 })
  }
  park('a')
  q.ask({ type: 'Callback', callbackKey: 'approve', content: '{}' })
  q.complete('a', q.claim().token)
  const [before, at] = [textOf(q.state), mark(q.state)]
  park('b')
  expect(differenceOf(before, textOf(q.state))).not.toBe('')
  q.state = rollback(q.state, at)
  expect(differenceOf(before, textOf(q.state))).toBe('')
  expect(taskOf(q.state, 'a')).toMatchObject({ status: 'completed', callback: { key: 'approve' } })
  expect(q.ask({ type: 'Callback', callbackKey: 'approve', content: '{}' })).toMatchObject({ task: 'a' })
})

test('INV-15, LK-05: a task has its key again after a rollback, although another one had it, finished and left meanwhile', () => {
  const q = new Queue().configure({ retentionSeconds: 60 })
  const shared = (id: string) => task(id, { idempotencyKey: 'shared' })
  q.enqueue(shared('first'))
  const [before, then, at] = [textOf(q.state), mark(q.state), q.at]
  q.kill('first')
  q.enqueue(shared('second'))
  q.complete('second', q.claim().token)
  q.wait(70)
  q.do({ type: 'Retry', task: 'first', reviewer: 'eve', reason: 'again' })
  expect([q.status('first'), q.status('second')]).toEqual(['pending', undefined])
  q.state = rollback(q.state, then)
  q.at = at
  expect(differenceOf(before, textOf(q.state))).toBe('')
  expect(duplicateOf(q.state, 'shared')?.id).toBe('first')
})
