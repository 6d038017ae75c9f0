/**
 * The asking side of the thread that finds out how a queue was at a revision. A snapshot is loaded, and events are replayed, beside the reading of
 * the log; the state is gone with the thread.
 */
import type { Worker } from 'node:worker_threads'
import type { LogAddress } from '../../store/index.js'
import { newThread } from '../../threads.js'
import type { Ending } from './source.js'

export interface EndingOptions {
  readonly address: LogAddress
  /** The folder of the snapshots; without it, the log is replayed from the first event. */
  readonly snapshots: string | undefined
  readonly queue: string
  readonly revision: number
}

export class EndingThread {
  private worker: Worker | undefined

  /** To be asked once. Rejects if the log cannot be read. */
  ask(options: EndingOptions): Promise<Ending> {
    const worker = (this.worker = newThread(new URL('./ending-thread.js', import.meta.url), { workerData: options }))
    return new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('The thread that reads how the queue was has ended.')))
    })
  }

  /** Gives up what is asked and not answered. */
  async close(): Promise<void> {
    await this.worker?.terminate()
  }
}
