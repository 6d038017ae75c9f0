import {
  decodeEvent, type EventType, eventTypes, evolve, headOf, initial, isEventType, isUnreadable, skip, snapshotPages, versionOf,
} from '@daybook/core'
import { expect, test } from 'vitest'
import { Queue, start, task } from './queue.js'

const paused = { reason: 'lunch' }

test('EV-01: replaying the events from zero gives the same state, byte for byte', () => {
  const q = new Queue().enqueue(task('a'), task('b', { dependencies: ['a'] }))
  q.complete('a', q.claim().token)
  q.kill('b')
  const replayed = q.log.reduce(evolve, initial('q'))
  expect(snapshotPages(replayed)).toEqual(snapshotPages(q.state))
})

test('EV-11: an event of the current version decodes unchanged', () => {
  expect(decodeEvent('QueuePaused', 1, start, paused)).toEqual({ type: 'QueuePaused', at: start, data: paused })
})

const table = {
  QueuePaused: {
    1: ({ why }: Readonly<Record<string, unknown>>) => ({ because: why }),
    2: ({ because }: Readonly<Record<string, unknown>>) => ({ reason: `${String(because)}!` }),
  },
}
test.each([
  [1, { why: 'lunch' }, 'lunch!'],
  [2, { because: 'lunch' }, 'lunch!'],
  [3, { reason: 'lunch' }, 'lunch'],
])('EV-11: version %i is upcast to the newest, step by step', (version, data, reason) => {
  expect(versionOf('QueuePaused', table)).toBe(3)
  expect(decodeEvent('QueuePaused', version, start, data, table)).toEqual({ type: 'QueuePaused', at: start, data: { reason } })
})

const throwing = { QueuePaused: { 1: (data: Readonly<Record<string, unknown>>) => ({ reason: (data['deep'] as { x: string }).x }) } }
const gap = { QueuePaused: { 2: (data: Readonly<Record<string, unknown>>) => data } }
test.each([
  ['of a type that is not known', 'Somersaulted', 1, paused, undefined, 'unknown type'],
  ['of a type named like a property of every object', 'constructor', 1, paused, undefined, 'unknown type'],
  ['of a version to come', 'QueuePaused', 2, paused, undefined, 'unknown version'],
  ['of version 0', 'QueuePaused', 0, paused, undefined, 'unknown version'],
  ['of version 1.5', 'QueuePaused', 1.5, paused, table, 'unknown version'],
  ['of no version', 'QueuePaused', Number.NaN, paused, undefined, 'unknown version'],
  ['of a version that nothing lifts', 'QueuePaused', 1, paused, gap, 'unknown version'],
  ['without data', 'QueuePaused', 1, undefined, undefined, 'malformed data'],
  ['with other data', 'QueuePaused', 1, { reason: 7 }, undefined, 'malformed data'],
  ['of an old version without data', 'QueuePaused', 1, null, table, 'malformed data'],
  ['whose upcaster stumbles', 'QueuePaused', 1, {}, throwing, 'malformed data'],
  ['out of range', 'Claimed', 1, { task: 't', agent: 'a', token: 0, expiresAt: 5 }, undefined, 'malformed data'],
] as const)('EV-11: an event %s is unreadable, not an error', (_, type, version, data, upcasters, why) => {
  expect(decodeEvent(type, version, start, data, upcasters)).toEqual({ _tag: 'Unreadable', why })
})

test('EV-11: an unreadable event is counted, keeps its revision, and changes nothing else', () => {
  const q = new Queue().enqueue(task('a'))
  const before = snapshotPages(q.state).slice(1)
  const { revision } = headOf(q.state)
  for (const [type, version] of [['Somersaulted', 1], ['Somersaulted', 1], ['QueuePaused', 9]] as const) {
    const event = decodeEvent(type, version, start, paused)
    if (isUnreadable(event)) q.state = skip(q.state, type, event)
  }
  expect(headOf(q.state)).toMatchObject({ revision: revision + 3, unreadable: { 'unknown type: Somersaulted': 2, 'unknown version: QueuePaused': 1 }, paused: null })
  expect(snapshotPages(q.state).slice(1)).toEqual(before)
  q.enqueue(task('b'))
  expect(q.task('b').enqueuedRevision).toBe(revision + 4)
})

test('EV-11: unknown fields of a later minor version do not make an event unreadable', () => {
  expect(decodeEvent('QueuePaused', 1, start, { ...paused, since: 7 })).toMatchObject({ type: 'QueuePaused' })
})

test('every type of event has a version', () => {
  expect(eventTypes.every((type: EventType) => isEventType(type) && versionOf(type) >= 1)).toBe(true)
})

test('the fold counts misfits and goes on', () => {
  let state = initial('q')
  const misfits: ReadonlyArray<Parameters<typeof evolve>[1]> = [
    { type: 'Completed', at: start, data: { task: 'x', agent: 'a', token: 1 } },
    { type: 'TaskDue', at: start, data: { task: 'x' } },
    { type: 'Requeued', at: start, data: { task: 'x', reviewer: 'r', reason: 'r' } },
  ]
  for (const event of misfits) state = evolve(state, event)
  expect(headOf(state)).toMatchObject({ revision: 2, misfits: 3, at: start })
})

test('INV-17: a faulty log cannot change a task in a final status', () => {
  const q = new Queue().enqueue(task('a'), task('b'))
  q.complete('a', q.claim().token)
  q.do({ type: 'Cancel', task: 'b', reason: 'r' })
  const review = { reviewer: 'r', reason: 'r' }
  for (const id of ['a', 'b']) {
    q.fold({ type: 'Requeued', at: q.at, data: { task: id, ...review } })
    q.fold({ type: 'DeadLettered', at: q.at, data: { task: id, reason: 'not-retryable' } })
    q.fold({ type: 'Discarded', at: q.at, data: { task: id, ...review } })
    q.fold({ type: 'TaskDue', at: q.at, data: { task: id } })
    q.fold({ type: 'Cancelled', at: q.at, data: { task: id, reason: 'r' } })
  }
  expect([q.status('a'), q.status('b'), headOf(q.state).misfits]).toEqual(['completed', 'cancelled', 10])
})

test('GB-01: a number that goes back, or far ahead of the log, is a misfit', () => {
  const q = new Queue().enqueue(task('a'))
  const facts = (number: number, id: string) => ({ task: id, number, type: 'work', priority: 5, idempotencyKey: id, timeout: 1, maxRetries: 1, backoffSeconds: 1 })
  q.fold({ type: 'TaskEnqueued', at: q.at, data: facts(1, 'b') })
  q.fold({ type: 'TaskEnqueued', at: q.at, data: facts(2 ** 50, 'c') })
  expect([q.status('b'), q.status('c'), headOf(q.state).misfits]).toEqual([undefined, undefined, 2])
})
