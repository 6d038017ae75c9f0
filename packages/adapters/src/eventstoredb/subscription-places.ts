/**
 * Connections with room for subscriptions. A subscription is a call that stays open, and a node takes only 100 calls at once on a connection (the
 * default of its web server): any other call on it, also an append or a read, would then wait until one of them ends.
 */
import type { Connection } from './connection.js'

/** The rest of the 100 is for appends and reads, and for calls that are just ending. */
const subscriptionsMax = 50

export interface SubscriptionPlaces {
  /** A connection for one more subscription. `leave` is to be called once, at its end. */
  readonly take: () => { readonly connection: Connection; readonly leave: () => void }
  /** Closes the connections that were opened here. */
  readonly close: () => Promise<void>
}

/** `first`: the connection of appends and reads. `another`: opens one more. */
export const subscriptionPlaces = (first: Connection, another: () => Connection): SubscriptionPlaces => {
  const all = [{ connection: first, taken: 0 }]
  return {
    take: () => {
      let place = all.find(({ taken }) => taken < subscriptionsMax)
      if (place === undefined) all.push((place = { connection: another(), taken: 0 }))
      const { connection } = place
      place.taken++
      return { connection, leave: () => void place.taken-- }
    },
    close: async () => {
      await Promise.all(all.slice(1).map(({ connection }) => connection.close()))
    },
  }
}
