/**
 * A segment file: consecutive events of one stream, as gzip. It can be read with `zcat`; each line is JSON:
 *
 *     {"daybook":"segment","version":1,"stream":…,"from":…}           the first line
 *     {"revision":…,"id":…,"type":…,"created":…,"position":…,"metadata":"…","data":"…"}
 *     …                                                              one line for each event, texts as they were stored
 *     {"index":{…}}                                                  the last line
 *
 * The file is a sequence of gzip members. First come blocks of some hundred events each, so that a reader may begin in the middle. Then comes the
 * index, with the offset and the SHA-256 of each block. Last comes an empty member of fixed length, with the offset and the SHA-256 of the index. So
 * a hash covers every byte, and the last hash covers the whole file.
 */
import { createHash } from 'node:crypto'
import * as t from 'io-ts'
import type { RecordedEvent } from '../store/index.js'

export const formatVersion = 1

/** The members of an event that a line has: all except the stream. */
export type SegmentEvent = Omit<RecordedEvent, 'stream'>

const seal = t.union([t.null, t.readonly(t.type({ revision: t.number, hash: t.string }))])

const block = t.readonly(
  t.type({
    /** Revision of its first event. */
    revision: t.number,
    events: t.number,
    /** Offset in the file, in bytes. */
    offset: t.number,
    bytes: t.number,
    /** Hash of these bytes, in base64url. */
    sha256: t.string,
  }),
)

const index = t.readonly(
  t.type({
    version: t.literal(formatVersion),
    stream: t.string,
    /** First and last revision. */
    from: t.number,
    to: t.number,
    /** When the store wrote the first and the last event, by the store's own time. */
    times: t.readonly(t.type({ from: t.string, to: t.string })),
    /** The last seal of the log (docs/tamper-evidence.md) before the first event, and the last one up to the last event; `null` for none. */
    seals: t.readonly(t.type({ before: seal, after: seal })),
    /** The SHA-256 of the previous segment; `null` for the first. */
    previous: t.union([t.null, t.string]),
    /** Size of all lines of events in bytes, uncompressed. */
    textBytes: t.number,
    blocks: t.readonlyArray(block),
  }),
)

export type BlockPlace = t.TypeOf<typeof block>
export type SegmentIndex = t.TypeOf<typeof index>
export type SealPlace = t.TypeOf<typeof seal>

export const headerLine = (stream: string, from: number): string => `${JSON.stringify({ daybook: 'segment', version: formatVersion, stream, from })}\n`

export const eventLine = ({ revision, id, type, created, position, metadata, data }: RecordedEvent): string =>
  `${JSON.stringify({ revision, id, type, created, position, metadata, data })}\n`

/** Parses lines that each end with a line break. A JSON value in one line has no line breaks inside. */
export const parseLines = (text: string): ReadonlyArray<unknown> => JSON.parse(`[${text.slice(0, -1).replaceAll('\n', ',')}]`) as ReadonlyArray<unknown>

export const indexLine = (value: SegmentIndex): string => `${JSON.stringify({ index: value })}\n`

/** The index in a line; `undefined` if this version cannot read it. */
export const readIndex = (line: string): SegmentIndex | undefined => {
  try {
    const { index: value } = JSON.parse(line) as { readonly index?: unknown }
    return index.is(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const sha256Of = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

// ------------------------------------------------------------------------------------------- the end

/** A gzip header with an extra field "DB" of 40 bytes (RFC 1952), and an empty deflate block with length and CRC 0. */
const endBefore = Buffer.from('1f8b08040000000000ff2c0044422800', 'hex')
const endAfter = Buffer.from('03000000000000000000', 'hex')
export const endBytes = endBefore.length + 8 + 32 + endAfter.length

/** The last bytes of a segment. `hash`: SHA-256 of the index. */
export const segmentEnd = (indexOffset: number, hash: Buffer): Buffer => {
  const place = Buffer.alloc(8)
  place.writeBigUInt64BE(BigInt(indexOffset))
  return Buffer.concat([endBefore, place, hash, endAfter])
}

/** What the last bytes of a segment say; `undefined` unless {@link segmentEnd} made them. */
export const readSegmentEnd = (bytes: Buffer): { readonly indexOffset: number; readonly hash: Buffer } | undefined => {
  if (bytes.length !== endBytes) return undefined
  const indexOffset = Number(bytes.readBigUInt64BE(endBefore.length))
  const hash = bytes.subarray(endBefore.length + 8, endBefore.length + 40)
  return Number.isSafeInteger(indexOffset) && segmentEnd(indexOffset, hash).equals(bytes) ? { indexOffset, hash } : undefined
}

// ------------------------------------------------------------------------------------------ the name

const digits = 12
const named = /^(\d{12,16})-(\d{12,16})\.jsonl\.gz$/

/** Names sort by revision up to 10^12 events. */
export const segmentName = (from: number, to: number): string => `${String(from).padStart(digits, '0')}-${String(to).padStart(digits, '0')}.jsonl.gz`

export const readSegmentName = (name: string): { readonly from: number; readonly to: number } | undefined => {
  const [, from, to] = named.exec(name) ?? []
  return from === undefined || to === undefined ? undefined : { from: Number(from), to: Number(to) }
}
