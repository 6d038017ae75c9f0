/** The messages about segments that are damaged, missing, or cannot be read now. */
import { LostEvents, StoreError } from '../store/index.js'

export const damagedSegment = (file: string, from: number, to: number, what: string, cause?: unknown): LostEvents =>
  new LostEvents('damaged', from, to, `the segment ${file} is damaged (${what}; revisions ${from} to ${to})`, 'bring it back from a backup', { cause })

export const missingSegment = (folder: string, stream: string, from: number, to: number): LostEvents =>
  new LostEvents(
    'truncated',
    from,
    to,
    `the events ${from} to ${to} of ${stream} were moved out of the log, and their segments are not in ${folder}`,
    'put them back there, or, to start a server, a snapshot that reaches behind them',
  )

export const unreadableNow = (file: string, cause: unknown): StoreError =>
  new StoreError('unavailable', `The segment ${file} cannot be read now: ${(cause as Error).message}. With EMFILE, allow this process more open files.`, { cause })
