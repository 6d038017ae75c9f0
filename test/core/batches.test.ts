/** Batches: what they count, when they are finished, and what their callbacks are told (INV-33). */
import { batchesOf, batchOf, type Command, type CommandOf, fork, headOf, listTasks, mark, nextOtherDue, rollback, snapshotPages } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { names, Queue, task } from './queue.js'

const review = { reviewer: 'rev', reason: 'looked at it' }
const create = (more: Partial<CommandOf<'CreateBatch'>> = {}): Command => ({ type: 'CreateBatch', id: 'b', callback: { type: 'done', payload: { to: 'ada' } }, tasks: [task('x'), task('y')], ...more })
const withBatch = (more: Partial<CommandOf<'CreateBatch'>> = {}): Queue => {
  const q = new Queue().configure({ decisionReport: 'optional', breakers: { defaults: { failureThreshold: 99 } } })
  q.do(create(more))
  return q
}
const view = (q: Queue, id = 'b') => batchOf(q.state, id, q.at)!
const work = (q: Queue): ReadonlyArray<string> => {
  const { ids, token } = q.claim('ann', { types: ['work'] })
  return q.complete(ids[0]!, token)
}
const told = (q: Queue) => JSON.parse(q.log.findLast((event) => event.type === 'TaskEnqueued' && event.data.callbackOf !== undefined)!.content!)

describe('a batch', () => {
  test('is finished with the end of its last task, and enqueues its callback in the same append', () => {
    const q = withBatch({ description: 'The upload', callback: { type: 'done', payload: { to: 'ada' }, priority: 'HIGH', metadata: { m: 1 } } })
    expect(view(q)).toMatchObject({ state: 'closed', tasks: 2, open: 2, callback: { type: 'done' }, reasons: [{ code: 'tasks-open', tasks: ['x', 'y'] }] })
    expect(work(q)).toEqual(['Completed'])
    expect(work(q)).toEqual(['Completed', 'BatchFinished', 'TaskEnqueued'])
    expect(view(q)).toMatchObject({ state: 'finished', finishedAt: q.at, tasks: 2, open: 0, completed: 2, callbackTask: 'b.callback', reasons: [] })
    expect(view(q)).not.toHaveProperty('callback')
    expect(q.task('b.callback')).toMatchObject({ type: 'done', priority: 8, callbackOf: 'b', status: 'pending' })
    expect(q.task('b.callback')).not.toHaveProperty('batchId')
    expect(told(q)).toEqual({ payload: { to: 'ada' }, metadata: { m: 1, batch: { id: 'b', description: 'The upload', tasks: 2, completed: 2, cancelled: 0, discarded: 0, deadLetters: 0 } } })
  })

  test('is made as a whole or not at all', () => {
    const q = new Queue()
    expect(q.refuse(create({ tasks: [task('x'), task('y', { dependencies: ['nothing'] })] }))).toMatchObject({ code: 'unknown-dependency' })
    expect(q.log).toEqual([])
    expect(names(q.do(create()))).toEqual(['BatchCreated', 'TaskEnqueued', 'TaskEnqueued', 'BatchClosed'])
  })

  test('without tasks is finished at once', () => {
    const q = new Queue()
    expect(names(q.do(create({ tasks: [] })))).toEqual(['BatchCreated', 'BatchClosed', 'BatchFinished', 'TaskEnqueued'])
  })

  test('without a callback is finished as well', () => {
    const q = new Queue().configure({ decisionReport: 'optional' })
    q.do({ type: 'CreateBatch', id: 'b', tasks: [task('x')] })
    expect(work(q)).toEqual(['Completed', 'BatchFinished'])
  })

  test('that is open waits for tasks, and is finished when it is closed', () => {
    const q = withBatch({ open: true })
    work(q)
    work(q)
    expect(view(q)).toMatchObject({ state: 'open', completed: 2, reasons: [{ code: 'batch-open' }] })
    q.enqueue(task('z', { batchId: 'b' }))
    work(q)
    expect(names(q.do({ type: 'CloseBatch', id: 'b' }))).toEqual(['BatchClosed', 'BatchFinished', 'TaskEnqueued'])
    expect(q.do({ type: 'CloseBatch', id: 'b' })).toEqual([])
  })

  test('that is open is not taken for a closed one by a request without `open`, nor opened again by the first one', () => {
    const q = withBatch({ open: true })
    expect(q.refuse(create())).toMatchObject({ code: 'conflict', detail: 'queue q has a batch b already, and it is open: send it with open, close it, or use another id' })
    q.do({ type: 'CloseBatch', id: 'b' })
    expect([q.do(create({ open: true })), q.do(create())]).toEqual([[], []])
    expect(view(q)).toMatchObject({ state: 'closed', tasks: 2 })
  })

  test('can be made again by the same request, which changes nothing', () => {
    const q = withBatch()
    expect(q.do(create())).toEqual([])
    expect(q.ask({ ...create(), type: 'CreateBatch', id: 'b', tasks: [task('x'), task('y')] })).toMatchObject({ results: [{ id: 'x', duplicate: true }, { id: 'y', duplicate: true }], batch: { tasks: 2 } })
    expect(q.refuse(create({ description: 'another' }))).toMatchObject({ code: 'conflict' })
    expect(q.refuse(create({ tasks: [task('x'), task('new')] }))).toMatchObject({ code: 'wrong-state' })
    work(q)
    work(q)
    expect(q.do(create())).toEqual([])
  })

  test('that nobody knows, or that is over, takes in no task', () => {
    const q = withBatch({ tasks: [] })
    const joins = (batchId: string): Command => ({ type: 'Enqueue', tasks: [task('z', { batchId })] })
    expect(q.refuse(joins('other'))).toMatchObject({ code: 'not-found', detail: expect.stringContaining('no batch other in queue q') as string })
    expect(q.refuse(joins('b'))).toMatchObject({ code: 'wrong-state', detail: expect.stringContaining('is finished') as string })
    q.do(create({ id: 'c', open: true }))
    q.do({ type: 'CancelBatch', id: 'c', reason: 'no' })
    expect(q.refuse(joins('c'))).toMatchObject({ code: 'wrong-state' })
    expect(q.refuse({ type: 'Import', tasks: [{ ...task('z', { batchId: 'b' }), status: 'pending' }] })).toMatchObject({ code: 'invalid', errors: [{ path: 'tasks[0].batchId' }] })
  })

  test('that is closed takes in what a task of it adds while it is being worked on', () => {
    const q = withBatch()
    const add = (more: object): Command => ({ type: 'Enqueue', tasks: [task('z', { batchId: 'b', ...more })] })
    expect(q.refuse(add({ parentTaskId: 'x' }))).toMatchObject({ code: 'wrong-state' })
    const { ids, token } = q.claim()
    expect(ids).toEqual(['x'])
    expect(q.refuse(add({}))).toMatchObject({ code: 'wrong-state', detail: expect.stringContaining('parentTaskId') as string })
    q.do(add({ parentTaskId: 'x' }))
    expect(q.complete('x', token)).toEqual(['Completed'])
    work(q)
    expect(work(q)).toEqual(['Completed', 'BatchFinished', 'TaskEnqueued'])
  })

  test('has in it what its tasks spawn, but not what is about another ticket', () => {
    const q = withBatch({ tasks: [task('x')] })
    q.configure({ discoveries: { rumour: {} } })
    const { token } = q.claim()
    const found = { discoveries: [{ kind: 'rumour', content: '{}' }, { kind: 'rumour', content: '{}', ticketId: 'T-2' }], left: 0, validation: { error: 'two tests fail', fix: '{}', check: '{}' } }
    q.do({ type: 'Complete', task: 'x', agent: 'ann', token, content: '{}', hasReport: true, found })
    expect(view(q)).toMatchObject({ tasks: 4, open: 3, completed: 1, approvals: 0 })
    for (let i = 0; i < 2; i++) work(q)
    expect(work(q)).toEqual(['Completed', 'BatchFinished', 'TaskEnqueued'])
  })

  test('waits for a guardian who decides on its fixes', () => {
    const q = withBatch({ tasks: [task('x')] })
    q.configure({ loops: { repeatSignatureLimit: 1 } })
    const { token } = q.claim()
    const validation = { error: 'two tests fail', fix: '{}', check: '{}' }
    const halted = q.do({ type: 'Complete', task: 'x', agent: 'ann', token, content: '{}', hasReport: true, found: { discoveries: [], left: 0, validation } })
    expect(names(halted)).toEqual(['ValidationFailed', 'LoopHalted', 'Completed'])
    expect(view(q)).toMatchObject({ state: 'closed', open: 0, approvals: 1, reasons: [{ code: 'approvals' }] })
    const approval = halted.flatMap((event) => (event.type === 'LoopHalted' ? [event.data.approval] : []))[0]!
    expect(names(q.do({ type: 'Refuse', approval, reason: 'no use' }))).toEqual(['SpawnRefused', 'BatchFinished', 'TaskEnqueued'])
  })
})

describe('a dead letter', () => {
  test('holds its batch until a reviewer has decided', () => {
    const q = withBatch()
    q.kill('x')
    expect(work(q)).toEqual(['Completed'])
    expect(view(q)).toMatchObject({ state: 'closed', open: 0, deadLetters: 1, reasons: [{ code: 'dead-letters', tasks: ['x'] }] })
    q.do({ type: 'Retry', task: 'x', ...review })
    expect(view(q)).toMatchObject({ open: 1, deadLetters: 0 })
    q.kill('x')
    expect(names(q.do({ type: 'Discard', task: 'x', ...review }))).toEqual(['Discarded', 'BatchFinished', 'TaskEnqueued'])
    expect(told(q).metadata.batch).toMatchObject({ tasks: 2, completed: 1, discarded: 1, deadLetters: 0 })
  })

  test('does not hold a batch that waits only until its tasks are settled, and runs no second callback', () => {
    const q = withBatch({ on: 'settled' })
    q.kill('x')
    expect(q.kill('y')).toEqual(['Failed', 'DeadLettered', 'BatchFinished', 'TaskEnqueued'])
    expect(told(q).metadata.batch).toMatchObject({ tasks: 2, completed: 0, deadLetters: 2 })
    q.do({ type: 'Retry', task: 'x', ...review })
    expect(work(q)).toEqual(['Completed'])
    expect(view(q)).toMatchObject({ state: 'finished', completed: 1, deadLetters: 1 })
  })

  test('that is left keeps its batch known beyond the retention', () => {
    const q = withBatch({ on: 'settled', tasks: [task('x')] }).configure({ retentionSeconds: 60 })
    q.kill('x')
    q.wait(3_600)
    q.enqueue(task('other'))
    expect(view(q)).toMatchObject({ state: 'finished', deadLetters: 1 })
    q.do({ type: 'Discard', task: 'x', ...review })
    expect(batchOf(q.state, 'b', q.at)).toBeUndefined()
    q.enqueue(task('another'))
    expect(batchesOf(q.state, {}, 10, undefined, 0).batches).toEqual([])
  })
})

describe('a cancelled batch', () => {
  test('has no open tasks and runs no callback, unless that is wanted', () => {
    for (const runsCallback of [false, true]) {
      const q = withBatch()
      q.claim()
      const events = q.do({ type: 'CancelBatch', id: 'b', reason: 'the wrong file', ...(runsCallback ? { runsCallback } : {}) })
      expect(names(events)).toEqual(['BatchCancelled', 'Cancelled', 'Cancelled', 'BatchFinished', ...(runsCallback ? ['TaskEnqueued'] : [])])
      expect(view(q)).toMatchObject({ state: 'finished', cancelled: 2, cancelReason: 'the wrong file' })
      expect(q.do({ type: 'CancelBatch', id: 'b', reason: 'again' })).toEqual([])
    }
  })

  test('is cancelled in parts, by the same request again', () => {
    const q = withBatch()
    expect(names(q.do({ type: 'CancelBatch', id: 'b', reason: 'no', max: 2 }))).toEqual(['BatchCancelled', 'Cancelled'])
    expect(view(q)).toMatchObject({ state: 'closed', open: 1 })
    expect(names(q.do({ type: 'CancelBatch', id: 'b', reason: 'no', max: 2 }))).toEqual(['Cancelled', 'BatchFinished'])
  })

  test('leaves dead letters to their reviewers, and does not wait for them', () => {
    const q = withBatch()
    q.kill('x')
    expect(names(q.do({ type: 'CancelBatch', id: 'b', reason: 'no' }))).toEqual(['BatchCancelled', 'Cancelled', 'BatchFinished'])
    expect(q.status('x')).toBe('dead-letter')
  })

  test('is another thing than a finished one', () => {
    const q = withBatch({ tasks: [] })
    expect(q.refuse({ type: 'CancelBatch', id: 'b', reason: 'no' })).toMatchObject({ code: 'wrong-state' })
    expect(q.refuse({ type: 'CancelBatch', id: 'c', reason: 'no' })).toMatchObject({ code: 'not-found' })
    expect(q.refuse({ type: 'CloseBatch', id: 'c' })).toMatchObject({ code: 'not-found' })
  })
})

describe('tasks of a batch', () => {
  test('are finished by whatever cancels them: a cascade, too', () => {
    const q = new Queue().enqueue(task('before'))
    q.do(create({ tasks: [task('y', { dependencies: ['before'] })] }))
    expect(names(q.do({ type: 'Cancel', task: 'before', reason: 'no' }))).toEqual(['Cancelled', 'Cancelled', 'BatchFinished', 'TaskEnqueued'])
    expect(told(q).metadata.batch).toMatchObject({ tasks: 1, cancelled: 1 })
  })

  test('that are duplicates of tasks outside are refused, because the batch would not wait for them', () => {
    const q = new Queue()
    q.enqueue(task('outside', { idempotencyKey: 'same' }))
    expect(q.refuse(create({ tasks: [task('x', { idempotencyKey: 'same', isMadeId: true })] }))).toMatchObject({ code: 'conflict', detail: expect.stringContaining('outside') as string })
    expect(q.refuse(create({ tasks: [task('outside', { idempotencyKey: 'same' })] }))).toMatchObject({ code: 'conflict' })
    // Within the batch, one is enough.
    expect(names(q.do(create({ tasks: [task('x', { idempotencyKey: 'k', isMadeId: true }), task('y', { idempotencyKey: 'k', isMadeId: true })] })))).toEqual(['BatchCreated', 'TaskEnqueued', 'BatchClosed'])
  })

  test('are listed by it, open or finished', () => {
    const q = withBatch()
    q.enqueue(task('other'))
    work(q)
    expect(listTasks(q.state, { batchId: 'b' }, 10).tasks.map(({ id }) => id).sort()).toEqual(['x', 'y'])
    expect(listTasks(q.state, { batchId: 'b', statuses: ['pending'] }, 10).tasks.map(({ id }) => id)).toEqual(['y'])
    expect(listTasks(q.state, { batchId: 'nothing' }, 10).tasks).toEqual([])
  })

  test('that are restarted join it again while it goes on, and no longer', () => {
    const q = withBatch()
    work(q)
    q.do({ type: 'Restart', task: 'x', id: 'x2', reason: 'again', content: '{}' })
    expect(view(q)).toMatchObject({ tasks: 3, open: 2 })
    work(q)
    work(q)
    expect(view(q)).toMatchObject({ state: 'finished' })
    q.do({ type: 'Restart', task: 'x', id: 'x3', reason: 'again', content: '{}' })
    expect(q.task('x3')).not.toHaveProperty('batchId')
  })

  test('of another batch, which had its id before, are not its own', () => {
    const q = withBatch({ on: 'settled', tasks: [task('x')] }).configure({ retentionSeconds: 60 })
    q.kill('x')
    q.wait(3_600)
    // The task is known for a minute from now on, the batch that finished an hour ago is not.
    q.do({ type: 'Discard', task: 'x', ...review })
    q.do(create({ tasks: [], open: true, description: 'another' }))
    q.do({ type: 'Restart', task: 'x', id: 'x2', reason: 'again', content: '{}' })
    expect(q.task('x2')).not.toHaveProperty('batchId')
    expect(view(q)).toMatchObject({ description: 'another', tasks: 0 })
  })
})

describe('the callback', () => {
  test('INV-7: gets another id if a dead letter that is sent back with the same tick takes the key of its own', () => {
    const q = withBatch({ on: 'settled', tasks: [task('x', { timeout: 60, maxRetries: 0 })] })
    q.enqueue(task('dead', { type: 'other', idempotencyKey: 'b.callback' }))
    q.kill('dead', 'other')
    q.do({ type: 'Snooze', task: 'dead', ...review, until: q.at + 60_000 })
    q.claim()
    expect(q.wait(60)).toEqual(['Requeued', 'ClaimExpired', 'DeadLettered', 'BatchFinished', 'TaskEnqueued'])
    expect([q.status('dead'), view(q).callbackTask, q.status('b.callback.2'), headOf(q.state).misfits]).toEqual(['pending', 'b.callback.2', 'pending', 0])
  })

  test('gets another id if a producer has taken its own', () => {
    const q = withBatch({ tasks: [task('x')] })
    q.enqueue(task('b.callback', { type: 'other' }), task('o', { type: 'other', idempotencyKey: 'b.callback.2' }))
    work(q)
    expect(view(q)).toMatchObject({ state: 'finished', callbackTask: 'b.callback.3' })
  })

  test('comes with the next tick if an append could not take the end of its batch', () => {
    const q = withBatch({ tasks: [task('x')] })
    const { token } = q.claim()
    const [done] = (() => {
      const before = mark(q.state)
      const events = q.do({ type: 'Complete', task: 'x', agent: 'ann', token, content: '{}', hasReport: true })
      q.state = rollback(q.state, before)
      q.log.length -= events.length
      return events
    })()
    q.fold(done!)
    expect(view(q)).toMatchObject({ state: 'closed', open: 0 })
    // A tick is due at once.
    expect(nextOtherDue(q.state)).toBe(0)
    expect(names(q.do({ type: 'Tick' }))).toEqual(['BatchFinished', 'TaskEnqueued'])
    expect(nextOtherDue(q.state)).not.toBe(0)
    expect(q.do({ type: 'Tick' })).toEqual([])
  })

  test('must not give what the queue gives, nor be too large', () => {
    const q = new Queue()
    expect(q.refuse(create({ callback: { type: 'done', metadata: { batch: 1 } } }))).toMatchObject({ code: 'invalid', errors: [{ path: 'callback.metadata.batch' }] })
    expect(q.refuse(create({ callback: { type: 'done', payload: 'x'.repeat(70_000) } }))).toMatchObject({ code: 'too-large' })
  })
})

test('INV-15: a snapshot has all of it, and a rollback restores it', () => {
  const q = withBatch({ open: true })
  q.kill('x')
  const before = textOf(q.state)
  expect(textOf(fork(q.state))).toBe(before)
  const point = mark(q.state)
  q.enqueue(task('z', { batchId: 'b' }))
  work(q)
  q.do({ type: 'CancelBatch', id: 'b', reason: 'no' })
  q.enqueue(task('more'))
  q.state = rollback(q.state, point)
  expect(textOf(q.state)).toBe(before)
})

test('INV-22: finished batches leave with their retention, and a deleted queue forgets all', () => {
  const q = withBatch({ tasks: [] }).configure({ retentionSeconds: 60 })
  q.do(create({ id: 'open', open: true, tasks: [] }))
  q.wait(61)
  q.enqueue(task('other'))
  expect(batchesOf(q.state, {}, 10).batches.map(({ id }) => id)).toEqual(['open'])
  // It is not merely hidden: the state does not have it.
  const { batches } = JSON.parse(snapshotPages(q.state)[0]!.text) as { readonly batches: ReadonlyArray<{ readonly id: string }> }
  expect(batches.map(({ id }) => id)).toEqual(['open'])
  // Its id is free again.
  q.do(create({ description: 'another', tasks: [] }))
  expect(view(q)).toMatchObject({ description: 'another' })
  for (const id of ['other', 'b.callback']) if (q.status(id) !== undefined) q.do({ type: 'CancelAll', filter: {}, reason: 'no' })
  q.do({ type: 'DeleteQueue', reason: 'no' })
  expect(batchesOf(q.state, {}, 10, undefined, 0).batches).toEqual([])
  expect(headOf(q.state).misfits).toBe(0)
})

test('ADR 65: in an isolated queue a batch is of one tenant, with all that is in it', () => {
  const q = new Queue().configure({ tenants: 'isolated', decisionReport: 'optional' })
  const own = { tenant: 'acme', id: 'acme:b', callback: { type: 'done', tenant: 'acme' }, tasks: [task('acme:x', { tenant: 'acme' })] }
  expect(q.refuse(create())).toMatchObject({ code: 'invalid', errors: [{ path: 'tenant' }] })
  expect(q.refuse(create({ ...own, id: 'b' }))).toMatchObject({ code: 'invalid', errors: [{ path: 'id' }] })
  expect(q.refuse(create({ ...own, callback: { type: 'done', tenant: 'zen' } }))).toMatchObject({ code: 'invalid', errors: [{ path: 'callback.tenant' }] })
  expect(q.refuse(create({ ...own, tasks: [task('zen:x', { tenant: 'zen' })] }))).toMatchObject({ code: 'invalid', errors: [{ path: 'tasks[0].tenant' }] })
  q.do(create({ ...own, open: true }))
  const joins = (tenant: string, batchId: string) => q.refuse({ type: 'Enqueue', tasks: [task(`${tenant}:z`, { tenant, batchId })] })
  const { detail } = joins('zen', 'acme:b')
  expect(detail).toBe(joins('zen', 'acme:c').detail.replace('acme:c', 'acme:b'))
  q.do({ type: 'CloseBatch', id: 'acme:b' })
  work(q)
  expect(q.task('acme:b.callback')).toMatchObject({ tenant: 'acme', idempotencyKey: 'acme:b.callback' })
})
