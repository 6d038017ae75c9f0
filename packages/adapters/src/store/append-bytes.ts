import type { EventToAppend } from './event-store.js'

/** UTF-8 bytes of an append: ids (UUIDs, so ASCII), types, data and metadata. */
export const appendBytes = (events: ReadonlyArray<EventToAppend>): number => {
  let bytes = 0
  for (const { id, type, data, metadata } of events) {
    bytes += id.length + Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata)
  }
  return bytes
}
