/** Rows of bytes, one after the other, in memory or in a store. The owner knows how many rows there are. */

import type { ByteWriter } from '../rows/bytes.js'
import { chunkRows, readRows, type RowBytes, rowBytesOf } from '../rows/row-bytes.js'
import { columnsIn, columnsOf, type RowColumns, rowColumns } from '../rows/columns.js'
import type { KeptRows, RecentReads, RowsPlace, RowStore } from '../rows/row-store.js'

const bytesMin = 1_024
/** The largest share of spare bytes in a full chunk. */
const spareMax = 0.05
const columnsLoaded = new Float64Array(rowColumns.length * chunkRows)

export class Chunk {
  /** The rows, unless they are in a store. */
  private memory: RowBytes | undefined
  private kept: KeptRows | undefined
  /** The checks of rows in a store (`rows/task-bytes.ts`): a row that cannot be the one looked for is not read. */
  private checks: Uint8Array | undefined
  /** Rows that were rewritten since. Most chunks have none. */
  private rewritten: Map<number, Uint8Array> | undefined

  private constructor(
    rows: RowBytes | KeptRows,
    private readonly reads: RecentReads,
  ) {
    if ('bytes' in rows) this.memory = rows
    else this.kept = rows
  }

  /** An empty chunk. `before`: the full chunk before it, which tells how much room to reserve. */
  static after(before: Chunk | undefined, reads: RecentReads): Chunk {
    const bytes = Math.ceil((before?.memory?.starts[chunkRows] ?? bytesMin) * (1 + spareMax / 2))
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
    return (this.memory?.starts.byteLength ?? 0) + (this.memory?.bytes.byteLength ?? 0) + (this.checks?.byteLength ?? 0)
  }

  /** The columns of the first rows, which must be in memory. `seed`: that of the hashes. */
  columns(rows: number, seed: number): Float64Array {
    const { bytes, starts } = this.inMemory()
    return columnsOf(bytes, starts, rows, seed)
  }

  /** Moves the bytes of a full chunk to a store. `seed`: that of the hashes. False if the store does not take them. */
  giveTo(store: RowStore, seed: number): boolean {
    if (this.memory === undefined) return true
    const { bytes, starts } = this.memory
    const columns = this.columns(chunkRows, seed)
    this.kept = store.keep(bytes.subarray(0, starts[chunkRows]), columns)
    if (this.kept === undefined) return false
    this.checks = Uint8Array.from(columnsIn(rowColumns, columns, chunkRows).checks)
    this.memory = undefined
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
    const { bytes, starts } = this.inMemory()
    writer.begin(bytes, starts[row] as number)
  }

  /** Ends the row that was begun. */
  end(row: number, writer: ByteWriter): void {
    const end = writer.length
    const data = writer.end()
    const { starts: before } = this.inMemory()
    const starts = end > 0xffff && before instanceof Uint16Array ? Uint32Array.from(before) : before
    starts[row + 1] = end
    this.memory = { bytes: row + 1 === chunkRows && data.length > end * (1 + spareMax) ? data.slice(0, end) : data, starts }
  }

  /** The checks of a row whose bytes are in a store; `undefined` if they are in memory. */
  checksOf(row: number): number | undefined {
    return this.checks?.[row]
  }

  /** Calls `read` with the bytes and the offset at which the row begins. */
  at<T>(row: number, read: (bytes: Uint8Array, start: number) => T): T {
    const other = this.rewritten?.get(row)
    if (other !== undefined) return read(other, 0)
    const { bytes, starts } = this.rows()
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
    const { bytes, starts } = this.memory ?? readRows(this.kept as KeptRows)
    const lengths = Float64Array.from({ length: rows }, (_, row) => (starts[row + 1] as number) - (starts[row] as number))
    return { lengths, bytes: this.memory === undefined ? bytes.subarray(0, starts[rows]) : bytes.slice(0, starts[rows]) }
  }

  /** Replaces the bytes of a row. `undefined` restores the original ones. Returns the previous replacement. */
  rewrite(row: number, bytes: Uint8Array | undefined): Uint8Array | undefined {
    const before = this.rewritten?.get(row)
    if (bytes !== undefined) (this.rewritten ??= new Map<number, Uint8Array>()).set(row, bytes)
    else if (this.rewritten?.delete(row) === true && this.rewritten.size === 0) this.rewritten = undefined
    return before
  }

  private rows(): RowBytes {
    return this.memory ?? this.reads.of(this.kept as KeptRows)
  }

  /** Rows that may be changed. Those in a store are taken back. */
  private inMemory(): RowBytes {
    if (this.memory === undefined) {
      const kept = this.kept as KeptRows
      this.memory = readRows(kept)
      this.kept = undefined
      this.checks = undefined
      this.reads.forget(kept)
    }
    return this.memory
  }
}
