/** One listener per signal, however many calls share it. With one for each call, Node would warn of a leak at the eleventh. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls back once when the signal is aborted. Returns a function that unsubscribes. Not for signals that are aborted already. */
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
