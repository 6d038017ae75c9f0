import { type CommandOf, fork, mark, rollback } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { names, Queue, start, task } from './queue.js'

const amend = (id: string, more: Partial<CommandOf<'AmendTask'>>): CommandOf<'AmendTask'> => ({ type: 'AmendTask', task: id, reason: 'a slip', ...more })
const review = { reviewer: 'rev', reason: 'looked at it' }
const last = (q: Queue) => q.log[q.log.length - 1]

describe('LK-11: a task that nobody holds is amended', () => {
  test('its priority: it is served at its new place, and the event has both', () => {
    const q = new Queue().enqueue(task('a'), task('b'), task('c'))
    expect(q.ask(amend('c', { priority: 8 }))).toEqual({ id: 'c', status: 'pending', changed: ['priority'] })
    expect(last(q)).toEqual({ type: 'TaskAmended', at: start, data: { task: 'c', reason: 'a slip', priority: 8, formerPriority: 5 } })
    expect(q.task('c')).toMatchObject({ priority: 8, contentRevision: 2 })
    expect(q.look('ann', { max: 3 })).toEqual(['c', 'a', 'b'])
    q.do(amend('c', { priority: 1 }))
    expect(q.look('ann', { max: 3 })).toEqual(['a', 'b', 'c'])
  })

  test('its deadline: its score rises before the new one, and null takes it away', () => {
    const q = new Queue().configure({ policy: 'score' }).enqueue(task('a'), task('b', { deadlineAt: start + 10_000 }))
    expect(q.look()).toEqual(['b'])
    expect(q.ask(amend('b', { deadlineAt: null }))).toMatchObject({ changed: ['deadlineAt'] })
    expect(last(q)).toMatchObject({ data: { deadlineAt: null, formerDeadlineAt: start + 10_000 } })
    expect(q.task('b')).not.toHaveProperty('deadlineAt')
    expect(q.look()).toEqual(['a'])
    q.do(amend('b', { deadlineAt: start + 1_000_000 }))
    expect(q.look()).toEqual(['a'])
    q.at += 990_000
    expect(q.look()).toEqual(['b'])
  })

  test('when it becomes ready: later, sooner, and now', () => {
    const q = new Queue().enqueue(task('a'))
    expect(q.ask(amend('a', { availableAt: start + 60_000 }))).toMatchObject({ status: 'scheduled', changed: ['availableAt'] })
    expect(last(q)).toMatchObject({ data: { availableAt: start + 60_000, formerAvailableAt: null } })
    expect(q.look()).toEqual([])
    q.do(amend('a', { availableAt: start + 30_000 }))
    expect(q.wait(29)).toEqual([])
    expect(q.wait(1)).toEqual(['TaskDue'])
    q.do(amend('a', { availableAt: q.at + 60_000 }))
    expect(q.ask(amend('a', { availableAt: 1 }))).toMatchObject({ status: 'pending' })
    expect(last(q)).toMatchObject({ data: { availableAt: null, formerAvailableAt: q.at + 60_000 } })
    expect(q.wait(120)).toEqual([])
  })

  test('a retry need not be waited for, and a blocked task keeps its time until it is not', () => {
    const q = new Queue().enqueue(task('a'), task('b', { dependencies: ['a'] }))
    q.fail('a', q.claim().token)
    expect(q.ask(amend('a', { availableAt: null }))).toMatchObject({ status: 'pending' })
    expect(q.ask(amend('b', { availableAt: start + 60_000 }))).toMatchObject({ status: 'blocked', changed: ['availableAt'] })
    q.complete('a', q.claim().token)
    expect(q.task('b')).toMatchObject({ status: 'scheduled', availableAt: start + 60_000 })
  })

  test('its payload: the event has all of the content, and says where the former one is', () => {
    const q = new Queue().enqueue(task('a'))
    expect(q.ask(amend('a', { content: '{"payload":2}', contentRevision: 0 }))).toMatchObject({ changed: ['payload'] })
    expect(last(q)).toEqual({ type: 'TaskAmended', at: start, data: { task: 'a', reason: 'a slip', formerContentRevision: 0 }, content: '{"payload":2}' })
    expect(q.task('a')).toMatchObject({ enqueuedRevision: 0, contentRevision: 1 })
    q.do(amend('a', { content: '{"payload":3}', contentRevision: 1 }))
    expect(q.refuse(amend('a', { content: '{"payload":4}', contentRevision: 1 }))).toMatchObject({ code: 'conflict' })
    expect(q.ask({ type: 'Claim', agent: 'ann', max: 1 })[0]).toMatchObject({ contentRevision: 2 })
  })

  test('the same values append nothing, and nothing to change is refused', () => {
    const q = new Queue().enqueue(task('a', { deadlineAt: start + 5_000, availableAt: start + 9_000 }))
    expect(q.ask(amend('a', { priority: 5, deadlineAt: start + 5_000, availableAt: start + 9_000, contentRevision: 0 }))).toEqual({ id: 'a', status: 'scheduled', changed: [] })
    expect(q.log).toHaveLength(1)
    expect(q.refuse(amend('a', {}))).toMatchObject({ code: 'invalid' })
  })

  test('what is held or finished is refused, with what to do', () => {
    const q = new Queue().enqueue(task('a'), task('b'))
    const { token } = q.claim()
    expect(q.refuse(amend('a', { priority: 9 }))).toMatchObject({ code: 'wrong-state', detail: expect.stringContaining('ann is working on a') })
    q.complete('a', token, false)
    expect(q.refuse(amend('a', { priority: 9 }))).toMatchObject({ code: 'wrong-state' })
    q.complete('a', token)
    expect(q.refuse(amend('a', { priority: 9 }))).toMatchObject({ code: 'wrong-state', detail: expect.stringContaining('completed') })
    q.do({ type: 'Cancel', task: 'b', reason: 'r' })
    expect(q.refuse(amend('b', { priority: 9 }))).toMatchObject({ code: 'wrong-state' })
    expect(q.refuse(amend('c', { priority: 9 }))).toMatchObject({ code: 'not-found' })
  })

  test('a parked task too, but not when it is ready', () => {
    const q = new Queue().enqueue(task('a'))
    q.do({ type: 'Park', task: 'a', agent: 'ann', token: q.claim().token, callbackKey: 'k', timeoutSeconds: 60 })
    expect(q.ask(amend('a', { priority: 9, content: '{"payload":2}' }))).toMatchObject({ status: 'waiting', changed: ['priority', 'payload'] })
    expect(q.refuse(amend('a', { availableAt: null }))).toMatchObject({ code: 'wrong-state' })
  })

  test('CRITICAL from now on, as alerts count', () => {
    const q = new Queue().configure({ alerts: { criticalDepthSeconds: 60 } }).enqueue(task('a'))
    q.at += 600_000
    q.do(amend('a', { priority: 10 }))
    const alerts = (): ReadonlyArray<string> => names(q.do({ type: 'Tick', alerts: true }))
    q.at += 59_000
    expect(alerts()).toEqual([])
    q.at += 2_000
    expect(alerts()).toEqual(['AlertRaised'])
    q.do(amend('a', { priority: 9 }))
    expect(alerts()).toEqual(['AlertCleared'])
  })

  test('it is the same after a snapshot, and as before after a rollback', () => {
    const q = new Queue().enqueue(task('a', { deadlineAt: start + 5_000 }), task('b'))
    q.do(amend('a', { priority: 9, deadlineAt: null, availableAt: start + 7_000, content: '{"payload":2}' }))
    const after = q.task('a')
    q.state = fork(q.state)
    expect(q.task('a')).toEqual(after)
    expect(after.contentRevision).toBe(2)

    const again = new Queue().enqueue(task('a', { deadlineAt: start + 5_000 }), task('b'))
    const before = again.task('a')
    const here = mark(again.state)
    again.do(amend('a', { priority: 9, deadlineAt: null, availableAt: start + 7_000, content: '{"payload":2}' }))
    again.state = rollback(again.state, here)
    expect(again.task('a')).toEqual(before)
    expect(again.look('ann', { max: 2 })).toEqual(['a', 'b'])
  })
})

describe('LK-11: edit-and-retry', () => {
  const dead = (): Queue => {
    const q = new Queue().enqueue(task('a'))
    q.kill('a')
    return q
  }

  test('a dead letter is amended and stays one', () => {
    const q = dead()
    expect(q.ask(amend('a', { priority: 9, content: '{"payload":2}' }))).toMatchObject({ status: 'dead-letter', changed: ['priority', 'payload'] })
    expect(q.refuse(amend('a', { availableAt: start + 1_000 }))).toMatchObject({ code: 'wrong-state', detail: expect.stringContaining('snooze') })
    q.do({ type: 'Retry', task: 'a', ...review })
    expect(q.task('a')).toMatchObject({ status: 'pending', priority: 9, contentRevision: 4 })
  })

  test('it is sent back with another payload in one append, or not at all', () => {
    const q = dead()
    expect(names(q.do({ type: 'Retry', task: 'a', ...review, content: '{"payload":2}', contentRevision: 0 }))).toEqual(['TaskAmended', 'Requeued'])
    expect(q.task('a')).toMatchObject({ status: 'pending', retries: 0, contentRevision: 4 })
    q.kill('a')
    expect(q.refuse({ type: 'Retry', task: 'a', ...review, content: '{"payload":3}', contentRevision: 0 })).toMatchObject({ code: 'conflict' })
    expect(q.refuse({ type: 'Retry', filter: {}, ...review, content: '{"payload":3}' })).toMatchObject({ code: 'invalid' })
    q.enqueue(task('b', { idempotencyKey: 'key of a' }))
    expect(q.refuse({ type: 'Retry', task: 'a', ...review, content: '{"payload":3}' })).toMatchObject({ code: 'conflict', detail: expect.stringContaining('b was enqueued') })
  })
})
