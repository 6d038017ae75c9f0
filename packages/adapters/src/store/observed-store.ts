/** A store whose appends are observed: how long they take, and how they end. */
import type * as E from 'fp-ts/lib/Either.js'
import type { Appended, AppendError, EventStore, EventToAppend } from './event-store.js'

/** Called when an append begins. The returned function is called at its end. */
export type AppendObserver = (stream: string, events: ReadonlyArray<EventToAppend>) => (result: E.Either<AppendError, Appended>) => void

export const observedStore = (store: EventStore, observers: ReadonlyArray<AppendObserver>): EventStore => ({
  ...store,
  append: (stream, events, expected, continues) => {
    // The store computes the seal in this call, and writes when the returned task is run.
    const append = store.append(stream, events, expected, continues)
    return async () => {
      const ends = observers.map((begin) => begin(stream, events))
      const result = await append()
      for (const end of ends) end(result)
      return result
    }
  },
})
