/** Starts something for each queue of a server, including queues that are created later. */
import type { Daybook, QueueEngine } from '../engine/index.js'

/** Interval of looking for new queues, in milliseconds. */
const lookMs = 50

/** `start` is called once for each queue. Returns a function that ends all; it resolves when all have ended. */
export const forEachQueue = (daybook: Daybook, start: (engine: QueueEngine) => () => Promise<void>): (() => Promise<void>) => {
  const started = new Map<string, () => Promise<void>>()
  const look = (): void => {
    for (const engine of daybook.queues()) if (!started.has(engine.name)) started.set(engine.name, start(engine))
  }
  look()
  const timer = setInterval(look, lookMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await Promise.all([...started.values()].map((end) => end()))
  }
}
