import { randomUUID } from 'node:crypto'
import { link, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { createSchema } from './schema.js'
import { syncPath } from '../disk/sync-path.js'

/** Of a store that is being created, until it has its own name. */
const ending = '.new-'
/** Unfinished stores that are older were left by a crash. In milliseconds. */
const leftoverAgeMs = 3_600_000

const suffixes = ['', '-journal', '-wal', '-shm']

/**
 * Removes what crashes have left of {@link createFile}: stores without events, which another process may still be creating while they are young, and
 * second names of this store. A second name with a WAL was opened under that name, and stays.
 */
export const removeUnfinished = async (file: string): Promise<void> => {
  const folder = dirname(file)
  const own = await stat(file).catch(() => undefined)
  const left = (await readdir(folder)).filter((name) => name.startsWith(`${basename(file)}${ending}`))
  for (const path of new Set(left.map((name) => join(folder, name.replace(/-(?:journal|wal|shm)$/, ''))))) {
    const found = await stat(path).catch(() => undefined)
    const isSecondName = found !== undefined && found.ino === own?.ino && found.dev === own.dev
    const isLeft = isSecondName ? !left.includes(`${basename(path)}-wal`) : found !== undefined && Date.now() - found.mtimeMs > leftoverAgeMs
    if (isLeft) for (const suffix of suffixes) await rm(path + suffix, { force: true })
  }
}

/**
 * Creates an empty store beside `file` and renames it only when it is complete, so that a crash leaves either no store or a whole one. If two
 * processes do this at once, one wins.
 */
export const createFile = async (file: string): Promise<void> => {
  const unfinished = `${file}${ending}${randomUUID()}`
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
    for (const suffix of suffixes) await rm(unfinished + suffix, { force: true })
  }
  await syncPath(dirname(file))
}
