/** Pages of one stream, within the limits of its metadata at the time of the read. */
import type { Log, Stream } from './log.js'
import type { LogEvent } from './log-event.js'
import { firstReadable } from './metadata.js'

/** Events that the server reads at a time. */
export const pageEvents = 32

export type StreamPage =
  | { readonly kind: 'no_stream' }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'page'; readonly events: ReadonlyArray<LogEvent>; readonly next: number; readonly end: boolean }

const readable = (log: Log, name: string): Stream | StreamPage => {
  if (log.tombstoneVisible(name)) return { kind: 'deleted' }
  const stream = log.stream(name)
  if (stream === undefined || stream.visible < 0 || log.metadata(name).softDeleted) return { kind: 'no_stream' }
  return stream
}

const oldestMs = (log: Log, name: string, nowMs: number): number => {
  const { maxAgeMs } = log.metadata(name)
  return maxAgeMs === undefined ? -Infinity : nowMs - maxAgeMs
}

export const pageForwards = (log: Log, name: string, from: number, count: number, nowMs: number): StreamPage => {
  const stream = readable(log, name)
  if ('kind' in stream) return stream
  const head = stream.visible
  const first = Math.max(from, firstReadable(log.metadata(name), head))
  if (first > head) return { kind: 'page', events: [], next: head + 1, end: true }
  const next = Math.min(first + count, head + 1)
  const oldest = oldestMs(log, name, nowMs)
  const events = stream.events.slice(first, next)
  return { kind: 'page', events: oldest === -Infinity ? events : events.filter((event) => event.createdMs >= oldest), next, end: next > head }
}

/** `from` undefined: from the end. The last page's `next` is -1. */
export const pageBackwards = (log: Log, name: string, from: number | undefined, count: number, nowMs: number): StreamPage => {
  const stream = readable(log, name)
  if ('kind' in stream) return stream
  const last = Math.min(from ?? stream.visible, stream.visible)
  const first = firstReadable(log.metadata(name), stream.visible)
  if (first > last) return { kind: 'page', events: [], next: -1, end: true }
  const next = Math.max(last - count, first - 1)
  const oldest = oldestMs(log, name, nowMs)
  const events = stream.events.slice(next + 1, last + 1).filter((event) => event.createdMs >= oldest).reverse()
  return { kind: 'page', events, next, end: next < first }
}
