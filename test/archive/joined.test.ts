/** One log of segments and a store: nobody who reads can tell what was moved out. */
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { archiveBeside, joinedStore, streamFolder } from '@daybook/adapters/segments'
import { checkSqliteFile, openSqliteLog, openSqliteStore } from '@daybook/adapters/sqlite'
import type { LogReader, RecordedEvent } from '@daybook/adapters/store'
import fc from 'fast-check'
import { lastValueFrom, takeWhile, tap } from 'rxjs'
import { beforeAll, expect, test } from 'vitest'
import { testFolder } from '../stores/store-files.js'
import { archive, fileOf, openJoined, readAll, someAppends, stream, streams } from './support.js'

const root = testFolder('joined')
let folders = 0
const folder = (): string => {
  const path = join(root, String(folders++))
  mkdirSync(path)
  return path
}

const settings = { segmentEventsMax: 25, blockBytes: 1_500 }
const counts = Array.from({ length: 90 }, (_, i) => 1 + ((i * 7) % 6))
let whole = ''
beforeAll(async () => {
  whole = await fileOf(folder(), someAppends(counts))
})

/** A copy of a log that nothing was moved out of. */
const someFile = (): string => {
  const file = join(folder(), 'daybook.sqlite')
  copyFileSync(whole, file)
  return file
}

/** The events of both streams before anything was moved. */
const logs = async (file: string): Promise<ReadonlyArray<ReadonlyArray<RecordedEvent>>> => {
  const log = openJoined(file)
  try {
    return await Promise.all(streams.map((each) => readAll(log, each)))
  } finally {
    await log.close()
  }
}

const readOption = fc.record(
  { from: fc.oneof(fc.integer({ min: -5, max: 250 }), fc.constantFrom('start' as const, 'end' as const)), direction: fc.constantFrom('forwards' as const, 'backwards' as const), limit: fc.integer({ min: 1, max: 300 }) },
  { requiredKeys: [] },
)

test('every read and pick gives what it gave before, from a log and from a store, wherever the cut is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 260 }), fc.boolean(), fc.array(readOption, { minLength: 5, maxLength: 10 }), fc.array(fc.integer({ min: -1, max: 260 }), { maxLength: 20 }), async (before, isStore, reads, picks) => {
      const file = someFile()
      const own = openSqliteLog(file)
      const wanted = await Promise.all(reads.map((options) => readAll(own, stream, options)))
      const picked = await own.pick(stream, picks)
      await own.close()
      await archive(file, before, settings)
      const beside = archiveBeside(file)
      const log = isStore ? joinedStore(await openSqliteStore({ file }), beside) : openJoined(file)
      expect(await Promise.all(reads.map((options) => readAll(log, stream, options)))).toEqual(wanted)
      expect(await log.pick(stream, picks)).toEqual(picked)
      await log.close()
      expect((await checkSqliteFile(file)).problems).toEqual([])
    }),
    { numRuns: 25 },
  )
})

test('segments lie one behind the other, end with whole appends, and have their place in the chain', async () => {
  const file = someFile()
  const [all = []] = await logs(file)
  const segments = await archive(file, 150, settings)
  expect(segments.length).toBeGreaterThan(4)
  let [next, seal, previous]: [number, unknown, string | null] = [0, null, null]
  for (const { index, hash } of segments) {
    expect(index).toMatchObject({ from: next, previous, seals: { before: seal, after: { revision: index.to } } })
    expect(index.to - index.from).toBeLessThan(25)
    ;[next, seal, previous] = [index.to + 1, index.seals.after, hash]
  }
  const own = openSqliteLog(file)
  expect(await own.first(stream)).toBe(next)
  expect(next).toBeGreaterThan(140)
  expect(await readAll(own, stream, { from: next })).toEqual(all.slice(next))
  await expect(readAll(own, stream)).rejects.toMatchObject({ code: 'damaged' })
  await own.close()
  // The other stream is as it was, and goes on with its own.
  expect((await archive(file, 20, { ...settings, stream: streams[1] })).length).toBe(1)
})

test('a subscription begins in the segments and goes on with what is appended', async () => {
  const file = someFile()
  const [all = []] = await logs(file)
  await archive(file, 100, settings)
  const store = joinedStore(await openSqliteStore({ file }), archiveBeside(file))
  for (const from of [0, 60, 120]) {
    const heard: Array<RecordedEvent> = []
    const end = all.length + 1
    // The first that is delivered may be everything.
    const ended = lastValueFrom(store.subscribe(stream, from).pipe(tap((each) => '_tag' in each || heard.push(...each)), takeWhile(() => heard.at(-1)?.revision !== end - 1 + [0, 60, 120].indexOf(from))), { defaultValue: undefined })
    const text = { id: `later-${from}`, type: 'Counted', data: '{}', metadata: '{}' }
    expect(await store.append(stream, [text], 'any')()).toMatchObject({ _tag: 'Right' })
    await ended
    expect(heard.slice(0, all.length - from)).toEqual(all.slice(from))
    expect(heard.at(-1)?.id).toBe(text.id)
  }
  await store.close()
})

test('somebody who reads while events are moved gets each event once', async () => {
  const file = await fileOf(folder(), Array.from({ length: 5 }, () => ({ stream, count: 2_000, sealed: true })))
  const [all = []] = await logs(file)
  for (const direction of ['forwards', 'backwards'] as const) {
    const log = openJoined(file)
    const found: Array<RecordedEvent> = []
    let before = direction === 'forwards' ? 3_000 : 7_000
    for await (const page of log.read(stream, { direction })) {
      found.push(...page)
      if (before === 0) continue
      await archive(file, before, { ...settings, segmentEventsMax: 5_000, removeMax: 10_000 })
      before = 0
    }
    expect(found).toEqual(direction === 'forwards' ? all : [...all].reverse())
    await log.close()
  }
})

test('what is missing is named, and nothing is made up for it', async () => {
  const file = someFile()
  const [all = []] = await logs(file)
  const [first, second] = await archive(file, 150, settings)
  renameSync(second!.file, `${second!.file}.away`)
  const log = openJoined(file)
  const { from, to } = second!.index
  expect(await readAll(log, stream, { limit: from })).toEqual(all.slice(0, from))
  const words = `the events ${from} to ${to} of ${stream} are not in the log any more, and their segments are not in`
  await expect(readAll(log, stream)).rejects.toMatchObject({ code: 'truncated', from, to, message: expect.stringContaining(words) as string })
  await expect(log.pick(stream, [1, from])).rejects.toMatchObject({ code: 'truncated' })
  expect(await readAll(log, stream, { from: to + 1 })).toEqual(all.slice(to + 1))
  await expect(archive(file, 200, settings)).rejects.toMatchObject({ code: 'truncated' })
  // It is found as soon as it is back.
  renameSync(`${second!.file}.away`, second!.file)
  expect(await readAll(log, stream)).toEqual(all)
  // The answer is the same if the segment was read before.
  renameSync(second!.file, `${second!.file}.away`)
  await expect(readAll(log, stream)).rejects.toMatchObject({ code: 'truncated', from, to, message: expect.stringContaining(words) as string })
  await expect(log.pick(stream, [to])).rejects.toMatchObject({ code: 'truncated' })
  // All that are away are named.
  renameSync(first!.file, `${first!.file}.away`)
  await expect(readAll(log, stream)).rejects.toMatchObject({ code: 'truncated', from: 0, to })
  renameSync(`${first!.file}.away`, first!.file)
  renameSync(`${second!.file}.away`, second!.file)
  expect(await readAll(log, stream)).toEqual(all)
  expect(first!.index.from).toBe(0)
  await log.close()
  rmSync(archiveBeside(file), { recursive: true })
  const bare: LogReader = openJoined(file)
  await expect(readAll(bare, stream)).rejects.toThrow('put them back there')
})

test('what overlaps, or goes beyond the log, is refused', async () => {
  const file = someFile()
  const older = await fileOf(folder(), someAppends(counts.slice(0, 10)))
  await archive(file, 150, settings)
  const names = readdirSync(streamFolder(archiveBeside(file), stream))
  mkdirSync(archiveBeside(older))
  renameSync(streamFolder(archiveBeside(file), stream), streamFolder(archiveBeside(older), stream))
  await expect(archive(older, 10, settings)).rejects.toThrow('restored from an older backup')
  const place = streamFolder(archiveBeside(older), stream)
  renameSync(join(place, names[1]!), join(place, names[1]!.replace(/^\d+/, (digits) => String(Number(digits) - 1).padStart(12, '0'))))
  await expect(archive(older, 10, settings)).rejects.toThrow(/overlaps .* if it is a copy, remove it/)
})
