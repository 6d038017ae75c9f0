import type { Database } from 'better-sqlite3'
import type { AppendSignal } from '../store/append-signal.js'

/** Between two looks, in milliseconds: doubles while nothing happens. Bounds how late a subscription hears of another process's append. */
const lookMsMin = 1
const lookMsMax = 16

/**
 * SQLite cannot tell one process of another's commit. Where processes share a file, look at
 * `data_version`, a number in shared memory (2 µs), as long as anybody listens. A server that has
 * its file for itself runs none of this.
 */
export const watchForeignAppends = (db: Database, signal: AppendSignal): (() => void) => {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  let seen = version.get()
  let lookMs = lookMsMax
  let timer: NodeJS.Timeout
  const look = (): void => {
    if (signal.listeners() > 0) {
      const now = version.get()
      lookMs = now === seen ? Math.min(2 * lookMs, lookMsMax) : lookMsMin
      if (now !== seen) signal.notifyAll()
      seen = now
    }
    timer = setTimeout(look, lookMs)
  }
  look()
  return () => clearTimeout(timer)
}
