/** A worker: claims tasks, runs the handler on them, hands in what comes of it. `worker-loop.ts` says how. */
import type { Json } from '@daybook/core'
import type { WorkerStats } from './events.js'
import { configureWorker, type StopOptions, type WorkerOptions } from './options.js'
import { WorkerLoop } from './worker-loop.js'

export interface TaskWorker {
  readonly agentId: string
  /** Begins to claim. A worker starts once. */
  readonly start: () => void
  /**
   * Claims no more, gives up the waiting claim (one that was sent just now is awaited for up to 100 ms), and ends what is under way:
   *
   * 1. Tasks claimed ahead are worked off if that is likely to take no more than half of the grace period;
   *    otherwise they are given back at once.
   * 2. Handlers may go on for `graceMs`. Then their signals are aborted, and their tasks are given back as
   *    they end. A handler that does not end within a second is abandoned: its task stays leased until the
   *    lease ends, since two at one task would be worse than a late retry.
   * 3. Outcomes are handed in, for five more seconds at most if the queue cannot be reached.
   *
   * A task that is given back goes to whoever claims next, this agent included. It is no attempt.
   *
   * Resolves when that is done. Never rejects. A second call may shorten the grace period.
   */
  readonly stop: (options?: StopOptions) => Promise<void>
  /** Resolves when nothing is in hand, everything is handed in, and the queue had no more for this worker. */
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
 */
export const createWorker = <P = Json>(options: WorkerOptions<P>): TaskWorker => {
  // What payloads are is for the handler to say: to the worker they are JSON.
  const worker = new WorkerLoop(configureWorker(options as unknown as WorkerOptions))
  return {
    agentId: worker.config.agentId,
    start: () => worker.start(),
    stop: ({ graceMs = 10_000 } = {}) => worker.stop(graceMs),
    drained: () => worker.drained(),
    ended: worker.ended,
    stats: () => worker.stats(),
  }
}
