/** When a task is a duplicate of another, and the reply about it (LK-05, INV-7). */
import { type Deduplicate, duplicateOf, type PreparedTask } from '@daybook/core'
import { expect, test } from 'vitest'
import { Queue, start, task } from './queue.js'

const hash = 'a1'.repeat(32)
/** A task without its own key; with `made` also without its own id. */
const plain = (id: string, more: Partial<PreparedTask> = {}): PreparedTask => task(id, { idempotencyKey: hash, isContentKey: true, ...more })
const made = (id: string, more: Partial<PreparedTask> = {}): PreparedTask => plain(id, { isMadeId: true, ...more })
const keyed = (id: string, more: Partial<PreparedTask> = {}): PreparedTask => task(id, { idempotencyKey: 'k', ...more })

type Answer = 'new' | 'duplicate' | 'conflict'
const ways = ['by the queue', 'by the task'] as const
const rules: ReadonlyArray<readonly [Deduplicate, string, PreparedTask, PreparedTask, Answer]> = [
  ['content', 'equal content', made('a'), made('b'), 'duplicate'],
  ['content', 'equal content under another id', made('a'), plain('b'), 'conflict'],
  ['content', 'equal content, both with ids', plain('a'), plain('b'), 'conflict'],
  ['content', 'equal content of a task with an id', plain('a'), made('b'), 'duplicate'],
  ['content', 'an equal key', keyed('a'), keyed('b'), 'duplicate'],
  ['content', 'the same id again', plain('a'), plain('a'), 'duplicate'],
  ['content', 'the same id with other content', plain('a'), plain('a', { idempotencyKey: 'b2'.repeat(32) }), 'conflict'],
  ['key', 'equal content', made('a'), made('b'), 'new'],
  ['key', 'equal content under another id', made('a'), plain('b'), 'new'],
  ['key', 'an equal key', keyed('a'), keyed('b'), 'duplicate'],
  ['key', 'the same id again', plain('a'), plain('a'), 'duplicate'],
  ['key', 'the same id with other content', plain('a'), plain('a', { idempotencyKey: 'b2'.repeat(32) }), 'conflict'],
  ['off', 'equal content', made('a'), made('b'), 'new'],
  ['off', 'equal content under another id', made('a'), plain('b'), 'new'],
  ['off', 'an equal key', keyed('a'), keyed('b'), 'new'],
  ['off', 'the same id again', keyed('a'), keyed('a'), 'duplicate'],
  ['off', 'the same id with other content', plain('a'), plain('a', { idempotencyKey: 'b2'.repeat(32) }), 'conflict'],
]
const cases = rules.flatMap(([mode, what, first, second, answer]) => ways.map((way) => ({ mode, way, what, first, second, answer })))

/** The reply about the second task, which is in its own request or in the same one. */
const answerTo = (q: Queue, requests: ReadonlyArray<ReadonlyArray<PreparedTask>>): Answer => {
  for (const tasks of requests.slice(0, -1)) q.enqueue(...tasks)
  const command = { type: 'Enqueue' as const, tasks: requests[requests.length - 1] ?? [] }
  try {
    return q.ask(command).at(-1)?.duplicate === true ? 'duplicate' : 'new'
  } catch (error) {
    expect(String(error)).toContain('conflict')
    return 'conflict'
  }
}

test.each(cases)('LK-05: deduplicate: $mode, said $way: $what → $answer', ({ mode, way, first, second, answer }) => {
  const queue = (): Queue => (way === 'by the queue' ? new Queue().configure({ deduplicate: mode }) : new Queue())
  const said = (given: PreparedTask): PreparedTask => (way === 'by the queue' ? given : { ...given, deduplicate: mode })
  for (const requests of [[[said(first)], [said(second)]], [[said(first), said(second)]]]) {
    const q = queue()
    expect(answerTo(q, requests)).toBe(answer)
    const taken = q.log.flatMap((event) => (event.type === 'TaskEnqueued' ? [event.data] : []))
    if (answer !== 'conflict') expect(taken.map((each) => each.task)).toEqual(answer === 'new' ? [first.id, second.id] : [first.id])
    // INV-7
    expect(new Set(taken.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(taken.length)
    for (const { task: id, idempotencyKey } of taken) expect(duplicateOf(q.state, idempotencyKey)?.id).toBe(id)
  }
})

test('LK-05: the default of the setting is `content`', () => {
  expect(answerTo(new Queue(), [[made('a')], [made('b')]])).toBe('duplicate')
  expect(answerTo(new Queue().configure({ deduplicate: 'off' }), [[made('a')], [made('b', { deduplicate: 'content' })], [made('c', { deduplicate: 'content' })]])).toBe('duplicate')
})

test('LK-05: a task that got a key of its own by the setting is still found by its id after the setting is changed', () => {
  const q = new Queue().enqueue(plain('a')).configure({ deduplicate: 'off' })
  expect(q.ask({ type: 'Enqueue', tasks: [plain('a')] })).toMatchObject([{ id: 'a', duplicate: true }])
  q.enqueue(plain('b')).configure({ deduplicate: 'content' })
  expect(q.ask({ type: 'Enqueue', tasks: [plain('b')] })).toMatchObject([{ id: 'b', duplicate: true }])
})

test('LK-05: the reply about a duplicate has the first task, what they have in common, and until when it blocks', () => {
  const q = new Queue().configure({ retentionSeconds: 100, decisionReport: 'optional' }).enqueue(made('a'), keyed('b'))
  const ask = () => q.ask({ type: 'Enqueue', tasks: [made('x'), keyed('y'), keyed('b')] })
  const by = { duplicate: true, status: 'pending' }
  expect(ask()).toEqual([
    { id: 'a', number: 1, ...by, duplicateBy: 'content' },
    { id: 'b', number: 2, ...by, duplicateBy: 'key' },
    { id: 'b', number: 2, ...by, duplicateBy: 'id' },
  ])
  const { token } = q.claim('ann', { max: 2 })
  q.at += 5_000
  q.complete('a', token - 1)
  expect(ask()).toMatchObject([{ id: 'a', status: 'completed', until: start + 105_000 }, { id: 'b', status: 'in-progress' }, { id: 'b' }])
  expect(ask()[1]).not.toHaveProperty('until')
})

test('LK-05: equal content under another id is refused with advice and the other task', () => {
  const q = new Queue().enqueue(made('a'))
  expect(q.refuse({ type: 'Enqueue', tasks: [plain('b')] })).toEqual({
    code: 'conflict',
    detail: 'b has the same type and payload as a (#1), which is pending: if it is another task, give it an idempotencyKey of its own, or deduplicate: key; if it is the same, leave its id out',
  })
  expect(q.refuse({ type: 'Enqueue', tasks: [plain('c', { idempotencyKey: 'c3'.repeat(32) }), plain('d', { idempotencyKey: 'c3'.repeat(32) })] }).detail).toContain('as c in this request')
})

test('LK-05: a generated key has room for any number, and is not cut within a character', () => {
  const q = new Queue().configure({ deduplicate: 'off' })
  const long = `${'k'.repeat(110)}😀${'k'.repeat(16)}`
  q.enqueue(keyed('a', { idempotencyKey: long }), keyed('b', { idempotencyKey: long }))
  expect(q.task('a').idempotencyKey).toBe(`${'k'.repeat(110)}#1`)
  expect(q.ask({ type: 'Enqueue', tasks: [keyed('a', { idempotencyKey: long })] })).toMatchObject([{ id: 'a', duplicate: true }])
})

test('INV-7: a generated key that is already used by another task is refused', () => {
  for (const together of [true, false]) {
    const q = new Queue()
    const [first, second] = [keyed('a', { idempotencyKey: `${hash}#2` }), made('b', { deduplicate: 'off' })]
    if (!together) q.enqueue(first)
    expect(q.refuse({ type: 'Enqueue', tasks: together ? [first, second] : [second] }).code).toBe('conflict')
  }
})

test('EV-09: an import accepts different ids with equal content, whatever the setting, and each of them once', () => {
  for (const deduplicate of ['content', 'key', 'off'] as const) {
    const q = new Queue().configure({ deduplicate })
    const tasks = ['a', 'b', 'c'].map((id) => ({ ...plain(id), status: 'pending' as const }))
    const more = [{ ...keyed('d'), status: 'completed' as const }, { ...plain('e', { dependencies: ['c'] }), status: 'pending' as const }]
    const command = { type: 'Import' as const, tasks: [...tasks, ...more] }
    expect(q.ask(command).map(({ id, duplicate }) => `${id} ${duplicate}`)).toEqual(['a false', 'b false', 'c false', 'd false', 'e false'])
    expect(q.ask(command).every(({ duplicate }) => duplicate)).toBe(true)
    expect(q.task('d').idempotencyKey).toBe('k')
    expect(q.status('e')).toBe('blocked')
  }
})
