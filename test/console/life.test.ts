/** CON-6: a task's way through its statuses and its attempts, from its events. */
import { attemptsOf, joined, visitsOf } from '@daybook/console/internal'
import { expect, test } from 'vitest'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString()
const ms = (second: number): number => Date.parse(at(second))
let revision = 0
const event = (second: number, type: string, data: Readonly<Record<string, unknown>> = {}) => ({ revision: revision++, type, at: at(second), data })
const agent = { agent: 'ada', token: 1 }

test('CON-6: a task that fails, is tried again, and is done', () => {
  const events = [
    event(0, 'TaskEnqueued'), event(5, 'Claimed', agent), event(6, 'LeaseExtended', { ...agent, progress: 50 }), event(7, 'LeaseExtended', { ...agent, checkpoint: { step: 1 } }), event(9, 'Failed', { ...agent, error: { message: 'boom' } }),
    event(9, 'RetryScheduled', { availableAt: at(60) }), event(60, 'TaskDue'), event(61, 'Claimed', { agent: 'bob', token: 2 }), event(70, 'Completed', { agent: 'bob' }),
  ]
  const visits = visitsOf(events, 'completed')
  expect(visits.map(({ status, from }) => [status, from])).toEqual([
    ['pending', ms(0)], ['in-progress', ms(5)], ['scheduled', ms(9)], ['pending', ms(60)], ['in-progress', ms(61)], ['completed', ms(70)],
  ])
  expect(attemptsOf(events)).toMatchObject([
    { number: 1, agent: 'ada', from: ms(5), to: ms(9), outcome: 'failed', error: 'boom', progress: 50, checkpoint: { step: 1 } },
    { number: 2, agent: 'bob', from: ms(61), to: ms(70), outcome: 'completed', error: undefined, progress: undefined },
  ])
})

test('CON-6: what its own events do not tell has no time: when those were done that it waited for', () => {
  const enqueued = event(0, 'TaskEnqueued', { dependencies: ['a'] })
  expect(visitsOf([enqueued], 'blocked').map(({ status }) => status)).toEqual(['blocked'])
  expect(visitsOf([enqueued], 'pending').map(({ status, from }) => [status, from])).toEqual([['blocked', ms(0)], ['pending', undefined]])
  expect(visitsOf([enqueued, event(9, 'Claimed', agent)], 'in-progress').map(({ status }) => status)).toEqual(['blocked', 'pending', 'in-progress'])
})

test.each([
  ['Released', { reason: 'no tools' }, 'pending', 'released', 'no tools'],
  ['ClaimExpired', { cause: 'lease' }, 'pending', 'expired', 'lease'],
  ['ClaimReturned', { reason: 'stops' }, 'pending', 'given back', 'stops'],
  ['ClaimRevoked', { reason: 'sold' }, 'pending', 'revoked', 'sold'],
  ['TaskParked', {}, 'waiting', 'parked', undefined],
  ['RateLimited', { error: { message: '429' } }, 'scheduled', 'rate-limited', '429'],
  ['Cancelled', { reason: 'not needed' }, 'cancelled', 'cancelled', 'not needed'],
] as const)('CON-6: %s ends an attempt', (type, data, status, outcome, error) => {
  const events = [event(0, 'TaskEnqueued'), event(1, 'Claimed', agent), event(3, type, data)]
  expect(visitsOf(events, status).map((visit) => visit.status)).toEqual(['pending', 'in-progress', status])
  expect(attemptsOf(events)).toMatchObject([{ to: ms(3), outcome, error }])
})

test('CON-6: an attempt goes on while nothing ended it; a dead letter that was sent back begins again', () => {
  expect(attemptsOf([event(1, 'Claimed', agent), event(2, 'TaskBumped')])).toMatchObject([{ to: undefined, outcome: 'running' }])
  const events = [event(0, 'TaskEnqueued', { availableAt: at(5) }), event(5, 'TaskDue'), event(6, 'Claimed', agent), event(7, 'Failed', { ...agent, error: 'x' }), event(7, 'DeadLettered', { reason: 'not-retryable' }), event(9, 'Requeued')]
  expect(visitsOf(events, 'pending').map(({ status }) => status)).toEqual(['scheduled', 'pending', 'in-progress', 'dead-letter', 'pending'])
})

test('CON-6: older events stay before the newest ones, which move on; unless some may be missing in between', () => {
  const events = Array.from({ length: 10 }, (_, n) => ({ ...event(n, 'LeaseExtended'), revision: n * 10 }))
  const older = { events: events.slice(2, 8), next: 10, upTo: 74 }
  const page = (begin: number, end: number) => ({ events: events.slice(begin, end), next: begin === 0 ? null : (begin - 1) * 10 })
  expect(joined(page(5, 8), undefined)).toEqual(page(5, 8))
  expect(joined(page(5, 8), older)).toEqual({ events: events.slice(2, 8), next: 10 })
  expect(joined(page(7, 10), older)).toEqual({ events: events.slice(2, 10), next: 10 })
  expect(joined(page(9, 10), older)).toEqual(page(9, 10))
  expect(joined(page(0, 10), older)).toEqual(page(0, 10))
})
