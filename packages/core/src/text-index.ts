/**
 * Items by a text that only one of them has, as an id: what a map does, at a fraction of the cost once there are many.
 *
 * A map asks each text that it passes for its hash, and each of those lies elsewhere in memory. Here the hashes stand
 * side by side; an item is looked at when its text has the hash that is sought. Items are kept as numbers, by which
 * the owner knows them.
 */

const capacityMin = 16
/** What a hash is made of: most ids and keys that differ, differ at their end. */
const hashedCharacters = 12
/** So many texts of one hash stand here; further ones, which only odd texts bring about, are left to a map. */
const alikeMax = 8

export class TextIndex<T> {
  /** An open-addressed table, at most half full: each hash stands at its own place or behind that. 0 for nothing. */
  private hashes: Int32Array
  /** Of the items with these hashes. */
  private numbers: Array<number>
  private count = 0
  private readonly crowded = new Map<string, number>()
  /** What was found last: a command, its event and its answer ask for the same one after the other. */
  private foundText: string | undefined
  private foundNumber = 0

  /**
   * An item must stay known by its number, with the same text, for as long as it is in the index. With a seed that nobody
   * knows, nobody can think up texts that crowd together; it decides nothing that is seen outside. So many are expected.
   */
  constructor(
    private readonly itemOf: (number: number) => T | undefined,
    private readonly textOf: (item: T) => string,
    private readonly seed: number,
    expected = 0,
  ) {
    let capacity = capacityMin
    while (capacity < 2 * expected) capacity *= 2
    this.hashes = new Int32Array(capacity)
    this.numbers = new Array<number>(capacity).fill(0)
  }

  get size(): number {
    return this.count + this.crowded.size
  }

  /** Places held, in use or not. */
  get capacity(): number {
    return this.hashes.length
  }

  get(text: string): T | undefined {
    if (text === this.foundText) return this.itemOf(this.foundNumber)
    const at = this.placeOf(text, hashOf(text, this.seed))
    const number = at >= 0 ? this.numbers[at] : this.crowded.size > 0 ? this.crowded.get(text) : undefined
    if (number === undefined) return undefined
    this.foundText = text
    this.foundNumber = number
    return this.itemOf(number)
  }

  has(text: string): boolean {
    return this.placeOf(text, hashOf(text, this.seed)) >= 0 || (this.crowded.size > 0 && this.crowded.has(text))
  }

  /** The item of this number takes the place of any other with this text. */
  set(text: string, number: number): void {
    if (this.count * 2 >= this.capacity) this.resize(this.capacity * 2)
    this.foundText = undefined
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

  delete(text: string): void {
    this.foundText = undefined
    const at = this.placeOf(text, hashOf(text, this.seed))
    if (at < 0) {
      this.crowded.delete(text)
      return
    }
    this.clear(at)
    this.count--
    if (this.capacity > capacityMin && this.count * 8 < this.capacity) this.resize(this.capacity / 2)
  }

  /** Where the text stands; if nowhere, the complement of the free place where it would. */
  private placeOf(text: string, hash: number): number {
    const { hashes, numbers } = this
    const mask = hashes.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const other = hashes[at]
      if (other === 0) return ~at
      if (other === hash && this.textOf(this.itemOf(numbers[at] as number) as T) === text) return at
    }
  }

  /** Whether between a hash's own place and this one there are as many of it as may be. */
  private isCrowded(hash: number, free: number): boolean {
    const { hashes } = this
    const mask = hashes.length - 1
    if (((free - hash) & mask) < alikeMax) return false
    let alike = 0
    for (let at = hash & mask; at !== free; at = (at + 1) & mask) if (hashes[at] === hash) alike++
    return alike >= alikeMax
  }

  /** Those behind move up, so that none stands behind a free place and would not be found. */
  private clear(at: number): void {
    const { hashes, numbers } = this
    const mask = hashes.length - 1
    let free = at
    for (let next = (at + 1) & mask; hashes[next] !== 0; next = (next + 1) & mask) {
      const hash = hashes[next] as number
      // One that stands between its own place and the free one stays.
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

/** Never 0. */
const hashOf = (text: string, seed: number): number => {
  const { length } = text
  let hash = length ^ seed
  for (let i = Math.max(0, length - hashedCharacters); i < length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash ^= hash >>> 15
  return hash === 0 ? 1 : hash
}
