/**
 * The rows of tasks by their numbers: four bytes for each task, and one bit for each number in between. A number that is far from all others costs
 * some hundred bytes.
 */

const blockWords = 16
const blockSize = blockWords * 32
const rowsMin = 4
/** The largest number of open blocks: 8 MiB. */
const openMax = 4_096

/** The rows of the numbers from `block * blockSize` on, in the order of the numbers. */
class Block {
  readonly words = new Int32Array(blockWords)
  rows: Uint32Array<ArrayBuffer>
  count = 0

  /** While it is open, it has a slot for the row of each number, and only {@link put} may be called. */
  constructor(
    readonly block: number,
    private isOpen = false,
  ) {
    this.rows = new Uint32Array(isOpen ? blockSize : rowsMin)
  }

  /** Adds a row; the numbers may come in any order. */
  put(bit: number, row: number): void {
    if (!this.isOpen) return this.add(bit, row)
    this.rows[bit] = row
    this.mark(bit)
  }

  close(): void {
    if (!this.isOpen) return
    this.isOpen = false
    if (this.count === blockSize) return
    const rows = new Uint32Array(Math.max(rowsMin, 2 ** Math.ceil(Math.log2(this.count))))
    let to = 0
    for (let bit = this.from(0); bit !== undefined; bit = bit + 1 < blockSize ? this.from(bit + 1) : undefined) rows[to++] = this.rows[bit] as number
    this.rows = rows
  }

  has(bit: number): boolean {
    return ((this.words[bit >> 5] as number) & (1 << (bit & 31))) !== 0
  }

  /** How many numbers in the block are lower than this one. */
  rankOf(bit: number): number {
    if (this.count === blockSize) return bit
    const word = bit >> 5
    let rank = 0
    for (let i = 0; i < word; i++) rank += ones(this.words[i] as number)
    return rank + ones((this.words[word] as number) & ~(-1 << (bit & 31)))
  }

  add(bit: number, row: number): void {
    if (this.count === this.rows.length) {
      const rows = new Uint32Array(this.rows.length * 2)
      rows.set(this.rows)
      this.rows = rows
    }
    const rank = this.rankOf(bit)
    if (rank < this.count) this.rows.copyWithin(rank + 1, rank, this.count)
    this.rows[rank] = row
    this.mark(bit)
  }

  private mark(bit: number): void {
    this.words[bit >> 5] = (this.words[bit >> 5] as number) | (1 << (bit & 31))
    this.count++
  }

  remove(bit: number): void {
    const rank = this.rankOf(bit)
    this.rows.copyWithin(rank, rank + 1, this.count)
    this.words[bit >> 5] = (this.words[bit >> 5] as number) & ~(1 << (bit & 31))
    this.count--
    if (this.rows.length > rowsMin && this.count * 4 <= this.rows.length) this.rows = this.rows.slice(0, this.rows.length / 2)
  }

  /** The bit of the first number from this one on. */
  from(bit: number): number | undefined {
    let word = bit >> 5
    let rest = (this.words[word] as number) & (-1 << (bit & 31))
    while (rest === 0 && ++word < blockWords) rest = this.words[word] as number
    return rest === 0 ? undefined : word * 32 + (31 - Math.clz32(rest & -rest))
  }
}

const ones = (word: number): number => {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

export class NumberRows {
  /** The blocks that have numbers, in order. */
  private readonly blocks: Array<Block> = []
  /** The open blocks. Every other call closes them first. */
  private open: Array<Block> = []
  /** The block of the last row that was added by {@link addLater}, if no other call came since. */
  private last: Block | undefined
  private count = 0

  get size(): number {
    return this.count
  }

  /** Size of its arrays in bytes. */
  get bytes(): number {
    this.closeAll()
    return this.blocks.reduce((sum, { rows, words }) => sum + rows.byteLength + words.byteLength, 0)
  }

  get(number: number): number | undefined {
    this.closeAll()
    const block = this.blockOf(number)
    const bit = number % blockSize
    return block?.has(bit) === true ? block.rows[block.rankOf(bit)] : undefined
  }

  /** Adds a number that is not there yet. */
  add(number: number, row: number): void {
    this.closeAll()
    this.blockFor(number, false).add(number % blockSize, row)
    this.count++
  }

  /** The same for one of very many rows. Tasks finish in about the order of their numbers, so most rows find their block open. */
  addLater(number: number, row: number): void {
    const id = Math.floor(number / blockSize)
    const block = this.last?.block === id ? this.last : (this.last = this.blockFor(number, true))
    block.put(number % blockSize, row)
    this.count++
  }

  remove(number: number): void {
    this.closeAll()
    const block = this.blockOf(number)
    if (block?.has(number % blockSize) !== true) return
    block.remove(number % blockSize)
    this.count--
    if (block.count === 0) this.blocks.splice(this.placeOf(block.block), 1)
  }

  /** The least number that is at least `number`; `undefined` if there is none. */
  from(number: number): number | undefined {
    this.closeAll()
    const id = Math.floor(number / blockSize)
    const at = this.placeOf(id)
    const block = this.blocks[at]
    if (block === undefined) return undefined
    const bit = block.from(block.block === id ? number % blockSize : 0)
    if (bit !== undefined) return block.block * blockSize + bit
    const next = this.blocks[at + 1]
    return next === undefined ? undefined : next.block * blockSize + (next.from(0) as number)
  }

  private closeAll(): void {
    this.last = undefined
    if (this.open.length === 0) return
    for (const block of this.open) block.close()
    this.open = []
  }

  /** The block of this id, made if it does not exist. */
  private blockFor(number: number, isOpen: boolean): Block {
    const id = Math.floor(number / blockSize)
    const at = this.placeOf(id)
    const found = this.blocks[at]
    if (found?.block === id) return found
    const block = new Block(id, isOpen)
    this.blocks.splice(at, 0, block)
    if (!isOpen) return block
    if (this.open.length === openMax) this.closeAll()
    this.open.push(block)
    return block
  }

  private blockOf(number: number): Block | undefined {
    const id = Math.floor(number / blockSize)
    const block = this.blocks[this.placeOf(id)]
    return block?.block === id ? block : undefined
  }

  /** The index of this block, or where it would be inserted. */
  private placeOf(id: number): number {
    const { blocks } = this
    // The index if no block is missing. Most blocks are added at the end.
    const straight = id - (blocks[0]?.block ?? 0)
    if (blocks[straight]?.block === id) return straight
    if (blocks.length > 0 && id > (blocks[blocks.length - 1] as Block).block) return blocks.length
    let low = 0
    let high = blocks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((blocks[middle] as Block).block < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
