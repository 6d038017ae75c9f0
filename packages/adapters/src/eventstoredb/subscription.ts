/**
 * A catch-up subscription over any number of calls. Each call goes on after the last delivered event. The revisions are checked, so there is no gap
 * and no repetition, whatever a server or a connection does.
 */
import { Observable, type Subscriber } from 'rxjs'
import type { Delivered, RecordedEvent } from '../store/index.js'
import { backoff, sleep } from '@daybook/client/common'
import type { Connection } from './connection.js'
import { EndedEarly, NoAnswer, storeError } from './errors.js'
import { readCall } from './read-call.js'
import { subscriptionRequest } from './read-request.js'
import { type Reader, truncated } from './reader.js'
import type { SubscriptionPlaces } from './subscription-places.js'

/** How long after a read has returned an event the subscription may take to deliver it, in milliseconds. */
const graceMs = 500

export interface SubscriptionOptions {
  readonly name: string
  readonly livenessMs: number
  readonly random: () => number
}

export interface Subscriptions {
  readonly subscribe: (stream: string, from: number) => Observable<Delivered>
  /** Ends all subscriptions with this error. */
  readonly close: (error: Error) => void
}

export const createSubscriptions = (places: SubscriptionPlaces, reader: Reader, options: SubscriptionOptions): Subscriptions => {
  const open = new Set<Subscriber<Delivered>>()
  let closing: Error | undefined
  return {
    subscribe: (stream, from) =>
      new Observable((subscriber) => {
        if (closing !== undefined) return subscriber.error(closing)
        open.add(subscriber)
        const { connection, leave } = places.take()
        subscriber.add(() => {
          open.delete(subscriber)
          leave()
        })
        follow(connection, reader, options, subscriber, stream, from)
      }),
    close: (error) => {
      closing = error
      for (const subscriber of [...open]) subscriber.error(error)
    },
  }
}

const follow = (
  connection: Connection,
  reader: Reader,
  { name, livenessMs, random }: SubscriptionOptions,
  subscriber: Subscriber<Delivered>,
  stream: string,
  from: number,
): void => {
  const pause = backoff({ firstMs: 20, mostMs: 2_000, random })
  /** The next revision to be delivered. */
  let next = Math.max(0, from)
  /** The last revision that is known to be in the stream. */
  let reached = -1
  /** The stream's head when it was first read. */
  let head: number | undefined
  let caughtUp = false
  let batch: Array<RecordedEvent> = []
  let wake = (): void => undefined
  subscriber.add(() => wake())

  const deliver = (): void => {
    const events = batch
    batch = []
    if (events.length > 0) subscriber.next(events)
    if (caughtUp || head === undefined || next <= head || subscriber.closed) return
    caughtUp = true
    subscriber.next({ _tag: 'CaughtUp', revision: events.at(-1)?.revision ?? head })
  }

  /** One call, from after the last event. Rejects when the call ends. */
  const listen = async (): Promise<never> => {
    const link = await connection.link()
    if (subscriber.closed) throw new EndedEarly()
    // A server may refuse a revision that the stream has not reached.
    let expected = Math.min(next - 1, reached) + 1
    let heard = false
    let scheduled = false
    return new Promise((_, reject) => {
      const end = (error: unknown): void => {
        stop()
        clearInterval(liveness)
        if (!subscriber.closed) deliver()
        reject(error as Error)
      }
      const take = (event: RecordedEvent): void => {
        heard = true
        if (subscriber.closed) return
        // A tombstone has a revision far beyond all others. It is followed by an error.
        if (event.revision < expected || event.revision > Number.MAX_SAFE_INTEGER) return
        if (event.revision > expected) return end(truncated(name, stream, `${event.revision} comes where ${expected} should`))
        reached = Math.max(reached, event.revision)
        expected++
        if (event.revision < next) return
        next = expected
        batch.push(event)
        if (scheduled) return
        scheduled = true
        setImmediate(() => {
          scheduled = false
          if (!subscriber.closed) deliver()
        })
      }
      /** Detects a dead connection that reports no error: the stream has more events, but none arrives. */
      const compare = async (): Promise<void> => {
        const before = next
        const revision = await reader.head(stream)
        if (revision < before) return
        // Events that were appended just now may be on their way.
        await sleep(graceMs)
        if (heard || next !== before || subscriber.closed) return
        connection.abandon(link)
        throw new NoAnswer(`nothing came for ${livenessMs} ms, though there is more`)
      }
      const liveness = setInterval(() => {
        if (!heard) compare().catch(end)
        heard = false
      }, livenessMs)
      const stop = readCall(connection, link, stream, subscriptionRequest(stream, expected - 1), undefined, {
        event: take,
        missing: () => undefined,
        end: (error) => end(error ?? new EndedEarly()),
      })
      wake = () => end(new EndedEarly())
    })
  }

  const run = async (): Promise<void> => {
    while (!subscriber.closed) {
      const before = next
      try {
        if (head === undefined) reached = head = await reader.head(stream)
        if (!subscriber.closed) deliver()
        if (!subscriber.closed) await listen()
      } catch (error) {
        const problem = storeError(error, name, stream)
        if (problem.code !== 'unavailable') return subscriber.error(problem)
        if (next > before) pause.reset()
      }
      if (!subscriber.closed) await sleep(pause.next())
    }
  }

  void run()
}
