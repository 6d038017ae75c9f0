/** Signed checkpoints for a server: a thread that signs every so often, and once more at the end. */
import { Worker } from 'node:worker_threads'
import { longTimer } from '../long-timer.js'
import type { CheckpointThreadOptions, FromCheckpoints, ToCheckpoints } from './checkpoint-thread.js'
import { openSigningKey } from './signing-key.js'

export interface CheckpointsOptions extends CheckpointThreadOptions {
  readonly warn: (message: string) => void
}

export interface Checkpoints {
  readonly close: () => Promise<void>
}

/** The thread starts this long after the server: a server that starts has other things to do. In milliseconds. */
const firstMs = 5_000
/** How long the last checkpoint may take. */
const closeMs = 3_000

/** @throws Error if the key cannot be read or made. */
export const startCheckpoints = ({ warn, ...options }: CheckpointsOptions): Checkpoints => {
  openSigningKey(options.keyFile)
  let worker: Worker | undefined
  let ended: Promise<unknown> = Promise.resolve()
  const stopWaiting = longTimer(Math.min(firstMs, options.everyMs), () => {
    const thread = new Worker(new URL('./checkpoint-thread.js', import.meta.url), { workerData: options })
    worker = thread
    ended = new Promise((resolve) => thread.once('exit', resolve))
    thread.on('message', ({ warning }: FromCheckpoints) => warn(warning))
    thread.on('error', (error) => warn(`no more checkpoints are signed until the next start: ${String(error)}`))
  })
  const send = (message: ToCheckpoints): void => worker?.postMessage(message)
  return {
    close: async () => {
      stopWaiting()
      send('finish')
      const stopLate = longTimer(closeMs, () => send('stop'))
      await ended
      stopLate()
    },
  }
}
