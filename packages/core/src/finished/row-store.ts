/**
 * Where the bytes of old chunks of finished tasks may be, so that they take no memory. Without a store they stay in memory
 * ([ADR 52](../../../../docs/adr/0052-old-rows-in-files.md)). What is kept is a cache of this process: snapshot and log are the truth.
 */

export interface RowStore {
  /** So many of the newest chunks stay in memory. At least 1. */
  readonly newest: number
  /** `undefined`: they cannot be kept now, and stay in memory. They will be offered again. */
  readonly keep: (bytes: Uint8Array) => KeptBytes | undefined
}

/** Bytes that a store has. It may forget them as soon as nobody refers to this object any more. */
export interface KeptBytes {
  /** The same bytes, in an array of the caller's own. Throws if they cannot be read as they were kept: never others. */
  readonly read: () => Uint8Array<ArrayBuffer>
}

/** The contents of the chunks that were read last, for all chunks of a queue. */
export class RecentReads {
  private readonly chunks = new Map<KeptBytes, Uint8Array<ArrayBuffer>>()

  get bytes(): number {
    let bytes = 0
    for (const { byteLength } of this.chunks.values()) bytes += byteLength
    return bytes
  }

  of(kept: KeptBytes): Uint8Array<ArrayBuffer> {
    const known = this.chunks.get(kept)
    if (known !== undefined) return known
    const bytes = kept.read()
    for (const oldest of this.chunks.keys()) if (this.chunks.size >= recentMax) this.chunks.delete(oldest)
    this.chunks.set(kept, bytes)
    return bytes
  }

  forget(kept: KeptBytes): void {
    this.chunks.delete(kept)
  }
}
/** About 40 KB each. */
const recentMax = 16
