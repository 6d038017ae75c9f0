/**
 * A hash table of rows by 32-bit hashes: open addressing with linear probing, in the order of the hashes. A slot takes 8 bytes, hash and row beside
 * each other, so that the processor fetches both at once.
 */

const capacityMin = 16
/** The highest and the lowest share of slots in use. */
const usedMax = 0.875
const usedMin = 0.3
/** Entries on their way to their slots. Shared, because an array for each table would be as large as all tables together. */
let taken = new Int32Array(0)

export class HashTable {
  /** Hash and row of each slot. The hash 0 means a free slot. */
  private readonly places: Int32Array
  count = 0
  /** Number of entries that lie at the beginning and not in their slots yet. While there are any, `count` is 0. */
  private gathered = 0

  private constructor(
    /** Number of leading bits that all hashes in this table have in common. */
    readonly depth: number,
    private readonly capacity: number,
  ) {
    this.places = new Int32Array(2 * capacity)
  }

  /** An empty table with room for this many entries. */
  static for(depth: number, entries: number): HashTable {
    return new HashTable(depth, Math.max(capacityMin, Math.ceil(entries / usedMax) + 1))
  }

  get bytes(): number {
    return 8 * this.capacity
  }

  get isFull(): boolean {
    return this.count + 1 > this.capacity * usedMax
  }

  get isSparse(): boolean {
    return this.capacity > capacityMin && this.count < this.capacity * usedMin
  }

  /** The row in a slot. */
  rowAt(at: number): number {
    return (this.places[2 * at + 1] as number) >>> 0
  }

  /** The first slot with this hash, or -1. */
  first(hash: number): number {
    return this.from(this.homeOf(hash), hash | 0)
  }

  /** The next slot with this hash, or -1. */
  after(at: number, hash: number): number {
    return this.from(this.next(at), hash | 0)
  }

  /** Adds an entry. False, and nothing is added, if `alikeMax` entries have the same hash. Throws if there is no room: a search ends at a free slot. */
  put(hash: number, row: number, alikeMax: number): boolean {
    if (this.count + 1 >= this.capacity) throw new RangeError(`a hash table of ${this.capacity} slots is full`)
    const { places } = this
    const end = 2 * this.capacity
    let alike = 0
    let at = 2 * this.homeOf(hash)
    for (; places[at] !== 0; at = at + 2 === end ? 0 : at + 2) if (places[at] === hash && ++alike >= alikeMax) return false
    places[at] = hash
    places[at + 1] = row
    this.count++
    return true
  }

  /** Appends an entry without looking for its slot. False, and nothing is added, if there is no room or others are in their slots. */
  gather(hash: number, row: number): boolean {
    const { places, gathered } = this
    if (this.count > 0 || gathered + 1 > this.capacity * usedMax) return false
    places[2 * gathered] = hash
    places[2 * gathered + 1] = row
    this.gathered++
    return true
  }

  /** Takes out all entries that were gathered. `enter` may add them. */
  takeGathered(enter: (hash: number, row: number) => void): void {
    const { places } = this
    const end = 2 * this.gathered
    if (end === 0) return
    if (taken.length < end) taken = new Int32Array(places.length)
    taken.set(places.subarray(0, end))
    places.fill(0, 0, end)
    this.gathered = 0
    for (let at = 0; at < end; at += 2) enter(taken[at] as number, taken[at + 1] as number)
  }

  /** Removes an entry and moves later ones back, so that none lies behind a free slot. */
  clear(at: number): void {
    const { places } = this
    let free = at
    for (let next = this.next(at); places[2 * next] !== 0; next = this.next(next)) {
      const hash = places[2 * next] as number
      // An entry whose home slot is after the free one stays.
      if (this.distance(this.homeOf(hash), next) < this.distance(free, next)) continue
      places[2 * free] = hash
      places[2 * free + 1] = places[2 * next + 1] as number
      free = next
    }
    places[2 * free] = 0
    this.count--
  }

  /** Number of entries whose first bit after the common ones is 1. */
  countUpper(): number {
    let upper = 0
    const { places } = this
    for (let at = 0; at < places.length; at += 2) if (places[at] !== 0 && (places[at] as number) << this.depth < 0) upper++
    return upper
  }

  /** Adds all entries to other tables, which must have room. */
  moveTo(tableOf: (hash: number) => HashTable): void {
    const { places } = this
    for (let at = 0; at < places.length; at += 2) {
      const hash = places[at] as number
      if (hash !== 0) tableOf(hash).put(hash, places[at + 1] as number, Number.POSITIVE_INFINITY)
    }
  }

  private from(begin: number, hash: number): number {
    const { places } = this
    for (let at = begin; ; at = this.next(at)) {
      const other = places[2 * at]
      if (other === hash) return at
      if (other === 0) return -1
    }
  }

  /** Equal ranges of hashes map to equal parts of the table. So its size need not be a power of two, and growing moves entries in order. */
  private homeOf(hash: number): number {
    return Math.floor(((hash << this.depth) >>> 0) * (this.capacity / 2 ** 32))
  }

  private next(at: number): number {
    return at + 1 === this.capacity ? 0 : at + 1
  }

  private distance(from: number, to: number): number {
    return to >= from ? to - from : to - from + this.capacity
  }
}
