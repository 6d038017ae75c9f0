/** What a load needs of each unfinished task in a page of a snapshot, column by column. So it need not read the rows of tasks that are merely ready. */
const column = { length: 0, number: 1, group: 2, band: 3, isIndexed: 4, idHash: 5, keyHash: 6 } as const
const columns = Object.keys(column).length

export interface TaskFacts {
  /** Length of the row in bytes. */
  readonly length: number
  readonly number: number
  /** The number of its group. */
  readonly group: number
  /** See `task-bytes.ts`. */
  readonly band: number
  readonly isIndexed: boolean
  /** The hashes of its id and key, as `TextIndex` has them. */
  readonly idHash: number
  readonly keyHash: number
}

/** The columns of `rows` tasks, one after the other in one array. */
export class TaskColumns {
  /** Throws if the array does not have as many numbers as these rows need. */
  constructor(
    readonly all: Float64Array,
    readonly rows: number,
  ) {
    if (all.length !== columns * rows) throw new Error(`${rows} tasks have ${all.length} numbers, not ${columns * rows}`)
  }

  /** Columns for this many tasks. */
  static for(rows: number): TaskColumns {
    return new TaskColumns(new Float64Array(columns * rows), rows)
  }

  put(row: number, { length, number, group, band, isIndexed, idHash, keyHash }: TaskFacts): void {
    const { all, rows } = this
    all[column.length * rows + row] = length
    all[column.number * rows + row] = number
    all[column.group * rows + row] = group
    all[column.band * rows + row] = band
    all[column.isIndexed * rows + row] = isIndexed ? 1 : 0
    all[column.idHash * rows + row] = idHash
    all[column.keyHash * rows + row] = keyHash
  }

  /** The columns of the first `rows` tasks. */
  first(rows: number): TaskColumns {
    if (rows === this.rows) return this
    const all = new Float64Array(columns * rows)
    for (let each = 0; each < columns; each++) all.set(this.all.subarray(each * this.rows, each * this.rows + rows), each * rows)
    return new TaskColumns(all, rows)
  }

  get lengths(): Float64Array {
    return this.all.subarray(0, this.rows)
  }

  number(row: number): number {
    return this.all[column.number * this.rows + row] as number
  }

  group(row: number): number {
    return this.all[column.group * this.rows + row] as number
  }

  band(row: number): number {
    return this.all[column.band * this.rows + row] as number
  }

  isIndexed(row: number): boolean {
    return this.all[column.isIndexed * this.rows + row] === 1
  }

  idHash(row: number): number {
    return this.all[column.idHash * this.rows + row] as number
  }

  keyHash(row: number): number {
    return this.all[column.keyHash * this.rows + row] as number
  }
}
