/** Wakes subscribers when a stream may have new events. */
export interface AppendSignal {
  readonly notify: (stream: string) => void
  readonly notifyAll: () => void
  /** Calls `wake` at each notice until the returned function is called. */
  readonly listen: (stream: string, wake: () => void) => () => void
  readonly listeners: () => number
}

export const appendSignal = (): AppendSignal => {
  const waiting = new Map<string, Set<() => void>>()
  let count = 0

  const notify = (stream: string): void => waiting.get(stream)?.forEach((wake) => wake())

  return {
    notify,
    notifyAll: () => [...waiting.keys()].forEach(notify),
    listen: (stream, wake) => {
      const ofStream = waiting.get(stream) ?? new Set()
      waiting.set(stream, ofStream.add(wake))
      count += 1
      return () => {
        if (!ofStream.delete(wake)) return
        count -= 1
        if (ofStream.size === 0 && waiting.get(stream) === ofStream) waiting.delete(stream)
      }
    },
    listeners: () => count,
  }
}
