/** The order of tasks by both policies at the edges of the score. INV-11 compares it with a scan in random histories. */
import { explainOf, mark, type PreparedTask, release, rollback, type ScoreParts } from '@daybook/core'
import { fewMax } from '@daybook/core/testing'
import { expect, test } from 'vitest'
import { sizesOf } from '../support/states/index.js'
import { Queue, start, task } from './queue.js'

/** Enough tasks for the group to have lanes. They come last if they are enqueued last, or if all others have a higher priority. */
const manyLast = Array.from({ length: fewMax + 1 }, (_, i) => task(`last ${i}`, { priority: 1 }))
const others = (ids: ReadonlyArray<string>): ReadonlyArray<string> => ids.filter((id) => !id.startsWith('last '))

type Tasks = Readonly<Record<string, readonly [age: number, more?: object]>>
/** Tasks with their ages in seconds, and the order in which one claim takes them. It is the same in a group of a few tasks and in one with lanes. */
const order = (policy: 'priority' | 'score', tasks: Tasks): ReadonlyArray<string> => {
  const [few, many] = [[], manyLast].map((last) => taken(policy, tasks, last))
  expect(many).toEqual(few)
  return few!
}
const taken = (policy: 'priority' | 'score', tasks: Tasks, last: ReadonlyArray<PreparedTask>): ReadonlyArray<string> => {
  const q = new Queue().configure({ policy })
  const oldest = Math.max(...Object.values(tasks).map(([age]) => age))
  for (const [id, [age, more]] of Object.entries(tasks).sort(([, [a]], [, [b]]) => b - a)) {
    q.at = start + (oldest - age) * 1_000
    q.enqueue(task(id, more))
  }
  q.at = start + oldest * 1_000
  return others(q.enqueue(...last).claim('ann', { max: 99 }).ids)
}
const soon = (seconds: number, age: number, oldest = age) => ({ deadlineAt: start + (oldest + seconds) * 1_000 })

test('TQM-PRI-001: by priority, then first in, first out', () => {
  const four = { low: [0, { priority: 3 }], high: [0, { priority: 8 }], first: [2], second: [1], critical: [0, { priority: 10 }] } as const
  expect(order('priority', four)).toEqual(['critical', 'high', 'first', 'second', 'low'])
  expect(order('score', four)).toEqual(['critical', 'high', 'first', 'second', 'low'])
})

test('TQM-PRI-002: the age counts up to its ceiling', () => {
  expect(order('score', { old: [7_000, { priority: 1 }], fresh: [0, { priority: 8 }] })).toEqual(['fresh', 'old'])
  expect(order('score', { old: [2_200, { priority: 5 }], fresh: [0, { priority: 8 }] })).toEqual(['old', 'fresh'])
  expect(order('score', { old: [1_900, { priority: 5 }], fresh: [0, { priority: 8 }] })).toEqual(['fresh', 'old'])
})

test('TQM-PRI-002: retries and blocked tasks count', () => {
  const q = new Queue().enqueue(task('older')).enqueue(task('failed', { maxRetries: 2, backoffSeconds: 0 }))
  q.fail('older', q.claim().token)
  q.at += 3_600_000
  expect(q.wait(0)).toEqual(['TaskDue'])
  expect(q.claim('ann', { max: 2 }).ids).toEqual(['failed', 'older'])
  const waiting = new Queue().enqueue(task('older'))
  waiting.at += 60_000
  waiting.enqueue(task('needed'), task('waits', { dependencies: ['needed'] }))
  expect(waiting.claim('ann', { max: 9 }).ids).toEqual(['needed', 'older'])
})

test('TQM-PRI-002: only unfinished tasks count as blocked', () => {
  const q = new Queue().enqueue(task('older'))
  q.at += 60_000
  q.enqueue(task('needed'), task('waits', { dependencies: ['needed'] }))
  q.do({ type: 'Cancel', task: 'waits', reason: 'no' })
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['older', 'needed'])
})

test.each([
  ['before the urgency window', 901, ['older', 'urgent']],
  ['at its beginning', 900, ['urgent', 'older']],
  ['within it', 300, ['urgent', 'older']],
  ['after the deadline', -5, ['urgent', 'older']],
])('TQM-PRI-003: %s', (_, seconds, expected) => {
  for (const policy of ['priority', 'score'] as const) {
    expect(order(policy, { older: [60], urgent: [0, soon(seconds, 0, 60)] })).toEqual(expected)
  }
})

test.each(['priority', 'score'] as const)('TQM-PRI-003: with policy %s, a task becomes urgent without any event', (policy) => {
  for (const last of [[], manyLast]) {
    const q = new Queue().configure({ policy })
    q.enqueue(...last, task('a'), task('b', { deadlineAt: start + 1_000_000 }), task('c', { deadlineAt: start + 990_000 }))
    q.at = start + 95_000
    expect(others(q.claim('ann', { max: 99 }).ids)).toEqual(['c', 'a', 'b'])
  }
})

test('TQM-PRI-003: a task becomes urgent by time alone, and stays so when it is late', () => {
  const q = new Queue().configure({ policy: 'score' }).enqueue(task('a'), task('b', { priority: 4, deadlineAt: start + 1_000_000 }), task('c', { priority: 9 }))
  expect(q.claim('ann', { max: 1 }).ids).toEqual(['c'])
  q.at = start + 1_000_001
  q.enqueue(task('d', { priority: 9 }))
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['b', 'd', 'a'])
})

test('TQM-PRI-004: a task that has waited for 7,200 s gets the floor, not earlier', () => {
  const two = (age: number) => ({ old: [age, { priority: 1 }], fresh: [0, { priority: 10 }] }) as const
  expect([7_200, 7_201].map((age) => order('priority', two(age))[0])).toEqual(['fresh', 'old'])
  const three = (age: number) => ({ old: [age, { priority: 1 }], fresh: [0, { priority: 9 }] }) as const
  expect([7_200, 7_201].map((age) => order('score', three(age))[0])).toEqual(['fresh', 'old'])
  expect(order('score', { first: [7_500, { priority: 1 }], second: [7_400, { priority: 2 }], third: [7_450, { priority: 1 }] })).toEqual(['second', 'first', 'third'])
})

test('TQM-CFG: a change of policy or weights applies to the tasks that wait', () => {
  const q = new Queue().enqueue(task('old', { priority: 1 }))
  q.at += 3_600_000
  q.enqueue(task('fresh', { priority: 3 }))
  const first = (): ReadonlyArray<string> => {
    const { ids, token } = q.claim()
    q.do({ type: 'Release', task: ids[0] as string, agent: 'ann', token, reason: 'r', stopping: true })
    return ids
  }
  expect(first()).toEqual(['fresh'])
  q.configure({ policy: 'score' })
  expect(first()).toEqual(['old'])
  q.configure({ score: { age: 0 } })
  expect(first()).toEqual(['fresh'])
})

test('TQM-PRI-002: equal scores are equal, however they come about, also with short ceilings', () => {
  // 0.1 · (P(4) − P(3)) is 0.0125, and so is 0.15 · 75 s / 900 s.
  const q = new Queue().configure({ policy: 'score', score: { priority: 0.1, ageCeiling: 30 } })
  q.enqueue(task('a', { priority: 3, deadlineAt: start + 20_000 }), task('b', { priority: 4, deadlineAt: start + 95_000 }))
  expect(q.claim('ann', { max: 2 }).ids).toEqual(['b', 'a'])
})

test.each([
  ['3,600 s', 3_600, 900],
  ['months', 90 * 86_400, 7 * 86_400],
  ['a year', 365 * 86_400, 30 * 86_400],
  ['ten years', 3_650 * 86_400, 365 * 86_400],
])('TQM-PRI-002: a score is the sum of its parts, with an age ceiling of %s', (_, ageCeiling, slaUrgencyWindow) => {
  const q = new Queue().configure({ policy: 'score', score: { ageCeiling, slaUrgencyWindow, slaBoost: 1, starvationFloor: 0 } })
  q.enqueue(task('old', { deadlineAt: start + ageCeiling * 1_000 }))
  q.at += ageCeiling * 1_000
  const { score, scoreParts } = explainOf(q.state, 'old', q.at) ?? {}
  const { priority, age, deadline, blockers, retries } = scoreParts as ScoreParts
  expect(score).toBeCloseTo(priority.points + age.points + deadline.points + blockers.points + retries.points, 2)
})

test.each(['1970-01-01T00:05:00Z', '2056-01-01T00:00:00Z', '9990-01-01T00:00:00Z'])('INV-11, INV-17: a clock that says %s changes nothing about deadlines', (time) => {
  const q = new Queue()
  q.at = Date.parse(time)
  // In one lane, by their deadlines: all have the same.
  q.enqueue(...Array.from({ length: 24 }, (_, i) => task(`t${i + 1}`, { deadlineAt: q.at + 60_000 })))
  q.claim()
  q.do({ type: 'Cancel', task: 't4', reason: 'not needed' })
  // Now all are late, and change their lane.
  q.wait(61)
  const left = Array.from({ length: 24 }, (_, i) => `t${i + 1}`).filter((id) => id !== 't1' && id !== 't4')
  expect(q.claim('ann', { max: 99 }).ids).toEqual(left)
})

test('INV-15: after rollbacks to nested marks, tasks that had become urgent are in their former order', () => {
  const q = new Queue().configure({ policy: 'score' }).enqueue(...manyLast, task('first', { deadlineAt: start + 1_000_000 }))
  q.at += 1_000
  q.enqueue(task('second', { deadlineAt: start + 950_000 }))
  const outer = mark(q.state)
  q.at = start + 200_000
  q.enqueue(task('x', { type: 'other' }))
  const inner = mark(q.state)
  q.enqueue(task('y', { type: 'other' }))
  q.state = rollback(q.state, inner)
  q.state = rollback(q.state, outer)
  q.at = start + 10_000
  expect(q.claim('ann', { max: 2, types: ['work'] }).ids).toEqual(['first', 'second'])
})

test('INV-22: in a busy queue, where there is always a mark, placements of finished tasks are not kept', () => {
  const q = new Queue().configure({ decisionReport: 'optional' })
  let point = mark(q.state)
  for (let i = 0; i < 500; i++) {
    q.enqueue(task(`t${i}`, { deadlineAt: start + 100_000 }))
    const next = mark(q.state)
    release(q.state, point)
    point = next
    q.complete(`t${i}`, q.claim().token)
  }
  expect(sizesOf(q.state).placements).toBeLessThanOrEqual(65)
})
