/** Entry point of the thread that verifies, so that no request on the main thread has to wait. It ends with its answer. */
import { parentPort, workerData } from 'node:worker_threads'
import { errorText } from '../error-text.js'
import { lowerPriority } from '../lower-priority.js'
import { type LogAddress, StoreError } from '../store/index.js'
import { queueOf } from '../engine/index.js'
import { readCheckpoints } from './checkpoint-files.js'
import { type Verified, verifyAt } from './verify-log.js'

export interface VerifyThreadOptions {
  readonly log: LogAddress
  readonly stream: string
  /** The folder of checkpoints. */
  readonly checkpoints: string
}

export type FromVerifyThread = { readonly verdict: Verified } | { readonly failed: string; readonly code?: string }

if (parentPort !== null) {
  const { log, stream, checkpoints } = workerData as VerifyThreadOptions
  lowerPriority()
  const answer: FromVerifyThread = await readCheckpoints(checkpoints, queueOf(stream)).then((signed) => verifyAt(log, stream, { checkpoints: signed })).then(
    (verdict) => ({ verdict }),
    (error: unknown) => ({ failed: errorText(error), ...(error instanceof StoreError ? { code: error.code } : {}) }),
  )
  parentPort.postMessage(answer)
  parentPort.close()
}
