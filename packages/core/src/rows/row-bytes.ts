/** Rows one after the other, and where each of them begins. */
import { columnsIn, rowColumns } from './columns.js'
import type { KeptRows } from './row-store.js'

/** Number of rows in a full chunk. */
export const chunkRows = 512

/** Where each row begins; after the last row, the end of the bytes. Few chunks need 32 bits: only those of tasks with long errors. */
export type RowStarts = Uint16Array | Uint32Array

export interface RowBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly starts: RowStarts
}

/** `rowsMax`: how many rows there may be later. Throws if the lengths do not add up to the bytes. */
export const rowBytesOf = (lengths: ArrayLike<number>, bytes: Uint8Array<ArrayBuffer>, rowsMax = chunkRows): RowBytes => {
  const starts = bytes.length > 0xffff ? new Uint32Array(rowsMax + 1) : new Uint16Array(rowsMax + 1)
  let end = 0
  for (let row = 0; row < lengths.length; row++) starts[row + 1] = end += lengths[row] as number
  if (!Number.isInteger(end) || end !== bytes.length) throw new Error(`${lengths.length} rows have ${end} bytes, not ${bytes.length}`)
  return { bytes, starts }
}

/** Reads a full chunk from its store. Where its rows begin is not in memory either: it follows from the columns. */
export const readRows = (kept: KeptRows): RowBytes => rowBytesOf(columnsIn(rowColumns, kept.columns(columnsRead), chunkRows).lengths, kept.read())

/** Not the array that a start uses, because rows may be read while it goes over the columns of others. */
const columnsRead = new Float64Array(rowColumns.length * chunkRows)
