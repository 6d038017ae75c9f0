/**
 * Rows of bytes in the order in which they were added, in chunks. Rows are removed from the front, and a few from the middle. All changes can be
 * undone, newest first.
 */
import type { ByteWriter } from '../rows/bytes.js'
import { Chunk } from './chunk.js'
import { chunkRows } from '../rows/row-bytes.js'
import { columnsIn, type RowColumns, rowColumns } from '../rows/columns.js'
import { type KeptRows, RecentReads, type RowStore } from '../rows/row-store.js'

/** The largest number of chunks that are given to the store at once: after a time in which it took none, nobody should wait long. */
const givenMax = 4

/** All that is needed to put a removed row back. */
export interface RemovedPlace {
  readonly row: number
  /** The former first row, and the chunks that were dropped with it. */
  readonly front: number
  readonly passed: ReadonlyArray<number>
  readonly dropped: ReadonlyArray<Chunk>
}

/** The chunks of rows at one moment. Chunks that are dropped later are kept here. */
export interface ChunksThen {
  readonly front: number
  readonly end: number
  /** The first chunk begins with the row `first`. */
  readonly chunks: ReadonlyArray<Chunk>
  readonly first: number
}

/** Rows of a snapshot that were added. */
export interface AdoptedRows {
  /** The number of the first one. */
  readonly from: number
  readonly columns: RowColumns
}

export class Rows {
  /** Rows from `front` to before `end` are there, except those in `gone`. Rows are numbered from 0; a number is never used again. */
  front = 0
  end = 0
  private readonly gone = new Set<number>()
  /** The chunk of row `r` is the one with index `floor(r / chunkRows) - firstChunk`. */
  private readonly chunks: Array<Chunk> = []
  private firstChunk = 0
  /** Chunks before this one were given to the store. Chunks are counted from the very first one. */
  private givenTo = 0
  private readonly reads = new RecentReads()

  /** `seed`: that of the hashes. Without a store, all chunks stay in memory. */
  constructor(
    private readonly seed: number,
    private readonly store: RowStore | undefined,
  ) {}

  /** Size of its arrays in bytes. */
  get bytes(): number {
    return this.chunks.reduce((sum, { size }) => sum + size, this.reads.bytes)
  }

  /** About how many of the rows are in a store. */
  get inStore(): number {
    return Math.max(0, this.givenTo * chunkRows - this.front)
  }

  has(row: number): boolean {
    return row >= this.front && row < this.end && !this.gone.has(row)
  }

  /** Whether all rows from `from` to before `to` are there. */
  hasAll(from: number, to: number): boolean {
    if (from < this.front || to > this.end) return false
    if (this.gone.size > 0) for (let row = from; row < to; row++) if (this.gone.has(row)) return false
    return true
  }

  /** Calls `read` with the bytes and the offset at which the row begins. */
  at<T>(row: number, read: (bytes: Uint8Array, start: number) => T): T {
    return this.chunkOf(row).at(row % chunkRows, read)
  }

  /** The checks of a row whose bytes are in a store (`rows/task-bytes.ts`); `undefined` if they are in memory. */
  checksOf(row: number): number | undefined {
    return this.chunkOf(row).checksOf(row % chunkRows)
  }

  /** Adds the row that `write` writes. Returns its number. */
  push(writer: ByteWriter, write: () => void): number {
    const row = this.end
    const within = row % chunkRows
    const index = (row - within) / chunkRows - this.firstChunk
    if (index === this.chunks.length) {
      this.chunks.push(Chunk.after(this.chunks[index - 1], this.reads))
      this.giveOld()
    }
    const chunk = this.chunks[index] as Chunk
    // After a rollback over many rows.
    if (this.firstChunk + index < this.givenTo) this.givenTo = this.firstChunk + index
    chunk.begin(within, writer)
    write()
    chunk.end(within, writer)
    this.end++
    return row
  }

  /** Undoes the last {@link push}. */
  pop(): void {
    this.end--
  }

  remove(row: number): RemovedPlace {
    const { front } = this
    const passed: Array<number> = []
    const dropped: Array<Chunk> = []
    if (row > front) this.gone.add(row)
    else {
      this.front++
      this.passGone(passed)
      for (; (this.firstChunk + 1) * chunkRows <= this.front; this.firstChunk++) dropped.push(this.chunks.shift() as Chunk)
    }
    return { row, front, passed, dropped }
  }

  /** Undoes a {@link remove}. */
  putBack({ row, front, passed, dropped }: RemovedPlace): void {
    this.chunks.unshift(...dropped)
    this.firstChunk -= dropped.length
    this.front = front
    for (const each of passed) this.gone.add(each)
    this.gone.delete(row)
  }

  /** Replaces the bytes of a row. `undefined` restores the original ones. Returns the previous replacement. */
  rewrite(row: number, bytes: Uint8Array | undefined): Uint8Array | undefined {
    return this.chunkOf(row).rewrite(row % chunkRows, bytes)
  }

  now(): ChunksThen {
    return { front: this.front, end: this.end, chunks: this.chunks.slice(), first: this.firstChunk * chunkRows }
  }

  /** Adds a chunk of rows with these lengths after all others, which must be full. A row of length 0 is absent. */
  adopt(lengths: ArrayLike<number>, bytes: Uint8Array<ArrayBuffer>): AdoptedRows {
    const { length: rows } = lengths
    const chunk = Chunk.of(lengths, bytes, this.reads)
    const columns = columnsIn(rowColumns, chunk.columns(rows, this.seed), rows)
    const absent: Array<number> = []
    for (let row = 0; row < rows; row++) if (lengths[row] === 0) absent.push(row)
    const from = this.append(chunk, rows, absent)
    this.giveOld()
    return { from, columns }
  }

  /** The same with a full chunk in a store. `absent`: the rows that were removed. `rewritten`: the rows that were rewritten. */
  adoptKept(kept: KeptRows, absent: ReadonlyArray<number>, rewritten: ReadonlyArray<readonly [row: number, bytes: Uint8Array]>): AdoptedRows {
    const { chunk, columns } = Chunk.in(kept, this.reads)
    for (const [row, bytes] of rewritten) chunk.rewrite(row, bytes)
    const from = this.append(chunk, chunkRows, absent)
    if (this.givenTo * chunkRows === from) this.givenTo++
    return { from, columns }
  }

  /** Returns the number of the first row. */
  private append(chunk: Chunk, rows: number, absent: ReadonlyArray<number>): number {
    const from = this.end
    if (from % chunkRows !== 0 || rows > chunkRows) throw new Error(`${rows} rows cannot follow ${from} others`)
    this.chunks.push(chunk)
    this.end += rows
    for (const row of absent) this.gone.add(from + row)
    if (this.front === from) this.passGone([])
    return from
  }

  /** Moves `front` to the first row that is there. */
  private passGone(passed: Array<number>): void {
    for (; this.gone.delete(this.front); this.front++) passed.push(this.front)
  }

  /** Gives full chunks that are not among the newest to the store. A chunk that it does not take is offered again with the next one. */
  private giveOld(): void {
    const { store, chunks, firstChunk } = this
    if (store === undefined) return
    const until = firstChunk + chunks.length - Math.max(1, store.newest)
    this.givenTo = Math.max(this.givenTo, firstChunk)
    for (let given = 0; this.givenTo < until && given < givenMax; given++) {
      if (!(chunks[this.givenTo - firstChunk] as Chunk).giveTo(store, this.seed)) return
      this.givenTo++
    }
  }

  private chunkOf(row: number): Chunk {
    return this.chunks[Math.floor(row / chunkRows) - this.firstChunk] as Chunk
  }
}
