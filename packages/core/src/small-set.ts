/** A set that is an array while it is small: most groups, tenants and keys have one member, and a queue may have a million of them. */

/** An array with more items than this becomes a set. */
const fewMax = 16

export class SmallSet<T> implements Iterable<T> {
  private items: Array<T> | Set<T> | undefined

  get size(): number {
    const { items } = this
    return items === undefined ? 0 : items instanceof Set ? items.size : items.length
  }

  /** Whether it has had more than a few items. */
  get isLarge(): boolean {
    return this.items instanceof Set
  }

  /** The item must not be in it. */
  add(item: T): void {
    const { items } = this
    if (items === undefined) this.items = [item]
    else if (items instanceof Set) items.add(item)
    else if (items.push(item) > fewMax) this.items = new Set(items)
  }

  delete(item: T): void {
    const { items } = this
    if (items === undefined) return
    if (items instanceof Set) return void items.delete(item)
    const at = items.indexOf(item)
    if (at < 0) return
    items[at] = items[items.length - 1] as T
    items.pop()
  }

  [Symbol.iterator](): Iterator<T> {
    return (this.items ?? none)[Symbol.iterator]()
  }
}
const none: ReadonlyArray<never> = []
