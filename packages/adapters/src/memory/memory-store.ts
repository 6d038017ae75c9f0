import * as E from 'fp-ts/lib/Either.js'
import { sealingHere } from '../seals/sealing.js'
import { appendBytes } from '../store/append-bytes.js'
import { appendSignal } from '../store/append-signal.js'
import { catchUpSubscription } from '../store/catch-up-subscription.js'
import {
  StoreError,
  type AppendError,
  type Appended,
  type EventStore,
  type ReadOptions,
  type RecordedEvent,
} from '../store/index.js'
import { readSpan } from '../store/read-span.js'

export interface MemoryStoreOptions {
  /** The time for `created`. Default: the system's clock. */
  readonly now?: () => string
  /** Whether several engines use the store side by side. Default: false. */
  readonly isShared?: boolean
}

const limits = { appendBytesMax: 16 * 2 ** 20, appendEventsMax: 10_000 }
const pageEvents = 1000

/**
 * A store for tests, demonstrations and simulations: the whole contract except durability. It uses only microtasks, so a simulated scheduler sees all
 * of its interleavings.
 */
export const openMemoryStore = ({ now = () => new Date().toISOString(), isShared = false }: MemoryStoreOptions = {}): EventStore => {
  const streams = new Map<string, Array<RecordedEvent>>()
  const signal = appendSignal()
  let position = 0
  let closed = false
  let underWay: Promise<unknown> = Promise.resolve()

  const open = async (): Promise<void> => {
    if (closed) throw new StoreError('closed', 'The store has been closed: open it again.')
  }
  const headOf = (stream: string): number => (streams.get(stream)?.length ?? 0) - 1

  const append: EventStore['append'] = (stream, events, expected) => {
    if (events.length === 0) throw new Error('An append needs at least one event.')
    const run = async (): Promise<E.Either<AppendError, Appended>> => {
      if (closed) return E.left({ _tag: 'Unavailable', reason: 'The store has been closed: open it again.' })
      const bytes = appendBytes(events)
      const { appendBytesMax: bytesMax, appendEventsMax } = limits
      if (bytes > bytesMax || events.length > appendEventsMax) {
        return E.left({ _tag: 'AppendTooLarge', bytes, bytesMax })
      }
      const recorded = streams.get(stream) ?? []
      const actual = recorded.length === 0 ? 'no_stream' : recorded.length - 1
      if (expected !== 'any' && expected !== actual) return E.left({ _tag: 'WrongExpectedRevision', actual })
      streams.set(stream, recorded)
      const created = now()
      for (const { id, type, data, metadata } of events) {
        position += 1
        recorded.push({ id, type, data, metadata, stream, revision: recorded.length, position, created })
      }
      const appended = { revision: recorded.length - 1 }
      await Promise.resolve()
      signal.notify(stream)
      return E.right(appended)
    }
    return () => {
      const outcome = run()
      underWay = Promise.all([underWay, outcome])
      return outcome
    }
  }

  const read = async function* (
    stream: string,
    options: ReadOptions = {},
  ): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    await open()
    const span = readSpan(stream, options, headOf(stream))
    const recorded = streams.get(stream) ?? []
    for (let { low, high } = span ?? { low: 0, high: -1 }; low <= high; ) {
      await open()
      if (options.direction === 'backwards') {
        yield recorded.slice(Math.max(low, high - pageEvents + 1), high + 1).reverse()
        high -= pageEvents
      } else {
        yield recorded.slice(low, Math.min(high + 1, low + pageEvents))
        low += pageEvents
      }
    }
  }

  const head = (stream: string): Promise<number> => open().then(() => headOf(stream))

  return {
    name: 'memory',
    limits,
    isShared,
    append: sealingHere(append),
    read,
    pick: (stream, revisions) => open().then(() => revisions.map((revision) => streams.get(stream)?.[revision])),
    head,
    first: () => open().then(() => 0),
    // A Map keeps the order of insertion, and a stream is inserted with its first event.
    streams: (prefix) => open().then(() => [...streams.keys()].filter((name) => name.startsWith(prefix))),
    subscribe: (stream, from) => catchUpSubscription({ head, read }, signal, stream, from),
    close: async () => {
      closed = true
      signal.notifyAll()
      await underWay
    },
  }
}
