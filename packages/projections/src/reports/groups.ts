/** Sums by bucket and group. */
import type { Span } from './calendar.js'

export interface Told<C> {
  /** The index of the bucket. */
  readonly place: number
  readonly value: string
  /** How many groups this row sums; 0 for a single group. */
  readonly others: number
  readonly cell: C
}

export class Groups<C> {
  private readonly cells: ReadonlyArray<Map<string, C>>
  private place = 0

  constructor(
    private readonly buckets: ReadonlyArray<Span>,
    private readonly make: () => C,
  ) {
    this.cells = buckets.map(() => new Map<string, C>())
  }

  /** The sum of a group in the bucket that contains this time; `undefined` if there is no such bucket. */
  at(time: number, value: string): C | undefined {
    const { buckets } = this
    // Rows come in the order of time, so the bucket is mostly the same as before.
    if (time < (buckets[this.place]?.from ?? 0)) this.place = 0
    while (this.place < buckets.length && time >= (buckets[this.place] as Span).to) this.place++
    const cells = this.cells[this.place]
    if (cells === undefined) return undefined
    let cell = cells.get(value)
    if (cell === undefined) cells.set(value, (cell = this.make()))
    return cell
  }

  /** The sums of all groups in a bucket. */
  in(place: number): ReadonlyArray<C> {
    return [...(this.cells[place]?.values() ?? [])]
  }

  /** The largest groups of the whole period, by bucket and then by size. All others are summed after them. */
  largest(top: number, sizeOf: (cell: C) => number, add: (sum: C, cell: C) => void): ReadonlyArray<Told<C>> {
    const sizes = new Map<string, number>()
    for (const cells of this.cells) for (const [value, cell] of cells) sizes.set(value, (sizes.get(value) ?? 0) + sizeOf(cell))
    const { shown, rest } = largestOf(sizes, top)
    return this.cells.flatMap((cells, place) => {
      const told: Array<Told<C>> = shown.flatMap((value) => {
        const cell = cells.get(value)
        return cell === undefined ? [] : [{ place, value, others: 0, cell }]
      })
      const others = [...cells].filter(([value]) => rest.has(value))
      if (others.length === 0) return told
      const sum = this.make()
      for (const [, cell] of others) add(sum, cell)
      return [...told, { place, value: '', others: others.length, cell: sum }]
    })
  }
}

/** The values with the largest sizes, the largest first; and all others. */
export const largestOf = (sizes: ReadonlyMap<string, number>, top: number): { readonly shown: ReadonlyArray<string>; readonly rest: ReadonlySet<string> } => {
  const order = [...sizes].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([value]) => value)
  return { shown: order.slice(0, top), rest: new Set(order.slice(top)) }
}
