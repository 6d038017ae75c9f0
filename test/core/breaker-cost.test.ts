/** What a failure and a rate limit cost in a queue whose type has many groups: one for each tenant. */
import { ReadyIndex } from '@daybook/core/testing'
import { expect, test, vi } from 'vitest'
import { Queue, task } from './queue.js'

const tasks = Array.from({ length: 8 }, (_, i) => task(`t${i}`, { tenant: `tenant ${i}` }))

/** How often all groups of a type were looked at, because its gates may have moved. */
const looksOf = (work: () => void): number => {
  const looks = vi.spyOn(ReadyIndex.prototype, 'breakerMoved')
  try {
    work()
    return looks.mock.calls.length
  } finally {
    looks.mockRestore()
  }
}

test('LK-13 INV-28: to count a failure, or to forget it, looks at no group of the type; what opens or closes them does', () => {
  const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 3, halfOpenAfter: 1, countOn: 'attempt' } } }).enqueue(...tasks)
  const claims = tasks.slice(0, 6).map(() => q.claim())
  const end = (n: number, isDone: boolean): void => {
    const { ids, token } = claims[n] as (typeof claims)[number]
    if (isDone) q.complete(ids[0] as string, token)
    else q.fail(ids[0] as string, token)
  }
  expect(looksOf(() => [false, false, true, false, false].forEach((isDone, n) => end(n, isDone)))).toBe(0)
  expect(looksOf(() => end(5, false))).toBe(1)
  expect(q.look()).toEqual([])
  expect(looksOf(() => q.wait(1))).toBe(1)
  // The test task closes all other groups.
  expect(looksOf(() => q.claim())).toBe(1)
  expect(q.look('bob')).toEqual([])
})

test('LK-16 INV-28: a rate limit looks at the groups of its type only if no other agent waits yet', () => {
  const q = new Queue().enqueue(...tasks)
  const claims = ['ann', 'bob', 'cyd'].map((agent) => ({ agent, ...q.claim(agent) }))
  const meet = ({ agent, ids, token }: (typeof claims)[number]): void => {
    q.at += 1
    q.fail(ids[0] as string, token, true, agent, '429')
  }
  expect(looksOf(() => meet(claims[0] as (typeof claims)[number]))).toBe(1)
  expect(looksOf(() => claims.slice(1).forEach(meet))).toBe(0)
  expect(q.log.filter(({ type }) => type === 'SlowdownSignalled')).toHaveLength(3)
  expect(q.look('dan')).toEqual([])
  expect(looksOf(() => q.wait(3_600))).toBe(1)
  expect(q.look('dan')).toHaveLength(1)
})
