/** A store of rows that keeps them in memory, counts, and can be made to take none. */
import type { RowStore } from '@daybook/core'

export interface CountingRowStore extends RowStore {
  /** Chunks taken, refused and read. */
  taken: number
  refused: number
  read: number
  /** Whether it takes the next chunk. */
  takes: () => boolean
}

export const countingRowStore = (newest = 1, takes = (): boolean => true): CountingRowStore => {
  const store: CountingRowStore = {
    newest,
    taken: 0,
    refused: 0,
    read: 0,
    takes,
    keep: (bytes) => {
      if (!store.takes()) {
        store.refused++
        return undefined
      }
      store.taken++
      const kept = Uint8Array.from(bytes)
      return {
        read: () => {
          store.read++
          return Uint8Array.from(kept)
        },
      }
    },
  }
  return store
}
