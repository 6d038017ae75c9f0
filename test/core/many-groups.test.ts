/** Claims if a tenant has many groups: the first tasks of their lanes are kept in order for each shape, and no claim changes by that. */
import { evolve, initial, keepShape, mark, phases, rollback } from '@daybook/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { Queue, task } from './queue.js'

const types = Array.from({ length: 12 }, (_, i) => `t${i}`)
const tenants = ['acme', 'globex', undefined]
const asked = [{}, { types: ['*'] }, { types: types.slice(0, 9) }, { tenant: 'acme' }, { tenant: 'acme', types: types.slice(0, 8) }, { phases: phases.slice(0, 2) }]

/** Tasks whose numbers differ by this belong to one group, which then has lanes. */
const oneGroup = 60

const doings = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('enqueue' as const), count: fc.integer({ min: 1, max: 150 }), from: fc.nat(), step: fc.constantFrom(7, oneGroup) }) },
    { weight: 8, arbitrary: fc.record({ do: fc.constant('claim' as const), shape: fc.nat({ max: asked.length - 1 }), max: fc.constantFrom(1, 1, 3, 40) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('give back' as const), pick: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('fail' as const), pick: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('breaker' as const), pick: fc.nat({ max: types.length - 1 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('policy' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 60, 800, 3_000) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), shape: fc.nat({ max: asked.length - 1 }) }) },
  ),
  { minLength: 12, maxLength: 40, size: 'max' },
)

/** The same state without kept shapes. */
const fresh = (q: Queue): Queue => {
  const other = new Queue()
  other.at = q.at
  other.state = q.log.reduce(evolve, initial('q'))
  return other
}

test('INV-11: with many groups a tenant, claims of kept shapes get the same tasks as those of a state without', () => {
  let sorted = 0
  fc.assert(
    fc.property(doings, (list) => {
      const q = new Queue().configure({ decisionReport: 'optional' })
      let made = 0
      const held: Array<{ readonly task: string; readonly agent: string; readonly token: number }> = []
      const claimLike = (shape: number, max: number): void => {
        // Two agents, because an agent comes last for tasks that it failed.
        const agent = max === 1 ? 'ann' : 'bob'
        const command = { type: 'Claim' as const, agent, max, ...asked[shape] }
        const expected = fresh(q).claim(agent, command)
        keepShape(q.state, command)
        const { ids, token } = q.claim(agent, command)
        expect(ids).toEqual(expected.ids)
        ids.forEach((id, i) => void held.push({ task: id, agent, token: token - ids.length + 1 + i }))
        if (ids.length > 16) sorted++
      }
      for (const doing of list) {
        switch (doing.do) {
          case 'enqueue':
            q.enqueue(
              ...Array.from({ length: doing.count }, () => {
                const i = doing.from + made++ * doing.step
                const [type, phase, tenant] = [types[i % 12]!, phases[i % 5]!, tenants[i % 3]]
                const deadlineAt = q.at + 1_000 * ((made * 31) % 4_000)
                return task(`${made}`, { type, phase, priority: 1 + (made % 3), ...(tenant === undefined ? {} : { tenant }), ...(made % 4 === 0 ? { deadlineAt } : {}) })
              }),
            )
            break
          case 'claim':
            claimLike(doing.shape, doing.max)
            break
          case 'give back': {
            const [one] = held.splice(doing.pick % Math.max(1, held.length), 1)
            if (one === undefined) break
            const release = { type: 'Release' as const, ...one, reason: 'r', stopping: true as const }
            // Its lease may have ended.
            if (q.accepts(release)) q.do(release)
            break
          }
          case 'fail': {
            const [one] = held.splice(doing.pick % Math.max(1, held.length), 1)
            if (one === undefined) break
            const fail = { type: 'Fail' as const, ...one, error: { message: 'r' }, retryable: true }
            if (q.accepts(fail)) q.do(fail)
            break
          }
          case 'cancel': {
            const cancel = { type: 'Cancel' as const, task: `${1 + (doing.pick % Math.max(1, made))}`, reason: 'r' }
            if (q.accepts(cancel)) q.do(cancel)
            break
          }
          case 'breaker': {
            const taskType = types[doing.pick]!
            const close = { type: 'CloseBreaker' as const, taskType, reason: 'r' }
            q.do(q.accepts(close) ? close : { type: 'OpenBreaker', taskType, reason: 'r' })
            break
          }
          case 'policy':
            q.configure({ policy: made % 2 === 0 ? 'score' : 'priority' })
            break
          case 'wait':
            q.wait(doing.seconds)
            break
          case 'undo': {
            const point = mark(q.state)
            const { length } = q.log
            const [{ length: leases }, at] = [held, q.at]
            claimLike(doing.shape, 5)
            q.wait(900)
            q.enqueue(task(`undone ${length}`, { tenant: 'acme' }))
            q.state = rollback(q.state, point)
            q.log.length = length
            held.length = leases
            q.at = at
          }
        }
      }
      for (let shape = 0; shape < asked.length; shape++) claimLike(shape, 30)
      claimLike(0, 10_000)
    }),
    runs(25),
  )
  expect(sorted).toBeGreaterThan(0)
})

test('INV-11: a type whose breaker opens is no longer among the first tasks that a shape keeps in order, and is again when it closes', () => {
  const q = new Queue()
  const wanted = types.slice(0, 8)
  // More groups than a claim looks at one by one, but not all groups of the tenant, which keeps its own order.
  q.enqueue(...types.flatMap((type) => phases.map((phase) => task(`${type} ${phase}`, { type, phase }))))
  const asking = { types: wanted, max: 1 }
  keepShape(q.state, asking)
  expect(q.claim('ann', asking).ids).toEqual([`t0 ${phases[0]}`])
  q.do({ type: 'OpenBreaker', taskType: 't1', reason: 'r' })
  expect(q.claim('bob', { types: wanted, max: 7 }).ids).toEqual([...phases.slice(1).map((phase) => `t0 ${phase}`), ...phases.map((phase) => `t2 ${phase}`)].slice(0, 7))
  q.do({ type: 'CloseBreaker', taskType: 't1', reason: 'r' })
  expect(q.claim('cy', { types: wanted, max: 1 }).ids).toEqual([`t1 ${phases[0]}`])
})

test.each([1, 5, 40])('INV-11: tasks that have become urgent since they were placed are claimed in their new order, %i at a time, where groups are many', (max) => {
  for (const seconds of [60, 800, 2_000, 3_000]) {
    const q = new Queue()
    q.enqueue(...types.flatMap((type, i) => phases.map((phase, j) => task(`${type} ${phase}`, { type, phase, ...((i + j) % 2 === 0 ? { deadlineAt: q.at + 1_000 * ((i * 5 + j) * 67 % 4_000) + 1_000 } : {}) }))))
    keepShape(q.state, { types: types.slice(0, 8) })
    const command = { types: types.slice(0, 8), max }
    q.wait(seconds)
    for (let claims = 0; claims < 5; claims++) {
      const expected = fresh(q).claim('ann', command)
      keepShape(q.state, command)
      expect(q.claim('ann', command).ids).toEqual(expected.ids)
    }
  }
})
