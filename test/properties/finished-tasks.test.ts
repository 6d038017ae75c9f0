/**
 * Finished tasks as bytes (ADR 40), compared with plain records after each step and after each rollback. All bytes are in memory, or those of old
 * tasks are in a store (ADR 52), which may take some chunks and not others. Snapshots name the places in the store (ADR 54), if these have names.
 */
import { keptIn } from '@daybook/core'
import { blocksDuplicates, FinishedTasks, type FinishedWalk, Group, GroupKinds, hashOfText, type Joins, type KeptPage, newTaskRecord, pageOfKept, priorityIn, RowIndex, type RowsPage, statusIn, type TaskRecord, type TenantShare } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CountingRowStore, countingRowStore } from '../support/row-store.js'
import { runs } from './settings.js'

const kinds = new GroupKinds(new Map())
const share = { name: undefined } as TenantShare
const groups = ['code', 'docs', 'test'].map((type) => new Group(kinds.of(type, undefined, [], undefined), share, share))

/** Texts that are kept in different ways: UUIDs, hashes, ASCII, other characters, lone surrogates; and some with equal ends, which have the same hash. */
const text = fc.oneof(
  fc.uuid(),
  fc.uuid({ version: 7 }),
  fc.uuid().map((uuid) => uuid.toUpperCase()),
  fc.uuid().map((uuid) => `${uuid.slice(0, 35)}g`),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 1, maxLength: 64 }),
  fc.string({ maxLength: 128 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('é', 'ÿ', 'Ā', '\ud83d', '\ude00'), maxLength: 20 }),
  fc.nat({ max: 60 }).map((n) => `${n}-the same end for all of them`),
)
const count = fc.nat({ max: 300 })
/** Mostly the usual value, which takes no bytes. */
const mostly = <T>(usual: T, others: fc.Arbitrary<T>) => fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: others })
const time = fc.integer({ min: 0, max: 8_640_000_000_000_000 })
const seconds = fc.oneof(count, fc.double({ min: 0, max: 1e6, noNaN: true }))
const lease = fc.record({
  agent: fc.constantFrom('ann', 'bob', 'cy', 'dan'),
  token: fc.nat(),
  claimedAt: fc.integer({ min: 0, max: 2 ** 50 }),
  expiresIn: mostly(undefined, fc.option(fc.nat(), { nil: undefined })),
  durationMs: mostly(undefined, fc.option(fc.nat(), { nil: undefined })),
  epoch: mostly(0, count),
  probe: mostly(false, fc.boolean()),
  end: mostly(null, fc.constantFrom('failed' as const, 'lease-expired' as const, 'cancelled' as const, null)),
})
const fields = fc.record({
  id: text,
  key: text,
  group: fc.constantFrom(...groups),
  status: fc.constantFrom('completed' as const, 'cancelled' as const, 'discarded' as const),
  priority: fc.integer({ min: 1, max: 10 }),
  timeout: seconds,
  maxRetries: mostly(3, count),
  backoffSeconds: mostly(60, seconds),
  enqueuedAt: time,
  enqueuedRevision: fc.oneof(count, fc.nat({ max: 2 ** 31 - 1 }).map((n) => n * 2 ** 20)),
  dependencies: fc.array(text, { maxLength: 3 }),
  retries: mostly(0, count),
  attempts: mostly(1, count),
  blocking: mostly(0, count),
  missing: mostly(0, count),
  delayedUntil: mostly(0, time),
  lastRevision: fc.oneof(count, fc.nat({ max: 2 ** 31 - 1 }).map((n) => n * 2 ** 21)),
  extras: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.record({ ticketId: text, lastError: text }) }),
  lease: fc.option(lease, { nil: null }),
}).map(({ lease, ...task }) => {
  if (lease === null) return { ...task, lease }
  const { expiresIn, ...others } = lease
  const durationMs = others.durationMs ?? task.timeout * 1_000
  return { ...task, lease: { ...others, durationMs, expiresAt: others.claimedAt + (expiresIn ?? durationMs) } }
})

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('finish' as const), tasks: fc.array(fields, { minLength: 1, maxLength: 8 }), isKeyed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('finish many' as const), count: fc.integer({ min: 1, max: 1_500 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('first leaves' as const), count: fc.integer({ min: 1, max: 1_200 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('any leaves' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rewrite' as const), pick: fc.nat(), ticketId: fc.string({ maxLength: 300 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('begin a walk' as const), asRecords: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('walk on' as const), steps: fc.nat({ max: 900 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('mark' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('roll back' as const) }) },
)

/** A walk over finished tasks, which must show them as they were at its beginning, and a snapshot's pages that are loaded again. */
class Walk {
  readonly walk: FinishedWalk
  private readonly tasks: Array<TaskRecord> = []
  private readonly groups: Array<Group | undefined> = []
  private readonly agents: Array<string | undefined> = []
  private readonly pages: Array<RowsPage | KeptPage> = []

  constructor(
    finished: FinishedTasks,
    readonly plain: Both['plain'],
    private readonly asRecords: boolean,
    private readonly seed: number,
    private readonly store: CountingRowStore | undefined,
  ) {
    this.walk = finished.walk()
  }

  on(steps: number): void {
    for (let i = 0; i < steps; i++) if (!(this.asRecords ? this.nextTask() : i % 300 > 0 || this.nextPage())) return
  }

  check(): void {
    this.on(Number.POSITIVE_INFINITY)
    const loaded = this.asRecords ? undefined : this.loaded()
    expect(loaded === undefined ? this.tasks : [...loaded]).toEqual(this.plain.map(({ task }) => task))
    for (const { task } of loaded === undefined ? [] : this.plain) {
      expect([loaded?.byId.get(task.id)?.number, loaded?.byNumber(task.number)?.id]).toEqual([task.number, task.id])
      expect(loaded?.byKey.get(task.key)?.number).toBe(blocksDuplicates(task.status) ? task.number : undefined)
    }
    expect(loaded?.oldestAt).toBe(loaded && this.plain[0]?.task.finishedAt)
    this.walk.end()
  }

  private nextTask(): boolean {
    const task = this.walk.nextTask()
    if (task !== undefined) this.tasks.push(task)
    return task !== undefined
  }

  private nextPage(): boolean {
    const names = this.walk.nextNames(2)
    this.groups.push(...(names?.groups ?? []))
    this.agents.push(...(names?.agents ?? []))
    const rows = names === undefined ? (this.walk.nextKept() ?? this.walk.nextRows()) : undefined
    if (rows !== undefined) this.pages.push(rows)
    return names !== undefined || rows !== undefined
  }

  loaded(): FinishedTasks {
    const loaded = new FinishedTasks(this.seed, this.store)
    const names = { groupOf: (index: number) => this.groups[index], agentOf: (index: number) => this.agents[index] }
    let joined = 0
    const tasks = new Map(this.plain.map(({ task }) => [task.number, task]))
    const joins: Joins = (number, group, standing, record) => {
      joined++
      const task = tasks.get(number)
      const isRight = task?.status === statusIn(standing) && task.priority === priorityIn(standing) && task.group === this.groups[group]
      if (!isRight || record !== undefined) expect(record).toEqual(task)
      else if (['ticketId', 'rootTaskId', 'parking'].some((name) => name in task.extras)) expect(task.extras).toEqual({})
    }
    for (const page of this.pages) {
      if ('bytes' in page) loaded.loadRows(page, names, joins)
      else for (const kept of keptIn(pageOfKept([page], 512))) loaded.loadKept((this.store as CountingRowStore).rowsAt(kept.place), kept, names, joins)
    }
    expect(joined).toBe(this.plain.length)
    // It goes on as if it had never been written.
    const last = newTaskRecord({ ...many(-1), number: 2 ** 52, missing: 0, delayedUntil: 0, finishedAt: 1_900_000_000_000 })
    loaded.push(last, true)
    expect(loaded.byId.get(last.id)).toEqual(last)
    loaded.pop()
    return loaded
  }
}

/** The rows, and a plain list of the records with whether they are keyed. Every change can be undone in both. */
class Both {
  readonly finished: FinishedTasks
  plain: Array<{ readonly task: TaskRecord; readonly isKeyed: boolean }> = []
  private number = 0
  private undos: Array<() => void> = []
  private readonly marks: Array<{ readonly undos: number; readonly plain: Both['plain']; readonly walks: number }> = []
  walks: Array<Walk> = []

  constructor(
    private readonly seed: number,
    private readonly store?: CountingRowStore,
  ) {
    this.finished = new FinishedTasks(seed, store)
  }

  beginWalk(asRecords: boolean): void {
    this.walks.push(new Walk(this.finished, this.plain, asRecords, this.seed, this.store))
  }

  finish(init: { readonly [K in keyof TaskRecord]?: TaskRecord[K] } & Omit<Parameters<typeof newTaskRecord>[0], 'number' | 'missing' | 'delayedUntil' | 'finishedAt'>, isKeyed: boolean): void {
    // Ids and keys are unique.
    const [id, key] = [init.id, init.key].map((each) => (this.plain.some(({ task }) => task.id === each || task.key === each) ? `${each} ${this.number}` : each)) as [string, string]
    this.number += 1 + (init.priority > 9 ? 2 ** 33 : 0)
    const task = { ...newTaskRecord({ ...init, id, key, number: this.number, missing: init.missing ?? 0, delayedUntil: init.delayedUntil ?? 0, finishedAt: 1_700_000_000_000 + this.number }), attempts: init.attempts ?? 0, blocking: init.blocking ?? 0, lease: init.lease ?? null, lastRevision: init.lastRevision ?? 0 }
    this.finished.push(task, isKeyed)
    this.plain = [...this.plain, { task, isKeyed }]
    this.undos.push(() => this.finished.pop())
  }

  leave(index: number): void {
    const [gone] = this.plain.slice(index, index + 1)
    if (gone === undefined) return
    for (const { walk } of this.walks) walk.beforeLeaving(this.finished.rowOf(gone.task.number))
    const removed = this.finished.remove(gone.task)
    expect(removed.isKeyed).toBe(gone.isKeyed)
    this.plain = this.plain.filter((each) => each !== gone)
    this.undos.push(() => this.finished.putBack(removed))
  }

  rewrite(index: number, ticketId: string): void {
    const old = this.plain[index]
    if (old === undefined) return
    const task = { ...old.task, extras: { ticketId } }
    for (const { walk } of this.walks) walk.beforeChange(this.finished.rowOf(task.number))
    this.undos.push(this.finished.rewrite(task))
    this.plain = this.plain.map((each) => (each === old ? { ...each, task } : each))
  }

  mark(): void {
    this.marks.push({ undos: this.undos.length, plain: this.plain, walks: this.walks.length })
  }

  rollBack(): void {
    const mark = this.marks.pop()
    if (mark === undefined) return
    while (this.undos.length > mark.undos) this.undos.pop()?.()
    this.plain = mark.plain
    // A walk that began after the mark ends with it.
    for (const { walk } of this.walks.splice(mark.walks)) walk.end()
  }

  check(): void {
    const { finished, plain } = this
    expect([finished.size, finished.byKey.size, finished.oldestAt]).toEqual([plain.length, plain.filter(({ isKeyed }) => isKeyed).length, plain[0]?.task.finishedAt])
    const names = new Set(plain.flatMap(({ task }) => [task.group, ...(task.lease === null ? [] : [task.lease.agent])]))
    expect(finished.names).toBe(names.size)
    expect([...finished]).toEqual(plain.map(({ task }) => task))
    let last = 0
    for (const number of plain.map(({ task }) => task.number).sort((a, b) => a - b)) {
      expect(finished.numberAfter(last)).toBe(number)
      last = number
    }
    expect(finished.numberAfter(last)).toBeUndefined()
    for (const { task, isKeyed } of plain) {
      const { id, key, number } = task
      expect([finished.byId.get(id)?.number, finished.byNumber(number)?.id, finished.byKey.get(key)?.number]).toEqual([number, id, isKeyed ? number : undefined])
      expect([finished.byId.has(id), finished.byKey.has(key)]).toEqual([true, isKeyed])
    }
    for (const nobody of ['nobody', '0-the same end for all of them, but longer']) expect([finished.byId.get(nobody), finished.byKey.has(nobody)]).toEqual([undefined, false])
  }
}

const many = (i: number) => ({ id: `task-${i}`, key: `key-${i}`, group: groups[0] as Group, status: 'completed' as const, priority: 5, timeout: 60, maxRetries: 3, backoffSeconds: 1, enqueuedAt: 1_700_000_000_000, enqueuedRevision: i, dependencies: [], retries: 0, extras: {} })

const inMemory = (): undefined => undefined
const inStore = (): CountingRowStore => countingRowStore(1)
/** It takes two of three, and names two of three. */
const partlyInStore = (): CountingRowStore => {
  let asked = 0
  const store = countingRowStore(2, () => asked++ % 3 > 0)
  store.names = () => asked++ % 3 > 0
  return store
}
/** No later process finds what is there. */
const inNamelessStore = (): CountingRowStore => {
  const store = countingRowStore(1)
  store.names = () => false
  return store
}

test.each([
  ['in memory', inMemory],
  ['in a store', inStore],
  ['in a store without names', inNamelessStore],
  ['in a store that is full now and then', partlyInStore],
])('finished tasks, old ones %s, are found, listed, removed and put back as if they were records', (_, newStore) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25, size: 'max' }), fc.integer(), (steps, seed) => {
      const both = new Both(seed, newStore())
      let made = 0
      for (const each of steps) {
        if (each.do === 'finish') for (const task of each.tasks) both.finish(task, each.isKeyed)
        else if (each.do === 'finish many') for (let i = 0; i < each.count; i++) both.finish(many(made++), true)
        else if (each.do === 'first leaves') for (let i = 0; i < each.count; i++) both.leave(0)
        else if (each.do === 'any leaves') both.leave(each.pick % Math.max(1, both.plain.length))
        else if (each.do === 'rewrite') both.rewrite(each.pick % Math.max(1, both.plain.length), each.ticketId)
        else if (each.do === 'begin a walk') both.beginWalk(each.asRecords)
        else if (each.do === 'walk on') for (const walk of both.walks) walk.on(each.steps)
        else if (each.do === 'mark') both.mark()
        else both.rollBack()
        expect(both.finished.first()).toEqual(both.plain[0]?.task)
      }
      both.check()
      both.rollBack()
      both.check()
      for (const walk of both.walks) walk.check()
    }),
    runs(100),
  )
})

test.each([
  ['in memory', inMemory],
  ['in a store', inStore],
])('INV-15: a walk shows rows, old ones %s, as they were at its beginning: without those that had left, with those that leave, and before they are written again', (_, newStore) => {
  const both = new Both(3, newStore())
  for (let i = 0; i < 2_500; i++) both.finish(many(i), true)
  // Their bytes have offsets of more than 16 bits.
  for (let i = 2_500; i < 3_100; i++) both.finish({ ...many(i), extras: { lastError: 'no '.repeat(70) } }, true)
  both.leave(700)
  both.rewrite(1_200, 'before the walk')
  for (const asRecords of [true, false]) both.beginWalk(asRecords)
  both.rewrite(1_200, 'since')
  both.leave(1_300)
  for (let i = 0; i < 10; i++) both.leave(0)
  both.finish(many(3_100), true)
  for (const walk of both.walks.splice(0)) walk.check()
  // In a chunk from which nothing was removed.
  both.rewrite(1_900, 'before the second walk')
  both.beginWalk(false)
  for (const walk of both.walks) walk.check()
  both.check()
})

test('INV-22: after a start, rows that leave take no memory, also where some had left before', () => {
  const both = new Both(4)
  for (let i = 0; i < 2_500; i++) both.finish(many(i), true)
  for (let i = 0; i < 100; i++) both.leave(0)
  both.beginWalk(false)
  const [walk] = both.walks
  walk?.on(Number.POSITIVE_INFINITY)
  const loaded = walk?.loaded() as FinishedTasks
  const before = loaded.bytes
  for (let task = loaded.first(); task !== undefined; task = loaded.first()) loaded.remove(task)
  expect(loaded.size).toBe(0)
  // One chunk of five.
  expect(loaded.bytes).toBeLessThan(before / 4)
})

test('INV-22: rows that have left take no memory, whatever was finished meanwhile', () => {
  const both = new Both(1)
  for (let i = 0; i < 20_000; i++) {
    both.finished.push(newTaskRecord({ ...many(i), number: i + 1, missing: 0, delayedUntil: 0, finishedAt: i }), true)
    if (i >= 1_000) both.finished.remove(both.finished.first() as TaskRecord)
  }
  expect(both.finished.size).toBe(1_000)
  expect(both.finished.bytes).toBeLessThan(400_000)
})

test('INV-15: rows in a store that a rollback takes away are written anew', () => {
  const store = countingRowStore(1)
  const both = new Both(5, store)
  for (let i = 0; i < 700; i++) both.finish(many(i), true)
  both.mark()
  for (let i = 700; i < 3_000; i++) both.finish(many(i), true)
  for (let i = 0; i < 600; i++) both.leave(0)
  expect(store.taken).toBe(5)
  both.rollBack()
  both.check()
  // More tasks than before: the chunks that were taken back are given to the store again.
  for (let i = 3_000; i < 6_000; i++) both.finish({ ...many(i), priority: 6 }, true)
  expect(store.taken).toBeGreaterThan(5 + 4)
  both.check()
})

test('INV-22: what a store did not take stays in memory, and is given to it later', () => {
  const store = countingRowStore(3)
  const both = new Both(6, store)
  store.takes = () => false
  for (let i = 0; i < 8 * 512; i++) both.finish(many(i), true)
  expect([store.taken, store.refused]).toEqual([0, 5])
  const most = both.finished.bytes
  both.check()
  store.takes = () => true
  both.finish(many(8 * 512), true)
  // Four at a time, so that nobody waits long.
  expect(store.taken).toBe(4)
  for (let i = 8 * 512 + 1; i < 10 * 512; i++) both.finish(many(i), true)
  // None of the newest three.
  expect(store.taken).toBe(7)
  expect(both.finished.bytes).toBeLessThan(most)
  both.check()
})

test('a snapshot names chunks that a store has, and reads none; nor does a start from it, of CRITICAL tasks or those with a deadline either', () => {
  const store = countingRowStore(1)
  const both = new Both(8, store)
  for (let i = 0; i < 6 * 512; i++) both.finish(i % 3 === 0 ? { ...many(i), priority: 10, extras: { readySince: 1_700_000_000_000 } } : i % 3 === 1 ? { ...many(i), dependencies: ['task-0'], extras: { deadlineAt: 1_700_000_000_000, lastError: 'late' } } : many(i), true)
  for (let i = 0; i < 700; i++) both.leave(0)
  both.leave(900)
  both.beginWalk(false)
  const [walk] = both.walks
  walk?.on(Number.POSITIVE_INFINITY)
  const before = store.read
  expect([walk?.loaded().size, store.read - before]).toEqual([6 * 512 - 701, 0])
})

test('a start gives chunks to a store whose first, middle and last rows had left', () => {
  for (const gone of [0, 1, 300, 511, 512, 1_023]) {
    const store = inNamelessStore()
    const both = new Both(8, store)
    for (let i = 0; i < 3 * 512; i++) both.finish(many(i), true)
    both.leave(gone)
    both.beginWalk(false)
    const taken = store.taken
    for (const walk of both.walks) walk.check()
    // All but the newest, which has the task that finishes after the start.
    expect(store.taken - taken).toBe(3)
  }
})

test('a start reads the rows of tasks with a ticket, of a chain or with a callback key, whatever else the rows have', () => {
  for (const extras of [{ ticketId: 'ticket' }, { rootTaskId: 'root' }, { parking: { key: 'key' } }]) {
    for (const others of [{}, { retries: 2, maxRetries: 9, dependencies: ['a', 'b'] }]) {
      const store = countingRowStore(1)
      const both = new Both(8, store)
      for (let i = 0; i < 3 * 512; i++) both.finish(i === 7 ? { ...many(i), ...others, extras: { deadlineAt: 1, ...extras } as TaskRecord['extras'] } : many(i), true)
      both.beginWalk(false)
      const [walk] = both.walks
      walk?.on(Number.POSITIVE_INFINITY)
      const before = store.read
      walk?.loaded()
      expect(store.read - before).toBe(1)
    }
  }
})

test('a read of one chunk answers for all of its rows, and a snapshot without places reads each once', () => {
  const store = inNamelessStore()
  const both = new Both(7, store)
  for (let i = 0; i < 6 * 512; i++) both.finish(many(i), true)
  for (let i = 0; i < 512; i++) expect(both.finished.byId.get(`task-${i}`)?.number).toBe(i + 1)
  expect(store.read).toBe(1)
  both.beginWalk(false)
  for (const walk of both.walks) walk.on(Number.POSITIVE_INFINITY)
  expect(store.read).toBe(1 + 5)
  for (let i = 0; i < 512; i++) both.leave(0)
  expect(store.read).toBe(1 + 5)
})

/** Pairs of texts with the same hash. */
const alike = (count: number, seed: number): ReadonlyArray<readonly [string, string]> => {
  const pairs: Array<readonly [string, string]> = []
  const byHash = new Map<number, string>()
  for (let i = 0; pairs.length < count; i++) {
    const text = `text ${i}`
    const hash = hashOfText(text, seed)
    const other = byHash.get(hash)
    if (other === undefined) byHash.set(hash, text)
    else pairs.push([other, text])
  }
  return pairs
}

test.each(['id', 'key'] as const)('few chunks are read for a text that only has the hash of another, by %s', (field) => {
  const pairs = alike(48, 9)
  const finish = (store: CountingRowStore): FinishedTasks => {
    const finished = new FinishedTasks(9, store)
    // Each pair in a chunk of its own, because a chunk that was read answers for all of its rows.
    for (let i = 0; i < (pairs.length + 2) * 512; i++) {
      const named = i % 512 === 100 && pairs[Math.floor(i / 512)] !== undefined ? { [field]: pairs[Math.floor(i / 512)]?.[0] } : {}
      finished.push(newTaskRecord({ ...many(i), ...named, number: i + 1, missing: 0, delayedUntil: 0, finishedAt: i }), true)
    }
    return finished
  }
  const started = (store: CountingRowStore): FinishedTasks => {
    const loaded = new FinishedTasks(9, store)
    for (const kept of store.kept) loaded.loadKept(kept, { absent: [], rewritten: [] }, { groupOf: () => groups[0], agentOf: () => undefined }, () => undefined)
    return loaded
  }
  const store = countingRowStore(1)
  const looks = (finished: FinishedTasks): readonly [missed: number, read: number] => {
    const has = (text: string): boolean => (field === 'id' ? finished.byId.has(text) : finished.byKey.has(text))
    const before = store.read
    const missed = pairs.filter(([, other]) => has(other)).length
    const read = store.read - before
    for (const [text] of pairs) expect(has(text)).toBe(true)
    return [missed, read]
  }
  const now = finish(store)
  for (const finished of [now, started(store)]) {
    const [missed, read] = looks(finished)
    expect(missed).toBe(0)
    expect(read).toBeLessThan(pairs.length / 4)
  }
})

test('a start counts the names of groups and agents that only chunks in a store have', () => {
  const store = countingRowStore(1)
  const finished = new FinishedTasks(4, store)
  const taken = 3 * 512
  for (let i = 0; i < taken + 512; i++) {
    const lease = { agent: `agent ${Math.floor(i / 512)}`, token: i, claimedAt: i, expiresAt: i + 60_000, durationMs: 60_000, epoch: 0, probe: false, end: null }
    finished.push({ ...newTaskRecord({ ...many(i), group: groups[Math.floor(i / 512) % 3] as Group, number: i + 1, missing: 0, delayedUntil: 0, finishedAt: i }), attempts: 1, lease }, true)
  }
  const loaded = new FinishedTasks(4, store)
  const names = { groupOf: (index: number) => groups[index], agentOf: (index: number) => `agent ${index}` }
  for (const kept of store.kept.slice(0, 3)) loaded.loadKept(kept, { absent: [], rewritten: [] }, names, () => undefined)
  expect(loaded.names).toBe(6)
  expect([...loaded]).toEqual([...finished].slice(0, taken))
})

test('a row index finds all of many keys with the same hash, and only them', () => {
  const keys: Array<string> = []
  const index = new RowIndex((row) => keys[row] as string, () => 7)
  for (let i = 0; i < 300; i++) index.add(7, keys.push(`k${i}`) - 1)
  const isGone = (i: number): boolean => i < 100 || i % 2 === 0
  for (let i = 0; i < 300; i++) if (isGone(i)) expect([index.remove(7, i), index.remove(7, i)]).toEqual([true, false])
  expect(index.size).toBe(100)
  for (let i = 0; i < 300; i++) expect(index.get(`k${i}`)).toBe(isGone(i) ? undefined : i)
})
