/** Limits on how much runs at once and how often it starts, and lines of tasks that run one after the other (INV-23). */
import { type CommandOf, explainOf, fork, limitOf, limitsOf, mark, nextDue, rollback } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { contentsOf, sizesOf } from '../support/states/index.js'
import { Queue, start, task } from './queue.js'

const limited = (key: string, limit: Omit<CommandOf<'SetLimit'>, 'type' | 'key'>): Queue => {
  const q = new Queue().configure({ decisionReport: 'optional' })
  q.do({ type: 'SetLimit', key, ...limit })
  return q
}
const many = (count: number, more: Parameters<typeof task>[1], prefix = 't') => Array.from({ length: count }, (_, i) => task(`${prefix}${i + 1}`, more))
const codes = (q: Queue, id: string) => explainOf(q.state, id, q.at)?.reasons.map(({ code }) => code)

describe('INV-23: live leases', () => {
  test.each([
    ['a concurrency key', 'db', { concurrencyKey: 'db' }],
    ['each concurrency key', '*', { concurrencyKey: 'db' }],
    ['a type', 'type:work', {}],
    ['each type', 'type:*', {}],
    ['a tenant', 'tenant:acme', { tenant: 'acme' }],
    ['each tenant', 'tenant:*', { tenant: 'acme' }],
  ] as const)('INV-23: of %s never exceed its limit, also in one claim of many', (_, key, more) => {
    const q = limited(key, { concurrency: 2 }).enqueue(...many(5, more))
    expect(q.claim('ann', { max: 10 }).ids).toEqual(['t1', 't2'])
    expect(q.claim('bob', { max: 10 }).ids).toEqual([])
    q.complete('t1', 1)
    expect(q.claim('bob', { max: 10 }).ids).toEqual(['t3'])
  })

  test('EV-10: of a limit of 0, no end of a lease is said to help', () => {
    const q = limited('key', { concurrency: 1 }).enqueue(...many(2, { concurrencyKey: 'key' }))
    expect(q.claim().ids).toEqual(['t1'])
    expect(explainOf(q.state, 't2', q.at)?.reasons).toMatchObject([{ code: 'concurrency-limit', change: 'the end of a lease, or a higher limit' }])
    q.do({ type: 'SetLimit', key: 'type:work', concurrency: 0 })
    expect(explainOf(q.state, 't2', q.at)?.reasons).toMatchObject([{ code: 'concurrency-limit', change: 'higher limits' }])
    q.do({ type: 'RemoveLimit', key: 'key' })
    expect(explainOf(q.state, 't2', q.at)?.reasons).toMatchObject([{ code: 'concurrency-limit', change: 'a higher limit' }])
  })

  test('EV-10: of several limits that are full or used up, all are said to be raised', () => {
    const q = limited('key', { concurrency: 1 }).enqueue(...many(2, { concurrencyKey: 'key' }))
    q.do({ type: 'SetLimit', key: 'type:work', concurrency: 1 })
    expect(q.claim().ids).toEqual(['t1'])
    expect(explainOf(q.state, 't2', q.at)?.reasons).toMatchObject([{ change: 'the end of a lease of each, or higher limits' }])
    const rate = { starts: 1, perSeconds: 60 }
    for (const key of ['key', 'type:work']) q.do({ type: 'SetLimit', key, rate })
    q.complete('t1', 1)
    q.enqueue(task('t3', { concurrencyKey: 'key' }))
    expect(q.claim().ids).toEqual(['t2'])
    expect(explainOf(q.state, 't3', q.at)?.reasons).toMatchObject([{ code: 'rate-limit', change: 'time, or higher rates' }])
  })

  test('INV-23: every end of a lease makes room: failure, release, expiry, cancel, termination', () => {
    const q = limited('db', { concurrency: 1 }).enqueue(...many(6, { concurrencyKey: 'db', backoffSeconds: 0, timeout: 30 }))
    const next = (): string => q.claim('ann', { max: 9 }).ids.join()
    expect(next()).toBe('t1')
    q.fail('t1', 1, false)
    expect(next()).toBe('t2')
    q.giveBack('t2', 2)
    expect(next()).toBe('t3')
    q.do({ type: 'Cancel', task: 't3', reason: 'r' })
    expect(next()).toBe('t4')
    q.do({ type: 'TerminateAgent', agent: 'ann', reason: 'r' })
    expect(next()).toBe('t4')
    q.wait(30)
    expect(limitOf(q.state, 'db')).toEqual({ key: 'db', concurrency: 1, live: 0 })
  })

  test('INV-23: what is not limited is served beside what is full, and the limits of a task all hold', () => {
    const q = limited('db', { concurrency: 1 })
    q.do({ type: 'SetLimit', key: 'type:work', concurrency: 2 })
    q.enqueue(...many(3, { concurrencyKey: 'db' }), ...many(3, {}, 'w'), ...many(2, { type: 'other', concurrencyKey: 'db' }, 'o'), task('free', { type: 'other' }))
    expect(q.claim('ann', { max: 10 }).ids).toEqual(['t1', 'w1', 'free'])
    q.complete('t1', 1)
    expect(q.claim('ann', { max: 10 }).ids).toEqual(['t2'])
  })

  test('INV-23: a limit counts what runs already, is raised, lowered and removed', () => {
    const q = new Queue().enqueue(...many(6, { concurrencyKey: 'db' }))
    q.claim('ann', { max: 2 })
    q.do({ type: 'SetLimit', key: 'type:work', concurrency: 2 })
    expect([q.claim().ids, limitOf(q.state, 'type:work')]).toEqual([[], { key: 'type:work', concurrency: 2, live: 2 }])
    q.do({ type: 'SetLimit', key: 'type:work', concurrency: 3 })
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t3'])
    q.do({ type: 'SetLimit', key: 'type:work', concurrency: 0 })
    expect([q.claim().ids, limitsOf(q.state)]).toEqual([[], [{ key: 'type:work', concurrency: 0, live: 3 }]])
    q.do({ type: 'RemoveLimit', key: 'type:work' })
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t4', 't5', 't6'])
    expect(q.refuse({ type: 'RemoveLimit', key: 'type:work' })).toMatchObject({ code: 'not-found' })
  })

  test('INV-23, INV-15: a tenant may be called *, and its limit is that of all tenants, also when that is changed', () => {
    const q = limited('tenant:*', { concurrency: 1 }).enqueue(...many(5, { tenant: '*' }))
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t1'])
    const [point, before] = [mark(q.state), contentsOf(q.state)]
    q.do({ type: 'SetLimit', key: 'tenant:*', concurrency: 3 })
    expect(contentsOf(fork(q.state))).toEqual(contentsOf(q.state))
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t2', 't3'])
    q.state = rollback(q.state, point)
    expect(contentsOf(q.state)).toEqual(before)
    q.do({ type: 'RemoveLimit', key: 'tenant:*' })
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t2', 't3', 't4', 't5'])
  })

  test('INV-23: a limit of its own goes before that of all', () => {
    const q = limited('*', { concurrency: 1 })
    q.do({ type: 'SetLimit', key: 'big', concurrency: 3 })
    q.enqueue(...many(4, { concurrencyKey: 'big' }, 'b'), ...many(2, { concurrencyKey: 'a' }, 'a'))
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['b1', 'b2', 'b3', 'a1'])
    q.do({ type: 'RemoveLimit', key: 'big' })
    expect(limitsOf(q.state)).toEqual([{ key: '*', concurrency: 1 }])
    q.complete('b1', 1)
    q.complete('b2', 2)
    expect(q.claim().ids).toEqual([])
    q.complete('b3', 3)
    expect(q.claim().ids).toEqual(['b4'])
  })

  test('INV-23: a task may bring the limit of its key: the newest counts, and nothing is appended for the same again', () => {
    const q = new Queue().enqueue(...many(3, { concurrencyKey: 'db', concurrencyLimit: 1 }))
    expect(q.log.map(({ type }) => type)).toEqual(['TaskEnqueued', 'TaskEnqueued', 'TaskEnqueued', 'LimitSet'])
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t1'])
    q.enqueue(task('same', { concurrencyKey: 'db', concurrencyLimit: 1 }))
    expect(q.log[q.log.length - 1]?.type).toBe('TaskEnqueued')
    q.do({ type: 'SetLimit', key: 'db', concurrency: 1, rate: { starts: 5, perSeconds: 60 } })
    q.enqueue(task('more', { concurrencyKey: 'db', concurrencyLimit: 2 }))
    expect(limitOf(q.state, 'db')).toMatchObject({ concurrency: 2, rate: { starts: 5, perSeconds: 60 }, live: 1 })
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t2'])
    expect(q.refuse({ type: 'Enqueue', tasks: [task('x', { concurrencyLimit: 1 })] })).toMatchObject({ code: 'invalid', errors: [{ path: 'tasks[0].concurrencyLimit', message: 'needs a concurrencyKey for which it would hold' }] })
    // A duplicate sets nothing.
    q.enqueue(task('more', { concurrencyKey: 'db', concurrencyLimit: 9 }))
    expect(limitOf(q.state, 'db')?.concurrency).toBe(2)
  })

  test('INV-23: a task that brings a limit does not lift the rate that its key has with all others', () => {
    const rate = { starts: 1, perSeconds: 60 }
    const q = limited('*', { rate }).enqueue(...many(3, { concurrencyKey: 'db' }))
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t1'])
    q.enqueue(task('more', { concurrencyKey: 'db', concurrencyLimit: 50 }))
    expect(limitOf(q.state, 'db')).toMatchObject({ concurrency: 50, rate })
    expect(q.look('ann', { max: 9 })).toEqual([])
    expect(q.wait(60)).toEqual(['LimitOpened'])
    expect(q.look('ann', { max: 9 })).toEqual(['t2'])
  })

  test('INV-23: nothing is decided for a limit that is set already, and one without members is refused', () => {
    const q = limited('db', { concurrency: 1 })
    expect(q.do({ type: 'SetLimit', key: 'db', concurrency: 1 })).toEqual([])
    expect(q.refuse({ type: 'SetLimit', key: 'db' })).toMatchObject({ code: 'invalid' })
  })

  test('INV-22: a queue has 10,000 limits at most', () => {
    const q = new Queue()
    for (let i = 0; i < 10_000; i++) q.do({ type: 'SetLimit', key: `k${i}`, concurrency: 1 })
    expect(q.refuse({ type: 'SetLimit', key: 'one more', concurrency: 1 })).toMatchObject({ code: 'conflict' })
    expect(q.refuse({ type: 'Enqueue', tasks: [task('a', { concurrencyKey: 'one more', concurrencyLimit: 1 })] })).toMatchObject({ code: 'conflict' })
    expect(q.do({ type: 'SetLimit', key: 'k7', concurrency: 2 })).toHaveLength(1)
  })
})

describe('INV-23: starts', () => {
  test('INV-23: never exceed a rate in any window, also across its borders', () => {
    const q = limited('type:work', { rate: { starts: 3, perSeconds: 10 } }).enqueue(...many(20, {}))
    const starts: Array<number> = []
    for (let ms = 0; ms < 40_000; ms += 700) {
      q.at = start + ms
      q.wait(0)
      for (const id of q.claim('ann', { max: 2 }).ids) {
        starts.push(ms)
        q.complete(id, starts.length)
      }
    }
    expect(starts.length).toBeGreaterThan(9)
    for (const [i, ms] of starts.entries()) expect(ms - (starts[i - 3] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(10_000)
  })

  test('INV-23: one claim gets no more than are left, and the rest at the instant at which the rate admits it', () => {
    const q = limited('db', { rate: { starts: 2, perSeconds: 60 } }).enqueue(...many(4, { concurrencyKey: 'db' }))
    expect(explainOf(q.state, 't3', q.at)?.reasons).toEqual([{
      code: 'rate-limit',
      message: 'tasks that come first use up what concurrency key db may have: concurrency key db may start 2 in 60 s',
      change: 'the starts of the tasks that come first, and time; or a higher rate',
      remedy: { limits: ['db'] },
    }])
    expect(q.claim().ids).toEqual(['t1'])
    q.wait(30)
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t2'])
    expect(limitOf(q.state, 'db')).toMatchObject({ live: 2, shutUntil: start + 60_000 })
    expect(nextDue(q.state)).toBe(start + 60_000)
    expect(explainOf(q.state, 't3', q.at)).toMatchObject({ runnable: false, reasons: [{ code: 'rate-limit', until: start + 60_000, message: 'concurrency key db may start 2 in 60 s, and has' }] })
    q.at = start + 59_999
    expect([q.wait(0), q.claim().ids]).toEqual([[], []])
    q.at = start + 60_000
    expect([q.wait(0), q.claim('ann', { max: 9 }).ids]).toEqual([['LimitOpened'], ['t3']])
    expect(limitOf(q.state, 'db')?.shutUntil).toBe(start + 90_000)
  })

  test('INV-23: a rate that is raised, lowered or removed keeps the starts that count', () => {
    const q = limited('db', { rate: { starts: 2, perSeconds: 60 } }).enqueue(...many(9, { concurrencyKey: 'db' }))
    q.claim('ann', { max: 2 })
    q.do({ type: 'SetLimit', key: 'db', rate: { starts: 3, perSeconds: 100 } })
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['t3'])
    q.do({ type: 'SetLimit', key: 'db', rate: { starts: 1, perSeconds: 60 } })
    expect(limitOf(q.state, 'db')?.shutUntil).toBe(start + 60_000)
    q.do({ type: 'SetLimit', key: 'db', concurrency: 9 })
    expect(q.claim().ids).toEqual(['t4'])
  })

  test('INV-22: starts are forgotten when they no longer count', () => {
    const q = limited('*', { rate: { starts: 2, perSeconds: 60 } }).configure({ retentionSeconds: 0 })
    for (let i = 0; i < 50; i++) {
      q.enqueue(task(`${i}`, { concurrencyKey: `k${i}` }))
      q.complete(`${i}`, q.claim().token)
    }
    expect(sizesOf(q.state).meters).toBe(50)
    q.at += 60_000
    for (let i = 0; i < 20; i++) q.configure({ maxAttempts: 30 + i })
    expect(sizesOf(q.state)).toMatchObject({ meters: 0, groups: 0 })
  })

  test('INV-15: starts survive a rollback and a snapshot', () => {
    const q = limited('db', { rate: { starts: 2, perSeconds: 60 } }).enqueue(...many(9, { concurrencyKey: 'db' }))
    q.claim()
    q.at += 1
    const before = contentsOf(q.state)
    const point = mark(q.state)
    q.claim('ann', { max: 2 })
    q.do({ type: 'SetLimit', key: 'db', rate: { starts: 5, perSeconds: 9 } })
    q.claim('ann', { max: 2 })
    q.state = rollback(q.state, point)
    expect(contentsOf(q.state)).toEqual(before)
    q.claim()
    expect(contentsOf(fork(q.state))).toEqual(contentsOf(q.state))
    expect(limitOf(fork(q.state), 'db')).toEqual({ key: 'db', rate: { starts: 2, perSeconds: 60 }, live: 2, shutUntil: start + 60_000 })
  })
})

describe('EV-10: limits in the reasons of a task', () => {
  test('EV-10: a full key is named, with what it may hold and how to raise it', () => {
    const q = limited('a/b', { concurrency: 1 }).enqueue(...many(3, { concurrencyKey: 'a/b' }))
    expect(codes(q, 't1')).toEqual(['ready'])
    expect(explainOf(q.state, 't2', q.at)).toMatchObject({ runnable: false, position: null, reasons: [{ code: 'concurrency-limit', message: 'tasks that come first use up what concurrency key a/b may have: concurrency key a/b may hold 1 lease at once, and holds 0' }] })
    q.claim()
    expect(explainOf(q.state, 't2', q.at)?.reasons).toEqual([
      { code: 'concurrency-limit', message: 'concurrency key a/b may hold 1 lease at once, and holds 1', change: 'the end of a lease, or a higher limit', remedy: { limits: ['a/b'] } },
    ])
  })
})

describe('INV-23: ordering keys', () => {
  const line = (...ids: ReadonlyArray<string>) => ids.map((id) => task(id, { orderingKey: 'cart', maxRetries: 1, backoffSeconds: 0 }))

  test('INV-23: tasks of a line run one after the other, in the order of their numbers, whatever their priority', () => {
    const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(...line('a', 'b'), task('c', { orderingKey: 'cart', priority: 10 }), task('other', { orderingKey: 'cart 2' }))
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['a', 'other'])
    expect(explainOf(q.state, 'c', q.at)).toMatchObject({
      status: 'blocked',
      reasons: [{ code: 'ordering', message: 'tasks of ordering key cart run one after the other, and a (in-progress) comes first', change: 'the end of a, and of all that come before it', blockedBy: [{ id: 'a', status: 'in-progress' }] }],
    })
    q.complete('a', 1)
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['b'])
    q.do({ type: 'Cancel', task: 'b', reason: 'r' })
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['c'])
  })

  test('INV-23: a retry keeps its place, and a dead letter stands in its line until it is reviewed', () => {
    const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(...line('a', 'b', 'c'))
    q.giveBack('a', q.claim().token)
    expect(q.claim('bob').ids).toEqual(['a'])
    q.fail('a', 2, false, 'bob')
    expect([q.claim('bob').ids, codes(q, 'b')]).toEqual([[], ['ordering']])
    expect(explainOf(q.state, 'b', q.at)?.reasons[0]?.change).toBe('a reviewer who retries or discards the dead letter a, and of all that come before it')
    q.do({ type: 'Retry', task: 'a', reviewer: 'r', reason: 'r' })
    expect(q.claim('bob', { max: 9 }).ids).toEqual(['a'])
    q.fail('a', 3, false, 'bob')
    q.do({ type: 'Discard', task: 'a', reviewer: 'r', reason: 'r' })
    expect(q.claim('bob', { max: 9 }).ids).toEqual(['b'])
  })

  test('INV-23: dependencies and a time of its own still hold when its turn has come', () => {
    const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(task('x'), task('a', { orderingKey: 'cart' }), task('b', { orderingKey: 'cart', dependencies: ['x'] }), task('c', { orderingKey: 'cart', availableAt: start + 60_000 }))
    q.complete('a', q.claim('ann', { max: 2 }).token)
    expect([q.claim('ann', { max: 9 }).ids, codes(q, 'b')]).toEqual([[], ['blocked']])
    q.complete('x', 1)
    q.complete('b', q.claim().token)
    expect([q.claim('ann', { max: 9 }).ids, codes(q, 'c')]).toEqual([[], ['scheduled']])
    q.wait(60)
    expect(q.claim('ann', { max: 9 }).ids).toEqual(['c'])
  })

  test('INV-22: a line without unfinished tasks leaves nothing', () => {
    const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(...line('a', 'b'))
    for (const id of ['a', 'b']) q.complete(id, q.claim().token)
    expect(sizesOf(q.state).entries['lines']).toBe(0)
  })
})
