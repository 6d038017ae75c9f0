/**
 * Contents of tasks that were enqueued but not handed out yet, so that a claim need not go back to the
 * log for them. Bounded by bytes: when it is full, new contents stay in the log alone, because those that
 * came first are, on the whole, those that go first.
 */
export class ContentCache {
  private readonly texts = new Map<number, string>()
  private bytes = 0

  constructor(private readonly bytesMax: number) {}

  /** Characters held. */
  get size(): number {
    return this.bytes
  }

  put(revision: number, text: string): void {
    this.drop(revision)
    // V8 keeps a text in one byte a character if it can, else in two; the common case counts.
    if (this.bytes + text.length > this.bytesMax) return
    this.texts.set(revision, text)
    this.bytes += text.length
  }

  /** The content, which is no longer kept then. */
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
