/** The messages about segments that are damaged, missing, or cannot be read now. */
import { LostEvents, StoreError } from '../store/index.js'

/** `advice`: for what can be put right without a backup. */
export const damagedSegment = (file: string, from: number, to: number, what: string, cause?: unknown, advice = 'bring it back from a backup'): LostEvents =>
  new LostEvents('damaged', from, to, `the segment ${file} is damaged (${what}; revisions ${from} to ${to})`, advice, { cause })

export const missingSegment = (folder: string, stream: string, from: number, to: number): LostEvents =>
  new LostEvents(
    'truncated',
    from,
    to,
    `the events ${from} to ${to} of ${stream} are not in the log any more, and their segments are not in ${folder}`,
    // A log does not say who took its first events away.
    'put them back there, or, to start a server, a snapshot that reaches behind them; if the store is EventStoreDB and nobody archived these events, an administrator truncated the stream: take $tb, $maxCount and $maxAge out of its metadata, before a scavenge removes the events',
  )

export const unreadableNow = (file: string, cause: unknown): StoreError =>
  new StoreError('unavailable', `The segment ${file} cannot be read now: ${(cause as Error).message}. With EMFILE, allow this process more open files.`, { cause })
