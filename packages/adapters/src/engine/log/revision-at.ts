/** Finds the last revision at a time. */
import { readStamp } from './wire.js'
import type { LogReader } from '../../store/index.js'

/**
 * The revision of the last event at or before `at`, in milliseconds since 1970; -1 if all are later. The times of a log never decrease (INV-14), so a
 * binary search reads about log2 of `head` events. `head`: the last revision to consider.
 */
export const revisionAt = async (log: LogReader, stream: string, head: number, at: number): Promise<number> => {
  let low = -1
  let high = head
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const time = await timeAt(log, stream, middle)
    // An event that was cut off is older than all that are left.
    if (time === undefined || time <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** The time of an event, in milliseconds since 1970; `undefined` if it was cut off. */
export const timeAt = async (log: LogReader, stream: string, revision: number): Promise<number | undefined> => {
  const [event] = await log.pick(stream, [revision])
  return event === undefined ? undefined : (readStamp(event.metadata, event.created)?.at ?? Date.parse(event.created))
}
