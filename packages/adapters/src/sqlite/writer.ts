/**
 * The writer as the store's thread sees it, through failure and renewal:
 *
 * ```
 *            open()            fatal verdict, or the thread died
 *  starting ───────▶ running ───────────────────────────────────▶ stopped
 *      ▲                                                             │
 *      └────────────── the next append or read: renew() ─────────────┘
 * ```
 *
 * A writer whose commit failed with an I/O error is never used again, because its view of the file may be wrong. A new
 * one runs recovery. Until then nothing is read: a reader could miss events that recovery brings back (EV-03).
 */
import { newThread } from '../threads/new-thread.js'
import type { AppendBatch, AppendVerdict } from './append-transaction.js'
import { fromProblem, type StoreProblem } from './errors.js'
import { postedBatch } from './posted-batch.js'
import type { FromWriter, ToWriter, WriterOptions } from './writer-protocol.js'

export interface Writer {
  readonly append: (batch: AppendBatch) => Promise<AppendVerdict>
  readonly healthy: () => boolean
  /** Resolves when the writer runs; rejects with a StoreError if it cannot be replaced. */
  readonly ready: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The largest number of appends that wait for answers. Further ones are refused. */
const pendingMax = 4096

interface Thread {
  readonly send: (message: ToWriter) => void
  readonly ended: Promise<void>
}

export const startWriter = async (options: Omit<WriterOptions, 'settle'>): Promise<Writer> => {
  const pending: Array<(verdict: AppendVerdict) => void> = []
  let state: 'running' | 'stopped' = 'stopped'
  let thread: Thread
  let renewal: Promise<void> | undefined

  const answer = (verdicts: ReadonlyArray<AppendVerdict>): void => {
    const resolves = pending.splice(0, verdicts.length)
    resolves.forEach((resolve, i) => resolve(verdicts[i]!))
  }

  const lose = (reason: string): void =>
    answer(pending.map(() => ({ error: { _tag: 'OutcomeUnknown', reason } })))

  const open = (settle: boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = newThread(new URL('./writer-thread.js', import.meta.url), {
        workerData: { ...options, settle } satisfies WriterOptions,
      })
      const ended = new Promise<void>((done) => worker.once('exit', () => done()))
      thread = { send: (message) => worker.postMessage(message), ended }
      let problem: StoreProblem = { code: 'unavailable', message: 'The writing thread ended.' }
      worker.on('error', (error) => {
        problem = { code: 'unavailable', message: `The writing thread failed: ${String(error)}.` }
      })
      worker.on('message', (message: FromWriter) => {
        if (message.kind === 'verdicts') {
          if (message.fatal) state = 'stopped'
          answer(message.verdicts)
        } else if (message.kind === 'open') {
          state = 'running'
          resolve()
        } else {
          problem = message.problem
        }
      })
      void ended.then(() => {
        state = 'stopped'
        lose(problem.message)
        reject(fromProblem(problem))
      })
    })

  /** Ends the old thread, which first answers everything that it was sent, and starts a new one. */
  const renew = async (): Promise<void> => {
    thread.send({ kind: 'close' })
    await thread.ended
    await open(true)
  }

  const ready = (): Promise<void> => {
    if (state === 'running') return Promise.resolve()
    renewal ??= renew().finally(() => (renewal = undefined))
    return renewal
  }

  await open(false)

  return {
    append: async (batch) => {
      if (state !== 'running') {
        try {
          await ready()
        } catch (error) {
          return { error: { _tag: 'Unavailable', reason: (error as Error).message } }
        }
      }
      if (pending.length >= pendingMax) {
        return { error: { _tag: 'Unavailable', reason: `${pendingMax} appends are waiting: try again later.` } }
      }
      return new Promise((resolve) => {
        pending.push(resolve)
        thread.send({ kind: 'append', batch: postedBatch(batch) })
      })
    },
    healthy: () => state === 'running',
    ready,
    close: async () => {
      await renewal?.catch(() => undefined)
      thread.send({ kind: 'close' })
      await thread.ended
    },
  }
}
