/** Questions about a state that was just loaded, whose ready tasks are not in order yet: the first few go over all tasks, and make few records. */
import { beginReplay, decide, evolve, explainOf, initial, mark, type QueueEvent, type QueueState, rollback, snapshotPages, snapshotReader } from '@daybook/core'
import { taskColumnsIn, Group, GroupKinds, LoadedTasks, newTaskRecord, pageOf, type TaskRecord, type TenantShare } from '@daybook/core/testing'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { rowsIn } from '../support/states/index.js'
import { runs } from '../properties/settings.js'
import { Queue, task } from './queue.js'

const start = Date.UTC(2026, 0, 1)
const count = 2_000
const tenants = 10

const enqueued: ReadonlyArray<QueueEvent> = Array.from({ length: count }, (_, i) => ({
  type: 'TaskEnqueued',
  at: start + i,
  data: { task: `task-${i}`, number: i + 1, type: `kind.${i % 40}`, tenant: `tenant-${i % tenants}`, priority: 1 + (i % 9), idempotencyKey: `key-${i}`, timeout: 3_600, maxRetries: 3, backoffSeconds: 60 },
}))
const kept = enqueued.reduce(evolve, initial('q'))

const loaded = (state = kept): QueueState => {
  const reader = snapshotReader()
  for (const page of snapshotPages(state)) reader.page(page)
  return reader.finish(true)
}
const ask = (state: QueueState, i: number) => explainOf(state, `task-${i}`, start + count)

test('EV-10: a question makes records only of the tasks that come first; with the fourth one, all are put in order', () => {
  const state = loaded()
  expect(rowsIn(state)).toBe(count)
  // It is the oldest task of its tenant with the highest priority.
  const first = ask(state, 8)
  expect(first).toEqual(ask(kept, 8))
  expect(first?.position).toBeLessThanOrEqual(tenants)
  // One of each tenant, and those that are served before it.
  expect(count - rowsIn(state)).toBeLessThanOrEqual(2 * tenants)
  for (const i of [17, 1_999]) expect(ask(state, i)).toEqual(ask(kept, i))
  const rows = rowsIn(state)
  expect(rows).toBeGreaterThan(0)
  expect(ask(state, 1_000)).toEqual(ask(kept, 1_000))
  expect(rowsIn(state)).toBe(0)
})

test('the first claim puts all ready tasks in order', () => {
  const state = loaded()
  const claim = (from: QueueState) => decide({ type: 'Claim', agent: 'ann', max: 50 }, { at: start + count, random: 0 })(from)
  expect(E.isRight(claim(state))).toBe(true)
  expect(claim(state)).toEqual(claim(kept))
  expect(rowsIn(state)).toBe(0)
})

test('EV-10: the order counts retries', () => {
  const q = new Queue().configure({ policy: 'score' }).enqueue(task('a'), task('b'))
  const { ids, token } = q.claim()
  expect(ids).toEqual(['a'])
  q.fail('a', token)
  q.wait(3_600)
  const state = loaded(q.state)
  expect(rowsIn(state)).toBe(2)
  // Only `b`, because the record of the task that is asked for is made.
  expect([explainOf(state, 'b', q.at)?.position, explainOf(q.state, 'b', q.at)?.position]).toEqual([1, 1])
})

test('EV-10: of a group whose limit is used up, no more records are made', () => {
  const q = new Queue().enqueue(...Array.from({ length: 300 }, (_, i) => task(`${i}`)), task('other', { type: 'other' }))
  q.do({ type: 'SetLimit', key: 'type:work', concurrency: 2 })
  const state = loaded(q.state)
  expect(explainOf(state, 'other', q.at)).toEqual(explainOf(q.state, 'other', q.at))
  expect(301 - rowsIn(state)).toBeLessThanOrEqual(2 + 2)
})

test('EV-10: tasks with numbers far from all others count, too', () => {
  const q = new Queue()
  for (let i = 0; i < 6; i++) q.enqueue(...Array.from({ length: 1_000 }, (_, k) => task(`${i * 1_000 + k}`)))
  for (let i = 3; i < 5_900; i++) q.do({ type: 'Cancel', task: `${i}`, reason: 'r' })
  const asked = ['1', '5950', '5999']
  const replayed = q.log.reduce(evolve, beginReplay(initial('q')))
  expect(asked.map((id) => explainOf(replayed, id, q.at)?.position)).toEqual([2, 54, 103])
  expect(asked.map((id) => explainOf(q.state, id, q.at)?.position)).toEqual([2, 54, 103])
})

test('EV-10: after a rollback, too', () => {
  const later = enqueued.slice(0, 500).map((event, i): QueueEvent => ({ type: 'TaskEnqueued', at: start + count + i, data: { ...event.data as (typeof event & { type: 'TaskEnqueued' })['data'], task: `later-${i}`, number: count + 1 + i, idempotencyKey: `later ${i}`, priority: 9 } }))
  let state = loaded()
  const before = mark(state)
  state = later.reduce(evolve, state)
  expect(explainOf(state, 'task-44', start + 2 * count)).toEqual(explainOf(later.reduce(evolve, enqueued.reduce(evolve, initial('q'))), 'task-44', start + 2 * count))
  state = rollback(state, before)
  expect(rowsIn(state)).toBeGreaterThan(0)
  expect(ask(state, 44)).toEqual(ask(kept, 44))
})

const group = new Group(new GroupKinds(new Map()).of('work', undefined, [], undefined), { name: undefined } as TenantShare, { name: undefined } as TenantShare)
const few = fc.nat({ max: 100 })
const lease = fc.record({ agent: fc.constantFrom('ann', 'bob'), token: fc.nat(), claimedAt: fc.nat(), expiresAt: fc.nat(), durationMs: fc.nat(), epoch: few, probe: fc.boolean(), end: fc.constantFrom('failed' as const, 'lease-expired' as const, null) })
const plainLease = fc.record({ agent: fc.constant('ann'), token: fc.nat(), claimedAt: fc.constant(start), expiresAt: fc.constant(start + 60_000), durationMs: fc.constant(60_000), epoch: fc.constant(0), probe: fc.constant(false), end: fc.constant(null) })
/** Each part that a row may have or lack, and each kind of id. */
const readyTask = fc.record({
  id: fc.oneof(fc.uuid({ version: 7 }), fc.uuid(), fc.string({ minLength: 1 })),
  priority: fc.integer({ min: 1, max: 9 }),
  enqueuedAt: fc.nat({ max: 2 * start }),
  revisions: fc.tuple(fc.nat(), few),
  retries: fc.oneof(fc.constant(0), few),
  attempts: fc.constantFrom(0, 1, 2),
  limits: fc.constantFrom([3, 60], [3, 1], [9, 60]),
  dependencies: fc.array(fc.string(), { maxLength: 2 }),
  extras: fc.oneof(fc.constant({}), fc.record({ deadlineAt: fc.nat(), lastError: fc.string() })),
  lease: fc.oneof(fc.constant(null), lease, plainLease),
})

test('what orders a row is the same as what orders its record', () => {
  fc.assert(
    fc.property(fc.array(readyTask, { minLength: 1, maxLength: 5 }), (all) => {
      const records = all.map(({ revisions: [first, later], limits: [maxRetries = 0, backoffSeconds = 0], lease: held, attempts, ...fields }, i): TaskRecord => {
        const record = newTaskRecord({ ...fields, number: i + 1, key: `key ${i}`, group, timeout: 60, maxRetries, backoffSeconds, enqueuedRevision: first, status: 'pending', missing: 0, delayedUntil: 0, finishedAt: 0 })
        return Object.assign(record, { attempts, lastRevision: first + later, lease: held })
      })
      const page = pageOf(records, new Map(), 0)
      const { agents } = JSON.parse(page.text) as { readonly agents: ReadonlyArray<string> }
      const rows = new LoadedTasks()
      const row = rows.add({ lengths: taskColumnsIn(page).lengths, bytes: page.bytes!, groups: { get: () => group }, agents: { get: (index) => agents[index] as string } })
      records.forEach((_, i) => {
        const ranked = rows.rankAt(row + i)
        expect(() => rows.take(row + i, i + 2)).toThrow(`the row of task ${i + 2} has the number ${i + 1}`)
        const { number, priority, enqueuedAt, retries, maxRetries, extras } = rows.take(row + i, i + 1)
        expect(ranked).toEqual({ number, group, priority, enqueuedAt, retries, maxRetries, blocking: 0, extras })
        expect(number).toBe(i + 1)
      })
    }),
    runs(300),
  )
})
