/** Capacity: how many agents work at the same time, which tasks are queued meanwhile, and bumped tasks. */
import { bumpedMax, capacityOf, cursorAfter, depthOf, explainOf, fork, listTasks, mark, type QueueState, rollback, taskOf, whyNothing } from '@daybook/core'
import { expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { names, Queue, start, task } from './queue.js'

const bump = (q: Queue, id: string) => q.do({ type: 'Bump', task: id, reason: 'the customer waits' })
const capacity = (q: Queue, maxConcurrentAgents: number, more: { readonly overcapLimit?: number; readonly bumpAndStart?: boolean } = {}) =>
  q.configure({ capacity: { maxConcurrentAgents, ...more } })
const many = (count: number) => Array.from({ length: count }, (_, i) => task(`t${i}`))
const statuses = (state: QueueState, status: 'pending' | 'queued') => listTasks(state, { statuses: [status] }, 100).tasks.map(({ id }) => id)

test('TQM-CAP-001: at capacity no other agent starts; one that works may take more', () => {
  const q = capacity(new Queue(), 2).enqueue(...many(9))
  expect([q.claim('ann').ids, q.claim('bob').ids, q.claim('cy').ids]).toEqual([['t0'], ['t1'], []])
  expect(q.claim('ann', { max: 2 }).ids).toEqual(['t2', 't3'])
  expect(whyNothing(q.state, { agent: 'cy' })).toEqual({
    code: 'capacity',
    message: 'at capacity: 2 of 2 agents are working, and no other starts',
    change: 'the end of the last lease of one of them, or raise capacity.maxConcurrentAgents, or bump the task',
  })
  expect(explainOf(q.state, 't4', q.at)).toMatchObject({ status: 'queued', runnable: false, position: null, reasons: [{ code: 'capacity' }] })
  expect(explainOf(q.state, 't4', q.at, { agent: 'ann' })).toMatchObject({ runnable: true, position: 1 })
  q.complete('t1', 2, true, 'bob')
  expect(q.claim('cy').ids).toEqual(['t4'])
})

test('TQM-BUMP-002: a bump is offered only while an agent may start on the bumped task', () => {
  const q = capacity(new Queue(), 1, { overcapLimit: 0 }).enqueue(...many(2))
  q.claim('ann')
  expect(explainOf(q.state, 't1', q.at)?.reasons[0]?.change).toBe('the end of the last lease of one of them, or raise capacity.maxConcurrentAgents')
  expect(q.refuse({ type: 'Bump', task: 't1', reason: 'r' })).toMatchObject({ code: 'capacity-exceeded' })
  capacity(q, 1, { overcapLimit: 1 })
  expect(explainOf(q.state, 't1', q.at)?.reasons[0]?.change).toContain('or bump the task')
})

test('TQM-BUMP-002: a bump is offered only for a task that can be bumped', () => {
  const q = capacity(new Queue(), 1).enqueue(task('held'), task('ready'), task('later', { availableAt: start + 60_000 }), task('blocked', { dependencies: ['ready'] }))
  q.claim('ann')
  for (const id of ['ready', 'later', 'blocked']) {
    const change = explainOf(q.state, id, q.at)?.reasons.find(({ code }) => code === 'capacity')?.change ?? 'no such reason'
    expect([id, change.includes('bump the task')]).toEqual([id, q.accepts({ type: 'Bump', task: id, reason: 'r' })])
  }
})

test('TQM-CAP-001: ten agents by default', () => {
  const q = new Queue().enqueue(...many(20))
  expect(Array.from({ length: 11 }, (_, i) => q.claim(`agent ${i}`).ids.length)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0])
})

test('TQM-CAP-002: at capacity ready tasks are queued: in views, filters, counts and answers', () => {
  const q = capacity(new Queue(), 1).enqueue(...many(3), task('later', { availableAt: start + 9_000 }))
  expect([statuses(q.state, 'pending'), statuses(q.state, 'queued')]).toEqual([['t0', 't1', 't2'], []])
  const { token } = q.claim('ann')
  expect([statuses(q.state, 'pending'), statuses(q.state, 'queued')]).toEqual([[], ['t1', 't2']])
  expect(depthOf(q.state)).toMatchObject({ total: 4, byStatus: { pending: 0, queued: 2, scheduled: 1, 'in-progress': 1 }, byPriority: { MEDIUM: 2 }, oldestPendingAt: start })
  expect(q.status('t1')).toBe('queued')
  expect(q.ask({ type: 'Enqueue', tasks: [task('new')] })).toMatchObject([{ status: 'queued' }])
  expect(q.ask({ type: 'CancelAll', filter: { statuses: ['queued'] }, reason: 'r', max: 1 })).toMatchObject({ cancelled: ['t1'] })
  // A page may begin when the queue is no longer at capacity.
  const [first] = listTasks(q.state, { statuses: ['queued'] }, 1).tasks
  q.complete('t0', token)
  expect(listTasks(q.state, {}, 1, cursorAfter(first!)).tasks).toMatchObject([{ id: 'new', status: 'pending' }])
})

test('TQM-CAP-002: the next page of ready tasks goes on, whether the queue has reached its capacity since, or has room again', () => {
  const q = capacity(new Queue(), 1).enqueue(...many(5))
  const pending = listTasks(q.state, { statuses: ['pending'] }, 2)
  const { token } = q.claim('ann')
  expect(listTasks(q.state, { statuses: ['pending'] }, 2, pending.next).tasks).toMatchObject([{ id: 't2', status: 'queued' }, { id: 't3', status: 'queued' }])
  const queued = listTasks(q.state, { statuses: ['queued'] }, 2)
  q.complete('t0', token)
  expect(listTasks(q.state, { statuses: ['queued'] }, 2, queued.next).tasks).toMatchObject([{ id: 't3', status: 'pending' }, { id: 't4', status: 'pending' }])
  // A list without ready tasks gets none from a page that ended among them.
  expect(listTasks(q.state, { statuses: ['completed'] }, 2, queued.next).tasks).toMatchObject([{ id: 't0' }])
})

test('TQM-BUMP-001, LK-17: a bumped task goes before all others, by the policy’s order among bumped ones, whoever’s turn it is', () => {
  const q = new Queue().enqueue(task('high', { priority: 10, tenant: 'acme' }), task('low', { priority: 1, tenant: 'zen' }), task('lower', { priority: 2, tenant: 'zen' }))
  expect(bump(q, 'low')).toEqual([
    { type: 'TaskBumped', at: q.at, data: { task: 'low', reason: 'the customer waits', activeAgents: 0, maxConcurrentAgents: 10, isOverCapacity: false } },
  ])
  bump(q, 'lower')
  expect(bump(q, 'low')).toEqual([])
  expect(q.look('ann', { max: 3 })).toEqual(['lower', 'low', 'high'])
  expect(q.look('ann', { tenant: 'acme' })).toEqual(['high'])
  expect(explainOf(q.state, 'lower', q.at)).toMatchObject({ runnable: true, position: 1, reasons: [{ code: 'ready' }] })
  expect(taskOf(q.state, 'low')?.priorityBoosted).toBe(true)
  // The bumped task was charged to no tenant: the turns are as before.
  q.claim('ann', { max: 2 })
  q.enqueue(task('acme', { tenant: 'acme' }), task('zen', { tenant: 'zen' }))
  expect(q.look('ann', { max: 3 })).toEqual(['high', 'zen', 'acme'])
})

test('TQM-BUMP-002: it starts beyond capacity at once, by overcapLimit, and then nothing else does until agents have ended', () => {
  const q = capacity(new Queue(), 2, { overcapLimit: 1 }).enqueue(...many(9))
  q.claim('ann')
  q.claim('bob')
  expect(bump(q, 't7')).toMatchObject([{ data: { activeAgents: 2, maxConcurrentAgents: 2, isOverCapacity: true } }])
  expect(explainOf(q.state, 't7', q.at)).toMatchObject({ runnable: true, position: 1 })
  expect(q.claim('cy', { max: 5 })).toMatchObject({ ids: ['t7'] })
  // Over capacity, not even active agents take any other task.
  expect([q.look('ann'), q.look('cy'), q.look('dot')]).toEqual([[], [], []])
  expect(whyNothing(q.state, { agent: 'ann' })).toMatchObject({ code: 'capacity', message: 'at capacity: 3 of 2 agents are working, and no other starts' })
  expect(q.refuse({ type: 'Bump', task: 't8', reason: 'r' })).toMatchObject({ code: 'capacity-exceeded' })
  q.complete('t7', 3, true, 'cy')
  expect([q.look('ann'), q.look('dot')]).toEqual([['t2'], []])
  q.complete('t0', 1)
  expect(q.look('dot')).toEqual(['t2'])
})

test('TQM-BUMP-002: a bumped task that nobody has taken yet waits for room like the others, but first', () => {
  const q = capacity(new Queue(), 1, { overcapLimit: 1 }).enqueue(...many(5))
  q.claim('ann')
  bump(q, 't3')
  bump(q, 't4')
  expect(q.claim('bob', { max: 1 }).ids).toEqual(['t3'])
  expect(q.look('cy')).toEqual([])
  expect(q.claim('bob', { max: 9 }).ids).toEqual(['t4'])
  q.giveBack('t4', 3, 'bob')
  expect([q.look('cy'), q.look('ann')]).toEqual([[], []])
})

test('TQM-BUMP-003: switched off, for tasks that are not ready, and for too many', () => {
  const q = capacity(new Queue(), 2).enqueue(...many(bumpedMax + 1), task('later', { availableAt: start + 9_000 }))
  const code = (id: string) => q.refuse({ type: 'Bump', task: id, reason: 'r' }).code
  expect([code('nobody'), code('later')]).toEqual(['not-found', 'wrong-state'])
  for (let i = 0; i < bumpedMax; i++) bump(q, `t${i}`)
  expect(code(`t${bumpedMax}`)).toBe('conflict')
  capacity(q, 2, { bumpAndStart: false })
  expect(code('t0')).toBe('disabled')
})

test('TQM-BUMP-002: a bump lasts until an attempt has ended; a claim that never arrived, or that an operator ended, does not use it up', () => {
  const q = new Queue().enqueue(task('a', { backoffSeconds: 0, maxRetries: 9 }), task('b', { priority: 10 }))
  const isFirst = () => q.look('new')[0] === 'a'
  bump(q, 'a')
  const { token } = q.claim('ann')
  q.do({ type: 'Release', task: 'a', agent: 'ann', token, reason: 'r', undelivered: true })
  expect(isFirst()).toBe(true)
  q.claim('ann')
  q.do({ type: 'TerminateAgent', agent: 'ann', reason: 'r' })
  expect(isFirst()).toBe(true)
  q.fail('a', q.claim('bob').token, true, 'bob')
  expect([isFirst(), taskOf(q.state, 'a')?.priorityBoosted]).toEqual([false, undefined])
})

test('INV-15: what is bumped survives a snapshot and a rollback', () => {
  const q = capacity(new Queue(), 1).enqueue(...many(3))
  bump(q, 't2')
  const copy = fork(q.state)
  expect(textOf(copy)).toBe(textOf(q.state))
  const before = textOf(q.state)
  const point = mark(q.state)
  q.claim('ann')
  q.fail('t2', 1)
  q.state = rollback(q.state, point)
  expect(textOf(q.state)).toBe(before)
  expect(q.look('ann')).toEqual(['t2'])
  q.state = copy
  expect(q.look('ann')).toEqual(['t2'])
})

test('TQM §11: what waits, bumped tasks first', () => {
  const q = capacity(new Queue(), 1).enqueue(task('a', { priority: 3 }))
  q.at += 5_000
  q.enqueue(task('b', { priority: 10 }), task('c', { priority: 8 }))
  q.claim('ann')
  bump(q, 'a')
  expect(capacityOf(q.state, q.at)).toEqual({
    activeAgents: 1, maxConcurrentAgents: 1, isAtCapacity: true, queued: ['a', 'c'], queuedCount: 2,
    byPriority: { CRITICAL: 0, HIGH: 1, MEDIUM: 0, LOW: 1 }, oldestAt: start, oldestCriticalAt: undefined,
  })
  expect(names(q.log).filter((name) => name === 'TaskBumped')).toHaveLength(1)
})
