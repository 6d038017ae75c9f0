import { link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { createSchema } from './schema.js'

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Makes an empty store beside `file` and gives it its name only when it is complete, so that a
 * crash leaves either no store or a whole one. Of two processes that do this at once, one wins.
 */
export const createFile = async (file: string): Promise<void> => {
  const unfinished = `${file}.new-${process.pid}`
  await rm(unfinished, { force: true })
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
