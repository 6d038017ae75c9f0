/** Alerts: raised once when a condition begins, cleared once when it ends (EV-08, GB-06, LK-10, TQM-OBS-002, TQM-OBS-003). */
import { alertsOf, failedAttemptsOf, fork, headOf, mark, nextAlertDue, type Phase, rollback } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { sizesOf, textOf } from '../support/states/index.js'
import { Queue, start, task } from './queue.js'

/** The changes that are due after this many seconds: `+key` raised, `-key` cleared. */
const after = (q: Queue, seconds = 0): ReadonlyArray<string> => {
  q.at += seconds * 1_000
  return q.do({ type: 'Tick', alerts: true }).flatMap((event) => (event.type === 'AlertRaised' ? [`+${event.data.key}`] : event.type === 'AlertCleared' ? [`-${event.data.key}`] : []))
}
const queue = (): Queue => new Queue().configure({ decisionReport: 'optional' })
const due = (q: Queue): number | undefined => {
  const next = nextAlertDue(q.state)
  return next === undefined ? undefined : next === 0 ? 0 : (next - start) / 1_000
}

describe('TQM-OBS-002: CRITICAL tasks that wait', () => {
  test('for over 60 s raise an alert, which is cleared when none is ready', () => {
    const q = queue().enqueue(task('a', { priority: 10 }), task('b', { priority: 10 }), task('c', { priority: 9 }))
    expect(due(q)).toBe(60.001)
    expect(after(q, 60)).toEqual([])
    expect(after(q, 0.001)).toEqual(['+critical-waiting'])
    expect(alertsOf(q.state)).toEqual([{ key: 'critical-waiting', kind: 'critical-waiting', message: '2 ready CRITICAL tasks when it was raised, the oldest for 60 s: a (work)', raisedAt: q.at }])
    expect(after(q, 100)).toEqual([])
    q.claim()
    expect(after(q)).toEqual([])
    q.claim()
    expect([due(q), after(q), after(q)]).toEqual([0, ['-critical-waiting'], []])
    expect(alertsOf(q.state)).toEqual([])
  })
  test('are counted from when they became ready: after a delay, a dependency, a retry', () => {
    const q = queue().enqueue(task('a', { priority: 10, availableAt: start + 3_600_000 }))
    expect(due(q)).toBeUndefined()
    q.wait(3_600)
    expect(due(q)).toBe(3_660.001)
    const { token } = q.claim()
    q.at += 30_000
    q.do({ type: 'Fail', task: 'a', agent: 'ann', token, error: { message: 'no' }, retryable: true })
    expect(due(q)).toBeUndefined()
    q.wait(120)
    expect(due(q)).toBe((q.at - start) / 1_000 + 60.001)
  })
  test('may wait for as long as the queue says', () => {
    const q = queue().configure({ alerts: { criticalDepthSeconds: 5 } }).enqueue(task('a', { priority: 10 }))
    expect(due(q)).toBe(5.001)
    q.configure({ alerts: { criticalDepthSeconds: 0 } })
    expect(due(q)).toBe(0.001)
  })
})

test('LK-10: dead letters raise an alert for their type, which is cleared with the last of them', () => {
  const q = queue().enqueue(task('a'), task('b'), task('c', { type: 'other' }))
  q.kill('a')
  expect(after(q)).toEqual(['+dead-letters:work'])
  q.kill('b')
  q.kill('c', 'other')
  expect(after(q)).toEqual(['+dead-letters:other'])
  expect(alertsOf(q.state).map(({ message }) => message)).toEqual(['tasks of type other were given up: see GET …/dead-letters, or daybook dlq list --type other', 'tasks of type work were given up: see GET …/dead-letters, or daybook dlq list --type work'])
  const review = { reviewer: 'r', reason: 'seen' }
  q.do({ type: 'Retry', task: 'a', ...review })
  expect(after(q)).toEqual([])
  q.do({ type: 'Discard', task: 'b', ...review })
  expect([after(q), after(q)]).toEqual([['-dead-letters:work'], []])
})

test('GB-06: a task whose attempts are used up raises an alert that says why', () => {
  const q = queue().configure({ maxAttempts: 2 }).enqueue(task('a'))
  for (const agent of ['ann', 'bob']) q.giveBack('a', q.claim(agent).token, agent)
  expect(q.status('a')).toBe('dead-letter')
  expect(after(q)).toEqual(['+attempts-exhausted:a', '+dead-letters:work'])
  expect(alertsOf(q.state)[0]?.message).toBe('a (work) ended without success after 2 attempts: no error was reported')
  q.do({ type: 'Retry', task: 'a', reviewer: 'r', reason: 'seen' })
  expect(after(q)).toEqual(['-attempts-exhausted:a', '-dead-letters:work'])
})

test('a breaker raises an alert when it opens, which is cleared when it closes and not when it is tested', () => {
  const q = queue().configure({ breakers: { defaults: { failureThreshold: 1 } } }).enqueue(task('a'), task('b'), task('c'))
  q.kill('a')
  expect(after(q)).toEqual(['+breaker-open:work', '+dead-letters:work'])
  expect(alertsOf(q.state)[0]?.message).toBe('the breaker of type work is open (threshold): its tasks are held back')
  // The first tick turns it half-open.
  expect([after(q, 60), after(q)]).toEqual([[], []])
  const { ids: [id], token } = q.claim()
  q.complete(id!, token)
  expect(after(q)).toEqual(['-breaker-open:work'])
})

test('TQM-PRI-004: a starved task raises an alert, which is cleared when all that were ready then are served', () => {
  const q = queue().configure({ score: { starvationLimit: 100 } }).enqueue(task('a'), task('b'))
  expect(due(q)).toBe(100.001)
  expect(after(q, 101)).toEqual(['+starvation'])
  expect(alertsOf(q.state)[0]?.message).toBe('a (work, priority 5) has waited for 101 s')
  q.claim()
  q.at += 50_000
  q.enqueue(task('c'))
  expect(after(q)).toEqual([])
  q.claim()
  expect(after(q)).toEqual(['-starvation'])
  expect(due(q)).toBe(251.001)
})

describe('TQM-OBS-003: unusually many failed attempts of a phase, or about a kind of discovery', () => {
  /** Makes this many failed attempts now. */
  const failures = (q: Queue, count: number, phase?: Phase, discovery?: string): void => {
    for (let i = 0; i < count; i++) {
      const id = `t${q.log.length}`
      q.enqueue(task(id, { type: id, maxRetries: 99, ...(phase === undefined ? {} : { phase }), ...(discovery === undefined ? {} : { discovery }) }))
      q.fail(id, q.claim('ann', { types: [id] }).token)
    }
  }
  const step = 300

  test('raise an alert for the phase, which is cleared when five minutes went by without', () => {
    const q = queue()
    failures(q, 9, 'TESTING')
    expect(after(q)).toEqual([])
    failures(q, 1, 'TESTING')
    failures(q, 1)
    expect(after(q)).toEqual(['+retry-spike:TESTING'])
    expect(alertsOf(q.state)[0]?.message).toBe('10 failed attempts of phase TESTING in five minutes; usual are 0')
    failures(q, 20, 'TESTING')
    expect(after(q, step)).toEqual([])
    expect(after(q, step - 0.001)).toEqual([])
    expect(after(q, 0.001)).toEqual(['-retry-spike:TESTING'])
    expect(after(q)).toEqual([])
  })
  test('goes on while each five minutes are unusual', () => {
    const q = queue()
    failures(q, 10)
    after(q)
    q.at += step * 1_000
    failures(q, 40)
    expect(after(q, step)).toEqual([])
    expect(after(q, step)).toEqual(['-retry-spike:none'])
  })
  test('what is usual is the mean of the hour before, and three standard deviations more', () => {
    const q = queue()
    for (let i = 0; i < 12; i++) {
      failures(q, 9)
      q.at += step * 1_000
    }
    // 9 + 3 · √9 = 18.
    failures(q, 18)
    expect(after(q)).toEqual([])
    failures(q, 1)
    expect(after(q)).toEqual(['+retry-spike:none'])
  })
  test('raise an alert for the kind of discovery that the tasks are about, whatever their phase', () => {
    const q = queue()
    failures(q, 5, 'TESTING', 'security_issue')
    failures(q, 4, 'ANALYSIS', 'security_issue')
    failures(q, 9, undefined, 'flaky')
    expect(after(q)).toEqual([])
    failures(q, 1, 'IMPLEMENTATION', 'security_issue')
    expect(after(q)).toEqual(['+retry-spike:discovery:security_issue'])
    expect(alertsOf(q.state)[0]).toMatchObject({ kind: 'retry-spike', message: '10 failed attempts of tasks about security_issue in five minutes; usual are 0' })
    expect(textOf(fork(q.state))).toBe(textOf(q.state))
    failures(q, 5, 'IMPLEMENTATION', 'security_issue')
    expect([after(q, step), after(q, step), after(q)]).toEqual([[], ['-retry-spike:discovery:security_issue'], []])
  })
  test('are counted for an hour, by phase and by kind of discovery', () => {
    const q = queue()
    failures(q, 2, 'TESTING', 'flaky')
    q.at += step * 1_000
    failures(q, 1, undefined, 'flaky')
    const now = () => Object.fromEntries(failedAttemptsOf(q.state, q.at).map(({ by, name, count }) => [`${by} ${name}`, count]))
    expect(now()).toEqual({ 'phase TESTING': 2, 'phase none': 1, 'discovery flaky': 3 })
    q.at += 12 * step * 1_000
    expect(now()).toEqual({ 'phase TESTING': 0, 'phase none': 1, 'discovery flaky': 1 })
    q.at += step * 1_000
    expect(now()).toEqual({ 'phase TESTING': 0, 'phase none': 0, 'discovery flaky': 0 })
  })
  test('a park that times out is a failed attempt', () => {
    const q = queue().configure({ alerts: { retrySpikeMin: 1 } }).enqueue(task('a', { phase: 'TESTING', discovery: 'flaky' }))
    const { token } = q.claim()
    q.do({ type: 'Park', task: 'a', agent: 'ann', token, callbackKey: 'k', timeoutSeconds: 60 })
    q.wait(60)
    expect(after(q)).toEqual(['+retry-spike:TESTING', '+retry-spike:discovery:flaky'])
  })
  test('INV-22: kinds that are over leave the state, and of too many at once the others count as one', () => {
    const q = queue()
    for (let i = 0; i < 200; i++) failures(q, 1, undefined, `kind ${i}`)
    expect(sizesOf(q.state)).toMatchObject({ failures: 101 })
    expect(after(q)).toEqual(['+retry-spike:discovery:other', '+retry-spike:none'])
    q.at += 13 * step * 1_000
    expect(after(q)).toEqual(['-retry-spike:discovery:other', '-retry-spike:none'])
    failures(q, 1, undefined, 'a new one')
    expect(sizesOf(q.state)).toMatchObject({ failures: 2 })
  })
  test('the least number is a setting', () => {
    const q = queue().configure({ alerts: { retrySpikeMin: 2 } })
    failures(q, 2)
    expect(after(q)).toEqual(['+retry-spike:none'])
  })
})

test('a tick that is not asked for alerts decides none, and a deleted queue has none', () => {
  const q = queue().enqueue(task('a'))
  q.kill('a')
  expect(q.do({ type: 'Tick' })).toEqual([])
  after(q)
  q.do({ type: 'Discard', task: 'a', reviewer: 'r', reason: 'x' })
  q.do({ type: 'DeleteQueue', reason: 'x' })
  expect([alertsOf(q.state), after(q), headOf(q.state).deleted]).toEqual([[], [], 'x'])
})

test('INV-15: alerts are in snapshots, and rolled back; what is raised is not raised again', () => {
  const q = queue().enqueue(task('a'), task('b', { priority: 10 }))
  q.kill('b')
  after(q)
  q.enqueue(task('c', { priority: 10 }))
  expect(textOf(fork(q.state))).toBe(textOf(q.state))
  const again = new Queue()
  again.at = q.at
  again.state = fork(q.state)
  expect(after(again)).toEqual([])
  expect(nextAlertDue(again.state)).toBe(nextAlertDue(q.state))
  const before = textOf(q.state)
  const point = mark(q.state)
  q.do({ type: 'Discard', task: 'b', reviewer: 'r', reason: 'x' })
  after(q, 100)
  q.state = rollback(q.state, point)
  expect(textOf(q.state)).toBe(before)
})
