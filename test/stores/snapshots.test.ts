import { appendFileSync, readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSnapshotFolder } from '@daybook/adapters/files'
import type { LoadedSnapshot, SnapshotStore } from '@daybook/adapters/store'
import { pageKinds, type SnapshotPage } from '@daybook/core'
import { runChild, runProgram, scriptPath } from './child.js'
import { testFolder } from './store-files.js'

const root = testFolder('snapshots')
let serial = 0
const newFolder = (): string => join(root, `${serial++}`)

const write = async (store: SnapshotStore, revision: number, pages: ReadonlyArray<SnapshotPage>, stream = 's', foldVersion = 1) => {
  const writer = await store.create({ stream, revision, eventId: 'e', foldVersion })
  for (const page of pages) await writer.page(page)
  await writer.commit()
}

const pagesOf = async (snapshot: LoadedSnapshot | undefined): Promise<Array<SnapshotPage>> => {
  const found: Array<SnapshotPage> = []
  for await (const page of snapshot?.pages() ?? []) found.push(page)
  return found
}

const only = (text: string): SnapshotPage => ({ kind: 'head', text, rows: 0, numbers: new Float64Array(0) })
const pageOf = (text: string, ...columns: ReadonlyArray<ReadonlyArray<number>>): SnapshotPage => ({
  kind: 'tasks',
  text,
  rows: columns[0]?.length ?? 0,
  numbers: Float64Array.from(columns.flat()),
})
/** Replaces -0 by 0: it is not preserved, and JSON has none either. */
const unsigned = (value: number): number => value + 0
/** A page of rows of finished tasks. */
const rowsOf = (lengths: ReadonlyArray<number>, byte = 7): SnapshotPage => ({ ...pageOf('', lengths), kind: 'rows', bytes: new Uint8Array(lengths.reduce((sum, each) => sum + each, 0)).fill(byte) })
const numberedPages = (count: number): Array<SnapshotPage> =>
  Array.from({ length: count }, (_, n) => pageOf(JSON.stringify({ n, text: 'é😀' }), [n, n + 1, n + 300], [7, 7, 7], [0, 1e12, -1], [0.5, n, 1]))

describe('snapshots in a folder', () => {
  test('snapshots are read, newest first, as often as wanted', async () => {
    const store = await openSnapshotFolder(newFolder())
    const pages = numberedPages(20_000)
    await write(store, 5, [only('old')])
    await write(store, 9, pages)
    const { usable, skipped } = await store.list('s', 1, 9)
    expect(usable.map(({ header }) => header)).toEqual([
      { stream: 's', revision: 9, eventId: 'e', foldVersion: 1 },
      { stream: 's', revision: 5, eventId: 'e', foldVersion: 1 },
    ])
    expect(skipped).toEqual([])
    expect(await pagesOf(usable[0])).toEqual(pages)
    expect(await pagesOf(usable[0])).toEqual(pages)
    expect(await pagesOf(usable[1])).toEqual([only('old')])
  })

  test('any texts and numbers come back unchanged', async () => {
    const store = await openSnapshotFolder(newFolder())
    const number = fc.oneof(fc.nat(300), fc.nat(100_000), fc.maxSafeInteger(), fc.double(), fc.constantFrom(0, 2 ** 32, 1.7e12)).map(unsigned)
    const pages = fc.array(
      fc.tuple(fc.constantFrom(...pageKinds), fc.json({ stringUnit: 'grapheme' }), fc.nat(9), fc.nat(4)).chain(([kind, json, rows, columns]) =>
        fc.array(number, { minLength: rows * columns, maxLength: rows * columns }).map((numbers) => ({
          kind,
          // At least as much text as rows, like the tasks' ids and keys.
          text: json.padEnd(rows),
          rows,
          numbers: Float64Array.from(numbers),
          ...(columns === 2 ? { bytes: Uint8Array.from(numbers.map((each) => each % 256)) } : {}),
        })),
      ),
    )
    await fc.assert(
      fc.asyncProperty(pages, async (pages) => {
        await write(store, 1, pages)
        expect(await pagesOf((await store.list('s', 1, 1)).usable[0])).toEqual(pages)
      }),
      { numRuns: 200 },
    )
  })

  test('the width of a column is that of the differences between its values', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir, { keep: 20 })
    const sizeOf = async (revision: number, values: ReadonlyArray<number>): Promise<number> => {
      const page = pageOf('x'.repeat(1_024), values)
      await write(store, revision, [page])
      expect(await pagesOf((await store.list('s', 1, revision)).usable[0])).toEqual([page])
      return readFileSync(join(dir, `s.${revision}.snapshot`)).length
    }
    const rows = Array.from({ length: 1_024 }, (_, row) => row)
    const equal = await sizeOf(10, rows.map(() => 1.7e12))
    const bytesOf = async (revision: number, value: (row: number) => number): Promise<number> => ((await sizeOf(revision, rows.map(value))) - equal) / 1_024
    expect(await bytesOf(11, (row) => 1.7e12 + (row % 256))).toBe(1)
    expect(await bytesOf(12, (row) => 1.7e12 - (row === 1 ? 0 : 256))).toBe(2)
    expect(await bytesOf(13, (row) => row * 65 + 1)).toBe(4)
    expect(await bytesOf(14, (row) => (row === 0 ? 2 ** 32 : 0))).toBe(8)
    expect(await bytesOf(15, (row) => (row === 0 ? 0.5 : 0))).toBe(8)
  })

  test('pages longer than one read are complete', async () => {
    const store = await openSnapshotFolder(newFolder())
    const many = Array.from({ length: 300_000 }, (_, n) => n * n)
    const gone = Array.from({ length: 1_024 }, () => 0)
    const pages = [only('short'), only('é'.repeat(3_000_000)), only(''), rowsOf([3_000_000, 0, 5]), rowsOf(gone), rowsOf([]), pageOf('x'.repeat(1_100_000), many, many), only('end')]
    await write(store, 1, pages)
    // `toEqual` takes half a minute for so many numbers.
    expect(isDeepStrictEqual(await pagesOf((await store.list('s', 1, 1)).usable[0]), pages)).toBe(true)
  })

  test('streams are kept apart, whatever their names', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    const names = ['s', 's.1', '../up', 'a/b', 'ä ö', 'x'.repeat(400), `${'x'.repeat(400)}y`, '.', '%2E', 'S*?']
    for (const [n, name] of names.entries()) await write(store, n, [only(name)], name)
    for (const [n, name] of names.entries()) {
      const { usable } = await store.list(name, 1, 100)
      expect(usable.map(({ header }) => header.revision)).toEqual([n])
      expect(await pagesOf(usable[0])).toEqual([only(name)])
    }
    expect(readdirSync(dir).length).toBe(names.length)
  })

  test('without a ladder, only the newest are kept, per stream', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir, { keep: 2, ladder: { count: 0, bytes: 0 } })
    for (const revision of [9, 10, 11, 100]) {
      await write(store, revision, [only('x')])
      await write(store, revision, [only('y')], 't')
    }
    expect(readdirSync(dir).sort()).toEqual(['s.100.snapshot', 's.11.snapshot', 't.100.snapshot', 't.11.snapshot'])
  })

  test('of the older ones, those are kept that replays of the past begin with: no damaged ones, and none of another version', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir, { keep: 1, ladder: { count: 2, bytes: 2 ** 20 } })
    const revisions = async (): Promise<ReadonlyArray<number>> => (await store.list('s', 1, 1_000)).usable.map(({ header }) => header.revision)
    for (const revision of [10, 20, 30]) await write(store, revision, [only('x')])
    expect(await revisions()).toEqual([30, 20, 10])
    await write(store, 90, [only('x')])
    expect(await revisions()).toEqual([90, 30, 20])
    writeFileSync(join(dir, 's.30.snapshot'), 'damaged')
    await write(store, 100, [only('x')])
    expect(readdirSync(dir).sort()).toEqual(['s.100.snapshot', 's.20.snapshot', 's.90.snapshot'])
    const writer = await store.create({ stream: 's', revision: 110, eventId: 'e', foldVersion: 2 })
    await writer.page(only('x'))
    await writer.commit()
    expect(readdirSync(dir)).toEqual(['s.110.snapshot'])
  })

  test('a snapshot just written is kept even if there are later ones, from before the log was reset', async () => {
    const store = await openSnapshotFolder(newFolder(), { keep: 2 })
    for (const revision of [10, 20, 5]) await write(store, revision, [only('x')])
    expect((await store.list('s', 1, 100)).usable.map(({ header }) => header.revision)).toEqual([20, 5])
  })

  test('an aborted or uncommitted snapshot does not exist', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    const writer = await store.create({ stream: 's', revision: 1, eventId: 'e', foldVersion: 1 })
    await writer.page(only('x'))
    expect(await store.list('s', 1, 9)).toEqual({ usable: [], skipped: [] })
    await writer.abort()
    expect(readdirSync(dir)).toEqual([])
    await expect(writer.commit()).rejects.toThrow(/already/)
  })

  test.each([
    [60, 'at a later page', 54],
    [15, 'at the end', 15],
  ])('a snapshot of %i pages on a full disk is abandoned, %s, and no file is left of it', async (pages, _, then) => {
    const dir = newFolder()
    // Blocks of 512 or 1,024 bytes: not enough for eleven pages, which are written at once.
    const child = runProgram('sh', ['-c', 'ulimit -f 1000 && exec "$@"', 'sh', process.execPath, scriptPath('snapshot-on-a-full-disk'), JSON.stringify({ dir, pages })])
    expect(await child.ended).toBe(0)
    expect(JSON.parse(child.lines[0]!)).toEqual({ written: then, failed: 'EFBIG', left: [] })
  })

  test('older snapshots that cannot be opened for want of descriptors are kept', async () => {
    const dir = newFolder()
    const child = runProgram('sh', ['-c', 'ulimit -n 128 && exec "$@"', 'sh', process.execPath, scriptPath('prune-without-descriptors'), JSON.stringify({ dir, snapshots: 20 })])
    expect(await child.ended).toBe(0)
    expect((JSON.parse(child.lines[0]!) as ReadonlyArray<string>).length).toBe(20)
  })

  test('if the thread that writes snapshots ends, the snapshot or merge fails, no file is left of it, and the next one gets another thread', async () => {
    const dir = newFolder()
    const child = runChild('end-the-snapshot-thread', { dir })
    expect(await child.ended).toBe(0)
    expect(JSON.parse(child.lines[0]!)).toEqual({
      failed: [expect.stringMatching(/^the thread that writes snapshots has ended: /), expect.stringMatching(/is not being written$/), expect.stringMatching(/^the thread that writes snapshots has ended: /)],
      left: [],
      threads: 3,
      then: ['s.3.snapshot'],
      merged: ['s.3.snapshot', 's.4.snapshot'],
    })
  })

  test('files that a crash left unfinished are removed when the folder is opened; files being written are not', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    const writer = await store.create({ stream: 's', revision: 7, eventId: 'e', foldVersion: 1 })
    writeFileSync(join(dir, 's.3.snapshot.unfinished-999999999-0'), 'x')
    writeFileSync(join(dir, `s.4.snapshot.unfinished-${process.pid}-999`), 'x')
    const others = `s.5.snapshot.unfinished-${process.ppid}-0`
    writeFileSync(join(dir, others), 'of a process that is alive')
    writeFileSync(join(dir, 'notes.txt'), 'x')
    await openSnapshotFolder(dir)
    await writer.commit()
    expect(readdirSync(dir).sort()).toEqual(['notes.txt', others, 's.7.snapshot'])
  })
})

describe('a snapshot that cannot be used is skipped, with a reason', () => {
  const cases: ReadonlyArray<readonly [title: string, reason: RegExp, change: (file: string) => void]> = [
    ['empty', /header/, (file) => truncateSync(file, 0)],
    ['cut in the header', /header/, (file) => truncateSync(file, 20)],
    ['cut after the header', /not complete/, (file) => truncateSync(file, 120)],
    ['cut in the middle', /not complete/, (file) => truncateSync(file, 5_000)],
    ['cut by one byte', /not complete/, (file) => truncateSync(file, readFileSync(file).length - 1)],
    ['with something after its end', /not complete/, (file) => appendFileSync(file, 'x')],
    ['of another format version', /format version is 3/, (file) => replace(file, '"version":4', '"version":3')],
    ['of another stream', /of the stream t/, (file) => replace(file, '"stream":"s"', '"stream":"t"')],
    ['some other file', /header/, (file) => writeFileSync(file, 'hello\nworld\n'.repeat(50))],
  ]
  const replace = (file: string, from: string, to: string): void =>
    writeFileSync(file, Buffer.from(readFileSync(file, 'latin1').replace(from, to), 'latin1'))

  test.each(cases)('%s', async (_, reason, change) => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    await write(store, 1, [only('older')])
    await write(store, 2, numberedPages(200))
    change(join(dir, 's.2.snapshot'))
    const { usable, skipped } = await store.list('s', 1, 9)
    expect(usable.map(({ header }) => header.revision)).toEqual([1])
    expect(skipped).toEqual([{ name: 's.2.snapshot', reason: expect.stringMatching(reason) }])
  })

  test('of another version of the fold, or beyond the log', async () => {
    const store = await openSnapshotFolder(newFolder(), { keep: 5 })
    await write(store, 1, [only('x')], 's', 1)
    await write(store, 2, [only('x')], 's', 2)
    await write(store, 30, [only('x')], 's', 1)
    const { usable, skipped } = await store.list('s', 1, 20)
    expect(usable.map(({ header }) => header.revision)).toEqual([1])
    expect(skipped.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/beyond 20/),
      expect.stringMatching(/version 2 of the fold, not 1/),
    ])
  })

  test('one flipped bit, anywhere, is detected before the last page is used', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir, { keep: 1 })
    await write(store, 1, [...numberedPages(15), rowsOf(Array.from({ length: 50 }, (_, i) => i)), ...numberedPages(10)])
    const file = join(dir, 's.1.snapshot')
    const bytes = readFileSync(file)
    for (let at = 0; at < bytes.length; at += 7) {
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 1 << at % 8
      writeFileSync(file, flipped)
      const { usable, skipped } = await store.list('s', 1, 9)
      if (skipped.length > 0) continue
      const read = pagesOf(usable[0])
      // After the footer's JSON there are only blanks, which do not matter.
      if (at >= bytes.length - 70) await read.catch(() => undefined)
      else await expect(read, `byte ${at}`).rejects.toMatchObject({ code: 'damaged' })
    }
  })
})
