/**
 * Seals appends where a store takes them (EV-07): on the calling thread, for stores without a thread of their own. SQLite's writing thread does the
 * same with columns (`sqlite/seal-batch.ts`).
 */
import * as E from 'fp-ts/lib/Either.js'
import type { ChainEnd, ChainHead, Continues, EventStore, EventToAppend, ExpectedRevision } from '../store/index.js'
import { leafToAppend } from './leaf.js'
import { sealOf, withSeal } from './seal.js'

export interface Sealed {
  readonly events: ReadonlyArray<EventToAppend>
  readonly head: ChainHead
}

/** The events of an append after this revision. The last one has a seal. */
export const sealed = (stream: string, events: ReadonlyArray<EventToAppend>, expected: ExpectedRevision, end: ChainEnd): Sealed => {
  const first = firstRevision(expected)
  const seal = sealOf(events.map((event, index) => leafToAppend(stream, first + index, event)), first + events.length - 1, end)
  const last = events[events.length - 1] as EventToAppend
  return { events: [...events.slice(0, -1), { ...last, metadata: withSeal(last.metadata, seal) }], head: { revision: seal.to, hash: seal.hash } }
}

/** The first revision of an append. */
const firstRevision = (expected: ExpectedRevision): number => {
  if (expected === 'any') throw new Error('An append that is sealed needs its revision.')
  return expected === 'no_stream' ? 0 : expected + 1
}

/** The last seal of each stream that is sealed here. */
export class LastSeals {
  private readonly heads = new Map<string, ChainHead>()

  /** What an append from this revision on continues; `undefined` if the append before it was not sealed here. */
  endBefore(stream: string, first: number, continues: Continues): ChainEnd | undefined {
    if (continues !== 'sent') return continues
    const head = this.heads.get(stream)
    return head?.revision === first - 1 ? { head } : undefined
  }

  add(stream: string, head: ChainHead): void {
    this.heads.set(stream, head)
  }
}

/** Why an append cannot be sealed: the append before it was refused, so this one could not be written either. */
export const unsealable = { _tag: 'Unavailable', reason: 'the append before this one was not written' } as const

/** An `append` that seals in the order of its calls. */
export const sealingHere = (append: EventStore['append']): EventStore['append'] => {
  const seals = new LastSeals()
  return (stream, events, expected, continues) => {
    if (continues === undefined) return append(stream, events, expected)
    const end = seals.endBefore(stream, firstRevision(expected), continues)
    if (end === undefined) return () => Promise.resolve(E.left(unsealable))
    const { events: texts, head } = sealed(stream, events, expected, end)
    seals.add(stream, head)
    const task = append(stream, texts, expected)
    return () => task().then(E.map((appended) => ({ ...appended, seal: head.hash })))
  }
}
