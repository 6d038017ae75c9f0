/** Rows of bytes, one after the other, in memory or in a store. The owner knows how many rows there are. */

import type { ByteWriter } from './bytes.js'
import { columnsOf, RowColumns } from './row-columns.js'
import type { KeptRows, RecentReads, RowsPlace, RowStore } from './row-store.js'

/** Number of rows in a full chunk. */
export const chunkRows = 512
const bytesMin = 1_024
/** The largest share of spare bytes in a full chunk. */
const spareMax = 0.05

export class Chunk {
  /** Where each row begins; after the last row, the end of the bytes. */
  private starts: Uint16Array | Uint32Array = new Uint16Array(chunkRows + 1)
  /** The bytes; `undefined` if they are in a store. */
  private data: Uint8Array<ArrayBuffer> | undefined
  private kept: KeptRows | undefined
  /** Rows that were rewritten since. Most chunks have none. */
  private rewritten: Map<number, Uint8Array> | undefined

  private constructor(
    bytes: Uint8Array<ArrayBuffer> | KeptRows,
    private readonly reads: RecentReads,
  ) {
    this.data = bytes instanceof Uint8Array ? bytes : undefined
    this.kept = bytes instanceof Uint8Array ? undefined : bytes
  }

  /** An empty chunk. `before`: the full chunk before it, which tells how much room to reserve. */
  static after(before: Chunk | undefined, reads: RecentReads): Chunk {
    return new Chunk(new Uint8Array(before === undefined ? bytesMin : Math.ceil((before.starts[chunkRows] as number) * (1 + spareMax / 2))), reads)
  }

  /** A chunk of rows with these lengths. It takes over the array `data`. Throws if the lengths do not add up to its size. */
  static of(lengths: ArrayLike<number>, data: Uint8Array<ArrayBuffer>, reads: RecentReads): Chunk {
    const chunk = new Chunk(data, reads)
    const end = chunk.measure(lengths)
    if (!Number.isInteger(end) || end !== data.length) throw new Error(`${lengths.length} rows have ${end} bytes, not ${data.length}`)
    return chunk
  }

  /** A full chunk whose bytes are in a store. */
  static in(kept: KeptRows, reads: RecentReads): { readonly chunk: Chunk; readonly columns: RowColumns } {
    const columns = new RowColumns(kept.columns(), chunkRows)
    const chunk = new Chunk(kept, reads)
    chunk.measure(columns.lengths)
    return { chunk, columns }
  }

  /** Size of its arrays in bytes. */
  get size(): number {
    return this.starts.byteLength + (this.data?.byteLength ?? 0)
  }

  /** Moves the bytes of a full chunk to a store. `seed`: that of the hashes. False if the store does not take them. */
  giveTo(store: RowStore, seed: number): boolean {
    if (this.data === undefined) return true
    this.kept = store.keep(this.data.subarray(0, this.starts[chunkRows]), columnsOf(this.data, this.starts, chunkRows, seed))
    if (this.kept === undefined) return false
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

  /** Calls `read` with the bytes and the offset at which the row begins. */
  at<T>(row: number, read: (bytes: Uint8Array, start: number) => T): T {
    const other = this.rewritten?.get(row)
    return other === undefined ? read(this.bytes(), this.starts[row] as number) : read(other, 0)
  }

  /** The bytes of a row, which are not changed later. */
  bytesOf(row: number): Uint8Array {
    return this.rewritten?.get(row) ?? this.bytes().subarray(this.starts[row] as number, this.starts[row + 1] as number)
  }

  lengthOf(row: number): number {
    return this.rewritten?.get(row)?.length ?? (this.starts[row + 1] as number) - (this.starts[row] as number)
  }

  /** A copy of the bytes of the first rows; `undefined` if some were rewritten, because they are then not contiguous. */
  block(rows: number): Uint8Array<ArrayBuffer> | undefined {
    if (this.rewritten !== undefined) return undefined
    const end = this.starts[rows] as number
    // Reads past the cache of recent chunks, which a snapshot would flush.
    return this.data?.slice(0, end) ?? (this.kept as KeptRows).read().subarray(0, end)
  }

  /** Replaces the bytes of a row. `undefined` restores the original ones. Returns the previous replacement. */
  rewrite(row: number, bytes: Uint8Array | undefined): Uint8Array | undefined {
    const before = this.rewritten?.get(row)
    if (bytes !== undefined) (this.rewritten ??= new Map<number, Uint8Array>()).set(row, bytes)
    else if (this.rewritten?.delete(row) === true && this.rewritten.size === 0) this.rewritten = undefined
    return before
  }

  private bytes(): Uint8Array<ArrayBuffer> {
    return this.data ?? this.reads.of(this.kept as KeptRows)
  }

  /** Bytes that may be changed. Bytes in a store are taken back. */
  private inMemory(): Uint8Array<ArrayBuffer> {
    if (this.data !== undefined) return this.data
    const kept = this.kept as KeptRows
    this.data = kept.read()
    this.kept = undefined
    this.reads.forget(kept)
    return this.data
  }

  /** Sets the lengths of the rows. Returns the end of the bytes. */
  private measure(lengths: ArrayLike<number>): number {
    let end = 0
    for (let row = 0; row < lengths.length; row++) this.startAt(row + 1, (end += lengths[row] as number))
    return end
  }

  private startAt(row: number, at: number): void {
    // Few chunks are this long: only those of tasks with long errors.
    if (at > 0xffff && this.starts instanceof Uint16Array) this.starts = Uint32Array.from(this.starts)
    this.starts[row] = at
  }
}
