/** Snapshots are caches of the fold, taken while the queue works. The log is the truth (EV-01, INV-15). */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSnapshotFolder } from '@daybook/adapters/files'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { SnapshotStore } from '@daybook/adapters/store'
import { foldVersion, snapshotPages } from '@daybook/core'
import { expect, test } from 'vitest'
import { memorySnapshots, type MemorySnapshots } from '../support/memory-snapshots.js'
import { below, randomOf } from '../support/random.js'
import { claim, codeOf, complete, caller, enqueue, fail, foldAll, heartbeat, logOf, ok, openQueue, settle, stateText, task, textOf, until } from '../support/queue.js'
import { openCopy, startsAsFromZero, upTo } from '../support/starts.js'

/** Work of all kinds, so that most tasks change while a snapshot is being taken. */
const work = async (engine: Awaited<ReturnType<typeof openQueue>>['engine'], seed: number, rounds = 100): Promise<void> => {
  const random = randomOf(seed)
  for (let round = 0; round < rounds; round++) {
    const id = `${seed}-${round}`
    await engine.submitAll([enqueue(task(id, { backoffSeconds: 0 })), enqueue(task(`${id}b`, { dependencies: [id], type: `type ${round % 5}` }))], caller)
    const [held] = ok(await engine.claim(claim(), caller))
    if (held === undefined) continue
    if (random() < 0.6) await engine.submit(complete(held), caller)
    else if (random() < 0.5) await engine.submit(fail(held), caller)
    else await engine.submit({ type: 'Cancel', task: `${seed}-${below(random, round + 1)}`, reason: 'no' }, caller)
  }
}

test('snapshots are taken at intervals under load, and not more often', async () => {
  const snapshots = memorySnapshots()
  const { engine, store, warnings } = await openQueue({ snapshots, snapshotEvery: 100 })
  await work(engine, 1, 200)
  const { revision, snapshotRevision } = engine.status()
  expect(snapshots.kept.length).toBeGreaterThan(4)
  expect(snapshots.kept.length).toBeLessThanOrEqual(revision / 100)
  expect(snapshotRevision).toBe(snapshots.kept.at(-1)!.header.revision)
  expect(warnings).toEqual([])
  await startsAsFromZero(store, snapshots)
})

test('without an interval, a snapshot is taken when it pays', async () => {
  const snapshots = memorySnapshots()
  const { engine } = await openQueue({ snapshots })
  await engine.submit(enqueue('a'), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  const beat = async (times: number): Promise<unknown> => engine.submitAll(Array.from({ length: times }, () => heartbeat(held!)), caller)
  for (let i = 0; i < 4; i++) await beat(10_000)
  expect(engine.status().revision).toBeGreaterThan(40_000)
  expect(snapshots.kept).toEqual([])
  await beat(10_000)
  await beat(1)
  await until(() => snapshots.kept.length === 1)
})

test('EV-01, INV-15: each snapshot plus the rest of the log equals the fold from zero, although it was taken slowly', async () => {
  for (const seed of [1, 2, 3]) {
    const snapshots = memorySnapshots()
    snapshots.pageMs = 3
    const store = openMemoryStore()
    const { engine } = await openQueue({ store, snapshots, snapshotEvery: 60 })
    // Few of all tasks change between two snapshots of the work, so these are increments.
    await engine.submit(enqueue(...Array.from({ length: 800 }, (_, i) => task(`untouched ${i}`, { availableAt: Date.now() + 1e8 }))), caller)
    for (let more = seed; !hasIncrement(snapshots); more += 10) await work(engine, more)
    for (const kept of snapshots.kept) await startsAsFromZero(store, { ...memorySnapshots(), list: upTo(kept, snapshots) })
    await engine.close()
    await startsAsFromZero(openCopy(await logOf(store)), snapshots)
  }
})

const hasIncrement = ({ kept }: MemorySnapshots): boolean => kept.some(({ header }) => header.base !== undefined)

test('INV-15: with refused, conflicting and unknown appends, no snapshot contains what is not in the log', async () => {
  for (const seed of [1, 2, 3, 4]) {
    const random = randomOf(seed)
    const inner = openMemoryStore({ isShared: true })
    const snapshots = memorySnapshots()
    snapshots.pageMs = 1
    const { engine, store } = await openQueue({ store: inner, snapshots, snapshotEvery: 20 })
    const { engine: other } = await openQueue({ store: inner })
    for (let i = 0; i < 30; i++) {
      const fault = below(random, 5)
      if (fault === 0) store.script.push({ kind: 'unavailable' })
      if (fault === 1) store.script.push({ kind: 'after', run: () => other.submit(enqueue(`other ${i}`), caller) })
      if (fault === 2) store.script.push({ kind: 'unknown, lost' })
      await Promise.all([
        engine.submitAll(Array.from({ length: 5 }, (_, n) => enqueue(task(`${i}-${n}`, { type: `type ${below(random, 9)}` }))), caller),
        engine.claim(claim('ann', 3), caller).then(async (held) => {
          if (held._tag === 'Right') await engine.submitAll(held.right.value.map((each) => complete(each)), caller)
        }),
      ])
    }
    await until(() => snapshots.kept.length > 2)
    for (const kept of snapshots.kept) await startsAsFromZero(inner, { ...memorySnapshots(), list: upTo(kept, snapshots) })
  }
})

test('INV-15: a snapshot that is due while an append is in flight waits for it, and ends with an event of the log even if the append fails', async () => {
  const inner = openMemoryStore()
  const snapshots = memorySnapshots()
  const { engine, store } = await openQueue({ store: inner, snapshots, snapshotEvery: 3 })
  const { engine: other } = await openQueue({ store: inner })
  const comesBetween = async (): Promise<void> => {
    // Wait until the first append is in the log and the snapshot is due.
    await engine.reached(2, 20_000)
    await settle()
    await other.submit(enqueue('foreign'), caller)
  }
  store.script.push({ kind: 'none' }, { kind: 'after', run: comesBetween })
  const release = store.hold()
  const outcomes = [engine.submit(enqueue('a', 'b', 'c'), caller)]
  await settle()
  outcomes.push(engine.submit(enqueue('d'), caller))
  await settle()
  expect(store.open().now).toBe(2)
  release()
  expect((await Promise.all(outcomes)).map(codeOf)).toEqual(['success', 'success'])
  await until(() => snapshots.kept.length > 0)
  const log = await logOf(inner)
  expect(log).toHaveLength(5)
  for (const { header } of snapshots.kept) expect(header.eventId).toBe(log[header.revision]?.id)
  await startsAsFromZero(inner, snapshots)
})

test('teeth: a snapshot that contains more or less than the log is caught', async () => {
  const snapshots = memorySnapshots()
  const { engine, store } = await openQueue({ snapshots, snapshotEvery: 50 })
  await work(engine, 1, 60)
  await engine.close()
  const [head, ...pages] = snapshots.kept.at(-1)!.pages
  const damaged = pages.map((page) => (page.bytes === undefined ? page : { ...page, bytes: new Uint8Array(Buffer.from(Buffer.from(page.bytes).toString('latin1').replaceAll('no luck', 'my luck'), 'latin1')) }))
  snapshots.kept.at(-1)!.pages = [head!, ...damaged]
  await expect(startsAsFromZero(store, snapshots)).rejects.toThrow('INV-15')
})

test('a snapshot that cannot be written causes a warning; the next one is tried when it is due', async () => {
  for (const failing of ['create', 'page', 'commit'] as const) {
    const snapshots = memorySnapshots()
    snapshots.failing = failing
    const { engine, warnings } = await openQueue({ snapshots, snapshotEvery: 100 })
    await work(engine, 1, 60)
    await until(() => warnings.length > 0)
    expect(warnings.join()).toContain(`no ${failing} now`)
    expect(warnings.length).toBeLessThanOrEqual(2)
    expect(engine.status().snapshotRevision).toBe(-1)
    snapshots.failing = undefined
    await work(engine, 2, 60)
    await until(() => snapshots.kept.length > 0)
    await engine.close()
    expect(snapshots.kept.at(-1)!.header.revision).toBe(engine.status().revision)
  }
})

test('INV-15: after one that could not be written, the next snapshot is whole; a server goes on with increments to the snapshot from which it started', async () => {
  const snapshots = memorySnapshots()
  const inner = openMemoryStore()
  const isWhole = (index: number): boolean => snapshots.kept.at(index)!.header.base === undefined
  const { engine, store, warnings } = await openQueue({ store: inner, snapshots, snapshotEvery: 50 })
  await engine.submitAll(Array.from({ length: 400 }, (_, i) => enqueue(task(`first ${i}`))), caller)
  let added = 0
  const addUntil = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await engine.submitAll(Array.from({ length: 20 }, () => enqueue(task(`added ${added++}`))), caller)
  }
  await addUntil(() => hasIncrement(snapshots))
  snapshots.failing = 'commit'
  await addUntil(() => warnings.length > 0)
  snapshots.failing = undefined
  const before = snapshots.kept.length
  await addUntil(() => snapshots.kept.length > before)
  expect(isWhole(before)).toBe(true)
  await engine.close()
  const again = await openQueue({ store: openCopy(await logOf(store)), snapshots, snapshotEvery: 50 })
  await again.engine.submit(enqueue('last'), caller)
  await again.engine.close()
  expect(isWhole(-1)).toBe(false)
  await startsAsFromZero(openCopy(await logOf(again.store)), snapshots)
})

test('INV-15: a base that is damaged is read once, however many increments need it, and then an older snapshot is used', async () => {
  const snapshots = memorySnapshots()
  const inner = openMemoryStore()
  const { engine, store } = await openQueue({ store: inner, snapshots })
  await engine.submitAll(Array.from({ length: 100 }, (_, i) => enqueue(task(`old ${i}`))), caller)
  await engine.close()
  const [older] = snapshots.kept
  snapshots.kept.length = 0
  for (let i = 0; i < 4; i++) {
    const again = await openQueue({ store: inner, snapshots })
    await again.engine.submitAll(Array.from({ length: i === 0 ? 400 : 20 }, (_, each) => enqueue(task(`new ${i} ${each}`))), caller)
    await again.engine.close()
  }
  expect(snapshots.kept.map(({ header }) => header.base === undefined)).toEqual([true, false, false, false])
  snapshots.kept.unshift(older!)
  let reads = 0
  const damaged: SnapshotStore = {
    ...snapshots,
    list: async (...asked) => {
      const listed = await snapshots.list(...asked)
      const base = listed.usable[3]!
      // The checksum comes last.
      const pages = base.pages
      Object.assign(base, {
        pages: async function* () {
          reads++
          yield* pages()
          throw new Error('does not match its checksum')
        },
      })
      return listed
    },
  }
  const { engine: last, warnings } = await openQueue({ store: openCopy(await logOf(store)), snapshots: damaged })
  expect(reads).toBe(1)
  const base = snapshots.kept[1]!.header.revision
  const based = expect.stringContaining(`it is based on the snapshot at revision ${base}, which cannot be read`) as string
  expect(warnings).toEqual([expect.stringContaining('checksum'), based, based, expect.stringContaining('it cannot be read')])
  expect(last.status().snapshotRevision).toBe(older!.header.revision)
  expect(await stateText(last)).toBe(textOf(foldAll(await logOf(store))))
})

test('a base of the same moment that another process has written since is still used, but not for the increments', async () => {
  const snapshots = memorySnapshots()
  const inner = openMemoryStore()
  for (let i = 0; i < 3; i++) {
    const { engine } = await openQueue({ store: inner, snapshots })
    await engine.submitAll(Array.from({ length: i === 0 ? 400 : 20 }, (_, each) => enqueue(task(`${i} ${each}`))), caller)
    await engine.close()
  }
  const log = await logOf(inner)
  const [base, ...increments] = snapshots.kept
  expect(increments.map(({ header }) => header.base !== undefined)).toEqual([true, true])
  const { revision } = base!.header
  // Its hashes have the seed 0.
  snapshots.kept[0] = { ...base!, pages: [...snapshotPages(foldAll(log.slice(0, revision + 1)))] }
  const { engine, warnings } = await openQueue({ store: openCopy(log), snapshots })
  expect(warnings).toEqual([expect.stringContaining('its base has hashes with another seed'), expect.stringContaining('its base has hashes with another seed')])
  expect(engine.status().snapshotRevision).toBe(revision)
  expect(await stateText(engine)).toBe(textOf(foldAll(log)))
})

test('a snapshot of another version, from the future, of another log, or that cannot be parsed is skipped with a warning', async () => {
  const snapshots = memorySnapshots()
  const inner = openMemoryStore()
  const { engine, store } = await openQueue({ store: inner, snapshots })
  await work(engine, 1, 30)
  await engine.close()
  const [good] = snapshots.kept
  const log = await logOf(store)
  const bad: ReadonlyArray<readonly [string, typeof good]> = [
    ['another version', { ...good!, header: { ...good!.header, foldVersion: foldVersion + 1 } }],
    ['beyond the log', { ...good!, header: { ...good!.header, revision: log.length + 5 } }],
    ['no JSON', { ...good!, pages: [{ kind: 'head', text: '{', rows: 0, numbers: new Float64Array(0) }, ...good!.pages] }],
    ['empty', { ...good!, pages: [] }],
    ['cut short', { ...good!, pages: good!.pages.map((page) => ({ ...page, text: page.text.slice(0, -9) })) }],
    ['short of numbers', { ...good!, pages: good!.pages.map((page) => ({ ...page, numbers: page.numbers.slice(1) })) }],
    ['misnamed', { ...good!, header: { ...good!.header, revision: good!.header.revision - 1, eventId: log.at(-2)!.id } }],
    ['another log', { ...good!, header: { ...good!.header, eventId: log.at(-2)!.id } }],
  ]
  for (const [what, snapshot] of bad) {
    const folder = memorySnapshots()
    folder.kept.push(good!, snapshot!)
    const copy = openCopy(log)
    const { engine: again, warnings } = await openQueue({ store: copy, snapshots: folder })
    expect(warnings.length, what).toBe(1)
    expect(again.status().snapshotRevision, what).toBe(good!.header.revision)
    expect(await stateText(again), what).toBe(textOf(foldAll(log)))
    folder.kept.shift()
    const zero = await openQueue({ store: copy, snapshots: folder })
    expect(zero.engine.status().snapshotRevision, what).toBe(-1)
    expect(await stateText(zero.engine), what).toBe(textOf(foldAll(log)))
  }
})

test('with files: damaged and incomplete snapshots are skipped, and the older one is used', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'daybook-snapshots-'))
  const store = openMemoryStore()
  const { engine } = await openQueue({ store, snapshots: await openSnapshotFolder(dir), snapshotEvery: 50 })
  for (let seed = 1; !(await readdir(dir)).some((name) => name.endsWith('.snapshot')); seed++) await work(engine, seed, 30)
  await work(engine, 99, 5)
  await engine.close()
  const [newest] = (await readdir(dir)).sort((a, b) => Number(/\.(\d+)\./.exec(b)![1]) - Number(/\.(\d+)\./.exec(a)![1]))
  const bytes = await readFile(join(dir, newest!))
  bytes[Math.floor(bytes.length / 2)]! ^= 1
  await writeFile(join(dir, newest!), bytes)
  await writeFile(join(dir, `${newest}.unfinished-1-1`), 'half')
  const copy = openCopy(await logOf(store))
  const { engine: again, warnings } = await openQueue({ store: copy, snapshots: await openSnapshotFolder(dir) })
  expect(warnings).toHaveLength(1)
  expect(again.status().snapshotRevision).toBeGreaterThan(0)
  expect(await stateText(again)).toBe(textOf(foldAll(await logOf(copy))))
  await rm(dir, { recursive: true })
})

test('commands are answered while a slow snapshot is being taken', async () => {
  const snapshots = memorySnapshots()
  const { engine } = await openQueue({ snapshots, snapshotEvery: 500 })
  let goOn = (): void => undefined
  snapshots.held = new Promise((resolve) => (goOn = resolve))
  await engine.submit(enqueue(...Array.from({ length: 3_000 }, (_, i) => `t${i}`)), caller)
  await engine.submit(enqueue('next'), caller)
  expect(snapshots.kept).toHaveLength(0)
  for (let i = 0; i < 20; i++) expect(codeOf(await engine.submit(enqueue(`u${i}`), caller))).toBe('success')
  expect(snapshots.kept).toHaveLength(0)
  goOn()
  await until(() => snapshots.kept.length === 1)
})

test('a snapshot ends although a command waits for the store all the while', async () => {
  const snapshots = memorySnapshots()
  const { engine, store } = await openQueue({ snapshots, snapshotEvery: 500 })
  let goOn = (): void => undefined
  snapshots.held = new Promise((resolve) => (goOn = resolve))
  await engine.submit(enqueue(...Array.from({ length: 6_000 }, (_, i) => `t${i}`)), caller)
  await engine.submit(enqueue('next'), caller)
  const release = store.hold()
  const outcome = engine.submit(enqueue('waits'), caller)
  await until(() => store.open().now === 1)
  expect(snapshots.kept).toHaveLength(0)
  goOn()
  await until(() => snapshots.kept.length === 1)
  expect(store.open().now).toBe(1)
  release()
  expect(codeOf(await outcome)).toBe('success')
})
