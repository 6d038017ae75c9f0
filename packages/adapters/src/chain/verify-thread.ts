/** Entry point of the thread that verifies, so that nobody who is served meanwhile waits for it. It ends with its answer. */
import { parentPort, workerData } from 'node:worker_threads'
import { lowerPriority } from '../read-models/lower-priority.js'
import { type LogAddress, StoreError } from '../store/index.js'
import type { Verdict } from './verify.js'
import { verifyAt } from './verify-log.js'

export interface VerifyThreadOptions {
  readonly log: LogAddress
  readonly stream: string
}

export type FromVerifyThread = { readonly verdict: Verdict } | { readonly failed: string; readonly code?: string }

if (parentPort !== null) {
  const { log, stream } = workerData as VerifyThreadOptions
  lowerPriority()
  const answer: FromVerifyThread = await verifyAt(log, stream).then(
    (verdict) => ({ verdict }),
    (error: unknown) => ({ failed: error instanceof Error ? error.message : String(error), ...(error instanceof StoreError ? { code: error.code } : {}) }),
  )
  parentPort.postMessage(answer)
  parentPort.close()
}
