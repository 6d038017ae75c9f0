/**
 * The calling side of the thread that computes the state of a queue at a revision. The thread loads a snapshot and replays events while the log is
 * being read. The state is freed when the thread ends.
 */
import type { Worker } from 'node:worker_threads'
import type { LogAddress } from '../../store/index.js'
import { newThread } from '../../threads/new-thread.js'
import type { Ending } from './source.js'

export interface EndingOptions {
  readonly address: LogAddress
  /** The folder of snapshots. Without it, the log is replayed from the first event. */
  readonly snapshots: string | undefined
  readonly queue: string
  readonly revision: number
}

export class EndingThread {
  private worker: Worker | undefined

  /** Must be called only once. Rejects if the log cannot be read. */
  ask(options: EndingOptions): Promise<Ending> {
    const worker = (this.worker = newThread(new URL('./ending-thread.js', import.meta.url), { workerData: options }))
    return new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('The thread that reads how the queue was has ended.')))
    })
  }

  /** Cancels an unanswered request. */
  async close(): Promise<void> {
    await this.worker?.terminate()
  }
}
