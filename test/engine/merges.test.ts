/** A series of increments is merged into a whole snapshot on another thread (INV-15). */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSnapshotFolder } from '@daybook/adapters/files'
import type { SnapshotStore } from '@daybook/adapters/store'
import { foldVersion } from '@daybook/core'
import { expect, test } from 'vitest'
import { memorySnapshots } from '../support/memory-snapshots.js'
import { caller, enqueue, foldAll, logOf, openQueue, stateText, stream, task, textOf } from '../support/queue.js'
import { openCopy, startsAsFromZero, upTo } from '../support/starts.js'

/** Changes a few of 1,000 tasks that wait, again and again, with a snapshot for about every 50 events, until this holds. */
const changeUntil = async (engine: Awaited<ReturnType<typeof openQueue>>['engine'], holds: () => boolean | Promise<boolean>): Promise<void> => {
  const first = engine.status().revision
  let [added, cancelled] = [0, 0]
  const another = () => enqueue(task(`waits ${first} ${added++}`, { availableAt: Date.now() + 1e8 }))
  await engine.submitAll(Array.from({ length: 1_000 }, another), caller)
  const isDue = (): boolean => engine.status().revision - engine.status().snapshotRevision >= 50
  while (!(await holds())) {
    if (added > 20_000) throw new Error('it did not come to pass')
    await engine.submitAll(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? another() : { type: 'Cancel' as const, task: `waits ${first} ${cancelled++}`, reason: 'no' })), caller)
    // A slow machine takes fewer snapshots of the same changes.
    for (let waited = 0; waited < 4 && isDue(); waited++) await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('INV-15: a series of increments is merged into a whole snapshot, on which the next ones are based', async () => {
  const snapshots = memorySnapshots()
  const merged: Array<number> = []
  const merge: SnapshotStore['merge'] = async (header, signal) => {
    await snapshots.merge(header, signal)
    merged.push(header.revision)
  }
  const { engine, store, warnings } = await openQueue({ snapshots: { ...snapshots, merge }, snapshotEvery: 50 })
  await changeUntil(engine, () => merged.length > 1 && snapshots.kept.at(-1)!.header.revision > merged[1]!)
  await engine.close()
  expect(warnings).toEqual([])
  const wholes = snapshots.kept.filter(({ header }) => header.base === undefined).map(({ header }) => header.revision)
  expect(wholes).toEqual([snapshots.kept[0]!.header.revision, ...merged])
  // A new series has to grow before it is merged.
  expect(snapshots.kept.filter(({ header }) => header.revision > merged[0]! && header.revision < merged[1]!).length).toBeGreaterThan(1)
  const log = await logOf(store)
  for (const kept of snapshots.kept) await startsAsFromZero(openCopy(log), { ...memorySnapshots(), list: upTo(kept, snapshots) })
})

test('INV-15: if a series cannot be merged, the next snapshot is whole', async () => {
  const snapshots = memorySnapshots()
  snapshots.failing = 'merge'
  const { engine, warnings } = await openQueue({ snapshots, snapshotEvery: 50 })
  const wholes = (): ReadonlyArray<number> => snapshots.kept.filter(({ header }) => header.base === undefined).map(({ header }) => header.revision)
  await changeUntil(engine, () => {
    if (snapshots.kept.length > 60) throw new Error('none of the next snapshots is whole')
    return wholes().length > 1
  })
  await engine.close()
  const last = snapshots.kept.findLast(({ header }) => header.revision < wholes()[1]!)!.header
  expect(warnings[0]).toBe(`queue q: the snapshot at revision ${last.revision} stays an increment, and the next one will be whole: no merge now`)
})

test('INV-15: also if an increment is being written when a merge fails, the next snapshot is whole', async () => {
  const snapshots = memorySnapshots()
  let begun = 0
  let failMerge: ((error: Error) => void) | undefined
  const parts: Pick<SnapshotStore, 'create' | 'merge'> = {
    create: (header) => {
      begun++
      return snapshots.create(header)
    },
    merge: () => new Promise((_, reject) => (failMerge = reject)),
  }
  const { engine } = await openQueue({ snapshots: { ...snapshots, ...parts }, snapshotEvery: 50 })
  await changeUntil(engine, () => failMerge !== undefined)
  let goOn = (): void => undefined
  snapshots.held = new Promise((resolve) => (goOn = resolve))
  await changeUntil(engine, () => begun > snapshots.kept.length)
  const written = begun
  failMerge?.(new Error('a file is damaged'))
  await new Promise((resolve) => setTimeout(resolve, 1))
  goOn()
  await changeUntil(engine, () => snapshots.kept.length > written)
  await engine.close()
  expect([written - 1, written].map((index) => snapshots.kept[index]!.header.base === undefined)).toEqual([false, true])
})

test('where the disk has no room for a merge, increments go on, and the next merge is tried with one of them', async () => {
  const snapshots = memorySnapshots()
  let merges = 0
  const merge: SnapshotStore['merge'] = async () => {
    merges++
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  const { engine, warnings } = await openQueue({ snapshots: { ...snapshots, merge }, snapshotEvery: 50 })
  await changeUntil(engine, () => merges > 2)
  await engine.close()
  expect(warnings[0]).toMatch(/^queue q: the snapshot at revision \d+ stays an increment: no space left on device$/)
  expect(snapshots.kept.filter(({ header }) => header.base === undefined)).toHaveLength(1)
})

test('a queue that is closed does not wait for a merge, and no other begins', async () => {
  const snapshots = memorySnapshots()
  let begun = 0
  const merge: SnapshotStore['merge'] = (_, signal) => {
    begun++
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  }
  const { engine, warnings } = await openQueue({ snapshots: { ...snapshots, merge }, snapshotEvery: 50 })
  await changeUntil(engine, () => begun > 0)
  await changeUntil(engine, () => snapshots.kept.length > 30)
  await engine.close()
  expect([begun, warnings]).toEqual([1, []])
  expect(snapshots.kept.at(-1)!.header.revision).toBe(engine.status().revision)
})

test('INV-15: with files: a series is merged in place; of a damaged one nothing is changed', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'daybook-snapshots-'))
  const snapshots = await openSnapshotFolder(dir)
  const { engine, store } = await openQueue({ snapshots, snapshotEvery: 50 })
  const listed = async () => (await snapshots.list(stream, foldVersion, Number.MAX_SAFE_INTEGER)).usable
  // The last one is an increment to one that was merged.
  await changeUntil(engine, async () => {
    const usable = await listed()
    return usable.filter(({ base }) => base === undefined).length > 1 && usable[0]?.base !== undefined && usable[0].base.base === undefined
  })
  await engine.close()
  const log = await logOf(store)
  for (const { header } of await listed()) await startsAsFromZero(openCopy(log), { ...snapshots, list: (of, fold) => snapshots.list(of, fold, header.revision) })
  const [newest] = await listed()
  const base = join(dir, `${stream}.${newest!.base!.header.revision}.snapshot`)
  const bytes = await readFile(base)
  const spoilt = Buffer.from(bytes)
  spoilt[Math.floor(spoilt.length / 2)]! ^= 1
  const stopping = new AbortController()
  const merging = snapshots.merge(newest!.header, stopping.signal)
  stopping.abort()
  await expect(merging).rejects.toThrow('This operation was aborted')
  await writeFile(base, spoilt)
  await expect(snapshots.merge(newest!.header, new AbortController().signal)).rejects.toThrow()
  expect((await listed())[0]?.header).toEqual(newest!.header)
  expect((await readdir(dir)).filter((name) => name.includes('unfinished'))).toEqual([])
  await writeFile(base, bytes)

  // A reader that has listed an increment, which is merged before its pages are read, lists again.
  let isListed = false
  const { engine: late, warnings } = await openQueue({ store: openCopy(log), snapshots: { ...snapshots, list: async (...asked) => {
    const found = await snapshots.list(...asked)
    if (!isListed) await snapshots.merge(newest!.header, new AbortController().signal)
    isListed = true
    return found
  } } })
  expect([late.status().snapshotRevision, warnings]).toEqual([newest!.header.revision, []])
  expect(await stateText(late)).toBe(textOf(foldAll(log)))
  await rm(dir, { recursive: true })
})
