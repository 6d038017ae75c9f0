/** Each of these checks closes its store, so each needs a new one. */
import assert from 'node:assert/strict'
import { type EventStore, StoreError } from '@daybook/adapters/store'
import { inTime } from '../support/in-time.js'
import { append, appendMany, events, pause, readAll, type Check } from './check.js'
import { follow } from './subscription-log.js'

const isClosed = (error: unknown): boolean => error instanceof StoreError && error.code === 'closed'

const close = (store: EventStore): Promise<void> => inTime('the end of the store', store.close())

export const lifecycleChecks: ReadonlyArray<Check> = [
  {
    title: 'EV-03 closing waits for the appends under way, and acknowledges them',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const appends = Array.from({ length: 5 }, (_, n) => store.append(stream, events(200, n * 200), 'any')())
      let answered = 0
      for (const outcome of appends) void outcome.then(() => (answered += 1))
      await close(store)
      await pause(0)
      assert.equal(answered, 5)
      for (const outcome of await Promise.all(appends)) assert.equal(outcome._tag, 'Right')
    },
  },
  {
    title: 'EV-02 a closed store refuses everything, and closing again is harmless',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await append(store, stream, events(1))
      await close(store)
      await close(store)
      const outcome = await store.append(stream, events(1), 'any')()
      assert.equal(outcome._tag === 'Left' && outcome.left._tag, 'Unavailable')
      await assert.rejects(readAll(store, stream), isClosed)
      await assert.rejects(store.head(stream), isClosed)
      await assert.rejects(store.pick(stream, [0]), isClosed)
      await assert.rejects(store.streams(''), isClosed)
      const late = follow(store, stream, 0)
      await late.until('an error', ({ errors }) => errors.length > 0)
      assert.ok(isClosed(late.errors[0]))
    },
  },
  {
    title: 'EV-02 closing ends subscriptions and reads with an error, not with silence',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await appendMany(store, stream, 9000)
      const log = follow(store, stream, 0)
      await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
      const pages = store.read(stream)[Symbol.asyncIterator]()
      await pages.next()
      await close(store)
      await log.until('an error', ({ errors }) => errors.length > 0)
      assert.ok(isClosed(log.errors[0]))
      const drain = async (): Promise<void> => {
        while ((await pages.next()).done !== true);
      }
      await assert.rejects(drain(), isClosed)
    },
  },
]
