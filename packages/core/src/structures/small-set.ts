/** Sets that are mostly small: most groups, tenants and keys have one member, and a queue may have a million of them. */

/** No item, one item by itself, or an array of items in no order. */
export type Few<T extends object> = Array<T> | T | undefined

export const itemsOf = <T extends object>(few: Few<T>): ReadonlyArray<T> => (few === undefined ? none : Array.isArray(few) ? few : [few])
const none: ReadonlyArray<never> = []

/** Adds an item that is not in it. An array is changed in place. */
export const withItem = <T extends object>(few: Few<T>, item: T): Few<T> => {
  if (few === undefined) return item
  if (!Array.isArray(few)) return [few, item]
  few.push(item)
  return few
}

/** Removes an item, if it is in it. An array is changed in place. */
export const withoutItem = <T extends object>(few: Few<T>, item: T): Few<T> => {
  if (!Array.isArray(few)) return few === item ? undefined : few
  const last = few.pop()
  if (last === undefined || last === item) return few.length === 0 ? undefined : few
  const at = few.indexOf(item)
  if (at < 0) few.push(last)
  else few[at] = last
  return few
}

/** An array with more items than this becomes a set. */
const fewMax = 16

/** A set of any size that needs little memory while it is small. */
export class SmallSet<T extends object> implements Iterable<T> {
  private items: Few<T> | Set<T> = undefined

  get size(): number {
    const { items } = this
    return items instanceof Set ? items.size : itemsOf(items).length
  }

  /** Whether it has had more than a few items since it was made. */
  get isLarge(): boolean {
    return this.items instanceof Set
  }

  /** Adds an item that is not in the set. */
  add(item: T): void {
    const { items } = this
    if (items instanceof Set) return void items.add(item)
    const more = withItem(items, item)
    this.items = Array.isArray(more) && more.length > fewMax ? new Set(more) : more
  }

  delete(item: T): void {
    const { items } = this
    if (items instanceof Set) items.delete(item)
    else this.items = withoutItem(items, item)
  }

  [Symbol.iterator](): Iterator<T> {
    const { items } = this
    return (items instanceof Set ? items : itemsOf(items))[Symbol.iterator]()
  }
}
