import { type CommandOf, isClaimable, matchesType, type PreparedTask } from '@daybook/core'
import { expect, test } from 'vitest'
import { names, Queue, task } from './queue.js'

test('LK-06, LK-17: highest priority first, then first in, first out', () => {
  const q = new Queue().enqueue(
    task('low', { priority: 1 }),
    task('first', { priority: 5 }),
    task('other type', { priority: 5, type: 'x' }),
    task('second', { priority: 5 }),
    task('critical', { priority: 10 }),
  )
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['critical', 'first', 'other type', 'second', 'low'])
})

const takes: ReadonlyArray<readonly [string, Partial<PreparedTask>, Partial<CommandOf<'Claim'>>, boolean]> = [
  ['no wishes', {}, {}, true],
  ['its type', { type: 'eng-backend' }, { types: ['eng-backend'] }, true],
  ['a prefix', { type: 'eng-backend' }, { types: ['ops', 'eng-*'] }, true],
  ['any type', { type: 'eng-backend' }, { types: ['*'] }, true],
  ['another type', { type: 'eng-backend' }, { types: ['eng', 'eng-back'] }, false],
  ['no types at all', {}, { types: [] }, false],
  ['its phase', { phase: 'TESTING' }, { phases: ['TESTING', 'ANALYSIS'] }, true],
  ['another phase', { phase: 'TESTING' }, { phases: ['ANALYSIS'] }, false],
  ['a task without phase', {}, { phases: ['ANALYSIS'] }, true],
  ['all skills', { skills: ['go', 'sql'] }, { skills: ['sql', 'go', 'js'] }, true],
  ['not all skills', { skills: ['go', 'sql'] }, { skills: ['go'] }, false],
  ['no skills said', { skills: ['go'] }, {}, false],
  ['its tenant', { tenant: 'acme' }, { tenant: 'acme' }, true],
  ['another tenant', { tenant: 'acme' }, { tenant: 'zen' }, false],
  ['no tenant said', { tenant: 'acme' }, {}, true],
]
test.each(takes)('LK-06: an agent with %s', (_, of, request, isTaken) => {
  const q = new Queue().enqueue(task('a', of))
  expect(isClaimable(q.state, { agent: 'ann', ...request })).toBe(isTaken)
  expect(q.claim('ann', request).ids).toEqual(isTaken ? ['a'] : [])
})

test.each([
  ['eng-*', 'eng-', true],
  ['eng-*', 'eng', false],
  ['*', 'anything', true],
  ['a.c', 'abc', false],
])('LK-06: the pattern %s matches %s: %s', (pattern, type, isMatch) => {
  expect(matchesType(pattern, type)).toBe(isMatch)
})

test('LK-06: nothing is claimed while the queue is paused', () => {
  const q = new Queue().enqueue(task('a'))
  q.do({ type: 'Pause', reason: 'lunch' })
  expect(q.claim().ids).toEqual([])
  expect(names(q.do({ type: 'Pause', reason: 'again' }))).toEqual([])
  q.do({ type: 'Resume', reason: 'back' })
  expect(q.claim().ids).toEqual(['a'])
})

test('LK-07: two agents never hold one task, and each claim has its own token', () => {
  const q = new Queue().enqueue(task('a'), task('b'))
  const first = q.claim('ann')
  const second = q.claim('bob')
  expect([first.ids, second.ids, q.claim('cy').ids]).toEqual([['a'], ['b'], []])
  expect(second.token).toBeGreaterThan(first.token)
})

const reports = ['Complete', 'Fail', 'Release', 'Heartbeat'] as const
test.each(reports)('LK-07: %s with an old token, or by another agent, is refused as lease-lost', (type) => {
  const q = new Queue().enqueue(task('a', { timeout: 10 }))
  const old = q.claim('ann').token
  q.wait(10)
  const { token } = q.claim('bob')
  const of = (agent: string, number: number) =>
    ({ type, task: 'a', agent, token: number, content: '{}', hasReport: true, error: { message: 'm' }, retryable: true, reason: 'r' }) as never
  expect(q.refuse(of('ann', old))).toMatchObject({ code: 'lease-lost', detail: expect.stringContaining('not the newest') })
  expect(q.refuse(of('ann', token)).code).toBe('lease-lost')
  expect(q.refuse(of('bob', token + 1))).toMatchObject({ code: 'lease-lost', detail: expect.stringContaining(`token ${token + 1} was never given for it: the newest is ${token}`) })
  expect(q.refuse(of('bob', old)).code).toBe('lease-lost')
  expect(q.do(of('bob', token)).length).toBeGreaterThan(0)
})

test('GB-02, GB-04: an agent that gives a task back is barred from it until it is requeued', () => {
  const q = new Queue().enqueue(task('a', { maxRetries: 3 }))
  expect(q.giveBack('a', q.claim('ann').token)).toEqual(['Released'])
  expect(q.task('a')).toMatchObject({ status: 'pending', claimants: ['ann'], attempts: 1, retries: 0 })
  expect([isClaimable(q.state, { agent: 'ann' }), q.claim('ann').ids]).toEqual([false, []])
  q.fail('a', q.claim('bob').token, false, 'bob')
  q.do({ type: 'Retry', task: 'a', reviewer: 'r', reason: 'r' })
  expect(q.task('a')).toMatchObject({ claimants: [], attempts: 0 })
  expect(q.claim('ann').ids).toEqual(['a'])
})

test('GB-04: an undelivered claim does not count as an attempt, and bars nobody', () => {
  const q = new Queue().configure({ maxAttempts: 1 }).enqueue(task('a'))
  const lost = (token: number) => q.do({ type: 'Release', task: 'a', agent: 'ann', token, reason: 'r', undelivered: true }).map(({ type }) => type)
  expect(lost(q.claim('ann').token)).toEqual(['Released'])
  expect(q.task('a')).toMatchObject({ status: 'pending', claimants: [], attempts: 0, retries: 0 })
  expect(q.claim('ann').ids).toEqual(['a'])
})

test('GB-04: an agent that stops neither refuses the task nor fails it: no attempt, no retry, no bar, however often it happens', () => {
  const q = new Queue().configure({ maxAttempts: 1 }).enqueue(task('a', { maxRetries: 0 }))
  for (let times = 0; times < 3; times++) {
    const { ids, token } = q.claim('ann')
    expect(ids).toEqual(['a'])
    expect(names(q.do({ type: 'Release', task: 'a', agent: 'ann', token, reason: 'the worker stopped', stopping: true }))).toEqual(['ClaimReturned'])
    expect(q.task('a')).toMatchObject({ status: 'pending', claimants: [], attempts: 0, retries: 0 })
  }
})

test('GB-04: a bar from an earlier release stays when an agent stops later', () => {
  const q = new Queue().enqueue(task('a'))
  q.giveBack('a', q.claim('ann').token)
  q.do({ type: 'Release', task: 'a', agent: 'bob', token: q.claim('bob').token, reason: 'r', stopping: true })
  expect(q.task('a')).toMatchObject({ claimants: ['ann'], attempts: 1 })
  expect([q.claim('ann').ids, q.claim('bob').ids]).toEqual([[], ['a']])
})

test('GB-02: a barred agent gets the next best task, up to the limit of tasks passed over', () => {
  const q = new Queue().configure({ assignment: { maxQueueScanBatch: 2 } }).enqueue(task('a'), task('b'), task('c'))
  q.giveBack('a', q.claim('ann').token)
  const b = q.claim('ann')
  expect(b.ids).toEqual(['b'])
  q.giveBack('b', b.token)
  const c = q.claim('ann')
  expect(c.ids).toEqual(['c'])
  q.giveBack('c', c.token)
  q.enqueue(task('d'))
  expect(q.claim('ann').ids).toEqual([])
  expect(q.claim('bob').ids).toEqual(['a'])
  q.configure({ assignment: { maxQueueScanBatch: 3 } })
  expect(q.claim('ann').ids).toEqual(['d'])
})

test('GB-03: an agent that lost its lease is refused with the reason', () => {
  const q = new Queue().enqueue(task('a', { timeout: 10 }), task('b'), task('c'), task('d'))
  const claimed = q.claim('ann', { max: 4 })
  const why = (id: string, token: number): string => q.refuse({ type: 'Heartbeat', task: id, agent: 'ann', token }).detail
  q.wait(10)
  expect(why('a', 1)).toContain('no heartbeat came in time')
  q.do({ type: 'Cancel', task: 'b', reason: 'r' })
  expect(why('b', 2)).toContain('cancelled')
  q.complete('c', 3)
  expect(why('c', 3)).toContain('completed already')
  q.giveBack('d', claimed.token)
  expect(why('d', 4)).toContain('already been released')
  expect(q.refuse({ type: 'Heartbeat', task: 'nowhere', agent: 'ann', token: 1 }).code).toBe('not-found')
})

test('GB-05: a completed task leaves the queue, and completing it again appends nothing', () => {
  const q = new Queue().enqueue(task('a'))
  const { token } = q.claim()
  expect(q.complete('a', token)).toEqual(['Completed'])
  expect(q.complete('a', token)).toEqual([])
  expect(q.task('a')).toMatchObject({ status: 'completed', claimedBy: 'ann' })
})

test('GB-06: a task whose attempts are used up becomes a dead letter, even if no failure was reported', () => {
  const q = new Queue().configure({ maxAttempts: 2 }).enqueue(task('a'))
  expect(q.giveBack('a', q.claim('ann').token)).toEqual(['Released'])
  expect(q.giveBack('a', q.claim('bob').token, 'bob')).toEqual(['Released', 'DeadLettered'])
  expect(q.task('a')).toMatchObject({ deadLetterReason: 'attempts-exhausted', attempts: 2, retries: 0 })
})
