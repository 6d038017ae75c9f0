/** Cancelling by a filter, and deleting a queue without unfinished tasks. */
import { breakersOf, cancelMax, depthOf, headOf, listTasks, mark, rollback, type TaskFilter } from '@daybook/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { runs } from '../properties/settings.js'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'
import { names, Queue, start, task } from './queue.js'

const reason = 'not wanted'

test('page by page, a filter cancels exactly the tasks that match and those that depend on them; no page exceeds its limit', () => {
  const filters: ReadonlyArray<TaskFilter> = [{}, { type: 'eng-*' }, { statuses: ['pending', 'scheduled'] }, { text: 'T-1' }, { ticketId: 'T-1' }, { priorityMax: 4 }, { agent: 'ann' }]
  fc.assert(
    fc.property(scenarios(60), fc.constantFrom(...filters), fc.integer({ min: 1, max: 4 }), (scenario, filter, max) => {
      const q = new Queue()
      const world = new World(() => ({})).run(scenario)
      world.log.forEach((event) => q.fold(event))
      q.at = world.clock
      const live = { ...filter, statuses: filter.statuses ?? (['scheduled', 'waiting', 'blocked', 'pending', 'queued', 'in-progress', 'incomplete'] as const) }
      const { tasks } = listTasks(q.state, {}, 10_000)
      const dependenciesOf = new Map(tasks.map(({ id, dependencies }) => [id, dependencies]))
      const lineOf = new Map(tasks.map(({ id, orderingKey }) => [id, orderingKey]))
      const wanted = new Set(listTasks(q.state, live, 1_000).tasks.map(({ id }) => id))
      const cancelled = new Set<string>()
      let after: string | undefined
      for (let pages = 0; ; pages++) {
        const reply = q.ask({ type: 'CancelAll', filter, reason, max, ...(after === undefined ? {} : { after }) })
        for (const id of reply.cancelled) cancelled.add(id)
        if (reply.next === undefined) break
        after = reply.next
        expect(reply.cancelled.length).toBeGreaterThan(0)
        expect(pages).toBeLessThan(1_000)
      }
      for (const id of wanted) expect([id, cancelled.has(id)]).toEqual([id, true])
      for (const id of cancelled) {
        const isDependent = (dependenciesOf.get(id) ?? []).some((dependency) => cancelled.has(dependency))
        // The next task in its line becomes ready when it is cancelled, and may match from the next page on.
        const isNextInLine = lineOf.get(id) !== undefined && [...cancelled].some((other) => other !== id && lineOf.get(other) === lineOf.get(id))
        // A page that ends a batch enqueues its callback, which may match from the next page on, like any task that comes meanwhile.
        const isNewCallback = id.endsWith('.callback') && !dependenciesOf.has(id)
        expect([id, wanted.has(id) || isDependent || isNextInLine || isNewCallback]).toEqual([id, true])
      }
    }),
    runs(80),
  )
})

test('a command cancels a limited number of tasks, apart from complete cascades', () => {
  const q = new Queue()
  const ids = Array.from({ length: cancelMax + 5 }, (_, i) => `t${i}`)
  q.enqueue(...ids.map((id) => task(id)))
  const first = q.ask({ type: 'CancelAll', filter: {}, reason })
  expect(first.cancelled).toEqual(ids.slice(0, cancelMax))
  const second = q.ask({ type: 'CancelAll', filter: {}, reason, after: first.next as string })
  expect(second).toEqual({ cancelled: ids.slice(cancelMax), next: undefined })
  expect(q.ask({ type: 'CancelAll', filter: {}, reason })).toEqual({ cancelled: [], next: undefined })
})

test.each(['completed', 'cancelled', 'discarded', 'dead-letter'] as const)('the filter does not accept the status %s', (status) => {
  const q = new Queue().enqueue(task('a'))
  expect(q.refuse({ type: 'CancelAll', filter: { statuses: ['pending', status] }, reason })).toMatchObject({ code: 'invalid', detail: expect.stringContaining(`tasks that are ${status} cannot be cancelled`) as string })
})

describe('deleting a queue', () => {
  const finished = (): Queue => {
    const q = new Queue().configure({ maxAttempts: 7 }).enqueue(task('a'), task('b'))
    q.complete('a', q.claim().token)
    q.do({ type: 'Cancel', task: 'b', reason })
    q.do({ type: 'OpenBreaker', taskType: 'work', reason: 'r' })
    q.do({ type: 'Pause', reason: 'lunch' })
    return q
  }

  test('is refused while anything in it is unfinished, dead letters included, and says what', () => {
    const q = new Queue().enqueue(task('a', { priority: 9 }), task('b'), task('c', { dependencies: ['b'] }))
    q.kill('a')
    const refusal = q.refuse({ type: 'DeleteQueue', reason })
    expect(refusal).toMatchObject({ code: 'wrong-state', detail: expect.stringMatching(/1 blocked, 1 pending, 1 dead-letter/) as string })
  })

  test('nothing of its tasks remains; numbers and tokens go on', () => {
    const q = finished()
    expect(names(q.do({ type: 'DeleteQueue', reason }))).toEqual(['QueueDeleted'])
    expect(headOf(q.state)).toMatchObject({ deleted: reason, paused: null, lastNumber: 2, settings: headOf(new Queue().state).settings })
    expect(depthOf(q.state).total).toBe(0)
    expect(breakersOf(q.state)).toEqual({})
    expect(names(q.do({ type: 'DeleteQueue', reason }))).toEqual([])
    // The same content is no duplicate of the former task, and its first event creates the queue again.
    expect(q.ask({ type: 'Enqueue', tasks: [task('a')] })).toEqual([{ id: 'a', number: 3, status: 'pending', duplicate: false }])
    expect(headOf(q.state).deleted).toBeNull()
    expect(q.claim().token).toBe(2)
  })

  test('it can be taken back, to the last record', () => {
    const q = finished()
    const before = textOf(q.state)
    const point = mark(q.state)
    q.do({ type: 'DeleteQueue', reason })
    expect(textOf(q.state)).not.toBe(before)
    q.state = rollback(q.state, point)
    expect(textOf(q.state)).toBe(before)
  })

  test('a deletion that a foreign log claims, of a queue with unfinished tasks, is counted and deletes nothing', () => {
    const q = new Queue().enqueue(task('a'))
    q.fold({ type: 'QueueDeleted', at: start, data: { reason } })
    expect(headOf(q.state)).toMatchObject({ misfits: 1, deleted: null })
    expect(q.status('a')).toBe('pending')
  })
})
