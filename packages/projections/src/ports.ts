/** What a projection is fed from, and where it is put aside. Adapters implement both. */
import type { QueueEvent, Unreadable } from '@daybook/core'
import type { Observable } from 'rxjs'

/** Events in a row; `from` is the revision of the first. What cannot be read keeps its place. */
export interface Page {
  readonly from: number
  readonly events: ReadonlyArray<QueueEvent | Unreadable>
}

/** The log of one queue. */
export interface EventSource {
  /** Revision of the last event, -1 for none. */
  readonly head: () => Promise<number>
  /** Pages from this revision to the head there is when it gets there; then it ends. */
  readonly read: (from: number) => AsyncIterable<Page>
  /** What becomes durable from now on, by whomever. */
  readonly committed: Observable<Page>
}

export interface Checkpoint {
  readonly projection: string
  readonly version: number
  /** Of the last event folded into `state`. */
  readonly revision: number
  /** JSON text. */
  readonly state: string
}

/** Keeps the last checkpoint of each projection of one queue. A cache: it may lose any of them. */
export interface CheckpointStore {
  readonly load: (projection: string) => Promise<Checkpoint | undefined>
  /** Replaces the former one as a whole. */
  readonly save: (checkpoint: Checkpoint) => Promise<void>
}

/** Checkpoints for as long as the process lives. */
export const memoryCheckpoints = (): CheckpointStore => {
  const saved = new Map<string, Checkpoint>()
  return {
    load: async (projection) => saved.get(projection),
    save: async (checkpoint) => {
      saved.set(checkpoint.projection, checkpoint)
    },
  }
}
