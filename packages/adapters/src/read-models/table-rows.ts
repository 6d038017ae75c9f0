/**
 * The rows of one table; those that were used lately are in memory. Changed rows are written at the end of the batch, so a row that changes many
 * times in a batch is written once.
 */
import type { Database, Statement } from 'better-sqlite3'
import { unrolled } from '@daybook/core'
import type { Rows, RowOf, Table } from '@daybook/projections'
import { RowsByKey } from './rows-by-key.js'
import { changedColumns, foundColumns, type Prefix, selectSql, updateSql, upsertSql } from './schema.js'

type Value = string | number | null
/** Passes the columns of a row to a statement. */
type Write<R> = (row: R) => void

export class TableRows<T extends Table> implements Rows<RowOf<T>> {
  /** Rows found or put lately, oldest first. */
  private readonly kept: RowsByKey<RowOf<T>>
  /** Rows put in this batch. The value tells whether the row existed before, so that it is updated. */
  private readonly puts = new Map<RowOf<T>, boolean>()
  /** Rows put in this batch, for a write-only table. */
  private added: Array<RowOf<T>> = []
  /** The result of the last `get`, until another row is put: mostly it is the next to be put. */
  private lastFound: RowOf<T> | undefined
  private readonly select: Statement<Array<string | number>, string>
  private readonly rowOf: (values: ReadonlyArray<Value>) => RowOf<T>
  private readonly upsert: Write<RowOf<T>>
  private readonly update: Write<RowOf<T>>
  private readonly foundBy: (row: RowOf<T>) => ReadonlyArray<string | number>
  /** Orders rows by the first column of the key, if that is a number. */
  private readonly order: ((one: RowOf<T>, other: RowOf<T>) => number) | undefined
  private readonly isFinished: ((row: RowOf<T>) => boolean) | undefined

  constructor(
    db: Database,
    private readonly table: T,
    prefix: Prefix,
  ) {
    this.select = db.prepare<Array<string | number>, string>(selectSql(table, prefix)).pluck()
    this.rowOf = rowMaker(table)
    this.upsert = writer(db, upsertSql(table, prefix), Object.keys(table.columns))
    // A row without columns besides its key never changes.
    const isAllKey = changedColumns(table).length === table.key.length
    this.update = table.isWriteOnly === true || isAllKey ? this.upsert : writer(db, updateSql(table, prefix), changedColumns(table))
    const foundBy = table.foundBy ?? table.key
    this.foundBy = unrolled([], 'row', () => '', `return [${foundBy.map((column) => `row.${column}`).join(', ')}]`)
    this.kept = new RowsByKey(foundBy.length)
    const [first = ''] = table.key
    if (table.columns[first]?.type === 'INTEGER') this.order = unrolled([], 'one, other', () => '', `return one.${first} - other.${first}`)
    this.isFinished = table.finishedBy === undefined ? undefined : unrolled([], 'row', () => '', `return row.${table.finishedBy} !== null`)
  }

  readonly get = (...values: ReadonlyArray<string | number>): RowOf<T> | undefined => (this.lastFound = this.find(values))

  private find(values: ReadonlyArray<string | number>): RowOf<T> | undefined {
    const kept = this.kept.get(values)
    if (kept !== undefined) return kept
    const found = this.select.get(...values)
    if (found === undefined) return undefined
    const row = this.rowOf(JSON.parse(found) as ReadonlyArray<Value>)
    // By the row's own values: an id from an event shares memory with the text of many events, which would stay in memory as long as the row.
    this.kept.set(this.foundBy(row), row)
    return row
  }

  readonly put = (row: RowOf<T>): void => {
    if (this.table.isWriteOnly === true) {
      this.added.push(row)
      return
    }
    if (this.puts.has(row)) return
    if (row === this.lastFound) {
      this.puts.set(row, true)
      return
    }
    this.lastFound = undefined
    const name = this.foundBy(row)
    const known = this.kept.get(name)
    this.puts.set(row, known === row)
    if (known === row) return
    this.kept.set(name, row)
    // The row that it replaces must not be written after it. A different row that is found by the same values stays.
    if (known !== undefined && this.table.foundBy === undefined && this.puts.get(known) === true) this.puts.delete(known)
  }

  /**
   * Writes all rows that were put, within the caller's transaction: new rows, then changed ones, each in the order of their keys, so that a page of
   * the file is written once.
   */
  write(): void {
    const changed: Array<RowOf<T>> = []
    for (const [row, wasFound] of this.puts) (wasFound ? changed : this.added).push(row)
    for (const row of this.inOrder(this.added)) this.upsert(row)
    for (const row of this.inOrder(changed)) this.update(row)
  }

  /** Rows with the same first column of the key keep their order. */
  private inOrder(rows: Array<RowOf<T>>): Array<RowOf<T>> {
    return this.order === undefined ? rows : rows.sort(this.order)
  }

  /** Called after the transaction. Evicts rows if there are more than this. */
  settled(keptMax: number): void {
    const { kept, isFinished } = this
    if (isFinished !== undefined && kept.size > keptMax) for (const row of this.puts.keys()) if (isFinished(row)) kept.delete(this.foundBy(row))
    if (kept.size > 2 * keptMax) kept.dropOldest(kept.size - 2 * keptMax)
    this.puts.clear()
    this.added = []
    this.lastFound = undefined
  }
}

/** Makes a row of the columns that were read. All rows of a table have the same shape. */
const rowMaker = <T extends Table>(table: T): ((values: ReadonlyArray<Value>) => RowOf<T>) => {
  const places = new Map(foundColumns(table).map((name, i) => [name, i]))
  const members = Object.keys(table.columns).map((name) => `${name}: ${places.has(name) ? `values[${places.get(name)}]` : 'null'}`)
  return unrolled([], 'values', () => '', `return { ${members.join(', ')} }`)
}

/** The largest number of statements for one table and kind. Rows with yet another combination of nulls use a statement that binds all values. */
const statementsMax = 64

/**
 * Binding a value takes longer than SQLite's own work on it, and most values of a row are null. So each combination of null columns has its own
 * statement, which binds only the other columns.
 */
const writer = <R>(db: Database, sql: string, columns: ReadonlyArray<string>): Write<R> => {
  const parts = sql.split('?')
  const writes = new Map<number, Write<R>>()
  const making = (isNull: (column: number) => boolean): Write<R> => {
    const bound = columns.filter((_, i) => !isNull(i))
    const statement = db.prepare(parts.map((part, i) => (i === columns.length ? part : `${part}${isNull(i) ? 'NULL' : '?'}`)).join(''))
    // Values are passed one by one: an array takes half as long again.
    return unrolled<Write<R>>([], 'row', () => '', `statement.run(${bound.map((name) => `row.${name}`).join(', ')})`, { statement })
  }
  const writeAll = making(() => false)
  if (columns.length > nullsMax) return writeAll
  // Two numbers with so few bits that V8 keeps them as small integers.
  const nullsOf = unrolled<(row: R) => number>(columns, 'row, low = 0, high = 0', (name) => {
    const column = columns.indexOf(name)
    return `if (row.${name} === null) ${column < lowBits ? `low |= ${2 ** column}` : `high |= ${2 ** (column - lowBits)}`}`
  }, `return high * ${2 ** lowBits} + low`)
  return (row) => {
    const nulls = nullsOf(row)
    let write = writes.get(nulls)
    if (write === undefined) {
      if (writes.size === statementsMax) return writeAll(row)
      write = making((column) => Math.floor(nulls / 2 ** column) % 2 === 1)
      writes.set(nulls, write)
    }
    write(row)
  }
}

/** A double has this many exact bits. */
const nullsMax = 53
const lowBits = 27
