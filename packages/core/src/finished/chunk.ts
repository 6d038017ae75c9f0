/** Rows of bytes, one after the other, in memory or in a store. The owner knows how many rows there are. */

import type { ByteWriter } from '../rows/bytes.js'
import { chunkRows, readRows, type RowBytes, rowBytesOf, type Starts } from '../rows/row-bytes.js'
import { columnsIn, columnsOf, type RowColumns, rowColumns } from '../rows/columns.js'
import type { KeptRows, RecentReads, RowsPlace, RowStore } from '../rows/row-store.js'

const bytesMin = 1_024
/** The largest share of spare bytes in a full chunk. */
const spareMax = 0.05
const noStarts: Starts = new Uint16Array(0)
const columnsLoaded = new Float64Array(rowColumns.length * chunkRows)

export class Chunk {
  /** Where each row begins. Empty if the rows are in a store. */
  private starts: Starts
  /** The bytes; `undefined` if they are in a store. */
  private data: Uint8Array<ArrayBuffer> | undefined
  private kept: KeptRows | undefined
  /** The checks of rows in a store (`rows/task-bytes.ts`): a row that cannot be the one looked for is not read. */
  private checks: Uint8Array | undefined
  /** Rows that were rewritten since. Most chunks have none. */
  private rewritten: Map<number, Uint8Array> | undefined

  private constructor(
    rows: RowBytes | KeptRows,
    private readonly reads: RecentReads,
  ) {
    const inMemory = 'bytes' in rows ? rows : undefined
    this.starts = inMemory?.starts ?? noStarts
    this.data = inMemory?.bytes
    this.kept = 'bytes' in rows ? undefined : rows
  }

  /** An empty chunk. `before`: the full chunk before it, which tells how much room to reserve. */
  static after(before: Chunk | undefined, reads: RecentReads): Chunk {
    const bytes = Math.ceil((before?.starts[chunkRows] ?? bytesMin) * (1 + spareMax / 2))
    return new Chunk({ bytes: new Uint8Array(bytes), starts: new Uint16Array(chunkRows + 1) }, reads)
  }

  /** A chunk of rows with these lengths. It takes over the array `data`. Throws if the lengths do not add up to its size. */
  static of(lengths: ArrayLike<number>, data: Uint8Array<ArrayBuffer>, reads: RecentReads): Chunk {
    return new Chunk(rowBytesOf(lengths, data), reads)
  }

  /** A full chunk whose bytes are in a store. The next call overwrites the columns. */
  static in(kept: KeptRows, reads: RecentReads): { readonly chunk: Chunk; readonly columns: RowColumns } {
    const chunk = new Chunk(kept, reads)
    const columns = columnsIn(rowColumns, kept.columns(columnsLoaded), chunkRows)
    chunk.checks = Uint8Array.from(columns.checks)
    return { chunk, columns }
  }

  /** Size of its arrays in bytes. */
  get size(): number {
    return this.starts.byteLength + (this.data?.byteLength ?? 0) + (this.checks?.byteLength ?? 0)
  }

  /** The columns of the first rows, which must be in memory. `seed`: that of the hashes. */
  columns(rows: number, seed: number): Float64Array {
    return columnsOf(this.inMemory(), this.starts, rows, seed)
  }

  /** Moves the bytes of a full chunk to a store. `seed`: that of the hashes. False if the store does not take them. */
  giveTo(store: RowStore, seed: number): boolean {
    if (this.data === undefined) return true
    const columns = this.columns(chunkRows, seed)
    this.kept = store.keep(this.data.subarray(0, this.starts[chunkRows]), columns)
    if (this.kept === undefined) return false
    this.checks = Uint8Array.from(columnsIn(rowColumns, columns, chunkRows).checks)
    this.starts = noStarts
    this.data = undefined
    return true
  }

  /** Where a later process finds the bytes of all rows, except the rewritten ones; `undefined` if nowhere. */
  get place(): RowsPlace | undefined {
    return this.kept?.place()
  }

  /** The numbers of the rewritten rows. */
  get rewrittenRows(): Iterable<number> {
    return this.rewritten?.keys() ?? []
  }

  /** Begins a row: the writer writes into the chunk. Rows from `row` on are overwritten. */
  begin(row: number, writer: ByteWriter): void {
    writer.begin(this.inMemory(), this.starts[row] as number)
  }

  /** Ends the row that was begun. */
  end(row: number, writer: ByteWriter): void {
    const end = writer.length
    const data = writer.end()
    this.startAt(row + 1, end)
    this.data = row + 1 === chunkRows && data.length > end * (1 + spareMax) ? data.slice(0, end) : data
  }

  /** The checks of a row whose bytes are in a store; `undefined` if they are in memory. */
  checksOf(row: number): number | undefined {
    return this.checks?.[row]
  }

  /** Calls `read` with the bytes and the offset at which the row begins. */
  at<T>(row: number, read: (bytes: Uint8Array, start: number) => T): T {
    const other = this.rewritten?.get(row)
    if (other !== undefined) return read(other, 0)
    if (this.data !== undefined) return read(this.data, this.starts[row] as number)
    const { bytes, starts } = this.reads.of(this.kept as KeptRows)
    return read(bytes, starts[row] as number)
  }

  /** The bytes of a row, which are not changed later. */
  bytesOf(row: number): Uint8Array {
    const other = this.rewritten?.get(row)
    if (other !== undefined) return other
    const { bytes, starts } = this.rows()
    return bytes.subarray(starts[row], starts[row + 1])
  }

  /** A copy of the first rows and their lengths; `undefined` if some were rewritten, because they are then not contiguous. */
  block(rows: number): { readonly lengths: Float64Array; readonly bytes: Uint8Array<ArrayBuffer> } | undefined {
    if (this.rewritten !== undefined) return undefined
    // Reads past the cache of recent chunks, which a snapshot would flush.
    const { bytes, starts } = this.data === undefined ? readRows(this.kept as KeptRows) : this.rows()
    const lengths = Float64Array.from({ length: rows }, (_, row) => (starts[row + 1] as number) - (starts[row] as number))
    return { lengths, bytes: this.data === undefined ? bytes.subarray(0, starts[rows]) : bytes.slice(0, starts[rows]) }
  }

  /** Replaces the bytes of a row. `undefined` restores the original ones. Returns the previous replacement. */
  rewrite(row: number, bytes: Uint8Array | undefined): Uint8Array | undefined {
    const before = this.rewritten?.get(row)
    if (bytes !== undefined) (this.rewritten ??= new Map<number, Uint8Array>()).set(row, bytes)
    else if (this.rewritten?.delete(row) === true && this.rewritten.size === 0) this.rewritten = undefined
    return before
  }

  private rows(): RowBytes {
    return this.data === undefined ? this.reads.of(this.kept as KeptRows) : { bytes: this.data, starts: this.starts }
  }

  /** Bytes that may be changed. Bytes in a store are taken back. */
  private inMemory(): Uint8Array<ArrayBuffer> {
    if (this.data !== undefined) return this.data
    const kept = this.kept as KeptRows
    const { bytes, starts } = readRows(kept)
    this.data = bytes
    this.starts = starts
    this.kept = undefined
    this.checks = undefined
    this.reads.forget(kept)
    return bytes
  }

  private startAt(row: number, at: number): void {
    if (at > 0xffff && this.starts instanceof Uint16Array) this.starts = Uint32Array.from(this.starts)
    this.starts[row] = at
  }
}
