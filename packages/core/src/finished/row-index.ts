/**
 * A hash index of rows by a key of theirs, in two flat arrays: 8 bytes a place, and between a half and three quarters of the places in use.
 * Like `TextIndex`, which is for records, but for so many rows that its size matters more than the last few percent of speed.
 */

const capacityMin = 16
/** If more keys than this have the same hash, the others go to a map. */
const alikeMax = 8

export class RowIndex<K extends string | number> {
  /** An open-addressed table with linear probing, in the order of the hashes. 0 is a free place. */
  private hashes = new Int32Array(capacityMin)
  private rows = new Uint32Array(capacityMin)
  private count = 0
  private readonly crowded = new Map<K, number>()

  /** `keyOf`: the key of a row that is in the index. `hashOf` never returns 0. */
  constructor(
    private readonly keyOf: (row: number) => K,
    private readonly hashOf: (key: K) => number,
  ) {}

  get size(): number {
    return this.count + this.crowded.size
  }

  /** Bytes of its arrays. */
  get bytes(): number {
    return this.hashes.byteLength + this.rows.byteLength
  }

  get(key: K): number | undefined {
    if (this.size === 0) return undefined
    const at = this.placeOf(key, this.hashOf(key))
    return at >= 0 ? this.rows[at] : this.crowded.size > 0 ? this.crowded.get(key) : undefined
  }

  /** The key must not be in the index. */
  add(key: K, row: number): void {
    if ((this.count + 1) * 4 > this.hashes.length * 3) this.resize(Math.ceil(this.hashes.length * 1.5))
    const hash = this.hashOf(key)
    const { hashes } = this
    const { length } = hashes
    let alike = 0
    let at = homeOf(hash, length)
    for (; hashes[at] !== 0; at = at + 1 === length ? 0 : at + 1) if (hashes[at] === hash) alike++
    if (alike >= alikeMax) {
      this.crowded.set(key, row)
      return
    }
    hashes[at] = hash
    this.rows[at] = row
    this.count++
  }

  remove(key: K): void {
    const at = this.placeOf(key, this.hashOf(key))
    if (at < 0) {
      this.crowded.delete(key)
      return
    }
    this.clear(at)
    this.count--
    if (this.hashes.length > capacityMin && this.count * 4 < this.hashes.length) this.resize(Math.max(capacityMin, this.hashes.length >> 1))
  }

  /** The place of the key, or the complement of the free place for it. */
  private placeOf(key: K, hash: number): number {
    const { hashes } = this
    const { length } = hashes
    for (let at = homeOf(hash, length); ; at = at + 1 === length ? 0 : at + 1) {
      const other = hashes[at]
      if (other === 0) return ~at
      if (other === hash && this.keyOf(this.rows[at] as number) === key) return at
    }
  }

  /** Removes an entry and moves later ones back, so that none lies behind a free place. */
  private clear(at: number): void {
    const { hashes, rows } = this
    const { length } = hashes
    const distance = (from: number, to: number): number => (to >= from ? to - from : to - from + length)
    let free = at
    for (let next = at + 1 === length ? 0 : at + 1; hashes[next] !== 0; next = next + 1 === length ? 0 : next + 1) {
      const hash = hashes[next] as number
      // An entry whose own place is after the free one stays.
      if (distance(homeOf(hash, length), next) < distance(free, next)) continue
      hashes[free] = hash
      rows[free] = rows[next] as number
      free = next
    }
    hashes[free] = 0
  }

  private resize(capacity: number): void {
    const { hashes, rows } = this
    this.hashes = new Int32Array(capacity)
    this.rows = new Uint32Array(capacity)
    for (let i = 0; i < hashes.length; i++) {
      const hash = hashes[i] as number
      if (hash === 0) continue
      let at = homeOf(hash, capacity)
      while (this.hashes[at] !== 0) at = at + 1 === capacity ? 0 : at + 1
      this.hashes[at] = hash
      this.rows[at] = rows[i] as number
    }
  }
}

/** Equal parts of all hashes have equal parts of the table. So it need not grow by powers of two, and a resize writes in order. */
const homeOf = (hash: number, capacity: number): number => Math.floor((hash >>> 0) * (capacity / 2 ** 32))
