import { type DeadLetterFilter, deadLetterPatterns, deadLetters, failureSignature, fork, listTasks, reviewMax, taskOf, unretriable } from '@daybook/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Queue, task } from './queue.js'

const review = { reviewer: 'rev', reason: 'looked at it' }

test('LK-12: cancelling a task cancels the tasks that depend on it, recursively, each with its reason', () => {
  const q = new Queue().enqueue(
    task('a'),
    task('b', { dependencies: ['a'] }),
    task('c', { dependencies: ['b'] }),
    task('d', { dependencies: ['a', 'c'] }),
    task('e'),
  )
  expect(q.do({ type: 'Cancel', task: 'a', reason: 'not needed' }).map(({ data }) => data)).toEqual([
    { task: 'a', reason: 'not needed' },
    { task: 'b', reason: 'Parent a cancelled' },
    { task: 'd', reason: 'Parent a cancelled' },
    { task: 'c', reason: 'Parent b cancelled' },
  ])
  expect(['a', 'b', 'c', 'd', 'e'].map((id) => q.status(id))).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled', 'pending'])
})

test('LK-12: a running task can be cancelled, and its agent is refused then', () => {
  const q = new Queue().enqueue(task('a'))
  const { token } = q.claim()
  expect(q.ask({ type: 'Cancel', task: '#1', reason: 'r' })).toEqual({ cancelled: ['a'] })
  expect(q.refuse({ type: 'Complete', task: 'a', agent: 'ann', token, content: '{}', hasReport: true })).toMatchObject({ code: 'lease-lost', detail: expect.stringContaining('cancelled') })
})

test('LK-12: the event of a task that was held says whose lease has ended; others end none', () => {
  const q = new Queue().enqueue(task('a', { priority: 9 }), task('b'), task('c', { dependencies: ['b'] }))
  const { token } = q.claim('ann')
  const cancelled = (id: string) => q.do({ type: 'Cancel', task: id, reason: 'r' }).map(({ data }) => data)
  expect(cancelled('a')).toEqual([{ task: 'a', reason: 'r', agent: 'ann', token }])
  const again = q.claim('ann')
  q.do({ type: 'Fail', task: 'b', agent: 'ann', token: again.token, error: { message: 'x' }, retryable: true })
  expect(cancelled('b')).toEqual([{ task: 'b', reason: 'r' }, { task: 'c', reason: 'Parent b cancelled' }])
})

test('LK-12: a dead letter that depends on a cancelled task is cancelled, too', () => {
  const q = new Queue().enqueue(task('a', { backoffSeconds: 0 }), task('b', { dependencies: ['a'] }))
  q.do({ type: 'Import', tasks: [{ ...task('c', { dependencies: ['b'] }), status: 'dead-letter' }] })
  expect(q.ask({ type: 'Cancel', task: 'a', reason: 'r' }).cancelled).toEqual(['a', 'b', 'c'])
})

test.each(['completed', 'dead-letter', 'discarded'])('LK-12, INV-17: a task that is %s cannot be cancelled', (status) => {
  const q = new Queue().enqueue(task('a'))
  if (status === 'completed') q.complete('a', q.claim().token)
  else q.kill('a')
  if (status === 'discarded') q.do({ type: 'Discard', task: 'a', ...review })
  expect(q.refuse({ type: 'Cancel', task: 'a', reason: 'r' }).code).toBe('wrong-state')
})

test('LK-12: cancelling twice appends nothing the second time', () => {
  const q = new Queue().enqueue(task('a'))
  q.do({ type: 'Cancel', task: 'a', reason: 'r' })
  expect(q.do({ type: 'Cancel', task: 'a', reason: 'r' })).toEqual([])
  expect(q.refuse({ type: 'Cancel', task: 'nowhere', reason: 'r' }).code).toBe('not-found')
})

test('LK-11: a dead letter tells how many tasks depend on it, and how many come after it in its line', () => {
  const q = new Queue().enqueue(
    ...['a', 'b', 'c'].map((id) => task(id, { orderingKey: 'cart' })),
    task('d', { dependencies: ['a'] }),
    task('e', { dependencies: ['a', 'b'] }),
    task('alone'),
  )
  q.kill('a')
  q.kill('alone')
  expect(q.task('a').holdsUp).toEqual({ dependents: 2, inLine: 2 })
  expect(['alone', 'b'].map((id) => q.task(id))).toEqual([expect.not.objectContaining({ holdsUp: expect.anything() }), expect.not.objectContaining({ holdsUp: expect.anything() })])
  // Only the first of a line holds it up.
  q.do({ type: 'Import', tasks: [{ ...task('f', { orderingKey: 'cart' }), status: 'dead-letter' }] })
  q.do({ type: 'Cancel', task: 'd', reason: 'not needed' })
  expect(Object.fromEntries(deadLetters(q.state, {}, 10).map(({ id, holdsUp = null }) => [id, holdsUp]))).toEqual({ a: { dependents: 1, inLine: 3 }, alone: null, f: null })
  expect(taskOf(fork(q.state), 'a')).toEqual(q.task('a'))
  q.do({ type: 'Retry', task: 'a', ...review })
  expect(q.task('a').holdsUp).toBeUndefined()
})

test('LK-11: a reviewer sends a dead letter back, and its retries and attempts are reset', () => {
  const q = new Queue().enqueue(task('a'))
  q.kill('a')
  expect(q.ask({ type: 'Retry', task: 'a', ...review })).toEqual({ retried: ['a'] })
  expect(q.task('a')).toMatchObject({ status: 'pending', retries: 0, attempts: 0, lastError: 'boom' })
  expect(q.log[q.log.length - 1]).toMatchObject({ type: 'Requeued', data: { reviewer: 'rev', reason: 'looked at it' } })
  expect(q.refuse({ type: 'Retry', task: 'a', ...review })).toMatchObject({ code: 'wrong-state' })
})

test('LK-11: discarding a dead letter cancels the tasks that depend on it', () => {
  const q = new Queue().enqueue(task('a'), task('b', { dependencies: ['a'] }))
  q.kill('a')
  expect(q.status('b')).toBe('blocked')
  expect(q.ask({ type: 'Discard', task: 'a', ...review })).toEqual({ discarded: ['a'], cancelled: ['b'] })
  expect(q.log[q.log.length - 1]).toMatchObject({ data: { reason: 'Parent a discarded' } })
})

test('LK-11: dead letters that depend on each other are discarded together, each once', () => {
  const q = new Queue()
  q.do({
    type: 'Import',
    tasks: [
      { ...task('a'), status: 'dead-letter' },
      { ...task('b', { dependencies: ['a'] }), status: 'dead-letter' },
      { ...task('c', { dependencies: ['b'] }), status: 'pending' },
    ],
  })
  expect(q.ask({ type: 'Discard', filter: {}, ...review })).toEqual({ discarded: ['a', 'b'], cancelled: ['c'] })
})

test('LK-11: retrying a dead letter whose key is in use again is a conflict; a bulk retry skips it', () => {
  const q = new Queue().enqueue(task('a', { idempotencyKey: 'k' }))
  q.kill('a')
  q.enqueue(task('b', { idempotencyKey: 'k' }))
  expect(q.refuse({ type: 'Retry', task: 'a', ...review })).toMatchObject({ code: 'conflict', detail: expect.stringContaining('b was enqueued since') })
  expect(q.do({ type: 'Retry', filter: {}, ...review })).toEqual([])
})

test('LK-11: a bulk retry reaches those behind as many whose keys are taken as it sends back, and what it leaves can be asked for', () => {
  const q = new Queue()
  const dead = Array.from({ length: reviewMax }, (_, i) => ({ ...task(`t${i}`, { priority: 10, idempotencyKey: `k${i}` }), status: 'dead-letter' as const }))
  q.do({ type: 'Import', tasks: dead })
  q.enqueue(...dead.map((_, i) => task(`new ${i}`, { idempotencyKey: `k${i}` })))
  q.do({ type: 'Import', tasks: [{ ...task('free', { priority: 1 }), status: 'dead-letter' }] })
  expect(q.ask({ type: 'Retry', filter: {}, ...review }).retried).toEqual(['free'])
  expect(unretriable(q.state, {})).toHaveLength(reviewMax)
  expect(unretriable(q.state, { type: 'other' })).toEqual([])
})

test('LK-11, INV-7: of several dead letters with one key, a bulk retry sends back only the first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 12 }), (keys) => {
      const q = new Queue()
      const dead = keys.map((key, i) => ({ ...task(`t${i}`, { idempotencyKey: `k${key}` }), status: 'dead-letter' as const }))
      q.do({ type: 'Import', tasks: dead })
      const firsts = dead.filter(({ idempotencyKey }, i) => dead.findIndex((other) => other.idempotencyKey === idempotencyKey) === i)
      expect(q.ask({ type: 'Retry', filter: {}, ...review }).retried).toEqual(firsts.map(({ id }) => id))
      // The key of the others is in use now.
      for (const { id } of dead.filter((each) => !firsts.includes(each))) {
        expect(q.refuse({ type: 'Retry', task: id, ...review }).code).toBe('conflict')
      }
      expect(q.do({ type: 'Retry', filter: {}, ...review })).toEqual([])
    }),
    { numRuns: 50 },
  )
})

const failedTwice = (): Queue => {
  const q = new Queue().enqueue(task('a', { type: 'eng-a' }), task('b', { type: 'eng-b' }), task('c', { type: 'ops' }))
  const messages = { a: 'ENOENT /tmp/1', b: 'ENOENT /tmp/2', c: 'timeout after 5 s' }
  const { token } = q.claim('ann', { max: 3 })
  for (const [i, id] of (['a', 'b', 'c'] as const).entries()) q.fail(id, token - 2 + i, false, 'ann', messages[id])
  return q
}
test.each([
  [{}, ['a', 'b', 'c']],
  [{ type: 'eng-*' }, ['a', 'b']],
  [{ type: 'eng-b' }, ['b']],
  [{ error: 'enoent' }, ['a', 'b']],
  [{ error: 'enoent', type: 'eng-b' }, ['b']],
  [{ signature: failureSignature('ops', undefined, 'timeout after 99 s') }, ['c']],
  [{ signature: 'none' }, []],
])('LK-11: in bulk, by filter %j', (filter, ids) => {
  const q = failedTwice()
  expect(deadLetters(q.state, filter, 99).map(({ id }) => id)).toEqual(ids)
  expect(q.ask({ type: 'Retry', filter, ...review })).toEqual({ retried: ids })
})

test('LK-11: failure patterns, most frequent first', () => {
  const q = new Queue().enqueue(task('a'), task('b'), task('c'))
  for (const [i, message] of ['timeout after 1 ms', 'no space', 'timeout after 22 ms'].entries()) {
    q.at += 1_000
    const { ids, token } = q.claim()
    q.fail(ids[0] ?? '', token, false, 'ann', message)
    expect(i).toBeLessThan(3)
  }
  expect(deadLetterPatterns(q.state)).toEqual([
    { signature: failureSignature('work', undefined, 'timeout after 7 ms'), type: 'work', count: 2, sample: 'timeout after 1 ms', firstAt: q.at - 2_000, lastAt: q.at, tasks: ['a', 'c'] },
    { signature: failureSignature('work', undefined, 'no space'), type: 'work', count: 1, sample: 'no space', firstAt: q.at - 1_000, lastAt: q.at - 1_000, tasks: ['b'] },
  ])
})

test('LK-11: failure patterns of one type, one signature or one error', () => {
  const q = new Queue().enqueue(task('a'), task('b'), task('c', { type: 'mail' }))
  for (const message of ['disk 1 full', 'Disk 2 full', 'no route']) {
    q.at += 1_000
    const { ids, token } = q.claim()
    q.fail(ids[0] ?? '', token, false, 'ann', message)
  }
  const [disk, route] = [failureSignature('work', undefined, 'disk 9 full'), failureSignature('mail', undefined, 'no route')]
  const seen = (filter: DeadLetterFilter): ReadonlyArray<unknown> =>
    deadLetterPatterns(q.state, filter).map(({ signature, count, tasks, firstAt, lastAt }) => [signature, count, tasks, lastAt - firstAt])
  expect(seen({})).toEqual([[disk, 2, ['a', 'b'], 1_000], [route, 1, ['c'], 0]])
  expect(seen({ type: 'ma*' })).toEqual([[route, 1, ['c'], 0]])
  expect(seen({ signature: disk })).toEqual([[disk, 2, ['a', 'b'], 1_000]])
  expect(seen({ error: 'DISK 2' })).toEqual([[disk, 1, ['b'], 0]])
  expect(seen({ signature: disk, type: 'mail' })).toEqual([])
  expect(listTasks(q.state, { statuses: ['dead-letter'], signature: disk }, 1)).toMatchObject({ tasks: [{ id: 'a' }], next: expect.any(String) as string })
  expect(listTasks(q.state, { statuses: ['dead-letter'], signature: disk, phase: 'TESTING' }, 9).tasks).toEqual([])
})

test(`LK-11: one review covers ${reviewMax} tasks at most`, () => {
  const q = new Queue()
  q.do({ type: 'Import', tasks: Array.from({ length: reviewMax + 1 }, (_, i) => ({ ...task(`t${i}`), status: 'dead-letter' as const })) })
  expect(q.ask({ type: 'Retry', filter: {}, ...review }).retried.length).toBe(reviewMax)
  expect(q.ask({ type: 'Retry', filter: {}, ...review }).retried).toEqual([`t${reviewMax}`])
})
