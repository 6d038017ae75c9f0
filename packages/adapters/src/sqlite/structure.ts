import type { Database } from 'better-sqlite3'
import { applicationId, schemaProblems, schemaVersion } from './schema.js'

/** The largest number of reported problems, and of events checked: enough to notice a torn tail, and fast for any size. */
const problemsMax = 20
const tailEvents = 200

const problemsOfHeads = (db: Database): ReadonlyArray<string> =>
  db
    .prepare<[number], { stream: string; head: number }>(
      `SELECT s.stream, s.revision AS head FROM streams s
       LEFT JOIN events e ON e.position = s.position AND e.stream = s.stream AND e.revision = s.revision
       LEFT JOIN segments g ON g.stream = s.stream AND g.first_revision =
         (SELECT max(first_revision) FROM segments WHERE stream = s.stream)
       WHERE e.position IS NULL OR g.first_revision IS NULL
         OR s.revision - s.position <> g.first_revision - g.first_position
       LIMIT ?`,
    )
    .all(problemsMax)
    .map(({ stream, head }) => `the last event ${head} of ${stream} is not where it should be`)

/** Number of positions after this one in the runs of all streams. Reads all of `segments`. */
const positionsAfter = (db: Database, position: number): number =>
  db
    .prepare<[number, number], number>(
      `SELECT total(max(0, last - max(first, ? + 1) + 1)) FROM
         (SELECT g.first_position AS first, g.first_position - g.first_revision + coalesce(
            lead(g.first_revision) OVER (PARTITION BY g.stream ORDER BY g.first_revision) - 1, s.revision) AS last
          FROM segments g JOIN streams s ON s.stream = g.stream)
       WHERE last > ?`,
    )
    .pluck()
    .get(position, position) ?? 0

const problemsOfTail = (db: Database): ReadonlyArray<string> => {
  const last = db.prepare<[], number | null>('SELECT max(position) FROM events').pluck().get() ?? 0
  const lastOfStreams = db.prepare<[], number | null>('SELECT max(position) FROM streams').pluck().get() ?? 0
  if (last !== lastOfStreams) {
    return [`the last event is at position ${last}, the streams know of ${lastOfStreams}`]
  }
  const tail = db
    .prepare<[number], number>(
      'SELECT count(id || type || data || metadata || created) FROM events WHERE position > ?',
    )
    .pluck()
    .get(last - tailEvents)
  if (tail === Math.min(last, tailEvents)) return []
  // Events may have been archived: then no run has their positions.
  const expected = positionsAfter(db, last - tailEvents)
  return tail === expected ? [] : [`of the last ${expected} events only ${tail} are there`]
}

/** The check at opening: header, tables, heads and the last events. Empty if nothing is wrong. */
export const structureProblems = (db: Database): ReadonlyArray<string> =>
  // In one transaction, because another process may be writing.
  db.transaction(() => problemsNow(db))()

const problemsNow = (db: Database): ReadonlyArray<string> => {
  if (db.pragma('application_id', { simple: true }) !== applicationId) return ['it is not a Daybook store']
  if (db.pragma('user_version', { simple: true }) !== schemaVersion) return ['its schema version is unknown']
  const tables = schemaProblems(db)
  return tables.length > 0 ? tables : [...problemsOfHeads(db), ...problemsOfTail(db)]
}
