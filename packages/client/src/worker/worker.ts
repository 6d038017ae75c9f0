/** A worker: claims tasks, runs the handler on them, and reports the outcomes. See `worker-loop.ts`. */
import type { Json } from '@daybook/core'
import type { WorkerStats } from './events.js'
import { configureWorker, type StopOptions, type TypedWorkerOptions, type WorkerOptions } from './options.js'
import { dispatcher } from './typed-handler.js'
import { WorkerLoop } from './worker-loop.js'

export interface TaskWorker {
  readonly agentId: string
  /** Begins to claim. A worker can be started once. */
  readonly start: () => void
  /**
   * Stops claiming, cancels the waiting claim (but waits up to 100 ms for one that was just sent), and finishes the rest:
   *
   * 1. Tasks claimed ahead are finished if that is likely to take no more than half of the grace period. Otherwise they are given back at once.
   * 2. Handlers may continue for `graceMs`. Then their signals are aborted, and their tasks are given back when they end. A handler that does not end
   *    within a second is abandoned. Its task stays leased until the lease ends, because two agents on one task would be worse than a late retry.
   * 3. Outcomes are sent, for at most five more seconds if the queue cannot be reached.
   *
   * A task that is given back can be claimed by any agent, also by this one. It does not count as an attempt.
   *
   * Resolves when all this is done. Never rejects. A second call may shorten the grace period.
   */
  readonly stop: (options?: StopOptions) => Promise<void>
  /** Resolves when the worker has no tasks, all outcomes are accepted, and the queue has no more tasks for it. */
  readonly drained: () => Promise<void>
  /** Resolves when the worker has stopped; rejects if it stopped by itself because its claims are refused. */
  readonly ended: Promise<void>
  readonly stats: () => WorkerStats
}

/**
 * @example
 * const worker = createWorker({ source: httpSource(client), types: ['mail-*'], handler: async (task) => send(task.payload) })
 * worker.start()
 * process.once('SIGTERM', () => void worker.stop())
 * await worker.ended
 * @example
 * createWorker<{ to: string }>({ source, types: ['mail'], handler: async ({ payload }) => send(payload.to) })
 * @example
 * createWorker({ source, handlers: [handlerOf(mail, async ({ payload }) => send(payload.to)), handlerOf(invoice, print)] })
 */
export function createWorker(options: TypedWorkerOptions): TaskWorker
export function createWorker<P = Json>(options: WorkerOptions<P>): TaskWorker
// The handler determines the type of payloads. To the worker they are JSON.
export function createWorker(options: WorkerOptions | TypedWorkerOptions): TaskWorker {
  const worker = new WorkerLoop(configureWorker('handlers' in options ? { ...options, ...dispatcher(options.handlers) } : options))
  return {
    agentId: worker.config.agentId,
    start: () => worker.start(),
    stop: ({ graceMs = 10_000 } = {}) => worker.stop(graceMs),
    drained: () => worker.drained(),
    ended: worker.ended,
    stats: () => worker.stats(),
  }
}
