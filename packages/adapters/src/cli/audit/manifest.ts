/** The manifest of an export, and the port for writers of exports. */
import type { Ending, EventLines } from './source.js'

export const formatVersion = 1

export interface Manifest extends Ending {
  readonly format: number
  readonly queue: string
  /** Revisions of the first and the last event of the log that were examined. */
  readonly from: number
  readonly to: number
  /** The tasks whose events are included, along with events about the queue as a whole. Missing if all events are included. */
  readonly tasks?: ReadonlyArray<string>
  readonly events: number
  /** Hash of all lines before this one. */
  readonly sha256: string
}

/** The manifest without the members that its writer computes. */
export type WithoutHash = Omit<Manifest, 'format' | 'events' | 'sha256'>

/** Writes an export, several events at a time. */
export interface EventWriter {
  /** Resolves when more can be written: nothing is gathered in memory. */
  readonly lines: (lines: EventLines) => Promise<void>
  readonly end: (rest: WithoutHash) => Promise<Manifest>
}
