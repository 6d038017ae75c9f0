/**
 * An index of many items by their hashes. All are added at once: they are sorted into buckets, which takes about half of the time and memory of a
 * hash table ([ADR 75](../../../../docs/adr/0075-records-on-demand.md)). Items can be removed, but none can be added.
 */

/** Average number of items in a bucket. */
const bucketItems = 8
/** If a bucket would have more items, many of them have equal hashes. */
const bucketMax = 32

export class HashBuckets {
  /** Where each bucket begins; at the end, where the last one ends. */
  private readonly begins: Uint32Array
  /** 0 for an item that was removed. */
  private readonly hashes: Int32Array
  private readonly numbers: Float64Array
  /** How many items there are. */
  count: number

  /** Adds the first `length` of these items. No hash may be 0. `refuse` is called for all items of a bucket that would have too many. */
  constructor(hashes: Int32Array, numbers: Float64Array, length: number, refuse: (hash: number, number: number) => void) {
    let buckets = 1
    while (buckets * bucketItems < length) buckets *= 2
    const begins = (this.begins = new Uint32Array(buckets + 1))
    for (let i = 0; i < length; i++) (begins[((hashes[i] as number) & (buckets - 1)) + 1] as number)++
    for (let bucket = 0; bucket < buckets; bucket++) {
      const items = begins[bucket + 1] as number
      begins[bucket + 1] = (begins[bucket] as number) + (items > bucketMax ? 0 : items)
    }
    this.count = begins[buckets] as number
    const ownHashes = (this.hashes = new Int32Array(this.count))
    const ownNumbers = (this.numbers = new Float64Array(this.count))
    const next = begins.slice(0, buckets)
    for (let i = 0; i < length; i++) {
      const hash = hashes[i] as number
      const bucket = hash & (buckets - 1)
      const at = next[bucket] as number
      if (at === begins[bucket + 1]) refuse(hash, numbers[i] as number)
      else {
        next[bucket] = at + 1
        ownHashes[at] = hash
        ownNumbers[at] = numbers[i] as number
      }
    }
  }

  /** How many items were added. */
  get capacity(): number {
    return this.hashes.length
  }

  /** The place of the item with this hash for whose number `is` holds; -1 if there is none. */
  find(hash: number, is: (number: number) => boolean): number {
    const bucket = hash & (this.begins.length - 2)
    const end = this.begins[bucket + 1] as number
    for (let at = this.begins[bucket] as number; at < end; at++) {
      if (this.hashes[at] === hash && is(this.numbers[at] as number)) return at
    }
    return -1
  }

  numberAt(at: number): number {
    return this.numbers[at] as number
  }

  setNumber(at: number, number: number): void {
    this.numbers[at] = number
  }

  remove(at: number): void {
    this.hashes[at] = 0
    this.count--
  }

  /** Visits all items. */
  each(visit: (hash: number, number: number) => void): void {
    this.hashes.forEach((hash, at) => {
      if (hash !== 0) visit(hash, this.numbers[at] as number)
    })
  }
}
