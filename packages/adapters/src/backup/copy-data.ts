/** Copies files for a backup, even while a server writes to them. */
import { constants, openSync, closeSync } from 'node:fs'
import { copyFile, mkdir, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import Database from 'better-sqlite3'
import { undefinedIfMissing } from '../disk/if-missing.js'
import { readPart } from '../disk/read-part.js'
import { syncPath } from '../disk/sync-path.js'

const magic = 'SQLite format 3\0'

const isDatabase = async (file: string): Promise<boolean> => (await readPart(file, 0, magic.length)).toString('latin1') === magic

/**
 * Copies an SQLite file as it was at one moment, with the content of its WAL (write-ahead log). Writers are not blocked. The copy has the same
 * permissions, and nothing of what was deleted.
 *
 * *Gotchas*: not for a file that this process has open. Synchronous while it runs.
 */
export const copyDatabase = async (from: string, to: string): Promise<void> => {
  const db = await openToCopy(from, to)
  try {
    db.prepare('VACUUM INTO ?').run(to)
  } catch (error) {
    throw withFolder(error, from)
  } finally {
    db.close()
  }
}

/** Whoever reads an SQLite file with a WAL must write beside it. SQLite's own words name neither the folder nor what to do. */
const withFolder = (error: unknown, file: string): unknown =>
  error instanceof Database.SqliteError && /^SQLITE_(READONLY|CANTOPEN)/.test(error.code)
    ? new Error(`${file} cannot be read, because SQLite may not write beside it (${error.message}): run this as a user who may write into ${dirname(file)}`, { cause: error })
    : error

/** Number of pages that are copied in a step, which takes some milliseconds. */
const stepPages = 1_000

/**
 * The same in steps, for a large file: signals are heard in between. Unused pages are copied as well, so it is not for a file from which secrets are
 * deleted.
 *
 * @param step Called after each step with the part that is copied, from 0 to 1. An error that it throws ends the copying.
 */
export const copyDatabaseInSteps = async (from: string, to: string, step: (part: number) => void): Promise<void> => {
  const db = await openToCopy(from, to)
  try {
    // All steps are in one read transaction. Otherwise SQLite would begin anew after each append of a server, and might never end.
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    await db.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        step(1 - remainingPages / totalPages)
        return stepPages
      },
    })
  } catch (error) {
    throw withFolder(error, from)
  } finally {
    db.close()
  }
  // Without a WAL, the copy is one file.
  const copy = new Database(to, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = DELETE')
  } finally {
    copy.close()
  }
}

const openToCopy = async (from: string, to: string): Promise<Database.Database> => {
  const { mode } = await stat(from)
  // SQLite writes into an existing empty file. So nobody else can read the keys, not even while they are copied.
  closeSync(openSync(to, 'wx', mode & 0o777))
  return new Database(from, { readonly: true, fileMustExist: true, timeout: 5_000 })
}

/** Copies a file. On a file system that can share blocks, the copy takes no space. */
const copyPlain = (from: string, to: string): Promise<void> => copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)

/** Side files of SQLite, which belong to a running program. The name of a folder tells nothing: it may be that of a queue, such as `orders-journal`. */
const isSideFile = (name: string): boolean => /-(wal|shm|journal)$|\.lock$|\.tmp$|\.unfinished$/.test(name)

/** Both are real paths. A folder is inside itself. */
export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** A link may lead to a folder that contains it, or the copy. Such a folder would be copied again and again. */
const refuseCircle = async (folder: string, from: string, to: string): Promise<void> => {
  const place = await realpath(folder)
  if (isInside(place, await realpath(from)) || isInside(place, await realpath(to))) {
    throw new Error(`${folder} leads to ${place}, which contains it or the copy: remove the link, or make the backup elsewhere`)
  }
}

/**
 * In which order files are copied. A server writes the key of a queue's checkpoints, then a checkpoint, then the tree. Copied in the reverse order, no
 * file refers to what another one lacks, even if the server signs meanwhile. By name, checkpoints come before the key.
 */
const inOrder = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isTree = (name: string): boolean => name.endsWith('.tree')
  const sorted = [...names].sort()
  return [...sorted.filter(isTree), ...sorted.filter((name) => !isTree(name))]
}

/**
 * Copies a folder and its contents: plain files first, then databases. So a file that says how far a database was read never says more than the copy
 * has. `isLeftOut` gets each path below `from`.
 */
export const copyFolder = async (from: string, to: string, isLeftOut: (path: string) => boolean = () => false, below = ''): Promise<void> => {
  // The owner can write into the copy of a read-only folder: otherwise nobody but root could make it, or remove it.
  await mkdir(to, { recursive: true, mode: ((await stat(from)).mode & 0o777) | 0o700 })
  const databases: Array<string> = []
  for (const name of inOrder(await readdir(from))) {
    if (isLeftOut(join(below, name))) continue
    const found = await stat(join(from, name)).catch(undefinedIfMissing)
    if (found?.isDirectory() === true) {
      await refuseCircle(join(from, name), from, to)
      await copyFolder(join(from, name), join(to, name), isLeftOut, join(below, name))
    } else if (found?.isFile() !== true || isSideFile(name)) continue
    else if (await isDatabase(join(from, name)).catch(() => false)) databases.push(name)
    // A file that disappears meanwhile was replaced, or is no longer needed.
    else await copyPlain(join(from, name), join(to, name)).catch(undefinedIfMissing)
  }
  for (const name of databases) await copyDatabase(join(from, name), join(to, name))
}

/** Makes sure that a folder and its contents are on disk. */
export const syncAll = async (folder: string): Promise<void> => {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await syncAll(path)
    else await syncPath(path)
  }
  await syncPath(folder)
}

/** Whether a path is the log, or a file that belongs to it by name. */
export const isOfLog = (path: string, log: string): boolean => path === log || path.startsWith(`${log}.`) || path.startsWith(`${log}-`)
