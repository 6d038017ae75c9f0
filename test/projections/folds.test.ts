import type { QueueEvent } from '@daybook/core'
import { breakerTimeline, deadLetterReview, decisionsKept, foldAll, totals } from '@daybook/projections'
import { expect, test } from 'vitest'
import { loggedFrom } from './histories.js'

const enqueued = (task: string, type: string, at: number): QueueEvent => ({
  type: 'TaskEnqueued', at,
  data: { task, number: 1, type, priority: 5, idempotencyKey: task, timeout: 60, maxRetries: 3, backoffSeconds: 1 },
})
const lease = (task: string) => ({ task, agent: 'a', token: 1 })

test('EV-04: totals count outcomes by task type, and waiting and running times', () => {
  const state = foldAll(totals, loggedFrom(0, [
    enqueued('1', 'dev', 1_000),
    enqueued('2', 'ops', 1_000),
    { type: 'Claimed', at: 3_000, data: { ...lease('1'), expiresAt: 9_000 } },
    { type: 'Failed', at: 4_000, data: { ...lease('1'), error: { message: 'x' }, retryable: true, signature: 's' } },
    { type: 'RetryScheduled', at: 4_000, data: { task: '1', availableAt: 6_000 } },
    { type: 'TaskDue', at: 6_000, data: { task: '1' } },
    { type: 'Claimed', at: 6_500, data: { ...lease('1'), expiresAt: 9_000 } },
    { type: 'Completed', at: 8_500, data: lease('1') },
    { type: 'Cancelled', at: 9_000, data: { task: '2', reason: '' } },
    { type: 'Completed', at: 9_000, data: lease('unknown') },
  ]))
  const { types, events } = totals.result(state)
  expect(types.dev).toMatchObject({ enqueued: 1, claimed: 2, failed: 1, retried: 1, completed: 1, waits: 2, waitMs: 2_500, runs: 2, runMs: 3_000 })
  expect(types.ops).toMatchObject({ enqueued: 1, cancelled: 1, runs: 0, waits: 0 })
  expect(events).toMatchObject({ TaskEnqueued: 2, Claimed: 2, Completed: 2, Cancelled: 1 })
  expect(state.open.size).toBe(0)
})

test('LK-11: the dead letter review shows who decided what, the newest decisions in full', () => {
  const review = (type: 'Requeued' | 'Discarded', task: string, reviewer: string, at: number): QueueEvent => ({ type, at, data: { task, reviewer, reason: 'because' } })
  const many = Array.from({ length: decisionsKept + 5 }, (_, i) => review('Requeued', `t${i}`, 'ann', i))
  const { reviewers, decisions } = deadLetterReview.result(foldAll(deadLetterReview, loggedFrom(0, [...many, review('Discarded', 'z', 'ben', 9_999)])))
  expect(reviewers).toEqual({
    ann: { retried: decisionsKept + 5, discarded: 0, lastAt: decisionsKept + 4 },
    ben: { retried: 0, discarded: 1, lastAt: 9_999 },
  })
  expect(decisions).toHaveLength(decisionsKept)
  expect(decisions.at(-1)).toEqual({ revision: decisionsKept + 5, at: 9_999, verdict: 'discard', task: 'z', reviewer: 'ben', reason: 'because' })
})

test('LK-13: the breaker timeline shows each state with its cause and duration', () => {
  const { dev } = breakerTimeline.result(foldAll(breakerTimeline, loggedFrom(0, [
    { type: 'BreakerOpened', at: 1_000, data: { taskType: 'dev', cause: 'threshold' } },
    { type: 'BreakerHalfOpened', at: 61_000, data: { taskType: 'dev' } },
    { type: 'BreakerOpened', at: 62_000, data: { taskType: 'dev', cause: 'probe-failed' } },
    { type: 'BreakerClosed', at: 70_000, data: { taskType: 'dev', cause: 'manual', reason: 'fixed' } },
  ])))
  expect(dev).toEqual({
    opened: 2, openMs: 68_000, halfOpenMs: 1_000,
    spans: [
      { state: 'open', from: 1_000, to: 61_000, revision: 0, cause: 'threshold' },
      { state: 'half-open', from: 61_000, to: 62_000, revision: 1 },
      { state: 'open', from: 62_000, to: 70_000, revision: 2, cause: 'probe-failed' },
      { state: 'closed', from: 70_000, revision: 3, cause: 'manual', reason: 'fixed' },
    ],
  })
})
