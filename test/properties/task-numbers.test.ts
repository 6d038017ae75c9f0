/** The index of tasks by number, compared with a plain map; and its size, however far apart the numbers are (INV-22). */
import { TaskNumbers, type TaskRecord } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from './settings.js'

const record = (number: number): TaskRecord => ({ number, enqueuedRevision: number }) as TaskRecord

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

test('INV-22: numbers are found and walked as in a map, and gaps between them take no memory', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const numbers = new TaskNumbers()
      const model = new Map<number, TaskRecord>()
      const deleted: Array<TaskRecord> = []
      let last = 0
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
        expect(numbers.get(number)).toBe(model.get(number))
        expect(numbers.after(number)).toBe(model.get(want[want.indexOf(number) + 1] ?? -1))
      }
      for (const task of deleted) expect(numbers.get(task.number)).toBe(undefined)
    }),
    runs(150),
  )
})
