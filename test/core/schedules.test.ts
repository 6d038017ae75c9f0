/** Schedules: when they are due, and missed and overlapping runs (INV-27). */
import { type CommandOf, fork, headOf, mark, type QueueEvent, release, rollback, scheduleOf, schedulesOf } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { names, Queue, start } from './queue.js'

type Create = Omit<CommandOf<'CreateSchedule'>, 'type' | 'name' | 'task'>
const at = (text: string): number => Date.parse(text)
const iso = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString())

const withSchedule = (schedule: Create, task: CommandOf<'CreateSchedule'>['task'] = { type: 'work' }): Queue => {
  const q = new Queue().configure({ decisionReport: 'optional' })
  q.do({ type: 'CreateSchedule', name: 's', task, ...schedule })
  return q
}
/** The queue at this time, after deciding everything that is due. */
const goTo = (q: Queue, time: string | number): ReadonlyArray<QueueEvent> => {
  q.at = typeof time === 'string' ? at(time) : time
  return q.do({ type: 'Tick' })
}
const view = (q: Queue) => scheduleOf(q.state, 's')!
/** The last runs, oldest first: the instant, and the task or why there is none. */
const told = (q: Queue) => view(q).last.toReversed().map(({ dueAt, task, skipped, since }) => `${iso(dueAt)!.slice(11, 19)} ${task === undefined ? (skipped ?? 'waits') : 'ran'}${since === undefined ? '' : ` since ${iso(since)!.slice(11, 19)}`}`)
const instants = (rule: Create, from: string, count: number): ReadonlyArray<string | undefined> => {
  const q = new Queue()
  q.at = at(from)
  q.do({ type: 'CreateSchedule', name: 's', task: { type: 'work' }, ...rule })
  const found: Array<string | undefined> = []
  for (let i = 0; i < count; i++) {
    found.push(iso(view(q).next[0]))
    goTo(q, view(q).next[0]!)
  }
  return found
}

describe('a run', () => {
  test('enqueues its task with all its fields, once, under an id of name and instant', () => {
    const q = withSchedule(
      { cron: '0 2 * * *', timeZone: 'Europe/Berlin' },
      { type: 'report', payload: { b: 1, a: [2] }, description: 'The report', metadata: { m: null }, priority: 'HIGH', requires: { skills: ['sql'] }, tenant: 'acme', timeout: 30, maxRetries: 1, backoffSeconds: 0, ticketId: 'T-1', phase: 'TESTING' },
    )
    expect(view(q).next.map(iso)[0]).toBe('2026-01-06T01:00:00.000Z')
    expect(goTo(q, '2026-01-06T00:59:59.999Z')).toEqual([])
    const [ran, enqueued] = goTo(q, '2026-01-06T01:00:00Z')
    expect(ran).toMatchObject({ type: 'ScheduleRan', data: { name: 's', dueAt: q.at, task: 's@2026-01-06T01:00:00.000Z', nextAt: q.at + 86_400_000 } })
    expect(enqueued).toMatchObject({ type: 'TaskEnqueued', content: '{"payload":{"a":[2],"b":1},"description":"The report","metadata":{"m":null}}' })
    expect(q.task('s@2026-01-06T01:00:00.000Z')).toMatchObject({ type: 'report', priority: 8, skills: ['sql'], tenant: 'acme', timeout: 30, maxRetries: 1, backoffSeconds: 0, ticketId: 'T-1', phase: 'TESTING', status: 'pending' })
    expect(q.do({ type: 'Tick' })).toEqual([])
  })

  test('an interval is counted from when it was set', () => {
    expect(instants({ every: 90 }, '2026-01-05T09:00:00.250Z', 3)).toEqual(['2026-01-05T09:01:30.250Z', '2026-01-05T09:03:00.250Z', '2026-01-05T09:04:30.250Z'])
  })

  test('whose id another task has is skipped, and the next one is not', () => {
    const q = withSchedule({ every: 60 })
    q.enqueue({ id: `s@${iso(start + 60_000)}`, type: 'work', idempotencyKey: 'mine', content: '{}' })
    goTo(q, start + 60_000)
    goTo(q, start + 120_000)
    expect(told(q)).toEqual(['09:01:00 duplicate', '09:02:00 ran'])
  })

  test('INV-27: whose key another run has that begins at the same time is skipped', () => {
    const q = new Queue().configure({ tenants: 'isolated' })
    for (const name of ['acme:s', 's']) q.do({ type: 'CreateSchedule', name, every: 60, task: { type: 'work', tenant: 'acme' } })
    expect(names(goTo(q, start + 60_000))).toEqual(['ScheduleRan', 'TaskEnqueued', 'ScheduleSkipped'])
    expect(told(q)).toEqual(['09:01:00 duplicate'])
    expect(headOf(q.state).misfits).toBe(0)
  })

  test('INV-7: takes its key before a dead letter whose snooze ends at the same time', () => {
    const q = withSchedule({ every: 60 })
    const run = `s@${iso(start + 60_000)}`
    q.enqueue({ id: 'early', type: 'work', idempotencyKey: run, content: '{}' })
    q.kill('early')
    q.do({ type: 'Snooze', task: 'early', reviewer: 'rev', reason: 'r', until: start + 60_000 })
    expect(names(goTo(q, start + 60_000))).toEqual(['ScheduleRan', 'TaskEnqueued', 'SnoozeLapsed'])
    expect([q.status(run), q.status('early'), headOf(q.state).misfits]).toEqual(['pending', 'dead-letter', 0])
  })

  test('its task takes the settings of the queue at that time, and its number', () => {
    const q = withSchedule({ every: 60 })
    q.configure({ defaults: { timeout: 77 } }).enqueue({ id: 'x', type: 'work', idempotencyKey: 'x', content: '{}' })
    q.do({ type: 'CreateSchedule', name: 'other', every: 60, task: { type: 'work' } })
    goTo(q, start + 60_000)
    expect(q.task(`other@${iso(q.at)}`)).toMatchObject({ number: 2, timeout: 77 })
    expect(q.task(`s@${iso(q.at)}`)).toMatchObject({ number: 3, timeout: 77 })
  })
})

describe('days of 23 and 25 hours', () => {
  const berlin = { timeZone: 'Europe/Berlin' }
  const newYork = { timeZone: 'America/New_York' }
  test.each<[string, Create, string, ReadonlyArray<string>]>([
    ['Berlin: a time in the gap is due when it ends', { cron: '30 2 * * *', ...berlin }, '2026-03-28T00:00:00Z', ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']],
    ['Berlin: a time that comes twice is due once', { cron: '30 2 * * *', ...berlin }, '2026-10-24T00:00:00Z', ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']],
    ['Berlin: several times of day are fixed times, too', { cron: '30 2,14 * * *', ...berlin }, '2026-03-28T20:00:00Z', ['2026-03-29T01:00', '2026-03-29T12:30', '2026-03-30T00:30']],
    ['Berlin: steps go by elapsed time over the gap', { cron: '*/30 * * * *', ...berlin }, '2026-03-29T00:15:00Z', ['2026-03-29T00:30', '2026-03-29T01:00', '2026-03-29T01:30']],
    ['Berlin: steps go by elapsed time over the repeated hour', { cron: '0 * * * *', ...berlin }, '2026-10-24T23:30:00Z', ['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00']],
    ['New York: a time in the gap is due when it ends', { cron: '30 2 * * *', ...newYork }, '2026-03-07T00:00:00Z', ['2026-03-07T07:30', '2026-03-08T07:00', '2026-03-09T06:30']],
    ['New York: a time that comes twice is due once', { cron: '30 1 * * *', ...newYork }, '2026-10-31T00:00:00Z', ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30']],
    ['Lord Howe: half an hour', { cron: '15 2 * * *', timeZone: 'Australia/Lord_Howe' }, '2026-10-03T00:00:00Z', ['2026-10-03T15:30', '2026-10-04T15:15']],
    ['UTC has none', { cron: '30 2 * * *' }, '2026-03-28T12:00:00Z', ['2026-03-29T02:30', '2026-03-30T02:30']],
  ])('%s', (_, rule, from, wanted) => {
    expect(instants(rule, from, wanted.length)).toEqual(wanted.map((text) => `${text}:00.000Z`))
  })

  test('a missed run on such a day is the one of that day', () => {
    const q = new Queue()
    q.at = at('2026-03-28T12:00:00Z')
    q.do({ type: 'CreateSchedule', name: 's', task: { type: 'work' }, cron: '30 2 * * *', timeZone: 'Europe/Berlin' })
    goTo(q, '2026-03-29T23:00:00Z')
    expect(view(q).last.map(({ dueAt }) => iso(dueAt))).toEqual(['2026-03-29T01:00:00.000Z'])
  })
})

describe('runs that were missed', () => {
  const late = (missed: 'skip' | 'once' | 'all', seconds: number, rule: Create = { every: 600 }) => {
    const q = withSchedule({ ...rule, missed })
    goTo(q, start + seconds * 1_000)
    return q
  }
  test('once: the last one is made up for', () => {
    expect(told(late('once', 2_400))).toEqual(['09:30:00 missed since 09:10:00', '09:40:00 ran'])
    expect(told(late('once', 2_999))).toEqual(['09:30:00 missed since 09:10:00', '09:40:00 ran'])
    expect(told(late('once', 1_199))).toEqual(['09:10:00 ran'])
    expect(told(late('once', 1_200))).toEqual(['09:10:00 missed', '09:20:00 ran'])
  })
  test('skip: none is, unless it is at most a minute late', () => {
    expect(told(late('skip', 660))).toEqual(['09:10:00 ran'])
    expect(told(late('skip', 661))).toEqual(['09:10:00 missed'])
    expect(told(late('skip', 1_230))).toEqual(['09:10:00 missed', '09:20:00 ran'])
    expect(told(late('skip', 1_261))).toEqual(['09:20:00 missed since 09:10:00'])
    expect(iso(view(late('skip', 1_261)).next[0])).toBe('2026-01-05T09:30:00.000Z')
  })
  test('all: each is, a hundred with each tick', () => {
    expect(told(late('all', 1_800))).toEqual(['09:10:00 ran', '09:20:00 ran', '09:30:00 ran'])
    const q = late('all', 250, { every: 1 })
    const ran = () => new Set(q.log.flatMap((event) => (event.type === 'ScheduleRan' ? [event.data.task] : []))).size
    expect(ran()).toBe(100)
    q.wait(0)
    q.wait(0)
    expect([ran(), q.wait(0)]).toEqual([250, []])
  })
  test('a week of seconds costs a few questions', () => {
    const q = withSchedule({ cron: '* * * * * *', missed: 'skip' })
    expect(names(goTo(q, start + 7 * 86_400_000))).toEqual(['ScheduleSkipped', 'ScheduleRan', 'TaskEnqueued'])
  })
  test('the times during a pause of the queue are not missed: its tasks wait', () => {
    const q = withSchedule({ every: 60 })
    q.do({ type: 'Pause', reason: 'lunch' })
    goTo(q, start + 60_000)
    expect(told(q)).toEqual(['09:01:00 ran'])
    expect(q.claim().ids).toEqual([])
  })
})

describe('runs that overlap', () => {
  const held = (overlap: 'allow' | 'skip' | 'queue') => {
    const q = withSchedule({ every: 60, overlap })
    for (const minute of [1, 2, 3]) goTo(q, start + minute * 60_000)
    return q
  }
  const first = `s@${iso(start + 60_000)}`

  test('allow: each begins', () => {
    expect(told(held('allow'))).toEqual(['09:01:00 ran', '09:02:00 ran', '09:03:00 ran'])
  })
  test('skip: none begins while the one before is unfinished', () => {
    const q = held('skip')
    expect(told(q)).toEqual(['09:01:00 ran', '09:02:00 overlap', '09:03:00 overlap'])
    q.complete(first, q.claim().token)
    goTo(q, start + 240_000)
    expect(told(q).at(-1)).toBe('09:04:00 ran')
  })
  test.each<[string, (q: Queue) => void]>([
    ['completed', (q) => void q.complete(first, q.claim().token)],
    ['a dead letter', (q) => void q.kill(first)],
    ['cancelled', (q) => void q.do({ type: 'Cancel', task: first, reason: 'no' })],
  ])('queue: one waits until the one before is %s; then it begins at once', (_, end) => {
    const q = held('queue')
    expect(told(q)).toEqual(['09:01:00 ran', '09:02:00 waits', '09:03:00 overlap'])
    expect(q.do({ type: 'Tick' })).toEqual([])
    end(q)
    expect(names(q.do({ type: 'Tick' }))).toEqual(['ScheduleRan', 'TaskEnqueued'])
    // Listed once, as the newest decision.
    expect(told(q)).toEqual(['09:01:00 ran', '09:03:00 overlap', '09:02:00 ran'])
    expect(q.status(`s@${iso(start + 120_000)}`)).toBe('pending')
    goTo(q, start + 240_000)
    expect(told(q).at(-1)).toBe('09:04:00 waits')
  })
  test('all missed runs and queue: one begins, one waits, the others are skipped', () => {
    const q = withSchedule({ every: 60, overlap: 'queue', missed: 'all' })
    goTo(q, start + 240_000)
    expect(told(q)).toEqual(['09:01:00 ran', '09:02:00 waits', '09:04:00 overlap since 09:03:00'])
  })
  test.each([
    ['skip', ['ScheduleRan', 'TaskEnqueued', 'ScheduleSkipped']],
    ['queue', ['ScheduleRan', 'TaskEnqueued', 'ScheduleHeld', 'ScheduleSkipped']],
  ] as const)('all missed runs and %s: a week of seconds costs a few events', (overlap, expected) => {
    for (const rule of [{ every: 1 }, { cron: '* * * * * *' }]) {
      const q = withSchedule({ ...rule, missed: 'all', overlap })
      expect(names(goTo(q, start + 7 * 86_400_000))).toEqual(expected)
      expect(q.wait(0)).toEqual([])
    }
  })
})

describe('a schedule that is changed', () => {
  test('keeps its next run unless its rule is new', () => {
    const q = withSchedule({ every: 60 })
    q.at += 10_000
    q.do({ type: 'ChangeSchedule', name: 's', missed: 'all', task: { type: 'other' } })
    expect(view(q)).toMatchObject({ missed: 'all', overlap: 'allow', task: { type: 'other' }, next: [start + 60_000, start + 120_000, start + 180_000, start + 240_000, start + 300_000] })
    q.do({ type: 'ChangeSchedule', name: 's', cron: '0 * * * *' })
    expect(view(q)).toMatchObject({ cron: '0 * * * *', missed: 'all' })
    expect(view(q)).not.toHaveProperty('every')
    expect(iso(view(q).next[0])).toBe('2026-01-05T10:00:00.000Z')
  })
  test('does not make up for what would have run while it was paused', () => {
    const q = withSchedule({ every: 60, missed: 'all' })
    q.do({ type: 'ChangeSchedule', name: 's', paused: true })
    expect(goTo(q, start + 150_000)).toEqual([])
    expect(view(q).next).toEqual([])
    q.do({ type: 'ChangeSchedule', name: 's', paused: false })
    expect(view(q).next[0]).toBe(start + 180_000)
  })
  test('to what it is already: no event; likewise the same one created again', () => {
    const q = withSchedule({ every: 60 }, { type: 'work', payload: { a: 1, b: 2 } })
    expect(q.do({ type: 'ChangeSchedule', name: 's', every: 60 })).toEqual([])
    expect(q.do({ type: 'CreateSchedule', name: 's', every: 60, overlap: 'allow', task: { payload: { b: 2, a: 1 }, type: 'work' } })).toEqual([])
    expect(q.refuse({ type: 'CreateSchedule', name: 's', every: 61, task: { type: 'work' } })).toMatchObject({ code: 'conflict' })
  })
  test('is gone when it is removed, or the queue deleted', () => {
    const q = withSchedule({ every: 60 })
    q.do({ type: 'RemoveSchedule', name: 's' })
    expect(goTo(q, start + 60_000)).toEqual([])
    expect(q.refuse({ type: 'RemoveSchedule', name: 's' })).toMatchObject({ code: 'not-found' })
    expect(q.refuse({ type: 'ChangeSchedule', name: 's', paused: true })).toMatchObject({ code: 'not-found' })
    q.do({ type: 'CreateSchedule', name: 's', every: 60, task: { type: 'work' } })
    q.do({ type: 'DeleteQueue', reason: 'a slip' })
    expect([schedulesOf(q.state), goTo(q, start + 600_000)]).toEqual([[], []])
  })
})

test.each<[Create, string, string]>([
  [{}, 'cron', 'is required'],
  [{ cron: '0 2 * * *', every: 60 }, 'every', 'either cron or every'],
  [{ cron: '0 2 * *' }, 'cron', '(it has 4 fields): five fields'],
  [{ cron: '61 2 * * *' }, 'cron', 'minute'],
  [{ cron: '0 0 30 2 *' }, 'cron', 'never due'],
  [{ cron: '2026-01-05T02:00:00' }, 'cron', 'a schedule repeats'],
  [{ cron: '0 2 * * *', timeZone: 'Mars/Phobos' }, 'timeZone', 'IANA'],
])('refused: %j', (schedule, path, message) => {
  const q = new Queue()
  expect(q.refuse({ type: 'CreateSchedule', name: 's', task: { type: 'work' }, ...schedule })).toMatchObject({ code: 'invalid', errors: [{ path, message: expect.stringContaining(message) as string }] })
})

test('the same request sent again changes nothing, however deep the task is nested', () => {
  const nested = (depth: number): CommandOf<'CreateSchedule'>['task'] => ({ type: 'work', payload: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) })
  const create = (depth: number) => ({ type: 'CreateSchedule', name: 's', every: 60, task: nested(depth) }) as const
  const q = new Queue()
  const deepest = Array.from({ length: 70 }, (_, i) => 70 - i).find((depth) => q.accepts(create(depth))) ?? 0
  expect(deepest).toBeGreaterThan(60)
  q.do(create(deepest))
  expect(q.do(create(deepest))).toEqual([])
  expect(q.do({ type: 'ChangeSchedule', name: 's', task: nested(deepest) })).toEqual([])
})

test('INV-22: number and size of schedules are bounded', () => {
  const q = new Queue()
  const create = (name: string, payload: string): CommandOf<'CreateSchedule'> => ({ type: 'CreateSchedule', name, every: 60, task: { type: 'work', payload } })
  expect(q.refuse(create('big', 'x'.repeat(65_536)))).toMatchObject({ code: 'too-large' })
  for (let i = 0; i < 1_000; i++) q.do(create(`s${i}`, i < 60 ? 'x'.repeat(65_000) : ''))
  expect(q.refuse(create('one-more', ''))).toMatchObject({ code: 'conflict' })
  for (let i = 60; i < 64; i++) q.do({ type: 'ChangeSchedule', name: `s${i}`, task: { type: 'work', payload: 'x'.repeat(65_000) } })
  expect(q.refuse({ type: 'ChangeSchedule', name: 's64', task: { type: 'work', payload: 'x'.repeat(65_000) } })).toMatchObject({ code: 'too-large' })
})

test('INV-15: schedules are in snapshots, and rolled back', () => {
  const q = withSchedule({ every: 60, overlap: 'queue' })
  goTo(q, start + 60_000)
  goTo(q, start + 120_000)
  const before = textOf(q.state)
  expect(textOf(fork(q.state))).toBe(before)
  const point = mark(q.state)
  q.do({ type: 'Cancel', task: `s@${iso(start + 60_000)}`, reason: 'no' })
  q.do({ type: 'Tick' })
  q.do({ type: 'RemoveSchedule', name: 's' })
  q.state = rollback(q.state, point)
  expect(textOf(q.state)).toBe(before)
  const kept = mark(q.state)
  q.do({ type: 'ChangeSchedule', name: 's', paused: true })
  release(q.state, kept)
  expect(textOf(fork(q.state))).toBe(textOf(q.state))
  expect(headOf(q.state).misfits).toBe(0)
})
