/** Rows by their key values: a map of maps, so that a look-up makes no text. */

type Level<R> = Map<string, Level<R> | R>

const nameOf = (value: string | number): string => (typeof value === 'string' ? value : String(value))

export class RowsByKey<R extends object> {
  private root: Level<R> = new Map()
  private count = 0

  /** `depth`: number of key values of a row, at least 1. */
  constructor(readonly depth: number) {}

  get size(): number {
    return this.count
  }

  get(values: ReadonlyArray<string | number>): R | undefined {
    return this.levelOf(values)?.get(nameOf(values[this.depth - 1]!)) as R | undefined
  }

  /** The map with the rows that have the same first values. */
  private levelOf(values: ReadonlyArray<string | number>): Level<R> | undefined {
    let level: Level<R> | undefined = this.root
    for (let i = 0; level !== undefined && i < this.depth - 1; i++) level = level.get(nameOf(values[i]!)) as Level<R> | undefined
    return level
  }

  set(values: ReadonlyArray<string | number>, row: R): void {
    let level = this.root
    const last = this.depth - 1
    for (let i = 0; i < last; i++) {
      const name = nameOf(values[i]!)
      let next = level.get(name) as Level<R> | undefined
      if (next === undefined) level.set(name, (next = new Map()))
      level = next
    }
    const before = level.size
    level.set(nameOf(values[last]!), row)
    this.count += level.size - before
  }

  delete(values: ReadonlyArray<string | number>): void {
    if (this.levelOf(values)?.delete(nameOf(values[this.depth - 1]!)) === true) this.count--
  }

  /** Drops this many rows. Of the rows with the same first values, those that have been there longest are dropped. Cost: O(dropped). */
  dropOldest(count: number): void {
    this.count -= this.dropIn(this.root, 1, Math.min(count, this.count))
  }

  /** Returns how many were dropped. */
  private dropIn(level: Level<R>, depth: number, count: number): number {
    let left = count
    for (const [name, found] of level) {
      if (left === 0) break
      if (depth < this.depth) {
        const inner = found as Level<R>
        left -= this.dropIn(inner, depth + 1, left)
        if (inner.size === 0) level.delete(name)
      } else {
        level.delete(name)
        left--
      }
    }
    return count - left
  }
}
