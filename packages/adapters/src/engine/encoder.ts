/** The events of a command as the texts that go to the log: with their ids, who said it and when, and what came before. */
import { lastRevisionOf, type QueueEvent, type QueueState, revisionOf } from '@daybook/core'
import type { EventToAppend } from '../store/index.js'
import { commandIdSource } from './ids.js'
import type { Door } from './types.js'
import { encodeData, encodeEvent, metadataOf, metadataText } from './wire.js'

export class Encoder {
  private readonly commandIds = commandIdSource()
  /** Many commands have the same time: it is printed once. */
  private atMs = -1
  private atText = ''

  /** `state` is the one before these events. */
  encode(state: QueueState, door: Door, at: number, events: ReadonlyArray<QueueEvent>): ReadonlyArray<EventToAppend> {
    const ids = this.commandIds()
    if (at !== this.atMs) {
      this.atMs = at
      this.atText = new Date(at).toISOString()
    }
    const metadata = metadataOf(this.atText, door, ids.command)
    const [first] = events
    if (first?.type === 'TaskEnqueued') {
      // Nothing came before any of them, so they share their metadata.
      const shared = metadataText(first.type, metadata, undefined)
      return events.map((event, index) =>
        event.type === first.type
          ? { id: ids.event(index), type: event.type, data: encodeData(event), metadata: shared }
          : encodeEvent(event, ids.event(index), metadata, undefined),
      )
    }
    // Two events of one command about one task: the second follows the first, which is not folded yet.
    const earlier = events.length > 1 && first?.type !== 'Claimed' ? new Map<string, number>() : undefined
    const from = revisionOf(state) + 1
    return events.map((event, index) => {
      let prev: number | undefined
      if ('task' in event.data) {
        const { task } = event.data
        prev = earlier?.get(task) ?? lastRevisionOf(state, task)
        earlier?.set(task, from + index)
      }
      return encodeEvent(event, ids.event(index), metadata, prev)
    })
  }
}
