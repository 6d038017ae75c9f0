/** Reads a segment: its index at once, its blocks on demand. Every change since it was written is detected. */
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gunzip as gunzipCallback } from 'node:zlib'
import { plural } from '@daybook/core/common'
import { readPart } from '../disk/read-part.js'
import { isShortage } from '../disk/shortage.js'
import { errorText } from '../error-text.js'
import { LostEvents, type RecordedEvent, type StoreError } from '../store/index.js'
import { damagedSegment, missingSegment, unreadableNow } from './segment-error.js'
import { type BlockPlace, endBytes, headerLine, parseLines, readIndex, readSegmentEnd, type SegmentEvent, type SegmentIndex, segmentName, sha256Of } from './segment-format.js'

const gunzip = promisify(gunzipCallback)

export interface Segment {
  readonly file: string
  readonly index: SegmentIndex
  /** Size of the file in bytes. */
  readonly bytes: number
  /** Hash of its index, in base64url. It covers the whole file. */
  readonly hash: string
  /** The events of a block of the index. Rejects with LostEvents, or StoreError `unavailable` if it cannot be read now. */
  readonly block: (place: BlockPlace) => Promise<Array<RecordedEvent>>
}

const isEvent = (value: unknown): value is SegmentEvent => {
  if (typeof value !== 'object' || value === null) return false
  const { revision, id, type, created, position, metadata, data } = value as Readonly<Record<string, unknown>>
  return typeof revision === 'number' && typeof position === 'number' && [id, type, created, metadata, data].every((text) => typeof text === 'string')
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** The system's own words tell a missing right from a bad disk. */
const cannotBeRead = (error: unknown): string => `it cannot be read: ${errorText(error)}`

/** The file is in the folder of its stream, which is in the archive's folder. */
const missing = (file: string, { stream, from, to }: { readonly stream: string; readonly from: number; readonly to: number }): LostEvents => missingSegment(dirname(dirname(file)), stream, from, to)

/** What a failed system call means. */
const failedRead = (file: string, error: unknown, away: LostEvents, broken: (what: string, cause: unknown) => LostEvents): StoreError =>
  isMissing(error) ? away : isShortage(error) ? unreadableNow(file, error) : broken(cannotBeRead(error), error)

/** Whether the blocks are contiguous, from the beginning of the file to its index, and have all revisions. */
const areWhole = ({ from, to, blocks }: SegmentIndex, indexOffset: number): boolean => {
  let [offset, revision] = [0, from]
  for (const block of blocks) {
    if (block.offset !== offset || block.revision !== revision || block.events < 1 || block.bytes < 1) return false
    offset += block.bytes
    revision += block.events
  }
  return offset === indexOffset && revision === to + 1
}

/**
 * @param named The stream and the revisions in the names of folder and file.
 * @throws LostEvents if the file is missing, or is not a whole segment of these; StoreError `unavailable` if it cannot be read now. Its blocks are not read.
 */
export const openSegment = async (file: string, named: { readonly stream: string; readonly from: number; readonly to: number }): Promise<Segment> => {
  const broken = (what: string, cause?: unknown, advice?: string) => damagedSegment(file, named.from, named.to, what, cause, advice)
  const unreadable = (error: unknown): unknown => (error instanceof LostEvents ? error : failedRead(file, error, missing(file, named), broken))
  const handle = await open(file, 'r').catch((error: unknown) => Promise.reject(unreadable(error)))
  try {
    const { size } = await handle.stat()
    if (size < endBytes) throw broken('it is cut short')
    const end = readSegmentEnd((await handle.read(Buffer.alloc(endBytes), 0, endBytes, size - endBytes)).buffer)
    if (end === undefined) throw broken('its end is not that of a segment: it is cut short or altered')
    const { indexOffset, hash } = end
    const bytes = size - endBytes - indexOffset
    if (bytes < 1) throw broken('it is cut short')
    const packed = (await handle.read(Buffer.alloc(bytes), 0, bytes, indexOffset)).buffer
    if (!sha256Of(packed).equals(hash)) throw broken('its index is altered')
    const index = readIndex((await gunzip(packed)).toString('utf8'))
    if (index === undefined) throw broken('its index is of another version of Daybook')
    if (index.stream !== named.stream || index.from !== named.from || index.to !== named.to) {
      throw broken(`it has the events ${index.from} to ${index.to} of ${index.stream}: it was renamed`, undefined, `give it back its name, ${segmentName(index.from, index.to)} in the folder of ${index.stream}, or remove it if that one is there`)
    }
    if (!areWhole(index, indexOffset)) throw broken('its index has a gap')
    return { file, index, bytes: size, hash: hash.toString('base64url'), block: (place) => readBlock(file, index, place) }
  } catch (error) {
    throw unreadable(error)
  } finally {
    await handle.close()
  }
}

const linesIn = (text: string): ReadonlyArray<unknown> | undefined => {
  try {
    return parseLines(text)
  } catch {
    return undefined
  }
}

const readBlock = async (file: string, { stream, from, blocks }: SegmentIndex, place: BlockPlace): Promise<Array<RecordedEvent>> => {
  const { revision, events, offset, bytes, sha256 } = place
  const broken = (what: string, cause?: unknown) => damagedSegment(file, revision, revision + events - 1, what, cause)
  const away = missing(file, { stream, from: revision, to: revision + events - 1 })
  // The file is opened each time, so that no segment is held open that may be moved away.
  const packed = await readPart(file, offset, bytes).catch((error: unknown) => Promise.reject(failedRead(file, error, away, broken)))
  if (sha256Of(packed).toString('base64url') !== sha256) throw broken('its hash is another one')
  let text = await gunzip(packed).then((whole) => whole.toString('utf8'), (error: unknown) => Promise.reject(broken('it cannot be unpacked', error)))
  if (place.offset === blocks[0]?.offset) {
    const header = headerLine(stream, from)
    if (!text.startsWith(header)) throw broken('its first line is not that of this segment')
    text = text.slice(header.length)
  }
  const values = linesIn(text)
  // Whoever writes other lines can write hashes that fit them.
  if (values === undefined) throw broken('its lines are not JSON')
  if (values.length !== events) throw broken(`it has ${plural(values.length, 'event')} where there should be ${events}`)
  return values.map((value, i) => {
    if (!isEvent(value) || value.revision !== revision + i) throw broken(`line ${i + 1} is not event ${revision + i}`)
    const { id, type, data, metadata, position, created } = value
    return { id, type, data, metadata, stream, revision: value.revision, position, created }
  })
}
