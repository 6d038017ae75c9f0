/** Values that many rows have in common, each kept once and referred to by a small number for as long as some row has it. */
export class Interned<T> {
  private readonly values: Array<T | undefined> = []
  private readonly counts: Array<number> = []
  private readonly indexes = new Map<T, number>()
  /** Indexes without a value. */
  private readonly free = new Set<number>()

  get size(): number {
    return this.indexes.size
  }

  get(index: number): T {
    return this.values[index] as T
  }

  /** Counts one more row that has the value, and returns the value's index. */
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

  /** Undoes a {@link drop}, when everything after it has been undone. */
  restore(index: number, value: T): void {
    if (this.counts[index] === 0) this.put(index, value)
    else (this.counts[index] as number)++
  }

  /** The index of a value that some row has. */
  indexOf(value: T): number {
    return this.indexes.get(value) as number
  }

  /** One row less has the value. Returns the index that it had. */
  drop(value: T): number {
    const index = this.indexOf(value)
    if (--(this.counts[index] as number) === 0) {
      this.indexes.delete(value)
      this.values[index] = undefined
      this.free.add(index)
    }
    return index
  }

  private put(index: number, value: T): void {
    this.free.delete(index)
    this.values[index] = value
    this.counts[index] = 1
    this.indexes.set(value, index)
  }
}
