/** What a user of the worker writes, and what it can throw. */
import type { Json, Result } from '@daybook/core'
import type { WorkTask } from './source.js'

/** What a handler is given beside the task. Taking a member out of it (`{ signal }`) is safe. */
export interface HandlerContext {
  /**
   * Aborted in three cases; `signal.reason` says which. {@link LeaseLost}: the task expired, was cancelled, or the agent
   * was terminated (GB-03, GB-07). {@link RunTimeExceeded}: the handler ran longer than `maxRunSeconds`.
   * {@link WorkerStopped}: the grace period of a stop is over. What the handler returns after that is not reported.
   */
  readonly signal: AbortSignal
  /** `expiresAt` by the clock of this process. The worker extends the lease by itself. */
  readonly lease: { readonly token: number; readonly expiresAt: Date }
  /** What a former holder left with `checkpoint`. */
  readonly lastCheckpoint: Json | undefined
  /** Tells how far the work is. It is sent with a heartbeat at once; of several in a row only the newest is sent. */
  readonly progress: (value: Json) => void
  /**
   * Leaves something for the next holder, should this one fail. Resolves once it is durable. Rejects if the
   * lease is lost or the value is refused.
   */
  readonly checkpoint: (value: Json) => Promise<void>
  /**
   * Refuses the task, by throwing: it goes back to the queue. That counts as an attempt, and this agent will not be
   * given the task again (GB-02, GB-04).
   */
  readonly release: (reason: string) => never
}

/**
 * Works on one task. What it returns completes the task; `success: false`, or an error thrown, fails it.
 * Where the queue requires decision reports (the default), a completion without `decisionReport` leaves the
 * task *incomplete* (LK-02). `P` is the type of its tasks' payloads; see {@link WorkTask}.
 */
export type Handler<P = Json> = (task: WorkTask<P>, context: HandlerContext) => Promise<Result | void> | Result | void

/** Thrown by a handler: trying again is of no use. The task goes to the dead letters at once. */
export class PermanentError extends Error {
  override readonly name: string = 'PermanentError'
}

/** Thrown by a handler: fails the task, asking for the next try not before so many seconds, or a time (ISO 8601). */
export class RetryLater extends Error {
  override readonly name: string = 'RetryLater'
  constructor(
    message: string,
    readonly retryAfter: number | string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** What `release` throws. A handler that catches every error must throw this one on. */
export class Release extends Error {
  override readonly name: string = 'Release'
}

/** The reason of an aborted `signal`, and what pending checkpoints reject with. */
export class LeaseLost extends Error {
  override readonly name: string = 'LeaseLost'
}

/** The reason of an aborted `signal`: the handler ran longer than `maxRunSeconds`. */
export class RunTimeExceeded extends Error {
  override readonly name: string = 'RunTimeExceeded'
}

/**
 * The reason of an aborted `signal` when the worker stops. A handler may throw one itself after it has called `stop`, as when
 * it finds that it cannot work here: the task goes back, which is neither an attempt nor a reason to bar the agent. From a
 * worker that goes on it is an error like any other.
 */
export class WorkerStopped extends Error {
  override readonly name: string = 'WorkerStopped'
}
