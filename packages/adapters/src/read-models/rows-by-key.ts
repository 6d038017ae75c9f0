/** Rows by the values that name them: a map of maps, so that no text is made for a look-up. */

type Level<R> = Map<string, Level<R> | R>

const nameOf = (value: string | number): string => (typeof value === 'string' ? value : String(value))

export class RowsByKey<R extends object> {
  private root: Level<R> = new Map()
  private count = 0

  /** `depth`: how many values name a row, 1 or more. */
  constructor(readonly depth: number) {}

  get size(): number {
    return this.count
  }

  get(values: ReadonlyArray<string | number>): R | undefined {
    let level = this.root
    const last = this.depth - 1
    for (let i = 0; i < last; i++) {
      const next = level.get(nameOf(values[i]!))
      if (next === undefined) return undefined
      level = next as Level<R>
    }
    return level.get(nameOf(values[last]!)) as R | undefined
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

  /** Drops the rows of which this is true. Cost: O(rows). */
  drop(isDropped: (row: R) => boolean): void {
    this.dropIn(this.root, 1, isDropped)
  }

  private dropIn(level: Level<R>, depth: number, isDropped: (row: R) => boolean): void {
    for (const [name, found] of level) {
      if (depth < this.depth) this.dropIn(found as Level<R>, depth + 1, isDropped)
      else if (isDropped(found as R)) {
        level.delete(name)
        this.count--
      }
    }
  }
}
