/** EV-07: every append continues the chain, whoever made the one before, and whatever became of it. */
import { readSeal } from '@daybook/adapters/seals'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { describe, expect, test } from 'vitest'
import { chainIsWhole, verdictOn } from '../support/chain.js'
import { memorySnapshots } from '../support/memory-snapshots.js'
import { caller, claim, codeOf, complete, enqueue, logOf, ok, openQueue, settle, stream } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'
import { someEvent } from './logs.js'

useVirtualTime()

const ids = (name: string, count: number): ReadonlyArray<string> => Array.from({ length: count }, (_, i) => `${name}${i}`)
/** As a server that knows no seals appends. */
const older = async (store: EventStore, ...names: ReadonlyArray<string>): Promise<void> => {
  const events = names.map((name) => ({ ...someEvent(), type: 'TaskEnqueued', data: JSON.stringify({ task: name, number: 900, type: 'work', priority: 5, idempotencyKey: name, timeout: 60, maxRetries: 3, backoffSeconds: 1 }) }))
  expect((await store.append(stream, events, (await store.head(stream)) < 0 ? 'no_stream' : await store.head(stream))())._tag).toBe('Right')
}

test('EV-07: one seal for an append, on its last event; the others share their metadata', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue(...ids('a', 5)), caller)
  await engine.submit(enqueue('b'), caller)
  const log = await logOf(store)
  expect(log.map(({ metadata }) => readSeal(metadata)?.seal.from)).toEqual([undefined, undefined, undefined, undefined, 0, 5])
  expect(new Set(log.slice(0, 4).map(({ metadata }) => metadata)).size).toBe(1)
  expect(readSeal(log[4]!.metadata)!.bare).toBe(log[0]!.metadata)
  chainIsWhole(log)
})

describe('EV-07: an append that is refused or in doubt', () => {
  test('is sealed anew after the events that came before it', async () => {
    const inner = openMemoryStore({ isShared: true })
    const [ours, theirs] = [await openQueue({ store: inner }), await openQueue({ store: inner })]
    await ours.engine.submit(enqueue('a'), caller)
    ours.store.script.push({ kind: 'after', run: () => theirs.engine.submit(enqueue('b', 'c'), caller) })
    await ours.engine.submit(enqueue('d'), caller)
    for (const [turn, { engine }] of [ours, theirs, ours, theirs, theirs, ours].entries()) ok(await engine.submit(enqueue(...ids(`t${turn}-`, turn)), caller))
    ok(await theirs.engine.claim(claim('ann', 3), caller))
    chainIsWhole(await logOf(inner))
  })

  test('leaves no trace in the chain when it was not written', async () => {
    const { engine, store } = await openQueue()
    await engine.submit(enqueue('a'), caller)
    store.script.push({ kind: 'unavailable' })
    expect(codeOf(await engine.submit(enqueue('b'), caller))).toBe('unavailable')
    const after = await Promise.all(ids('c', 3).map(async (id) => {
      for (;;) {
        const outcome = await engine.submit(enqueue(id), caller)
        if (codeOf(outcome) === 'success') return outcome
        await settle()
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }))
    expect(after).toHaveLength(3)
    chainIsWhole(await logOf(store))
  })

  test.each(['unknown, written', 'unknown, lost'] as const)('%s: has the same seal when it is sent again, and the next one continues it', async (kind) => {
    const { engine, store } = await openQueue()
    await engine.submit(enqueue('a'), caller)
    for (const name of ['b', 'c']) {
      store.script.push({ kind })
      expect(codeOf(await engine.submit(enqueue(name, `${name}x`), caller))).toBe('success')
    }
    chainIsWhole(await logOf(store))
  })

  test.each(['unknown, written', 'unknown, lost'] as const)('%s, with another append in flight behind it', async (kind) => {
    const { engine, store } = await openQueue()
    await engine.submit(enqueue('a'), caller)
    store.script.push({ kind })
    const release = store.hold()
    const outcomes = []
    for (const name of ['b', 'c', 'd']) {
      outcomes.push(engine.submit(enqueue(name), caller))
      await settle()
    }
    expect(store.open().now).toBe(2)
    release()
    await Promise.all(outcomes)
    await engine.submit(enqueue('e'), caller)
    chainIsWhole(await logOf(store))
  })
})

describe('EV-07: a start', () => {
  test('goes on with the chain from a snapshot, which has the last hash, and from the log alone', async () => {
    const inner = openMemoryStore()
    const snapshots = memorySnapshots()
    for (const known of [snapshots, undefined, snapshots]) {
      const { engine } = await openQueue({ store: inner, ...(known === undefined ? {} : { snapshots: known }) })
      await engine.submit(enqueue(...ids(String(Math.random()), 3)), caller)
      await engine.close()
    }
    const log = await logOf(inner)
    chainIsWhole(log)
    const { header } = snapshots.kept.at(-1)!
    expect(header.sealed).toEqual({ revision: header.revision, hash: readSeal(log[header.revision]!.metadata)!.seal.hash })
  })

  test('covers what an older server wrote since; before the first seal, nothing is covered', async () => {
    const inner = openMemoryStore()
    const snapshots = memorySnapshots()
    await older(inner, 'o1', 'o2')
    const run = async (name: string): Promise<void> => {
      const { engine } = await openQueue({ store: inner, snapshots })
      await engine.submit(enqueue(name), caller)
      await engine.close()
    }
    await run('n1')
    await older(inner, 'o3', 'o4')
    await run('n2')
    const log = await logOf(inner)
    expect(verdictOn(log)).toMatchObject({ ok: true, begins: 2, unsealed: null })
    expect(readSeal(log[5]!.metadata)!.seal).toMatchObject({ from: 3, to: 5 })
    // A snapshot of an earlier version does not have the hash.
    for (const kept of snapshots.kept) {
      const { sealed: _, ...header } = kept.header
      kept.header = header
    }
    await older(inner, 'o5')
    await run('n3')
    expect(verdictOn(await logOf(inner))).toMatchObject({ ok: true, begins: 2, unsealed: null })
    // No later seal tells whether it is the last hash.
    expect(verdictOn(log.map((event) => (event.revision === 4 ? { ...event, data: '{}' } : event))).broken).toMatchObject({ kind: 'altered', revision: 2, to: 5 })
  })

  test('covers what an older server writes while it runs', async () => {
    const inner = openMemoryStore({ isShared: true })
    const { engine, store } = await openQueue({ store: inner })
    await engine.submit(enqueue('n1'), caller)
    store.script.push({ kind: 'after', run: () => older(inner, 'o1', 'o2') })
    await engine.submit(enqueue('n2'), caller)
    expect(verdictOn(await logOf(inner))).toMatchObject({ ok: true, begins: 0, unsealed: null, events: 4 })
  })

  test('does not use a snapshot of a log that was altered since, hash and all', async () => {
    const build = async (name: string) => {
      const inner = openMemoryStore()
      const snapshots = memorySnapshots()
      const { engine } = await openQueue({ store: inner, snapshots })
      await engine.submit(enqueue(name), caller)
      const [held] = ok(await engine.claim(claim(), caller))
      await engine.submit(complete(held!), caller)
      await engine.close()
      return { inner, snapshots, log: await logOf(inner) }
    }
    const [real, forged] = [await build('real'), await build('forged')]
    // The forged log has the ids of the real one.
    const store: EventStore = {
      ...forged.inner,
      pick: async (name, revisions) => (await forged.inner.pick(name, revisions)).map((event, i) => (event === undefined ? undefined : { ...event, id: real.log[revisions[i]!]!.id })),
    }
    const { warnings } = await openQueue({ store, snapshots: real.snapshots })
    expect(warnings.join()).toContain('the log was altered since: revision 2 does not have the hash that it had. Run daybook audit verify')
    expect((await openQueue({ store: real.inner, snapshots: real.snapshots })).warnings).toEqual([])
  })
})
