/**
 * A sorted list of chunks. A chunk has at most 128 items and is found by binary search. Insert, remove and seek cost O(log n + 128). Appending at the
 * end and taking from the front cost O(1). Walking in order costs one step per item and changes nothing, so `decide` can look at the first k of a
 * million tasks.
 *
 * Each chunk keeps the keys of its items in a separate array. A binary search over the records themselves would miss the processor's cache at every
 * step.
 *
 * A list of one item has no chunks, because a queue may have a list for each of a million tenants.
 */

const chunkMax = 128

interface Chunk<T> {
  readonly keys: Array<number>
  readonly items: Array<T | undefined>
  /** Index of the first item. Items are removed from the front by advancing it, which is cheaper than moving the others. */
  from: number
}
const newChunk = <T>(keys: Array<number>, items: Array<T | undefined>): Chunk<T> => ({ keys, items, from: 0 })
const firstOf = <T>({ items, from }: Chunk<T>): T => items[from] as T
const lastOf = <T>({ items }: Chunk<T>): T => items[items.length - 1] as T

/** The arrays of a list without chunks, shared by all such lists. */
const none: Array<never> = []

export class SortedList<T> {
  private chunks: Array<Chunk<T>> = none
  /** The last key of each chunk. */
  private lastKeys: Array<number> = none
  /** The only item. Set only if the list has had no more than one since it was last empty. */
  private only: T | undefined
  private count = 0

  /**
   * Items are ordered by `keyOf`, and those with equal keys by `compareTies`, which never returns 0 for two different
   * items. Neither may change while an item is in the list.
   */
  constructor(
    readonly keyOf: (item: T) => number,
    private readonly compareTies: (a: T, b: T) => number,
  ) {}

  get size(): number {
    return this.count
  }

  first(): T | undefined {
    const chunk = this.chunks[0]
    return chunk === undefined ? this.only : chunk.items[chunk.from]
  }

  /** The key of the first item; `NaN` if the list is empty. */
  firstKey(): number {
    const chunk = this.chunks[0]
    if (chunk !== undefined) return chunk.keys[chunk.from] as number
    return this.only === undefined ? Number.NaN : this.keyOf(this.only)
  }

  last(): T | undefined {
    const chunk = this.chunks[this.chunks.length - 1]
    return chunk === undefined ? this.only : chunk.items[chunk.items.length - 1]
  }

  add(item: T): void {
    if (this.count++ === 0) {
      this.only = item
      return
    }
    if (this.only !== undefined) this.makeChunks(this.only)
    const { chunks, lastKeys } = this
    const key = this.keyOf(item)
    const end = chunks.length - 1
    const tail = chunks[end] as Chunk<T>
    if (this.isBefore(lastKeys[end] as number, lastOf(tail), key, item)) {
      // Appending in order fills chunks completely; splitting would leave them half empty for ever.
      if (tail.items.length < chunkMax) {
        tail.keys.push(key)
        tail.items.push(item)
        lastKeys[end] = key
      } else {
        chunks.push(newChunk([key], [item]))
        lastKeys.push(key)
      }
      return
    }
    const at = this.chunkOf(key, item)
    const chunk = chunks[at] as Chunk<T>
    const index = this.indexIn(chunk, key, item)
    chunk.keys.splice(index, 0, key)
    chunk.items.splice(index, 0, item)
    if (chunk.items.length > chunkMax) this.split(at, chunk)
  }

  /** Fills an empty list at once, in O(n) if the items come in order. `keys`: the keys of the items. The list takes over both arrays. */
  fill(items: Array<T>, keys: Array<number> = items.map(this.keyOf)): void {
    if (this.count > 0) throw new Error('only an empty list can be filled')
    for (let i = 1; i < items.length; i++) {
      if (this.isBefore(keys[i - 1] as number, items[i - 1] as T, keys[i] as number, items[i] as T)) continue
      const order = [...items.keys()].sort((a, b) => (keys[a] as number) - (keys[b] as number) || this.compareTies(items[a] as T, items[b] as T))
      return this.fill(order.map((at) => items[at] as T), order.map((at) => keys[at] as number))
    }
    this.count = items.length
    if (items.length < 2) {
      this.only = items[0]
      return
    }
    const chunks = items.length <= chunkMax ? [newChunk(keys, items)] : []
    for (let from = 0; items.length > chunkMax && from < items.length; from += chunkMax) chunks.push(newChunk(keys.slice(from, from + chunkMax), items.slice(from, from + chunkMax)))
    this.chunks = chunks
    this.lastKeys = chunks.map((chunk) => chunk.keys[chunk.keys.length - 1] as number)
  }

  /** Removes an item. False if it is not in the list. */
  remove(item: T): boolean {
    if (this.only !== undefined) {
      if (this.only !== item) return false
      this.only = undefined
      this.count = 0
      return true
    }
    const key = this.keyOf(item)
    // Mostly the first item is removed, which needs no search.
    const at = this.first() === item ? 0 : this.chunkOf(key, item)
    const chunk = this.chunks[at]
    if (chunk === undefined) return false
    const index = this.indexIn(chunk, key, item)
    if (chunk.items[index] !== item) return false
    const { keys, items } = chunk
    if (this.count === 1) {
      this.chunks = none
      this.lastKeys = none
    } else if (items.length - chunk.from === 1) {
      this.chunks.splice(at, 1)
      this.lastKeys.splice(at, 1)
    } else if (index === chunk.from) {
      items[index] = undefined
      chunk.from++
    } else {
      keys.splice(index, 1)
      items.splice(index, 1)
      this.lastKeys[at] = keys[keys.length - 1] as number
    }
    this.count--
    return true
  }

  has(item: T): boolean {
    if (this.only !== undefined) return this.only === item
    const key = this.keyOf(item)
    const chunk = this.chunks[this.chunkOf(key, item)]
    return chunk !== undefined && chunk.items[this.indexIn(chunk, key, item)] === item
  }

  /** The first item with this key. */
  at(key: number): T | undefined {
    if (this.only !== undefined) return this.keyOf(this.only) === key ? this.only : undefined
    const chunk = this.chunks[this.lastKeys.length > 1 ? firstNotBelow(this.lastKeys, key) : 0]
    if (chunk === undefined) return undefined
    const index = firstNotBelow(chunk.keys, key, chunk.from)
    return chunk.keys[index] === key ? chunk.items[index] : undefined
  }

  /** In order, from the first item. The list must not change while a cursor is in use. */
  cursor(): Cursor<T> {
    if (this.only !== undefined) return new Cursor(this.asChunks(this.only), 0, 0)
    return new Cursor(this.chunks, 0, this.chunks[0]?.from ?? 0)
  }

  /** In order, from the first item whose key is at least `key`. */
  seek(key: number): Cursor<T> {
    if (this.only !== undefined) return new Cursor(this.asChunks(this.only), 0, this.keyOf(this.only) < key ? 1 : 0)
    const at = firstNotBelow(this.lastKeys, key)
    const chunk = this.chunks[at]
    return new Cursor(this.chunks, at, chunk === undefined ? 0 : firstNotBelow(chunk.keys, key, chunk.from))
  }

  /** In order, from the first item for which `before` is false. `before` must hold for the first items of the list, or none, and for no others. */
  seekPast(before: (item: T) => boolean): Cursor<T> {
    const chunks = this.only === undefined ? this.chunks : this.asChunks(this.only)
    const at = firstWhere(0, chunks.length, (chunk) => !before(lastOf(chunks[chunk] as Chunk<T>)))
    const chunk = chunks[at]
    return new Cursor(chunks, at, chunk === undefined ? 0 : firstWhere(chunk.from, chunk.items.length, (index) => !before(chunk.items[index] as T)))
  }

  *[Symbol.iterator](): IterableIterator<T> {
    if (this.only !== undefined) yield this.only
    for (const { items, from } of this.chunks) for (let i = from; i < items.length; i++) yield items[i] as T
  }

  private makeChunks(only: T): void {
    this.chunks = this.asChunks(only)
    this.lastKeys = [this.keyOf(only)]
    this.only = undefined
  }

  private asChunks(only: T): Array<Chunk<T>> {
    return [newChunk([this.keyOf(only)], [only])]
  }

  /** Removes the free places at the front; splits the chunk if it is still too long. */
  private split(at: number, chunk: Chunk<T>): void {
    const { keys, items, from } = chunk
    keys.splice(0, from)
    items.splice(0, from)
    chunk.from = 0
    if (items.length <= chunkMax) return
    const half = items.length >> 1
    const upper = newChunk(keys.splice(half), items.splice(half))
    this.chunks.splice(at + 1, 0, upper)
    this.lastKeys.splice(at, 1, keys[half - 1] as number, upper.keys[upper.keys.length - 1] as number)
  }

  private isBefore(keyA: number, a: T, keyB: number, b: T): boolean {
    return keyA < keyB || (keyA === keyB && a !== b && this.compareTies(a, b) < 0)
  }

  /** The chunk that has the item or would get it: the first chunk whose last item is not before it. */
  private chunkOf(key: number, item: T): number {
    const { chunks, lastKeys } = this
    let at = firstNotBelow(lastKeys, key)
    // If several chunks end with the same key, their items are compared.
    if (lastKeys[at] === key) at = firstWhere(at, firstAbove(lastKeys, key, at), (chunk) => !this.isBefore(key, lastOf(chunks[chunk] as Chunk<T>), key, item))
    return Math.min(at, Math.max(chunks.length - 1, 0))
  }

  private indexIn(chunk: Chunk<T>, key: number, item: T): number {
    const { keys, items, from } = chunk
    if (firstOf(chunk) === item) return from
    const index = firstNotBelow(keys, key, from)
    if (keys[index] !== key || items[index] === item) return index
    return firstWhere(index, firstAbove(keys, key, index), (at) => !this.isBefore(key, items[at] as T, key, item))
  }
}

/** Sorts items by their keys. The sort is stable, and items that come in runs take a fraction of the time. */
export const sortedByKey = <T>(items: ReadonlyArray<T>, keyOf: (item: T) => number): Array<T> => items.toSorted((a, b) => keyOf(a) - keyOf(b))

/** The first whole number from `from` to below `end` for which `holds` is true; `end` if there is none. It must be true for all numbers after that as well. */
const firstWhere = (from: number, end: number, holds: (index: number) => boolean): number => {
  let low = from
  let high = end
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Not by `firstWhere`, because nearly all work on a list is in this loop. */
const firstNotBelow = (keys: ReadonlyArray<number>, key: number, from = 0): number => {
  let low = from
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((keys[middle] as number) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** Not `firstNotBelow` of `key + 1`, which is the same number as `key` beyond 2^53. */
const firstAbove = (keys: ReadonlyArray<number>, key: number, from: number): number => firstWhere(from, keys.length, (at) => (keys[at] as number) > key)

/** A place in a sorted list. `item` is `undefined` past the end. */
export class Cursor<T> {
  item: T | undefined
  constructor(
    private readonly chunks: ReadonlyArray<Chunk<T>>,
    private chunk: number,
    private index: number,
  ) {
    this.item = chunks[chunk]?.items[index]
  }

  /** The item's key; `NaN` past the end. */
  get key(): number {
    return this.chunks[this.chunk]?.keys[this.index] ?? Number.NaN
  }

  advance(): void {
    this.index++
    let chunk = this.chunks[this.chunk]
    if (chunk !== undefined && this.index >= chunk.items.length) {
      chunk = this.chunks[++this.chunk]
      this.index = chunk?.from ?? 0
    }
    this.item = chunk?.items[this.index]
  }
}
