/** The adapter with short time-outs, and helpers for its tests. */
import { openEventStoreDb, type EventStoreDbOptions } from '@daybook/adapters/eventstoredb'
import type { EventStore } from '@daybook/adapters/store'
import { afterEach } from 'vitest'
import type { EventStoreServer, ServerOptions } from '../support/eventstoredb/server.js'
import { append, events } from '../contract/check.js'
import { startServer } from './client.js'

const opened: Array<EventStore> = []
afterEach(async () => {
  for (const store of opened.splice(0).reverse()) await store.close()
})

export const open = (url: string, options: Partial<EventStoreDbOptions> = {}): EventStore => {
  const store = openEventStoreDb({ url, connectMs: 500, appendMs: 300, silenceMs: 300, livenessMs: 150, random: () => 0.5, ...options })
  opened.push(store)
  return store
}

/** A connected store, with three events in the stream `s`. */
export const started = async (
  options: ServerOptions = {},
  more: Partial<EventStoreDbOptions> = {},
): Promise<{ readonly server: EventStoreServer; readonly store: EventStore }> => {
  const server = await startServer(options)
  const store = open(server.url, more)
  await append(store, 's', events(3), 'no_stream')
  return { server, store }
}

/** The result of an append: `written`, or the tag of its error. */
export const ended = async (outcome: ReturnType<EventStore['append']>): Promise<string> => {
  const result = await outcome()
  return result._tag === 'Right' ? 'written' : result.left._tag
}

/** Repeats an append until it is known to be in the log. */
export const persist = async (outcome: ReturnType<EventStore['append']>): Promise<void> => {
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await ended(outcome)) === 'written') return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('it was not written in time')
}
