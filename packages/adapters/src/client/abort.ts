/** One listener per signal, however many calls share it: Node warns of a leak at the eleventh. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls back once when the signal is aborted; returns what takes that back. Not for signals aborted already. */
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
