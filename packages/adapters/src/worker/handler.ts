/** What a user of the worker writes, and what it can throw. */
import type { Json, Result } from '@daybook/core'
import type { WorkTask } from './source.js'

/** What a handler is given beside the task. Taking a member out of it (`{ signal }`) is safe. */
export interface HandlerContext {
  /**
   * Aborted when the lease is lost (expired, cancelled, terminated: GB-03, GB-07) or the grace period of a
   * stop is over. From then on the task may be somebody else's, and what the handler returns is not reported.
   */
  readonly signal: AbortSignal
  /** `expiresAt` by the clock of this process; the worker extends it by itself. */
  readonly lease: { readonly token: number; readonly expiresAt: Date }
  /** What a former holder left with `checkpoint`. */
  readonly lastCheckpoint: Json | undefined
  /** Tells how far the work is. Sent with a heartbeat at once; of several in a row only the newest is sent. */
  readonly progress: (value: Json) => void
  /**
   * Leaves something for the next holder, should this one fail. Resolves once it is durable; rejects if the
   * lease is lost or the value is refused.
   */
  readonly checkpoint: (value: Json) => Promise<void>
  /**
   * Gives the task back, by throwing. It counts as an attempt, and this agent will not be given the task
   * again (GB-02, GB-04).
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

/** What `release` throws; a handler that catches everything must let it pass. */
export class Release extends Error {
  override readonly name: string = 'Release'
}

/** The reason of an aborted `signal`, and what pending checkpoints reject with. */
export class LeaseLost extends Error {
  override readonly name: string = 'LeaseLost'
}
export class WorkerStopped extends Error {
  override readonly name: string = 'WorkerStopped'
}
