/** How long a task of low priority waits when others arrive faster than they can be served. */
import { expect, test } from 'vitest'
import { Queue, start, task } from './queue.js'

const hour = 3_600

/**
 * Ten agents need a minute for each task. For eight hours 11 urgent tasks arrive a minute, and one of priority 1 every
 * ten minutes. Returns the waits of the latter in seconds, and how many were never served.
 */
const overload = (policy: 'priority' | 'score', priority: number, starvationLimit: number) => {
  const q = new Queue().configure({ policy, decisionReport: 'optional', score: { starvationLimit } })
  const arrivals = [
    ...Array.from({ length: 8 * 60 * 11 }, (_, i) => ({ id: `urgent-${i}`, at: (i * 60) / 11, priority })),
    ...Array.from({ length: 48 }, (_, i) => ({ id: `low-${i}`, at: i * 600, priority: 1 })),
  ].sort((a, b) => a.at - b.at)
  const waits: Array<number> = []
  let next = 0
  // One of the ten agents is free every six seconds.
  for (let second = 0; second < 8 * hour; second += 6) {
    q.at = start + second * 1_000
    for (let one = arrivals[next]; one !== undefined && one.at <= second; one = arrivals[++next]) q.enqueue(task(one.id, { priority: one.priority, timeout: 86_400 }))
    const { ids, token } = q.claim()
    const [id] = ids
    if (id === undefined) continue
    if (id.startsWith('low-')) waits.push(second - Number(id.slice(4)) * 600)
    q.complete(id, token)
  }
  return { waits, unserved: 48 - waits.length }
}

test.each([
  ['priority', 10],
  ['priority', 8],
  ['score', 8],
] as const)('INV-13, TQM-PRI-004: with policy %s and a tenth too many tasks of priority %i, no task waits longer than the starvation limit and a minute', (policy, priority) => {
  const { waits, unserved } = overload(policy, priority, 2 * hour)
  expect(Math.max(...waits)).toBeLessThanOrEqual(2 * hour + 60)
  // The first had to wait for so long, and those of the last two hours are not starved yet.
  expect(Math.min(...waits)).toBeGreaterThan(hour)
  expect(unserved).toBeLessThanOrEqual(12)
})

test('INV-13: teeth: without the starvation limit they would not be served at all', () => {
  expect(overload('priority', 10, 86_400).waits).toEqual([])
})
