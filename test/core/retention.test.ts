import {
  beginSnapshot,
  decide,
  depthOf,
  duplicateOf,
  forget,
  fork,
  headOf,
  listTasks,
  mark,
  rollback,
  snapshotPages,
  snapshotReader,
  taskOf,
} from '@daybook/core'
import { Group, GroupKinds, newTaskRecord, pageOf, type TenantShare } from '@daybook/core/testing'
import { expect, test } from 'vitest'
import { sizesOf, textOf } from '../support/states/index.js'
import { Queue, task } from './queue.js'

/** Enqueues and completes a thousand tasks per round. The retention is 0. */
const work = (q: Queue, rounds: number, of: (id: string) => ReturnType<typeof task>): void => {
  for (let round = 0; round < rounds; round++) {
    const last = headOf(q.state).lastNumber
    const ids = Array.from({ length: 1_000 }, (_, i) => `t${last + i}`)
    q.enqueue(...ids.map(of))
    const claimed = q.claim('ann', { max: 1_000, types: ['work', 'run-*'] })
    claimed.ids.forEach((id, i) => q.complete(id, claimed.token - 999 + i))
  }
}

test('INV-22: an old dead letter does not keep later tasks in memory', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(task('old'))
  q.kill('old')
  work(q, 5, (id) => task(id))
  q.do({ type: 'Pause', reason: 'one more event' })
  expect(sizesOf(q.state)).toMatchObject({ live: 1, retained: 0, groups: 1, ghosts: 0 })
  expect(sizesOf(q.state).numberSlots).toBeLessThan(1_100)
  expect([q.task('#1').id, q.status('#2')]).toEqual(['old', undefined])
})

test('INV-22: types and tenants without tasks leave nothing in memory', () => {
  const q = new Queue().configure({ retentionSeconds: 0 })
  work(q, 3, (id) => task(id, { type: `run-${id}`, tenant: id }))
  q.do({ type: 'Pause', reason: 'one more event' })
  expect(sizesOf(q.state)).toMatchObject({ live: 0, retained: 0, groups: 0, emptyGroups: 0, kinds: 0, tenants: 0, pools: 0 })
})

test('INV-22: while others wait, tenants without tasks are known for ten thousand leases', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(task('held', { tenant: 'held' }), task('waits', { tenant: 'held' }))
  q.do({ type: 'SetLimit', key: 'tenant:held', concurrency: 1 })
  const { token } = q.claim('bob')
  work(q, 2, (id) => task(id, { tenant: id }))
  work(q, 1, (id) => task(id, { tenant: 'one' }))
  expect(sizesOf(q.state)).toMatchObject({ pools: 1, tenants: 2_002, accounts: 2_002 })
  work(q, 9, (id) => task(id, { tenant: 'one' }))
  expect(sizesOf(q.state)).toMatchObject({ pools: 1, tenants: 2, accounts: 2 })
  // And no longer than others wait.
  q.do({ type: 'Cancel', task: 'waits', reason: 'r' })
  q.complete('held', token, true, 'bob')
  q.do({ type: 'Pause', reason: 'one more event' })
  expect(sizesOf(q.state)).toMatchObject({ pools: 0, tenants: 0, accounts: 0 })
})

test('INV-22: a task that waits long does not keep others in memory', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(task('long'))
  for (let i = 0; i < 300; i++) {
    q.enqueue(task(`c${i}`, { dependencies: ['long'] }))
    q.do({ type: 'Cancel', task: `c${i}`, reason: 'r' })
  }
  q.do({ type: 'Pause', reason: 'one more event' })
  expect(sizesOf(q.state)).toMatchObject({ live: 1, retained: 0, ghosts: 0 })
})

/** A queue with finished tasks and no events after them. */
const quiet = (many: number, retentionSeconds = 100): Queue => {
  const q = new Queue().configure({ retentionSeconds })
  q.do({ type: 'Import', tasks: Array.from({ length: many }, (_, i) => ({ ...task(`t${i}`), status: 'completed' as const })) })
  return q
}

test('INV-25: after the retention nothing is a duplicate any more, however many tasks there are and however long nothing happened', () => {
  const q = quiet(1_000)
  const again = Array.from({ length: 1_000 }, (_, i) => task(`t${i}`))
  q.at += 99_999
  expect(q.ask({ type: 'Enqueue', tasks: again }).filter(({ duplicate }) => duplicate)).toHaveLength(1_000)
  q.at += 1
  expect(q.ask({ type: 'Enqueue', tasks: again }).filter(({ duplicate }) => duplicate)).toEqual([])
  expect(headOf(q.state)).toMatchObject({ misfits: 0 })
  expect(depthOf(q.state)).toMatchObject({ total: 1_000, byStatus: { pending: 1_000, completed: 0 } })
})

test('INV-25: an id can be used again with other content, and reports are then about the new task', () => {
  const q = quiet(1)
  q.at += 100_000
  expect(q.ask({ type: 'Enqueue', tasks: [task('t0', { idempotencyKey: 'other' })] })).toEqual([{ id: 't0', number: 2, status: 'pending', duplicate: false }])
  expect([q.complete('t0', q.claim().token), q.task('#2').status, taskOf(q.state, '#1')]).toEqual([['Completed'], 'completed', undefined])
})

test('INV-15: a snapshot contains tasks that leave while it is taken, as of its revision', () => {
  // More than are in one page of rows, so that some leave before their page is made.
  const q = quiet(1_500)
  const text = textOf(q.state)
  const work = beginSnapshot(q.state)
  const pages = [...(work.next(10) ?? [])]
  q.state = forget(q.state, q.at + 100_000, 2_000)
  expect(sizesOf(q.state)).toMatchObject({ retained: 0 })
  for (let more = work.next(10); more !== undefined; more = work.next(10)) pages.push(...more)
  const reader = snapshotReader()
  for (const page of pages) reader.page(page)
  expect(textOf(reader.finish())).toBe(text)
})

test('INV-25: a dependency on a task whose retention is over is refused, like one on an unknown task', () => {
  const q = quiet(1)
  const waits = { type: 'Enqueue' as const, tasks: [task('next', { dependencies: ['t0'] })] }
  q.at += 100_000
  expect(q.refuse(waits)).toMatchObject({ code: 'unknown-dependency' })
  q.at -= 1
  expect(q.do(waits)).toHaveLength(1)
})

test('INV-25: views show what is retained at the time of the question', () => {
  const q = quiet(20)
  const over = q.at + 100_000
  const shown = (at: number) => [
    depthOf(q.state, at).total,
    depthOf(q.state, at).byStatus.completed,
    listTasks(q.state, {}, 100, undefined, at).tasks.length,
  ]
  expect([shown(over - 1), shown(over)]).toEqual([[20, 20, 20], [0, 0, 0]])
  expect([taskOf(q.state, 't0', over), duplicateOf(q.state, 'key of t0', over)]).toEqual([undefined, undefined])
})

test('INV-25: a task whose retention is over stays gone if the retention is then made longer', () => {
  const q = quiet(40)
  q.at += 100_000
  q.configure({ retentionSeconds: 1_000_000 })
  expect([depthOf(q.state).total, q.status('t39')]).toEqual([0, undefined])
  expect(q.ask({ type: 'Enqueue', tasks: [task('t39')] })[0]).toMatchObject({ duplicate: false })
})

test('INV-22: tasks leave the state without an event, a few at a time', () => {
  const q = quiet(100)
  let state = fork(q.state)
  for (const [at, left] of [[q.at + 99_999, 100], [q.at + 100_000, 60], [q.at + 100_000, 20], [q.at + 100_000, 0]] as const) {
    state = forget(state, at, 40)
    expect(sizesOf(state).retained).toBe(left)
  }
})

test('INV-15: a rollback gives a key or id back to the task that had it before', () => {
  const q = quiet(3)
  q.at += 100_000
  const before = textOf(q.state)
  const point = mark(q.state)
  q.enqueue(task('t1'), task('other', { idempotencyKey: 'key of t2' }))
  q.do({ type: 'Pause', reason: 'one more event' })
  q.state = rollback(q.state, point)
  expect(textOf(q.state)).toBe(before)
  expect(['key of t0', 'key of t1', 'key of t2'].map((key) => duplicateOf(q.state, key)?.id)).toEqual(['t0', 't1', 't2'])
})

test('INV-15: a task that waited for a completed task does not wait for the next one of the same id', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(task('a'), task('b', { dependencies: ['a'] }))
  q.complete('a', q.claim().token)
  q.enqueue(task('a'))
  for (const state of [q.state, fork(q.state)]) {
    expect(depthOf(state).byStatus).toMatchObject({ pending: 2, blocked: 0 })
    const cancelled = decide({ type: 'Cancel', task: 'a', reason: 'r' }, { at: q.at, random: 0 })(state)
    expect(cancelled).toMatchObject({ right: [{ type: 'Cancelled', data: { task: 'a' } }] })
    expect(cancelled).toHaveProperty('right.length', 1)
  }
})

test('INV-22: after a long pause each event removes sixteen tasks at most, and none is missed', () => {
  const q = new Queue().configure({ retentionSeconds: 100 })
  q.do({ type: 'Import', tasks: Array.from({ length: 40 }, (_, i) => ({ ...task(`t${i}`), status: 'completed' as const })) })
  q.at += 100_000
  const left = ['Pause', 'Resume', 'Pause'].map((type) => {
    q.do({ type, reason: 'r' } as { readonly type: 'Pause'; readonly reason: string })
    return sizesOf(q.state).retained
  })
  expect(left).toEqual([24, 8, 0])
})

test('INV-22: a snapshot with widely spaced numbers takes memory only for its tasks', () => {
  const [head] = snapshotPages(new Queue().enqueue(task('old'), task('new')).state)
  const far = 113_000_000
  const reader = snapshotReader()
  reader.page({ ...head!, text: head!.text.replace('"lastNumber":2', `"lastNumber":${far}`) })
  const group = new Group(new GroupKinds(new Map()).of('work', undefined, [], undefined), { name: undefined } as TenantShare, { name: undefined } as TenantShare)
  const plain = { group, priority: 5, timeout: 60, maxRetries: 3, backoffSeconds: 1, enqueuedAt: 0, enqueuedRevision: 0, dependencies: [], status: 'pending', retries: 0, missing: 0, delayedUntil: 0, finishedAt: 0, extras: {} } as const
  const groups = new Map<Group, number>()
  for (const [number, id] of [[1, 'old'], [far, 'new']] as const) reader.page(pageOf([newTaskRecord({ ...plain, number, id, key: `key of ${id}` })], groups, 0))
  const state = reader.finish()
  expect([taskOf(state, '#1')?.id, taskOf(state, `#${far}`)?.id]).toEqual(['old', 'new'])
  expect(sizesOf(state).numberSlots).toBeLessThan(10)
})
