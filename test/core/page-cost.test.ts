/** The cost of a page of tasks, in kinds of groups, groups and tasks that it looks at. The benchmark (`page-groups`) measures times. */
import { listTasks, type PreparedTask, type TaskFilter } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { looksOf } from '../support/states/index.js'
import { Queue, task } from './queue.js'

type Facts = Partial<PreparedTask>

const queueOf = (tasks: ReadonlyArray<Facts>): Queue => new Queue().enqueue(...tasks.map((facts, i) => task(`t${i}`, facts)))

/** `count` tasks that match, in eight groups, between tasks of `others` other groups, which come first if they can. */
const wanted = (i: number): Facts => ({ type: `eng-${i % 2}`, tenant: `acme-${i % 2}`, phase: i % 4 < 2 ? 'TESTING' : 'REQUIREMENTS', ticketId: 'T-1', priority: 1 + (i % 3) })
const among = (count: number, others: number, other: (i: number) => Facts): Queue =>
  queueOf([...Array.from({ length: others }, (_, i) => ({ priority: 5, ...other(i) })), ...Array.from({ length: count }, (_, i) => wanted(i))])

const filters: ReadonlyArray<TaskFilter> = [
  { type: 'eng-1' },
  { type: 'eng-*' },
  { tenant: 'acme-1' },
  { type: 'eng-1', tenant: 'acme-1' },
  { type: 'eng-*', tenant: 'acme-1' },
  { type: 'eng-*', phase: 'TESTING' },
  { tenant: 'acme-0', phase: 'TESTING' },
  { type: 'eng-0', tenant: 'acme-0', phase: 'TESTING' },
  { type: 'eng-1', priorityMin: 2, priorityMax: 3 },
  { type: 'eng-1', text: 'eng' },
  { ticketId: 'T-1' },
  { ticketId: 'T-1', type: 'eng-1', tenant: 'acme-1' },
]

const others: Readonly<Record<string, (i: number) => Facts>> = {
  'types of which some come before and some after those asked for': (i) => ({ type: `${i % 2 === 0 ? 'a' : 'z'}-${i}` }),
  tenants: (i) => ({ type: 'ops', tenant: `other ${i}` }),
  'types of the same tenant': (i) => ({ type: `ops-${i}`, tenant: 'acme-1' }),
  'tenants with the same type, in another phase': (i) => ({ type: 'eng-1', tenant: `other ${i}`, phase: 'IMPLEMENTATION' as const }),
  'types of the same tenant, and tenants with the same type': (i) => (i % 2 === 0 ? { type: `ops-${i}`, tenant: 'acme-1' } : { type: 'eng-1', tenant: `other ${i}` }),
  'concurrency keys': (i) => ({ type: 'ops', concurrencyKey: `key ${i}` }),
}
/** Whether none of these others match. */
const apart = (filter: TaskFilter, other: (i: number) => Facts): boolean => {
  const matches = ({ type = '', tenant, phase }: Facts): boolean =>
    (filter.type === undefined || (filter.type.endsWith('*') ? type.startsWith(filter.type.slice(0, -1)) : type === filter.type)) &&
    (filter.tenant === undefined || tenant === filter.tenant) &&
    (filter.phase === undefined || phase === filter.phase)
  return filter.ticketId !== undefined || ![other(0), other(1)].some(matches)
}

const pageLooks = (q: Queue, filter: TaskFilter): number => {
  const pending = { statuses: ['pending' as const], ...filter }
  const [page, all] = [listTasks(q.state, pending, 20), listTasks(q.state, pending, 1_000).tasks]
  expect(page.tasks).toEqual(all.slice(0, 20))
  expect(all.length).toBeGreaterThan(20)
  return looksOf(q.state, () => void listTasks(q.state, pending, 20))
}

describe.each(Object.entries(others))('a page of few tasks looks at no more beside 4,000 other %s', (_, other) => {
  const queue = among(200, 4_000, other)

  test.each(filters.filter((filter) => apart(filter, other)).map((filter) => [filter]))('%j', (filter) => {
    // 200 tasks and their groups, and at most three times as many looks to find out that they are few.
    expect(pageLooks(queue, filter)).toBeLessThanOrEqual(1_000)
  })
})

describe('a page of which every second task matches looks at few others, however many match', () => {
  const queue = queueOf(Array.from({ length: 4_000 }, (_, i) => ({ type: `${i % 2 === 0 ? 'eng' : 'ops'}-${i}`, tenant: `${i % 2 === 0 ? 'acme' : 'other'}`, ticketId: `T-${i % 2}` })))

  test.each<readonly [TaskFilter]>([[{ type: 'eng-*' }], [{ tenant: 'acme' }], [{ type: 'eng-*', tenant: 'acme' }], [{ ticketId: 'T-0' }], [{}]])('%j', (filter) => {
    // Twenty tasks and a few times as many looks, each at a task, its group and its kind.
    expect(pageLooks(queue, filter)).toBeLessThanOrEqual(400)
  })
})

test('teeth: a page that looks at all groups or all tasks is seen', () => {
  const queue = among(200, 4_000, others['tenants'] as (i: number) => Facts)
  expect(looksOf(queue.state, () => void listTasks(queue.state, { statuses: ['pending'], text: 'eng' }, 20))).toBeGreaterThan(4_000)
})
