/** Rows of bytes, one after the other. The owner knows how many there are. */

import type { ByteWriter } from './bytes.js'

/** Rows of a full chunk. */
export const chunkRows = 512
const bytesMin = 1_024
/** A full chunk has this share of spare bytes at most. */
const spareMax = 0.05

export class Chunk {
  /** Where each row begins, and after the last one the end of all. */
  private starts: Uint16Array | Uint32Array = new Uint16Array(chunkRows + 1)
  private data: Uint8Array<ArrayBuffer>
  /** Rows that were written again since: few, and none in most chunks. */
  private rewritten: Map<number, Uint8Array> | undefined

  /** `before`: the full chunk before this one, which says how much room this one needs. */
  constructor(before: Chunk | undefined) {
    this.data = new Uint8Array(before === undefined ? bytesMin : Math.ceil((before.starts[chunkRows] as number) * (1 + spareMax / 2)))
  }

  /** Bytes of its arrays. */
  get size(): number {
    return this.starts.byteLength + this.data.byteLength
  }

  /** Begins a row after all those before it: the writer writes into the chunk. Rows from `row` on are overwritten. */
  begin(row: number, writer: ByteWriter): void {
    writer.begin(this.data, this.starts[row] as number)
  }

  /** The row is written. */
  end(row: number, writer: ByteWriter): void {
    const end = writer.length
    this.data = writer.end()
    this.startAt(row + 1, end)
    if (row + 1 === chunkRows && this.data.length > end * (1 + spareMax)) this.data = this.data.slice(0, end)
  }

  /** Calls `read` with the bytes of a row and where they begin. */
  at<T>(row: number, read: (bytes: Uint8Array, start: number) => T): T {
    const other = this.rewritten?.get(row)
    return other === undefined ? read(this.data, this.starts[row] as number) : read(other, 0)
  }

  /** The bytes of a row. They stay as they are. */
  bytesOf(row: number): Uint8Array {
    return this.rewritten?.get(row) ?? this.data.subarray(this.starts[row] as number, this.starts[row + 1] as number)
  }

  lengthOf(row: number): number {
    return this.rewritten?.get(row)?.length ?? (this.starts[row + 1] as number) - (this.starts[row] as number)
  }

  /** A copy of the bytes of rows; `undefined` if some of them were written again since, so that they are not one after the other. */
  block(from: number, to: number): Uint8Array<ArrayBuffer> | undefined {
    return this.rewritten !== undefined ? undefined : this.data.slice(this.starts[from] as number, this.starts[to] as number)
  }

  /** A chunk of rows with these lengths, whose bytes are given to it. Throws if they are not as long. */
  static of(lengths: ArrayLike<number>, data: Uint8Array<ArrayBuffer>): Chunk {
    const chunk = new Chunk(undefined)
    chunk.data = data
    let end = 0
    for (let row = 0; row < lengths.length; row++) chunk.startAt(row + 1, (end += lengths[row] as number))
    if (!Number.isInteger(end) || end !== data.length) throw new Error(`${lengths.length} rows have ${end} bytes, not ${data.length}`)
    return chunk
  }

  /** Writes a row again. `undefined`: as it was at first. Returns what it replaces. */
  rewrite(row: number, bytes: Uint8Array | undefined): Uint8Array | undefined {
    const before = this.rewritten?.get(row)
    if (bytes !== undefined) (this.rewritten ??= new Map<number, Uint8Array>()).set(row, bytes)
    else if (this.rewritten?.delete(row) === true && this.rewritten.size === 0) this.rewritten = undefined
    return before
  }

  private startAt(row: number, at: number): void {
    // Few chunks are so long: only those of tasks with long errors.
    if (at > 0xffff && this.starts instanceof Uint16Array) this.starts = Uint32Array.from(this.starts)
    this.starts[row] = at
  }
}
