/** When a snapshot is due, and of which kind it is: the time of a start, weighed against the cost of the snapshot. */
import { isIncrementBetter, isSnapshotDue, type SnapshotCost } from '@daybook/adapters/engine'
import { expect, test } from 'vitest'

interface Kind {
  readonly finished?: number
  readonly stored?: number
  /** The share of the events that change another unfinished task. Default: no increment is possible. */
  readonly changing?: number
  readonly inLast?: number
}

const costOf = (events: number, tasks: number, { finished = 0, stored = 0, changing, inLast = tasks }: Kind = {}): SnapshotCost =>
  ({ events, tasks, finished, stored, inLast, changed: changing === undefined ? undefined : events * changing })

const dueAfter = (tasks: number | ((events: number) => number), kind: Kind = {}): number => {
  const tasksAfter = typeof tasks === 'number' ? () => tasks : tasks
  let events = 0
  while (!isSnapshotDue(costOf(events, tasksAfter(events), kind))) events += 10_000
  return events
}

test.each<[what: string, tasks: number | ((events: number) => number), events: number]>([
  ['few tasks: one costs next to nothing, but so does replaying', 10_000, 100_000],
  ['half a million: a tenth of the work', 500_000, 400_000],
  ['a million: a tenth of the work', 1_000_000, 790_000],
  ['five millions: replaying takes half as long as loading', 5_000_000, 1_790_000],
  ['a queue that fills up: one costs less than a tenth of the work', (events) => events, 100_000],
])('%s', (_, tasks, events) => expect(dueAfter(tasks)).toBe(events))

test('a finished task costs half as much, because its bytes are copied as they are', () => {
  expect(dueAfter(500_000)).toBe(400_000)
  expect(dueAfter(500_000, { finished: 500_000 })).toBe(220_000)
})

test('a finished task is loaded in less than half of the time, so fewer events are replayed after many of them', () => {
  expect(dueAfter(10_000_000)).toBe(3_580_000)
  expect(dueAfter(10_000_000, { finished: 10_000_000 })).toBe(1_580_000)
})

test('rows in files are only named, so a snapshot costs nothing for them', () => {
  expect(dueAfter(10_000_000, { finished: 10_000_000, stored: 9_960_000 })).toBe(100_000)
})

test('an increment costs only the tasks that changed, so it is due as soon as that of a small queue', () => {
  for (const tasks of [400_000, 1_000_000, 5_000_000]) {
    expect(dueAfter(tasks, { changing: 0.6 })).toBe(100_000)
    expect(isIncrementBetter(costOf(100_000, tasks, { changing: 0.6 }))).toBe(true)
  }
})

test('a snapshot is whole if half of the tasks changed, or if all that a start would read has twice as many tasks as the queue', () => {
  expect(isIncrementBetter(costOf(100_000, 110_000, { changing: 0.6 }))).toBe(false)
  expect(isIncrementBetter(costOf(100_000, 1_000_000, { changing: 0.6, inLast: 1_940_000 }))).toBe(true)
  expect(isIncrementBetter(costOf(100_000, 1_000_000, { changing: 0.6, inLast: 1_950_000 }))).toBe(false)
  // The whole one is due when the increment would be.
  expect(dueAfter(1_000_000, { changing: 0.6, inLast: 2_000_000 })).toBe(100_000)
  expect(isIncrementBetter(costOf(100_000, 1_000_000))).toBe(false)
})

test('a start takes at most five and a half seconds, or 1.5 times as long as loading all tasks', () => {
  for (let tasks = 0; tasks < 6e6; tasks += 50_000) {
    const seconds = 2.5e-6 * tasks + 3.5e-6 * dueAfter(tasks)
    expect(seconds).toBeLessThanOrEqual(Math.max(5.5, 3.75e-6 * tasks) + 0.1)
  }
})
