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
    const [event] = await log.pick(stream, [middle])
    // An event that was cut off is older than all that are left.
    if (event === undefined || (readStamp(event.metadata, event.created)?.at ?? Date.parse(event.created)) <= at) low = middle
    else high = middle - 1
  }
  return low
}
