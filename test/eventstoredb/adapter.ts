/** The adapter, and helpers for its tests. */
import { openEventStoreDb, type EventStoreDbOptions } from '@daybook/adapters/eventstoredb'
import type { EventStore } from '@daybook/adapters/store'
import { afterEach } from 'vitest'
import type { EventStoreServer, ServerOptions } from '../support/eventstoredb/server.js'
import { inTime } from '../support/in-time.js'
import { events } from '../contract/check.js'
import { sleep, startServer, until, useServers } from './client.js'

const opened: Array<EventStore> = []

/** Ends the stores of each test of the calling file, and then its servers and clients. */
export const useAdapter = (): void => {
  useServers()
  afterEach(async () => {
    for (const store of opened.splice(0).reverse()) await inTime('the end of the store', store.close())
  })
}

/** Time-outs for tests in which no answer comes. On a slow machine an answer may then come too late as well: expect none, or `persist`. */
export const impatient: Partial<EventStoreDbOptions> = { connectMs: 500, appendMs: 300, silenceMs: 300 }

/** With time-outs that no slow machine reaches. Only what a silent subscription has missed is looked for often. */
export const open = (url: string, options: Partial<EventStoreDbOptions> = {}): EventStore => {
  const store = openEventStoreDb({ url, connectMs: 30_000, appendMs: 30_000, silenceMs: 30_000, readMs: 60_000, livenessMs: 150, random: () => 0.5, ...options })
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
  await persist(store.append('s', events(3), 'no_stream'))
  return { server, store }
}

/** The result of an append: `written`, or the tag of its error. */
export const ended = async (outcome: ReturnType<EventStore['append']>): Promise<string> => {
  // Longer than the store's own time-outs.
  const result = await inTime('an answer to an append', outcome(), 45_000)
  return result._tag === 'Right' ? 'written' : result.left._tag
}

/** Repeats an append until it is known to be in the log. */
export const persist = async (outcome: ReturnType<EventStore['append']>): Promise<void> => {
  for (const end = Date.now() + 30_000; (await ended(outcome)) !== 'written'; await sleep(25)) {
    if (Date.now() > end) throw new Error('it was not written in time')
  }
}

/** Until the store knows that its connection is cut: an append that is sent before that may have been written, for all it knows. */
export const knowsOfCut = (store: EventStore): Promise<void> =>
  until(async () => (await ended(store.append('cut', events(1), 'any'))) === 'Unavailable')
