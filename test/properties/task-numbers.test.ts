/**
 * The index of tasks by number, compared with a plain map; and its size, however far apart the numbers are (INV-22). It may begin with the tasks of a
 * snapshot, of which some are rows.
 */
import { taskColumnsIn, Group, GroupKinds, LoadedTasks, newTaskRecord, pageOf, RowList, TaskNumbers, type TaskRecord, type TenantShare } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from './settings.js'

const group = new Group(new GroupKinds(new Map()).of('work', undefined, [], undefined), { name: undefined } as TenantShare, { name: undefined } as TenantShare)
const record = (number: number): TaskRecord =>
  newTaskRecord({ number, id: `task ${number}`, key: 'k', group, priority: 5, timeout: 60, maxRetries: 3, backoffSeconds: 1, enqueuedAt: 0, enqueuedRevision: number, dependencies: [], status: 'pending', retries: 0, missing: 0, delayedUntil: 0, finishedAt: 0, extras: {} })

/** Fills the index with tasks of these numbers, in this order. Every third one is a row. */
const fill = (numbers: TaskNumbers, order: ReadonlyArray<number>): void => {
  const loaded = new LoadedTasks()
  const rows = new RowList(order.length)
  for (const number of order.filter((_, i) => i % 3 === 0)) {
    const page = pageOf([record(number)], new Map(), 0)
    const first = loaded.add({ lengths: taskColumnsIn(page).lengths, bytes: page.bytes!, groups: { get: () => group }, agents: { get: () => '' } })
    rows.add(number, first, 1, 1)
  }
  numbers.fill(order.filter((_, i) => i % 3 > 0).map(record), rows, loaded)
}

/** The gap between numbers: mostly one, sometimes a little more, sometimes far more than memory could hold. */
const gap = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.integer({ min: 2, max: 3_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1_000_000, max: 2 ** 40 }) },
)
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('add' as const), gap, count: fc.integer({ min: 1, max: 600 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), from: fc.nat(), count: fc.integer({ min: 1, max: 600 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('undelete' as const), count: fc.integer({ min: 1, max: 20 }) }) },
  ),
  { maxLength: 40, size: 'max' },
)

/** Gaps between the numbers of a snapshot, and the order in which its pages have them. */
const inSnapshot = fc.tuple(fc.array(gap, { maxLength: 200 }), fc.constantFrom('by number', 'backwards', 'halves'))

test('INV-22: numbers are found and walked as in a map, and gaps between them take no memory', () => {
  fc.assert(
    fc.property(inSnapshot, steps, ([gaps, order], list) => {
      const numbers = new TaskNumbers()
      const model = new Map<number, TaskRecord>()
      const deleted: Array<TaskRecord> = []
      let last = 0
      const first = gaps.map((each) => (last += each))
      const half = first.length >> 1
      fill(numbers, order === 'by number' ? first : order === 'backwards' ? first.toReversed() : [...first.slice(half), ...first.slice(0, half)])
      expect(numbers.size).toBe(first.length)
      expect(numbers.capacity).toBeLessThanOrEqual(4 * first.length + 2_048)
      for (const number of first) model.set(number, record(number))
      for (const step of list) {
        if (step.do === 'add') {
          last += step.gap - 1
          for (let i = 0; i < step.count; i++) {
            const task = record(++last)
            model.set(last, task)
            numbers.set(last, task)
          }
        } else if (step.do === 'delete') {
          const among = [...model.values()]
          for (const task of among.slice(among.length === 0 ? 0 : step.from % among.length).slice(0, step.count)) {
            model.delete(task.number)
            numbers.delete(task.number)
            deleted.push(task)
          }
        } else {
          for (const task of deleted.splice(-step.count)) {
            model.set(task.number, task)
            numbers.set(task.number, task)
          }
        }
        expect(numbers.size).toBe(model.size)
        expect(numbers.capacity).toBeLessThanOrEqual(4 * model.size + 2_048)
      }
      const want = [...model.keys()].sort((a, b) => a - b)
      expect([...numbers.values()].map(({ number }) => number)).toEqual(want)
      for (const number of want.slice(0, 20)) {
        expect(numbers.get(number)).toEqual(model.get(number))
        expect(numbers.get(number)).toBe(numbers.get(number))
        expect(numbers.after(number)).toBe(numbers.get(want[want.indexOf(number) + 1] ?? -1))
      }
      for (const task of deleted) expect(numbers.get(task.number)).toBe(undefined)
    }),
    runs(150),
  )
})

test('the tasks of a snapshot stay rows, in whatever order its pages have them, but for those far away from the others', () => {
  const [old, ...others] = [7, ...Array.from({ length: 3_000 }, (_, i) => 9_000_000 + i)] as [number, ...ReadonlyArray<number>]
  const rows = (order: ReadonlyArray<number>): number => {
    const numbers = new TaskNumbers()
    fill(numbers, order)
    return numbers.rows
  }
  expect([rows(others), rows([old, ...others]), rows([...others.slice(1_500), ...others.slice(0, 1_500), old])]).toEqual([1_000, 1_000, 1_000])
})
