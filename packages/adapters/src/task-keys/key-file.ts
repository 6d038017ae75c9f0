/**
 * The keys in a separate SQLite file beside the log. They cannot be in the log, which only grows, because a key must be deletable. Several processes
 * on one machine may open the file. It is created with the first key. Nothing is cached, so a key that another process deletes is gone here as well.
 */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { FoundKey, HeldKey, Intention, KeyReader, KeyStore, NewKey, TaskKey } from './key-store.js'
import { isDamage } from '../sqlite/errors.js'

const version = 1

/** How long another thread or process may hold the file, in milliseconds. Each operation takes less than one. */
const busyMs = 2_000

const schema = `
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS keys (id TEXT NOT NULL PRIMARY KEY, queue TEXT NOT NULL, task TEXT NOT NULL, revision INTEGER NOT NULL, key BLOB);
  CREATE INDEX IF NOT EXISTS of_task ON keys (queue, task, revision);
  CREATE TABLE IF NOT EXISTS intentions (queue TEXT NOT NULL, task TEXT NOT NULL, revision INTEGER NOT NULL);
  PRAGMA user_version = ${version};
  COMMIT;
`

/** `undefined` if there are no tables yet. Nothing is written: the file may be in a backup on a read-only disk. */
const openToRead = (file: string): Parts | undefined => opening(file, () => new Database(file, { readonly: true, timeout: busyMs }), (db, found) => (found === 0 ? undefined : partsOf(db)))

const open = (file: string): Parts => {
  // Created before SQLite would create it, so that nobody else on the machine can read it. Its WAL gets the same mode.
  // A file that is there is not touched: closing it here would drop the locks that SQLite holds for other threads (ADR 4).
  if (file !== ':memory:' && !existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  const connect = (): Database.Database => new Database(file, { timeout: busyMs })
  return opening(file, connect, (db, found) => {
    db.pragma('journal_mode = WAL')
    // A key must be on disk before anything that is encrypted with it.
    db.pragma('synchronous = FULL')
    db.pragma('secure_delete = ON')
    if (found === 0) db.exec(schema)
    return partsOf(db)
  })
}

/** @throws Error with the file's name and what is wrong. */
const opening = <A>(file: string, connect: () => Database.Database, use: (db: Database.Database, found: number) => A): A => {
  let db: Database.Database | undefined
  try {
    db = connect()
    const found = db.pragma('user_version', { simple: true }) as number
    if (found !== 0 && found !== version) throw new Error(`it is of another version of Daybook (${found}): update this one`)
    const used = use(db, found)
    if (used === undefined) db.close()
    return used
  } catch (error) {
    db?.close()
    const reason = (error as Error).message
    throw new Error(isDamage(error) ? damaged(file, reason) : `${file}: ${reason}`, { cause: error })
  }
}

/** Whether the file has been made. An empty one is left where making it failed, as on a full disk. */
const isMade = (file: string): boolean => [file, `${file}-wal`].some((each) => (statSync(each, { throwIfNoEntry: false })?.size ?? 0) > 0)

/** A start without the file would make dead letters of its unfinished tasks, so nobody should try that. */
const damaged = (file: string, what: string): string =>
  `the file with the keys of erasable tasks, ${file}, is damaged (${what}): restore it from a backup. Do not start without it: its unfinished tasks would become dead letters`

/** The key of a row is null after it was deleted. */
type Row = { readonly id: string; readonly key: Buffer | null }

export class KeyFile implements KeyStore {
  private opened: Parts | undefined

  /** `:memory:` for keys that are lost at the end, like a log in memory. `isReader`: only for questions. */
  constructor(
    private readonly file: string,
    private readonly isReader = false,
  ) {}

  find(id: string): FoundKey {
    const row = this.present()?.byId.get(id)
    return row === undefined ? undefined : (row.key ?? 'erased')
  }

  hasAny(queue: string): boolean {
    return this.present()?.anyOf.get(queue) !== undefined
  }

  newestOf(queue: string, task: string): TaskKey | 'erased' | undefined {
    const row = this.present()?.ofTask.get(queue, task)
    return row === undefined ? undefined : row.key === null ? 'erased' : { id: row.id, key: row.key }
  }

  add(keys: ReadonlyArray<NewKey>): void {
    this.parts().insert(keys)
  }

  allOf(queue: string, task: string): ReadonlyArray<HeldKey> {
    return (this.present()?.all.all(queue, task) ?? []).map(({ id, revision, key }) => ({ id, revision, isErased: key === null }))
  }

  intend({ queue, task, revision }: Intention): void {
    this.parts().intend.run(queue, task, revision)
  }

  withdraw({ queue, task, revision }: Intention): void {
    this.parts().withdraw.run(queue, task, revision)
  }

  intended(queue: string): ReadonlyArray<Intention> {
    return this.present()?.intended.all(queue) ?? []
  }

  throwAway(intention: Intention, before: number): void {
    const { db, forget, settled } = this.parts()
    forget.run(intention.queue, intention.task, before)
    // The WAL still has the former pages. It can be emptied only when nobody reads from it.
    const [{ busy }] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ readonly busy: number }]
    if (busy !== 0) throw new Error(`${this.file} is in use by another process`)
    settled.run(intention.queue, intention.task, before)
  }

  /** Opens the file, and creates it if necessary. @throws Error if it is damaged, or of another version. */
  open(): void {
    this.parts()
  }

  close(): void {
    this.opened?.db.close()
    this.opened = undefined
  }

  /** The file, if there is one. */
  private present(): Parts | undefined {
    if (this.opened === undefined && (this.file === ':memory:' || !isMade(this.file))) return undefined
    return this.isReader ? (this.opened ??= openToRead(this.file)) : this.parts()
  }

  private parts(): Parts {
    return (this.opened ??= open(this.file))
  }
}

type Parts = ReturnType<typeof partsOf>

const partsOf = (db: Database.Database) => {
  const insert = db.prepare<[string, string, string, number, Buffer]>('INSERT INTO keys (id, queue, task, revision, key) VALUES (?, ?, ?, ?, ?)')
  return {
    db,
    byId: db.prepare<[string], Row>('SELECT id, key FROM keys WHERE id = ?'),
    anyOf: db.prepare<[string]>('SELECT 1 FROM keys WHERE queue = ? LIMIT 1'),
    ofTask: db.prepare<[string, string], Row>('SELECT id, key FROM keys WHERE queue = ? AND task = ? ORDER BY revision DESC LIMIT 1'),
    all: db.prepare<[string, string], Row & { readonly revision: number }>('SELECT id, revision, key FROM keys WHERE queue = ? AND task = ? ORDER BY revision'),
    forget: db.prepare<[string, string, number]>('UPDATE keys SET key = NULL WHERE queue = ? AND task = ? AND revision < ?'),
    intend: db.prepare<[string, string, number]>('INSERT INTO intentions VALUES (?, ?, ?)'),
    withdraw: db.prepare<[string, string, number]>('DELETE FROM intentions WHERE queue = ? AND task = ? AND revision = ?'),
    settled: db.prepare<[string, string, number]>('DELETE FROM intentions WHERE queue = ? AND task = ? AND revision < ?'),
    intended: db.prepare<[string], Intention>('SELECT queue, task, revision FROM intentions WHERE queue = ?'),
    insert: db.transaction((keys: ReadonlyArray<NewKey>) => {
      for (const { id, queue, task, revision, key } of keys) insert.run(id, queue, task, revision, key)
    }),
  }
}

/** Keys for reading content that was written elsewhere. The file need not exist, and is not changed. */
export const readKeys = (file: string | undefined): KeyReader & { readonly close: () => void } => (file === undefined ? { find: () => undefined, close: () => undefined } : new KeyFile(file, true))
