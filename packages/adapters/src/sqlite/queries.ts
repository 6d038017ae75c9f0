/**
 * Reads through one connection. Segments map a stream's revisions to positions. Every row is fetched by position *and* checked for stream and
 * revision: a row that differs from what the segments say is damage, and is never returned as an event.
 */
import type { Database } from 'better-sqlite3'
import { StoreError, type RecordedEvent } from '../store/index.js'

/** Revisions `low` to `high` of a stream, both inclusive. */
export interface Span {
  readonly stream: string
  readonly low: number
  readonly high: number
}

/** A contiguous part of a span; `shift` is revision minus position. */
export interface Run {
  readonly lowPosition: number
  readonly highPosition: number
  readonly shift: number
}

type Segment = readonly [firstRevision: number, firstPosition: number]
type Row = readonly [position: number, id: string, type: string, data: string, metadata: string, created: string]

export const damaged = ({ stream, low, high }: Span): StoreError => {
  const words = `Events ${low} to ${high} of ${stream} are not all where they should be`
  return new StoreError('damaged', `${words}: run the doctor, or restore a backup.`)
}

export const queries = (db: Database) => {
  const headOf = db.prepare<[string], number>('SELECT revision FROM streams WHERE stream = ?').pluck()
  const firstOf = db.prepare<[string], number | null>('SELECT min(first_revision) FROM segments WHERE stream = ?').pluck()
  const streamsWith = db
    .prepare<[string, string], string>(
      'SELECT stream FROM streams WHERE substr(stream, 1, length(?)) = ? ORDER BY first_position',
    )
    .pluck()
  const segmentsOf = db
    .prepare<[string, string, number, number], Segment>(
      `SELECT first_revision, first_position FROM segments WHERE stream = ? AND first_revision >=
         (SELECT max(first_revision) FROM segments WHERE stream = ? AND first_revision <= ?)
       AND first_revision <= ? ORDER BY first_revision`,
    )
    .raw()
  const rowsOf = db
    .prepare<[number, number, string, number], Row>(
      `SELECT position, id, type, data, metadata, created FROM events
       WHERE position BETWEEN ? AND ? AND stream = ? AND revision = position + ? ORDER BY position`,
    )
    .raw()
  const bytesOf = db
    .prepare<[number, number], number>(
      `SELECT total(octet_length(data) + octet_length(metadata)) FROM events WHERE position BETWEEN ? AND ?`,
    )
    .pluck()

  const runs = ({ stream, low, high }: Span): ReadonlyArray<Run> => {
    const segments = segmentsOf.all(stream, stream, low, high)
    return segments.map(([firstRevision, firstPosition], i) => {
      const from = Math.max(low, firstRevision)
      const to = Math.min(high, (segments[i + 1]?.[0] ?? Infinity) - 1)
      const shift = firstRevision - firstPosition
      return { lowPosition: from - shift, highPosition: to - shift, shift }
    })
  }

  const rowsOfRun = (stream: string, { lowPosition, highPosition, shift }: Run): Array<RecordedEvent> =>
    rowsOf.all(lowPosition, highPosition, stream, shift).map(([position, id, type, data, metadata, created]) => (
      { id, type, data, metadata, stream, revision: position + shift, position, created }
    ))

  return {
    /** -1 for a missing stream. */
    head: (stream: string): number => headOf.get(stream) ?? -1,

    /** The first revision that is in the file; 0 for a missing stream. */
    first: (stream: string): number => firstOf.get(stream) ?? 0,

    streams: (prefix: string): ReadonlyArray<string> => streamsWith.all(prefix, prefix),

    runs,

    /** Size of data and metadata in bytes, determined without reading them. */
    bytes: (span: Span): number =>
      runs(span).reduce((sum, run) => sum + (bytesOf.get(run.lowPosition, run.highPosition) ?? 0), 0),

    events: (span: Span): Array<RecordedEvent> => {
      const events = runs(span).flatMap((run) => rowsOfRun(span.stream, run))
      if (events.length !== span.high - span.low + 1) throw damaged(span)
      return events
    },

    pick: (stream: string, revisions: ReadonlyArray<number>): Array<RecordedEvent | undefined> => {
      const head = headOf.get(stream) ?? -1
      const picked = new Array<RecordedEvent | undefined>(revisions.length).fill(undefined)
      const order = revisions.map((_, i) => i).sort((a, b) => revisions[a]! - revisions[b]!)
      let shift = 0
      for (const i of order) {
        const revision = revisions[i]!
        if (!Number.isInteger(revision) || revision < 0 || revision > head) continue
        // The event is mostly in the same run as the previous one. Otherwise the segment is looked up.
        const at = (by: number): RecordedEvent | undefined =>
          rowsOfRun(stream, { lowPosition: revision - by, highPosition: revision - by, shift: by })[0]
        const near = at(shift)
        if (near === undefined) shift = runs({ stream, low: revision, high: revision })[0]?.shift ?? shift
        picked[i] = near ?? at(shift)
        if (picked[i] === undefined) throw damaged({ stream, low: revision, high: revision })
      }
      return picked
    },
  }
}

export type Queries = ReturnType<typeof queries>
