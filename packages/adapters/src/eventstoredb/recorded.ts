/** Events as the server sends them. Their texts are those that were appended. */
import type { RecordedEvent } from '../store/index.js'
import type { ReadResp } from './stubs.js'

type Sent = NonNullable<ReturnType<NonNullable<ReturnType<ReadResp['getEvent']>>['getEvent']>>

const text = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')

let lastTicks = ''
let lastCreated = ''
/** Converts units of 100 ns since 1970. Cached, because all events of an append have the same time. */
const created = (ticks: string): string => {
  if (ticks !== lastTicks) {
    lastTicks = ticks
    lastCreated = new Date(Number(ticks) / 10_000).toISOString()
  }
  return lastCreated
}

export const recordedEvent = (sent: Sent, stream: string): RecordedEvent => {
  const properties = sent.getMetadataMap()
  return {
    stream,
    id: sent.getId()?.getString() ?? '',
    revision: Number(sent.getStreamRevision()),
    position: Number(sent.getCommitPosition()),
    type: properties.get('type') ?? '',
    created: created(properties.get('created') ?? '0'),
    data: text(sent.getData_asU8()),
    metadata: text(sent.getCustomMetadata_asU8()),
  }
}
