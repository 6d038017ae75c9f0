import { basename } from 'node:path'
import type { Database } from 'better-sqlite3'
import * as E from 'fp-ts/lib/Either.js'
import { sealed } from '../seals/sealing.js'
import type { AppendBatch } from './append-transaction.js'
import { closedError, storeError } from './errors.js'
import { watchForeignAppends } from './foreign-appends.js'
import { unpack } from './packed-page.js'
import { queries, type Span } from './queries.js'
import { lazyReader } from './reader.js'
import type { Writer } from './writer.js'
import { appendBytes, appendBytesAtMost } from '../store/append-bytes.js'
import { appendSignal } from '../store/append-signal.js'
import { catchUpSubscription } from '../store/catch-up-subscription.js'
import type { AppendError, Appended, Continues, EventStore, EventToAppend, ExpectedRevision, ReadOptions, RecordedEvent } from '../store/index.js'
import { readSpan } from '../store/read-span.js'

const limits = { appendBytesMax: 16 * 2 ** 20, appendEventsMax: 10_000 }

/** Reads of up to this many events are faster on the caller's thread than through another thread. */
const directEventsMax = 64
const directBytesMax = 256 * 1024

export interface SqliteParts {
  readonly file: string
  readonly db: Database
  readonly writer: Writer
  readonly isShared: boolean
  /** Called last; closes `db`. */
  readonly release: () => void
}

/**
 * An append in the form for the writing thread. A chain whose open end has hashed events of an older server cannot be sent to another thread, so such
 * an append is sealed here. That happens once after an update.
 */
const toSeal = (stream: string, events: ReadonlyArray<EventToAppend>, expected: ExpectedRevision, continues: Continues | undefined): Pick<AppendBatch, 'sealing'> & { readonly events: ReadonlyArray<EventToAppend> } => {
  if (continues === undefined) return { events }
  if (continues === 'sent' || continues.open === undefined) return { events, sealing: { continues: continues === 'sent' ? 'sent' : { head: continues.head } } }
  const { events: texts, head } = sealed(stream, events, expected, continues)
  return { events: texts, sealing: { made: head.hash } }
}

/** The store over its opened parts: a connection for small reads, and a thread each for large reads and for writing. */
export const sqliteStore = ({ file, db, writer, isShared, release }: SqliteParts): EventStore => {
  const query = queries(db)
  const reader = lazyReader({ file })
  const signal = appendSignal()
  const unwatch = isShared ? watchForeignAppends(db, signal) : () => undefined
  let closing: Promise<void> | undefined

  /** All reads wait here while a failed writer is being replaced. */
  const reading = async <A>(body: () => A): Promise<A> => {
    if (closing === undefined && !writer.healthy()) await writer.ready()
    if (closing !== undefined) throw closedError()
    try {
      return body()
    } catch (error) {
      throw storeError(error, file)
    }
  }

  const append: EventStore['append'] = (stream, given, expected, continues) => {
    if (given.length === 0) throw new Error('An append needs at least one event.')
    const { events, sealing } = toSeal(stream, given, expected, continues)
    return async (): Promise<E.Either<AppendError, Appended>> => {
      if (closing !== undefined) return E.left({ _tag: 'Unavailable', reason: closedError().message })
      const { appendBytesMax: bytesMax, appendEventsMax } = limits
      if (appendBytesAtMost(events) > bytesMax || events.length > appendEventsMax) {
        const bytes = appendBytes(events)
        if (bytes > bytesMax || events.length > appendEventsMax) return E.left({ _tag: 'AppendTooLarge', bytes, bytesMax })
      }
      const verdict = await writer.append({
        stream,
        expected,
        sealing,
        ids: events.map((event) => event.id),
        types: events.map((event) => event.type),
        datas: events.map((event) => event.data),
        metadatas: events.map((event) => event.metadata),
      })
      if ('error' in verdict) return E.left(verdict.error)
      signal.notify(stream)
      return E.right(verdict)
    }
  }

  const read = async function* (
    stream: string,
    options: ReadOptions = {},
  ): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    const backwards = options.direction === 'backwards'
    const small = ({ low, high }: Span): boolean => high - low < directEventsMax
    const found = await reading(() => {
      const span = readSpan(stream, options, query.head(stream))
      if (span === undefined) return undefined
      const direct = small(span) && query.bytes(span) <= directBytesMax
      return { span, events: direct ? query.events(span) : undefined }
    })
    if (found === undefined) return
    if (found.events !== undefined) {
      yield backwards ? found.events.reverse() : found.events
      return
    }
    for await (const page of reader.pages(found.span, backwards)) {
      const events = unpack(page) ?? (await reading(() => query.events(page.span)))
      yield backwards ? events.reverse() : events
    }
  }

  const head = (stream: string): Promise<number> => reading(() => query.head(stream))

  const close = async (): Promise<void> => {
    unwatch()
    signal.notifyAll()
    await reader.close()
    // Closed last: the last connection to close cleans up the WAL, and only this one may write.
    db.close()
    await writer.close()
    release()
  }

  return {
    name: `sqlite:${basename(file)}`,
    limits,
    isShared,
    append,
    read,
    pick: (stream, revisions) => reading(() => query.pick(stream, revisions)),
    head,
    first: (stream) => reading(() => query.first(stream)),
    streams: (prefix) => reading(() => query.streams(prefix)),
    subscribe: (stream, from) => catchUpSubscription({ head, read }, signal, stream, from),
    close: () => (closing ??= close()),
  }
}
