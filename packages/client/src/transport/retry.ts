/** When a failed request is sent again. */
import { longTimer } from './long-timer.js'
import { abortedError, onAbort } from './abort.js'
import { DaybookError } from '../errors.js'

/**
 * - `safe`: sending it twice is the same as sending it once. It is sent again after every failure to get an answer.
 * - `unsent`: it is sent again only if it certainly had no effect (no connection, or refused as overloaded).
 * - `never`: the caller decides. This is for claims: if the answer is lost, the tasks are held until their leases end.
 */
export type RetryPolicy = 'safe' | 'unsent' | 'never'

/** Codes of failures that may be temporary. */
const mayPass: ReadonlySet<string> = new Set(['unreachable', 'overloaded', 'too-many-requests', 'unavailable', 'read-only', 'clock', 'outcome-unknown', 'timeout'])

/** The first request with the same idempotency key has no answer yet. It is the only conflict that says when to come back. */
const isRunning = ({ code, retryAfterSeconds }: DaybookError): boolean => code === 'conflict' && retryAfterSeconds !== undefined

const firstDelayMs = 25
/** A server that restarts is back within seconds and should be found at once. So this many tries have short pauses. */
const soonTries = 40
const soonDelayMsMax = 250
const delayMsMax = 2_000

export const mayRetry = (error: DaybookError, policy: RetryPolicy): boolean => {
  switch (policy) {
    case 'never':
      return false
    case 'unsent':
      return (error.unsent && error.code === 'unreachable') || error.code === 'overloaded' || error.code === 'too-many-requests'
    case 'safe':
      return mayPass.has(error.code) || isRunning(error)
  }
}

/**
 * The pause after a number of failures, in milliseconds. It doubles from 25 to 250 ms, and stays there for 40 tries, which take five to ten seconds.
 * Then it doubles up to `max`. Half of it is random, so that callers do not come back all at once. It is never less than the server asks for.
 */
export const backoffMs = (failures: number, error: unknown, max = delayMsMax): number => {
  const soon = Math.min(soonDelayMsMax, firstDelayMs * 2 ** Math.min(20, failures - 1))
  const full = Math.min(max, soon * 2 ** Math.max(0, Math.min(20, failures - soonTries)))
  const jittered = full * (0.5 + Math.random() / 2)
  const wish = error instanceof DaybookError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0
  return wish > 0 ? wish + (jittered - full / 2) : jittered
}

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. `options`: those of the timer. */
export const pause = (ms: number, signal?: AbortSignal, options?: Parameters<typeof longTimer>[2]): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const done = (): void => {
      stopWaiting()
      forget?.()
      resolve()
    }
    const stopWaiting = longTimer(ms, done, options)
    const forget = signal === undefined ? undefined : onAbort(signal, done)
  })

/**
 * Tries until the call succeeds. Throws the last error if that is not one to retry, or if the next try would start after `deadline` (of
 * `performance.now()`).
 */
export const retrying = async <T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  deadline: number,
  signal?: AbortSignal,
): Promise<T> => {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof DaybookError) || !mayRetry(error, policy)) throw error
      const delayMs = backoffMs(failures, error)
      if (performance.now() + delayMs > deadline) throw error
      await pause(delayMs, signal)
      if (signal?.aborted === true) throw abortedError(signal)
    }
  }
}
