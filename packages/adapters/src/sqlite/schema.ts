import type { Database } from 'better-sqlite3'

/** ASCII "DAYB": distinguishes a Daybook store from every other SQLite file. */
export const applicationId = 0x44415942

/** Raised with each change of the tables below. A store with a newer version is refused. */
export const schemaVersion = 1

/** Measured against 4,096 and 16,384: fewer WAL frames for batches, yet small for single appends. */
export const pageSize = 8192

/**
 * A stream's events are stored in runs. Within a run, position and revision grow together, so one row in `segments` stands for the whole run, which
 * lasts until the stream's next segment, or its head. That saves a second B-tree over the events, which would halve the speed of appending.
 */
const tables = {
  events: `CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created TEXT NOT NULL
)`,
  segments: `CREATE TABLE segments (
  stream TEXT NOT NULL,
  first_revision INTEGER NOT NULL,
  first_position INTEGER NOT NULL,
  PRIMARY KEY (stream, first_revision)
) WITHOUT ROWID`,
  streams: `CREATE TABLE streams (
  stream TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  position INTEGER NOT NULL,
  first_position INTEGER NOT NULL
) WITHOUT ROWID`,
} as const

/** Creates an empty store in an empty database, in one transaction. */
export const createSchema = (db: Database): void => {
  db.pragma(`page_size = ${pageSize}`)
  db.pragma('synchronous = FULL')
  db.transaction(() => {
    for (const sql of Object.values(tables)) db.exec(sql)
    db.pragma(`application_id = ${applicationId}`)
    db.pragma(`user_version = ${schemaVersion}`)
  }).exclusive()
}

/** The differences from the expected tables, word for word; empty if there are none. */
export const schemaProblems = (db: Database): ReadonlyArray<string> => {
  const found = new Map(
    db
      .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name, sql }) => [name, sql]),
  )
  return Object.entries(tables).flatMap(([name, sql]) => {
    const actual = found.get(name)
    if (actual === undefined) return [`the table ${name} is missing`]
    return actual === sql ? [] : [`the table ${name} is not what this version made`]
  })
}
