/** The cost of a snapshot at its beginning, while the queue waits. INV-15 compares loaded states over random histories. */
import { beginIncrement, beginSnapshot, type Command, endReplay, fork, headOf, listTasks, mark, mergeSnapshots, noteChanges, phases, type PreparedTask, priorityOf, rollback, type SnapshotPage, snapshotPages, snapshotReader, taskOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { rowsIn, textOf } from '../support/states/index.js'
import { Queue, task } from './queue.js'

const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => task(`t${from + i}`, { tenant: `tenant ${(from + i) % 700}`, phase: phases[(from + i) % 5]!, type: `type ${(from + i) % 3}` }))

test('a snapshot begins with the same few bytes, however many tenants and groups there are', () => {
  const headBytes = (tasks: number): number => {
    const q = new Queue().enqueue(...many(0, tasks))
    const work = beginSnapshot(q.state)
    const [head] = work.next(1) as [SnapshotPage]
    work.abandon()
    return head.text.length
  }
  expect(headBytes(3_000) - headBytes(10)).toBeLessThan(50)
})

test('INV-15: a snapshot knows the groups of all its pages, while the queue goes on', () => {
  const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(...many(0, 3_000))
  const before = textOf(q.state)
  const work = beginSnapshot(q.state)
  const reader = snapshotReader()
  for (let pages = work.next(200), i = 0; pages !== undefined; pages = work.next(200), i++) {
    for (const page of pages) reader.page(page)
    const { ids, token } = q.claim('ann', { max: 2 })
    q.complete(ids[0] as string, token - 1)
    q.enqueue(...many(3_000 + i * 10, 10))
  }
  expect(textOf(reader.finish())).toBe(before)
})

/** A queue with this many completed tasks, and as many others. */
const half = (count: number): Queue => {
  const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(...many(0, count))
  const { ids, token } = q.claim('ann', { max: count / 2 })
  ids.forEach((id, i) => q.complete(id, token - ids.length + 1 + i))
  return q
}

test('INV-15: rows of finished tasks that were damaged are refused, wherever they end', () => {
  const pages = snapshotPages(half(40).state)
  const rows = pages.findIndex(({ kind }) => kind === 'rows')
  const { numbers, bytes } = pages[rows] as Required<SnapshotPage>
  const read = (changed: Partial<SnapshotPage>) => {
    const reader = snapshotReader()
    pages.forEach((page, i) => reader.page(i === rows ? { ...page, ...changed } : page))
    return reader.finish()
  }
  expect(taskOf(read({}), 't1')?.status).toBe('completed')
  const longer = numbers.slice()
  longer[3]! += 1
  expect(() => read({ numbers: longer })).toThrow('rows have')
  for (let length = 0; length < bytes.length; length++) expect(() => read({ bytes: bytes.slice(0, length) })).toThrow('rows have')
  // Bytes that lead beyond the end must not cause an endless loop.
  for (const byte of [0, 1, 127, 128, 255]) expect(() => read({ bytes: bytes.slice().fill(byte) })).toThrow()
  // Each row begins with the kind of its id's text. One that does not exist was read in two ways, and a walk over all tasks did not end.
  for (const kind of [4, 127, 255]) expect(() => read({ bytes: bytes.slice().fill(kind, 0, 1) })).toThrow(`a text of the kind ${kind}`)
})

test('INV-15: a snapshot has finished tasks without a record of each, in pages of their own', () => {
  const pages = snapshotPages(half(4_000).state)
  expect(pages.flatMap(({ kind, rows }) => (kind === 'rows' ? [rows] : []))).toEqual([512, 512, 512, 464])
  expect(pages.flatMap(({ kind, rows }) => (kind === 'rows' ? [] : [rows]))).toEqual([0, 0, 0, 1_024, 976])
  const reader = snapshotReader()
  for (const page of pages) if (page.rows !== 464) reader.page(page)
  expect(() => reader.finish()).toThrow('has 1536 finished tasks, and says that it has 2000')
})

test('a loaded state makes the record of a ready task when it is first needed', () => {
  const q = new Queue().enqueue(...many(0, 2_000), ...many(2_000, 1_000).map((each) => ({ ...each, deadlineAt: 9e12 })))
  q.enqueue(task('later', { availableAt: q.at + 60_000 }), task('now', { priority: 10 }))
  const load = () => {
    const reader = snapshotReader()
    for (const page of snapshotPages(q.state)) reader.page(page)
    return reader.finish(true)
  }
  const loaded = load()
  expect(rowsIn(loaded)).toBe(3_000)
  expect(headOf(loaded)).toEqual(headOf(q.state))
  expect(taskOf(loaded, 't7')).toEqual(taskOf(q.state, 't7'))
  expect([rowsIn(loaded), rowsIn(load()), rowsIn(endReplay(loaded))]).toEqual([2_999, 3_000, 0])
})

// Each is ready, and in an index that has records of its tasks, so it must not wait as a row.
test.each<readonly [string, Partial<PreparedTask>, ReadonlyArray<Command>]>([
  ['whose priority is CRITICAL', { priority: priorityOf.CRITICAL }, []],
  ['with an ordering key', { orderingKey: 'k' }, []],
  ['of a batch', { batchId: 'b' }, []],
  ['that was bumped', {}, [{ type: 'Bump', task: 'other', reason: 'now' }]],
])('INV-15: a loaded state has the record of a ready task %s', (_, other, commands) => {
  const q = new Queue()
  q.do({ type: 'CreateBatch', id: 'b', tasks: [], open: true })
  q.enqueue(...many(0, 3), task('other', other))
  for (const command of commands) q.do(command)
  const reader = snapshotReader()
  for (const page of snapshotPages(q.state)) reader.page(page)
  const loaded = reader.finish(true)
  expect(rowsIn(loaded)).toBe(3)
  expect(textOf(endReplay(loaded))).toBe(textOf(q.state))
})

test('INV-15: a loaded state lists all tasks of a status, however many they are', () => {
  const q = new Queue()
  for (let i = 0; i < 20_000; i += 10_000) q.enqueue(...Array.from({ length: 10_000 }, (_, j) => task(`t${i + j}`)))
  const listed = listTasks(fork(q.state), { statuses: ['pending'] }, 30_000).tasks
  expect(listed.map(({ id }) => id)).toEqual(Array.from({ length: 20_000 }, (_, i) => `t${i}`))
})

test('INV-15: a group has its ready tasks and its finished ones, also if a task that changed meanwhile comes before these', () => {
  const q = new Queue().configure({ decisionReport: 'optional' })
  const complete = (count: number): void => {
    const { ids, token } = q.claim('ann', { max: count })
    ids.forEach((id, i) => q.complete(id, token - ids.length + 1 + i))
  }
  q.enqueue(...Array.from({ length: 600 }, (_, i) => task(`a${i}`, { type: 'a' })))
  complete(600)
  q.enqueue(task('b0', { type: 'b' }))
  complete(1)
  q.enqueue(task('b1', { type: 'b' }))
  const before = textOf(q.state)
  const work = beginSnapshot(q.state)
  const reader = snapshotReader()
  const kinds: Array<string> = []
  const read = (pages: ReadonlyArray<SnapshotPage>): void => pages.forEach((page) => (kinds.push(page.kind), reader.page(page)))
  read(work.next(1) ?? [])
  q.do({ type: 'Bump', task: 'b1', reason: 'now' })
  for (let pages = work.next(1); pages !== undefined; pages = work.next(1)) read(pages)
  expect(kinds).toEqual(['head', 'names', 'rows', 'tasks', 'rows'])
  expect(textOf(reader.finish())).toBe(before)
})

/** A queue with 3,000 tasks, its snapshot, and what an increment has after 2,000 of them were completed and one was added. */
const changedQueue = () => {
  const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(...many(0, 3_000))
  const whole = snapshotPages(q.state)
  noteChanges(q.state)
  const { ids, token } = q.claim('ann', { max: 2_000 })
  ids.forEach((id, i) => q.complete(id, token - ids.length + 1 + i))
  return { q: q.enqueue(...many(3_000, 1)), whole }
}

test('INV-15: an increment has only the tasks that changed, and is refused with a base that is not its own', () => {
  const { q, whole } = changedQueue()
  const increment = beginIncrement(q.state).next(Number.POSITIVE_INFINITY) ?? []
  expect(increment.filter(({ kind }) => kind === 'tasks').map(({ rows }) => rows)).toEqual([1])
  const load = (base: ReadonlyArray<SnapshotPage>) => {
    const reader = snapshotReader()
    for (const page of increment) reader.page(page)
    reader.base()
    for (const page of base) reader.page(page)
    return reader.finish()
  }
  expect(textOf(load(whole))).toBe(textOf(q.state))
  expect(() => load([])).toThrow('has 1 unfinished tasks, and says that there are 1001')
  expect(() => load(snapshotPages(new Queue().enqueue(...many(0, 3_002)).state))).toThrow('has 1002 unfinished tasks')
})

test('an increment that names other changed tasks than it has is refused', () => {
  const q = new Queue().enqueue(...many(0, 10))
  const whole = snapshotPages(q.state)
  noteChanges(q.state)
  q.do({ type: 'Bump', task: 't1', reason: 'now' })
  const increment = beginIncrement(q.state).next(Number.POSITIVE_INFINITY) ?? []
  const load = (changed: number): string => {
    const reader = snapshotReader()
    for (const page of increment) reader.page(page.kind === 'changed' ? { ...page, numbers: Float64Array.of(changed) } : page)
    reader.base()
    for (const page of whole) reader.page(page)
    return textOf(reader.finish())
  }
  expect(load(2)).toBe(textOf(q.state))
  expect(() => load(5)).toThrow('has an unfinished task twice')
})

test('columns of a row that are damaged are refused', () => {
  const pages = snapshotPages(new Queue().enqueue(task('t', { priority: 5 })).state)
  const problemWith = (at: number, value: number): string => {
    const reader = snapshotReader()
    try {
      for (const page of pages) reader.page(page.kind === 'tasks' ? { ...page, numbers: page.numbers.with(at, value) } : page)
      reader.finish()
      return ''
    } catch (error) {
      return String(error)
    }
  }
  const { length } = pages.at(-1)!.numbers
  const problems = Array.from({ length: length * 257 }, (_, i) => problemWith(Math.floor(i / 257), i % 257))
  for (const problem of ['a task without a record is not ready', 'a task has the priority 15', 'a task has the status 16', 'no page names the group 1']) expect(problems).toContain(`Error: ${problem}`)
  const reader = snapshotReader()
  expect(() => pages.forEach((page) => reader.page(page.kind === 'tasks' ? { ...page, numbers: page.numbers.subarray(1) } : page))).toThrow(`1 rows have ${length - 1} numbers, not ${length}`)
})

test('INV-15: an increment and its base are merged into full pages, but not with a base that is not its own', () => {
  const { q, whole } = changedQueue()
  const increment = beginIncrement(q.state).next(Number.POSITIVE_INFINITY) ?? []
  const merged = (base: ReadonlyArray<SnapshotPage>): ReadonlyArray<SnapshotPage> => {
    const merge = mergeSnapshots()
    const pages = increment.flatMap((page) => merge.page(page))
    merge.base()
    return [...pages, ...base.flatMap((page) => merge.page(page)), ...merge.finish()]
  }
  const pages = merged(whole)
  expect(pages.filter(({ kind }) => kind === 'tasks').map(({ rows }) => rows)).toEqual([1_001])
  const reader = snapshotReader()
  for (const page of pages) reader.page(page)
  expect(textOf(reader.finish())).toBe(textOf(q.state))
  expect(() => merged([])).toThrow('have 1 unfinished tasks together, and say that there are 1001')
  expect(() => merged(snapshotPages(new Queue().enqueue(...many(0, 3_002)).state))).toThrow('have 1002 unfinished tasks')
})

test('INV-15: what happens to loaded tasks can be undone, and they still block duplicates', () => {
  const q = new Queue().configure({ decisionReport: 'optional' }).enqueue(...many(0, 200))
  const loaded = new Queue()
  const reader = snapshotReader()
  for (const page of snapshotPages(q.state)) reader.page(page)
  loaded.state = reader.finish()
  expect(rowsIn(loaded.state)).toBe(0)
  const before = textOf(loaded.state)
  // Nearly all leave, so that the indexes by text are built anew.
  for (const count of [20, 195]) {
    const point = mark(loaded.state)
    const { ids, token } = loaded.claim('ann', { max: count })
    ids.forEach((id, i) => loaded.complete(id, token - ids.length + 1 + i))
    loaded.enqueue(...many(200, 30))
    loaded.state = rollback(loaded.state, point)
    expect(textOf(loaded.state)).toBe(before)
    for (const { id, idempotencyKey } of many(0, 200)) {
      expect(taskOf(loaded.state, id)?.id).toBe(id)
      expect(loaded.do({ type: 'Enqueue', tasks: [task('another', { idempotencyKey })] })).toEqual([])
      expect(loaded.refuse({ type: 'Enqueue', tasks: [task(id, { idempotencyKey: 'another' })] }).code).toBe(q.refuse({ type: 'Enqueue', tasks: [task(id, { idempotencyKey: 'another' })] }).code)
    }
    expect(taskOf(loaded.state, 't201')).toBeUndefined()
  }
})

test('a base with hashes of another seed is refused, because texts would not be found by them', () => {
  const { q, whole } = changedQueue()
  const increment = beginIncrement(q.state).next(Number.POSITIVE_INFINITY) ?? []
  const other = whole.map((page) => (page.kind === 'head' ? { ...page, text: page.text.replace('"seed":0', '"seed":7') } : page))
  for (const to of [snapshotReader(), mergeSnapshots()]) {
    const add = (pages: ReadonlyArray<SnapshotPage>): void => pages.forEach((page) => void to.page(page))
    add(increment)
    to.base()
    expect(() => add(other)).toThrow('its base has hashes with another seed')
  }
})

test('an increment takes small steps, also over tasks that have finished', () => {
  const { q } = changedQueue()
  const work = beginIncrement(q.state)
  let steps = 0
  while (work.next(16) !== undefined) steps++
  // 2,000 finished tasks, a chunk of 512 a step; then 2,000 numbers without a task, 256 a step.
  expect(steps).toBeGreaterThanOrEqual(4 + 7)
})

test('an increment needs the changes since the one before', () => {
  expect(() => beginIncrement(new Queue().enqueue(...many(0, 3)).state)).toThrow('it is not known what changed')
})
