/** Events as the server sends them. Their texts come back as they were sent. */
import type { RecordedEvent } from '../store/index.js'
import type { ReadResp } from './stubs.js'

type Sent = NonNullable<ReturnType<NonNullable<ReturnType<ReadResp['getEvent']>>['getEvent']>>

const text = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')

let lastTicks = ''
let lastCreated = ''
/** From hundreds of nanoseconds since 1970; events of one append have the same. */
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
