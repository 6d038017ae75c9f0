/**
 * Where the bytes of old chunks of finished tasks may be kept, so that they take no memory. Without a store they stay in memory ([ADR
 * 52](../../../../docs/adr/0052-old-rows-in-files.md)). Snapshots name the places of these bytes, and do not copy them ([ADR
 * 54](../../../../docs/adr/0054-rows-that-snapshots-name.md)). All of this is a cache: the log is the truth.
 */
import { readRows, type RowBytes } from './row-bytes.js'

export interface RowStore {
  /** Number of the newest chunks that stay in memory; at least 1. */
  readonly newest: number
  /**
   * Keeps the bytes of a chunk. `columns`: see `columns.ts`. `undefined` if it cannot keep them now: they stay in memory and are offered again.
   */
  readonly keep: (bytes: Uint8Array, columns: Float64Array) => KeptRows | undefined
}

/** Rows of a chunk in a store. The store may delete them as soon as nobody refers to this object any more, and no snapshot names their place. */
export interface KeptRows {
  /** The bytes, in an array of the caller's own. Throws if they cannot be read exactly as they were kept. */
  readonly read: () => Uint8Array<ArrayBuffer>
  /** The columns. `into`: an array that may be used for them; default: a new one. Throws likewise. */
  readonly columns: (into?: Float64Array) => Float64Array
  /** Where a later process finds them, if a snapshot names the place. `undefined` if nowhere, so a snapshot must copy the bytes. */
  readonly place: () => RowsPlace | undefined
}

/** A place in a store. Only the store knows what its numbers mean. */
export interface RowsPlace {
  readonly file: string
  readonly at: ReadonlyArray<number>
}

/** A cache of the chunks that were read last, shared by all chunks of a queue. */
export class RecentReads {
  private readonly chunks = new Map<KeptRows, RowBytes>()

  get bytes(): number {
    let bytes = 0
    for (const read of this.chunks.values()) bytes += read.bytes.byteLength + read.starts.byteLength
    return bytes
  }

  of(kept: KeptRows): RowBytes {
    const known = this.chunks.get(kept)
    if (known !== undefined) return known
    const read = readRows(kept)
    for (const oldest of this.chunks.keys()) if (this.chunks.size >= recentMax) this.chunks.delete(oldest)
    this.chunks.set(kept, read)
    return read
  }

  forget(kept: KeptRows): void {
    this.chunks.delete(kept)
  }
}
/** Each takes about 40 KB. */
const recentMax = 16
