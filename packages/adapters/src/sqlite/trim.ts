/**
 * Removes the oldest events of streams from a file, and gives their space back to the disk. Each step is one transaction, so an interruption at any
 * point leaves a contiguous rest of each stream. Only without a server: it holds the server's lock.
 */
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { StoreError } from '../store/index.js'
import { readingOf, storeError } from './errors.js'
import { inspectFile } from './file-header.js'
import { damaged, queries } from './queries.js'
import { takeServerLock } from './server-lock.js'
import { structureProblems } from './structure.js'

export interface Trimmer {
  /**
   * Removes at most `limit` of the oldest events before the revision `before`. The last event of a stream always stays. Returns the first remaining
   * revision.
   */
  readonly remove: (stream: string, before: number, limit: number) => number
  /** Unused bytes in the file. */
  readonly unused: () => number
  /** Size of the file in bytes. */
  readonly bytes: () => number
  /**
   * Shrinks the file to the size of its events. Meanwhile the disk needs room for twice as much; if `needs` is returned, that many bytes were missing
   * and nothing was done. A crash leaves the file unchanged, or shrunk.
   */
  readonly compact: () => Promise<{ readonly before: number; readonly after: number; readonly needs?: number }>
  readonly close: () => void
}

/** @throws StoreError `locked` while a server has the file open. */
export const openTrimmer = async (file: string): Promise<Trimmer> => {
  const trying = readingOf(file)
  if ((await inspectFile(file)) === 'missing') throw storeError(Object.assign(new Error(file), { code: 'ENOENT' }), file)
  const lock = trying(() => takeServerLock(file, 'exclusive'))
  const open = (): Database.Database => {
    const opened = new Database(file, { fileMustExist: true, timeout: 5_000 })
    opened.pragma('synchronous = FULL')
    const [problem] = structureProblems(opened)
    if (problem === undefined) return opened
    opened.close()
    throw new StoreError('damaged', `${file} is damaged (${problem}): run the doctor, or restore a backup.`)
  }
  let db: Database.Database
  try {
    db = trying(open)
  } catch (error) {
    lock.release()
    throw error
  }
  const query = queries(db)
  const removeRun = db.prepare<[number, number, string, number]>('DELETE FROM events WHERE position BETWEEN ? AND ? AND stream = ? AND revision = position + ?')
  const removeSegments = db.prepare<[string, number]>('DELETE FROM segments WHERE stream = ? AND first_revision < ?')
  const beginSegment = db.prepare<[string, number, number]>('INSERT OR IGNORE INTO segments VALUES (?, ?, ?)')

  const removeOnce = db.transaction((stream: string, before: number, limit: number): number => {
    const first = query.first(stream)
    const rest = Math.min(before, query.head(stream), first + limit)
    if (rest <= first) return first
    const span = { stream, low: first, high: rest - 1 }
    const [next] = query.runs({ stream, low: rest, high: rest })
    let removed = 0
    for (const { lowPosition, highPosition, shift } of query.runs(span)) removed += removeRun.run(lowPosition, highPosition, stream, shift).changes
    if (removed !== rest - first || next === undefined) throw damaged(span)
    removeSegments.run(stream, rest)
    beginSegment.run(stream, rest, next.lowPosition)
    return rest
  })

  const number = (pragma: string): number => db.pragma(pragma, { simple: true }) as number
  const unused = (): number => number('freelist_count') * number('page_size')
  const bytes = (): number => number('page_count') * number('page_size')

  return {
    remove: (stream, before, limit) => trying(() => removeOnce.immediate(stream, before, limit)),
    unused: () => trying(unused),
    bytes: () => trying(bytes),
    compact: async () => {
      const sizeOf = async (): Promise<number> => (await stat(file)).size
      const before = await sizeOf()
      // For the copy, and for the same pages in the WAL.
      const needs = 2 * (bytes() - unused())
      const { bavail, bsize } = await statfs(dirname(file))
      if (bavail * bsize < needs) return { before, after: before, needs }
      try {
        db.exec('VACUUM')
      } catch (error) {
        // SQLite's folder for temporary files may be on another disk, which is full.
        if (error instanceof Database.SqliteError && error.code === 'SQLITE_FULL') return { before, after: before, needs }
        throw storeError(error, file)
      }
      trying(() => db.pragma('wal_checkpoint(TRUNCATE)'))
      return { before, after: await sizeOf() }
    },
    close: () => {
      db.close()
      lock.release()
    },
  }
}
