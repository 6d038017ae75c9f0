/** Opens a store's file for reading alone, on the caller's thread. A server may have the file open meanwhile. */
import Database from 'better-sqlite3'
import { storeError } from './errors.js'
import { pagePacker, unpack } from './packed-page.js'
import { queries } from './queries.js'
import { structureProblems } from './structure.js'
import type { OpenedLog, ReadOptions, RecordedEvent } from '../store/index.js'
import { StoreError } from '../store/index.js'
import { readSpan } from '../store/read-span.js'

/** A connection that reads. Throws if the file is missing, not a store, or damaged. */
export const openConnection = (file: string): Database.Database => {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 1000 })
  try {
    const [problem] = structureProblems(db)
    if (problem !== undefined) {
      throw new StoreError('damaged', `${file} is damaged (${problem}): run the doctor, or restore a backup.`)
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** @throws StoreError if the file cannot be read. */
export const openSqliteLog = (file: string): OpenedLog => {
  const reading = <A>(body: () => A): A => {
    try {
      return body()
    } catch (error) {
      throw storeError(error, file)
    }
  }
  const db = reading(() => openConnection(file))
  const query = queries(db)
  const pack = pagePacker(db, query)

  const read = async function* (stream: string, options: ReadOptions = {}): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    const backwards = options.direction === 'backwards'
    let span = reading(() => readSpan(stream, options, query.head(stream)))
    while (span !== undefined && span.low <= span.high) {
      const wanted = span
      const { part, events } = reading(() => {
        const page = pack(wanted, backwards)
        return { part: page.span, events: unpack(page) ?? query.events(page.span) }
      })
      yield backwards ? events.reverse() : events
      span = backwards ? { ...wanted, high: part.low - 1 } : { ...wanted, low: part.high + 1 }
    }
  }

  return {
    read,
    pick: async (stream, revisions) => reading(() => query.pick(stream, revisions)),
    head: async (stream) => reading(() => query.head(stream)),
    first: async (stream) => reading(() => query.first(stream)),
    streams: async (prefix) => reading(() => query.streams(prefix)),
    close: async () => void db.close(),
  }
}
