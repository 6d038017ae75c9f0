/** `maxRunSeconds` of a task: no heartbeat keeps an attempt longer. */
import { expect, test } from 'vitest'
import { reasonsOf } from '@daybook/core'
import { names, Queue, start, task } from './queue.js'

const heartbeat = (q: Queue, token: number): number => q.ask({ type: 'Heartbeat', task: 'a', agent: 'ann', token }).expiresAt

test('LK-08: heartbeats extend a lease up to maxRunSeconds after the claim, and then the attempt has failed', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60, maxRunSeconds: 100 }))
  const { token } = q.claim()
  expect(q.task('a')).toMatchObject({ maxRunSeconds: 100, leaseExpiresAt: start + 60_000 })
  q.at += 30_000
  expect(heartbeat(q, token)).toBe(start + 90_000)
  q.at += 50_000
  expect(heartbeat(q, token)).toBe(start + 100_000)
  q.at += 19_000
  expect(heartbeat(q, token)).toBe(start + 100_000)
  expect(q.wait(0.999)).toEqual([])
  expect(q.wait(0.001)).toEqual(['ClaimExpired'])
  expect(q.log[q.log.length - 1]).toMatchObject({ data: { cause: 'ran-too-long' } })
  expect(q.task('a')).toMatchObject({ status: 'pending', retries: 1, attempts: 1, lastError: 'the attempt took longer than maxRunSeconds' })
  expect(q.refuse({ type: 'Heartbeat', task: 'a', agent: 'ann', token })).toMatchObject({ code: 'lease-lost', detail: expect.stringContaining('longer than maxRunSeconds') })
})

test('LK-08: each attempt has its own, and the last one makes a dead letter', () => {
  const q = new Queue().enqueue(task('a', { timeout: 60, maxRunSeconds: 10.5, maxRetries: 2 }))
  q.claim()
  expect(q.wait(10.5)).toEqual(['ClaimExpired'])
  q.at += 500_000
  const { token } = q.claim()
  expect(q.task('a').leaseExpiresAt).toBe(q.at + 10_500)
  expect(heartbeat(q, token)).toBe(q.at + 10_500)
  expect(q.wait(10.5)).toEqual(['ClaimExpired', 'DeadLettered'])
})

test('LK-08: a lease that ends before for want of a heartbeat says so, and a report that is missing too', () => {
  const q = new Queue().enqueue(task('a', { timeout: 20, maxRunSeconds: 100 }))
  q.claim()
  q.wait(20)
  expect(q.log[q.log.length - 1]).toMatchObject({ data: { cause: 'lease-expired' } })
  const { token } = q.claim()
  q.complete('a', token, false)
  for (let i = 0; i < 9; i++) {
    q.at += 10_000
    heartbeat(q, token)
  }
  expect(q.wait(10)).toContain('ClaimExpired')
  expect(q.log[q.log.length - 1]).toMatchObject({ data: { cause: 'report-missing' } })
})

test('EV-10: explain says how long a held task may run, and what it spawns may run as long', () => {
  const q = new Queue().enqueue(task('a', { maxRunSeconds: 100 }))
  const { token } = q.claim()
  expect(reasonsOf(q.state, 'a', q.at)).toMatchObject([{ code: 'held', message: 'ann is working on it, for 100 s at most' }])
  const found = { discoveries: [{ kind: 'security_issue', content: '{}' }], left: 0 }
  const events = q.do({ type: 'Complete', task: 'a', agent: 'ann', token, content: '{}', hasReport: true, found })
  expect(names(events)).toEqual(['TaskEnqueued', 'Completed'])
  expect(events[0]?.data).toMatchObject({ maxRunSeconds: 100 })
})
