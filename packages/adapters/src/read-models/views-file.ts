/**
 * The file of read models: the tables, and the revision of each projection. It is a cache: it can be deleted at any time.
 *
 * The tables of a projection must have the SQL of its version. If they differ or do not exist, the projection is built anew under other names while
 * the old tables stay as they are. The new tables then replace the old ones, all in one transaction. Readers of the file see the old rows or the new
 * ones.
 */
import Database from 'better-sqlite3'
import type { Index, TableProjection } from '@daybook/projections'
import { Group } from './group.js'
import { applicationId, everyQueue, fileVersion, firstBuildsTable, indexSql, partsOf, type Prefix, projectionsTable, queuesTable, reader, stateOf } from './schema.js'

export interface ViewsOptions {
  readonly file: string
  readonly models: ReadonlyArray<TableProjection>
}

/** The WAL (write-ahead log) is copied into the file after about this many pages. */
const walPages = 2_000
const pageSize = 8192

export class ViewsFile {
  /** The queues in the table `first_builds`. */
  private firstBuilds: Set<string>

  private constructor(
    readonly db: Database.Database,
    private readonly models: ReadonlyArray<TableProjection>,
    /** The projections whose tables answer, and are kept up to date. */
    private currentGroup: Group,
    /** The projections whose tables are being built. */
    private nextGroup: Group | undefined,
  ) {
    this.firstBuilds = firstBuildsIn(db)
  }

  /** @throws Error with what to do if the file is not one of Daybook's, or is damaged. */
  static open({ file, models }: ViewsOptions): ViewsFile {
    let db: Database.Database | undefined
    try {
      db = new Database(file, { timeout: 10_000 })
      prepare(db, file)
      const opened = db
      const { current, next } = db.transaction(() => arrange(opened, models)).immediate()
      return new ViewsFile(db, models, new Group(db, current, ''), next.length === 0 ? undefined : new Group(db, next, 'next_'))
    } catch (error) {
      db?.close()
      throw unusable(error, file)
    }
  }

  get current(): Group {
    return this.currentGroup
  }

  get building(): Group | undefined {
    return this.nextGroup
  }

  /** The queues of which some table has events. */
  queues(): ReadonlyArray<string> {
    return this.db.prepare<[], string>('SELECT DISTINCT queue FROM projections WHERE revision >= 0').pluck().all()
  }

  /** The revision of the queue that all answering tables include; -1 if one of them includes nothing yet. */
  shownOf(queue: string): number {
    const { currentGroup: current, nextGroup: next, db } = this
    const old = (next?.models ?? []).map(({ name }) =>
      db.prepare<[string, string], number>("SELECT revision FROM projections WHERE name = ? AND state = 'current' AND queue = ?").pluck().get(name, queue) ?? -1,
    )
    return Math.min(...old, ...(current.models.length === 0 ? [] : [current.at(queue).revision]))
  }

  /** Notes which queues had events in the log before the tables, once the log was examined. Does nothing if the tables are not new. */
  beginFirstBuilds(queues: ReadonlyArray<string>): void {
    const { db } = this
    if (!this.firstBuilds.has(everyQueue)) return
    db.transaction(() => {
      db.exec('DELETE FROM first_builds')
      for (const queue of queues) db.prepare('INSERT INTO first_builds (queue) VALUES (?)').run(queue)
    }).immediate()
    this.firstBuilds = firstBuildsIn(db)
  }

  /** The answering tables have all events of the queue that were in the log before. */
  endFirstBuild(queue: string): void {
    if (this.firstBuilds.delete(queue)) this.db.prepare('DELETE FROM first_builds WHERE queue = ?').run(queue)
  }

  /** Makes the indexes that wait until the tables have caught up with the log. Cost, once: O(rows · log rows), and a temporary file of their size. */
  completeIndexes(): void {
    const { db, currentGroup: current, nextGroup: next } = this
    const all = [...current.models.map((model) => ({ model, prefix: '' })), ...(next?.models ?? []).map((model) => ({ model, prefix: 'next_' }))]
    for (const { model, prefix } of all) for (const { name, indexes } of partsOf(model)) sorting(db, () => createIndexes(db, prefix + name, indexes))
  }

  /** Replaces the old tables by those that were being built. `unread`: the queues whose events could not be read. */
  switchOver(unread: ReadonlySet<string>): void {
    const { nextGroup: next, db } = this
    if (next === undefined) return
    db.transaction(() => {
      for (const model of next.models) {
        for (const { name } of partsOf(model)) {
          db.exec(`DROP TABLE IF EXISTS "${name}"; ALTER TABLE "next_${name}" RENAME TO "${name}"`)
        }
        db.prepare("DELETE FROM projections WHERE name = ? AND state = 'current'").run(model.name)
        db.prepare("UPDATE projections SET state = 'current' WHERE name = ?").run(model.name)
      }
      for (const queue of this.firstBuilds) if (!unread.has(queue)) db.prepare('DELETE FROM first_builds WHERE queue = ?').run(queue)
    }).immediate()
    this.firstBuilds = firstBuildsIn(db)
    // The tables of both groups' statements have other names now.
    this.currentGroup = new Group(db, this.models, '')
    this.nextGroup = undefined
  }

  /** Builds everything anew, because the tables are of another log, or of a log that ended later. */
  startAnew(): void {
    const { db, models } = this
    db.transaction(() => {
      dropAll(db)
      db.exec('DELETE FROM projections; DELETE FROM queues')
      for (const model of models) create(db, model, '')
      expectFirstBuilds(db)
    }).immediate()
    this.firstBuilds = firstBuildsIn(db)
    this.currentGroup = new Group(db, models, '')
    this.nextGroup = undefined
  }

  close(): void {
    this.db.close()
  }
}

/**
 * Runs `work`, which sorts many rows: in a temporary file, or in memory if that fails. There may be no folder for such files that can be written to, or
 * no room. `work` may run twice.
 */
export const sorting = (db: Database.Database, work: () => void): void => {
  db.pragma('temp_store = FILE')
  try {
    work()
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    db.pragma('temp_store = MEMORY')
    work()
  } finally {
    db.pragma('temp_store = MEMORY')
  }
}

const adviceOn: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'it is damaged, or no file of read models: move it away, it is built anew from the log; or name another one',
  SQLITE_CANTOPEN: 'see whether it is a folder, and whether it may be read and written',
  SQLITE_IOERR_READ: 'see whether it is a folder, and whether the disk can be read',
}

/** The error, with the name of the file and what to do if it is SQLite's. */
export const unusable = (error: unknown, file: string): unknown => {
  if (!(error instanceof Database.SqliteError)) return error
  const advice = error.code.startsWith('SQLITE_CORRUPT') ? 'delete the file, it is built anew from the log' : (adviceOn[error.code] ?? 'see whether another process writes to it, and whether the disk is full or may not be written')
  return new Error(`the read models ${file} cannot be used (${error.message}): ${advice}`, { cause: error })
}

const prepare = (db: Database.Database, file: string): void => {
  const id = db.pragma('application_id', { simple: true })
  const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
  if (id !== applicationId && !isEmpty) throw new Error(`${file} is no file of read models: move it away, or name another one`)
  if (isEmpty) db.pragma(`page_size = ${pageSize}`)
  db.pragma('journal_mode = WAL')
  // After a power failure some of the last batches may be missing, together with their revisions: they are read from the log again.
  db.pragma('synchronous = NORMAL')
  db.pragma(`wal_autocheckpoint = ${walPages}`)
  db.pragma('cache_size = -16000')
  db.pragma('temp_store = MEMORY')
  if (isEmpty) {
    db.transaction(() => {
      db.exec(`${projectionsTable};\n${queuesTable};\n${firstBuildsTable};`)
      expectFirstBuilds(db)
      db.pragma(`application_id = ${applicationId}`)
      db.pragma(`user_version = ${fileVersion}`)
    }).immediate()
  } else if (db.pragma('user_version', { simple: true }) !== fileVersion) {
    throw new Error(`${file} is of another version of Daybook: delete it, it is built anew from the log`)
  } else {
    // Files of earlier versions do not have this table. Their tables count as complete.
    db.exec(firstBuildsTable)
  }
}

/** Until the log is examined, nobody knows which queues had events before their tables. */
const expectFirstBuilds = (db: Database.Database): void => {
  db.exec('DELETE FROM first_builds')
  db.prepare('INSERT INTO first_builds (queue) VALUES (?)').run(everyQueue)
}

const firstBuildsIn = (db: Database.Database): Set<string> => new Set(db.prepare<[], string>('SELECT queue FROM first_builds').pluck().all())

const namesIn = (db: Database.Database): ReadonlyMap<string, string> =>
  new Map(db.prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL").all().map(({ name, sql }) => [name, sql]))

const create = (db: Database.Database, model: TableProjection, prefix: Prefix): void => {
  for (const part of partsOf(model)) {
    db.exec(part.sql(prefix))
    createIndexes(db, prefix + part.name, part.indexes.filter(({ isForFold }) => isForFold))
  }
}

/** Makes the indexes that do not exist yet. */
const createIndexes = (db: Database.Database, table: string, indexes: ReadonlyArray<Index>): void => {
  const found = db.prepare<[string], string>("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?").pluck().all(table)
  for (const index of indexes) {
    if (found.some((name) => name.startsWith(`${index.name}_`))) continue
    // The version grows with each change of the schema.
    db.exec(indexSql(index, table, Number(db.pragma('schema_version', { simple: true }))))
  }
}

/** Which projections have their tables, and which must be built. Creates tables for the latter. */
const arrange = (db: Database.Database, models: ReadonlyArray<TableProjection>) => {
  const found = namesIn(db)
  const has = (model: TableProjection, prefix: Prefix): boolean => partsOf(model).every((part) => isSame(found.get(prefix + part.name), part.sql(prefix))) && isReadable(db, model, prefix)
  const hasNone = (model: TableProjection): boolean => partsOf(model).every((part) => !found.has(part.name))
  const isNew = models.every(hasNone)
  const current = models.filter((model) => has(model, ''))
  const next = models.filter((model) => !current.includes(model))
  if (isNew) {
    for (const model of models) create(db, model, '')
    return { current: models, next: [] }
  }
  // They are built together, so a build that was begun before is continued only if it has the same projections.
  const isBegun = next.length > 0 && next.every((model) => has(model, 'next_'))
  if (!isBegun) {
    dropAll(db, 'next_')
    db.exec("DELETE FROM projections WHERE state = 'next'")
    for (const model of next) create(db, model, 'next_')
  }
  return { current, next }
}

/** Whether the SQL is the same apart from comments; the version in the comments counts. */
const isSame = (found: string | undefined, sql: string): boolean => found !== undefined && bare(found) === bare(sql)
const bare = (sql: string): string => sql.replace(/ -- [^\n]*?(\(version \d+\))?$/gm, '$1')

/** Whether it misses no event that this version of Daybook may be able to read. */
const isReadable = (db: Database.Database, { name }: TableProjection, prefix: Prefix): boolean =>
  db.prepare('SELECT count(*) FROM projections WHERE name = ? AND state = ? AND unreadable > 0 AND reader <> ?').pluck().get(name, stateOf(prefix), reader) === 0

/** Drops the tables of projections with this prefix. */
const dropAll = (db: Database.Database, prefix: Prefix = ''): void => {
  const drop = (begin: string): void => {
    for (const [name, sql] of namesIn(db)) if (name.startsWith(prefix) && sql.startsWith(begin)) db.exec(`DROP TABLE "${name}"`)
  }
  // The full-text index is dropped first, because its own tables go with it.
  drop('CREATE VIRTUAL TABLE')
  drop('CREATE TABLE "')
}
