/**
 * Allows one Daybook server per file. The lock is an SQLite lock on a second, empty file. The kernel releases it when the process ends, in whatever
 * way, and the sqlite3 shell can still read the store.
 */
import Database from 'better-sqlite3'
import { StoreError } from '../store/index.js'
import { isDamage } from './errors.js'

export type Sharing = 'exclusive' | 'shared'

export interface ServerLock {
  readonly release: () => void
}

/** How long a server that is just ending may take to release the lock, in milliseconds. */
const lockWaitMsMax = 200

/** `words`: the message if another process has the lock. */
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
    if (isDamage(error)) throw new StoreError('not-a-database', damagedLock(file), { cause: error })
    throw error
  }
}

/** Two servers could open the same file if its lock were deleted under the first one. */
const damagedLock = (file: string): string =>
  `The lock file ${file}.lock is damaged, and ${file} itself was not looked at. The lock holds no data: see that no Daybook server runs on ${file}, then delete ${file}.lock.`
