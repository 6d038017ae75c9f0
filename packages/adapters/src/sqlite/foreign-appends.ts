import type { Database } from 'better-sqlite3'
import type { AppendSignal } from '../store/append-signal.js'

/** Bounds how late a subscription hears of another process's append. */
const pollMs = 20

/**
 * SQLite cannot tell one process of another's commit. Where processes share a file, look at
 * `data_version`, a number in shared memory (2 µs), as long as anybody listens. A server that has
 * its file for itself runs none of this.
 */
export const watchForeignAppends = (db: Database, signal: AppendSignal): (() => void) => {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  let seen = version.get()
  const timer = setInterval(() => {
    if (signal.listeners() === 0) return
    const now = version.get()
    if (now === seen) return
    seen = now
    signal.notifyAll()
  }, pollMs)
  return () => clearInterval(timer)
}
