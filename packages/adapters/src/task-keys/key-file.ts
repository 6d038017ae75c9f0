/**
 * The keys in an SQLite file of their own, beside the log and not in it: a log only grows, and a key has to go. Several processes on one machine
 * may open it. It is made with the first key. Nothing is cached, so that a key that another process throws away is gone here as well.
 */
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { FoundKey, KeyReader, KeyStore, NewKey, TaskKey } from './key-store.js'

const version = 1

/** How long another process may hold the file, in milliseconds. */
const busyMs = 5_000

const schema = `
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS keys (id TEXT NOT NULL PRIMARY KEY, queue TEXT NOT NULL, task TEXT NOT NULL, revision INTEGER NOT NULL, key BLOB);
  CREATE INDEX IF NOT EXISTS of_task ON keys (queue, task, revision);
  PRAGMA user_version = ${version};
  COMMIT;
`

const open = (file: string): Database.Database => {
  const db = new Database(file, { timeout: busyMs })
  try {
    db.pragma('journal_mode = WAL')
    // A key has to be on disk before what is encrypted with it.
    db.pragma('synchronous = FULL')
    db.pragma('secure_delete = ON')
    const found = db.pragma('user_version', { simple: true })
    if (found !== 0 && found !== version) throw new Error(`${file} is of another version of Daybook (${String(found)}): update this one`)
    if (found === 0) db.exec(schema)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** A row's key is null when it was thrown away. */
type Row = { readonly id: string; readonly key: Buffer | null }

export class KeyFile implements KeyStore {
  private opened: Parts | undefined

  /** `:memory:` for keys that are gone at the end, as a log in memory is. */
  constructor(private readonly file: string) {}

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

  close(): void {
    this.opened?.db.close()
    this.opened = undefined
  }

  /** The file, if there is one. */
  private present(): Parts | undefined {
    if (this.opened === undefined && (this.file === ':memory:' || !existsSync(this.file))) return undefined
    return this.parts()
  }

  private parts(): Parts {
    return (this.opened ??= partsOf(open(this.file)))
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
    insert: db.transaction((keys: ReadonlyArray<NewKey>) => {
      for (const { id, queue, task, revision, key } of keys) insert.run(id, queue, task, revision, key)
    }),
  }
}

/** Keys for reading what was written elsewhere. The file need not be there. */
export const readKeys = (file: string | undefined): KeyReader & { readonly close: () => void } => (file === undefined ? { find: () => undefined, close: () => undefined } : new KeyFile(file))
