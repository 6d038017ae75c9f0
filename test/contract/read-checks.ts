import assert from 'node:assert/strict'
import type { ReadOptions } from '@daybook/adapters/store'
import { append, appendMany, asAppended, assertHolds, events, readAll, revisionsOf, type Check } from './check.js'

const range = (from: number, to: number): Array<number> =>
  from <= to
    ? Array.from({ length: to - from + 1 }, (_, i) => from + i)
    : Array.from({ length: from - to + 1 }, (_, i) => from - i)

/** Options for a stream of ten events, and the revisions that must be read. */
const optionsTable: ReadonlyArray<readonly [options: ReadOptions, revisions: ReadonlyArray<number>]> = [
  [{}, range(0, 9)],
  [{ from: 'start' }, range(0, 9)],
  [{ from: 'end' }, []],
  [{ from: 4 }, range(4, 9)],
  [{ from: 9 }, [9]],
  [{ from: 10 }, []],
  [{ from: 4, limit: 3 }, [4, 5, 6]],
  [{ limit: 1 }, [0]],
  [{ limit: 0 }, []],
  [{ limit: 99 }, range(0, 9)],
  [{ direction: 'backwards' }, range(9, 0)],
  [{ direction: 'backwards', from: 'end' }, range(9, 0)],
  [{ direction: 'backwards', from: 4 }, range(4, 0)],
  [{ direction: 'backwards', from: 0 }, [0]],
  [{ direction: 'backwards', from: 99 }, range(9, 0)],
  [{ direction: 'backwards', limit: 3 }, [9, 8, 7]],
  [{ direction: 'backwards', from: 4, limit: 2 }, [4, 3]],
]

const readOptions: ReadonlyArray<Check> = optionsTable.map(([options, revisions]) => ({
  title: `EV-02 reading ten events with ${JSON.stringify(options)}`,
  run: async ({ store, fresh }) => {
    const stream = fresh()
    await appendMany(store, stream, 10)
    assert.deepEqual(revisionsOf(await readAll(store, stream, options)), revisions)
  },
}))

export const readChecks: ReadonlyArray<Check> = [
  ...readOptions,
  {
    title: 'EV-02 a missing stream is empty',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      assert.deepEqual(await readAll(store, stream), [])
      assert.deepEqual(await readAll(store, stream, { direction: 'backwards' }), [])
      assert.equal(await store.head(stream), -1)
      assert.deepEqual(await store.pick(stream, [0]), [undefined])
    },
  },
  {
    title: 'EV-02 a long stream comes in bounded pages, in order, in both directions',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const all = await appendMany(store, stream, 6000)
      await assertHolds(store, stream, all)
      const back = await readAll(store, stream, { direction: 'backwards' })
      assert.deepEqual(back.map(asAppended), [...all].reverse().map(asAppended))
      assert.deepEqual(revisionsOf(await readAll(store, stream, { from: 10, limit: 4321 })), range(10, 4330))
      for await (const page of store.read(stream)) assert.ok(page.length > 0 && page.length <= 5000)
    },
  },
  {
    title: 'EV-02 streams that were written in turns are read each in its own order',
    run: async ({ store, fresh }) => {
      const streams = [fresh('a'), fresh('b'), fresh('c')]
      const written = streams.map(() => [] as ReturnType<typeof events>)
      for (let n = 0; n < 90; n++) {
        const batch = events(1 + (n % 5), n * 10)
        await append(store, streams[n % 3]!, batch)
        written[n % 3]!.push(...batch)
      }
      for (const [i, stream] of streams.entries()) await assertHolds(store, stream, written[i]!)
      const middle = await readAll(store, streams[1]!, { from: 7, limit: 71 })
      assert.deepEqual(middle.map(asAppended), written[1]!.slice(7, 78).map(asAppended))
    },
  },
  {
    title: 'EV-02 leaving a read early leaves the store usable, however often',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await appendMany(store, stream, 4500)
      for (let i = 0; i < 30; i++) {
        for await (const [first] of store.read(stream, { from: i })) {
          assert.equal(first?.revision, i)
          break
        }
      }
      await append(store, stream, events(1))
      assert.equal((await readAll(store, stream)).length, 4501)
    },
  },
  {
    title: 'EV-02 reads at the same time do not disturb each other',
    run: async ({ store, fresh }) => {
      const [one, two] = [fresh('one'), fresh('two')]
      const [ones, twos] = [await appendMany(store, one, 5000), await appendMany(store, two, 3000)]
      await Promise.all([
        assertHolds(store, one, ones),
        assertHolds(store, two, twos),
        assertHolds(store, one, ones),
        readAll(store, two, { direction: 'backwards' }).then((back) => assert.equal(back.length, 3000)),
      ])
    },
  },
  {
    title: 'EV-02 picking gives the events asked for, in the order asked for, and none where there is none',
    run: async ({ store, fresh }) => {
      const [stream, other] = [fresh(), fresh('other')]
      const all = events(60)
      for (let n = 0; n < 60; n += 4) {
        await append(store, stream, all.slice(n, n + 4))
        await append(store, other, events(1, n))
      }
      const revisions = [59, 0, 17, 16, 17, 60, 1_000_000, 3, 4, -1]
      const picked = await store.pick(stream, revisions)
      assert.equal(picked.length, revisions.length)
      for (const [i, revision] of revisions.entries()) {
        assert.deepEqual(picked[i] && asAppended(picked[i]), all[revision])
        if (all[revision] !== undefined) assert.equal(picked[i]?.revision, revision)
      }
      assert.deepEqual(await store.pick(stream, []), [])
    },
  },
  {
    title: 'EV-02 picking a thousand of five thousand events',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const all = await appendMany(store, stream, 5000)
      const revisions = Array.from({ length: 1000 }, (_, i) => (i * 1237) % 5000)
      const picked = await store.pick(stream, revisions)
      assert.deepEqual(picked.map((found) => found?.id), revisions.map((revision) => all[revision]!.id))
    },
  },
  {
    title: 'EV-02 streams are found by prefix, in the order of their first events',
    run: async ({ store, fresh }) => {
      const prefix = fresh()
      assert.deepEqual(await store.streams(prefix), [])
      const names = [`${prefix}-b`, `${prefix}-a`, `${prefix}-%_*?`, `${prefix}-B`]
      for (const name of names) await append(store, name, events(1))
      await append(store, names[0]!, events(1))
      assert.deepEqual(await store.streams(prefix), names)
      assert.deepEqual(await store.streams(`${prefix}-b`), [`${prefix}-b`])
      assert.deepEqual(await store.streams(`${prefix}-%_`), [`${prefix}-%_*?`])
    },
  },
]
