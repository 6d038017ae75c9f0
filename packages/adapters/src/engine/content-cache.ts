/**
 * Contents of tasks that were enqueued but not claimed yet, so that a claim need not read them from the log.
 *
 * They are in chunks of ascending revisions, found by binary search. The last chunk, which is open, has strings: most of a queue
 * that is level are claimed from there. A chunk that is full is packed into bytes outside the heap of JavaScript: as strings, the
 * contents of a million tasks would make each garbage collection longer.
 *
 * Bounded. When the cache is full, the packed chunk of which the most was taken is given up, the newest of several, because
 * tasks that were enqueued first are mostly claimed first. What was given up is read from the log.
 */
export class ContentCache {
  /** In ascending order of their revisions. Only the last one may be open. */
  private readonly chunks: Array<Chunk> = []
  /** Of all chunks. */
  private bytes = 0

  constructor(private readonly bytesMax: number) {}

  /** Characters of the contents in the cache. */
  get size(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.size, 0)
  }

  /** A content is never empty. Revisions ascend, except after a rollback: then what was there from this revision on is gone. */
  put(revision: number, text: string): void {
    this.cutFrom(revision)
    if (text.length > this.bytesMax) return
    const last = this.chunks.at(-1)
    if (last !== undefined && last.bytes >= chunkBytes) this.bytes += last.pack()
    while (this.bytes + text.length > this.bytesMax) this.giveUp(this.leastLeft())
    this.bytes += text.length
    this.open().put(revision, text)
  }

  /** Removes the content and returns it. */
  take(revision: number): string | undefined {
    const at = this.chunkOf(revision)
    const chunk = this.chunks[at]
    const text = chunk?.take(revision)
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
      last.cutFrom(revision)
      if (last.left > 0) return
      this.giveUp(this.chunks.length - 1)
    }
  }

  /** The open chunk only if there is no other: it has too little to make room for many contents. */
  private leastLeft(): number {
    let least = 0
    this.chunks.forEach(({ isOpen, share }, at) => {
      if (!isOpen && share <= this.chunks[least]!.share) least = at
    })
    return least
  }

  private giveUp(at: number): void {
    for (const gone of this.chunks.splice(at, 1)) this.bytes -= gone.bytes
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

/** At which a chunk is packed. */
const chunkBytes = 2 ** 16

class Chunk {
  private revisions: Array<number> = []
  /** Of the contents, in characters; 0 for one that was taken. */
  private lengths: Array<number> = []
  /** While the chunk is open. */
  private texts: Array<string> = []
  /** When it is packed: one or two bytes for each character, and where each content begins, in characters. */
  private packed: { readonly buffer: Buffer; readonly width: 1 | 2; readonly starts: ReadonlyArray<number> } | undefined
  /** Contents that were not taken. */
  left = 0
  /** V8 stores a string with one byte per character if it can, otherwise two. The common case is assumed while the chunk is open. */
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

  get size(): number {
    return this.lengths.reduce((sum, length) => sum + length, 0)
  }

  /** What is left of the contents, from 0 to 1. */
  get share(): number {
    return this.left / this.revisions.length
  }

  put(revision: number, text: string): void {
    this.revisions.push(revision)
    this.lengths.push(text.length)
    this.texts.push(text)
    this.bytes += text.length
    this.left++
  }

  take(revision: number): string | undefined {
    const at = firstNotBelow(this.revisions, revision)
    const length = this.lengths[at]
    if (this.revisions[at] !== revision || length === undefined || length === 0) return undefined
    this.lengths[at] = 0
    this.left--
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
      if (this.lengths.pop() !== 0) this.left--
      this.revisions.pop()
      this.texts.pop()
    }
  }

  /** What was not taken becomes bytes. Returns by how many bytes the chunk has grown. */
  pack(): number {
    if (!this.isOpen) return 0
    const before = this.bytes
    const kept = (_: unknown, at: number): boolean => this.lengths[at]! > 0
    this.revisions = this.revisions.filter(kept)
    this.lengths = this.lengths.filter(kept)
    const text = this.texts.join('')
    // If UTF-8 takes one byte for each character, so does Latin-1. UTF-16 keeps any string as it is.
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
