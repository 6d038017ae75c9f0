/** When a snapshot is due: the time of a start, weighed against the cost of the snapshot. */
import { isSnapshotDue } from '@daybook/adapters/engine'
import { expect, test } from 'vitest'

const dueAfter = (tasks: number | ((events: number) => number), finished = 0, stored = 0): number => {
  const tasksAfter = typeof tasks === 'number' ? () => tasks : tasks
  let events = 0
  while (!isSnapshotDue(events, tasksAfter(events), finished, stored)) events += 10_000
  return events
}

test.each<[what: string, tasks: number | ((events: number) => number), events: number]>([
  ['few tasks: one costs next to nothing, but so does replaying', 10_000, 250_000],
  ['half a million: a twentieth of the work', 500_000, 790_000],
  ['a million: a start of five and a half seconds', 1_000_000, 860_000],
  ['five millions: replaying takes half as long as loading', 5_000_000, 1_790_000],
  ['a queue that fills up: loading spares little', (events) => events, 920_000],
])('%s', (_, tasks, events) => expect(dueAfter(tasks)).toBe(events))

test('a finished task costs half as much, because its bytes are copied as they are', () => {
  expect(dueAfter(500_000)).toBe(790_000)
  expect(dueAfter(500_000, 500_000)).toBe(430_000)
})

test('a finished task is loaded in less than half of the time, so fewer events are replayed after many of them', () => {
  expect(dueAfter(10_000_000)).toBe(3_580_000)
  expect(dueAfter(10_000_000, 10_000_000)).toBe(1_580_000)
})

test('rows in files are only named, so a snapshot costs nothing for them', () => {
  expect(dueAfter(10_000_000, 10_000_000, 9_960_000)).toBe(250_000)
})

test('a start takes at most five and a half seconds, or 1.5 times as long as loading all tasks', () => {
  for (let tasks = 0; tasks < 6e6; tasks += 50_000) {
    const seconds = 2.5e-6 * tasks + 3.5e-6 * dueAfter(tasks)
    expect(seconds).toBeLessThanOrEqual(Math.max(5.5, 3.75e-6 * tasks) + 0.1)
  }
})
