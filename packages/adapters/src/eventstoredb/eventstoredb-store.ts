import * as E from 'fp-ts/lib/Either.js'
import { sealingHere } from '../seals/sealing.js'
import { appendBytes } from '../store/append-bytes.js'
import { type AppendError, type Appended, type EventStore, type EventToAppend, type ExpectedRevision, isDestroyed } from '../store/index.js'
import { createAppender } from './appender.js'
import { closedError, openConnection } from './connection.js'
import { type EventStoreDbOptions, withDefaults } from './options.js'
import { createReader } from './reader.js'
import { streamRegister } from './stream-register.js'
import { subscriptionPlaces } from './subscription-places.js'
import { createSubscriptions } from './subscription.js'
import { truncator } from './truncate.js'

const appendEventsMax = 10_000

/** Number of streams whose heads are requested at once. */
const headsAtOnce = 16

export interface EventStoreDb extends EventStore {
  /**
   * Hides the events of a stream before a revision (`$tb`). Its last event stays. Returns the first revision that is still visible. Rejects with
   * StoreError.
   */
  readonly truncate: (stream: string, before: number) => Promise<number>
}

/**
 * A store in EventStoreDB: one node or a cluster. The first call connects.
 *
 * *Gotchas*: the names of its streams are kept in a separate stream, so `streams` does not know streams of other programs. Deleted and truncated
 * streams are refused, see `StoreError`.
 */
export const openEventStoreDb = (given: EventStoreDbOptions): EventStoreDb => {
  const options = withDefaults(given)
  const { appendBytesMax, appendMs } = options
  const name = nameOf(options.url)
  const connection = openConnection({ ...options, name })
  const appender = createAppender(connection, { appendMs, bytesMax: appendBytesMax })
  const reader = createReader(connection, { ...options, name })
  const places = subscriptionPlaces(connection, () => openConnection({ ...options, name }))
  const subscriptions = createSubscriptions(places, reader, { ...options, name })
  const register = streamRegister(appender, reader)
  /** Streams that are known to have events, and need not be checked again. */
  const begun = new Set<string>()
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  type Outcome = E.Either<AppendError, Appended>

  const write = async (
    stream: string,
    events: ReadonlyArray<EventToAppend>,
    expected: number | 'no_stream',
    bytes: number,
  ): Promise<Outcome> => {
    const refusal = await (expected === 'no_stream' ? register.add(stream) : register.added(stream))
    if (refusal !== undefined) return E.left(refusal)
    return appender.append({ stream, events, expected, bytes })
  }

  /** EventStoreDB's own `any` compares event ids and can hang. An explicit revision is always safe. */
  const writeAnywhere = async (stream: string, events: ReadonlyArray<EventToAppend>, bytes: number): Promise<Outcome> => {
    let expected: number | 'no_stream'
    try {
      const head = await reader.head(stream)
      expected = head < 0 ? 'no_stream' : head
    } catch (error) {
      return E.left({ _tag: 'Unavailable', reason: (error as Error).message })
    }
    for (;;) {
      const outcome = await write(stream, events, expected, bytes)
      if (E.isRight(outcome) || outcome.left._tag !== 'WrongExpectedRevision') return outcome
      expected = outcome.left.actual
    }
  }

  const append = (stream: string, events: ReadonlyArray<EventToAppend>, expected: ExpectedRevision) => {
    if (events.length === 0) throw new Error('An append needs at least one event.')
    return (): Promise<Outcome> => {
      if (closing !== undefined) return Promise.resolve(E.left({ _tag: 'Unavailable', reason: closedError().message }))
      const bytes = appendBytes(events)
      if (bytes > appendBytesMax || events.length > appendEventsMax) {
        return Promise.resolve(E.left({ _tag: 'AppendTooLarge', bytes, bytesMax: appendBytesMax }))
      }
      const outcome = expected === 'any' ? writeAnywhere(stream, events, bytes) : write(stream, events, expected, bytes)
      underWay.add(outcome)
      return outcome.finally(() => underWay.delete(outcome))
    }
  }

  const streams = async (prefix: string): Promise<ReadonlyArray<string>> => {
    const names = (await register.names()).filter((stream) => stream.startsWith(prefix))
    const unsure = names.filter((stream) => !begun.has(stream))
    for (let i = 0; i < unsure.length; i += headsAtOnce) {
      await Promise.all(unsure.slice(i, i + headsAtOnce).map(async (stream) => {
        if (await hasBegun(stream)) begun.add(stream)
      }))
    }
    return names.filter((stream) => begun.has(stream))
  }

  /** Deleted and truncated streams are included, so that opening them reports it. */
  const hasBegun = (stream: string): Promise<boolean> =>
    reader.head(stream).then((head) => head >= 0, (error: unknown) => {
      if (isDestroyed(error)) return true
      throw error
    })

  const close = async (): Promise<void> => {
    subscriptions.close(closedError())
    await Promise.all([...underWay])
    reader.close()
    appender.cancel()
    await Promise.all([connection.close(), places.close()])
  }

  return {
    name,
    limits: { appendBytesMax, appendEventsMax },
    isShared: true,
    append: sealingHere(append),
    read: reader.read,
    pick: reader.pick,
    head: reader.head,
    first: reader.first,
    streams,
    subscribe: subscriptions.subscribe,
    truncate: truncator(appender, reader, name),
    time: connection.time,
    close: () => (closing ??= close()),
  }
}

/** The connection string without user, password and options. The client takes a password with any character but `@`. */
const nameOf = (url: string): string => url.replace(/\/\/[^@]*@([^?]*@)?/, '//').replace(/[/?]*\?.*$/, '').replace(/\/+$/, '')
