import { Observable } from 'rxjs'
import type { Delivered, EventStore } from './event-store.js'
import type { AppendSignal } from './append-signal.js'

/**
 * A subscription over a store's own `head` and `read`: it reads up to the head, reports that once, and sleeps until the signal. Nothing can be
 * missed, because a signal that comes during a read is kept.
 */
export const catchUpSubscription = (
  { head, read }: Pick<EventStore, 'head' | 'read'>,
  signal: AppendSignal,
  stream: string,
  from: number,
): Observable<Delivered> =>
  new Observable((subscriber) => {
    let next = Math.max(0, from)
    let signalled = false
    let wake: () => void = () => undefined
    const stopListening = signal.listen(stream, () => {
      signalled = true
      wake()
    })
    subscriber.add(() => {
      stopListening()
      wake()
    })

    const readToHead = async (until: number): Promise<void> => {
      if (next > until) return
      for await (const events of read(stream, { from: next, limit: until - next + 1 })) {
        if (subscriber.closed) return
        next += events.length
        subscriber.next(events)
      }
    }

    const run = async (): Promise<void> => {
      for (let caughtUp = false; !subscriber.closed; ) {
        signalled = false
        const revision = await head(stream)
        await readToHead(revision)
        if (subscriber.closed) return
        if (!caughtUp) subscriber.next({ _tag: 'CaughtUp', revision })
        caughtUp = true
        if (!signalled) await new Promise<void>((resolve) => (wake = resolve))
      }
    }

    run().catch((error: unknown) => subscriber.error(error))
  })
