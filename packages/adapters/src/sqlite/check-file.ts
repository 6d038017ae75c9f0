import { realpath } from 'node:fs/promises'
import Database from 'better-sqlite3'
import { storeError } from './errors.js'
import { inspectFile } from './file-header.js'
import { structureProblems } from './structure.js'

export interface SqliteFileReport {
  readonly file: string
  readonly streams: number
  readonly events: number
  /** In words for people; empty if the file is sound. */
  readonly problems: ReadonlyArray<string>
}

/** The place of an event: a bare number would look like a count. */
const place = "stream || ' revision ' || revision || ' (position ' || position || ')'"

/** The largest number of places in a report. */
const namedMax = 20

/** Each row is a query that must have no result in a sound store. Together they read every event. */
const rules: ReadonlyArray<readonly [words: string, sql: string]> = [
  [
    'events with a wrong revision, or in no segment',
    `SELECT ${place} FROM events e WHERE e.revision - e.position IS NOT (
       SELECT g.first_revision - g.first_position FROM segments g
       WHERE g.stream = e.stream AND g.first_revision <= e.revision ORDER BY g.first_revision DESC LIMIT 1)`,
  ],
  [
    'events that are not JSON texts',
    `SELECT ${place} FROM events WHERE typeof(id) <> 'text' OR typeof(type) <> 'text'
       OR typeof(data) <> 'text' OR typeof(metadata) <> 'text' OR NOT json_valid(data) OR NOT json_valid(metadata)`,
  ],
  [
    'streams with events missing',
    `SELECT s.stream FROM streams s LEFT JOIN
       (SELECT stream, count(*) AS events, max(revision) AS head, min(revision) AS first FROM events GROUP BY stream) e
       ON e.stream = s.stream
     WHERE e.events IS NOT s.revision + 1 - e.first OR e.head IS NOT s.revision
       OR e.first IS NOT (SELECT min(first_revision) FROM segments g WHERE g.stream = s.stream)`,
  ],
  ['events of unknown streams', `SELECT ${place} FROM events WHERE stream NOT IN (SELECT stream FROM streams)`],
]

/**
 * The full check, for the doctor: SQLite's own integrity check, then every event against the segments and heads. It takes about as long as reading
 * the file. A server may have the file open meanwhile.
 *
 * *Gotchas*: synchronous while it runs. Not for a file that the same process has open.
 */
export const checkSqliteFile = async (file: string): Promise<SqliteFileReport> => {
  const found = await realpath(file).then(inspectFile).catch((error: unknown) => {
    throw storeError(error, file)
  })
  if (found === 'missing') throw storeError(Object.assign(new Error(file), { code: 'ENOENT' }), file)
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const count = (table: string): number => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0
    const integrity = db.pragma('integrity_check(20)') as ReadonlyArray<{ readonly integrity_check: string }>
    const problems = integrity.map((row) => row.integrity_check).filter((words) => words !== 'ok')
    problems.push(...structureProblems(db))
    if (problems.length === 0) {
      for (const [words, sql] of rules) {
        const places = db.prepare<[], number | string>(`${sql} LIMIT ${namedMax + 1}`).pluck().all()
        const more = places.length > namedMax ? ', and more' : ''
        if (places.length > 0) problems.push(`${words}: ${places.slice(0, namedMax).join(', ')}${more}`)
      }
    }
    return { file, streams: count('streams'), events: count('events'), problems }
  } catch (error) {
    // The reader of this message is already running the doctor.
    const { code, message } = storeError(error, file)
    const words = code === 'damaged' ? message.replace('run the doctor, or restore a backup', 'restore a backup') : message
    return { file, streams: 0, events: 0, problems: [words] }
  } finally {
    db.close()
  }
}
