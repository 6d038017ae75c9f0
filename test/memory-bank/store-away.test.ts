/** The memory's followers of the log while the store is away, in virtual time. */
import { createDaybook } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type Memory, type MemoryBank, startMemory } from '@daybook/adapters/memory-bank'
import { StoreError } from '@daybook/adapters/store'
import { memoryCheckpoints } from '@daybook/projections'
import { expect, test } from 'vitest'
import { caller, claim, complete, enqueue, ok, sleep } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

interface Given {
  readonly at: number
  readonly memories: ReadonlyArray<Memory>
}

/** A result that is remembered. */
const finding = JSON.stringify({ decisionReport: 'done', discoveries: [{ type: 'rumour', details: 'found' }] })

/** Notes when it is given memories. */
const notingBank = (given: Array<Given>): MemoryBank => ({
  name: 'noted',
  identity: async () => 'noted',
  mayHaveMemories: () => true,
  remember: async (memories) => {
    given.push({ at: Date.now(), memories })
  },
  recall: async (_, requests) => requests.map(() => []),
  interrupt: () => undefined,
  close: async () => undefined,
})

test('TQM-MEM-001: what was completed is remembered at most five seconds after the store is back, however long it was away', async () => {
  const given: Array<Given> = []
  const store = openMemoryStore()
  let isAway = false
  let tries = 0
  const here = <A extends ReadonlyArray<unknown>, B>(read: (...args: A) => B) => (...args: A): B => {
    tries++
    if (isAway) throw new StoreError('unavailable', 'the store is away')
    return read(...args)
  }
  const daybook = createDaybook({ store: { ...store, read: here(store.read), pick: here(store.pick), head: here(store.head) } })
  const memory = startMemory({ daybook, bank: notingBank(given), checkpoints: () => memoryCheckpoints(), recallMs: 50, limit: 5 })
  try {
    const engine = await daybook.open('q')
    ok(await engine.submit(enqueue('a'), caller))
    const [held] = ok(await engine.claim(claim(), caller))
    isAway = true
    tries = 0
    ok(await engine.submit({ ...complete(held!), content: finding }, caller))
    await sleep(600_000)
    expect(memory.status()).toMatchObject([{ problem: { reason: 'the store is away' } }])
    expect(given).toEqual([])
    // Also where a long rest happens to end when the store is back.
    expect(tries).toBeGreaterThanOrEqual(100)
    isAway = false
    const back = Date.now()
    await sleep(120_000)
    expect(given).toHaveLength(1)
    expect(given[0]!.at - back).toBeLessThanOrEqual(5_000)
  } finally {
    await memory.close()
    await daybook.close()
  }
})

test('TQM-MEM-001: the reason of a problem has the cause once, also where the message has it already', async () => {
  const store = openMemoryStore()
  let error: Error | undefined
  const daybook = createDaybook({ store: { ...store, pick: (stream, revisions) => (error === undefined ? store.pick(stream, revisions) : Promise.reject(error)) } })
  const memory = startMemory({ daybook, bank: notingBank([]), checkpoints: () => memoryCheckpoints(), recallMs: 50, limit: 5 })
  try {
    const engine = await daybook.open('q')
    ok(await engine.submit(enqueue('a'), caller))
    const [held] = ok(await engine.claim(claim(), caller))
    await sleep(1_000)
    const cause = new Error('connection refused')
    error = new StoreError('unavailable', 'It cannot be reached [connection refused]. Is the port right?', { cause })
    ok(await engine.submit({ ...complete(held!), content: finding }, caller))
    await sleep(60_000)
    expect(memory.status()).toMatchObject([{ problem: { reason: 'It cannot be reached [connection refused]. Is the port right?' } }])
    error = new StoreError('unavailable', 'fetch failed', { cause })
    await sleep(60_000)
    expect(memory.status()).toMatchObject([{ problem: { reason: 'fetch failed: connection refused' } }])
  } finally {
    await memory.close()
    await daybook.close()
  }
})

test('TQM-MEM-001: if events of the log are gone for good, the status says that nothing is remembered any more', async () => {
  const store = openMemoryStore()
  let isGone = false
  const daybook = createDaybook({
    store: { ...store, pick: async (stream, revisions) => (isGone ? Promise.reject(new StoreError('truncated', 'events are gone')) : store.pick(stream, revisions)) },
  })
  const memory = startMemory({ daybook, bank: notingBank([]), checkpoints: () => memoryCheckpoints(), recallMs: 50, limit: 5 })
  try {
    const engine = await daybook.open('q')
    ok(await engine.submit(enqueue('a'), caller))
    const [held] = ok(await engine.claim(claim(), caller))
    await sleep(1_000)
    isGone = true
    ok(await engine.submit({ ...complete(held!), content: finding }, caller))
    await sleep(600_000)
    expect(memory.status()).toMatchObject([{ problem: { reason: 'events are gone' } }])
  } finally {
    await memory.close()
    await daybook.close()
  }
})

// A read fails with the reason, and `pick` of EventStoreDB has nothing to show for revisions that an administrator has cut off.
test('TQM-MEM-001: a completion that is known and cannot be picked is not passed over: it is remembered later, or the status says why not', async () => {
  const given: Array<Given> = []
  const store = openMemoryStore()
  let unseen = 0
  let isCutOff = false
  const daybook = createDaybook({
    store: {
      ...store,
      pick: async (stream, revisions) => (isCutOff || --unseen >= 0 ? revisions.map(() => undefined) : store.pick(stream, revisions)),
      read: (stream, options) => {
        if (isCutOff) throw new StoreError('truncated', 'events are gone')
        return store.read(stream, options)
      },
    },
  })
  const memory = startMemory({ daybook, bank: notingBank(given), checkpoints: () => memoryCheckpoints(), recallMs: 50, limit: 5 })
  try {
    const engine = await daybook.open('q')
    const completeOne = async (id: string): Promise<void> => {
      ok(await engine.submit(enqueue(id), caller))
      const [held] = ok(await engine.claim(claim(), caller))
      await sleep(1_000)
      unseen = 3
      ok(await engine.submit({ ...complete(held!), content: finding }, caller))
    }
    await completeOne('a')
    await sleep(60_000)
    expect(given).toHaveLength(1)
    isCutOff = true
    await completeOne('b')
    await sleep(60_000)
    expect(given).toHaveLength(1)
    expect(memory.status()).toMatchObject([{ problem: { reason: 'events are gone' } }])
  } finally {
    await memory.close()
    await daybook.close()
  }
})
