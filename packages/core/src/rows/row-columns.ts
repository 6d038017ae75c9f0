/** What counts and indexes need of each row of a full chunk, column by column. A start fills them from these columns and reads no row. */
import { checksAt, factsAt, idHashAt, keyHashAt } from './task-bytes.js'

const column = { length: 0, idHash: 1, keyHash: 2, number: 3, group: 4, agent: 5, band: 6, isIndexed: 7, checks: 8 } as const
const columns = Object.keys(column).length

/** `starts`: where each row begins; after the last row, the end of the bytes. `seed`: that of the hashes. An absent row has length 0, and 0 in all columns. */
export const columnsOf = (bytes: Uint8Array, starts: ArrayLike<number>, rows: number, seed: number): Float64Array => {
  const all = new Float64Array(columns * rows)
  for (let row = 0; row < rows; row++) {
    const start = starts[row] as number
    const length = (starts[row + 1] as number) - start
    if (length === 0) continue
    const { number, group, agent, band, isIndexed } = factsAt(bytes, start)
    all[column.length * rows + row] = length
    all[column.idHash * rows + row] = idHashAt(bytes, start, seed)
    all[column.keyHash * rows + row] = keyHashAt(bytes, start, seed)
    all[column.number * rows + row] = number
    all[column.group * rows + row] = group
    all[column.agent * rows + row] = agent
    all[column.band * rows + row] = band
    all[column.isIndexed * rows + row] = isIndexed ? 1 : 0
    all[column.checks * rows + row] = checksAt(bytes, start, seed)
  }
  return all
}

/** Reads columns back. Throws if they do not have this many rows. */
export class RowColumns {
  constructor(
    private readonly all: Float64Array,
    private readonly rows: number,
  ) {
    if (all.length !== columns * rows) throw new Error(`${rows} rows of finished tasks have ${all.length} numbers, not ${columns * rows}`)
  }

  /** An array with room for the columns of this many rows. */
  static room(rows: number): Float64Array {
    return new Float64Array(columns * rows)
  }

  get lengths(): Float64Array {
    return this.all.subarray(0, this.rows)
  }

  idHash(row: number): number {
    return this.all[column.idHash * this.rows + row] as number
  }

  keyHash(row: number): number {
    return this.all[column.keyHash * this.rows + row] as number
  }

  number(row: number): number {
    return this.all[column.number * this.rows + row] as number
  }

  group(row: number): number {
    return this.all[column.group * this.rows + row] as number
  }

  agent(row: number): number {
    return this.all[column.agent * this.rows + row] as number
  }

  band(row: number): number {
    return this.all[column.band * this.rows + row] as number
  }

  /** The checks of all rows (`rows/task-bytes.ts`), in an array of their own. */
  get checks(): Uint8Array {
    return Uint8Array.from(this.all.subarray(column.checks * this.rows))
  }

  /** See `rows/task-bytes.ts`. */
  isIndexed(row: number): boolean {
    return this.all[column.isIndexed * this.rows + row] === 1
  }
}
