import { randomUUID } from 'node:crypto'
import { link, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { createSchema } from './schema.js'
import { syncFolder } from '../disk/sync-folder.js'

/**
 * Creates an empty store beside `file` and renames it only when it is complete, so that a crash leaves either no store or a whole one. If two
 * processes do this at once, one wins.
 */
export const createFile = async (file: string): Promise<void> => {
  const unfinished = `${file}.new-${randomUUID()}`
  try {
    const db = new Database(unfinished)
    try {
      createSchema(db)
      db.pragma('journal_mode = WAL')
    } finally {
      db.close()
    }
    await link(unfinished, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) await rm(unfinished + suffix, { force: true })
  }
  await syncFolder(dirname(file))
}
