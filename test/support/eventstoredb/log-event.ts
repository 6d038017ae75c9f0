/** An event in the log. It is encoded for readers once, when it is written. */
import { bytes, int64Max, message, text, uint } from './protobuf.js'

export interface NewEvent {
  readonly id: string
  readonly type: string
  readonly isJson: boolean
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

export interface LogEvent extends NewEvent {
  readonly stream: string
  /** {@link tombstoneRevision} for a tombstone. */
  readonly revision: number
  readonly position: number
  readonly createdMs: number
  /** RecordedEvent, as bytes. */
  readonly recorded: Buffer
}

/** Represents 2^63-1, which a number cannot hold exactly. No other revision comes near. */
export const tombstoneRevision = 2 ** 63

export const linkType = '$>'
export const metadataType = '$metadata'
export const tombstoneType = '$streamDeleted'

const entry = (key: string, value: string): Buffer => message(6, text(1, key), text(2, value))

const typeEntries = new Map<string, Buffer>()
/** Encodes type and content type, and caches the result: there are only a few. */
const typeEntry = (type: string, isJson: boolean): Buffer => {
  const key = `${isJson ? 'j' : 'b'}${type}`
  const known = typeEntries.get(key)
  if (known !== undefined) return known
  const made = Buffer.concat([
    entry('type', type),
    entry('content-type', isJson ? 'application/json' : 'application/octet-stream'),
  ])
  if (typeEntries.size > 1000) typeEntries.clear()
  typeEntries.set(key, made)
  return made
}

/** The encoded StreamIdentifier field of `stream`. */
export const streamIdentifier = (field: number, stream: string): Buffer => message(field, text(3, stream))

const revisionField = (revision: number): Buffer =>
  uint(3, revision === tombstoneRevision ? int64Max : revision)

export const recorded = (event: Omit<LogEvent, 'recorded'>, identifier = streamIdentifier(2, event.stream)): Buffer =>
  Buffer.concat([
    message(1, text(2, event.id)),
    identifier,
    revisionField(event.revision),
    uint(4, event.position),
    uint(5, event.position),
    typeEntry(event.type, event.isJson),
    entry('created', `${event.createdMs}0000`),
    ...(event.metadata.length > 0 ? [bytes(7, event.metadata)] : []),
    bytes(8, event.data),
  ])

/** ReadResp with an event that is not a link, or a link that is not resolved. */
export const readResponse = (event: LogEvent): Buffer => message(1, bytes(1, event.recorded), uint(3, event.position))

/** ReadResp with a link and its target, if that can be read. */
export const linkResponse = (link: LogEvent, target: LogEvent | undefined): Buffer =>
  message(1, target === undefined ? Buffer.alloc(0) : bytes(1, target.recorded), bytes(2, link.recorded), uint(3, link.position))

