/** The errors of calls that their callers gave up or that came too late, and a callback for when a signal aborts. */
import { DaybookError } from '../errors.js'

export const abortedError = (signal: AbortSignal): DaybookError => new DaybookError('aborted', 'given up by the caller', { cause: signal.reason })

export const closedError = (): DaybookError =>
  new DaybookError('closed', 'this client was closed; create another one', { unsent: true })

/** Adds one listener per signal, however many calls share it: Node warns of a leak at the eleventh listener. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `callback` once when the signal aborts. Returns a function that unsubscribes. The signal must not be aborted yet. */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  let callbacks = waiting.get(signal)
  if (callbacks === undefined) {
    const all = new Set<() => void>()
    callbacks = all
    waiting.set(signal, all)
    signal.addEventListener('abort', () => {
      for (const each of all) each()
    }, { once: true })
  }
  callbacks.add(callback)
  return () => callbacks.delete(callback)
}
