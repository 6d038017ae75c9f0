/** The chain of a log as its writer knows it: what the next append has to seal. */
import crypto, { type Hash } from 'node:crypto'
import type { EventToAppend, RecordedEvent } from '../store/index.js'
import { leafOf, leafToAppend } from './leaf.js'
import { marksOf, readSeal, sealHash, withSeal } from './seal.js'

/** The last seal of a log. */
export interface ChainHead {
  /** Of the event that has it. */
  readonly revision: number
  readonly hash: string
}

/** A point to go back to. */
export interface ChainMark {
  readonly head: ChainHead | undefined
  readonly open: Hash | undefined
}

export class Chain {
  /** What the next seal hashes, if events without a seal come after the head: servers before this version wrote them. */
  private open: Hash | undefined

  /** `head`: the last seal of the log, `undefined` for a log without one, whose chain begins with the next append. */
  constructor(
    private readonly stream: string,
    private last: ChainHead | undefined,
  ) {}

  get head(): ChainHead | undefined {
    return this.last
  }

  /** Valid as long as nothing is taken up, which happens only with nothing in flight. */
  mark(): ChainMark {
    return { head: this.last, open: this.open }
  }

  rollback({ head, open }: ChainMark): void {
    this.last = head
    this.open = open
  }

  /** Seals the events of an append after this revision: the last one gets the seal. */
  seal(texts: Array<EventToAppend>, expected: number): void {
    const leaves = texts.map((text, index) => leafToAppend(this.stream, expected + 1 + index, text))
    const to = expected + texts.length
    const from = this.last === undefined ? expected + 1 : this.last.revision + 1
    const joined = leaves.join('\n')
    const hash = this.open === undefined ? sealHash(this.last?.hash ?? '', joined, leaves.length) : this.open.copy().update(`\n${joined}\n${leaves.length}`).digest('base64url')
    const end = texts.length - 1
    const text = texts[end]
    if (text === undefined) return
    texts[end] = { ...text, metadata: withSeal(text.metadata, { from, to, hash, leaves: marksOf(leaves) }) }
    this.last = { revision: to, hash }
    this.open = undefined
  }

  /** Goes on with events that others appended, or that are read at the start. */
  take(events: ReadonlyArray<RecordedEvent>): void {
    const sealed = lastSealIn(events)
    if (sealed !== undefined) {
      this.last = sealed
      this.open = undefined
    }
    // What comes before the first seal is not part of the chain.
    if (this.last === undefined) return
    for (const { revision, id, type, metadata, data } of events) {
      if (revision <= this.last.revision) continue
      this.open ??= crypto.createHash('sha256').update(this.last.hash)
      this.open.update(`\n${leafOf(this.stream, revision, id, type, metadata, data)}`)
    }
  }
}

/** The last seal in a page, and where it is. */
export const lastSealIn = (events: ReadonlyArray<RecordedEvent>): ChainHead | undefined => {
  for (let index = events.length - 1; index >= 0; index--) {
    const { metadata, revision } = events[index] as RecordedEvent
    const hash = readSeal(metadata)?.seal.hash
    if (hash !== undefined) return { revision, hash }
  }
  return undefined
}
