/** The handler of a worker, and the errors that it can throw. */
import type { Json, ParkRequest, Result } from '@daybook/core'
import type { Memory } from '../methods/memory.js'
import type { ReceivedCallback, WorkTask } from './source.js'

/** The handler's second argument. It can be destructured (`{ signal }`). */
export interface HandlerContext {
  /**
   * Aborted in three cases; `signal.reason` says which. {@link LeaseLost}: the lease expired, the task was cancelled, or the agent was terminated
   * (GB-03, GB-07). {@link RunTimeExceeded}: the handler ran longer than `maxRunSeconds`. {@link WorkerStopped}: the grace period of a stop is over.
   * A result that the handler returns after that is not reported. Unless the lease is lost, `checkpoint` still works until the handler ends.
   */
  readonly signal: AbortSignal
  /** The lease. `expiresAt` is by the clock of this process. The worker extends the lease by itself. */
  readonly lease: { readonly token: number; readonly expiresAt: Date }
  /** The last checkpoint of an earlier attempt. */
  readonly lastCheckpoint: Json | undefined
  /** The callback for which an earlier attempt parked the task, with its payload. */
  readonly callback: ReceivedCallback | undefined
  /** Memories of earlier tasks of the same ticket, and of similar tasks. Empty if there are none, or if the memory did not answer in time. */
  readonly memories: ReadonlyArray<Partial<Memory>>
  /** Why some memories may be missing: for example, the memory did not answer in time. */
  readonly memoriesMissing: string | undefined
  /** Reports progress. It is sent at once with a heartbeat. Of several calls in a row, only the newest value is sent. */
  readonly progress: (value: Json) => void
  /** Saves a value for the next attempt, in case this one fails. Resolves once it is durable. Rejects if the lease is lost or the value is refused. */
  readonly checkpoint: (value: Json) => Promise<void>
  /** Gives the task back to the queue by throwing. This counts as an attempt, and this agent will not get the task again (GB-02, GB-04). */
  readonly release: (reason: string) => never
  /**
   * Parks the task by throwing. The task then waits for something outside, such as a person's approval, and occupies no handler meanwhile. No attempt
   * is counted. The next attempt has the payload as `callback`.
   */
  readonly park: (request: ParkRequest) => never
}

/**
 * Works on one task. Its result completes the task; `success: false` or a thrown error fails it. If the queue requires decision reports (the
 * default), a completion without `decisionReport` leaves the task *incomplete* (LK-02). `P` is the type of the tasks' payloads; see {@link WorkTask}.
 */
export type Handler<P = Json> = (task: WorkTask<P>, context: HandlerContext) => Promise<Result | void> | Result | void

/** Thrown by a handler if a retry is useless. The task becomes a dead letter at once. */
export class PermanentError extends Error {
  override readonly name: string = 'PermanentError'
}

/**
 * Thrown by a handler that met a rate limit. The task is tried again after a number of seconds, or at a time (HTTP date or ISO 8601), and this agent
 * gets no task until then. It does not count as a failure, unless it happens too often (`rateLimit.maxPerTask`).
 */
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

/** Thrown by `release`. A handler that catches every error must rethrow this one. */
export class Release extends Error {
  override readonly name: string = 'Release'
}

/** Thrown by `park`. A handler that catches every error must rethrow this one. */
export class Park extends Error {
  override readonly name: string = 'Park'
  constructor(readonly request: ParkRequest) {
    super(`parked until the callback ${request.callbackKey}`)
  }
}

/** The reason of an aborted `signal`, and of rejected checkpoints: the lease is lost. */
export class LeaseLost extends Error {
  override readonly name: string = 'LeaseLost'
}

/** The reason of an aborted `signal`: the handler ran longer than `maxRunSeconds`. */
export class RunTimeExceeded extends Error {
  override readonly name: string = 'RunTimeExceeded'
}

/**
 * The reason of an aborted `signal` when the worker stops. A handler may throw it itself after it has called `stop`, for example if it finds that it
 * cannot work here. The task is then given back, which counts as no attempt and does not bar the agent. If the worker is not stopping, it is an error
 * like any other.
 */
export class WorkerStopped extends Error {
  override readonly name: string = 'WorkerStopped'
}
