import type { Database } from 'better-sqlite3'
import type { AppendSignal } from '../store/append-signal.js'

/** Interval between two polls, in milliseconds; it doubles while nothing happens. It bounds how late subscribers see another process's appends. */
const lookMsMin = 1
const lookMsMax = 16

/**
 * SQLite does not notify one process of another's commit. If processes share a file, this polls `data_version`, a number in shared memory (2 µs),
 * while there are subscribers. It is not used for an exclusive file.
 */
export const watchForeignAppends = (db: Database, signal: AppendSignal): (() => void) => {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  /** A file that cannot be read now is read again at the next poll. Whoever reads its events reports the error. */
  const lookUp = (): number | undefined => {
    try {
      return version.get()
    } catch {
      return seen
    }
  }
  let seen = version.get()
  let lookMs = lookMsMax
  let timer: NodeJS.Timeout
  const look = (): void => {
    if (signal.listeners() > 0) {
      const now = lookUp()
      lookMs = now === seen ? Math.min(2 * lookMs, lookMsMax) : lookMsMin
      if (now !== seen) signal.notifyAll()
      seen = now
    }
    timer = setTimeout(look, lookMs)
  }
  look()
  return () => clearTimeout(timer)
}
