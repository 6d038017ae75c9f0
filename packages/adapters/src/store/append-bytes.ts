import type { EventToAppend } from './event-store.js'

/** Size of an append in UTF-8 bytes: ids (UUIDs, so ASCII), types, data and metadata. */
export const appendBytes = (events: ReadonlyArray<EventToAppend>): number => {
  let bytes = 0
  for (const { id, type, data, metadata } of events) {
    bytes += id.length + Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata)
  }
  return bytes
}

/** An upper bound of {@link appendBytes} that does not read the texts: a UTF-16 unit takes at most three bytes. */
export const appendBytesAtMost = (events: ReadonlyArray<EventToAppend>): number => {
  let units = 0
  for (const { id, type, data, metadata } of events) units += id.length + type.length + data.length + metadata.length
  return units * 3
}
