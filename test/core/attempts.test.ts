/** The number of attempts a task can have, and the current one, as shown to people. */
import { attemptOf, statuses, taskOf } from '@daybook/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Queue, task } from './queue.js'

/** Fails every attempt and collects what is shown in each. */
const shownUntilDead = (q: Queue, id: string): ReadonlyArray<string> => {
  const shown: Array<string> = []
  while (q.status(id) !== 'dead-letter') {
    const [claimed] = q.ask({ type: 'Claim', agent: 'ann', max: 1 })
    const { attempt, attemptsMax } = q.task(id)
    expect([claimed?.attempt, claimed?.attemptsMax]).toEqual([attempt, attemptsMax])
    shown.push(`${attempt} of ${attemptsMax}`)
    q.fail(id, claimed?.token ?? 0)
  }
  return shown
}

test.each([
  [0, ['1 of 1']],
  [1, ['1 of 1']],
  [2, ['1 of 2', '2 of 2']],
  [3, ['1 of 3', '2 of 3', '3 of 3']],
])('LK-09: with maxRetries %i and only failures, the attempts are %j', (maxRetries, shown) => {
  const q = new Queue().enqueue(task('a', { maxRetries, backoffSeconds: 0 }))
  expect(q.task('a')).toMatchObject({ attempt: 0, attemptsMax: shown.length })
  expect(shownUntilDead(q, 'a')).toEqual(shown)
  expect(q.task('a')).toMatchObject({ attempt: shown.length, attemptsMax: shown.length })
})

test('GB-02: the queue\'s maxAttempts limits them, and a release counts as one', () => {
  const q = new Queue().configure({ maxAttempts: 4 }).enqueue(task('a', { maxRetries: 3, backoffSeconds: 0 }))
  q.giveBack('a', q.claim('bob').token, 'bob')
  expect(shownUntilDead(q, 'a')).toEqual(['2 of 4', '3 of 4', '4 of 4'])
  const few = new Queue().configure({ maxAttempts: 2 }).enqueue(task('a', { maxRetries: 3, backoffSeconds: 0 }))
  expect(shownUntilDead(few, 'a')).toEqual(['1 of 2', '2 of 2'])
})

test('a task completed at the first try was in its first attempt', () => {
  const q = new Queue().enqueue(task('a', { maxRetries: 1 }))
  q.complete('a', q.claim().token)
  expect(q.task('a')).toMatchObject({ status: 'completed', attempts: 0, attempt: 1, attemptsMax: 1 })
})

test('a requeue begins with attempt 1; a finished task keeps the attempt it was in', () => {
  const q = new Queue().enqueue(task('a', { maxRetries: 3 }), task('b'))
  q.kill('a')
  expect(q.task('a')).toMatchObject({ attempt: 1, attemptsMax: 3 })
  q.do({ type: 'Retry', task: 'a', reviewer: 'r', reason: 'r' })
  expect(q.task('a')).toMatchObject({ attempt: 0, attemptsMax: 3 })
  q.claim()
  q.do({ type: 'Cancel', task: 'a', reason: 'r' })
  expect(taskOf(q.state, 'a')).toMatchObject({ status: 'cancelled', attempt: 0 })
})

test('the attempt is never greater than attemptsMax', () => {
  const count = fc.nat({ max: 30 })
  fc.assert(
    fc.property(count, count, count, fc.constantFrom(...statuses), fc.integer({ min: 1, max: 30 }), (maxRetries, retries, attempts, status, maxAttempts) => {
      const { attempt, attemptsMax } = attemptOf({ maxRetries, retries, attempts, status }, maxAttempts)
      expect(attempt).toBeLessThanOrEqual(attemptsMax)
    }),
  )
})
