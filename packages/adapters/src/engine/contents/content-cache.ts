/**
 * Contents of tasks that were enqueued but not claimed yet, so that a claim need not read them from the log.
 *
 * They are in chunks of ascending revisions, found by binary search. The last chunk is open and holds strings: a queue with a steady backlog mostly
 * claims from it. A full chunk is packed into bytes outside the JavaScript heap. As strings, the contents of a million tasks would make each garbage
 * collection longer.
 *
 * The cache is bounded. When it is full, it evicts the packed chunk from which most was taken; of several, the newest, because tasks that were
 * enqueued first are mostly claimed first. Evicted contents are read from the log.
 */
export class ContentCache {
  /** In ascending order of their revisions. Only the last chunk may be open. */
  private readonly chunks: Array<Chunk> = []
  /** Size of all chunks. */
  private bytes = 0
  private characters = 0

  constructor(private readonly bytesMax: number) {}

  /** Characters of the contents in the cache. Cost: O(1), because the engine's status has it, and each request asks for that. */
  get size(): number {
    return this.characters
  }

  /** Adds a content, which is never empty. Revisions ascend, except after a rollback: then contents from this revision on are dropped. */
  put(revision: number, text: string): void {
    this.cutFrom(revision)
    if (text.length > this.bytesMax) return
    const last = this.chunks.at(-1)
    if (last !== undefined && last.bytes >= chunkBytes) this.bytes += last.pack()
    while (this.bytes + text.length > this.bytesMax) this.giveUp(this.leastLeft())
    this.bytes += text.length
    this.characters += text.length
    this.open().put(revision, text)
  }

  /** Removes the content and returns it. */
  take(revision: number): string | undefined {
    const at = this.chunkOf(revision)
    const chunk = this.chunks[at]
    const text = chunk?.take(revision)
    this.characters -= text?.length ?? 0
    if (chunk?.left === 0) this.giveUp(at)
    return text
  }

  drop(revision: number): void {
    this.take(revision)
  }

  private open(): Chunk {
    const last = this.chunks.at(-1)
    if (last?.isOpen === true) return last
    const chunk = new Chunk()
    this.chunks.push(chunk)
    return chunk
  }

  private cutFrom(revision: number): void {
    for (let last = this.chunks.at(-1); last !== undefined && last.lastRevision >= revision; last = this.chunks.at(-1)) {
      const before = last.size
      last.cutFrom(revision)
      this.characters -= before - last.size
      if (last.left > 0) return
      this.giveUp(this.chunks.length - 1)
    }
  }

  /** The index of the chunk with the least left. The open chunk only if there is no other: it is too small to make room for many contents. */
  private leastLeft(): number {
    let least = 0
    this.chunks.forEach(({ isOpen, share }, at) => {
      if (!isOpen && share <= this.chunks[least]!.share) least = at
    })
    return least
  }

  private giveUp(at: number): void {
    for (const gone of this.chunks.splice(at, 1)) {
      this.bytes -= gone.bytes
      this.characters -= gone.size
    }
  }

  /** The last chunk that begins at or before this revision. */
  private chunkOf(revision: number): number {
    let low = 0
    let high = this.chunks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.chunks[middle]!.firstRevision <= revision) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/** A chunk of this size is packed. */
const chunkBytes = 2 ** 16

class Chunk {
  private revisions: Array<number> = []
  /** Lengths of the contents in characters; 0 for a content that was taken. */
  private lengths: Array<number> = []
  /** Used while the chunk is open. */
  private texts: Array<string> = []
  /** Used when the chunk is packed: one or two bytes for each character, and where each content begins, in characters. */
  private packed: { readonly buffer: Buffer; readonly width: 1 | 2; readonly starts: ReadonlyArray<number> } | undefined
  /** Number of contents that were not taken. */
  left = 0
  /** Characters of these. */
  size = 0
  /** V8 stores a string with one byte per character if it can, otherwise with two. The common case is assumed while the chunk is open. */
  bytes = 0

  get isOpen(): boolean {
    return this.packed === undefined
  }

  get firstRevision(): number {
    return this.revisions[0]!
  }

  get lastRevision(): number {
    return this.revisions.at(-1)!
  }

  /** The share of the contents that was not taken, from 0 to 1. */
  get share(): number {
    return this.left / this.revisions.length
  }

  put(revision: number, text: string): void {
    this.revisions.push(revision)
    this.lengths.push(text.length)
    this.texts.push(text)
    this.bytes += text.length
    this.left++
    this.size += text.length
  }

  take(revision: number): string | undefined {
    const at = firstNotBelow(this.revisions, revision)
    const length = this.lengths[at]
    if (this.revisions[at] !== revision || length === undefined || length === 0) return undefined
    this.lengths[at] = 0
    this.left--
    this.size -= length
    if (this.packed !== undefined) {
      const { buffer, width, starts } = this.packed
      const start = starts[at]! * width
      return buffer.toString(width === 1 ? 'latin1' : 'utf16le', start, start + length * width)
    }
    const text = this.texts[at]!
    this.texts[at] = ''
    return text
  }

  cutFrom(revision: number): void {
    while (this.revisions.length > 0 && this.lastRevision >= revision) {
      const length = this.lengths.pop() ?? 0
      if (length > 0) this.left--
      this.size -= length
      this.revisions.pop()
      this.texts.pop()
    }
  }

  /** Packs the contents that were not taken into bytes. Returns by how many bytes the chunk has grown. */
  pack(): number {
    if (!this.isOpen) return 0
    const before = this.bytes
    const kept = (_: unknown, at: number): boolean => this.lengths[at]! > 0
    this.revisions = this.revisions.filter(kept)
    this.lengths = this.lengths.filter(kept)
    const text = this.texts.join('')
    // If UTF-8 takes one byte for each character, so does Latin-1. UTF-16 keeps any string unchanged.
    const width = Buffer.byteLength(text) === text.length ? 1 : 2
    const buffer = Buffer.allocUnsafeSlow(text.length * width)
    buffer.write(text, width === 1 ? 'latin1' : 'utf16le')
    let end = 0
    this.packed = { buffer, width, starts: this.lengths.map((length) => (end += length) - length) }
    this.texts = []
    this.bytes = buffer.length
    return this.bytes - before
  }
}

const firstNotBelow = (numbers: ReadonlyArray<number>, number: number): number => {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < number) low = middle + 1
    else high = middle
  }
  return low
}
