import { depthOf, isCursor, listTasks, type Status, type TaskFilter } from '@daybook/core'
import { beforeAll, expect, test } from 'vitest'
import { depthInShadow, listInShadow, Shadow } from '../support/states/index.js'
import { Queue, task } from './queue.js'

/** Sixty tasks of all kinds, in most of the statuses. */
const q = new Queue().configure({ defaults: { jitter: 0 } })
beforeAll(() => {
  for (let i = 0; i < 60; i++) {
    q.enqueue(
      task(`t${i}`, {
        type: ['eng-a', 'eng-b', 'ops'][i % 3] as string,
        priority: (i % 10) + 1,
        ...(i % 4 === 0 ? { phase: 'TESTING' as const } : {}),
        ...(i % 5 === 0 ? { ticketId: `T-${i % 2}` } : {}),
        ...(i % 6 === 0 ? { tenant: 'acme' } : {}),
        ...(i % 7 === 0 && i > 0 ? { dependencies: [`t${i - 1}`] } : {}),
        ...(i % 11 === 0 ? { availableAt: q.at + 60_000 } : {}),
      }),
    )
  }
  for (let i = 0; i < 20; i++) {
    const { ids, token } = q.claim(['ann', 'bob'][i % 2])
    const id = ids[0] as string
    const agent = ['ann', 'bob'][i % 2] as string
    if (i % 5 === 0) q.complete(id, token, true, agent)
    else if (i % 5 === 1) q.fail(id, token, false, agent, 'ENOENT')
    else if (i % 5 === 2) q.fail(id, token, true, agent, 'timeout')
    else if (i % 5 === 3) q.giveBack(id, token, agent)
  }
  q.do({ type: 'Cancel', task: listTasks(q.state, { statuses: ['pending'] }, 1).tasks[0]?.id ?? '', reason: 'r' })
})

/** When a task in the middle was enqueued. */
const middle = listInShadow(Shadow.of(q.log)).slice(20, 21).map(({ createdAt }) => createdAt)
const filters: ReadonlyArray<TaskFilter> = [
  {},
  { statuses: ['pending'] },
  { statuses: ['dead-letter', 'completed', 'cancelled'] as ReadonlyArray<Status> },
  { statuses: [] },
  { type: 'eng-*' },
  { type: 'ops', priorityMin: 4, priorityMax: 6 },
  { priorityMin: 10 },
  { priorityMin: 7, priorityMax: 3 },
  { phase: 'TESTING', statuses: ['pending', 'blocked'] },
  { ticketId: 'T-1' },
  { ticketId: 'T-0', statuses: ['pending'], priorityMax: 5 },
  { ticketId: 'none' },
  { tenant: 'acme', type: 'eng-a' },
  { agent: 'ann' },
  { agent: 'bob', statuses: ['in-progress'] },
  { agent: 'nobody' },
  { text: 'enoent' },
  { text: 'T1' },
  { text: 'OPS', statuses: ['in-progress'] },
  ...middle.flatMap((at) => [{ createdAfter: at }, { createdBefore: at }, { createdAfter: at, createdBefore: at + 1, type: '*' }]),
]
test.each(filters.map((filter) => [filter]))('TQM-DM-003: %j finds what a scan finds, in pages of any size', (filter) => {
  const want = listInShadow(Shadow.of(q.log), filter)
  // A limit of 0 must still give a task: the next page begins after the last task, so an empty page would end the list.
  for (const limit of [0, 1, 7, 1_000]) {
    const got = []
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = listTasks(q.state, filter, limit, after)
      expect(page.tasks.length).toBeLessThanOrEqual(Math.max(1, limit))
      got.push(...page.tasks)
      after = page.next
      expect(after === undefined || isCursor(after)).toBe(true)
    }
    expect(got).toEqual(want)
  }
})

test('TQM-DM-003: depth by status, band, type, phase and tenant equals the result of a scan', () => {
  expect(depthOf(q.state)).toEqual(depthInShadow(Shadow.of(q.log)))
})

test('depth counts types of any name', () => {
  const named = new Queue().enqueue(task('a', { type: 'constructor' }), task('b', { type: '__proto__' }), task('c', { type: 'toString', tenant: '__proto__' }))
  expect(Object.entries(depthOf(named.state).byType).sort()).toEqual([['__proto__', 1], ['constructor', 1], ['toString', 1]])
  expect(Object.entries(depthOf(named.state).byTenant)).toEqual([['__proto__', 1]])
})
