/**
 * A sorted set of whole numbers, as a bitmap. A number costs one bit where its neighbours are in the set as well, and at most a hundred bytes where
 * they are not. Adding and removing cost O(1) among numbers without large gaps, and O(log n) elsewhere.
 */

/** 32-bit words in a block. */
const blockWords = 16
const blockSize = blockWords * 32
/** Empty blocks are removed when there are more of them than of others, and more than this. */
const emptyMax = 16

export class NumberSet {
  /** The numbers of the blocks, in order: block `b` holds the numbers from `b * 512` on. Some blocks may be empty. */
  private readonly blocks: Array<number> = []
  /** How many numbers each block has. */
  private readonly counts: Array<number> = []
  /** The words of the blocks, one block after the other, with spare room at the end, which is all 0. */
  private words = noWords
  private count = 0
  /** How many blocks are empty. */
  private empty = 0

  get size(): number {
    return this.count
  }

  /** Number of blocks, empty ones included. */
  get blocksKept(): number {
    return this.blocks.length
  }

  /** Adds a number. False if it is in the set already. */
  add(number: number): boolean {
    const block = Math.floor(number / blockSize)
    const at = this.placeOf(block)
    if (this.blocks[at] !== block) this.insertBlock(at, block)
    return this.put(at, number)
  }

  /** Adds many numbers, in any order. Their blocks are inserted together, because each insertion moves the blocks after it. */
  addAll(numbers: Float64Array): void {
    const missing = new Set<number>()
    let last = -1
    for (let i = 0; i < numbers.length; i++) {
      const block = Math.floor((numbers[i] as number) / blockSize)
      if (block === last) continue
      last = block
      if (this.blocks[this.placeOf(block)] !== block) missing.add(block)
    }
    if (missing.size > 0) this.insertBlocks([...missing].sort((a, b) => a - b))
    last = -1
    let at = 0
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number
      const block = Math.floor(number / blockSize)
      if (block !== last) at = this.placeOf(block)
      last = block
      this.put(at, number)
    }
  }

  /** Adds a number to its block. False if it is there already. */
  private put(at: number, number: number): boolean {
    const word = at * blockWords + ((number % blockSize) >> 5)
    const before = this.words[word] as number
    const after = before | (1 << (number & 31))
    if (after === before) return false
    this.words[word] = after
    if ((this.counts[at] as number)++ === 0) this.empty--
    this.count++
    return true
  }

  /** Removes a number. False if it is not in the set. */
  remove(number: number): boolean {
    const block = Math.floor(number / blockSize)
    const at = this.placeOf(block)
    if (this.blocks[at] !== block) return false
    const word = at * blockWords + ((number % blockSize) >> 5)
    const before = this.words[word] as number
    const after = before & ~(1 << (number & 31))
    if (after === before) return false
    this.words[word] = after
    this.count--
    if (--(this.counts[at] as number) === 0) this.emptied()
    return true
  }

  has(number: number): boolean {
    const block = Math.floor(number / blockSize)
    const at = this.placeOf(block)
    return this.blocks[at] === block && ((this.words[at * blockWords + ((number % blockSize) >> 5)] as number) & (1 << (number & 31))) !== 0
  }

  /** The least number that is at least `number`; `undefined` if there is none. */
  from(number: number): number | undefined {
    const block = Math.floor(number / blockSize)
    let at = this.placeOf(block)
    let bit = this.blocks[at] === block ? number % blockSize : 0
    for (; at < this.blocks.length; at++, bit = 0) {
      if (this.counts[at] === 0) continue
      const found = this.bitFrom(at, bit)
      if (found !== undefined) return (this.blocks[at] as number) * blockSize + found
    }
    return undefined
  }

  *[Symbol.iterator](): IterableIterator<number> {
    for (let next = this.from(0); next !== undefined; next = this.from(next + 1)) yield next
  }

  /** The first set bit of a block, from `bit` on. */
  private bitFrom(at: number, bit: number): number | undefined {
    const first = at * blockWords
    let word = bit >> 5
    // Clears the bits below `bit`.
    let rest = (this.words[first + word] as number) & (-1 << (bit & 31))
    while (rest === 0 && ++word < blockWords) rest = this.words[first + word] as number
    return rest === 0 ? undefined : word * 32 + (31 - Math.clz32(rest & -rest))
  }

  /** The index of this block, or where it would be inserted. */
  private placeOf(block: number): number {
    const { blocks } = this
    // The index if no block is missing.
    const straight = block - (blocks[0] ?? 0)
    if (blocks[straight] === block) return straight
    let low = 0
    let high = blocks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((blocks[middle] as number) < block) low = middle + 1
      else high = middle
    }
    return low
  }

  private insertBlock(at: number, block: number): void {
    const end = this.blocks.length * blockWords
    this.makeRoom(end + blockWords)
    this.empty++
    // Most blocks are added at the end.
    if (at === this.blocks.length) {
      this.blocks.push(block)
      this.counts.push(0)
      return
    }
    const first = at * blockWords
    this.words.copyWithin(first + blockWords, first, end)
    this.words.fill(0, first, first + blockWords)
    this.blocks.splice(at, 0, block)
    this.counts.splice(at, 0, 0)
  }

  /** Inserts empty blocks with these numbers, which are in order. There must be none of them yet. */
  private insertBlocks(more: ReadonlyArray<number>): void {
    const { blocks, counts } = this
    let from = blocks.length - 1
    for (const block of more) {
      blocks.push(block)
      counts.push(0)
    }
    this.makeRoom(blocks.length * blockWords)
    const { words } = this
    // From the end, so that no block is overwritten before it has moved.
    for (let to = blocks.length - 1, next = more.length - 1; next >= 0; to--) {
      const block = more[next] as number
      if (from >= 0 && (blocks[from] as number) > block) {
        blocks[to] = blocks[from] as number
        counts[to] = counts[from] as number
        words.copyWithin(to * blockWords, from * blockWords, (from + 1) * blockWords)
        from--
      } else {
        blocks[to] = block
        counts[to] = 0
        words.fill(0, to * blockWords, (to + 1) * blockWords)
        next--
      }
    }
    this.empty += more.length
  }

  private makeRoom(length: number): void {
    const { words } = this
    if (length <= words.length) return
    this.words = new Int32Array(Math.max(length, 2 * words.length))
    this.words.set(words)
  }

  /** Called when a block has become empty. Empty blocks are removed together, because each removal moves the blocks after it. */
  private emptied(): void {
    const { blocks, counts, words } = this
    if (++this.empty <= emptyMax || this.empty * 2 <= blocks.length) return
    let kept = 0
    for (let at = 0; at < blocks.length; at++) {
      if (counts[at] === 0) continue
      blocks[kept] = blocks[at] as number
      counts[kept] = counts[at] as number
      words.copyWithin(kept * blockWords, at * blockWords, (at + 1) * blockWords)
      kept++
    }
    words.fill(0, kept * blockWords, blocks.length * blockWords)
    blocks.length = kept
    counts.length = kept
    this.empty = 0
  }
}
/** Shared by sets that never had a number: a queue has hundreds of them. */
const noWords = new Int32Array(0)
