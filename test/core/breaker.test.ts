import { breakersOf, evolve, headOf, initial, isClaimable, nextDue, type QueueEvent } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { names, Queue, start, task } from './queue.js'

const breaker = (q: Queue, type = 'work') => breakersOf(q.state)[type]
const open = (q: Queue, type = 'work') => q.do({ type: 'OpenBreaker', taskType: type, reason: 'by hand' })
const close = (q: Queue, type = 'work') => q.do({ type: 'CloseBreaker', taskType: type, reason: 'by hand' })

/** A breaker that opens at the second dead letter and is half-open after a minute. `a` and `b` are dead letters, `c` to `f` are pending. */
const tripped = (): Queue => {
  const q = new Queue()
    .configure({ breakers: { defaults: { failureThreshold: 2, halfOpenAfter: 60 } } })
    .enqueue(...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => task(id, { timeout: 30 })))
  q.kill('a')
  q.kill('b')
  return q
}
/** The same, a minute later. */
const halfOpen = (): Queue => {
  const q = tripped()
  q.wait(60)
  return q
}

test('LK-13: a breaker shows its state, failures and times', () => {
  const q = tripped()
  expect(breaker(q)).toEqual({ state: 'open', failures: 2, lastFailure: start, openedAt: start, halfOpenAt: start + 60_000, reason: 'threshold' })
  expect(nextDue(q.state)).toBe(start + 60_000)
})

test('LK-15: an open breaker blocks its type, and no other', () => {
  const q = tripped().enqueue(task('x', { type: 'other' }))
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['x'])
  expect(isClaimable(q.state, { agent: 'bob', types: ['work'] })).toBe(false)
})

test('LK-15: after its time it is half-open and admits exactly one probe, however many tasks are asked for', () => {
  const q = tripped()
  expect(q.wait(59)).toEqual([])
  expect(q.wait(1)).toEqual(['BreakerHalfOpened'])
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['c'])
  expect(breaker(q)).toMatchObject({ state: 'half-open', probe: 'c' })
  expect(q.claim('bob', { max: 9 }).ids).toEqual([])
})

test('LK-15: there is one probe for all groups of its type', () => {
  const q = halfOpen().enqueue(task('x', { phase: 'ANALYSIS', priority: 9 }), task('y', { phase: 'TESTING', priority: 8 }))
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['x'])
})

/** Every legal transition, its cause, and the state after it. */
const edges: ReadonlyArray<readonly [string, () => Queue, (q: Queue) => unknown, ReadonlyArray<string>, string]> = [
  ['closed → open by threshold', tripped, () => undefined, [], 'open'],
  ['closed → open by hand', () => new Queue(), open, ['BreakerOpened'], 'open'],
  ['open → half-open by time', tripped, (q) => q.wait(60), ['BreakerHalfOpened'], 'half-open'],
  ['open → open by hand', tripped, open, ['BreakerOpened'], 'open'],
  ['open → closed by hand', tripped, close, ['BreakerClosed'], 'closed'],
  ['half-open → closed by its probe\'s success', halfOpen, (q) => q.complete('c', q.claim().token), ['Completed', 'BreakerClosed'], 'closed'],
  ['half-open → open by its probe\'s failure', halfOpen, (q) => q.fail('c', q.claim().token), ['Failed', 'RetryScheduled', 'BreakerOpened'], 'open'],
  ['half-open → open by its probe\'s dead letter', halfOpen, (q) => q.fail('c', q.claim().token, false), ['Failed', 'DeadLettered', 'BreakerOpened'], 'open'],
  ['half-open → open by its probe\'s expiry', halfOpen, (q) => (q.claim(), q.wait(30)), ['ClaimExpired', 'BreakerOpened'], 'open'],
  ['half-open → half-open by its probe\'s agent\'s end', halfOpen, (q) => (q.claim(), q.do({ type: 'TerminateAgent', agent: 'ann', reason: 'r' })), ['AgentTerminated', 'ClaimRevoked'], 'half-open'],
  ['half-open → open by hand', halfOpen, open, ['BreakerOpened'], 'open'],
  ['half-open → closed by hand', halfOpen, close, ['BreakerClosed'], 'closed'],
]
describe.each(edges)('LK-15: %s', (_, from, move, events, state) => {
  test('happens', () => {
    const q = from()
    move(q)
    if (events.length > 0) expect(names(q.log.slice(-events.length))).toEqual(events)
    expect(breaker(q)?.state).toBe(state)
  })
})

const none: ReadonlyArray<readonly [string, () => Queue, (q: Queue) => void, string]> = [
  ['a released probe frees its place', halfOpen, (q) => q.giveBack('c', q.claim().token), 'half-open'],
  ['a cancelled probe frees its place', halfOpen, (q) => (q.claim(), q.do({ type: 'Cancel', task: 'c', reason: 'r' })), 'half-open'],
  ['an incomplete probe keeps its place', halfOpen, (q) => q.complete('c', q.claim().token, false), 'half-open'],
  ['time alone closes nothing', halfOpen, (q) => q.wait(99_999), 'half-open'],
  ['one opened by hand stays open', () => (((q) => (open(q), q))(new Queue())), (q) => q.wait(99_999), 'open'],
  ['one opened by hand again stays open', () => (((q) => (open(q), q))(tripped())), (q) => q.wait(99_999), 'open'],
]
test.each(none)('LK-15: %s', (_, from, move, state) => {
  const q = from()
  move(q)
  expect(breaker(q)?.state).toBe(state)
})

test('LK-15: after a released or cancelled probe another one can be claimed', () => {
  const q = halfOpen()
  q.giveBack('c', q.claim('ann').token)
  expect(breaker(q)).not.toHaveProperty('probe')
  expect(q.claim('bob').ids).toEqual(['c'])
  q.do({ type: 'Cancel', task: 'c', reason: 'r' })
  expect(q.claim('bob').ids).toEqual(['d'])
})

test('LK-15: a probe that is released in its last attempt is a dead letter, but only makes room for another probe', () => {
  const q = halfOpen().configure({ maxAttempts: 1 })
  expect(q.giveBack('c', q.claim('ann').token)).toEqual(['Released', 'DeadLettered'])
  expect(breaker(q)).toMatchObject({ state: 'half-open' })
  expect(q.claim('ann').ids).toEqual(['d'])
})

/** How a probe can be lost, and whether the breaker opens again or waits for another probe. */
const losses: ReadonlyArray<readonly [string, (q: Queue, token: number) => unknown, 'open' | 'half-open']> = [
  ['the agent was killed, and its lease ended', (q) => q.wait(30), 'open'],
  ['no report came for an incomplete probe', (q, token) => (q.complete('c', token, false), q.wait(30)), 'open'],
  ['it failed', (q, token) => q.fail('c', token), 'open'],
  ['it was released', (q, token) => q.giveBack('c', token), 'half-open'],
  ['its agent stopped', (q, token) => q.do({ type: 'Release', task: 'c', agent: 'ann', token, reason: 'r', stopping: true }), 'half-open'],
  ['its claim was never delivered', (q, token) => q.do({ type: 'Release', task: 'c', agent: 'ann', token, reason: 'r', undelivered: true }), 'half-open'],
  ['it was cancelled', (q) => q.do({ type: 'Cancel', task: 'c', reason: 'r' }), 'half-open'],
  ['its agent was terminated', (q) => q.do({ type: 'TerminateAgent', agent: 'ann', reason: 'r' }), 'half-open'],
  ['it was parked', (q, token) => q.do({ type: 'Park', task: 'c', agent: 'ann', token, callbackKey: 'k', timeoutSeconds: 9_999 }), 'half-open'],
  ['it met a rate limit', (q, token) => q.do({ type: 'Fail', task: 'c', agent: 'ann', token, error: { message: '429', retryAfter: 1 }, retryable: true }), 'half-open'],
]
test.each(losses)('LK-15: no lost probe leaves the breaker stuck: %s', (_, lose, state) => {
  const q = halfOpen()
  lose(q, q.claim('ann').token)
  expect(breaker(q)).toMatchObject({ state })
  expect(breaker(q)).not.toHaveProperty('probe')
  // By time alone another task becomes the probe, and its success closes the breaker.
  q.wait(60)
  const { ids, token } = q.claim('bob')
  expect(ids).toHaveLength(1)
  expect(breaker(q)).toMatchObject({ state: 'half-open', probe: ids[0] })
  q.complete(ids[0] ?? '', token, true, 'bob')
  expect(breaker(q)).toMatchObject({ state: 'closed', failures: 0 })
})

test('LK-15: half-open with nothing to claim waits for the next task of its type', () => {
  const q = halfOpen()
  for (const id of ['c', 'd', 'e', 'f']) q.do({ type: 'Cancel', task: id, reason: 'r' })
  expect(breaker(q)?.state).toBe('half-open')
  q.enqueue(task('g'))
  expect(q.claim().ids).toEqual(['g'])
})

describe('LK-15: results of claims from before the breaker opened neither close nor reopen it', () => {
  /** `c` and `d` were claimed before the breaker opened. */
  const stale = (): Queue => {
    const q = new Queue()
      .configure({ breakers: { defaults: { failureThreshold: 1 } }, decisionReport: 'optional' })
      .enqueue(task('a', { timeout: 9_000 }), task('c', { timeout: 9_000 }), task('d', { timeout: 9_000 }), task('e', { timeout: 9_000 }))
    q.claim('ann', { max: 3 })
    q.fail('a', 1, false)
    return q
  }
  test('while it is open', () => {
    const q = stale()
    expect(q.complete('c', 2)).toEqual(['Completed'])
    expect(q.fail('d', 3, false)).toEqual(['Failed', 'DeadLettered'])
    expect(breaker(q)).toMatchObject({ state: 'open', failures: 1 })
  })
  test('while it is half-open, with its probe running', () => {
    const q = stale()
    q.wait(60)
    expect(q.claim('bob').ids).toEqual(['e'])
    expect(q.fail('d', 3, false)).toEqual(['Failed', 'DeadLettered'])
    expect(q.complete('c', 2)).toEqual(['Completed'])
    expect(breaker(q)).toMatchObject({ state: 'half-open', probe: 'e' })
  })
  test('once it is closed again', () => {
    const q = stale()
    q.wait(60)
    q.complete('e', q.claim('bob').token, true, 'bob')
    expect(breaker(q)).toMatchObject({ state: 'closed', failures: 0 })
    q.fail('d', 3, false)
    expect(breaker(q)).toMatchObject({ state: 'closed', failures: 0 })
  })
  test('nor does the result of a probe after an operator has opened the breaker again', () => {
    const q = halfOpen()
    const { token } = q.claim()
    open(q)
    expect(q.complete('c', token)).toEqual(['Completed'])
    expect(breaker(q)).toMatchObject({ state: 'open', reason: 'by hand' })
  })
})

test('LK-14: a closed breaker forgets its failures once the last is older than the cooldown', () => {
  const dead = (pause: number): string | undefined => {
    const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 2, cooldownSeconds: 300 } } }).enqueue(task('a'), task('b'))
    q.kill('a')
    q.wait(pause)
    q.kill('b')
    return breaker(q)?.state
  }
  expect([dead(300), dead(300.001), dead(301)]).toEqual(['open', 'closed', 'closed'])
})

test('LK-14: any success while closed resets the count', () => {
  const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 2 } } }).enqueue(task('a'), task('b'), task('c'))
  q.kill('a')
  expect(breaker(q)?.failures).toBe(1)
  q.complete('b', q.claim().token)
  expect(breaker(q)?.failures).toBe(0)
  q.kill('c')
  expect(breaker(q)).toMatchObject({ state: 'closed', failures: 1 })
})

test('LK-14, LK-10: dead letters count by default, every failed attempt if so configured', () => {
  const retried = (countOn: 'dead-letter' | 'attempt'): unknown => {
    const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 2, countOn } } }).enqueue(task('a', { backoffSeconds: 0, maxRetries: 9, timeout: 5 }))
    q.fail('a', q.claim().token)
    q.claim()
    q.wait(5)
    return breaker(q)?.state
  }
  expect([retried('dead-letter'), retried('attempt')]).toEqual([undefined, 'open'])
})

test('LK-14: if attempts count, a dead letter is not counted in addition to its last attempt, and a release is not counted', () => {
  const q = new Queue()
    .configure({ maxAttempts: 1, breakers: { defaults: { failureThreshold: 2, countOn: 'attempt' } } })
    .enqueue(task('a'), task('b'), task('c'))
  q.kill('a')
  expect(breaker(q)).toMatchObject({ state: 'closed', failures: 1 })
  expect(q.giveBack('b', q.claim().token)).toEqual(['Released', 'DeadLettered'])
  expect(breaker(q)).toMatchObject({ state: 'closed', failures: 1 })
})

test('LK-14: a former probe counts like any other task after an operator has closed the breaker', () => {
  const q = halfOpen().configure({ maxAttempts: 1, breakers: { defaults: { failureThreshold: 1 } } })
  const { token } = q.claim()
  close(q)
  expect(q.giveBack('c', token)).toEqual(['Released', 'DeadLettered', 'BreakerOpened'])
})

test('LK-14: a type can have its own settings', () => {
  const q = new Queue()
    .configure({ breakers: { defaults: { failureThreshold: 9 }, overrides: { work: { failureThreshold: 1, halfOpenAfter: 5 } } } })
    .enqueue(task('a'), task('x', { type: 'other' }))
  q.kill('a')
  q.kill('x', 'other')
  expect([breaker(q)?.state, breaker(q)?.halfOpenAt, breaker(q, 'other')?.state]).toEqual(['open', start + 5_000, 'closed'])
})

test('LK-14: many failures in one tick open the breaker once', () => {
  const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 2, countOn: 'attempt' } } })
  q.enqueue(...['a', 'b', 'c', 'd'].map((id) => task(id, { timeout: 5 })))
  q.claim('ann', { max: 4 })
  expect(q.wait(5)).toEqual(['ClaimExpired', 'ClaimExpired', 'BreakerOpened', 'ClaimExpired', 'ClaimExpired'])
  expect(breaker(q)).toMatchObject({ state: 'open', failures: 2 })
})

test('LK-15: closing a closed breaker is refused', () => {
  expect(new Queue().refuse({ type: 'CloseBreaker', taskType: 'work', reason: 'r' })).toMatchObject({ code: 'wrong-state' })
})

const move = (type: 'BreakerOpened' | 'BreakerHalfOpened' | 'BreakerClosed', cause?: string): QueueEvent =>
  ({ type, at: start, data: { taskType: 'work', ...(cause === undefined ? {} : { cause }) } }) as QueueEvent
const illegal: ReadonlyArray<readonly [string, () => Queue, QueueEvent]> = [
  ['closed → half-open', () => new Queue(), move('BreakerHalfOpened')],
  ['closed → closed', () => new Queue(), move('BreakerClosed', 'manual')],
  ['closed → open by a probe', () => new Queue(), move('BreakerOpened', 'probe-failed')],
  ['open → open by threshold', tripped, move('BreakerOpened', 'threshold')],
  ['open → open by a probe', tripped, move('BreakerOpened', 'probe-failed')],
  ['open → closed by a probe', tripped, move('BreakerClosed', 'probe-succeeded')],
  ['half-open → half-open', halfOpen, move('BreakerHalfOpened')],
  ['half-open → open by threshold', halfOpen, move('BreakerOpened', 'threshold')],
]
test.each(illegal)('LK-15: %s is not a transition: the fold counts it as a misfit and changes nothing', (_, from, event) => {
  const q = from()
  const before = breakersOf(q.state)
  const { misfits } = headOf(q.state)
  q.fold({ ...event, at: q.at })
  expect(breakersOf(q.state)).toEqual(before)
  expect(headOf(q.state).misfits).toBe(misfits + 1)
})

test('LK-13: a type of any name can have a breaker', () => {
  let state = initial('q')
  for (const taskType of ['__proto__', 'constructor']) {
    state = evolve(state, { type: 'BreakerOpened', at: start, data: { taskType, cause: 'manual' } })
  }
  expect(Object.keys(breakersOf(state))).toEqual(['__proto__', 'constructor'])
})
