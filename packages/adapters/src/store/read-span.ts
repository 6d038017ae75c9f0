import type { ReadOptions } from './event-store.js'

export interface ReadSpan {
  readonly stream: string
  /** First and last revision, inclusive, whichever the direction. */
  readonly low: number
  readonly high: number
}

/** The revisions that a read will return, for a stream with this head; `undefined` for none. */
export const readSpan = (stream: string, options: ReadOptions, head: number): ReadSpan | undefined => {
  const { direction = 'forwards', from = direction === 'forwards' ? 'start' : 'end', limit = Infinity } = options
  const forwards = direction === 'forwards'
  // `end` means after the last event when reading forwards, and the last event itself when reading backwards.
  const start = from === 'start' ? 0 : from === 'end' ? (forwards ? head + 1 : head) : from
  const low = forwards ? Math.max(0, start) : Math.max(0, Math.min(start, head) - limit + 1)
  const high = forwards ? Math.min(head, low + limit - 1) : Math.min(start, head)
  return low > high ? undefined : { stream, low, high }
}
