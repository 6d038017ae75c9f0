/** A binary heap: its first item is before all others. `isBefore` may change only for the first item, and only until `sinkFirst`. */
export class Heap<T> {
  private readonly items: Array<T> = []

  constructor(private readonly isBefore: (a: T, b: T) => boolean) {}

  get first(): T | undefined {
    return this.items[0]
  }

  add(item: T): void {
    const { items } = this
    let at = items.length
    items.push(item)
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.isBefore(item, items[above] as T)) break
      items[at] = items[above] as T
      items[above] = item
      at = above
    }
  }

  removeFirst(): void {
    const { items } = this
    const last = items.pop()
    if (last === undefined || items.length === 0) return
    items[0] = last
    this.sinkFirst()
  }

  /** Must be called when the first item has moved back in the order. */
  sinkFirst(): void {
    const { items } = this
    const item = items[0]
    if (item === undefined) return
    for (let at = 0; ; ) {
      let below = 2 * at + 1
      if (below >= items.length) return
      if (below + 1 < items.length && this.isBefore(items[below + 1] as T, items[below] as T)) below++
      if (!this.isBefore(items[below] as T, item)) return
      items[at] = items[below] as T
      items[below] = item
      at = below
    }
  }
}
