/** The cost of a claim as the backlog grows, in tasks that it looks at. The benchmark (`claim-1M`, `claim-mix-1M`) measures times. */
import { settle } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { comparisonsOf } from '../support/states/index.js'
import { Queue, start, task } from './queue.js'

const queued = (policy: 'priority' | 'score', tasks: number): Queue => {
  const q = new Queue()
  q.do({ type: 'Configure', patch: { policy } })
  q.enqueue(...Array.from({ length: tasks }, (_, i) => task(`t${i}`, { type: `type ${i % 3}`, priority: 1 + (i % 10), tenant: `tenant ${i % 4}` })))
  q.claim('ann')
  return q
}
const looksOf = (q: Queue, max: number, types?: ReadonlyArray<string>): number =>
  comparisonsOf(q.state, () => void q.claim('ann', { max, ...(types === undefined ? {} : { types }) }))

describe.each(['priority', 'score'] as const)('with policy %s', (policy) => {
  test('TQM-OBS-001, INV-28: a claim looks at no more of 20,000 queued tasks than of 2,000', () => {
    const [few, many] = [looksOf(queued(policy, 2_000), 1), looksOf(queued(policy, 20_000), 1)]
    expect(few).toBeGreaterThan(0)
    expect(many).toBeLessThanOrEqual(few)
  })

  test('TQM-OBS-001, INV-28: nor of 1,000 more groups from which it takes nothing', () => {
    const types = ['type 1']
    const [few, many] = [queued(policy, 2_000), queued(policy, 2_000)]
    many.enqueue(...Array.from({ length: 1_000 }, (_, i) => task(`o${i}`, { type: `other ${i}`, priority: 10 })))
    for (const q of [few, many]) q.claim('ann', { types })
    expect(looksOf(many, 1, types)).toBeLessThanOrEqual(looksOf(few, 1, types))
  })

  test('TQM-OBS-001, INV-28: nor when the deadlines of all have come at once and they are in their lanes', () => {
    const late = (tasks: number, max: number): Queue => {
      const q = new Queue()
      q.do({ type: 'Configure', patch: { policy } })
      q.enqueue(...Array.from({ length: tasks }, (_, i) => task(`t${i}`, { priority: 1 + (i % 10), deadlineAt: start + 3_600_000 })))
      q.at = start + 3_600_001
      q.state = settle(q.state, q.at, max)
      return q
    }
    const [few, many] = [looksOf(late(2_000, 2_000), 1), looksOf(late(20_000, 20_000), 1)]
    expect(few).toBeGreaterThan(0)
    expect(many).toBeLessThanOrEqual(few)
    // Teeth: tasks that are not moved yet are looked at one by one.
    expect(looksOf(late(2_000, 1_000), 1)).toBeGreaterThan(1_000)
  })

  test('teeth: a claim that looks at more is seen', () => {
    const q = queued(policy, 2_000)
    expect(looksOf(q, 500)).toBeGreaterThan(10 * looksOf(q, 1))
  })
})
