/** What counts, indexes and loads need of each row, column by column. A start fills them from these columns and reads no row. */
import { factsAt } from './task-bytes.js'

/** The columns of a full chunk of finished tasks, in the order in which they lie one after the other. */
export const rowColumns = ['lengths', 'idHashes', 'keyHashes', 'numbers', 'groups', 'agents', 'standings', 'indexed', 'checks'] as const
/** Those of a page of unfinished tasks. The hashes are those of `TextIndex`. */
export const taskColumns = ['lengths', 'numbers', 'groups', 'standings', 'indexed', 'idHashes', 'keyHashes'] as const

export type Columns<K extends string> = Readonly<Record<K, Float64Array>>
export type RowColumns = Columns<(typeof rowColumns)[number]>
export type TaskColumns = Columns<(typeof taskColumns)[number]>

/** Finds the columns in the array that has them. Throws if it does not have as many numbers as these rows need. */
export const columnsIn = <K extends string>(names: ReadonlyArray<K>, all: Float64Array, rows: number): Columns<K> => {
  if (all.length !== names.length * rows) throw new Error(`${rows} rows have ${all.length} numbers, not ${names.length * rows}`)
  return Object.fromEntries(names.map((name, at) => [name, all.subarray(at * rows, (at + 1) * rows)])) as Columns<K>
}

/** The columns of rows in memory. `starts`: where each row begins; after the last row, the end of the bytes. An absent row has length 0, and 0 in all columns. */
export const columnsOf = (bytes: Uint8Array, starts: ArrayLike<number>, rows: number, seed: number): Float64Array => {
  const all = new Float64Array(rowColumns.length * rows)
  const columns = columnsIn(rowColumns, all, rows)
  for (let row = 0; row < rows; row++) {
    const start = starts[row] as number
    const length = (starts[row + 1] as number) - start
    if (length === 0) continue
    const { idHash, keyHash, number, group, agent, standing, isIndexed, checks } = factsAt(bytes, start, seed)
    columns.lengths[row] = length
    columns.idHashes[row] = idHash
    columns.keyHashes[row] = keyHash
    columns.numbers[row] = number
    columns.groups[row] = group
    columns.agents[row] = agent
    columns.standings[row] = standing
    columns.indexed[row] = isIndexed ? 1 : 0
    columns.checks[row] = checks
  }
  return all
}
