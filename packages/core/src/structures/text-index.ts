/**
 * A hash index of items by a unique text, such as an id. It replaces `Map<string, T>` only for speed. With maps, a fold with a million live tasks
 * runs at half of its rate and a bulk enqueue at 0.83, both below their goals (docs/performance.md); a drain runs equally fast.
 *
 * A map reads the hash of each string that it compares from the string itself, which is a cache miss. Here the hashes are in one array, and only an
 * item with an equal hash is read. Items are stored as numbers, which the owner resolves. Items that are added together are not in the table, but in
 * buckets, until most of them have been removed.
 */
import { HashBuckets } from './hash-buckets.js'

const capacityMin = 16
/** A table never shrinks below this. With a few thousand tasks coming and going, it would otherwise grow and shrink all the time. */
const shrunkMin = 8_192
/** Only the last characters are hashed: most different ids and keys differ there. */
const hashedCharacters = 12
/** If more texts than this have the same hash, the others are kept in a map. That happens only with unusual texts, such as ids with equal ends. */
const alikeMax = 8
/** Fewer items that are added together go to the table. */
const togetherMin = 16
/** When fewer of the items in the buckets are left than this share, they move to the table. */
const leftMin = 1 / 8

export class TextIndex<T> {
  /** An open-addressed table with linear probing, at most half full. 0 is a free slot. */
  private hashes: Int32Array
  /** The items' numbers, at the slots of their hashes. */
  private numbers: Array<number>
  private count = 0
  /** The items that were added together. */
  private together: HashBuckets | undefined
  private readonly crowded = new Map<string, number>()

  /**
   * `itemOf` must return the same item, with the same text, for as long as its number is in the index. With a random
   * seed nobody can choose texts that all have the same hash. `expected`: number of items to reserve room for.
   */
  constructor(
    private readonly itemOf: (number: number) => T | undefined,
    private readonly textOf: (item: T) => string,
    private readonly seed: number,
    expected = 0,
  ) {
    const capacity = capacityFor(expected, capacityMin)
    this.hashes = new Int32Array(capacity)
    this.numbers = new Array<number>(capacity).fill(0)
  }

  get size(): number {
    return this.count + this.crowded.size + (this.together?.count ?? 0)
  }

  /** Number of slots in the table and in the buckets, in use or not. */
  get capacity(): number {
    return this.hashes.length + (this.together?.capacity ?? 0)
  }

  /** Makes room for this many more items: otherwise the table is copied each time it has doubled. */
  reserve(items: number): void {
    const capacity = capacityFor(this.count + items, this.hashes.length)
    if (capacity > this.hashes.length) this.resize(capacity)
  }

  get(text: string): T | undefined {
    const number = this.numberOf(text)
    return number === undefined ? undefined : this.itemOf(number)
  }

  has(text: string): boolean {
    return this.numberOf(text) !== undefined
  }

  private numberOf(text: string): number | undefined {
    const hash = hashOf(text, this.seed)
    const at = this.placeOf(text, hash)
    if (at >= 0) return this.numbers[at]
    if (this.together !== undefined) {
      const place = this.placeTogether(text, hash)
      if (place >= 0) return this.together.numberAt(place)
    }
    return this.crowded.size > 0 ? this.crowded.get(text) : undefined
  }

  /** Adds the item with this number. It replaces an item with the same text. */
  set(text: string, number: number): void {
    const hash = hashOf(text, this.seed)
    if (this.together !== undefined) {
      const place = this.placeTogether(text, hash)
      if (place >= 0) return this.together.setNumber(place, number)
    }
    if (this.count * 2 >= this.hashes.length) this.resize(this.hashes.length * 2)
    const at = this.placeOf(text, hash)
    if (at >= 0) this.numbers[at] = number
    else if (this.isCrowded(hash, ~at) || (this.crowded.size > 0 && this.crowded.has(text))) this.crowded.set(text, number)
    else {
      this.hashes[~at] = hash
      this.numbers[~at] = number
      this.count++
    }
  }

  /** Adds the first `length` of these items, whose texts have these hashes (see {@link hashOf}) and are not in the index. */
  addAll(hashes: Int32Array, numbers: Float64Array, length: number): void {
    const add = (hash: number, number: number): void => this.addHashed(hash, number)
    if (this.together === undefined && length >= togetherMin) {
      this.together = new HashBuckets(hashes, numbers, length, add)
      return
    }
    for (let i = 0; i < length; i++) add(hashes[i] as number, numbers[i] as number)
  }

  /** Adds an item to the table. */
  private addHashed(hash: number, number: number): void {
    if (this.count * 2 >= this.hashes.length) this.resize(this.hashes.length * 2)
    const { hashes, numbers } = this
    const mask = hashes.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const other = hashes[at]
      // `set` needs the text: it counts how many items have this hash.
      if (other === hash) return this.set(this.textOf(this.itemOf(number) as T), number)
      if (other !== 0) continue
      hashes[at] = hash
      numbers[at] = number
      this.count++
      return
    }
  }

  /** Removes the item with this number and this text, without reading items. False if it is not in the index. */
  delete(text: string, number: number): boolean {
    const { hashes, numbers } = this
    const mask = hashes.length - 1
    const hash = hashOf(text, this.seed)
    for (let at = hash & mask; hashes[at] !== 0; at = (at + 1) & mask) {
      if (numbers[at] !== number || hashes[at] !== hash) continue
      this.removeAt(at)
      return true
    }
    const place = this.together?.find(hash, (other) => other === number) ?? -1
    if (place >= 0) {
      this.removeTogether(place)
      return true
    }
    return this.crowded.size > 0 && this.crowded.get(text) === number && this.crowded.delete(text)
  }

  private removeAt(at: number): void {
    this.clear(at)
    this.count--
    const { length } = this.hashes
    if (length > shrunkMin && this.count * 8 < length) this.resize(length / 2)
  }

  /** The place of the text in the buckets; -1 if it is not there. */
  private placeTogether(text: string, hash: number): number {
    return this.together?.find(hash, (number) => this.textOf(this.itemOf(number) as T) === text) ?? -1
  }

  /** Removes the item at this place of the buckets. When few are left, they move to the table: otherwise they would keep the memory of all. */
  private removeTogether(place: number): void {
    const { together } = this
    if (together === undefined) return
    together.remove(place)
    if (together.count >= together.capacity * leftMin) return
    this.together = undefined
    this.reserve(together.count)
    together.each((hash, number) => this.addHashed(hash, number))
  }

  /** The slot of the text. If it is not there, the complement (`~slot`) of the free slot for it. */
  private placeOf(text: string, hash: number): number {
    const { hashes, numbers } = this
    const mask = hashes.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const other = hashes[at]
      if (other === 0) return ~at
      if (other === hash && this.textOf(this.itemOf(numbers[at] as number) as T) === text) return at
    }
  }

  /** Whether the probe sequence up to this free slot already has as many entries with this hash as are allowed. */
  private isCrowded(hash: number, free: number): boolean {
    const { hashes } = this
    const mask = hashes.length - 1
    if (((free - hash) & mask) < alikeMax) return false
    let alike = 0
    for (let at = hash & mask; at !== free; at = (at + 1) & mask) if (hashes[at] === hash) alike++
    return alike >= alikeMax
  }

  /** Removes an entry and moves later ones of the probe sequence back, so that none lies behind a free slot. */
  private clear(at: number): void {
    const { hashes, numbers } = this
    const mask = hashes.length - 1
    let free = at
    for (let next = (at + 1) & mask; hashes[next] !== 0; next = (next + 1) & mask) {
      const hash = hashes[next] as number
      // An entry whose home slot is after the free one stays.
      if (((next - hash) & mask) < ((next - free) & mask)) continue
      hashes[free] = hash
      numbers[free] = numbers[next] as number
      free = next
    }
    hashes[free] = 0
  }

  private resize(capacity: number): void {
    const { hashes, numbers } = this
    const mask = capacity - 1
    this.hashes = new Int32Array(capacity)
    this.numbers = new Array<number>(capacity).fill(0)
    for (let i = 0; i < hashes.length; i++) {
      const hash = hashes[i] as number
      if (hash === 0) continue
      let at = hash & mask
      while (this.hashes[at] !== 0) at = (at + 1) & mask
      this.hashes[at] = hash
      this.numbers[at] = numbers[i] as number
    }
  }
}

/** The least capacity from `least` on in which the table is at most half full. */
const capacityFor = (items: number, least: number): number => {
  let capacity = least
  while (capacity < 2 * items) capacity *= 2
  return capacity
}

/** The hash of a text; never 0. */
export const hashOf = (text: string, seed: number): number => {
  const { length } = text
  let hash = length ^ seed
  for (let i = Math.max(0, length - hashedCharacters); i < length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash ^= hash >>> 15
  return hash === 0 ? 1 : hash
}
