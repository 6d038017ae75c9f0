import { contentOf, type QueueView } from '../../engine/index.js'

/** The largest number of characters of contents that are kept from one generation of the files to the next. */
const charsMax = 16 * 2 ** 20
/** Number of contents that are read at a time. */
const askMax = 500

/** Keeps contents of tasks from one generation to the next: contents never change, so they need not be read again. */
export class ContentMemory {
  private before: ReadonlyMap<number, string> = new Map()
  private shown = new Map<number, string>()
  private chars = 0

  /** `read`: the data of events as they are in the log. Texts that are encrypted there must not be in a file beside it. */
  constructor(private readonly read: QueueView['contents']) {}

  /** Begins a generation. Contents of the previous one are reused, up to the limit. */
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
