/** LK-11: snooze, escalate, and redrives at a steady rate. */
import { type Command, deadLetterPatterns, deadLetters, explainOf, listTasks, nextDue, redriveOf, reviewMax } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { names, Queue, start, task } from './queue.js'

const review = { reviewer: 'rev', reason: 'looked at it' }
/** A queue with this many dead letters: `d0`, `d1` … */
const dead = (count: number, type = 'work'): Queue => {
  const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 10_000, halfOpenAfter: 60 } } })
  q.enqueue(...Array.from({ length: count }, (_, i) => task(`d${i}`, { type, maxRetries: 1 })))
  for (let i = 0; i < count; i++) q.kill(`d${i}`, type)
  return q
}
const snooze = (q: Queue, id: string, seconds: number) => names(q.do({ type: 'Snooze', task: id, ...review, until: q.at + seconds * 1_000 }))
const redrive = (q: Queue, perMinute: number, filter: object = {}) => names(q.do({ type: 'Redrive', filter, perMinute, ...review }))

describe('LK-11: wait, then retry', () => {
  test('a snoozed dead letter stays one, and is sent back at its time', () => {
    const q = dead(1)
    expect(snooze(q, 'd0', 60)).toEqual(['Snoozed'])
    expect(q.task('d0')).toMatchObject({ status: 'dead-letter', snoozedUntil: start + 60_000 })
    expect(nextDue(q.state)).toBe(start + 60_000)
    expect(explainOf(q.state, 'd0', q.at)?.reasons[0]).toMatchObject({ code: 'dead-letter', until: start + 60_000 })
    expect(q.wait(59.999)).toEqual([])
    expect(q.wait(0.001)).toEqual(['Requeued'])
    expect(q.log[q.log.length - 1]?.data).toMatchObject({ task: 'd0', ...review })
    expect(q.task('d0')).toMatchObject({ status: 'pending', retries: 0, attempts: 0 })
    expect(q.task('d0')).not.toHaveProperty('snoozedUntil')
  })
  test('unless it is reviewed otherwise before', () => {
    const q = dead(2)
    snooze(q, 'd0', 60)
    snooze(q, 'd1', 60)
    q.do({ type: 'Discard', task: 'd0', ...review })
    q.do({ type: 'Retry', task: 'd1', ...review })
    expect(q.wait(60)).toEqual([])
    expect([q.status('d0'), q.status('d1')]).toEqual(['discarded', 'pending'])
  })
  test('a later snooze replaces the earlier one; a time that is not in the future is refused', () => {
    const q = dead(1)
    snooze(q, 'd0', 60)
    snooze(q, 'd0', 30)
    expect(q.refuse({ type: 'Snooze', task: 'd0', ...review, until: q.at })).toMatchObject({ code: 'invalid', errors: [{ path: 'until' }] })
    expect(q.wait(30)).toEqual(['Requeued'])
    expect(q.wait(30)).toEqual([])
  })
  test('the same snooze or escalation of all again goes on with the next ones, until none is left', () => {
    const q = dead(reviewMax + 2)
    const ids = (command: Command) => q.do(command).map(({ type, data }) => `${type} ${'task' in data ? data.task : ''}`)
    const snoozeAll: Command = { type: 'Snooze', filter: {}, ...review, until: q.at + 60_000 }
    expect(ids(snoozeAll)).toHaveLength(reviewMax)
    expect(ids(snoozeAll)).toEqual([`Snoozed d${reviewMax}`, `Snoozed d${reviewMax + 1}`])
    expect(ids(snoozeAll)).toEqual([])
    // Another time or another reason is another snooze.
    expect(ids({ ...snoozeAll, until: q.at + 90_000 })).toHaveLength(reviewMax)
    expect(ids({ ...snoozeAll, reason: 'still away' })).toHaveLength(reviewMax)
    const escalateAll: Command = { type: 'Escalate', filter: {}, ...review }
    expect(ids(escalateAll)).toHaveLength(2 * reviewMax)
    expect(ids(escalateAll)).toHaveLength(4)
    expect(ids(escalateAll)).toEqual([])
    // One that was snoozed since is escalated again.
    snooze(q, 'd7', 60)
    expect(ids(escalateAll)).toEqual(['SnoozeLapsed d7', 'Escalated d7'])
  })
  test('if another task has its key by then, it stays a dead letter', () => {
    const q = dead(1)
    snooze(q, 'd0', 60)
    q.enqueue(task('new', { idempotencyKey: 'key of d0' }))
    expect(q.wait(60)).toEqual(['SnoozeLapsed'])
    expect(q.status('d0')).toBe('dead-letter')
    expect(nextDue(q.state)).toBeUndefined()
  })
  test('all that match', () => {
    const q = dead(3)
    expect(names(q.do({ type: 'Snooze', filter: { type: 'work' }, ...review, until: q.at + 1 }))).toEqual(['Snoozed', 'Snoozed', 'Snoozed'])
    expect(q.wait(1)).toEqual(['Requeued', 'Requeued', 'Requeued'])
  })
  test('only dead letters are snoozed or escalated', () => {
    const q = new Queue().enqueue(task('a'))
    for (const type of ['Snooze', 'Escalate'] as const) expect(q.refuse({ type, task: 'a', ...review, until: q.at + 1 })).toMatchObject({ code: 'wrong-state' })
  })
})

test('LK-11: an escalated dead letter is marked, can be listed, and loses the mark when it is sent back', () => {
  const q = dead(2)
  expect(names(q.do({ type: 'Escalate', task: 'd0', ...review }))).toEqual(['Escalated'])
  expect(q.task('d0')).toMatchObject({ status: 'dead-letter', escalated: { at: start, ...review } })
  expect(deadLetters(q.state, { escalated: true }, 9).map(({ id }) => id)).toEqual(['d0'])
  expect(deadLetters(q.state, { escalated: false }, 9).map(({ id }) => id)).toEqual(['d1'])
  expect(explainOf(q.state, 'd0', q.at)?.reasons[0]?.message).toContain('escalated by rev')
  q.do({ type: 'Retry', task: 'd0', ...review })
  expect(q.task('d0')).not.toHaveProperty('escalated')
  q.kill('d0')
  expect(q.task('d0')).not.toHaveProperty('escalated')
})

test('LK-11: an escalation ends a snooze; a snooze keeps the mark of an escalation', () => {
  const q = dead(2)
  snooze(q, 'd0', 60)
  expect(names(q.do({ type: 'Escalate', filter: {}, ...review }))).toEqual(['SnoozeLapsed', 'Escalated', 'Escalated'])
  expect(q.task('d0')).not.toHaveProperty('snoozedUntil')
  expect(q.wait(60)).toEqual([])
  expect(q.task('d0')).toMatchObject({ status: 'dead-letter', escalated: review })
  snooze(q, 'd1', 30)
  expect(q.task('d1')).toMatchObject({ snoozedUntil: q.at + 30_000, escalated: review })
  expect(q.wait(30)).toEqual(['Requeued'])
})

describe('LK-11: a redrive', () => {
  test('leaves what was snoozed or escalated after it was started, and takes what was before', () => {
    const q = dead(4)
    snooze(q, 'd0', 3_600)
    q.do({ type: 'Escalate', task: 'd1', ...review })
    q.wait(1)
    redrive(q, 60)
    q.wait(0)
    expect(q.status('d0')).toBe('pending')
    q.wait(0.5)
    snooze(q, 'd2', 3_600)
    q.do({ type: 'Escalate', task: 'd3', ...review })
    for (let i = 0; i < 5; i++) q.wait(1)
    expect(['d1', 'd2', 'd3'].map((id) => q.status(id))).toEqual(['pending', 'dead-letter', 'dead-letter'])
    expect(redriveOf(q.state)).toMatchObject({ retried: 2, stopped: { cause: 'nothing-left' } })
  })
  test('sends so many a minute back, evenly, and ends by itself', () => {
    const q = dead(3)
    expect(redrive(q, 6)).toEqual(['RedriveStarted'])
    expect(q.wait(0)).toEqual(['Requeued', 'RedriveAdvanced'])
    expect(q.wait(9.999)).toEqual([])
    expect(q.wait(0.001)).toEqual(['Requeued', 'RedriveAdvanced'])
    expect(redriveOf(q.state)).toMatchObject({ perMinute: 6, retried: 2, nextAt: start + 20_000 })
    expect(nextDue(q.state)).toBe(start + 20_000)
    expect(q.wait(10)).toEqual(['Requeued', 'RedriveAdvanced'])
    expect(q.wait(10)).toEqual(['RedriveStopped'])
    expect(redriveOf(q.state)).toMatchObject({ retried: 3, nextAt: 0, stopped: { at: start + 30_000, cause: 'nothing-left' } })
    expect(nextDue(q.state)).toBeUndefined()
  })
  test('at a high rate, many at a time', () => {
    const q = dead(100)
    redrive(q, 6_000)
    q.wait(0)
    q.wait(0.5)
    expect(redriveOf(q.state)?.retried).toBe(51)
  })
  test('does not make up for the time in which the server was away', () => {
    const q = dead(300)
    redrive(q, 60)
    expect(q.wait(3_600).length).toBeLessThanOrEqual(4)
  })
  test('of a group without a signature takes all that have none', () => {
    const q = new Queue()
    q.do({ type: 'Import', tasks: ['i0', 'i1'].map((id) => ({ ...task(id), status: 'dead-letter' as const, lastError: 'as imported' })) })
    const [pattern] = deadLetterPatterns(q.state)
    const filter = { type: 'work', signature: pattern?.signature ?? 'none' }
    expect(listTasks(q.state, { ...filter, statuses: ['dead-letter'] }, 9).tasks.map(({ id }) => id)).toEqual(['i0', 'i1'])
    redrive(q, 60, filter)
    expect([0, 1, 1].map((seconds) => q.wait(seconds))).toEqual([['Requeued', 'RedriveAdvanced'], ['Requeued', 'RedriveAdvanced'], ['RedriveStopped']])
  })
  test('takes only those that match, and each once: what fails again stays', () => {
    const q = dead(2).enqueue(task('other', { type: 'other', maxRetries: 1 }))
    q.kill('other', 'other')
    redrive(q, 60, { type: 'work' })
    for (let i = 0; i < 4; i++) {
      q.wait(1)
      const { ids, token } = q.claim('ann')
      if (ids[0] !== undefined) q.fail(ids[0], token, false)
    }
    expect(redriveOf(q.state)).toMatchObject({ retried: 2, stopped: { cause: 'nothing-left' } })
    expect([q.status('d0'), q.status('d1'), q.status('other')]).toEqual(['dead-letter', 'dead-letter', 'dead-letter'])
  })
  test('passes over those whose key another task has', () => {
    const q = dead(2).enqueue(task('new', { idempotencyKey: 'key of d0' }))
    redrive(q, 60)
    expect(q.wait(0)).toEqual(['Requeued', 'RedriveAdvanced'])
    expect(q.status('d1')).toBe('pending')
    expect(q.wait(1)).toEqual(['RedriveStopped'])
  })
  test('comes to what was amended to a higher priority meanwhile, and sends nothing back twice', () => {
    const q = dead(3)
    redrive(q, 60)
    q.wait(0)
    q.wait(0.5)
    q.kill('d0')
    q.do({ type: 'AmendTask', task: 'd2', priority: 9, reason: 'urgent now' })
    q.wait(0.5)
    expect([q.status('d1'), q.status('d2')]).toEqual(['dead-letter', 'pending'])
    expect([q.wait(1), q.wait(1)]).toEqual([['Requeued', 'RedriveAdvanced'], ['RedriveStopped']])
    expect([q.status('d0'), q.status('d1')]).toEqual(['dead-letter', 'pending'])
    expect(redriveOf(q.state)).toMatchObject({ retried: 3, stopped: { cause: 'nothing-left' } })
  })
  test('stops when a breaker of a type that it has sent back opens again, before the next one', () => {
    const q = dead(3).configure({ breakers: { defaults: { failureThreshold: 1, cooldownSeconds: 0, halfOpenAfter: 0.5 } } })
    redrive(q, 6)
    q.wait(0)
    expect(q.kill('d0')).toEqual(['Failed', 'DeadLettered', 'BreakerOpened'])
    // The breaker is half-open by then, but has opened since the redrive began.
    expect(q.wait(10)).toEqual(['BreakerHalfOpened', 'RedriveStopped'])
    expect(redriveOf(q.state)).toMatchObject({ retried: 1, stopped: { cause: 'breaker-opened', taskType: 'work' } })
  })
  test('stops even if the breaker is half-open again by then', () => {
    const q = dead(3).configure({ breakers: { defaults: { failureThreshold: 1, cooldownSeconds: 0, halfOpenAfter: 0.5 } } })
    redrive(q, 6)
    q.wait(0)
    q.kill('d0')
    expect(q.wait(1)).toEqual(['BreakerHalfOpened'])
    expect(q.wait(9)).toEqual(['RedriveStopped'])
  })
  test('does not take one again that fails in the same millisecond', () => {
    const q = dead(1)
    redrive(q, 60)
    q.wait(0)
    q.kill('d0')
    expect(q.wait(1)).toEqual(['RedriveStopped'])
  })
  test('stops if the breaker of the next one is open', () => {
    const q = dead(1)
    q.do({ type: 'OpenBreaker', taskType: 'work', reason: 'r' })
    redrive(q, 60)
    expect(q.wait(0)).toEqual(['RedriveStopped'])
    expect(q.status('d0')).toBe('dead-letter')
  })
  test('goes on when the breaker of another type opens', () => {
    const q = dead(2)
    redrive(q, 60)
    q.wait(0)
    q.do({ type: 'OpenBreaker', taskType: 'other', reason: 'r' })
    expect(q.wait(1)).toEqual(['Requeued', 'RedriveAdvanced'])
  })
  test('is stopped by hand; there is one at a time', () => {
    const q = dead(2)
    expect(q.refuse({ type: 'StopRedrive', ...review })).toMatchObject({ code: 'not-found' })
    redrive(q, 60)
    expect(q.refuse({ type: 'Redrive', filter: {}, perMinute: 1, ...review })).toMatchObject({ code: 'conflict' })
    expect(names(q.do({ type: 'StopRedrive', ...review }))).toEqual(['RedriveStopped'])
    expect(q.wait(60)).toEqual([])
    expect(redrive(q, 60)).toEqual(['RedriveStarted'])
  })
})
