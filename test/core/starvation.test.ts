/** How long a task of low priority waits when others arrive faster than they can be served. */
import { expect, test } from 'vitest'
import { arrival, figures, workloadOf } from '../simulate/workloads.js'
import { Queue, start, task } from './queue.js'

const hour = 3_600

/**
 * Ten agents need a minute for each task. For eight hours, 11 urgent tasks arrive per minute, and one of priority 1 every ten minutes. Returns the
 * waits of the latter, in seconds.
 */
const overload = (policy: 'priority' | 'score', priority: number, starvationLimit: number) => {
  const arrivals = [
    ...Array.from({ length: 8 * 60 * 11 }, (_, i) => arrival((i * 60_000) / 11, 60_000, { priority })),
    ...Array.from({ length: 48 }, (_, i) => arrival(i * 600_000, 60_000, { priority: 1 })),
  ].sort((a, b) => a.at - b.at)
  const { byPriority, starvation } = figures(workloadOf(arrivals, 10, 8 * hour), { policy, score: { starvationLimit } })
  return { waits: byPriority.find((group) => group.priority === 1)?.waits, longest: starvation.longestWait }
}

test.each([
  ['priority', 10],
  ['priority', 8],
  ['score', 8],
] as const)('INV-13, TQM-PRI-004: with policy %s and a tenth too many tasks of priority %i, no task waits longer than the starvation limit and a minute', (policy, priority) => {
  const { waits, longest } = overload(policy, priority, 2 * hour)
  expect(longest).toBeLessThanOrEqual(2 * hour + 60)
  // Most had to wait this long, and those of the last two hours are not starved yet.
  expect(waits?.p50).toBeGreaterThan(hour)
  expect(waits?.notStarted).toBeLessThanOrEqual(12)
})

test('INV-13: teeth: without the starvation limit they would not be served at all', () => {
  const { waits } = overload('priority', 10, 86_400)
  // The first arrived together with the first urgent tasks, when all agents were free.
  expect(waits?.notStarted).toBe(47)
})

test('TQM-PRI-004: the limit counts from the enqueueing, also while the task waits for its time (docs/explanation/ordering.md)', () => {
  const late = task('late', { priority: 1, availableAt: start + 3 * hour * 1_000 })
  const q = new Queue().enqueue(late)
  q.at = start + 3 * hour * 1_000
  q.do({ type: 'Tick' })
  q.enqueue(task('urgent', { priority: 10 }))
  expect(q.claim('ann', { max: 2 }).ids).toEqual(['late', 'urgent'])
})
