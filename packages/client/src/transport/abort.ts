/** The errors of calls that their callers gave up or that came too late, a callback for when a signal aborts, and signals joined to one. */
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

export interface Joined {
  readonly signal: AbortSignal
  readonly abort: (reason?: unknown) => void
  /** To be called at the end, or each of the given signals keeps this one as long as it lives. */
  readonly forget: () => void
}

/** A signal that aborts with the first of these, and for its reason. AbortSignal.any() of Node 20 would leave something of each call on a signal that lives long. */
export const joined = (...signals: ReadonlyArray<AbortSignal | undefined>): Joined => {
  const controller = new AbortController()
  const abort = (reason?: unknown): void => controller.abort(reason)
  const forgets = signals.map((signal) => {
    if (signal?.aborted === true) abort(signal.reason)
    else if (signal !== undefined) return onAbort(signal, () => abort(signal.reason))
    return undefined
  })
  return { signal: controller.signal, abort, forget: () => forgets.forEach((forget) => forget?.()) }
}
