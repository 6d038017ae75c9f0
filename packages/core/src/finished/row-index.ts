/**
 * A hash index of rows by a text. It is made of small tables, each for an equal range of hashes. A full table grows by a quarter, and a large one is
 * split. So most slots are in use, and no growth takes long, however many rows there are.
 */
import { HashTable } from './hash-table.js'

/** A full table with this many entries is split. */
const tableMax = 8_192
/** The factor by which a table grows. */
const growth = 1.25
/** If more texts than this have the same hash, the others are kept in a map. */
const alikeMax = 8
/** There are at most 2 to the power of this many tables. Beyond that, tables grow past {@link tableMax}. */
const depthMax = 16
/** 0.5 MB while rows are added together. */
const waitingMax = 2 ** 16

export class RowIndex {
  /** Tables by the leading bits of hashes. A table with fewer bits is in several places. */
  private directory: Array<HashTable> = [HashTable.for(0, 0)]
  private bits = 0
  private count = 0
  private tableBytes = this.tableOf(0).bytes
  private readonly crowded = new Map<string, number>()
  /** Hashes and rows that no table has yet, if some are added together. Every other call enters all rows first. */
  private waiting: Int32Array | undefined
  private waitingCount = 0

  /**
   * `textOf`: the text of an indexed row, by the last 32 bits of its number. `hashOf`: the hash of a text; a 32-bit integer, never 0. `isOther`:
   * whether a row is known to have another text without reading it.
   */
  constructor(
    private readonly textOf: (row: number) => string,
    private readonly hashOf: (text: string) => number,
    private readonly isOther: (row: number, text: string) => boolean = () => false,
  ) {}

  get size(): number {
    this.enterAll()
    return this.count + this.crowded.size
  }

  /** Size of its arrays in bytes. */
  get bytes(): number {
    return this.tableBytes + 8 * this.directory.length
  }

  /** The last 32 bits of the number of the row with this text. */
  get(text: string): number | undefined {
    if (this.size === 0) return undefined
    const hash = this.hashOf(text)
    const table = this.tableOf(hash)
    for (let at = table.first(hash); at >= 0; at = table.after(at, hash)) {
      const row = table.rowAt(at)
      if (!this.isOther(row, text) && this.textOf(row) === text) return row
    }
    return this.crowded.size > 0 ? this.crowded.get(text) : undefined
  }

  /** Adds a row. `hash`: that of the row's text. No other row may have this text. */
  add(hash: number, row: number): void {
    this.enterAll()
    this.enter(hash, row)
  }

  /**
   * The same for one of very many rows. Tables gather them, and put all of them in their slots at the end, while a table is in the processor's cache.
   * Some rows wait before, because the tables of one index have as many pages as the processor's address cache: two indexes in turns have more.
   */
  addLater(hash: number, row: number): void {
    const waiting = (this.waiting ??= new Int32Array(2 * waitingMax))
    waiting[2 * this.waitingCount] = hash
    waiting[2 * this.waitingCount + 1] = row
    if (++this.waitingCount === waitingMax) this.gather(waiting)
  }

  private gather(waiting: Int32Array): void {
    const end = 2 * this.waitingCount
    this.waitingCount = 0
    for (let at = 0; at < end; at += 2) {
      const hash = waiting[at] as number
      const row = waiting[at + 1] as number
      const table = this.tableOf(hash)
      if (table.gather(hash, row)) continue
      table.takeGathered(this.enter)
      this.enter(hash, row)
    }
  }

  private enterAll(): void {
    const { waiting } = this
    if (waiting === undefined) return
    this.waiting = undefined
    this.gather(waiting)
    for (const table of new Set(this.directory)) table.takeGathered(this.enter)
  }

  private readonly enter = (hash: number, row: number): void => {
    let table = this.tableOf(hash)
    if (table.isFull) {
      this.grow(hash, table)
      table = this.tableOf(hash)
    }
    if (table.put(hash, row, alikeMax)) this.count++
    else this.crowded.set(this.textOf(row), row >>> 0)
  }

  /** Removes a row. False if the row is not in the index. */
  remove(hash: number, row: number): boolean {
    this.enterAll()
    const table = this.tableOf(hash)
    let at = table.first(hash)
    while (at >= 0 && table.rowAt(at) !== row >>> 0) at = table.after(at, hash)
    if (at < 0) {
      const text = this.crowded.size > 0 ? this.textOf(row) : ''
      return this.crowded.get(text) === row >>> 0 && this.crowded.delete(text)
    }
    table.clear(at)
    this.count--
    if (table.isSparse) this.replace(hash, table, [HashTable.for(table.depth, table.count * growth)])
    return true
  }

  /** Reserves room for this many rows. The index must be empty. */
  reserve(rows: number): void {
    this.bits = Math.min(depthMax, Math.max(0, Math.ceil(Math.log2(rows / tableMax))))
    this.tableBytes = 0
    this.directory = Array.from({ length: 2 ** this.bits }, () => HashTable.for(this.bits, (rows / 2 ** this.bits) * reserved))
    for (const { bytes } of this.directory) this.tableBytes += bytes
  }

  private tableOf(hash: number): HashTable {
    return this.directory[this.bits === 0 ? 0 : hash >>> (32 - this.bits)] as HashTable
  }

  private grow(hash: number, table: HashTable): void {
    const { count, depth } = table
    if (count < tableMax || depth === depthMax) {
      this.replace(hash, table, [HashTable.for(depth, count * growth)])
      return
    }
    const upper = table.countUpper()
    this.replace(hash, table, [HashTable.for(depth + 1, (count - upper) * growth), HashTable.for(depth + 1, upper * growth)])
  }

  /** Replaces the table for this hash by one or two others with the same entries. */
  private replace(hash: number, table: HashTable, others: ReadonlyArray<HashTable>): void {
    if (others.length > 1 && table.depth === this.bits) {
      this.directory = this.directory.flatMap((each) => [each, each])
      this.bits++
    }
    const places = 2 ** (this.bits - table.depth)
    const first = this.bits === 0 ? 0 : Math.floor((hash >>> (32 - this.bits)) / places) * places
    for (let i = 0; i < places; i++) this.directory[first + i] = others[Math.floor((i * others.length) / places)] as HashTable
    for (const { bytes } of others) this.tableBytes += bytes
    this.tableBytes -= table.bytes
    table.moveTo((each) => this.tableOf(each))
  }
}

/** Tables have a little more or less than an equal share. */
const reserved = 1.04
