import type { EventStore } from '../store/index.js'
import type { QueueEngine } from './types.js'

/** What is being read before the server is ready. */
export interface Loading {
  readonly queue: string
  /** Events read so far, of how many. */
  readonly events: number
  readonly of: number
}

/** A queue whose log somebody has deleted or cut: it is not opened, and not begun anew. One that was open goes on from memory. */
export interface RefusedQueue {
  readonly queue: string
  readonly reason: string
}

/** All queues of one store. */
export interface Daybook {
  /** The store's name, for people. */
  readonly store: string
  /** The log itself, for those who only read it: history, audit, export. */
  readonly log: EventStore
  /** The queue if it has ever had an event; one that was deleted, too, whose log is still there. */
  readonly queue: (name: string) => QueueEngine | undefined
  /** The same, but where other processes write to the store, it is looked for there, too. Rejects when that cannot be read. */
  readonly find: (name: string) => Promise<QueueEngine | undefined>
  /** The queue, opened for its first event if need be: nothing is written until there is one. */
  readonly open: (name: string) => Promise<QueueEngine>
  /** All but those that were deleted. */
  readonly queues: () => ReadonlyArray<QueueEngine>
  /** Why the store could not be read when it was last looked at, where other processes write to it, too. */
  readonly problem: () => string | undefined
  /** Those that are there and cannot be opened, or could not be opened again; naming one tries again. The others are not harmed. */
  readonly refused: () => ReadonlyArray<RefusedQueue>
  /** What is still being replayed; empty when ready. */
  readonly loading: () => ReadonlyArray<Loading>
  /** Resolves when all queues of the store have been replayed. */
  readonly ready: Promise<void>
  readonly close: () => Promise<void>
}
