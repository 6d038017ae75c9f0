/** EV-07: the writer of an append seals it, and each seal continues what comes before it in the log. */
import assert from 'node:assert/strict'
import { ChainVerifier } from '@daybook/adapters/chain'
import { Chain, leafOf, readSeal, sealHash } from '@daybook/adapters/seals'
import type { EventStore } from '@daybook/adapters/store'
import { append, asAppended, events, readAll, type Check } from './check.js'

/** The stream is a whole chain from this revision on, and the last seal has this hash. */
const isWhole = async (store: EventStore, stream: string, begins: number, seal: string | undefined): Promise<void> => {
  const verifier = new ChainVerifier(stream)
  verifier.take(await readAll(store, stream))
  const { ok, head, unsealed, broken, ...verdict } = verifier.end()
  assert.equal(ok, true, broken?.reason)
  assert.deepEqual({ begins: verdict.begins, hash: head.hash, unsealed }, { begins, hash: seal, unsealed: null })
}

const chainOf = async (store: EventStore, stream: string): Promise<Chain> => {
  const chain = new Chain(stream, undefined)
  chain.take(await readAll(store, stream))
  return chain
}

const begun = { head: undefined }

export const sealChecks: ReadonlyArray<Check> = [
  {
    title: 'EV-07 an append that begins a chain has a seal on its last event, and nothing else is changed',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const old = events(2)
      await append(store, stream, old, 'no_stream')
      const batch = events(3, 2)
      const outcome = await store.append(stream, batch, 1, begun)()
      const found = await readAll(store, stream)
      const { seal, bare } = readSeal(found[4]!.metadata)!
      assert.deepEqual(found.map((event, i) => asAppended(i === 4 ? { ...event, metadata: bare } : event)), [...old, ...batch].map(asAppended))
      const leaves = batch.map(({ id, type, metadata, data }, i) => leafOf(stream, 2 + i, id, type, metadata, data))
      assert.deepEqual(seal, { from: 2, to: 4, hash: sealHash('', leaves.join('\n'), 3), leaves: leaves.map((leaf) => leaf.slice(0, 8)).join('') })
      assert.deepEqual(outcome, { _tag: 'Right', right: { revision: 4, seal: seal.hash } })
    },
  },
  {
    title: 'EV-07 appends sent together continue each other, with refused ones of other streams between',
    run: async ({ store, fresh }) => {
      const streams = [fresh('ours'), fresh('theirs')] as const
      for (const stream of streams) await append(store, stream, events(1), 'no_stream')
      const [ours, theirs] = streams
      const outcomes = await Promise.all([
        store.append(ours, events(2, 1), 0, begun)(),
        store.append(theirs, events(2, 1), 7, begun)(),
        store.append(ours, events(3, 3), 2, 'sent')(),
        store.append(theirs, events(1, 1), 0, begun)(),
        store.append(ours, events(1, 6), 5, 'sent')(),
      ])
      assert.deepEqual(outcomes.map(({ _tag }) => _tag), ['Right', 'Left', 'Right', 'Right', 'Right'])
      const [first, , , other, last] = outcomes.map((outcome) => (outcome._tag === 'Right' ? outcome.right.seal : undefined))
      assert.notEqual(first, last)
      await isWhole(store, ours, 1, last)
      await isWhole(store, theirs, 1, other)
    },
  },
  {
    title: 'EV-07 what continues an append that was refused is not written',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await append(store, stream, events(1), 'no_stream')
      const outcomes = await Promise.all([store.append(stream, events(1, 9), 4, begun)(), store.append(stream, events(1, 9), 5, 'sent')()])
      assert.deepEqual(outcomes.map(({ _tag }) => _tag), ['Left', 'Left'])
      assert.equal(await store.head(stream), 0)
    },
  },
  {
    title: 'EV-07 what continues an append that was never sent is not written',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await append(store, stream, events(1), 'no_stream')
      assert.equal((await store.append(stream, events(1, 1), 0, 'sent')())._tag, 'Left')
      assert.equal(await store.head(stream), 0)
    },
  },
  {
    title: 'EV-07 a seal continues the one that it is told, and covers events without a seal in between',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      await store.append(stream, events(2), 'no_stream', begun)()
      // Appended by a server that knows no seals.
      await append(store, stream, events(3, 2), 1)
      await store.append(stream, events(2, 5), 4, (await chainOf(store, stream)).end)()
      const outcome = await store.append(stream, events(2, 7), 6, 'sent')()
      assert.equal(outcome._tag, 'Right')
      await isWhole(store, stream, 0, outcome._tag === 'Right' ? outcome.right.seal : undefined)
      const { end } = await chainOf(store, stream)
      const later = await store.append(stream, events(1, 9), 8, end)()
      await isWhole(store, stream, 0, later._tag === 'Right' ? later.right.seal : undefined)
    },
  },
]
