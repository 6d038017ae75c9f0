import { contentOf, type QueueView } from '../engine/index.js'

/** Characters of contents kept from one generation of the files to the next. */
const charsMax = 16 * 2 ** 20
/** Contents asked for at a time. */
const askMax = 500

/** Keeps contents of tasks from one generation to the next: they never change, so they need not be read again. */
export class ContentMemory {
  private before: ReadonlyMap<number, string> = new Map()
  private shown = new Map<number, string>()
  private chars = 0

  /** `read`: the data of events, as it is in the log. What is encrypted there must not be in a file beside it. */
  constructor(private readonly read: QueueView['contents']) {}

  /** Begins a generation. Contents of the one before are at hand, up to the limit. */
  begin(): void {
    this.before = this.shown
    this.shown = new Map()
    this.chars = 0
  }

  /** The contents at these revisions. */
  async get(revisions: ReadonlyArray<number>): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>()
    const missing: Array<number> = []
    for (const revision of revisions) {
      const text = this.before.get(revision)
      if (text === undefined) missing.push(revision)
      else found.set(revision, text)
    }
    for (let at = 0; at < missing.length; at += askMax) {
      const part = missing.slice(at, at + askMax)
      const datas = await this.read(part)
      part.forEach((revision, i) => {
        const data = datas[i]
        const text = data === undefined ? undefined : contentOf(data)
        if (text !== undefined) found.set(revision, text)
      })
    }
    for (const [revision, text] of found) this.keep(revision, text)
    return found
  }

  private keep(revision: number, text: string): void {
    if (this.chars + text.length > charsMax) return
    this.chars += text.length
    this.shown.set(revision, text)
  }
}
