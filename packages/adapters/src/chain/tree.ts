/**
 * The Merkle tree over all events of a log, as in RFC 9162 (section 2.1). Its leaves are the leaf hashes of `leaf.ts`, in order. Only the hashes of
 * its complete subtrees are stored. There are as many as the number of leaves has ones in binary.
 */
import crypto from 'node:crypto'

const interiorPrefix = Buffer.of(1)

const digestBytes = 32

/** SHA-256 of bytes, as base64url. Node makes a text of a digest in a third of the time that a buffer takes. */
const sha256: (bytes: Buffer) => string =
  // Node 20.12 and later.
  typeof crypto.hash === 'function' ? (bytes) => crypto.hash('sha256', bytes, 'base64url') : (bytes) => crypto.createHash('sha256').update(bytes).digest('base64url')

/** The prefix, and room for two hashes. */
const pair = Buffer.concat([interiorPrefix, Buffer.alloc(2 * digestBytes)])

/** The hash of two hashes in base64url. They must have the full length, because the buffer still has the previous ones. */
const interiorText = (left: string, right: string): string => {
  pair.write(left, 1, 'base64url')
  pair.write(right, 1 + digestBytes, 'base64url')
  return sha256(pair)
}

const textOf = (hash: Uint8Array): string => Buffer.from(hash).toString('base64url')
const bytesOf = (hash: string): Buffer => Buffer.from(hash, 'base64url')

/** The hash of two hashes from outside, which may have the wrong length. */
export const interior = (left: Uint8Array, right: Uint8Array): Buffer => bytesOf(sha256(Buffer.concat([interiorPrefix, left, right])))

/** A tree that grows leaf by leaf. */
export class Tree {
  /** Hashes of the complete subtrees, from the largest to the smallest, as base64url. */
  private readonly hashes: Array<string>

  constructor(
    private count = 0,
    hashes: ReadonlyArray<Buffer> = [],
  ) {
    if (hashes.length !== ones(count)) throw new Error(`a tree of ${count} leaves has ${ones(count)} complete subtrees, not ${hashes.length}`)
    if (hashes.some(({ length }) => length !== digestBytes)) throw new Error(`a hash has ${digestBytes} bytes`)
    this.hashes = hashes.map(textOf)
  }

  /** Number of leaves. */
  get size(): number {
    return this.count
  }

  get subtrees(): ReadonlyArray<Buffer> {
    return this.hashes.map(bytesOf)
  }

  /** Adds a leaf, given as base64url. */
  add(leaf: string): void {
    let hash = leaf
    // Each complete subtree of the same size is joined with the new one. Not with `>>`, which has only 32 bits.
    for (let rest = this.count; rest % 2 === 1; rest = (rest - 1) / 2) hash = interiorText(this.hashes.pop() as string, hash)
    this.hashes.push(hash)
    this.count++
  }

  root(): Buffer {
    return bytesOf(this.hashes.length === 0 ? sha256(Buffer.alloc(0)) : this.hashes.reduceRight((right, left) => interiorText(left, right)))
  }
}

const ones = (count: number): number => count.toString(2).replaceAll('0', '').length

/** The leaves of a subtree: from `from` to before `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** The largest power of two below `count`. */
const split = (count: number): number => 2 ** (Math.ceil(Math.log2(count)) - 1)

/** The subtrees whose roots prove that a leaf is in a tree of this size (RFC 9162, 2.1.3.1). */
export const inclusionRanges = (index: number, size: number): ReadonlyArray<Range> => {
  const path = (from: number, to: number): ReadonlyArray<Range> => {
    if (to - from <= 1) return []
    const middle = from + split(to - from)
    return index < middle ? [...path(from, middle), { from: middle, to }] : [...path(middle, to), { from, to: middle }]
  }
  return path(0, size)
}

/** The subtrees whose roots prove that the tree of size `older` is the beginning of the tree of size `newer` (RFC 9162, 2.1.4.1). */
export const consistencyRanges = (older: number, newer: number): ReadonlyArray<Range> => {
  const path = (from: number, to: number, isWhole: boolean): ReadonlyArray<Range> => {
    if (older === to) return isWhole ? [] : [{ from, to }]
    const middle = from + split(to - from)
    return older <= middle ? [...path(from, middle, isWhole), { from: middle, to }] : [...path(middle, to, false), { from, to: middle }]
  }
  return older === 0 ? [] : path(0, newer, true)
}

/** Computes the roots of subtrees that do not overlap, from all leaves in order. */
export class RangeRoots {
  private readonly order: ReadonlyArray<Range>
  private readonly trees = new Map<Range, Tree>()
  private at = 0
  private next = 0

  constructor(private readonly ranges: ReadonlyArray<Range>) {
    this.order = [...ranges].sort((a, b) => a.from - b.from)
    for (const range of ranges) this.trees.set(range, new Tree())
  }

  /** Adds a leaf, given as base64url. */
  add(leaf: string): void {
    const range = this.order[this.next]
    if (range !== undefined && this.at >= range.from) {
      this.trees.get(range)?.add(leaf)
      if (this.at + 1 === range.to) this.next++
    }
    this.at++
  }

  /** The roots in the order of the ranges. */
  roots(): ReadonlyArray<Buffer> {
    return this.ranges.map((range) => (this.trees.get(range) as Tree).root())
  }
}

/** Joins the hashes of a proof, each from its side, on the way from a place to the root. `false` if they do not end there. */
const climb = (from: number, end: number, proof: ReadonlyArray<Buffer>, join: (each: Buffer, isLeft: boolean) => void): boolean => {
  let [first, last] = [from, end]
  for (const each of proof) {
    if (last === 0) return false
    const isLeft = first % 2 === 1 || first === last
    join(each, isLeft)
    while (isLeft && first % 2 === 0 && first !== 0) [first, last] = [half(first), half(last)]
    ;[first, last] = [half(first), half(last)]
  }
  return last === 0
}

/** RFC 9162, 2.1.3.2. */
export const verifyInclusion = (leaf: Buffer, index: number, size: number, proof: ReadonlyArray<Buffer>, root: Buffer): boolean => {
  let hash = leaf
  const isWhole = index < size && climb(index, size - 1, proof, (each, isLeft) => (hash = isLeft ? interior(each, hash) : interior(hash, each)))
  return isWhole && hash.equals(root)
}

/** RFC 9162, 2.1.4.2. A tree without leaves is the beginning of every tree. */
export const verifyConsistency = (older: number, newer: number, proof: ReadonlyArray<Buffer>, olderRoot: Buffer, newerRoot: Buffer): boolean => {
  if (older > newer) return false
  if (older === newer) return proof.length === 0 && olderRoot.equals(newerRoot)
  if (older === 0) return proof.length === 0
  const path = Number.isInteger(Math.log2(older)) ? [olderRoot, ...proof] : [...proof]
  let [first, last] = [older - 1, newer - 1]
  while (first % 2 === 1) [first, last] = [half(first), half(last)]
  const [begin, ...rest] = path
  if (begin === undefined) return false
  let [olderHash, newerHash] = [begin, begin]
  const isWhole = climb(first, last, rest, (each, isLeft) => {
    if (isLeft) olderHash = interior(each, olderHash)
    newerHash = isLeft ? interior(each, newerHash) : interior(newerHash, each)
  })
  return isWhole && olderHash.equals(olderRoot) && newerHash.equals(newerRoot)
}

const half = (value: number): number => Math.floor(value / 2)
