/** Values that many rows have in common. Each is kept once, under a small index, for as long as some row has it. */
export class Interned<T> {
  private readonly values: Array<T | undefined> = []
  private readonly counts: Array<number> = []
  private readonly indexes = new Map<T, number>()
  /** Indexes that have no value. */
  private readonly free = new Set<number>()
  /** While somebody reads former rows, an index that loses its value is not free yet. */
  private readers = 0
  private readonly freeLater = new Set<number>()

  get size(): number {
    return this.indexes.size
  }

  get(index: number): T {
    return this.values[index] as T
  }

  /** Upper bound of the indexes: all below may have a value. */
  get end(): number {
    return this.values.length
  }

  /** From now on each index keeps its value, whatever happens to the rows, until {@link release}. */
  hold(): void {
    this.readers++
  }

  release(): void {
    if (--this.readers > 0) return
    for (const index of this.freeLater) this.clear(index)
    this.freeLater.clear()
  }

  /** Counts one more row with the index: see {@link take}. For the first row `valueOf` provides the value. */
  count(index: number, valueOf: (index: number) => T | undefined): void {
    if (this.values[index] !== undefined) {
      ;(this.counts[index] as number)++
      return
    }
    const value = valueOf(index)
    if (value === undefined) throw new Error(`a finished task has the name ${index}, which is not in the snapshot`)
    while (this.values.length <= index) {
      this.counts.push(0)
      this.free.add(this.values.push(undefined) - 1)
    }
    this.put(index, value)
  }

  /** Counts one more row that has the value. Returns the value's index. */
  take(value: T): number {
    const known = this.indexes.get(value)
    if (known !== undefined) {
      ;(this.counts[known] as number)++
      return known
    }
    const index = this.free.values().next().value ?? this.values.length
    this.put(index, value)
    return index
  }

  /** Undoes a {@link drop}, after everything that followed it has been undone. */
  restore(index: number, value: T): void {
    if (this.counts[index] === 0) this.put(index, value)
    else (this.counts[index] as number)++
  }

  /** The index of a value that some row has. */
  indexOf(value: T): number {
    return this.indexes.get(value) as number
  }

  /** Counts one row less with the value. Returns the index that it had. */
  drop(value: T): number {
    const index = this.indexOf(value)
    if (--(this.counts[index] as number) === 0) {
      this.indexes.delete(value)
      if (this.readers === 0) this.clear(index)
      else this.freeLater.add(index)
    }
    return index
  }

  private clear(index: number): void {
    this.values[index] = undefined
    this.free.add(index)
  }

  private put(index: number, value: T): void {
    this.free.delete(index)
    this.freeLater.delete(index)
    this.values[index] = value
    this.counts[index] = 1
    this.indexes.set(value, index)
  }
}
