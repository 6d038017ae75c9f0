/**
 * Where the bytes of old chunks of finished tasks may be, so that they take no memory. Without a store they stay in memory
 * ([ADR 52](../../../../docs/adr/0052-old-rows-in-files.md)). Snapshots name the places of these bytes, and do not copy them
 * ([ADR 54](../../../../docs/adr/0054-rows-that-snapshots-name.md)). All of it is a cache: the log is the truth.
 */

export interface RowStore {
  /** So many of the newest chunks stay in memory. At least 1. */
  readonly newest: number
  /** `columns`: see `row-columns.ts`. `undefined`: they cannot be kept now, and stay in memory. They will be offered again. */
  readonly keep: (bytes: Uint8Array, columns: Float64Array) => KeptRows | undefined
}

/** Rows of a chunk that a store has. It may forget them as soon as nobody refers to this object any more, and no snapshot names their place. */
export interface KeptRows {
  /** The same bytes, in an array of the caller's own. Throws if they cannot be read as they were kept: never others. */
  readonly read: () => Uint8Array<ArrayBuffer>
  /** The same columns, in an array that the next call of any overwrites. Throws likewise. */
  readonly columns: () => Float64Array
  /** Where a later process finds them, if a snapshot names it. `undefined`: nowhere, so a snapshot must have the bytes. */
  readonly place: () => RowsPlace | undefined
}

/** A place in a store. What its numbers mean, only the store knows. */
export interface RowsPlace {
  readonly file: string
  readonly at: ReadonlyArray<number>
}

/** The contents of the chunks that were read last, for all chunks of a queue. */
export class RecentReads {
  private readonly chunks = new Map<KeptRows, Uint8Array<ArrayBuffer>>()

  get bytes(): number {
    let bytes = 0
    for (const { byteLength } of this.chunks.values()) bytes += byteLength
    return bytes
  }

  of(kept: KeptRows): Uint8Array<ArrayBuffer> {
    const known = this.chunks.get(kept)
    if (known !== undefined) return known
    const bytes = kept.read()
    for (const oldest of this.chunks.keys()) if (this.chunks.size >= recentMax) this.chunks.delete(oldest)
    this.chunks.set(kept, bytes)
    return bytes
  }

  forget(kept: KeptRows): void {
    this.chunks.delete(kept)
  }
}
/** About 40 KB each. */
const recentMax = 16
