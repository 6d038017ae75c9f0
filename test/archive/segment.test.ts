/** The file of a segment: what is read is what was written, and no bit can be altered. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { openSegment, type Segment, SegmentWriter } from '@daybook/adapters/segments'
import type { RecordedEvent } from '@daybook/adapters/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { logOfAppends, stream } from '../chain/logs.js'
import { testFolder } from '../stores/store-files.js'

const folder = testFolder('segments')

const write = async (events: ReadonlyArray<RecordedEvent>, blockBytes: number, pages = 3): Promise<Segment> => {
  const from = events[0]!.revision
  const writer = await SegmentWriter.begin({ folder, stream, from, sealBefore: null, previous: null, blockBytes })
  const step = Math.ceil(events.length / pages)
  for (let i = 0; i < events.length; i += step) await writer.write(events.slice(i, i + step))
  const { path, to } = await writer.commit()
  return openSegment(path, { stream, from, to })
}

const readBack = async ({ index, block }: Segment): Promise<Array<RecordedEvent>> => {
  const events: Array<RecordedEvent> = []
  for (const place of index.blocks) events.push(...(await block(place)))
  return events
}

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\n', '"', '\\', '\u001e', '\u2028', '{"a":1}', ',\n', '\u0000'))

test('what is written is read, byte for byte, whatever the texts, blocks and pages', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ id: text, type: text, data: text, metadata: text, created: text, position: fc.maxSafeNat() }), { minLength: 1, maxLength: 40 }),
      fc.nat(1e9),
      fc.integer({ min: 1, max: 2_000 }),
      fc.integer({ min: 1, max: 5 }),
      async (parts, from, blockBytes, pages) => {
        const events = parts.map((part, i) => ({ ...part, stream, revision: from + i }))
        const segment = await write(events, blockBytes, pages)
        expect(await readBack(segment)).toEqual(events)
        expect(segment.index).toMatchObject({ from, to: from + events.length - 1, times: { from: events[0]!.created, to: events.at(-1)!.created } })
      },
    ),
    { numRuns: 60 },
  )
})

const log = logOfAppends(Array.from({ length: 5 }, (_, i) => ({ count: 1 + (i % 4), sealed: true })))

test('it is gzip, with a line of JSON for each event', async () => {
  const { file } = await write(log, 500)
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines[0]).toEqual({ daybook: 'segment', version: 1, stream, from: 0 })
  expect(lines.slice(1, -1)).toEqual(log.map(({ revision, id, type, created, position, metadata, data }) => ({ revision, id, type, created, position, metadata, data })))
  expect(lines.at(-1)).toHaveProperty('index.blocks')
})

/** What opening and reading all of it says; `undefined` if it is what was written. */
const faultOf = async (file: string): Promise<unknown> => {
  try {
    expect(await readBack(await openSegment(file, { stream, from: 0, to: log.length - 1 }))).toEqual(log)
    return undefined
  } catch (error) {
    return error
  }
}

test('one that the system cannot read is lost to its stream alone, and the message has the reason', async () => {
  const segment = await write(log, 300)
  const { file, index: { from, to, blocks } } = segment
  // A folder can be opened, and not be read. Some file systems count its size by its entries.
  rmSync(file)
  mkdirSync(file)
  for (let i = 0; i < 20; i++) writeFileSync(join(file, String(i)), '')
  for (const read of [() => openSegment(file, { stream, from, to }), () => segment.block(blocks[0]!)]) {
    const lost = await read().then(() => undefined, (error: unknown) => error)
    expect(lost).toMatchObject({ code: 'damaged', from: 0, message: expect.stringContaining(`the segment ${file} is damaged (it cannot be read: EISDIR`) as string })
  }
  rmSync(file, { recursive: true })
})

test('without a descriptor for it a segment counts as away for now, and not as damaged', async () => {
  const { file, index: { from, to } } = await write(log, 300)
  const script = fileURLToPath(new URL('no-descriptors.mjs', import.meta.url))
  const told = execFileSync('sh', ['-c', 'ulimit -n 128; exec "$0" "$@"', process.execPath, script, JSON.stringify({ file, stream, from, to })], { encoding: 'utf8' })
  expect(told.trim().split('\n')).toEqual(['open unavailable false EMFILE', 'block unavailable false EMFILE', 'read again'])
  rmSync(file)
})

test('teeth: a flipped bit anywhere is found, and names the file', async () => {
  const whole = readFileSync((await write(log, 700)).file)
  const file = join(folder, 'flipped.gz')
  for (let byte = 0; byte < whole.length; byte++) {
    const bytes = Buffer.from(whole)
    bytes[byte] = bytes[byte]! ^ (1 << (byte % 8))
    writeFileSync(file, bytes)
    expect(await faultOf(file), `byte ${byte} of ${whole.length}`).toMatchObject({ code: 'damaged', message: expect.stringContaining(file) as string })
  }
  writeFileSync(file, whole)
  expect(await faultOf(file)).toBeUndefined()
})

test('teeth: cut short, made longer, empty, under another name, with a part exchanged, away', async () => {
  const { file } = await write(log, 700)
  const whole = readFileSync(file)
  const damage = [whole.subarray(0, -1), whole.subarray(0, 100), Buffer.alloc(0), Buffer.concat([whole, Buffer.from([0])]), whole.subarray(1), Buffer.concat([whole.subarray(0, 300), whole])]
  for (const bytes of damage) {
    writeFileSync(file, bytes)
    expect(await faultOf(file)).toMatchObject({ code: 'damaged' })
  }
  writeFileSync(file, whole)
  await expect(openSegment(file, { stream, from: 1, to: log.length })).rejects.toThrow('it was renamed')
  await expect(openSegment(file, { stream: 'taskqueue-p', from: 0, to: log.length - 1 })).rejects.toThrow('it was renamed')
  await expect(openSegment(`${file}.gone`, { stream, from: 0, to: log.length - 1 })).rejects.toMatchObject({ code: 'truncated', from: 0, to: log.length - 1 })
})

test('EV-07: lines that are not JSON are damage that names the file and the events, although their hash fits', async () => {
  const { file, index, block } = await write(log, 700)
  const place = index.blocks[1]!
  const forged = gzipSync('no JSON\n')
  writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, place.offset), forged]))
  await expect(block({ ...place, bytes: forged.length, sha256: createHash('sha256').update(forged).digest('base64url') })).rejects.toMatchObject({ code: 'damaged', from: place.revision, message: expect.stringContaining(file) as string })
})
