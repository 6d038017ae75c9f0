import { contentOf, type QueueEngine } from '../engine/index.js'

/** Characters of contents kept from one generation of the files to the next. */
const charsMax = 16 * 2 ** 20
/** Contents asked for at a time. */
const askMax = 500

/** Contents never change: those that the last generation showed need not be read again for the next. */
export class ContentMemory {
  private texts = new Map<number, string>()

  constructor(private readonly engine: QueueEngine) {}

  /** The contents at these revisions. */
  async get(revisions: ReadonlyArray<number>): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>()
    const missing: Array<number> = []
    for (const revision of revisions) {
      const text = this.texts.get(revision)
      if (text === undefined) missing.push(revision)
      else found.set(revision, text)
    }
    for (let at = 0; at < missing.length; at += askMax) {
      const part = missing.slice(at, at + askMax)
      const datas = await this.engine.contents(part)
      part.forEach((revision, i) => {
        const data = datas[i]
        const text = data === undefined ? undefined : contentOf(data)
        if (text !== undefined) found.set(revision, text)
      })
    }
    this.keep(found)
    return found
  }

  private keep(found: ReadonlyMap<number, string>): void {
    this.texts = new Map()
    let chars = 0
    for (const [revision, text] of found) {
      chars += text.length
      if (chars > charsMax) return
      this.texts.set(revision, text)
    }
  }
}
