import { breakersOf, fork, nextDue, statuses, tickMax } from '@daybook/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { names, Queue, start, task } from './queue.js'

test('LK-08: a lease lasts for the timeout, and each heartbeat restarts it', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60 }))
  const { token } = q.claim()
  q.at += 40_000
  expect(q.ask({ type: 'Heartbeat', task: 'a', agent: 'ann', token })).toEqual({ token, expiresAt: start + 100_000 })
  expect(q.wait(59)).toEqual([])
  expect(nextDue(q.state)).toBe(start + 100_000)
  expect(q.wait(1)).toEqual(['ClaimExpired'])
})

const seconds = fc.integer({ min: 1, max: 600_000 }).map((ms) => ms / 1_000)
test('LK-08: a lease lasts as long as its claim asks for, but no longer than the task allows, and each heartbeat restarts it', () => {
  fc.assert(
    fc.property(seconds, fc.option(seconds, { nil: undefined }), fc.array(fc.double({ min: 0, max: 0.99, noNaN: true })), (timeout, leaseSeconds, waits) => {
      const q = new Queue().enqueue(task('a', { timeout }))
      const lasts = Math.ceil(Math.min(timeout, leaseSeconds ?? timeout) * 1_000)
      const [claimed] = q.ask({ type: 'Claim', agent: 'ann', max: 1, ...(leaseSeconds === undefined ? {} : { leaseSeconds }) })
      const { token, expiresAt, leaseMs } = claimed ?? { token: 0, expiresAt: 0, leaseMs: 0 }
      expect({ expiresAt, leaseMs }).toEqual({ expiresAt: start + lasts, leaseMs: lasts })
      for (const share of waits) {
        q.at += Math.floor(lasts * share)
        // A snapshot keeps everything that is needed to go on.
        q.state = fork(q.state)
        expect(q.ask({ type: 'Heartbeat', task: 'a', agent: 'ann', token })).toEqual({ token, expiresAt: q.at + lasts })
      }
      expect(q.wait((lasts - 1) / 1_000)).toEqual([])
      expect(q.wait(0.001)).toEqual(['ClaimExpired'])
    }),
  )
})

test('LK-08: a short lease does not shorten the next claim of the task', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60 }))
  q.claim('ann', { leaseSeconds: 5 })
  q.wait(5)
  const { token } = q.claim('bob')
  q.at += 30_000
  expect(q.ask({ type: 'Heartbeat', task: 'a', agent: 'bob', token })).toEqual({ token, expiresAt: q.at + 60_000 })
})

test('LK-08: an expired claim counts as an attempt and a retry, and can be claimed again at once', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60 }))
  q.claim()
  q.wait(60)
  expect(q.task('a')).toMatchObject({ status: 'pending', attempts: 1, retries: 1, lastError: 'lease expired without a heartbeat', claimants: [] })
  expect(q.claim('ann').ids).toEqual(['a'])
})

test('LK-08: a heartbeat never shortens a lease', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60 }))
  const { token } = q.claim()
  q.at -= 30_000
  expect(q.ask({ type: 'Heartbeat', task: 'a', agent: 'ann', token })).toMatchObject({ expiresAt: start + 60_000 })
})

test('GB-07: an expiry happens by itself, and at the last retry it is a dead letter', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60, maxRetries: 2 }))
  q.claim()
  expect(q.wait(60)).toEqual(['ClaimExpired'])
  q.claim()
  expect(q.wait(60)).toEqual(['ClaimExpired', 'DeadLettered'])
})

test('GB-07: a terminated agent loses all its leases at once', () => {
  const q = new Queue().enqueue(task('a'), task('b'), task('c'))
  q.claim('ann', { max: 2 })
  q.claim('bob')
  expect(q.ask({ type: 'TerminateAgent', agent: 'ann', reason: 'gone' })).toEqual({
    tasks: [{ id: 'a', number: 1, status: 'pending' }, { id: 'b', number: 2, status: 'pending' }],
    remaining: 0,
  })
  expect([q.status('a'), q.status('b'), q.status('c')]).toEqual(['pending', 'pending', 'in-progress'])
  expect(q.refuse({ type: 'TerminateAgent', agent: 'ann', reason: 'gone' }).code).toBe('not-found')
})

test.each([
  { delays: tickMax + 5, leases: 0 },
  { delays: 0, leases: tickMax + 5 },
  { delays: tickMax - 5, leases: 10 },
])(`GB-07: one tick handles ${tickMax} tasks at most, and the rest is due at once: $delays delays and $leases leases`, ({ delays, leases }) => {
  const q = new Queue().enqueue(
    ...Array.from({ length: delays }, (_, i) => task(`later ${i}`, { availableAt: start + 60_000 })),
    ...Array.from({ length: leases }, (_, i) => task(`held ${i}`, { timeout: 60 })),
  )
  if (leases > 0) expect(q.claim('ann', { max: leases }).ids.length).toBe(leases)
  const first = q.wait(60)
  expect(first.length).toBe(tickMax)
  expect(nextDue(q.state)).toBe(start + 60_000)
  const rest = [...first, ...q.wait(0)]
  expect(rest.filter((name) => name === 'TaskDue').length).toBe(delays)
  expect(rest.filter((name) => name === 'ClaimExpired').length).toBe(leases)
  expect(nextDue(q.state)).toBeUndefined()
})

test('LK-02: a completion without a decision report leaves the task incomplete, and what depends on it blocked', () => {
  const q = new Queue().enqueue(task('a'), task('b', { dependencies: ['a'] }))
  const { token } = q.claim()
  expect(q.complete('a', token, false)).toEqual(['MarkedIncomplete'])
  expect([q.status('a'), q.status('b')]).toEqual(['incomplete', 'blocked'])
  expect(q.task('a')).toMatchObject({ claimedBy: 'ann', leaseExpiresAt: start + 3_600_000 })
  expect(q.complete('a', token, true)).toEqual(['Completed'])
  expect(q.status('b')).toBe('pending')
})

test('LK-02: a report that does not come in time is a failed attempt', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60 }))
  q.complete('a', q.claim().token, false)
  expect(q.wait(60)).toEqual(['ClaimExpired'])
  expect(q.task('a')).toMatchObject({ status: 'pending', retries: 1, lastError: 'decision report missing' })
})

test('LK-02: if the report is optional, a completion without one completes', () => {
  const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(task('a'))
  expect(q.complete('a', q.claim().token, false)).toEqual(['Completed'])
})

test('LK-03: a task goes through all its statuses', () => {
  const q = new Queue().enqueue(task('first'), task('a', { dependencies: ['first'], maxRetries: 2, availableAt: start + 1_000 }))
  const seen = [q.status('a')]
  const look = (): void => void seen.push(q.status('a'))
  q.complete('first', q.claim().token)
  look()
  q.wait(1)
  look()
  const claimed = q.claim()
  look()
  q.complete('a', claimed.token, false)
  look()
  q.fail('a', claimed.token)
  look()
  q.wait(60)
  q.do({ type: 'Park', task: 'a', agent: 'ann', token: q.claim().token, callbackKey: 'k', timeoutSeconds: 9 })
  look()
  q.do({ type: 'Callback', callbackKey: 'k', content: '{}' })
  q.fail('a', q.claim().token)
  look()
  q.do({ type: 'Discard', task: 'a', reviewer: 'r', reason: 'r' })
  look()
  expect(seen).toEqual(['blocked', 'scheduled', 'pending', 'in-progress', 'incomplete', 'scheduled', 'waiting', 'dead-letter', 'discarded'])
  expect(statuses).toEqual(['scheduled', 'waiting', 'blocked', 'pending', 'queued', 'in-progress', 'incomplete', 'completed', 'dead-letter', 'cancelled', 'discarded'])
})

test('LK-09: a failed task waits 60, 120, 240 seconds, then becomes a dead letter', () => {
  const q = new Queue().configure({ defaults: { jitter: 0 } }).enqueue(task('a', { maxRetries: 4 }))
  for (const delay of [60, 120, 240]) {
    expect(q.fail('a', q.claim().token)).toEqual(['Failed', 'RetryScheduled'])
    expect(q.task('a').availableAt).toBe(q.at + delay * 1_000)
    expect(q.wait(delay - 1)).toEqual([])
    expect(q.wait(1)).toEqual(['TaskDue'])
  }
  expect(q.fail('a', q.claim().token)).toEqual(['Failed', 'DeadLettered'])
  expect(q.task('a')).toMatchObject({ retries: 4, attempts: 4, deadLetterReason: 'retries-exhausted', lastError: 'boom' })
})

test('LK-09: not retryable is a dead letter at once; without backoff a retry is ready at once', () => {
  const q = new Queue().enqueue(task('a', { backoffSeconds: 0 }))
  expect(q.fail('a', q.claim().token)).toEqual(['Failed'])
  expect(q.status('a')).toBe('pending')
  expect(q.fail('a', q.claim().token, false)).toEqual(['Failed', 'DeadLettered'])
  expect(q.task('a').deadLetterReason).toBe('not-retryable')
})

test('LK-09: the reply to a failure says when the task is available again', () => {
  const q = new Queue().configure({ defaults: { jitter: 0 } }).enqueue(task('a'))
  const { token } = q.claim()
  expect(q.ask({ type: 'Fail', task: 'a', agent: 'ann', token, error: { message: 'm' }, retryable: true })).toEqual({
    status: 'scheduled',
    availableAt: start + 60_000,
  })
})

test('LK-16: the next claim of a task gets its checkpoint', () => {
  const q = new Queue().enqueue(task('a', { backoffSeconds: 0 }))
  const { token } = q.claim()
  q.do({ type: 'Heartbeat', task: 'a', agent: 'ann', token, checkpoint: { page: 3 } })
  q.fail('a', token)
  const [claimed] = q.ask({ type: 'Claim', agent: 'bob', max: 1 })
  expect(q.log[claimed?.checkpointRevision ?? -1]).toMatchObject({ type: 'LeaseExtended', data: { checkpoint: { page: 3 } } })
  expect(q.log[claimed?.contentRevision ?? -1]).toMatchObject({ type: 'TaskEnqueued', content: '{"payload":1}' })
})

test('INV-14: a clock that goes backward does not move the queue\'s time back', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60 }))
  q.at -= 3_600_000
  expect(q.do({ type: 'Claim', agent: 'ann', max: 1 })[0]).toMatchObject({ at: start, data: { expiresAt: start + 60_000 } })
  expect(names(q.log)).toEqual(['TaskEnqueued', 'Claimed'])
})

test('GB-07: terminating an agent uses up no retry and no attempt of its tasks, and does not count for the breaker', () => {
  const q = new Queue()
    .configure({ maxAttempts: 1, breakers: { defaults: { failureThreshold: 1, countOn: 'attempt' } } })
    .enqueue(task('a', { maxRetries: 1 }))
  for (let time = 0; time < 5; time++) {
    const { ids, token } = q.claim()
    expect(ids).toEqual(['a'])
    if (time % 2 === 1) q.complete('a', token, false)
    expect(names(q.do({ type: 'TerminateAgent', agent: 'ann', reason: 'it hangs' }))).toEqual(['AgentTerminated', 'ClaimRevoked'])
    expect(q.task('a')).toMatchObject({ status: 'pending', attempts: 0, retries: 0, claimants: [] })
    expect(q.task('a')).not.toHaveProperty('lastError')
    expect(q.refuse({ type: 'Heartbeat', task: 'a', agent: 'ann', token }).detail).toContain('terminated: this agent was ended by an operator')
  }
  expect(breakersOf(q.state)).toEqual({})
})

test('EV-11: older events of a terminated agent still count as an attempt and a retry', () => {
  const q = new Queue().enqueue(task('a', { maxRetries: 3 }))
  const { token } = q.claim()
  q.fold({ type: 'AgentTerminated', at: q.at, data: { agent: 'ann', reason: 'r' } })
  q.fold({ type: 'ClaimExpired', at: q.at, data: { task: 'a', agent: 'ann', token, cause: 'agent-terminated', signature: 's' } })
  expect(q.task('a')).toMatchObject({ status: 'pending', attempts: 1, retries: 1, lastError: 'agent terminated' })
})
