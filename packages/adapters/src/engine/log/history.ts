/** The events of one task. Each has the revision of the previous one, so no index is needed to read them backwards. */
import { type EventType, isUnreadable, quote, taskOf, type TaskView } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { LogReader, RecordedEvent } from '../../store/index.js'
import { decodeRecorded, parseObject } from './wire.js'
import { streamOf } from '../state/replay.js'
import type { QueueView } from '../queue-view.js'
import type { Outcome } from '../types.js'

/** The task's events, oldest first: the newest up to `bytesMax`. `undefined` for a task that the queue does not know, or no longer knows. */
export const historyOf = async (
  view: Pick<QueueView, 'name' | 'read' | 'log'>,
  task: string,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<Outcome<Searched | undefined>> => {
  const last = await view.read((state, at) => taskOf(state, task, at)?.lastRevision)
  if (E.isLeft(last)) return last
  const { value, revision } = last.right
  if (value === undefined) return E.right({ value: undefined, revision })
  return E.right({ value: await pageBehind(view.log, streamOf(view.name), value, bytesMax), revision })
}

/** When and why a task's content was erased, up to the moment of the view. The key may have been deleted after that moment. */
export const erasureOf = ({ name, log }: Pick<QueueView, 'name' | 'log'>, lastRevision: number): Promise<RecordedEvent | undefined> =>
  newestBehind(log, streamOf(name), lastRevision, 'TaskErased')

export interface Searched {
  /** The task's events, oldest first; empty if none was found so far. */
  readonly events: ReadonlyArray<RecordedEvent>
  /** The revision from which to continue, for older events; `undefined` when there are none. */
  readonly next: number | undefined
}

/**
 * Searches for a task that the queue no longer knows. There is no index for it, so it reads at most `limit` events of the log, backwards from a
 * revision. The task's newest event leads to all earlier ones, of which the newest are given up to `bytesMax`.
 */
export const searchHistory = async (store: LogReader, queue: string, task: string, from: number, limit: number, bytesMax = Number.POSITIVE_INFINITY): Promise<Searched> => {
  const stream = streamOf(queue)
  const mark = `"task":${quote(task)}`
  let lowest = from + 1
  const erasures: Array<RecordedEvent> = []
  for await (const page of store.read(stream, { from, direction: 'backwards', limit })) {
    for (const event of page) {
      lowest = event.revision
      // The text search rules out most events. The rest is parsed, because a payload may contain the same text.
      if (!event.data.includes(mark) || parseObject(event.data)?.task !== task) continue
      // The erasure of a task that the queue no longer knew has no link to the task's earlier events.
      if (event.type === 'TaskErased' && previousOf(event) === undefined) erasures.unshift(event)
      else {
        const { events, next } = await pageBehind(store, stream, event.revision, bytesMax)
        return { events: [...events, ...erasures], next }
      }
    }
  }
  return { events: erasures, next: lowest > 0 && lowest <= from ? lowest - 1 : undefined }
}

/** Number of events that are read at once if the next event of the chain is among them. */
const nearMax = 64

/** About the size of what is shown of an event besides its data. */
const headBytes = 256

/** The newest events of the chain that ends at this revision, oldest first. Checkpoints of a long attempt may have hundreds of megabytes together. */
const pageBehind = async (store: LogReader, stream: string, last: number, bytesMax: number): Promise<Searched> => {
  const events: Array<RecordedEvent> = []
  let bytes = 0
  for await (const event of eventsBehind(store, stream, last)) {
    bytes += event.data.length + headBytes
    if (bytes > bytesMax && events.length > 0) return { events: events.reverse(), next: event.revision }
    events.push(event)
  }
  return { events: events.reverse(), next: undefined }
}

/** The newest event of a type in that chain. */
export const newestBehind = async (store: LogReader, stream: string, last: number, type: EventType): Promise<RecordedEvent | undefined> => {
  for await (const event of eventsBehind(store, stream, last)) if (event.type === type) return event
  return undefined
}

/**
 * The chain that ends at this revision, newest first. Events that are close together, such as heartbeats, are read many at a time; a distant one is
 * read alone.
 */
export const eventsBehind = async function* (store: LogReader, stream: string, last: number): AsyncGenerator<RecordedEvent, void, undefined> {
  let near = new Map<number, RecordedEvent>()
  let isNear = false
  for (let next: number | undefined = last; next !== undefined; ) {
    let event: RecordedEvent | undefined = near.get(next)
    if (event === undefined) {
      near = await eventsUpTo(store, stream, next, isNear ? nearMax : 1)
      event = near.get(next)
    }
    if (event === undefined) return
    yield event
    const prev = previousOf(event)
    isNear = prev !== undefined && event.revision - prev < nearMax
    next = prev
  }
}

const eventsUpTo = async (store: LogReader, stream: string, from: number, limit: number): Promise<Map<number, RecordedEvent>> => {
  const events = new Map<number, RecordedEvent>()
  for await (const page of store.read(stream, { from, direction: 'backwards', limit })) {
    for (const event of page) events.set(event.revision, event)
  }
  return events
}

/** The revision of the task's previous event. Only a smaller revision is accepted, in case another program wrote the event. */
const previousOf = ({ metadata, revision }: RecordedEvent): number | undefined => {
  const prev: unknown = parseObject(metadata)?.prev
  return typeof prev === 'number' && Number.isInteger(prev) && prev >= 0 && prev < revision ? prev : undefined
}

/** An event as it is shown to people and auditors, with all its data. */
export interface ShownEvent {
  readonly revision: number
  readonly type: string
  /** The version of `data`. It is 1 if the event does not have one. */
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

/** The task that an event is about; `undefined` if it is about none. */
export const taskOfEvent = (recorded: RecordedEvent): string | undefined => {
  const event = decodeRecorded(recorded)
  return isUnreadable(event) || !('task' in event.data) ? undefined : event.data.task
}

/** The revision of a completed task's result, which is in its last event. The result of an imported task is in its content. */
export const resultRevisionOf = ({ status, lastRevision, enqueuedRevision }: TaskView): number | undefined =>
  status === 'completed' && lastRevision !== enqueuedRevision ? lastRevision : undefined
