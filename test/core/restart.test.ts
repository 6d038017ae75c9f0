/** Restarts: a finished task runs again as a new task. */
import { fork, headOf, taskOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { Queue, task } from './queue.js'

const restart = (q: Queue, id: string, as: string) => q.ask({ type: 'Restart', task: id, id: as, reason: 'again', content: '{"payload":1}' })

test('TQM §11: a restarted task has the fields of the old one, a key of its own, and no history', () => {
  const fields = { type: 'eng', priority: 9, timeout: 7, maxRetries: 5, backoffSeconds: 3, ticketId: 'T-1', tenant: 'acme', phase: 'TESTING', skills: ['go'], deadlineAt: 5, parentTaskId: 'p' } as const
  const q = new Queue().enqueue(task('a', fields))
  const more = { skills: ['go'], types: ['eng'] }
  q.complete('a', q.claim('ann', more).token)
  expect(restart(q, '#1', 'b')).toEqual({ id: 'b', number: 2, restartOf: 'a', status: 'pending' })
  expect(taskOf(q.state, 'b')).toMatchObject({ ...fields, idempotencyKey: 'key of a#2', restartOf: 'a', restartReason: 'again', retries: 0, attempts: 0 })
  expect(q.status('a')).toBe('completed')
  expect(textOf(fork(q.state))).toBe(textOf(q.state))
  // The same request again, and a different request with the same id.
  expect(q.do({ type: 'Restart', task: 'a', id: 'b', reason: 'again', content: '{}' })).toEqual([])
  q.enqueue(task('other'))
  expect(q.refuse({ type: 'Restart', task: 'a', id: 'other', reason: 'r', content: '{}' }).code).toBe('conflict')
  expect(q.refuse({ type: 'Restart', task: 'b', id: 'c', reason: 'r', content: '{}' })).toMatchObject({ code: 'wrong-state', detail: 'b is pending: only a finished task or a dead letter can be restarted' })
  expect(q.claim('bob', more).ids).toEqual(['b'])
})

test('TQM §11: a restarted task waits for what is still to be done, not for what was cancelled', () => {
  const q = new Queue().enqueue(task('open'), task('dropped'), task('a', { dependencies: ['open', 'dropped'] }))
  q.do({ type: 'Cancel', task: 'a', reason: 'r' })
  q.do({ type: 'Cancel', task: 'dropped', reason: 'r' })
  expect(restart(q, 'a', 'b').status).toBe('blocked')
  expect(taskOf(q.state, 'b')?.dependencies).toEqual(['open'])
  q.do({ type: 'Cancel', task: 'open', reason: 'r' })
  expect(restart(q, 'a', 'c').status).toBe('pending')
})

test('TQM §11: nor for a later task that has the id of a dependency, which was completed and evicted', () => {
  const q = new Queue().configure({ retentionSeconds: 60 }).enqueue(task('dep'), task('a', { dependencies: ['dep'] }))
  q.complete('dep', q.claim().token)
  q.kill('a')
  q.wait(61)
  q.enqueue(task('dep', { type: 'unrelated' }))
  expect(restart(q, 'a', 'b').status).toBe('pending')
  expect(q.task('b').dependencies).toEqual([])
})

test('TQM §11: a dead letter that is restarted stays one', () => {
  const q = new Queue().enqueue(task('a'))
  q.kill('a')
  restart(q, 'a', 'b')
  expect([q.status('a'), q.status('b')]).toEqual(['dead-letter', 'pending'])
})

test('TQM §11: a restart is refused while another task has the key that the new one would get', () => {
  const q = new Queue().enqueue(task('a', { idempotencyKey: 'k' }), task('other', { idempotencyKey: 'k#3' }))
  q.complete('a', q.claim().token)
  expect(q.refuse({ type: 'Restart', task: 'a', id: 'b', reason: 'r', content: '{}' })).toMatchObject({ code: 'conflict', detail: expect.stringContaining('b would get the key k#3') as string })
  q.enqueue(task('c'))
  expect(restart(q, 'a', 'b')).toMatchObject({ number: 4, status: 'pending' })
  expect(headOf(q.state).misfits).toBe(0)
})

test('TQM §11: a restarted task waits for further tasks as well, which must be there and may still complete', () => {
  const q = new Queue().enqueue(task('first'), task('a', { dependencies: ['first'] }))
  q.do({ type: 'Cancel', task: 'first', reason: 'r' })
  restart(q, 'first', 'first again')
  const again = (dependencies: ReadonlyArray<string>) => ({ type: 'Restart', task: 'a', id: 'b', reason: 'r', content: '{}', dependencies }) as const
  expect(q.refuse(again(['nobody']))).toMatchObject({ code: 'unknown-dependency', detail: expect.stringContaining('b depends on nobody, which is not in queue') as string })
  expect(q.refuse(again(['first']))).toMatchObject({ code: 'unknown-dependency', detail: expect.stringContaining('which is cancelled and will never complete') as string })
  expect(q.refuse(again(['b']))).toMatchObject({ code: 'dependency-cycle' })
  expect(q.ask(again(['first again', 'first again'])).status).toBe('blocked')
  expect(taskOf(q.state, 'b')?.dependencies).toEqual(['first again'])
})
