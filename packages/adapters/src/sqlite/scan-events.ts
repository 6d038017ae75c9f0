/**
 * Reads the events of a stream as they are stored, even if some are missing or in the wrong place, for callers that report what happened to them.
 * Pages are fetched on a separate thread.
 */
import Database from 'better-sqlite3'
import { type RecordedEvent, StoreError } from '../store/index.js'
import { readingOf } from './errors.js'
import { unpack } from './packed-page.js'
import { damaged, queries, type Span } from './queries.js'
import { lazyReader } from './reader.js'

type Row = readonly [position: number, revision: number, id: string, type: string, data: string, metadata: string, created: string]

const rowsAtOnce = 1_000

/** A value that is no text as its SQL literal. A cast would give a blob the text that was appended. */
const textOf = (column: string): string => `CASE typeof(${column}) WHEN 'text' THEN ${column} ELSE quote(${column}) END`

export interface OpenedScan {
  /** `first`: the first revision in the file. */
  readonly scan: { readonly first: number; readonly head: number; readonly pages: AsyncIterable<ReadonlyArray<RecordedEvent>> }
  readonly close: () => Promise<void>
}

/** @throws StoreError if the file cannot be read at all. */
export const scanSqlite = (file: string, stream: string): OpenedScan => {
  const reading = readingOf(file)
  const db = reading(() => new Database(file, { readonly: true, fileMustExist: true, timeout: 1000 }))
  try {
    return scanOf(db, file, stream, reading)
  } catch (error) {
    db.close()
    throw error
  }
}

const scanOf = (db: Database.Database, file: string, stream: string, reading: <A>(body: () => A) => A): OpenedScan => {
  const query = reading(() => queries(db))
  const rowsAfter = reading(() =>
    db
      .prepare<[string, number, number, number], Row>(
        `SELECT position, revision, ${['id', 'type', 'data', 'metadata', 'created'].map(textOf).join(', ')} FROM events
         WHERE stream = ? AND position > ? AND revision <= ? ORDER BY position LIMIT ?`,
      )
      .raw(),
  )
  const noText = reading(() =>
    db
      .prepare<[number, number, string], number>(
        `SELECT 1 FROM events WHERE position BETWEEN ? AND ? AND stream = ?
         AND (typeof(id) <> 'text' OR typeof(type) <> 'text' OR typeof(data) <> 'text' OR typeof(metadata) <> 'text') LIMIT 1`,
      )
      .pluck(),
  )
  /** Pages are joined texts, which do not tell. A server cannot use an event whose data are a blob, whatever its bytes. */
  const areTexts = (span: Span): boolean => query.runs(span).every(({ lowPosition, highPosition }) => noText.get(lowPosition, highPosition, stream) === undefined)
  const head = reading(() => query.head(stream))
  const first = reading(() => query.first(stream))
  const reader = lazyReader({ file })

  /** All rows of the stream after this position, even invalid ones. Revisions above `most` are left out: a server may append them meanwhile. */
  const rows = async function* (after: number, most = Number.MAX_SAFE_INTEGER): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    for (let last = after; ; ) {
      const found = reading(() => rowsAfter.all(stream, last, most, rowsAtOnce))
      if (found.length === 0) return
      last = found[found.length - 1]![0]
      yield found.map(([position, revision, id, type, data, metadata, created]) => ({ position, revision, id, type, data, metadata, created, stream }))
    }
  }

  const pages = async function* (): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    let last = 0
    try {
      if (head < 0) return
      for await (const page of reader.pages({ stream, low: first, high: head }, false)) {
        if (!reading(() => areTexts(page.span))) throw damaged(page.span)
        const events = unpack(page) ?? reading(() => query.events(page.span))
        last = events[events.length - 1]?.position ?? last
        yield events
      }
      // Rows that somebody has put behind the end.
      yield* rows(last, head)
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'damaged') throw error
      yield* rows(last)
    }
  }

  return {
    scan: { first, head, pages: pages() },
    close: async () => {
      await reader.close()
      db.close()
    },
  }
}
