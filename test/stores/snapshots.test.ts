import { appendFileSync, readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSnapshotFolder } from '@daybook/adapters/files'
import type { LoadedSnapshot, SnapshotStore } from '@daybook/adapters/store'
import { testFolder } from './store-files.js'

const root = testFolder('snapshots')
let serial = 0
const newFolder = (): string => join(root, `${serial++}`)

const write = async (store: SnapshotStore, revision: number, lines: ReadonlyArray<string>, stream = 's', foldVersion = 1) => {
  const writer = await store.create({ stream, revision, eventId: 'e', foldVersion })
  for (const line of lines) await writer.line(line)
  await writer.commit()
}

const linesOf = async (snapshot: LoadedSnapshot | undefined): Promise<Array<string>> => {
  const found: Array<string> = []
  for await (const page of snapshot?.lines() ?? []) found.push(...page)
  return found
}

const numberedLines = (count: number): Array<string> => Array.from({ length: count }, (_, n) => JSON.stringify({ n, text: 'é😀' }))

describe('snapshots in a folder', () => {
  test('what was written is read, newest first, as often as wanted', async () => {
    const store = await openSnapshotFolder(newFolder())
    const lines = numberedLines(50_000)
    await write(store, 5, ['old'])
    await write(store, 9, lines)
    const { usable, skipped } = await store.list('s', 1, 9)
    expect(usable.map(({ header }) => header)).toEqual([
      { stream: 's', revision: 9, eventId: 'e', foldVersion: 1 },
      { stream: 's', revision: 5, eventId: 'e', foldVersion: 1 },
    ])
    expect(skipped).toEqual([])
    expect(await linesOf(usable[0])).toEqual(lines)
    expect(await linesOf(usable[0])).toEqual(lines)
    expect(await linesOf(usable[1])).toEqual(['old'])
  })

  test('any lines come back as they were', async () => {
    const store = await openSnapshotFolder(newFolder())
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json({ stringUnit: 'grapheme' })), async (lines) => {
        await write(store, 1, lines)
        expect(await linesOf((await store.list('s', 1, 1)).usable[0])).toEqual(lines)
      }),
      { numRuns: 50 },
    )
  })

  test('lines longer than a page are whole', async () => {
    const store = await openSnapshotFolder(newFolder())
    const lines = ['short', JSON.stringify('é'.repeat(3_000_000)), '', JSON.stringify('x'.repeat(1_100_000)), 'end']
    await write(store, 1, lines)
    expect(await linesOf((await store.list('s', 1, 1)).usable[0])).toEqual(lines)
  })

  test('streams are kept apart, whatever their names', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    const names = ['s', 's.1', '../up', 'a/b', 'ä ö', 'x'.repeat(400), `${'x'.repeat(400)}y`, '.', '%2E', 'S*?']
    for (const [n, name] of names.entries()) await write(store, n, [name], name)
    for (const [n, name] of names.entries()) {
      const { usable } = await store.list(name, 1, 100)
      expect(usable.map(({ header }) => header.revision)).toEqual([n])
      expect(await linesOf(usable[0])).toEqual([name])
    }
    expect(readdirSync(dir).length).toBe(names.length)
  })

  test('only the newest are kept, of each stream by itself', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir, { keep: 2 })
    for (const revision of [9, 10, 11, 100]) {
      await write(store, revision, ['x'])
      await write(store, revision, ['y'], 't')
    }
    expect(readdirSync(dir).sort()).toEqual(['s.100.snapshot', 's.11.snapshot', 't.100.snapshot', 't.11.snapshot'])
  })

  test('one just written is kept also when there are later ones, of a log that was set back', async () => {
    const store = await openSnapshotFolder(newFolder(), { keep: 2 })
    for (const revision of [10, 20, 5]) await write(store, revision, ['x'])
    expect((await store.list('s', 1, 100)).usable.map(({ header }) => header.revision)).toEqual([20, 5])
  })

  test('an aborted one was never there, nor one that is not committed', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    const writer = await store.create({ stream: 's', revision: 1, eventId: 'e', foldVersion: 1 })
    await writer.line('x')
    expect(await store.list('s', 1, 9)).toEqual({ usable: [], skipped: [] })
    await writer.abort()
    expect(readdirSync(dir)).toEqual([])
    await expect(writer.commit()).rejects.toThrow(/already/)
  })

  test('a line with a line break is refused', async () => {
    const dir = newFolder()
    const writer = await (await openSnapshotFolder(dir)).create({ stream: 's', revision: 1, eventId: 'e', foldVersion: 1 })
    await expect(writer.line('a\nb')).rejects.toThrow(/line break/)
    expect(readdirSync(dir)).toEqual([])
  })

  test('what a crash left unfinished is removed when the folder is opened; what is being written is not', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    const writer = await store.create({ stream: 's', revision: 7, eventId: 'e', foldVersion: 1 })
    writeFileSync(join(dir, 's.3.snapshot.unfinished-999999999-0'), 'x')
    writeFileSync(join(dir, `s.4.snapshot.unfinished-${process.pid}-999`), 'x')
    writeFileSync(join(dir, 'notes.txt'), 'x')
    await openSnapshotFolder(dir)
    await writer.commit()
    expect(readdirSync(dir).sort()).toEqual(['notes.txt', 's.7.snapshot'])
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
    ['of another format version', /format version is 2/, (file) => replace(file, '"version":1', '"version":2')],
    ['of another stream', /of the stream t/, (file) => replace(file, '"stream":"s"', '"stream":"t"')],
    ['some other file', /header/, (file) => writeFileSync(file, 'hello\nworld\n'.repeat(50))],
  ]
  const replace = (file: string, from: string, to: string): void =>
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))

  test.each(cases)('%s', async (_, reason, change) => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    await write(store, 1, ['older'])
    await write(store, 2, numberedLines(1000))
    change(join(dir, 's.2.snapshot'))
    const { usable, skipped } = await store.list('s', 1, 9)
    expect(usable.map(({ header }) => header.revision)).toEqual([1])
    expect(skipped).toEqual([{ name: 's.2.snapshot', reason: expect.stringMatching(reason) }])
  })

  test('of another version of the fold, or beyond the log', async () => {
    const store = await openSnapshotFolder(newFolder(), { keep: 5 })
    await write(store, 1, ['x'], 's', 1)
    await write(store, 2, ['x'], 's', 2)
    await write(store, 30, ['x'], 's', 1)
    const { usable, skipped } = await store.list('s', 1, 20)
    expect(usable.map(({ header }) => header.revision)).toEqual([1])
    expect(skipped.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/beyond 20/),
      expect.stringMatching(/version 2 of the fold, not 1/),
    ])
  })

  test('one flipped bit, anywhere, is noticed before the last page is believed', async () => {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir, { keep: 1 })
    await write(store, 1, numberedLines(100))
    const file = join(dir, 's.1.snapshot')
    const bytes = readFileSync(file)
    for (let at = 0; at < bytes.length; at += 7) {
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 1 << at % 8
      writeFileSync(file, flipped)
      const { usable, skipped } = await store.list('s', 1, 9)
      if (skipped.length > 0) continue
      const read = linesOf(usable[0])
      // Behind the footer's JSON there are only blanks, which nothing depends on.
      if (at >= bytes.length - 70) await read.catch(() => undefined)
      else await expect(read, `byte ${at}`).rejects.toMatchObject({ code: 'damaged' })
    }
  })
})
