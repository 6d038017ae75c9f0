/**
 * Rows with their hashes, collected so that they can be entered in the order of the hashes. Entered one by one, they would touch memory at random.
 */

/** 16 MB while they are collected. */
const rowsMax = 2 ** 20
/** Rows are sorted by this many leading bits of the hash. */
const sortedBits = 16

export class RowBatch {
  /** Hash and row of each entry. */
  private pairs = new Int32Array(2 * rowsMax)
  private sorted = new Int32Array(2 * rowsMax)
  private readonly ends = new Uint32Array(2 ** sortedBits)
  private count = 0

  get isFull(): boolean {
    return this.count === rowsMax
  }

  push(hash: number, row: number): void {
    this.pairs[2 * this.count] = hash
    this.pairs[2 * this.count + 1] = row
    this.count++
  }

  /** Calls `enter` with each entry, and empties the batch. */
  empty(enter: (hash: number, row: number) => void): void {
    const { pairs, sorted, ends } = this
    const end = 2 * this.count
    ends.fill(0)
    for (let at = 0; at < end; at += 2) (ends[(pairs[at] as number) >>> (32 - sortedBits)] as number)++
    let sum = 0
    for (let i = 0; i < ends.length; i++) ends[i] = sum += ends[i] as number
    for (let at = 0; at < end; at += 2) {
      const to = 2 * --(ends[(pairs[at] as number) >>> (32 - sortedBits)] as number)
      sorted[to] = pairs[at] as number
      sorted[to + 1] = pairs[at + 1] as number
    }
    this.count = 0
    for (let at = 0; at < end; at += 2) enter(sorted[at] as number, sorted[at + 1] as number)
  }
}
