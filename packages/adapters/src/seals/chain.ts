/** The end of a log's chain of hashes, as its writer knows it: what the next append continues. */
import crypto, { type Hash } from 'node:crypto'
import type { ChainEnd, ChainHead, RecordedEvent } from '../store/index.js'
import { leafOf } from './leaf.js'
import { readSeal } from './seal.js'

export class Chain {
  private open: Hash | undefined

  /** `last`: the last seal of the log; `undefined` for a log without seals, whose chain begins with the next append. */
  constructor(
    private readonly stream: string,
    private last: ChainHead | undefined,
  ) {}

  /** The last seal. */
  get head(): ChainHead | undefined {
    return this.last
  }

  /** Valid only until the chain goes on. */
  get end(): ChainEnd {
    return { head: this.last, open: this.open }
  }

  /** Goes on after an append that was sealed. */
  advance(head: ChainHead): void {
    this.last = head
    this.open = undefined
  }

  /** Goes on with events that another process appended, or that are read at the start. */
  take(events: ReadonlyArray<RecordedEvent>): void {
    const sealed = lastSealIn(events)
    if (sealed !== undefined) this.advance(sealed)
    // Events before the first seal are not part of the chain.
    if (this.last === undefined) return
    for (const { revision, id, type, metadata, data } of events) {
      if (revision <= this.last.revision) continue
      this.open ??= crypto.createHash('sha256').update(this.last.hash)
      this.open.update(`\n${leafOf(this.stream, revision, id, type, metadata, data)}`)
    }
  }
}

/** The last seal in a page, and its revision. */
export const lastSealIn = (events: ReadonlyArray<RecordedEvent>): ChainHead | undefined => {
  for (let index = events.length - 1; index >= 0; index--) {
    const { metadata, revision } = events[index] as RecordedEvent
    const hash = readSeal(metadata)?.seal.hash
    if (hash !== undefined) return { revision, hash }
  }
  return undefined
}
