/** The events of one task. Each names the revision of the one before it, so the way back needs no index. */
import { isUnreadable, lastRevisionOf, type QueueEvent } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, RecordedEvent } from '../store/index.js'
import { decodeRecorded, parseObject } from './wire.js'
import { streamOf } from './replay.js'
import type { Outcome, QueueEngine } from './types.js'

/** Oldest first. `undefined` for a task that the queue does not know (any more). */
export const historyOf = async (
  engine: QueueEngine,
  store: EventStore,
  task: string,
): Promise<Outcome<ReadonlyArray<RecordedEvent> | undefined>> => {
  const last = await engine.read((state) => lastRevisionOf(state, task))
  if (E.isLeft(last)) return last
  const { value, revision } = last.right
  if (value === undefined) return E.right({ value: undefined, revision })
  const events: Array<RecordedEvent> = []
  let next: number | undefined = value
  while (next !== undefined && next >= 0) {
    const [event]: ReadonlyArray<RecordedEvent | undefined> = await store.pick(streamOf(engine.name), [next])
    if (event === undefined) break
    events.push(event)
    const prev: unknown = parseObject(event.metadata)?.prev
    next = typeof prev === 'number' && prev < next ? prev : undefined
  }
  return E.right({ value: events.reverse(), revision })
}

/** An event as it is shown to people and auditors, with its whole data. */
export interface ShownEvent {
  readonly revision: number
  readonly type: string
  /** Of `data`; what bears none was written before there were any, and is 1. */
  readonly schemaVersion: number
  readonly at: string
  readonly actor: string | undefined
  readonly correlationId: string | undefined
  readonly data: unknown
}

export const showEvent = (event: RecordedEvent): ShownEvent => {
  const metadata = parseObject(event.metadata) ?? {}
  const text = (key: string): string | undefined => {
    const value = metadata[key]
    return typeof value === 'string' ? value : undefined
  }
  return {
    revision: event.revision,
    type: event.type,
    schemaVersion: typeof metadata.schemaVersion === 'number' ? metadata.schemaVersion : 1,
    at: text('at') ?? event.created,
    actor: text('actor'),
    correlationId: text('$correlationId'),
    data: parseObject(event.data) ?? event.data,
  }
}

/** The task that an event is about, if it is about one. */
export const taskOfEvent = (event: RecordedEvent): string | undefined => {
  const decoded: QueueEvent | { readonly _tag: 'Unreadable' } = decodeRecorded(event)
  if (isUnreadable(decoded as QueueEvent)) return undefined
  const data = (decoded as QueueEvent).data
  return 'task' in data ? data.task : undefined
}
