/**
 * Contents of tasks that were enqueued but not claimed yet, so that a claim need not read them from the
 * log. Bounded in bytes: when the cache is full, new contents are only in the log, because tasks that
 * were enqueued first are mostly claimed first.
 */
export class ContentCache {
  private readonly texts = new Map<number, string>()
  private bytes = 0

  constructor(private readonly bytesMax: number) {}

  /** Characters in the cache. */
  get size(): number {
    return this.bytes
  }

  put(revision: number, text: string): void {
    this.drop(revision)
    // V8 stores a string with one byte per character if it can, otherwise two. The common case is assumed.
    if (this.bytes + text.length > this.bytesMax) return
    this.texts.set(revision, text)
    this.bytes += text.length
  }

  /** Removes the content and returns it. */
  take(revision: number): string | undefined {
    const text = this.texts.get(revision)
    if (text === undefined) return undefined
    this.texts.delete(revision)
    this.bytes -= text.length
    return text
  }

  drop(revision: number): void {
    this.take(revision)
  }
}
