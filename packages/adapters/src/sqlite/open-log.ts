/** Opens a store's file only for reading, on the caller's thread. A server may have the file open meanwhile. */
import Database from 'better-sqlite3'
import { readingOf } from './errors.js'
import { type PackedPage, pagePacker, unpack } from './packed-page.js'
import { queries } from './queries.js'
import { lazyReader } from './reader.js'
import { structureProblems } from './structure.js'
import { type OpenedLog, type ReadOptions, type RecordedEvent, StoreError } from '../store/index.js'
import { readSpan } from '../store/read-span.js'

/** Fewer events than this are read faster directly than through a thread. */
const manyEvents = 2_000
/** The thread is ended after this time without reads, in milliseconds: a reader that follows a log has mostly caught up with it. */
const idleMs = 5_000

/** A connection for reading. Throws if the file is missing, not a store, or damaged. */
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

/**
 * `ahead`: for readers of most of a log; pages are fetched on a separate thread while the previous one is used.
 *
 * @throws StoreError if the file cannot be read.
 */
export const openSqliteLog = (file: string, ahead = false): OpenedLog => {
  const reading = readingOf(file)
  const db = reading(() => openConnection(file))
  const query = queries(db)
  const pack = pagePacker(db, query)
  const reader = ahead ? lazyReader({ file }, idleMs) : undefined

  const readAhead = async function* (pages: AsyncIterable<PackedPage>, backwards: boolean): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    for await (const page of pages) {
      const events = unpack(page) ?? reading(() => query.events(page.span))
      yield backwards ? events.reverse() : events
    }
  }

  const read = async function* (stream: string, options: ReadOptions = {}): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    const backwards = options.direction === 'backwards'
    let span = reading(() => readSpan(stream, options, query.head(stream)))
    if (span !== undefined && reader !== undefined && span.high - span.low >= manyEvents) return yield* readAhead(reader.pages(span, backwards), backwards)
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
    close: async () => {
      await reader?.close()
      db.close()
    },
  }
}
