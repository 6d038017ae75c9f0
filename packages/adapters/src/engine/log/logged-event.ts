/** A recorded event as projections see it. */
import { isUnreadable, type QueueEvent, type Unreadable } from '@daybook/core'
import type { EventMeta, LoggedEvent } from '@daybook/projections'
import type { RecordedEvent } from '../../store/index.js'
import { contentOfEvent, decodeRecorded, metaOf } from './wire.js'

export const loggedEvent = (recorded: RecordedEvent): LoggedEvent | Unreadable => {
  const event = decodeRecorded(recorded)
  return isUnreadable(event) ? event : new Logged(event, recorded)
}

/** Metadata and content are read only if a projection asks for them. Most projections ask for neither. */
class Logged implements LoggedEvent {
  readonly revision: number
  readonly id: string
  private known: EventMeta | undefined

  constructor(
    readonly event: QueueEvent,
    private readonly recorded: RecordedEvent,
  ) {
    this.revision = recorded.revision
    this.id = recorded.id
  }

  get meta(): EventMeta {
    return (this.known ??= metaOf(this.recorded.metadata))
  }

  content(): string | undefined {
    return contentOfEvent(this.recorded)
  }
}
