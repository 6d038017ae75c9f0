/**
 * Verifications of a server, with the checkpoints in this folder: one at a time, each on a thread of its own. A request for a queue that is being
 * verified gets the answer of that verification.
 */
import type { Worker } from 'node:worker_threads'
import { type LogAddress, StoreError, type StoreErrorCode } from '../store/index.js'
import { backgroundThread } from '../threads/new-thread.js'
import type { Verified } from './verify-log.js'
import type { FromVerifyThread, VerifyThreadOptions } from './verify-thread.js'

export interface Verifications {
  /** Rejects with StoreError if the log cannot be read. */
  readonly verify: (stream: string) => Promise<Verified>
  readonly close: () => Promise<void>
}

const closedError = (): StoreError => new StoreError('closed', 'the server is stopping: try again shortly')

export const verificationsOn = (log: LogAddress, checkpoints: string): Verifications => {
  const running = new Map<string, Promise<Verified>>()
  let last: Promise<unknown> = Promise.resolve()
  let worker: Worker | undefined
  let isClosed = false

  const run = (stream: string): Promise<Verified> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(closedError())
      worker = backgroundThread(new URL('./verify-thread.js', import.meta.url), { log, stream, checkpoints } satisfies VerifyThreadOptions)
      worker.once('message', (answer: FromVerifyThread) => {
        if ('verdict' in answer) resolve(answer.verdict)
        else reject(new StoreError((answer.code ?? 'unavailable') as StoreErrorCode, answer.failed))
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(closedError()))
    })

  return {
    verify: (stream) => {
      const under = running.get(stream)
      if (under !== undefined) return under
      const verdict = last.then(() => run(stream)).finally(() => running.delete(stream))
      last = verdict.catch(() => undefined)
      running.set(stream, verdict)
      return verdict
    },
    close: async () => {
      isClosed = true
      await worker?.terminate()
    },
  }
}

/** Verifies on the calling thread: for a log that no other thread can read. */
export const verificationsHere = (verify: Verifications['verify']): Verifications => ({ verify, close: async () => undefined })
