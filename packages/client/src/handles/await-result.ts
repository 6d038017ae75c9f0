/** Waiting for the result of a task for longer than one request lasts, while servers stop, restart and take over from each other. */
import { isSettled } from '@daybook/core/common'
import { abortedError, joined } from '../transport/abort.js'
import { DaybookError } from '../errors.js'
import { longTimer } from '../transport/long-timer.js'
import type { CallOptions } from '../options.js'
import { pause } from '../transport/retry.js'
import type { TaskResult } from '../methods/tasks.js'

export interface ResultOptions {
  /** How long to wait, in milliseconds. Then it rejects with `timeout`, and the message says where the task stands. Default: for ever. */
  readonly timeoutMs?: number | undefined
  /** Gives up: it rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined
  /** For how long servers may be out of reach at a time, in milliseconds. Default: the client's `retryForMs`. */
  readonly retryForMs?: number | undefined
}

/** One question: the result, waited for on the server. */
export type AskResult = (id: string, options: CallOptions & { readonly wait: number }) => Promise<TaskResult>

/** As a worker's claim: short enough for proxies, which end what is silent for a minute. */
const waitSecondsMax = 20
/** The time that an answer may take after the server's wait is over. */
const answerMs = 1_000
/** A server that answers at once, without waiting, is not asked again sooner than after this. */
const restMs = 100

/** Resolves when the task is completed, cancelled, discarded or a dead letter. */
export const awaitResult = async (id: string, ask: AskResult, { timeoutMs = Number.POSITIVE_INFINITY, signal, retryForMs = 0 }: ResultOptions): Promise<TaskResult> => {
  if (signal?.aborted === true) throw abortedError(signal)
  const endsAt = performance.now() + timeoutMs
  const timedOut = (standing: string): DaybookError => new DaybookError('timeout', `task ${id} is not finished after ${timeoutMs} ms${standing}`)
  let standing = ''
  const over = joined(signal)
  const stopTimer = longTimer(timeoutMs + answerMs, () => over.abort(timedOut(standing)))
  try {
    for (;;) {
      const askedAt = performance.now()
      const leftMs = Math.max(0, endsAt - askedAt)
      const waitMs = Math.ceil(Math.min(waitSecondsMax * 1_000, leftMs))
      const answer = await ask(id, { wait: waitMs / 1_000, signal: over.signal, retryForMs: Math.min(leftMs, waitMs + retryForMs) })
      if (isSettled(answer.status)) return answer
      standing = `: it is ${answer.status}`
      const now = performance.now()
      if (now >= endsAt) throw timedOut(standing)
      await pause(Math.min(endsAt - now, askedAt + restMs - now), over.signal)
    }
  } catch (error) {
    throw over.signal.reason instanceof DaybookError ? over.signal.reason : error
  } finally {
    stopTimer()
    over.forget()
  }
}
