import type { EventToAppend } from './event-store.js'

/** UTF-8 bytes of an append: ids (UUIDs, so ASCII), types, data and metadata. */
export const appendBytes = (events: ReadonlyArray<EventToAppend>): number => {
  let bytes = 0
  for (const { id, type, data, metadata } of events) {
    bytes += id.length + Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata)
  }
  return bytes
}

/** No less than {@link appendBytes}, without looking into the texts: a UTF-16 unit has at most three bytes. */
export const appendBytesAtMost = (events: ReadonlyArray<EventToAppend>): number => {
  let units = 0
  for (const { id, type, data, metadata } of events) units += id.length + type.length + data.length + metadata.length
  return units * 3
}
