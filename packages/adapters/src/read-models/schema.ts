/** The SQL of the tables of read models. Their comments are kept in the file, so that `.schema` in the shell explains them. */
import { daybookVersion, foldVersion } from '@daybook/core'
import type { Column, Index, Table, TableProjection } from '@daybook/projections'

/** ASCII "DAYV": distinguishes read models from every other SQLite file. */
export const applicationId = 0x44415956
/** Raised when the table `projections`, or the naming of tables, changes. */
export const fileVersion = 1

/** The prefix of the names of tables that are being built. */
export type Prefix = '' | 'next_'
/** The state of the projections whose tables have this prefix. */
export const stateOf = (prefix: Prefix): 'current' | 'next' => (prefix === '' ? 'current' : 'next')

/**
 * Tells programs apart that can read different events. The version of the fold is raised with each new event. Checkouts of the same version of Daybook
 * may differ in it.
 */
export const reader = `${daybookVersion}, fold ${foldVersion}`

/** The revision of each projection. The transaction that writes its rows updates it as well. */
export const projectionsTable = `CREATE TABLE projections ( -- How far each projection has come.
  name TEXT NOT NULL, -- the projection
  state TEXT NOT NULL, -- current; or next, while its tables are being built
  queue TEXT NOT NULL, -- the queue
  version INTEGER NOT NULL, -- the version of the projection that wrote the tables
  revision INTEGER NOT NULL, -- the revision of the last event that its tables show
  event_id TEXT NOT NULL, -- the id of that event
  unreadable INTEGER NOT NULL, -- events that this version of Daybook could not read
  reader TEXT NOT NULL, -- the version of Daybook that wrote this
  PRIMARY KEY (name, state, queue)
) WITHOUT ROWID`

/** A number for each queue, for the keys of its tasks. */
export const queuesTable = `CREATE TABLE queues ( -- The queues.
  number INTEGER PRIMARY KEY, -- tells the keys of its tasks: (number % 8192) * 2^40 + (number / 8192) * 2^32 + tasks.number
  queue TEXT NOT NULL UNIQUE -- its name
)`

/** `everyQueue` is in it until the log was examined. */
export const firstBuildsTable = `CREATE TABLE IF NOT EXISTS first_builds ( -- The queues whose tables are new, and lack events that were in the log before.
  queue TEXT PRIMARY KEY -- its name; '' stands for every queue
) WITHOUT ROWID`
export const everyQueue = ''

const columnSql = ([name, { type, isOptional, about }]: readonly [string, Column], end: string): string => `  ${name} ${type}${isOptional ? '' : ' NOT NULL'}${end} -- ${about}\n`

/** A key of one integer column is the row's id, which is the fastest to find. */
const isRowId = ({ key, columns }: Table): boolean => key.length === 1 && columns[key[0] as string]?.type === 'INTEGER'

const tableSql = (table: Table, version: number, prefix: Prefix): string => {
  const columns = Object.entries(table.columns)
  const hasRowId = isRowId(table)
  const lines = columns.map(([name, column], i) => (hasRowId && name === table.key[0] ? `  ${name} INTEGER PRIMARY KEY, -- ${column.about}\n` : columnSql([name, column], hasRowId && i === columns.length - 1 ? '' : ',')))
  const end = hasRowId ? ')' : `  PRIMARY KEY (${table.key.join(', ')})\n) WITHOUT ROWID`
  return `CREATE TABLE "${prefix}${table.name}" ( -- ${table.about} (version ${version})\n${lines.join('')}${end}`
}

/** An index keeps its name when its table is renamed, so its name contains a unique number. */
export const indexSql = ({ name, on, where }: Index, table: string, unique: number): string =>
  `CREATE INDEX ${name}_${unique} ON "${table}" (${on})${where === undefined ? '' : ` WHERE ${where}`}`

const wordsName = 'search'

/** The words of a task: its row id is `tasks.key`. */
const wordsSql = (prefix: Prefix): string => `CREATE VIRTUAL TABLE "${prefix}${wordsName}" USING fts5(description, error, tokenize='porter unicode61')`

export interface Part {
  readonly name: string
  /** The SQL that creates it, exactly as SQLite keeps it. */
  readonly sql: (prefix: Prefix) => string
  readonly indexes: ReadonlyArray<Index>
}

/** The tables of a projection. */
export const partsOf = ({ tables, version, hasWords }: TableProjection): ReadonlyArray<Part> => [
  ...tables.map((table) => ({ name: table.name, sql: (prefix: Prefix) => tableSql(table, version, prefix), indexes: table.indexes ?? [] })),
  ...(hasWords === true ? [{ name: wordsName, sql: wordsSql, indexes: [] }] : []),
]

export const wordsInsert = (prefix: Prefix): string => `INSERT OR REPLACE INTO "${prefix}${wordsName}" (rowid, description, error) VALUES (?, ?, ?)`

/** Inserts a row, or replaces an existing one. */
export const upsertSql = ({ name, columns, key, fixed = [] }: Table, prefix: Prefix): string => {
  const names = Object.keys(columns)
  const set = names.filter((column) => !key.includes(column) && !fixed.includes(column)).map((column) => `${column} = excluded.${column}`)
  const conflict = set.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${set.join(', ')}`
  return `INSERT INTO "${prefix}${name}" (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT (${key.join(', ')}) ${conflict}`
}

/** The columns that a look-up reads. */
export const foundColumns = ({ columns, unread = [] }: Table): ReadonlyArray<string> => Object.keys(columns).filter((name) => !unread.includes(name))

/** Finds a row. Its columns come as one text, a JSON list, because a value for each takes better-sqlite3 much longer (ADR 64). */
export const selectSql = (table: Table, prefix: Prefix): string => {
  const { name, key, foundBy = key } = table
  return `SELECT json_array(${foundColumns(table).join(', ')}) FROM "${prefix}${name}" WHERE ${foundBy.map((column) => `${column} = ?`).join(' AND ')}${foundBy === key ? '' : ` ORDER BY ${key.join(', ')} DESC LIMIT 1`}`
}

/** The columns that a change writes, followed by those of the key. */
export const changedColumns = ({ columns, key, fixed = [] }: Table): ReadonlyArray<string> => [...Object.keys(columns).filter((name) => !key.includes(name) && !fixed.includes(name)), ...key]

/** Updates an existing row. */
export const updateSql = (table: Table, prefix: Prefix): string => {
  const set = changedColumns(table).slice(0, -table.key.length)
  return `UPDATE "${prefix}${table.name}" SET ${set.map((column) => `${column} = ?`).join(', ')} WHERE ${table.key.map((column) => `${column} = ?`).join(' AND ')}`
}
