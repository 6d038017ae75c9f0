/** Logs with a chain, made by hand, and what an attacker does to them. */
import { Chain, readSeal, sealed as sealedAppend, withSeal } from '@daybook/adapters/seals'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore, EventToAppend, RecordedEvent } from '@daybook/adapters/store'

export const stream = 'taskqueue-q'

export interface Append {
  readonly count: number
  /** Without: by a server that knows no seals. */
  readonly sealed: boolean
}

let serial = 0
export const someEvent = (text = 'x'): EventToAppend => {
  serial++
  return {
    id: `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`,
    type: serial % 3 === 0 ? 'Claimed' : 'TaskEnqueued',
    data: JSON.stringify({ task: `t${serial}`, text }),
    metadata: `{"schemaVersion":1,"at":"2026-01-01T00:00:00.000Z","actor":"ann"${serial % 2 === 0 ? '' : `,"prev":${serial}`}}`,
  }
}

export const recorded = (event: EventToAppend, revision: number): RecordedEvent => ({ ...event, stream, revision, position: revision + 1, created: '2026-01-01T00:00:00.000Z' })

/** Seals the texts of an append after this revision, and goes on. */
export const sealNext = (chain: Chain, texts: Array<EventToAppend>, expected: number, of = stream): void => {
  const { events, head } = sealedAppend(of, texts, expected < 0 ? 'no_stream' : expected, chain.end)
  texts[texts.length - 1] = events[events.length - 1] as EventToAppend
  chain.advance(head)
}

export const logOfAppends = (appends: ReadonlyArray<Append>): Array<RecordedEvent> => {
  const chain = new Chain(stream, undefined)
  const log: Array<RecordedEvent> = []
  for (const { count, sealed } of appends) {
    const texts = Array.from({ length: count }, (_, i) => someEvent('é\n'.repeat(i % 3)))
    if (sealed) sealNext(chain, texts, log.length - 1)
    const events = texts.map((text, i) => recorded(text, log.length + i))
    if (!sealed) chain.take(events)
    log.push(...events)
  }
  return log
}

/** With revisions that have no gaps. */
export const renumbered = (log: ReadonlyArray<RecordedEvent>): Array<RecordedEvent> => log.map((event, index) => ({ ...event, revision: index, position: index + 1 }))

export const isSealed = ({ metadata }: RecordedEvent): boolean => readSeal(metadata) !== undefined

/** The log with an event altered, and the seals that cover it and the events up to `through` made anew, so that they fit. */
export const resigned = (log: ReadonlyArray<RecordedEvent>, at: number, through = at): Array<RecordedEvent> => {
  const changed = log.map((event, index) => (index === at ? { ...event, data: `${event.data.slice(0, -1)},"more":1}` } : event))
  const chain = new Chain(stream, undefined)
  for (let from = at; from <= through; ) {
    const end = log.findIndex((event, index) => index >= from && isSealed(event))
    const begin = readSeal((log[end] as RecordedEvent).metadata)!.seal.from
    if (from === at) chain.take(log.slice(0, begin))
    const texts: Array<EventToAppend> = changed.slice(begin, end + 1).map(({ id, type, data, metadata }) => ({ id, type, data, metadata: readSeal(metadata)?.bare ?? metadata }))
    sealNext(chain, texts, begin - 1)
    texts.forEach((text, i) => (changed[begin + i] = recorded(text, begin + i)))
    from = end + 1
  }
  return changed
}

export const withMember = (event: RecordedEvent, member: 'from' | 'to' | 'hash' | 'leaves' | 'fewer'): RecordedEvent => {
  const { seal, bare } = readSeal(event.metadata)!
  const flipped = (text: string): string => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`
  const other = { from: { from: seal.from + 1 }, to: { to: seal.to + 1 }, hash: { hash: flipped(seal.hash) }, leaves: { leaves: flipped(seal.leaves) }, fewer: { leaves: seal.leaves.slice(8) } }[member]
  return { ...event, metadata: withSeal(bare, { ...seal, ...other }) }
}

/** A log with a chain, in a store. */
export const newLog = async (sizes: ReadonlyArray<number>): Promise<{ readonly store: EventStore; readonly grow: (size: number) => Promise<void> }> => {
  const store = openMemoryStore()
  const chain = new Chain(stream, undefined)
  let head = -1
  const grow = async (size: number): Promise<void> => {
    const texts: Array<EventToAppend> = Array.from({ length: size }, () => someEvent())
    sealNext(chain, texts, head)
    await store.append(stream, texts, head < 0 ? 'no_stream' : head)()
    head += size
  }
  for (const size of sizes) await grow(size)
  return { store, grow }
}
