/**
 * A hash index of items by a unique text, such as an id. It replaces `Map<string, T>` only for speed. With maps, a fold with a million live tasks
 * runs at half of its rate and a bulk enqueue at 0.83, both below their goals (docs/performance.md); a drain runs equally fast.
 *
 * A map reads the hash of each string that it compares from the string itself, which is a cache miss. Here the hashes are in one array, and only an
 * item with an equal hash is read. Items are stored as numbers, which the owner resolves.
 */

const capacityMin = 16
/** A table never shrinks below this. With a few thousand tasks coming and going, it would otherwise grow and shrink all the time. */
const shrunkMin = 8_192
/** Only the last characters are hashed: most different ids and keys differ there. */
export const hashedCharacters = 12
/** If more texts than this have the same hash, the others are kept in a map. That happens only with unusual texts, such as ids with equal ends. */
const alikeMax = 8
/** Items that are added together are ordered by this many ranges of slots. */
const rangesMax = 256

export class TextIndex<T> {
  /** An open-addressed table with linear probing, at most half full. 0 is a free slot. */
  private hashes: Int32Array
  /** The items' numbers, at the slots of their hashes. */
  private numbers: Array<number>
  private count = 0
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
    return this.count + this.crowded.size
  }

  /** Number of slots in the table, in use or not. */
  get capacity(): number {
    return this.hashes.length
  }

  /** Makes room for this many more items: otherwise the table is copied each time it has doubled. */
  reserve(items: number): void {
    const capacity = capacityFor(this.count + items, this.capacity)
    if (capacity > this.capacity) this.resize(capacity)
  }

  get(text: string): T | undefined {
    const at = this.placeOf(text, hashOf(text, this.seed))
    const number = at >= 0 ? this.numbers[at] : this.crowded.size > 0 ? this.crowded.get(text) : undefined
    return number === undefined ? undefined : this.itemOf(number)
  }

  has(text: string): boolean {
    return this.placeOf(text, hashOf(text, this.seed)) >= 0 || (this.crowded.size > 0 && this.crowded.has(text))
  }

  /** Adds the item with this number. It replaces an item with the same text. */
  set(text: string, number: number): void {
    if (this.count * 2 >= this.capacity) this.resize(this.capacity * 2)
    const hash = hashOf(text, this.seed)
    const at = this.placeOf(text, hash)
    if (at >= 0) this.numbers[at] = number
    else if (this.isCrowded(hash, ~at) || (this.crowded.size > 0 && this.crowded.has(text))) this.crowded.set(text, number)
    else {
      this.hashes[~at] = hash
      this.numbers[~at] = number
      this.count++
    }
  }

  /**
   * Adds the first `length` of these items, whose texts have these hashes (see {@link hashOfEnd}) and are not in the index. They are added in the order of
   * their slots, because in any other order most of them cost a cache miss.
   */
  addAll(hashes: Int32Array, numbers: Float64Array, length: number): void {
    this.reserve(length)
    const mask = this.capacity - 1
    const shift = Math.max(0, Math.log2(this.capacity / rangesMax))
    const places = new Int32Array(rangesMax + 1)
    for (let i = 0; i < length; i++) (places[(((hashes[i] as number) & mask) >>> shift) + 1] as number)++
    for (let range = 1; range < rangesMax; range++) (places[range] as number) += places[range - 1] as number
    const sortedHashes = new Int32Array(length)
    const sortedNumbers = new Float64Array(length)
    for (let i = 0; i < length; i++) {
      const hash = hashes[i] as number
      const place = (places[(hash & mask) >>> shift] as number)++
      sortedHashes[place] = hash
      sortedNumbers[place] = numbers[i] as number
    }
    for (let i = 0; i < length; i++) this.addHashed(sortedHashes[i] as number, sortedNumbers[i] as number)
  }

  private addHashed(hash: number, number: number): void {
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

  delete(text: string): void {
    const at = this.placeOf(text, hashOf(text, this.seed))
    if (at < 0) this.crowded.delete(text)
    else this.removeAt(at)
  }

  /** Removes the item with this number and this text, without reading items. False if it is not in the index. */
  deleteNumber(text: string, number: number): boolean {
    const { hashes, numbers } = this
    const mask = hashes.length - 1
    const hash = hashOf(text, this.seed)
    for (let at = hash & mask; hashes[at] !== 0; at = (at + 1) & mask) {
      if (numbers[at] !== number || hashes[at] !== hash) continue
      this.removeAt(at)
      return true
    }
    return this.crowded.size > 0 && this.crowded.get(text) === number && this.crowded.delete(text)
  }

  private removeAt(at: number): void {
    this.clear(at)
    this.count--
    if (this.capacity > shrunkMin && this.count * 8 < this.capacity) this.resize(this.capacity / 2)
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

/** The same hash, of a text of this length whose last characters have these codes; those of a shorter text are at the end. */
export const hashOfEnd = (length: number, codes: Uint16Array, seed: number): number => {
  let hash = length ^ seed
  for (let i = Math.max(0, hashedCharacters - length); i < hashedCharacters; i++) hash = Math.imul(hash ^ (codes[i] as number), 0x01000193)
  hash ^= hash >>> 15
  return hash === 0 ? 1 : hash
}
