/**
 * The log on disk: a file with one frame per write. Each frame has its length and checksum. An
 * incomplete frame at the end is removed when the file is opened again.
 */
import { createHash } from 'node:crypto'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogWrite } from './log.js'
import type { LogEvent } from './log-event.js'
import type { Keep } from './writer.js'

export interface Journal {
  readonly keep: Keep
  readonly close: () => Promise<void>
}

type StoredEvent = Omit<LogEvent, 'recorded'>
type StoredWrite = Omit<LogWrite, 'events'> & { readonly events: ReadonlyArray<StoredEvent> }

const headerBytes = 8

const checksum = (payload: Uint8Array): number => createHash('md5').update(payload).digest().readUInt32LE(0)

/** A line of JSON that describes the write, followed by data and metadata of its events. */
const frame = ({ stream, position, end, events }: LogWrite): Buffer => {
  const about = Buffer.from(JSON.stringify({
    stream, position, end,
    events: events.map((e) => [e.id, e.type, e.isJson, e.revision, e.position, e.createdMs, e.data.length, e.metadata.length]),
  }))
  const size = Buffer.alloc(4)
  size.writeUInt32LE(about.length)
  const payload = Buffer.concat([size, about, ...events.flatMap((e) => [e.data, e.metadata])])
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32LE(payload.length, 0)
  header.writeUInt32LE(checksum(payload), 4)
  return Buffer.concat([header, payload])
}

type StoredFields = readonly [string, string, boolean, number, number, number, number, number]

const parse = (payload: Buffer): StoredWrite => {
  let at = 4 + payload.readUInt32LE(0)
  const about = JSON.parse(payload.toString('utf8', 4, at)) as Omit<StoredWrite, 'events'> & { readonly events: ReadonlyArray<StoredFields> }
  const take = (size: number): Uint8Array => payload.subarray(at, (at += size))
  return {
    ...about,
    events: about.events.map(([id, type, isJson, revision, position, createdMs, data, metadata]) =>
      ({ id, type, isJson, revision, position, createdMs, stream: about.stream, data: take(data), metadata: take(metadata) })),
  }
}

/** Calls `each` with every complete frame. Returns the offset of the end of the last one. */
const replay = async (file: FileHandle, each: (write: StoredWrite) => void): Promise<number> => {
  const { size } = await file.stat()
  const header = Buffer.alloc(headerBytes)
  let at = 0
  for (;;) {
    if (at + headerBytes > size) return at
    await file.read(header, 0, headerBytes, at)
    const length = header.readUInt32LE(0)
    if (at + headerBytes + length > size) return at
    const payload = Buffer.alloc(length)
    await file.read(payload, 0, length, at + headerBytes)
    if (checksum(payload) !== header.readUInt32LE(4)) return at
    each(parse(payload))
    at += headerBytes + length
  }
}

export const openJournal = async (dir: string, each: (write: StoredWrite) => void): Promise<Journal> => {
  await mkdir(dir, { recursive: true })
  const path = join(dir, 'eventstoredb.log')
  const file = await open(path, 'a+')
  const whole = await replay(file, each)
  await file.truncate(whole)
  await file.sync()

  let waiting: Array<{ readonly bytes: Buffer; readonly kept: () => void }> = []
  let flushing: Promise<void> | undefined
  /** Writes everything that arrived while the disk was busy, with one sync. */
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await file.appendFile(Buffer.concat(batch.map(({ bytes }) => bytes)))
      await file.datasync()
      for (const { kept } of batch) kept()
    }
    flushing = undefined
  }
  return {
    keep: (write, kept) => {
      waiting.push({ bytes: frame(write), kept })
      flushing ??= Promise.resolve().then(flush)
    },
    close: async () => {
      await flushing
      await file.close()
    },
  }
}
