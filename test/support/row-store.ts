/** A row store that keeps rows in memory, counts, and can be made to refuse chunks. */
import type { KeptRows, RowsPlace, RowStore } from '@daybook/core'

export interface CountingRowStore extends RowStore {
  /** Number of chunks taken, refused and read. */
  taken: number
  refused: number
  read: number
  /** Whether it takes the next chunk. */
  takes: () => boolean
  /** All chunks, indexed by their places. */
  readonly kept: Array<KeptRows>
  /** Whether places are available to snapshots now. */
  names: () => boolean
  readonly rowsAt: (place: RowsPlace) => KeptRows
}

export const countingRowStore = (newest = 1, takes = (): boolean => true): CountingRowStore => {
  const store: CountingRowStore = {
    newest,
    taken: 0,
    refused: 0,
    read: 0,
    takes,
    kept: [],
    names: () => true,
    rowsAt: ({ at: [index = -1] }) => store.kept[index] as KeptRows,
    keep: (bytes, columns) => {
      if (!store.takes()) {
        store.refused++
        return undefined
      }
      store.taken++
      const kept = Uint8Array.from(bytes)
      const rows: KeptRows = {
        read: () => {
          store.read++
          return Uint8Array.from(kept)
        },
        columns: () => Float64Array.from(columns),
        place: () => (store.names() ? { file: 'a file', at: [store.kept.indexOf(rows)] } : undefined),
      }
      store.kept.push(rows)
      return rows
    },
  }
  return store
}
