/** Pages of many tasks, with filters that match few or many of them, compared with a scan. */
import { evolve, initial, listTasks, type QueueState, type TaskFilter } from '@daybook/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesFilter } from '../support/states/index.js'
import { runs } from './settings.js'

const types = ['eng', 'eng-a', 'eng-b', 'eng-b2', 'ops', 'z']
const tenants = ['acme', 'other']

/** A run of similar tasks, such as tasks that arrive together: a scan passes over many before it finds others. */
const alike = fc.record({
  count: fc.constantFrom(1, 3, 15, 40, 150, 400),
  type: fc.constantFrom(...types),
  /** This many types with this name. */
  spread: fc.constantFrom(1, 1, 2, 50),
  tenant: fc.constantFrom(undefined, ...tenants),
  phase: fc.constantFrom(undefined, 'REQUIREMENTS' as const, 'TESTING' as const),
  priority: fc.constantFrom(1, 5, 5, 10),
  isSpread: fc.boolean(),
  ticketId: fc.constantFrom(undefined, undefined, 'T-1'),
  concurrencyKey: fc.constantFrom(undefined, undefined, 'key'),
})
type Alike = typeof alike extends fc.Arbitrary<infer A> ? A : never

const conditions = fc.record({
  type: fc.constantFrom(...types, 'eng*', 'eng-*', 'eng-b*', '*', 'none', 'eng.1*', 'ops.7'),
  tenant: fc.constantFrom(...tenants, ...tenants, 'none'),
  phase: fc.constantFrom('REQUIREMENTS' as const, 'TESTING' as const),
  priorityMin: fc.constantFrom(1, 5, 6),
  priorityMax: fc.constantFrom(5, 9, 10),
  ticketId: fc.constantFrom('T-1', 'T-2'),
  text: fc.constantFrom('a', '7'),
})
/** Few conditions at a time: with many of them, nothing matches. */
const filters = fc
  .tuple(conditions, fc.subarray(['type', 'tenant', 'phase', 'priorityMin', 'priorityMax', 'ticketId', 'text'] as const, { minLength: 1, maxLength: 2 }))
  .map(([all, names]): TaskFilter => Object.fromEntries(names.map((name) => [name, all[name]])))

const stateOf = (list: ReadonlyArray<Alike>): QueueState => {
  let state = initial('q')
  let number = 0
  for (const { count, type, spread, isSpread, priority, tenant, phase, ticketId, concurrencyKey } of list) {
    for (let i = 0; i < count; i++) {
      const facts = {
        task: `t${++number}`,
        number,
        type: spread === 1 ? type : `${type}.${i % spread}`,
        priority: isSpread ? 1 + (i % 10) : priority,
        idempotencyKey: String(number).padStart(64, '0'),
        timeout: 60,
        maxRetries: 3,
        backoffSeconds: 1,
        ...(tenant === undefined ? {} : { tenant }),
        ...(phase === undefined ? {} : { phase }),
        ...(ticketId === undefined ? {} : { ticketId }),
        ...(concurrencyKey === undefined ? {} : { concurrencyKey }),
      }
      state = evolve(state, { type: 'TaskEnqueued', at: 1e12 + number, data: facts })
    }
  }
  return state
}

/** One task whose group has a type and nothing else, so it is the first group of this type. Few random examples have it alone. */
const alone: Alike = { count: 1, type: 'eng', spread: 1, tenant: undefined, phase: undefined, priority: 1, isSpread: false, ticketId: undefined, concurrencyKey: undefined }

test('TQM-DM-003: a page has the tasks that a scan finds, in the same order, wherever it begins', () => {
  fc.assert(
    fc.property(fc.array(alike, { minLength: 1, maxLength: 12, size: 'max' }), fc.array(filters, { minLength: 4, maxLength: 4 }), fc.constantFrom(1, 7, 100, 5_000), (list, asked, limit) => {
      const state = stateOf(list)
      const all = listTasks(state, { statuses: ['pending'] }, 100_000).tasks
      for (const filter of asked) {
        const pending: TaskFilter = { ...filter, statuses: ['pending'] }
        const want = all.filter((task) => matchesFilter(task, pending)).map(({ id }) => id)
        const got: Array<string> = []
        let pages = 0
        for (let after: string | undefined, more = true; more && pages < 8; more = after !== undefined, pages++) {
          const page = listTasks(state, pending, limit, after)
          got.push(...page.tasks.map(({ id }) => id))
          after = page.next
        }
        expect(got).toEqual(want.slice(0, got.length === limit * pages ? got.length : want.length))
        expect(got.length).toBeGreaterThanOrEqual(Math.min(want.length, limit * 8))
      }
    }),
    { ...runs(100), examples: [[[alone], [{ type: 'eng' }, { type: 'eng*' }, { type: 'eng-*' }, { type: 'ops' }], 1]] },
  )
})
