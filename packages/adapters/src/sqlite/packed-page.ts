/**
 * A page of events as a few texts: SQLite joins the columns, strings are sent between the threads, and `split` takes them apart. This doubles the
 * speed of reading, compared with rows of separate strings.
 */
import type { Database } from 'better-sqlite3'
import type { RecordedEvent } from '../store/index.js'
import { damaged, type Queries, type Run, type Span } from './queries.js'

/** JSON text cannot contain this character. If an id or a type does, {@link unpack} notices. */
const separator = '\u001e'
const columns = 5

/** The events of a part of a page. */
interface Piece {
  readonly runs: ReadonlyArray<Run>
  readonly text: string
}

export interface PackedPage {
  readonly span: Span
  readonly pieces: ReadonlyArray<Piece>
}

const pageEventsMax = 2000
const pageBytesMax = 4 * 2 ** 20
/**
 * A page is sent as texts of about this many bytes. V8 asks the operating system for memory for each string of more than 128 KiB, and gives it back:
 * with one text for a page, reading took three times as long. Characters may take two bytes in memory.
 */
const textBytes = 48 * 2 ** 10

type Packed = readonly [count: number, text: string | null]

export const pagePacker = (db: Database, { runs, bytes }: Queries) => {
  const select = (from: string): string =>
    `SELECT count(*), group_concat(
       id || char(30) || type || char(30) || data || char(30) || metadata || char(30) || created, char(30))
     FROM (SELECT events.id, events.type, data, metadata, created FROM ${from} ORDER BY position)`
  const packRun = db
    .prepare<[number, number, string, number], Packed>(
      select('events WHERE position BETWEEN ? AND ? AND stream = ? AND revision = position + ?'),
    )
    .raw()
  const packRuns = db
    .prepare<[string, string], Packed>(
      select(`json_each(?) AS run CROSS JOIN events ON position
        BETWEEN run.value ->> 'lowPosition' AND run.value ->> 'highPosition'
        AND stream = ? AND revision = position + (run.value ->> 'shift')`),
    )
    .raw()

  /** As many events from the near end of the span as make a page: few if they are large; and their size in bytes. */
  const fit = (span: Span, backwards: boolean): { readonly part: Span; readonly size: number } => {
    for (let count = Math.min(span.high - span.low + 1, pageEventsMax); ; ) {
      const part = backwards
        ? { ...span, low: span.high - count + 1 }
        : { ...span, high: span.low + count - 1 }
      const size = count === 1 ? 0 : bytes(part)
      if (size <= pageBytesMax) return { part, size }
      count = Math.max(1, Math.floor((count * pageBytesMax * 0.9) / size))
    }
  }

  const packPiece = (part: Span): Piece => {
    const found = runs(part)
    const [run] = found
    const [count, text] =
      found.length === 1 && run !== undefined
        ? packRun.get(run.lowPosition, run.highPosition, part.stream, run.shift)!
        : packRuns.get(JSON.stringify(found), part.stream)!
    if (count !== part.high - part.low + 1 || text === null) throw damaged(part)
    return { runs: found, text }
  }

  return (span: Span, backwards: boolean): PackedPage => {
    const { part, size } = fit(span, backwards)
    const events = Math.ceil((part.high - part.low + 1) / Math.max(1, Math.ceil(size / textBytes)))
    const pieces: Array<Piece> = []
    for (let { low } = part; low <= part.high; low += events) pieces.push(packPiece({ ...part, low, high: Math.min(part.high, low + events - 1) }))
    return { span: part, pieces }
  }
}

/** The events in the order of their revisions; `undefined` if a separator occurs in them. */
export const unpack = ({ span: { stream }, pieces }: PackedPage): Array<RecordedEvent> | undefined => {
  const events: Array<RecordedEvent> = []
  for (const { runs, text } of pieces) {
    const parts = text.split(separator)
    let at = 0
    for (const { lowPosition, highPosition, shift } of runs) {
      for (let position = lowPosition; position <= highPosition; position++, at += columns) {
        events.push({
          id: parts[at]!,
          type: parts[at + 1]!,
          data: parts[at + 2]!,
          metadata: parts[at + 3]!,
          stream,
          revision: position + shift,
          position,
          created: parts[at + 4]!,
        })
      }
    }
    if (at !== parts.length) return undefined
  }
  return events
}
