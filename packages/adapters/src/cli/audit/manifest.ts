/** The manifest of an export, and the port to those who write one. */
import type { Ending, EventLines } from './source.js'

export const formatVersion = 1

export interface Manifest extends Ending {
  readonly format: number
  readonly queue: string
  /** Revisions of the first and the last event of the log that were looked at. */
  readonly from: number
  readonly to: number
  /** The tasks whose events are there, with those about the queue as a whole. Without it, all events are. */
  readonly tasks?: ReadonlyArray<string>
  readonly events: number
  /** Of all lines before this one. */
  readonly sha256: string
}

/** What its writer does not know. */
export type WithoutHash = Omit<Manifest, 'format' | 'events' | 'sha256'>

/** Writes an export, some events at a time. */
export interface EventWriter {
  /** Resolves when there may be more: what is written is not gathered in memory. */
  readonly lines: (lines: EventLines) => Promise<void>
  readonly end: (rest: WithoutHash) => Promise<Manifest>
}
