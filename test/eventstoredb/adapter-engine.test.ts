/** An engine on EventStoreDB under faults; the log is audited afterwards. */
import { createDaybook, type EngineOptions, openEngine, type QueueEngine, streamOf } from '@daybook/adapters/engine'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import type { EventStore } from '@daybook/adapters/store'
import { describe, expect, test } from 'vitest'
import { answersMatchLog, leasesAreUnique, nothingIsLost, readLog, type Exchange } from '../support/audit.js'
import { append } from '../contract/check.js'
import { deleteStream, tombstoneStream, truncateStream } from '../support/eventstoredb/admin.js'
import type { RandomFaults } from '../support/eventstoredb/faults.js'
import { EventStoreServer } from '../support/eventstoredb/server.js'
import { claim, complete, caller, enqueue, logOf, ok, task } from '../support/queue.js'
import { memorySnapshots } from '../support/memory-snapshots.js'
import { isReplay, seeds } from '../support/seed.js'
import { simulate } from '../support/simulation.js'
import { knowsOfCut, open, useAdapter } from './adapter.js'
import { sleep, startServer, until } from './client.js'

useAdapter()

const choices: RandomFaults['choices'] = [
  { on: 'append', fault: { kind: 'drop', commit: false } },
  { on: 'append', fault: { kind: 'drop', commit: true } },
  { on: 'append', fault: { kind: 'timeout', commit: true, afterMs: 15 } },
  { on: 'append', fault: { kind: 'no-reply', commit: true } },
  { on: 'append', fault: { kind: 'no-reply', commit: false } },
  { on: 'append', fault: { kind: 'late-reply', afterMs: 130 } },
  { on: 'append', fault: { kind: 'duplicate-reply', afterMs: 5 } },
  { on: 'append', fault: { kind: 'not-ready' } },
  { on: 'append', fault: { kind: 'close-call', commit: true } },
  { on: 'append', fault: { kind: 'unavailable' } },
  { on: 'append', fault: { kind: 'slow', afterMs: 10 } },
  { on: 'read', fault: { kind: 'drop', afterEvents: 3 } },
  { on: 'read', fault: { kind: 'unavailable' } },
  { on: 'read', fault: { kind: 'close-call', afterEvents: 1 } },
  { on: 'read', fault: { kind: 'slow', afterMs: 10 } },
]

const report = { skipped: () => undefined, progress: () => undefined }
const engineOn = (store: EventStore, snapshots?: ReturnType<typeof memorySnapshots>, options: EngineOptions = {}): Promise<QueueEngine> =>
  openEngine(store, 'q', snapshots, report, { random: () => 0.5, ...options })

/** Enqueues, claims and completes tasks one after the other, and records the answers. */
const works = async (engine: QueueEngine, name: string, count: number, exchanges: Array<Exchange>): Promise<void> => {
  const send = async (command: Parameters<QueueEngine['submit']>[0], id: string) => {
    const outcome = await engine.submit(command, { ...caller, correlationId: id })
    exchanges.push({ id, command, outcome })
    return outcome
  }
  for (let i = 0; i < count; i++) {
    for (let attempt = 0; ; attempt++) {
      const outcome = await send(enqueue(task(`${name}-${i}`)), `${name}-enqueue-${i}-${attempt}`)
      if (outcome._tag === 'Right') break
      await sleep(30)
    }
    const id = `${name}-claim-${i}`
    const command = claim(name)
    const outcome = await engine.claim(command, { ...caller, correlationId: id })
    exchanges.push({ id, command, outcome })
    for (const held of outcome._tag === 'Right' ? outcome.right.value : []) {
      for (let attempt = 0; attempt < 100; attempt++) {
        const done = await send(complete(held, name), `${name}-complete-${i}-${attempt}`)
        if (done._tag === 'Right' || done.left.code !== 'unavailable') break
        await sleep(30)
      }
    }
  }
}

const audited = async (store: EventStore, exchanges: ReadonlyArray<Exchange>): Promise<number> => {
  const log = readLog(await logOf(store))
  answersMatchLog(exchanges, log)
  leasesAreUnique(log)
  nothingIsLost(log)
  return log.length
}

describe('an engine on EventStoreDB', () => {
  test('INV-1, INV-2, INV-9, INV-14, INV-15, INV-16, INV-19 and liveness: many callers with random faults of the server', async () => {
    let fired = 0
    // Four storms at least, and on a slow machine, where less happens in one, as many as it takes.
    for (const [storm, seed] of seeds(24).entries()) {
      if (storm >= 4 && fired > 40) break
      const server = await EventStoreServer.start()
      const inner = openEventStoreDb({ url: server.url, connectMs: 300, appendMs: 100, silenceMs: 100, livenessMs: 100 })
      const patient = openEventStoreDb({ url: server.url })
      server.faults.random({ seed, rate: 0.08, choices })
      try {
        await simulate(seed, { engines: 1, store: async () => ({ inner, heal: server.faults.clear, patient }) })
      } catch (error) {
        throw new Error(`SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
      } finally {
        fired += server.faults.fired.length
        await inner.close()
        await patient.close()
        await server.close()
      }
    }
    if (!isReplay) expect(fired).toBeGreaterThan(40)
  }, 300_000)

  test('INV-9, INV-16, INV-19: a server that is restarted under load', async () => {
    const server = await startServer()
    const store = open(server.url)
    const engine = await engineOn(store)
    const exchanges: Array<Exchange> = []
    let restarts = 0
    const load = ['ann', 'bob', 'cat'].map(async (name) => {
      for (let round = 0; round < 4 || restarts < 4; round++) await works(engine, `${name} ${round}`, 10, exchanges)
    })
    for (; restarts < 4; restarts++) {
      await sleep(60)
      await server.restart()
    }
    await Promise.all(load)
    expect(await audited(store, exchanges)).toBeGreaterThan(200)
    await engine.close()
  })

  test('a server that is away for a while: callers are refused, and everything works again by itself', async () => {
    const server = await startServer()
    const store = open(server.url)
    const engine = await engineOn(store)
    const exchanges: Array<Exchange> = []
    await works(engine, 'before', 3, exchanges)
    await server.stop()
    // The client must notice the cut connection first: what is sent before has an unknown outcome and is waited for.
    await knowsOfCut(store)
    const outcome = await engine.submit(enqueue('meanwhile'), { ...caller, correlationId: 'meanwhile' })
    exchanges.push({ id: 'meanwhile', command: enqueue('meanwhile'), outcome })
    expect(outcome).toMatchObject({ _tag: 'Left', left: { code: 'unavailable' } })
    await server.start()
    await works(engine, 'after', 3, exchanges)
    await audited(store, exchanges)
    await engine.close()
  })

  test('EV-11: an event of another program is kept and reported; nothing is decided after it unless an operator says so', async () => {
    const server = await startServer()
    const store = open(server.url)
    const engine = await engineOn(store)
    const exchanges: Array<Exchange> = []
    await works(engine, 'before', 2, exchanges)
    const head = await store.head(streamOf('q'))
    await append(store, streamOf('q'), [{ id: crypto.randomUUID(), type: 'Noise', data: 'no JSON', metadata: '' }], head)
    expect(await engine.submit(enqueue('refused'), caller)).toMatchObject({ _tag: 'Left', left: { code: 'read-only', detail: expect.stringContaining(`${head + 1} (Noise)`) as string } })
    expect(ok(await engine.read(() => true))).toBe(true)
    await engine.close()
    const again = await engineOn(store, undefined, { pastUnreadable: { q: head + 1 } })
    await works(again, 'after', 2, exchanges)
    expect(ok(await again.read(() => true))).toBe(true)
    expect((await logOf(store)).filter(({ type }) => type === 'Noise')).toHaveLength(1)
    expect(again.status().revision).toBe((await logOf(store)).length - 1)
    await again.close()
  })
})

describe('EV-03 an engine does not begin anew on a stream that', () => {
  const filled = async () => {
    const server = await startServer()
    const store = open(server.url)
    const snapshots = memorySnapshots()
    const engine = await engineOn(store, snapshots)
    await works(engine, 'ann', 5, [])
    return { server, store, snapshots, engine }
  }

  test('was truncated, unless a snapshot covers the missing events', async () => {
    const { server, store, snapshots, engine } = await filled()
    const { revision } = engine.status()
    await engine.close()
    await truncateStream(server, streamOf('q'), 4)
    await expect(engineOn(store)).rejects.toMatchObject({ code: 'truncated' })
    const again = await engineOn(store, snapshots)
    expect(again.status().revision).toBe(revision)
    await again.close()
  })

  test('was truncated beyond its end', async () => {
    const { server, store, snapshots, engine } = await filled()
    await engine.close()
    await truncateStream(server, streamOf('q'), 10_000)
    await expect(engineOn(store, snapshots)).rejects.toMatchObject({ code: 'truncated' })
  })

  test.each([
    ['cut', truncateStream],
    ['deleted', deleteStream],
  ] as const)('is %s while a server works on it: it warns, the queue goes on, and after the repair it warns no more', async (_, harm) => {
    const { server, store, engine } = await filled()
    await engine.close()
    const warnings: Array<string> = []
    const daybook = createDaybook({ store: open(server.url), warn: (message) => warnings.push(message) })
    await daybook.ready
    await harm(server, streamOf('q'), 4)
    await until(() => daybook.refused().length > 0)
    expect(daybook.refused()).toEqual([{ queue: 'q', reason: expect.stringMatching(/are gone|deleted/) as string }])
    expect(warnings.filter((each) => each.startsWith('queue q goes on from memory'))).toHaveLength(1)
    ok(await (await daybook.open('q')).submit(enqueue('still'), caller))
    await truncateStream(server, streamOf('q'), 0)
    await until(() => daybook.refused().length === 0)
    await daybook.close()
    await store.close()
  })

  test('was tombstoned: refused with the reason, by a running engine and at a start', async () => {
    const { server, store, snapshots, engine } = await filled()
    await tombstoneStream(server, streamOf('q'))
    const outcome = await engine.submit(enqueue('late'), caller)
    expect(outcome).toMatchObject({ _tag: 'Left', left: { code: 'unavailable', detail: expect.stringContaining('deleted by an administrator') as string } })
    await engine.close()
    await expect(engineOn(store, snapshots)).rejects.toMatchObject({ code: 'deleted' })
  })
})
