/** When a snapshot is due, and of which kind it is: the time of a start, weighed against the cost of the snapshot. */
import { inSeries, isIncrementBetter, isMergeDue, isSnapshotDue, type SnapshotCost } from '@daybook/adapters/engine'
import { expect, test } from 'vitest'

interface Kind {
  readonly finished?: number
  readonly stored?: number
  /** The share of the events that change another unfinished task. Default: no increment is possible. */
  readonly changing?: number
  readonly inLast?: number
  readonly names?: number
}

const costOf = (events: number, tasks: number, { finished = 0, stored = 0, changing, inLast = tasks, names = 0 }: Kind = {}): SnapshotCost =>
  ({ events, tasks, finished, stored, names, inLast, changed: changing === undefined ? undefined : events * changing })

const dueAfter = (tasks: number | ((events: number) => number), kind: Kind = {}): number => {
  const tasksAfter = typeof tasks === 'number' ? () => tasks : tasks
  let events = 0
  while (!isSnapshotDue(costOf(events, tasksAfter(events), kind))) events += 10_000
  return events
}

test.each<[what: string, tasks: number | ((events: number) => number), events: number]>([
  ['few tasks: one costs next to nothing, but so does replaying', 10_000, 50_000],
  ['half a million: a tenth of the work', 500_000, 470_000],
  ['a million: a start would take five and a half seconds', 1_000_000, 860_000],
  ['five millions: replaying takes half as long as loading', 5_000_000, 1_790_000],
  ['a queue that fills up: one costs less than a tenth of the work', (events) => events, 50_000],
])('%s', (_, tasks, events) => expect(dueAfter(tasks)).toBe(events))

test('a finished task costs half as much, because its bytes are copied as they are', () => {
  expect(dueAfter(500_000)).toBe(470_000)
  expect(dueAfter(500_000, { finished: 500_000 })).toBe(220_000)
})

test('a finished task is loaded in less than half of the time, so fewer events are replayed after many of them', () => {
  expect(dueAfter(10_000_000)).toBe(3_580_000)
  expect(dueAfter(10_000_000, { finished: 10_000_000 })).toBe(1_580_000)
})

test('rows in files are only named, so a snapshot costs nothing for them', () => {
  expect(dueAfter(10_000_000, { finished: 10_000_000, stored: 9_960_000 })).toBe(50_000)
})

test('the names of groups are in each snapshot, so many of them make it rarer', () => {
  expect(dueAfter(1_000_000, { changing: 0.6, names: 25_000 })).toBe(50_000)
  expect(dueAfter(1_000_000, { changing: 0.6, names: 250_000 })).toBe(410_000)
})

test('an increment costs only the tasks that changed, so it is due as soon as that of a small queue', () => {
  for (const tasks of [400_000, 1_000_000, 5_000_000]) {
    expect(dueAfter(tasks, { changing: 0.6 })).toBe(50_000)
    expect(isIncrementBetter(costOf(50_000, tasks, { changing: 0.6 }))).toBe(true)
  }
})

test('a snapshot is whole if more tasks changed than the queue has', () => {
  expect(isIncrementBetter(costOf(100_000, 60_000, { changing: 0.6 }))).toBe(true)
  expect(isIncrementBetter(costOf(100_000, 59_999, { changing: 0.6 }))).toBe(false)
  expect(isIncrementBetter(costOf(100_000, 1_000_000))).toBe(false)
})

test('a series is merged if a start would read half as many tasks more than it needs', () => {
  expect(isMergeDue(costOf(100_000, 1_000_000), 1_500_000)).toBe(false)
  expect(isMergeDue(costOf(100_000, 1_000_000), 1_500_001)).toBe(true)
  expect(isMergeDue(costOf(100_000, 3_000_000, { finished: 2_000_000 }), 1_500_001)).toBe(true)
})

/** Takes snapshots of a queue as they become due, and merges them at once. Returns how many tasks each writes, from the first one on, and which are merged. */
const snapshotsOf = (events: number, stateAfter: (events: number, last: number) => Pick<SnapshotCost, 'tasks' | 'changed'>): { readonly written: ReadonlyArray<number>; readonly merged: ReadonlyArray<number> } => {
  const written: Array<number> = []
  const merged: Array<number> = []
  let last = 0
  let inLast = 0
  for (let now = 0; now <= events; now += 10_000) {
    const { tasks, changed } = stateAfter(now, last)
    const cost: SnapshotCost = { events: now - last, tasks, finished: 0, stored: 0, names: 0, changed: written.length === 0 ? undefined : changed, inLast }
    if (!isSnapshotDue(cost)) continue
    const isIncrement = isIncrementBetter(cost)
    inLast = isIncrement ? inSeries(cost) : tasks
    last = now
    if (isIncrement && isMergeDue(cost, inLast)) {
      merged.push(written.length)
      inLast = tasks
    }
    written.push(isIncrement ? (changed as number) : tasks)
  }
  return { written, merged }
}

test('a queue that fills up with five million tasks writes each task once', () => {
  expect(snapshotsOf(5_000_000, (now, last) => ({ tasks: now, changed: now - last }))).toEqual({ written: Array(100).fill(50_000), merged: [] })
})

test('of a queue that keeps its size, only the first snapshot is written whole; a series is merged when its increments have written half as much', () => {
  const { written, merged } = snapshotsOf(10_000_000, (now, last) => ({ tasks: 1_000_000, changed: (now - last) * 0.5 }))
  expect(written).toEqual([1_000_000, ...Array(written.length - 1).fill(25_000)])
  expect(merged).toEqual(Array.from({ length: 9 }, (_, i) => 21 * (i + 1)).filter((index) => index < written.length))
})

test('a queue that keeps its size has at most 33 increments in a series, even if hardly anything changes', () => {
  expect(snapshotsOf(20_000_000, () => ({ tasks: 1_000_000, changed: 1 })).merged).toEqual(Array.from({ length: 11 }, (_, i) => 33 * (i + 1)))
})

test('a start takes at most five and a half seconds, or 1.5 times as long as loading all tasks', () => {
  for (let tasks = 0; tasks < 6e6; tasks += 50_000) {
    const seconds = 2.5e-6 * tasks + 3.5e-6 * dueAfter(tasks)
    expect(seconds).toBeLessThanOrEqual(Math.max(5.5, 3.75e-6 * tasks) + 0.1)
  }
})
