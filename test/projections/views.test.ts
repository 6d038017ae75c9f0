import { evolve, initial, type QueueEvent, type QueueState } from '@daybook/core'
import { listViews, otherViews } from '@daybook/projections'
import { describe, expect, test } from 'vitest'

const enqueued = (number: number, priority: number, more: object = {}): QueueEvent => ({
  type: 'TaskEnqueued', at: 1_000,
  data: { task: `t${number}`, number, type: 'dev', priority, idempotencyKey: `k${number}`, timeout: 60, maxRetries: 3, backoffSeconds: 1, ...more },
})
const done = (number: number, at: number): ReadonlyArray<QueueEvent> => [
  { type: 'Claimed', at, data: { task: `t${number}`, agent: 'a', token: number, expiresAt: at + 60_000 } },
  { type: 'Completed', at, data: { task: `t${number}`, agent: 'a', token: number } },
]
const stateOf = (events: ReadonlyArray<QueueEvent>): QueueState => events.reduce(evolve, initial('q'))

describe('EV-04: the views', () => {
  test('every status is in exactly one list, and lists have the order of claims', () => {
    const state = stateOf([
      enqueued(1, 3), enqueued(2, 9), enqueued(3, 9, { dependencies: ['t1'] }), enqueued(4, 9, { availableAt: 9_000 }), enqueued(5, 9), ...done(5, 2_000),
      enqueued(6, 5), { type: 'Cancelled', at: 2_000, data: { task: 't6', reason: '' } },
    ])
    const lists = Object.fromEntries(Object.values(listViews).map((view) => [view.name, view.list(state, 10).tasks.map(({ id }) => id)]))
    expect(lists).toEqual({
      pending: ['t2', 't1'], scheduled: ['t4'], waiting: [], blocked: ['t3'], 'in-progress': [], completed: ['t5'], 'dead-letters': [], cancelled: ['t6'],
    })
    expect(otherViews.depth(state).total).toBe(6)
    const statuses = Object.values(listViews).flatMap((view) => view.statuses)
    expect(new Set(statuses).size).toBe(statuses.length)
  })
})
