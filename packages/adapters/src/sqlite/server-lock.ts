/**
 * One Daybook server per file. The lock is an SQLite lock on a second, empty file. The kernel drops it with the
 * process, however that ends, and the sqlite3 shell can still read the store.
 */
import Database from 'better-sqlite3'
import { StoreError } from '../store/index.js'

export type Sharing = 'exclusive' | 'shared'

export interface ServerLock {
  readonly release: () => void
}

/** How long a server that is just ending may take to let go. */
const lockWaitMsMax = 200

/** `words`: what is said if somebody else has it. */
export const takeServerLock = (file: string, sharing: Sharing, words = `Another Daybook server has ${file} open: stop it, or give this one another file.`): ServerLock => {
  const db = new Database(`${file}.lock`, { timeout: lockWaitMsMax })
  try {
    if (sharing === 'exclusive') db.exec('BEGIN EXCLUSIVE')
    else db.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    return { release: () => db.close() }
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new StoreError('locked', words, { cause: error })
    }
    throw error
  }
}
