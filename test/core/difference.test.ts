/** INV-15: the first difference between two states, in words. `contents.ts` decides whether there is one. */
import { type Command, differenceBetween, forget } from '@daybook/core'
import { expect, test } from 'vitest'
import { Queue, task } from './queue.js'

const queue = (...commands: ReadonlyArray<Command>): Queue => {
  const q = new Queue().enqueue(task('a'), task('b'))
  for (const command of commands) q.do(command)
  return q
}

/** A queue with two tasks, the first of which was cancelled. */
const ended = (): Queue => queue({ type: 'Cancel', task: 'a', reason: 'done' })
const weekMs = 7 * 86_400_000

test('INV-15: equal states have no difference', () => {
  expect(differenceBetween(ended().state, ended().state)).toBeUndefined()
})

test.each<readonly [string, () => readonly [Queue, Queue], object]>([
  ['a field of a task', () => [new Queue().enqueue(task('a'), task('b', { priority: 9 })), queue()], { about: 'task b (#2), priority', left: '9', right: '5' }],
  ['a field of the queue', () => [queue({ type: 'Pause', reason: 'deploy' }), queue({ type: 'Pause', reason: 'other' })], { about: 'the queue, paused', left: '"deploy"', right: '"other"' }],
  ['a line of another table', () => [queue({ type: 'SetLimit', key: 'smtp', concurrency: 3 }), queue({ type: 'SetLimit', key: 'smtp', concurrency: 5 })], { about: 'the table limits', left: expect.stringContaining('concurrency=3'), right: expect.stringContaining('concurrency=5') }],
])('INV-15: the first difference is named: %s', (_, queues, expected) => {
  const [left, right] = queues()
  expect(differenceBetween(left.state, right.state)).toEqual(expected)
})

test('INV-15: the first difference is named: a task that one of the states lacks', () => {
  const [left, right] = [forget(ended().state, ended().at + weekMs, Infinity), ended().state]
  expect(differenceBetween(left, right)).toEqual({ about: 'task a (#1)', left: undefined, right: 'cancelled' })
  expect(differenceBetween(right, left)).toEqual({ about: 'task a (#1)', left: 'cancelled', right: undefined })
})
