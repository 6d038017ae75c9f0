/** Encodes the events of a command as texts for the log, with ids, actor, time, and links to earlier events. */
import { type EventType, lastRevisionOf, type QueueEvent, type QueueState, revisionOf } from '@daybook/core'
import type { EventToAppend } from '../../store/index.js'
import { commandIdSource } from './ids.js'
import { encryptedData } from '../../task-keys/index.js'
import type { Caller } from '../types.js'
import { causeText, encodeData, encodeFacts, metadataText, stampText } from './wire.js'
import type { Secret } from '../contents/withholding.js'

export class Encoder {
  private readonly commandIds = commandIdSource()
  /** The beginning of the metadata, cached because many commands have the same time and caller. */
  private stamp = { type: undefined as EventType | undefined, at: -1, caller: undefined as Caller | undefined, text: '' }

  constructor(private readonly stream: string) {}

  /** `state`: before these events. `secrets`: the encrypted parts, by index of the event. */
  encode(state: QueueState, caller: Caller, at: number, events: ReadonlyArray<QueueEvent>, secrets?: ReadonlyArray<Secret | undefined>): ReadonlyArray<EventToAppend> {
    const ids = this.commandIds()
    const cause = causeText(caller, ids.command)
    const [first] = events
    // A completion may begin with the tasks that it spawned and end with the callback of a batch.
    const areNew = first?.type === 'TaskEnqueued' && events.every((event) => event.type === 'TaskEnqueued')
    // Revisions of this command's own events by task. A second event about a task links to the first, which is not folded yet.
    const earlier = events.length > 1 && !areNew && first?.type !== 'Claimed' ? new Map<string, number>() : undefined
    const from = revisionOf(state) + 1
    let type: EventType | undefined
    let opening = ''
    let unpreceded: string | undefined
    const texts: Array<EventToAppend> = []
    for (let index = 0; index < events.length; index++) {
      const event = events[index] as QueueEvent
      if (event.type !== type) {
        type = event.type
        const stamp = this.stampOf(type, caller, at)
        // Shared by many events, so it is joined to one flat string.
        opening = events.length > 1 ? [stamp, cause].join('') : stamp + cause
        unpreceded = undefined
      }
      let prev: number | undefined
      if (!areNew && 'task' in event.data) {
        const { task } = event.data
        prev = earlier?.get(task) ?? lastRevisionOf(state, task)
        earlier?.set(task, from + index)
      }
      const id = ids.event(index)
      const secret = secrets?.[index]
      texts.push({
        id,
        type,
        data: secret === undefined ? encodeData(event) : this.encrypted(event, id, secret),
        metadata: prev === undefined ? (unpreceded ??= metadataText(opening, undefined)) : metadataText(opening, prev),
      })
    }
    return texts
  }

  private encrypted(event: QueueEvent, id: string, { key, members }: Secret): string {
    return encryptedData({ stream: this.stream, id, type: event.type, facts: encodeFacts(event) }, key, { members, content: event.content ?? '' })
  }

  private stampOf(type: EventType, caller: Caller, at: number): string {
    if (this.stamp.type !== type || this.stamp.at !== at || this.stamp.caller !== caller) {
      this.stamp = { type, at, caller, text: stampText(type, caller, at) }
    }
    return this.stamp.text
  }
}
