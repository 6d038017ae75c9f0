import type { EventStore, LogReader } from '../store/index.js'
import type { QueueEngine } from './types.js'

/** The progress of replaying a queue before the server is ready. */
export interface Loading {
  readonly queue: string
  /** Number of events read so far. `of`: their total. */
  readonly events: number
  readonly of: number
}

/** A queue whose log was deleted or truncated by somebody, or whose archive is damaged. It is not opened, and not created again. If it was open, it continues from memory. */
export interface RefusedQueue {
  readonly queue: string
  readonly reason: string
}

/** All queues of one store. */
export interface Daybook {
  /** The store's name, for people. */
  readonly store: string
  /** The log itself, for reading only. */
  readonly log: EventStore
  /** The log with encrypted contents decrypted, as far as their keys are here: for answers to people. */
  readonly contentLog: LogReader
  /** The queue, if it ever had an event. This includes a deleted queue, whose log still exists. */
  readonly queue: (name: string) => QueueEngine | undefined
  /** Like `queue`, but on a shared store it also looks for queues of other processes. Rejects if the store cannot be read. */
  readonly find: (name: string) => Promise<QueueEngine | undefined>
  /** The queue, opened for its first event if necessary. Nothing is written until there is an event. */
  readonly open: (name: string) => Promise<QueueEngine>
  /** Like `open`, for one request. If the queue has no events, it may be closed when it has nothing to do. */
  readonly visit: (name: string) => Promise<QueueEngine>
  /** All queues except deleted ones. */
  readonly queues: () => ReadonlyArray<QueueEngine>
  /** Why a shared store could not be listed at the last attempt. */
  readonly problem: () => string | undefined
  /** Existing queues that cannot be opened, or opened again. A request for such a queue tries again, once a second at most. Other queues are not affected. */
  readonly refused: () => ReadonlyArray<RefusedQueue>
  /** Queues that are still being replayed; empty when ready. */
  readonly loading: () => ReadonlyArray<Loading>
  /** Milliseconds since 1970, by the clock that decisions use: while the wall clock is refused, by the monotonic one. */
  readonly now: () => number
  /** Resolves when all queues of the store have been replayed. */
  readonly ready: Promise<void>
  readonly close: () => Promise<void>
}
