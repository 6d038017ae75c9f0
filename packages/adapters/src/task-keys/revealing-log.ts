/** A log with decrypted contents, for answers to people. All other readers see the log as it is. */
import type { LogReader, RecordedEvent } from '../store/index.js'
import { encryptedIn, revealedData } from './encrypted.js'
import type { KeyReader } from './key-store.js'

export const revealingLog = (log: LogReader, keys: KeyReader): LogReader => {
  const reveal = (event: RecordedEvent): RecordedEvent => {
    if (encryptedIn(event.data) === undefined) return event
    const { id, type, metadata, stream, revision, position, created } = event
    return { id, type, data: revealedData(event, keys), metadata, stream, revision, position, created }
  }
  return {
    read: async function* (stream, options) {
      for await (const page of log.read(stream, options)) yield page.map(reveal)
    },
    pick: async (stream, revisions) => (await log.pick(stream, revisions)).map((event) => (event === undefined ? undefined : reveal(event))),
    head: (stream) => log.head(stream),
  }
}
