import assert from 'node:assert/strict'
import { append, appendMany, asAppended, events, revisionsOf, type Check } from './check.js'
import { follow } from './subscription-log.js'

export const subscribeChecks: ReadonlyArray<Check> = [
  {
    title: 'EV-02 a subscription delivers what is there, says so once, then what comes',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const old = await appendMany(store, stream, 2500)
      const log = follow(store, stream, 0)
      await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
      assert.deepEqual(log.caughtUp, [{ _tag: 'CaughtUp', revision: 2499, after: 2500 }])
      const live = events(3, 5000)
      for (const one of live) await append(store, stream, [one])
      await log.until('live events', (seen) => seen.events.length >= 2503)
      assert.deepEqual(log.events.map(asAppended), [...old, ...live].map(asAppended))
      assert.equal(log.caughtUp.length, 1)
      log.unsubscribe()
    },
  },
  {
    title: 'EV-02 a subscription starts in the middle, inclusively',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await appendMany(store, stream, 10)
      const log = follow(store, stream, 7)
      await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
      await append(store, stream, events(1))
      await log.until('the live one', (seen) => seen.events.length >= 4)
      assert.deepEqual(revisionsOf(log.events), [7, 8, 9, 10])
      assert.deepEqual(log.caughtUp, [{ _tag: 'CaughtUp', revision: 9, after: 3 }])
      log.unsubscribe()
    },
  },
  {
    title: 'EV-02 a subscription to a missing stream waits for its first event',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const log = follow(store, stream, 0)
      await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
      assert.deepEqual(log.caughtUp, [{ _tag: 'CaughtUp', revision: -1, after: 0 }])
      await append(store, stream, events(2))
      await log.until('two events', (seen) => seen.events.length >= 2)
      assert.deepEqual(revisionsOf(log.events), [0, 1])
      log.unsubscribe()
    },
  },
  {
    title: 'EV-02 a subscription from beyond the end delivers nothing before that revision',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await appendMany(store, stream, 3)
      const log = follow(store, stream, 5)
      await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
      await append(store, stream, events(1))
      await append(store, stream, events(3))
      await log.until('two events', (seen) => seen.events.length >= 2)
      assert.deepEqual(revisionsOf(log.events), [5, 6])
      log.unsubscribe()
    },
  },
  {
    title: 'EV-02 subscriptions begun while others append see every event once, in order',
    run: async ({ store, fresh }) => {
      const [stream, other] = [fresh(), fresh('other')]
      const total = 600
      const logs: Array<ReturnType<typeof follow>> = []
      for (let written = 0; written < total; written += 6) {
        if (written % 60 === 0) logs.push(follow(store, stream, 0))
        await Promise.all([
          append(store, stream, events(4, written)),
          append(store, other, events(1, written)),
          append(store, stream, events(2, written + 4)),
        ])
      }
      for (const log of logs) {
        await log.until('all events', (seen) => seen.events.length >= total)
        assert.deepEqual(revisionsOf(log.events), Array.from({ length: total }, (_, i) => i))
        assert.equal(log.caughtUp.length, 1)
        assert.equal(log.caughtUp[0]!.revision, log.caughtUp[0]!.after - 1)
        log.unsubscribe()
      }
    },
  },
  {
    title: 'EV-02 after unsubscribing nothing more is delivered',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await appendMany(store, stream, 3)
      const [gone, early, stays] = [follow(store, stream, 0), follow(store, stream, 0), follow(store, stream, 0)]
      early.unsubscribe()
      await gone.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
      gone.unsubscribe()
      await append(store, stream, events(2))
      // By then the other events would have been delivered as well.
      await stays.until('the others', (seen) => seen.events.length >= 5)
      stays.unsubscribe()
      assert.equal(gone.events.length, 3)
      assert.deepEqual([...early.events, ...early.caughtUp], [])
    },
  },
]
