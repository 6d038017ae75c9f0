/** Tasks that wait for something outside: parked by their agent until a callback comes. */
import { agentsOf, breakersOf, depthOf, explainOf, mark, nextDue, rollback, taskOf } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { names, Queue, start, task } from './queue.js'

const approved = '{"payload":{"approved":true}}'
const callback = (q: Queue, callbackKey = 'approve', content = approved) => q.ask({ type: 'Callback', callbackKey, content })
const park = (q: Queue, id: string, more: object = {}, agent = 'ann'): ReadonlyArray<string> => {
  const { ids, token } = q.claim(agent)
  if (ids[0] !== id) throw new Error(`claimed ${ids[0]} instead of ${id}`)
  return names(q.do({ type: 'Park', task: id, agent, token, callbackKey: 'approve', timeoutSeconds: 60, ...more }))
}
/** `a` waits for `approve`, at most a minute. */
const parked = (more: object = {}): Queue => {
  const q = new Queue().enqueue(task('a', { maxRetries: 2, backoffSeconds: 0 }))
  park(q, 'a', more)
  return q
}

test('a parked task waits: its lease is over, no attempt is counted, and nobody gets it', () => {
  const q = parked({ checkpoint: { built: true } })
  expect(q.task('a')).toMatchObject({ status: 'waiting', attempts: 0, retries: 0, parked: { callbackKey: 'approve', until: start + 60_000, onTimeout: 'fail' }, checkpointRevision: 2 })
  expect(q.task('a')).not.toHaveProperty('claimedBy')
  expect(agentsOf(q.state)).toEqual([])
  expect(depthOf(q.state).byStatus).toMatchObject({ waiting: 1, pending: 0, 'in-progress': 0 })
  expect(q.claim('bob').ids).toEqual([])
  expect(nextDue(q.state)).toBe(start + 60_000)
})

test('the reports of the agent that parked it are refused', () => {
  const q = parked()
  expect(q.refuse({ type: 'Complete', task: 'a', agent: 'ann', token: 1, content: '{}', hasReport: true })).toMatchObject({ code: 'lease-lost', detail: expect.stringContaining('has parked the task') })
})

test('the callback makes it ready; its payload comes with the next claims, until it is parked again', () => {
  const q = parked()
  q.at += 1_000
  expect(callback(q)).toEqual({ task: 'a', status: 'pending' })
  expect(q.task('a')).toMatchObject({ status: 'pending', attempts: 0, callback: { key: 'approve', at: start + 1_000, revision: 3 } })
  expect(q.task('a')).not.toHaveProperty('parked')
  expect(nextDue(q.state)).toBeUndefined()
  const [first] = q.ask({ type: 'Claim', agent: 'bob', max: 1 })
  expect(first).toMatchObject({ attempt: 1, callbackReceived: { key: 'approve', revision: 3 } })
  q.fail('a', first?.token ?? 0, true, 'bob')
  const [second] = q.ask({ type: 'Claim', agent: 'bob', max: 1 })
  expect(second?.callbackReceived).toMatchObject({ key: 'approve', revision: 3 })
  q.do({ type: 'Park', task: 'a', agent: 'bob', token: second?.token ?? 0, callbackKey: 'again', timeoutSeconds: 1, onTimeout: 'requeue' })
  q.wait(1)
  expect(q.ask({ type: 'Claim', agent: 'bob', max: 1 })[0]?.callbackReceived).toBeUndefined()
})

test('a repeated callback appends nothing and gets the same answer, whatever has become of the task', () => {
  const q = parked()
  const first = callback(q)
  const events = q.log.length
  expect(callback(q)).toEqual(first)
  q.complete('a', q.claim('bob').token, true, 'bob')
  expect(callback(q)).toEqual(first)
  expect(q.log.slice(events).map(({ type }) => type)).toEqual(['Claimed', 'Completed'])
})

test('it is known for as long as the task is', () => {
  const q = parked().configure({ retentionSeconds: 100 })
  callback(q)
  q.complete('a', q.claim('bob').token, true, 'bob')
  q.at += 99_000
  expect(callback(q)).toEqual({ task: 'a', status: 'pending' })
  q.at += 1_000
  expect(q.refuse({ type: 'Callback', callbackKey: 'approve', content: '{}' })).toMatchObject({ code: 'not-found' })
})

test.each<readonly [string, (q: Queue) => unknown]>([
  ['before anybody waits for it', () => undefined],
  ['after the time-out', (q) => (q.enqueue(task('a')), park(q, 'a'), q.wait(60))],
  ['after a cancel', (q) => (q.enqueue(task('a')), park(q, 'a'), q.do({ type: 'Cancel', task: 'a', reason: 'r' }))],
])('a callback %s is refused as not found', (_, before) => {
  const q = new Queue()
  before(q)
  expect(q.refuse({ type: 'Callback', callbackKey: 'approve', content: '{}' })).toMatchObject({ code: 'not-found', detail: expect.stringContaining('approve') })
})

test('a rollback gives the key back to the task that had it before', () => {
  const q = parked().enqueue(task('b'))
  callback(q)
  q.do({ type: 'Cancel', task: 'a', reason: 'r' })
  const before = textOf(q.state)
  const point = mark(q.state)
  park(q, 'b', {}, 'bob')
  q.state = rollback(q.state, point)
  expect(textOf(q.state)).toBe(before)
  expect(callback(q)).toEqual({ task: 'a', status: 'pending' })
})

describe('without a callback in time', () => {
  test('fail: a failed attempt, retried with backoff', () => {
    const q = new Queue().enqueue(task('a', { maxRetries: 3, backoffSeconds: 10 }))
    park(q, 'a')
    expect(q.wait(59.999)).toEqual([])
    expect(q.wait(0.001)).toEqual(['ParkTimedOut', 'RetryScheduled'])
    expect(q.task('a')).toMatchObject({ status: 'scheduled', attempts: 1, retries: 1, lastError: 'no callback came in time', availableAt: start + 70_000 })
  })
  test('fail in the last attempt: a dead letter, which counts for the breaker', () => {
    const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 1 } } }).enqueue(task('a', { maxRetries: 1 }))
    park(q, 'a')
    expect(q.wait(60)).toEqual(['ParkTimedOut', 'DeadLettered', 'BreakerOpened'])
    expect(breakersOf(q.state)['work']).toMatchObject({ state: 'open', failures: 1 })
  })
  test('fail, if attempts count for the breaker', () => {
    const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 1, countOn: 'attempt' } } }).enqueue(task('a', { backoffSeconds: 0 }))
    park(q, 'a')
    expect(q.wait(60)).toEqual(['ParkTimedOut', 'BreakerOpened'])
    expect(breakersOf(q.state)['work']).toMatchObject({ state: 'open', failures: 1 })
  })
  test('requeue: ready again, and no attempt', () => {
    const q = new Queue().enqueue(task('a', { maxRetries: 1 }))
    park(q, 'a', { onTimeout: 'requeue' })
    expect(q.wait(60)).toEqual(['ParkTimedOut'])
    expect(q.task('a')).toMatchObject({ status: 'pending', attempts: 0, retries: 0 })
    expect(q.claim('bob').ids).toEqual(['a'])
  })
})

describe('keys', () => {
  test('two tasks cannot wait for the same', () => {
    const q = parked().enqueue(task('b'))
    const { token } = q.claim('bob')
    expect(q.refuse({ type: 'Park', task: 'b', agent: 'bob', token, callbackKey: 'approve', timeoutSeconds: 1 })).toMatchObject({ code: 'conflict', detail: expect.stringContaining('a already waits') })
  })
  test('one that was answered may be used again: then it means the new wait', () => {
    const q = parked().enqueue(task('b'))
    callback(q)
    q.do({ type: 'Cancel', task: 'a', reason: 'r' })
    park(q, 'b', {}, 'bob')
    expect(callback(q)).toEqual({ task: 'b', status: 'pending' })
    expect(callback(q)).toEqual({ task: 'b', status: 'pending' })
  })
  test('by the same task, too', () => {
    const q = parked()
    callback(q)
    park(q, 'a', {}, 'bob')
    expect(q.status('a')).toBe('waiting')
    expect(names(q.do({ type: 'Callback', callbackKey: 'approve', content: '{}' }))).toEqual(['CallbackReceived'])
  })
  test('a task remembers the last sixteen that were answered', () => {
    const q = new Queue().enqueue(task('a'))
    for (let i = 0; i < 17; i++) {
      park(q, 'a', { callbackKey: `k${i}` })
      callback(q, `k${i}`)
    }
    expect(callback(q, 'k1')).toEqual({ task: 'a', status: 'pending' })
    expect(q.refuse({ type: 'Callback', callbackKey: 'k0', content: '{}' })).toMatchObject({ code: 'not-found' })
  })
})

test('LK-15: a parked probe frees its place, and its outcome does not move the breaker', () => {
  const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 1, halfOpenAfter: 60 } } }).enqueue(task('x', { priority: 9 }), task('a', { maxRetries: 1 }), task('b'))
  q.kill('x')
  q.wait(60)
  expect(q.claim('ann').ids).toEqual(['a'])
  expect(q.claim('bob').ids).toEqual([])
  q.do({ type: 'Park', task: 'a', agent: 'ann', token: 2, callbackKey: 'approve', timeoutSeconds: 5 })
  expect(breakersOf(q.state)['work']).not.toHaveProperty('probe')
  expect(q.claim('bob').ids).toEqual(['b'])
  expect(q.wait(5)).toEqual(['ParkTimedOut', 'DeadLettered'])
  expect(breakersOf(q.state)['work']).toMatchObject({ state: 'half-open', probe: 'b' })
})

test('LK-12: it is cancelled like any other, with what depends on it', () => {
  const q = parked().enqueue(task('b', { dependencies: ['a'] }))
  expect(names(q.do({ type: 'Cancel', task: 'a', reason: 'r' }))).toEqual(['Cancelled', 'Cancelled'])
  expect(nextDue(q.state)).toBeUndefined()
  expect(names(parked().do({ type: 'CancelAll', filter: { statuses: ['waiting'] }, reason: 'r' }))).toEqual(['Cancelled'])
})

test('EV-10: explain says what it waits for, and until when', () => {
  const q = parked()
  expect(explainOf(q.state, 'a', q.at)).toMatchObject({
    status: 'waiting',
    runnable: false,
    reasons: [{ code: 'waiting', message: expect.stringContaining('ann parked it until the callback approve comes'), until: start + 60_000 }],
    score: expect.any(Number),
  })
  expect(taskOf(q.state, 'a')?.status).toBe('waiting')
})

test('a queue with a waiting task cannot be deleted', () => {
  expect(parked().refuse({ type: 'DeleteQueue', reason: 'r' })).toMatchObject({ code: 'wrong-state', detail: expect.stringContaining('1 waiting') })
})
