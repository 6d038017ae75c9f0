/** Tenants' fair share: start-time fair queueing over leases granted. */
import { fork, mark, rollback } from '@daybook/core'
import { FairShare, Group, GroupKinds, UndoLog } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { runs } from '../properties/settings.js'
import { Queue, task } from './queue.js'

const many = (tenant: string | undefined, count: number, more = {}) =>
  Array.from({ length: count }, (_, i) => task(`${tenant ?? 'none'}-${i}`, { ...(tenant === undefined ? {} : { tenant }), ...more }))

/** The tenants of the next leases, in claims of `max`. */
const served = (q: Queue, leases: number, max = 1): ReadonlyArray<string> => {
  const tenants: Array<string> = []
  while (tenants.length < leases) {
    const { ids } = q.claim('ann', { max: Math.min(max, leases - tenants.length) })
    if (ids.length === 0) break
    tenants.push(...ids.map((id) => id.slice(0, id.lastIndexOf('-'))))
  }
  return tenants
}

const counted = (tenants: ReadonlyArray<string>): Readonly<Record<string, number>> =>
  tenants.reduce<Record<string, number>>((counts, tenant) => ({ ...counts, [tenant]: (counts[tenant] ?? 0) + 1 }), {})

/** Claims one task after the other and completes each at once. Returns how many of each tenant there were. */
const done = (q: Queue, types: ReadonlyArray<string>, leases: number): Readonly<Record<string, number>> => {
  const tenants: Array<string> = []
  for (let i = 0; i < leases; i++) {
    const { ids: [id = 'nothing-'], token } = q.claim('ann', { types })
    if (id !== 'nothing-') q.complete(id, token)
    tenants.push(id.slice(0, id.lastIndexOf('-')))
  }
  return counted(tenants)
}

test('TQM-ASSIGN-004: tenants take turns, however many tasks each has and whatever their priority', () => {
  const q = new Queue().enqueue(...many('big', 50, { priority: 10 }), ...many('small', 3, { priority: 1 }), ...many(undefined, 3))
  expect(served(q, 9)).toEqual(['none', 'big', 'small', 'none', 'big', 'small', 'none', 'big', 'small'])
  expect(served(q, 3)).toEqual(['big', 'big', 'big'])
})

test('TQM-ASSIGN-004: by weight; a weight can be taken back', () => {
  const q = new Queue().configure({ assignment: { tenants: { gold: 3, tin: 0.5 } } }).enqueue(...many('gold', 100), ...many('plain', 100), ...many('tin', 100))
  expect(counted(served(q, 45, 7))).toEqual({ gold: 30, plain: 10, tin: 5 })
  q.configure({ assignment: { tenants: { gold: null, tin: null } } })
  expect(counted(served(q, 30))).toEqual({ gold: 10, plain: 10, tin: 10 })
})

test('TQM-ASSIGN-004: a tenant that had nothing to take has saved no credit, and keeps its debt', () => {
  const q = new Queue().enqueue(...many('always', 100), ...many('late', 1))
  expect(served(q, 2)).toEqual(['always', 'late'])
  served(q, 40)
  q.enqueue(...many('late', 60).slice(1))
  expect(counted(served(q, 20))).toEqual({ always: 10, late: 10 })
  // Having only one task at a time must not be a way to be served first each time.
  const alternating = new Queue().configure({ retentionSeconds: 0 }).enqueue(...many('always', 100))
  const order: Array<string> = []
  for (let i = 0; i < 20; i++) {
    alternating.enqueue(task(`a new-${i}`, { tenant: 'a new' }))
    const { ids, token } = alternating.claim()
    order.push(...ids)
    alternating.complete(ids[0] as string, token)
  }
  expect(order.filter((id) => id.startsWith('always')).length).toBeGreaterThanOrEqual(9)
})

test('TQM-ASSIGN-004: whose turn it is does not depend on which finished tasks have left memory', () => {
  const orders = [0, 3_600].map((retentionSeconds) => {
    const q = new Queue().configure({ retentionSeconds }).enqueue(...many('always', 100), ...many('b', 1))
    done(q, ['work', 'more'], 40)
    q.enqueue(...many('c', 1)).enqueue(...many('b', 2).slice(1))
    return served(q, 3)
  })
  expect(orders).toEqual([['b', 'c', 'always'], ['b', 'c', 'always']])
})

test('TQM-ASSIGN-004: work-conserving: what one tenant cannot use goes to the others', () => {
  const q = new Queue().enqueue(...many('a', 5), ...many('b', 5, { type: 'other' }))
  expect(counted(q.claim('ann', { max: 9, types: ['other'] }).ids.map((id) => id.slice(0, 1)))).toEqual({ b: 5 })
  expect(q.claim('ann', { max: 9 }).ids).toHaveLength(5)
})

test('INV-12: while several tenants have work, their leases per weight never differ by more than one lease', () => {
  const weight = fc.constantFrom(1, 1, 2, 3, 5)
  const tenant = fc.record({ weight, tasks: fc.integer({ min: 1, max: 40 }) })
  fc.assert(
    fc.property(fc.array(tenant, { minLength: 2, maxLength: 5 }), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 40 }), (tenants, sizes) => {
      const q = new Queue().configure({ assignment: { tenants: Object.fromEntries(tenants.map((one, i) => [`t${i}`, one.weight])) } })
      tenants.forEach(({ tasks }, i) => q.enqueue(...many(`t${i}`, tasks)))
      const leases = tenants.map(() => 0)
      for (const max of sizes) {
        for (const id of q.claim('ann', { max }).ids) {
          leases[Number(id.slice(1, id.indexOf('-')))]! += 1
          const busy = tenants.flatMap((one, i) => (leases[i]! < one.tasks ? [{ weight: one.weight, share: leases[i]! / one.weight }] : []))
          for (const a of busy) for (const b of busy) expect(a.share - b.share).toBeLessThanOrEqual(1 / a.weight + 1e-9)
        }
      }
    }),
    runs(60),
  )
})

test('INV-12: one tenant with a great many tasks and 99 with a few: these finish as soon as they would at their share alone', () => {
  const q = new Queue()
  for (const ids of chunks(many('big', 5_000), 1_000)) q.enqueue(...ids)
  for (let i = 0; i < 99; i++) q.enqueue(...many(`small${i}`, 20))
  const order = served(q, 3_000, 50)
  const lastSmall = order.length - 1 - [...order].reverse().findIndex((tenant) => tenant !== 'big')
  // A hundred tenants with 20 leases each.
  expect(lastSmall).toBeLessThan(2_000 * 1.2)
  // Jain's index over the first 1,000 leases, where all have work.
  const shares = Object.values(counted(order.slice(0, 1_000)))
  const jain = shares.reduce((a, b) => a + b, 0) ** 2 / (100 * shares.reduce((a, b) => a + b * b, 0))
  expect(jain).toBeGreaterThanOrEqual(0.99)
})

const chunks = <T>(items: ReadonlyArray<T>, size: number): ReadonlyArray<ReadonlyArray<T>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))

test('INV-15: whose turn it is comes back with a snapshot and with a rollback', () => {
  const q = new Queue().enqueue(...many('a', 9), ...many('b', 9), ...many('c', 1))
  served(q, 4)
  const before = textOf(q.state)
  expect(textOf(fork(q.state))).toBe(before)
  const [copy, point] = [fork(q.state), mark(q.state)]
  const next = served(q, 8)
  q.state = rollback(q.state, point)
  expect(textOf(q.state)).toBe(before)
  expect(served(q, 8)).toEqual(next)
  q.state = copy
  expect(served(q, 8)).toEqual(next)
})

test('turns are counted anew before they lose their precision', () => {
  const shares = new FairShare({ hasTenants: true }, new UndoLog())
  const kind = new GroupKinds(new Map()).of('work', undefined, [], undefined)
  const [a, b] = ['a', 'b'].map((name) => new Group(kind, shares.of(name), shares.ofType(name, 'work'))) as [Group, Group]
  for (const group of [a, b]) shares.join(group)
  a.account.turn = 2 ** 51 + 3
  b.account.turn = 2 ** 51 + 2
  shares.charge(b, { default: 1 })
  shares.charge(a, { default: 1 })
  expect([a.account.turn - b.account.turn, a.account.pool.turn < 10]).toEqual([1, true])
})

/** The bound of start-time fair queueing, from any moment on: shares differ by one lease of each tenant at most. */
const expectFair = (leases: Readonly<Record<string, number>>, weights: Readonly<Record<string, number>>): void => {
  const shares = Object.entries(weights).map(([tenant, weight]) => ({ weight, share: (leases[tenant] ?? 0) / weight }))
  for (const a of shares) for (const b of shares) expect(a.share - b.share).toBeLessThanOrEqual(1 / a.weight + 1 / b.weight + 1e-9)
}

test('INV-12: a fleet for one type shares its leases fairly, whatever leases another fleet grants', () => {
  const q = new Queue().configure({ assignment: { tenants: { gold: 3 } } })
  q.enqueue(...many('fast', 600, { type: 'fast' }), ...many('gold', 100), ...many('tin', 100))
  expect(done(q, ['work'], 40)).toEqual({ gold: 30, tin: 10 })
  done(q, ['fast'], 300)
  expect(done(q, ['work'], 40)).toEqual({ gold: 30, tin: 10 })
  // A new tenant does not wait until the others have had as many leases as the other fleet granted, and neither does one that had many of these.
  q.enqueue(...many('new', 60), ...many('fast', 60, {}).map((one, i) => ({ ...one, id: `fast-w${i}`, idempotencyKey: `w${i}` })))
  const leases: Record<string, number> = {}
  for (let i = 0; i < 60; i++) {
    const [tenant = ''] = Object.keys(done(q, ['work'], 1))
    leases[tenant] = (leases[tenant] ?? 0) + 1
    done(q, ['fast'], 2)
  }
  expectFair(leases, { gold: 3, tin: 1, new: 1, fast: 1 })
  // And what a tenant has not had of its own type is no credit for another type.
  q.enqueue(...many('tin', 40, { type: 'fast' }).map((one, i) => ({ ...one, id: `tin-f${i}`, idempotencyKey: `f${i}` })))
  expect(done(q, ['fast'], 40)).toEqual({ fast: 20, tin: 20 })
})

test('INV-12: fleets for several types each: no tenant waits for another one to catch up with a faster fleet', () => {
  const q = new Queue().enqueue(...many('fast', 400, { type: 'fast' }), ...many('old', 200, { type: 'slow' }))
  for (let i = 0; i < 5; i++) {
    done(q, ['slow', 'slow too'], 1)
    done(q, ['fast', 'fast too'], 50)
  }
  q.enqueue(...many('new', 30, { type: 'slow' }))
  expect(done(q, ['slow', 'slow too'], 40)).toEqual({ old: 20, new: 20 })
})

test('INV-12: one task at a time is no way to be first each time, however many leases other fleets grant in between', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(...many('z', 20))
  const order: Array<string> = []
  for (let i = 0; i < 4; i++) {
    q.enqueue(task(`a${i}-0`, { tenant: 'a' }))
    for (const tenant of Object.keys(done(q, ['work'], 1))) order.push(tenant.slice(0, 1))
    for (let n = 0; n < 10; n++) {
      q.enqueue(...many(`fast${i}.${n}`, 1_000, { type: 'fast', tenant: 'fast' }))
      q.claim('bob', { types: ['fast'], max: 1_000 })
    }
  }
  expect(order).toEqual(['a', 'z', 'a', 'z'])
})

test('INV-12: in a fleet that grants few of the leases, new tenants that keep coming do not all go before one that waits', () => {
  const q = new Queue().enqueue(...many('fast', 100, { type: 'fast' }), ...many('old', 5, { type: 'slow' }))
  const order: Array<string> = []
  for (let i = 0; i < 6; i++) {
    done(q, ['fast'], 3)
    q.enqueue(task(`new${i}-0`, { type: 'slow', tenant: `new${i}` }))
    order.push(...Object.keys(done(q, ['slow', 'slow too'], 1)))
  }
  expect(order).toEqual(['old', 'new0', 'old', 'new1', 'new2', 'old'])
})

test('INV-12: tenants that wait for a limit share what it admits, while others take tasks without a limit', () => {
  for (const types of [['limited'], undefined]) {
    const q = new Queue().enqueue(...many('z', 400), ...many('a', 60, { type: 'limited' }), ...many('b', 60, { type: 'limited' }))
    q.do({ type: 'SetLimit', key: 'type:limited', concurrency: 1 })
    const tenants: Array<string> = []
    const next = () => {
      const claimed = q.claim('ann', types === undefined ? {} : { types })
      tenants.push(claimed.ids[0]?.slice(0, 1) ?? '')
      return claimed
    }
    let held = next()
    for (let i = 0; i < 40; i++) {
      done(q, ['work'], 5)
      q.complete(held.ids[0] as string, held.token)
      held = next()
    }
    expect(counted(tenants)).toEqual({ a: 21, b: 20 })
  }
})
