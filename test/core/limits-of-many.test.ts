/** A limit of a type or concurrency key with many groups stands apart: it opens and closes them all at once, and no claim changes by that. */
import { type ClaimShape, keepShape, mark, rollback, takeWokenShapes } from '@daybook/core'
import { ReadyIndex } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { limitsApart, Shadow, textOf } from '../support/states/index.js'
import { runs } from '../properties/settings.js'
import { Queue, task } from './queue.js'

const types = ['x', 'y', 'z']
const asked = [{}, { types: ['x'] }, { types: ['x', 'y'] }, { types: ['*'] }, { tenant: 'n3' }, { tenant: 'n4', types: ['x'] }, { types: ['z', 'x'], phases: ['TESTING' as const] }]
const keys = ['type:x', 'type:y', 'type:*', 'tenant:n3', 'tenant:*', 'k', '*']
const limits = [{ concurrency: 1 }, { concurrency: 3 }, { concurrency: 0 }, { rate: { starts: 2, perSeconds: 20 } }, { concurrency: 2, rate: { starts: 3, perSeconds: 60 } }]
const pick = fc.nat({ max: 1_000 })

const doings = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant('enqueue' as const), count: fc.integer({ min: 20, max: 60 }), from: pick }) },
    { weight: 10, arbitrary: fc.record({ do: fc.constant('claim' as const), shape: fc.nat({ max: asked.length - 1 }), max: fc.constantFrom(1, 1, 2, 9) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('complete' as const), pick }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('give back' as const), pick }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('bump' as const), pick }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('breaker' as const), pick }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('limit' as const), key: fc.nat({ max: keys.length - 1 }), limit: fc.nat({ max: limits.length - 1 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('no limit' as const), key: fc.nat({ max: keys.length - 1 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 10, 30, 800) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('later' as const), seconds: fc.constantFrom(400, 1_200) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), shape: fc.nat({ max: asked.length - 1 }), key: fc.nat({ max: keys.length - 1 }) }) },
  ),
  { minLength: 20, maxLength: 60, size: 'max' },
)

/** How many tasks were given while several limits stood apart. */
let apart = 0

const follow = (list: typeof doings extends fc.Arbitrary<infer L> ? L : never): void => {
  const q = new Queue().configure({ decisionReport: 'optional', assignment: { tenants: { n1: 3, n2: 0.5 } } })
  let made = 0
  const held: Array<{ readonly task: string; readonly agent: string; readonly token: number }> = []
  const add = (count: number, from: number): void => {
    q.enqueue(
      ...Array.from({ length: count }, () => {
        const i = from + made++
        // One tenant has many tasks, which are in lanes.
        const tenant = i % 23 === 0 ? undefined : `n${made % 2 === 0 ? 1 : i % 23}`
        return task(`${made}`, { type: types[i % 7 === 0 ? 2 : i % 3 === 0 ? 1 : 0]!, priority: 1 + (i % 3), ...(tenant === undefined ? {} : { tenant }), ...(i % 5 === 0 ? { phase: 'TESTING' as const } : {}), ...(i % 3 === 0 ? { concurrencyKey: i % 2 === 0 ? 'k' : 'l' } : {}), ...(i % 4 === 0 ? { deadlineAt: q.at + 1_000 * ((i * 31) % 4_000) } : {}) })
      }),
    )
  }
  const claimLike = (shape: number, max: number): void => {
    const command = { type: 'Claim' as const, agent: 'ann', max, ...asked[shape] }
    const expected = Shadow.of(q.log).pick(command, max, q.at).map((one) => one.task.facts.task)
    expect(q.look('ann', command)).toEqual(expected)
    keepShape(q.state, command)
    const { ids, token } = q.claim('ann', command)
    expect(ids).toEqual(expected)
    ids.forEach((id, i) => void held.push({ task: id, agent: 'ann', token: token - ids.length + 1 + i }))
    if (limitsApart(q.state).length > 1) apart += ids.length
  }
  const setLimit = (key: number, limit: number): void => void q.do({ type: 'SetLimit', key: keys[key]!, ...limits[limit]! })
  add(90, 0)
  setLimit(0, 1)
  setLimit(5, 1)
  for (const doing of list) {
    switch (doing.do) {
      case 'enqueue':
        add(doing.count, doing.from)
        break
      case 'claim':
        claimLike(doing.shape, doing.max)
        break
      case 'complete':
      case 'give back': {
        const [one] = held.splice(doing.pick % Math.max(1, held.length), 1)
        if (one === undefined) break
        const command = doing.do === 'complete' ? ({ type: 'Complete', ...one, content: '{}', hasReport: true } as const) : ({ type: 'Release', ...one, reason: 'r', stopping: true } as const)
        if (q.accepts(command)) q.do(command)
        break
      }
      case 'cancel':
      case 'bump': {
        const id = `${1 + (doing.pick % made)}`
        const command = doing.do === 'cancel' ? ({ type: 'Cancel', task: id, reason: 'r' } as const) : ({ type: 'Bump', task: id, reason: 'r' } as const)
        if (q.accepts(command)) q.do(command)
        break
      }
      case 'breaker': {
        const close = { type: 'CloseBreaker', taskType: types[doing.pick % 3]!, reason: 'r' } as const
        q.do(q.accepts(close) ? close : { ...close, type: 'OpenBreaker' })
        break
      }
      case 'limit':
        setLimit(doing.key, doing.limit)
        break
      case 'no limit': {
        const remove = { type: 'RemoveLimit', key: keys[doing.key]! } as const
        if (q.accepts(remove)) q.do(remove)
        break
      }
      case 'wait':
        q.wait(doing.seconds)
        break
      case 'later':
        // Without a tick, so that tasks whose deadline has come are in their old lanes.
        q.at += doing.seconds * 1_000
        break
      case 'undo': {
        const [point, { length }, at, before, leases] = [mark(q.state), q.log, q.at, textOf(q.state), [...held]]
        claimLike(doing.shape, 3)
        setLimit(doing.key, 0)
        q.wait(30)
        claimLike(1, 2)
        q.state = rollback(q.state, point)
        q.log.length = length
        q.at = at
        held.splice(0, held.length, ...leases)
        expect(textOf(q.state)).toBe(before)
      }
    }
  }
  for (let shape = 0; shape < asked.length; shape++) claimLike(shape, 30)
}

test('INV-11, INV-23: with limits of many tenants, claims get the tasks that a scan finds, whatever opens and closes, and is undone', () => {
  apart = 0
  fc.assert(fc.property(doings, follow), runs(15))
  expect(apart).toBeGreaterThan(0)
})

const tenants = (count: number): ReadonlyArray<ReturnType<typeof task>> => Array.from({ length: count }, (_, i) => task(`t${i}`, { type: 'x', tenant: `n${i}` }))

/** How many groups were opened or closed, or looked at for it. */
const groupsTouched = (work: () => void): number => {
  const refreshes = vi.spyOn(ReadyIndex.prototype, 'refreshAll')
  try {
    work()
    return refreshes.mock.calls.reduce((sum, [groups]) => sum + [...groups].length, 0)
  } finally {
    refreshes.mockRestore()
  }
}

test('INV-28: at the limit of a type, what a claim and a completion cost does not grow with the tenants', () => {
  const touched = (count: number): number => {
    const q = new Queue().enqueue(...tenants(count))
    q.do({ type: 'SetLimit', key: 'type:x', concurrency: 1 })
    const first = q.claim()
    // When the limit is reached for the first time, its groups get a list of their own.
    return groupsTouched(() => {
      q.complete(first.ids[0] as string, first.token)
      const second = q.claim()
      expect([q.look(), second.ids]).toEqual([[], ['t1']])
    })
  }
  expect([touched(20), touched(400)]).toEqual([0, 0])
  // Teeth: a limit of a few tenants opens and closes their groups.
  expect(touched(5)).toBeGreaterThan(5)
})

test('INV-28: when a limit of many tenants has room again, the claims that wait for it are woken, and no others', () => {
  const q = new Queue().enqueue(...tenants(30))
  q.do({ type: 'SetLimit', key: 'type:x', concurrency: 1 })
  const { ids, token } = q.claim()
  expect(limitsApart(q.state)).toEqual(['type:x'])
  const [waits, also, other] = [['x'], ['*'], ['y']].map((names) => keepShape(q.state, { types: names })) as [ClaimShape, ClaimShape, ClaimShape]
  for (const shape of [waits, also, other]) shape.waiting = 1
  takeWokenShapes(q.state)
  expect([waits.hasWork, also.hasWork]).toEqual([false, false])
  // Another task behind the full limit wakes nobody.
  q.enqueue(task('more', { type: 'x', tenant: 'n3' }), task('new', { type: 'x', tenant: 'new' }))
  expect(takeWokenShapes(q.state)).toEqual([])
  q.complete(ids[0] as string, token)
  expect(new Set(takeWokenShapes(q.state))).toEqual(new Set([waits, also]))
  expect([waits.hasWork, also.hasWork, other.hasWork]).toEqual([true, true, false])
  // A limit that is raised wakes them, too.
  q.claim()
  q.do({ type: 'SetLimit', key: 'type:x', concurrency: 2 })
  expect(new Set(takeWokenShapes(q.state))).toEqual(new Set([waits, also]))
})

test('INV-11: a tenant with tasks under such a limit and others, when deadlines come that no event has moved yet', () => {
  const q = new Queue().enqueue(...tenants(20))
  q.do({ type: 'SetLimit', key: 'type:x', concurrency: 1 })
  const { ids, token } = q.claim()
  expect(limitsApart(q.state)).toEqual(['type:x'])
  q.do({ type: 'SetLimit', key: 'type:x', concurrency: 40 })
  q.enqueue(task('z', { tenant: 'n' }), ...Array.from({ length: 30 }, (_, i) => task(`late ${i}`, { type: 'x', tenant: 'n', deadlineAt: q.at + 1_000_000 + i })))
  q.at += 500_000
  const command = { type: 'Claim' as const, agent: 'bob', max: 60 }
  expect(q.look('bob', command)).toEqual(Shadow.of(q.log).pick(command, 60, q.at).map((one) => one.task.facts.task))
  q.do({ type: 'SetLimit', key: 'type:x', concurrency: 1 })
  expect(q.look('bob', command)).toEqual(['z'])
  q.complete(ids[0] as string, token)
})

/** What a claim gets is what a scan finds. */
const expectScanned = (q: Queue, max: number): void => {
  const command = { type: 'Claim' as const, agent: 'bob', max }
  keepShape(q.state, command)
  expect(q.look('bob', command)).toEqual(Shadow.of(q.log).pick(command, max, q.at).map((one) => one.task.facts.task))
}

test('INV-11: when such a limit is removed, its groups are among all others', () => {
  const q = new Queue().enqueue(...tenants(20))
  keepShape(q.state, {})
  q.do({ type: 'SetLimit', key: 'type:x', concurrency: 1 })
  const { ids, token } = q.claim()
  expect(limitsApart(q.state)).toEqual(['type:x'])
  q.do({ type: 'RemoveLimit', key: 'type:x' })
  q.complete(ids[0] as string, token)
  // Its groups become empty, and get other tasks.
  q.claim('ann', { max: 20 })
  q.enqueue(...tenants(20).map((one) => ({ ...one, id: `again ${one.id}`, idempotencyKey: `again ${one.id}` })))
  expectScanned(q, 60)
})

test('INV-23: tasks that two such limits count are open while neither is full', () => {
  const q = new Queue().enqueue(...tenants(20).map((one) => ({ ...one, concurrencyKey: 'k' })))
  for (const key of ['type:x', 'k']) q.do({ type: 'SetLimit', key, concurrency: 1 })
  const { ids, token } = q.claim()
  expect([...limitsApart(q.state)].sort()).toEqual(['k', 'type:x'])
  const shape = keepShape(q.state, {})
  const isOpenWith = (key: number, type: number): boolean => {
    q.do({ type: 'SetLimit', key: 'k', concurrency: key })
    q.do({ type: 'SetLimit', key: 'type:x', concurrency: type })
    return shape.hasWork
  }
  expect([isOpenWith(1, 1), isOpenWith(1, 2), isOpenWith(2, 1), isOpenWith(2, 2)]).toEqual([false, false, false, true])
  expectScanned(q, 9)
  q.complete(ids[0] as string, token)
})

test('INV-11: a tenant with many groups, one of them under such a limit', () => {
  const q = new Queue().enqueue(...tenants(20))
  q.do({ type: 'SetLimit', key: 'type:x', concurrency: 1 })
  q.claim()
  q.do({ type: 'SetLimit', key: 'type:x', concurrency: 40 })
  q.enqueue(...Array.from({ length: 30 }, (_, i) => task(`p${i}`, { type: `p${i}`, tenant: 'n' })))
  expectScanned(q, 60)
  q.enqueue(...Array.from({ length: 9 }, (_, i) => task(`x${i}`, { type: 'x', tenant: 'n' })))
  expectScanned(q, 80)
})
