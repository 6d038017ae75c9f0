/** The source of a projection's events, and the store of its checkpoints. Adapters implement both. */
import type { Unreadable } from '@daybook/core'
import type { Observable } from 'rxjs'
import type { LoggedEvent } from './projection.js'

/** Consecutive events; `from` is the revision of the first. An event that cannot be read keeps its place. */
export interface Page {
  readonly from: number
  readonly events: ReadonlyArray<LoggedEvent | Unreadable>
}

/** The log of one queue. All events come from `read`, new ones as well, so that a projection sees each event in one form only. */
export interface EventSource {
  /** Revision of the last event, -1 for none. */
  readonly head: () => Promise<number>
  /** Pages from this revision up to the head, including events appended while it reads. */
  readonly read: (from: number) => AsyncIterable<Page>
  /** The revision of the last event, emitted whenever the log has grown, whoever appended. */
  readonly grown: Observable<number>
}

export interface Checkpoint {
  readonly projection: string
  readonly version: number
  /** Revision of the last event folded into `state`. */
  readonly revision: number
  /** JSON text. */
  readonly state: string
}

/** Stores the last checkpoint of each projection of one queue. It is a cache and may lose them. */
export interface CheckpointStore {
  readonly load: (projection: string) => Promise<Checkpoint | undefined>
  /** Replaces the former checkpoint, atomically. */
  readonly save: (checkpoint: Checkpoint) => Promise<void>
}

/** Keeps checkpoints in memory. */
export const memoryCheckpoints = (): CheckpointStore => {
  const saved = new Map<string, Checkpoint>()
  return {
    load: async (projection) => saved.get(projection),
    save: async (checkpoint) => {
      saved.set(checkpoint.projection, checkpoint)
    },
  }
}
