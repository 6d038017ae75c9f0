/** Indexes of read models that are made when a build has ended: their rows are sorted outside of memory, wherever that is possible. */
import { sorting } from '@daybook/adapters/read-models'
import Database from 'better-sqlite3'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Makes an index of 150 MB, and prints by how many MiB that increased the memory of the process at most. */
const program = (file: string): string => `
  import { ViewsFile } from ${JSON.stringify(import.meta.resolve('@daybook/adapters/read-models'))}
  import { integer, table, text } from ${JSON.stringify(import.meta.resolve('@daybook/projections'))}
  const notes = table({ name: 'notes', about: '', columns: { key: integer(''), note: text('') }, key: ['key'], indexes: [{ name: 'notes_by_note', on: 'note' }] })
  const views = ViewsFile.open({ file: ${JSON.stringify(file)}, models: [{ name: 'notes', version: 1, about: '', tables: [notes], feed: () => undefined }] })
  views.db.exec("INSERT INTO notes WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000) SELECT i, hex(randomblob(500)) FROM n")
  const most = () => process.resourceUsage().maxRSS / 1024
  const before = most()
  views.completeIndexes()
  console.log(JSON.stringify([most() - before, views.db.prepare("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'notes_by_note%'").pluck().get()]))
`

test('they take little memory, however many rows there are', () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-indexes-'))
  try {
    const [mib, indexes] = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program(join(dir, 'views.db'))], { encoding: 'utf8' })) as [number, number]
    expect(indexes).toBe(1)
    expect(mib).toBeLessThan(75)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

const storeOf = (db: Database.Database): unknown => db.pragma('temp_store', { simple: true })
const [inFile, inMemory] = [1, 2]

test('without a folder for temporary files, they are made in memory', () => {
  const db = new Database(':memory:')
  const stores: Array<unknown> = []
  sorting(db, () => {
    stores.push(storeOf(db))
    // What SQLite throws where no folder can be written to.
    if (stores.length === 1) throw new Database.SqliteError('unable to open database file', 'SQLITE_IOERR_GETTEMPPATH')
  })
  expect([...stores, storeOf(db)]).toEqual([inFile, inMemory, inMemory])
})

test('what fails in memory too is an error, and what is no error of SQLite is not tried again', () => {
  const db = new Database(':memory:')
  let tries = 0
  const failing = (error: Error) => (): never => {
    tries++
    throw error
  }
  expect(() => sorting(db, failing(new Database.SqliteError('database or disk is full', 'SQLITE_FULL')))).toThrow('disk is full')
  expect([tries, storeOf(db)]).toEqual([2, inMemory])
  expect(() => sorting(db, failing(new Error('mine')))).toThrow('mine')
  expect(tries).toBe(3)
})
