/**
 * A sorted list that many can walk and few pay for: chunks of at most 512 items, found by binary search.
 * Insert, remove and seek cost O(log n + 512); appending at the end and taking from the front cost next
 * to nothing; walking in order costs nothing but the steps, and changes nothing. So `decide` can look at
 * the first k of a million without touching them.
 */

const chunkMax = 512

export class SortedList<T> {
  private readonly chunks: T[][] = []
  private count = 0

  /** `compare` must be a total order: two distinct items never compare as 0. */
  constructor(private readonly compare: (a: T, b: T) => number) {}

  get size(): number {
    return this.count
  }

  first(): T | undefined {
    return this.chunks[0]?.[0]
  }

  last(): T | undefined {
    const chunk = this.chunks[this.chunks.length - 1]
    return chunk?.[chunk.length - 1]
  }

  add(item: T): void {
    const { chunks } = this
    this.count++
    if (chunks.length === 0) {
      chunks.push([item])
      return
    }
    const tail = chunks[chunks.length - 1] as T[]
    if (this.compare(tail[tail.length - 1] as T, item) < 0) {
      // Appending in order fills chunks to the brim; splitting would leave them half empty for ever.
      if (tail.length < chunkMax) tail.push(item)
      else chunks.push([item])
      return
    }
    const at = this.chunkOf(item)
    const chunk = chunks[at] as T[]
    chunk.splice(this.indexIn(chunk, item), 0, item)
    if (chunk.length > chunkMax) chunks.splice(at + 1, 0, chunk.splice(chunkMax >> 1))
  }

  /** False when the item is not in the list. */
  remove(item: T): boolean {
    const at = this.chunkOf(item)
    const chunk = this.chunks[at]
    if (chunk === undefined) return false
    const index = this.indexIn(chunk, item)
    if (chunk[index] !== item) return false
    if (chunk.length === 1) this.chunks.splice(at, 1)
    else if (index === 0) chunk.shift()
    else chunk.splice(index, 1)
    this.count--
    return true
  }

  has(item: T): boolean {
    const chunk = this.chunks[this.chunkOf(item)]
    return chunk !== undefined && chunk[this.indexIn(chunk, item)] === item
  }

  /** In order, from the first item. The list must not change while a cursor is in use. */
  cursor(): Cursor<T> {
    return new Cursor(this.chunks, 0, 0)
  }

  /** In order, from the first item for which `isBefore` is false; `isBefore` must hold for a prefix of the list. */
  seek(isBefore: (item: T) => boolean): Cursor<T> {
    const { chunks } = this
    let low = 0
    let high = chunks.length
    while (low < high) {
      const middle = (low + high) >> 1
      const chunk = chunks[middle] as T[]
      if (isBefore(chunk[chunk.length - 1] as T)) low = middle + 1
      else high = middle
    }
    const chunk = chunks[low]
    if (chunk === undefined) return new Cursor(chunks, low, 0)
    let from = 0
    let to = chunk.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (isBefore(chunk[middle] as T)) from = middle + 1
      else to = middle
    }
    return new Cursor(chunks, low, from)
  }

  /** How many items `isBefore` holds for; it must hold for a prefix of the list. */
  countBefore(isBefore: (item: T) => boolean): number {
    let count = 0
    for (const chunk of this.chunks) {
      if (isBefore(chunk[chunk.length - 1] as T)) {
        count += chunk.length
        continue
      }
      for (const item of chunk) {
        if (!isBefore(item)) return count
        count++
      }
    }
    return count
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const chunk of this.chunks) yield* chunk
  }

  /** The chunk that holds the item or would take it: the first whose last item is not before it. */
  private chunkOf(item: T): number {
    const { chunks, compare } = this
    let low = 0
    let high = chunks.length - 1
    if (high < 0) return 0
    const head = chunks[0] as T[]
    if (compare(item, head[head.length - 1] as T) <= 0) return 0
    while (low < high) {
      const middle = (low + high) >> 1
      const chunk = chunks[middle] as T[]
      if (compare(chunk[chunk.length - 1] as T, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  private indexIn(chunk: ReadonlyArray<T>, item: T): number {
    const { compare } = this
    if (chunk[0] === item) return 0
    let low = 0
    let high = chunk.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(chunk[middle] as T, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A place in a sorted list. `item` is `undefined` past the end. */
export class Cursor<T> {
  item: T | undefined
  constructor(
    private readonly chunks: ReadonlyArray<ReadonlyArray<T>>,
    private chunk: number,
    private index: number,
  ) {
    this.item = chunks[chunk]?.[index]
  }

  advance(): void {
    this.index++
    const chunk = this.chunks[this.chunk]
    if (chunk !== undefined && this.index >= chunk.length) {
      this.chunk++
      this.index = 0
    }
    this.item = this.chunks[this.chunk]?.[this.index]
  }
}
