/**
 * A page of events as one text: SQLite joins the columns, one string is sent between the threads, and `split` takes it apart. This doubles the speed
 * of reading, compared with rows of separate strings.
 */
import type { Database } from 'better-sqlite3'
import type { RecordedEvent } from '../store/index.js'
import { damaged, type Queries, type Run, type Span } from './queries.js'

/** JSON text cannot contain this character. If an id or a type does, {@link unpack} notices. */
const separator = '\u001e'
const columns = 5

export interface PackedPage {
  readonly span: Span
  readonly runs: ReadonlyArray<Run>
  readonly text: string
}

const pageEventsMax = 2000
const pageBytesMax = 4 * 2 ** 20

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

  /** As many events from the near end of the span as make a page: few if they are large. */
  const fit = (span: Span, backwards: boolean): Span => {
    for (let count = Math.min(span.high - span.low + 1, pageEventsMax); ; ) {
      const part = backwards
        ? { ...span, low: span.high - count + 1 }
        : { ...span, high: span.low + count - 1 }
      const size = count === 1 ? 0 : bytes(part)
      if (size <= pageBytesMax) return part
      count = Math.max(1, Math.floor((count * pageBytesMax * 0.9) / size))
    }
  }

  return (span: Span, backwards: boolean): PackedPage => {
    const part = fit(span, backwards)
    const found = runs(part)
    const [run] = found
    const [count, text] =
      found.length === 1 && run !== undefined
        ? packRun.get(run.lowPosition, run.highPosition, part.stream, run.shift)!
        : packRuns.get(JSON.stringify(found), part.stream)!
    if (count !== part.high - part.low + 1 || text === null) throw damaged(part)
    return { span: part, runs: found, text }
  }
}

/** The events in the order of their revisions; `undefined` if a separator occurs in them. */
export const unpack = ({ span, runs, text }: PackedPage): Array<RecordedEvent> | undefined => {
  const parts = text.split(separator)
  if (parts.length !== (span.high - span.low + 1) * columns) return undefined
  const { stream } = span
  const events: Array<RecordedEvent> = []
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
  return events
}
