/** The engine under random faults of the store. Each run has other faults, by the seeds of `support/seed.ts`. */
import type { EventStore } from '@daybook/adapters/store'
import type { QueueEngine } from '@daybook/adapters/engine'
import { expect, test } from 'vitest'
import { answersMatchLog, leasesAreUnique, nothingIsLost, readLog } from '../support/audit.js'
import { openMemoryStore } from '@daybook/adapters/memory'
import { claim, complete, caller, enqueue, logOf, ok, openQueue } from '../support/queue.js'
import { randomOf } from '../support/random.js'
import { fixedSeed, isReplay, seeds } from '../support/seed.js'
import { simulate, type SimulationOptions, type SimulationReport } from '../support/simulation.js'

/** Runs some seeds concurrently, because most of a run is waiting. */
const runSeeds = async (count: number, options: SimulationOptions): Promise<ReadonlyArray<SimulationReport>> => {
  const reports: Array<SimulationReport> = []
  const left = [...seeds(count)]
  const run = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      try {
        reports.push(await simulate(seed, options))
      } catch (error) {
        left.length = 0
        throw new Error(`SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
      }
    }
  }
  await Promise.all(Array.from({ length: 6 }, run))
  return reports
}

test('INV-1, INV-2, INV-9, INV-14, INV-15, INV-16, INV-19 and liveness: one engine on a faulty store', async () => {
  const reports = await runSeeds(24, { engines: 1 })
  if (isReplay) return
  const codes = new Set(reports.flatMap(({ exchanges }) => exchanges.map(({ outcome }) => (outcome._tag === 'Left' ? outcome.left.code : 'success'))))
  for (const code of ['success', 'unavailable', 'lease-lost', 'not-found']) expect(codes).toContain(code)
  expect(reports.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(8_000)
}, 900_000)

test('INV-1, INV-2, INV-9, INV-14, INV-15, INV-16, INV-19 and liveness: two engines on one queue', async () => {
  await runSeeds(12, { engines: 2 })
}, 900_000)

// ------------------------------------------------------------------ teeth

/** The failure at the first seed that reveals the planted defect. */
const firstFailure = async (options: SimulationOptions): Promise<string> => {
  for (let seed = fixedSeed; seed < fixedSeed + 20; seed++) {
    try {
      await simulate(seed, options)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  return 'not caught'
}

const now = (inner: EventStore, change: (append: EventStore['append']) => EventStore['append']): EventStore => ({ ...inner, append: change(inner.append) })
/** True for a random share of the calls. */
const sometimes = (share = 0.02) => {
  const random = randomOf(5)
  return (): boolean => random() < share
}

test('teeth: a store that acknowledges what it does not write', async () => {
  const drops = sometimes()
  const other = { type: 'BreakerOpened', data: '{"taskType":"none","cause":"manual"}' }
  const found = await firstFailure({
    engines: 1,
    breakStore: (inner) => now(inner, (append) => (stream, events, expected, continues) =>
      append(stream, events.map((event) => (event.type === 'TaskEnqueued' && drops() ? { ...event, ...other } : event)), expected, continues)),
  })
  expect(found).toMatch(/^INV-19: (it was acknowledged|.* with the content of another)/)
}, 600_000)

test('teeth: a store that loses what it has acknowledged', async () => {
  const drops = sometimes()
  const found = await firstFailure({
    engines: 1,
    breakStore: (inner) => now(inner, (append) => (stream, events, expected, continues) =>
      drops() ? async () => ({ _tag: 'Right', right: { revision: (typeof expected === 'number' ? expected : -1) + events.length, seal: '' } }) : append(stream, events, expected, continues)),
  })
  expect(found).toMatch(/^INV-19: .* was told revision/)
}, 600_000)

test('teeth: a store that writes what it refuses', async () => {
  const lies = sometimes()
  const found = await firstFailure({
    engines: 1,
    breakStore: (inner) => now(inner, (append) => (stream, events, expected, continues) => async () => {
      const result = await append(stream, events, expected, continues)()
      return result._tag === 'Right' && lies() ? { _tag: 'Left', left: { _tag: 'Unavailable', reason: 'so it says' } } : result
    }),
  })
  expect(found).toMatch(/^INV-16: it was refused, and happened|^INV-19: it happened twice/)
}, 600_000)

test('teeth: a store that writes twice', async () => {
  const repeats = sometimes()
  const found = await firstFailure({
    engines: 1,
    breakStore: (inner) => now(inner, (append) => (stream, events, expected, continues) => async () => {
      const result = await append(stream, events, expected, continues)()
      if (result._tag === 'Right' && repeats()) await append(stream, events, 'any')()
      return result
    }),
  })
  expect(found).toMatch(/^INV-19: event .* twice/)
}, 600_000)

test('teeth: a store that writes half of an append', async () => {
  const halves = sometimes(0.05)
  const found = await firstFailure({
    engines: 1,
    breakStore: (inner) => now(inner, (append) => (stream, events, expected, continues) =>
      events.length > 1 && halves() ? append(stream, events.slice(0, -1), expected, continues) : append(stream, events, expected, continues)),
  })
  expect(found).toMatch(/^INV-1[69]: /)
}, 600_000)

/** The engine with some methods replaced. */
const but = (engine: QueueEngine, change: Partial<QueueEngine>): QueueEngine =>
  new Proxy(engine, {
    get: (target, key) => {
      const value: unknown = Reflect.get(key in change ? change : target, key)
      return typeof value === 'function' && !(key in change) ? (value.bind(target) as unknown) : value
    },
  })

test('teeth: an engine that acknowledges what was refused', async () => {
  const found = await firstFailure({
    engines: 1,
    breakEngine: (engine) => but(engine, {
      submit: (async (command, by) => {
        const outcome = await engine.submit(command, by)
        return outcome._tag === 'Left' && outcome.left.code === 'unavailable' && command.type === 'Enqueue'
          ? { _tag: 'Right', right: { value: command.tasks.map(({ id }) => ({ id, duplicate: false })), revision: 0 } }
          : outcome
      }) as QueueEngine['submit'],
    }),
  })
  expect(found).toMatch(/^INV-19: /)
}, 600_000)

test('teeth: an engine that acknowledges half of its completions and drops them', async () => {
  const forgets = sometimes(0.5)
  const found = await firstFailure({
    engines: 1,
    breakEngine: (engine) => but(engine, {
      submit: (async (command, by) =>
        command.type === 'Complete' && forgets()
          ? { _tag: 'Right', right: { value: { status: 'completed' }, revision: engine.status().revision } }
          : engine.submit(command, by)) as QueueEngine['submit'],
    }),
  })
  expect(found).toMatch(/^INV-19: it was acknowledged/)
}, 600_000)

test('teeth: an engine that sends a command twice', async () => {
  const repeats = sometimes()
  const found = await firstFailure({
    engines: 1,
    breakEngine: (engine) => but(engine, {
      submit: (async (command, by) => {
        const outcome = await engine.submit(command, by)
        return command.type === 'Heartbeat' || repeats() ? engine.submit(command, by) : outcome
      }) as QueueEngine['submit'],
    }),
  })
  expect(found).toMatch(/^INV-1[69]: /)
}, 600_000)

test('teeth: an engine that never hands out the tasks of some groups', async () => {
  const found = await firstFailure({
    engines: 1,
    breakEngine: (engine) => but(engine, {
      claim: (command, by, options) => engine.claim({ ...command, types: ['work', 'toil'] }, by, options),
    }),
  })
  expect(found).toMatch(/^liveness: a task can be claimed/)
}, 600_000)

test('teeth: a log with two leases of one task, a token that does not grow, time that goes back, or a lost task', async () => {
  const { engine, store } = await openQueue({ store: openMemoryStore() })
  await engine.submit(enqueue('a', 'b'), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  await engine.submit(complete(held!), caller)
  await engine.claim(claim('bob'), caller)
  const log = await logOf(store)
  const entries = readLog(log)
  leasesAreUnique(entries)
  nothingIsLost(entries)
  const without = (type: string) => readLog(log.filter((event) => event.type !== type).map((event, revision) => ({ ...event, revision })))
  const altered = (revision: number, from: RegExp, to: string, field: 'data' | 'metadata' = 'data') =>
    readLog(log.map((event) => (event.revision === revision ? { ...event, [field]: event[field].replace(from, to) } : event)))
  expect(() => leasesAreUnique(altered(4, /"task":"b"/, '"task":"a"').filter(({ event }) => event.type !== 'Completed'))).toThrow('INV-1:')
  expect(() => leasesAreUnique(altered(4, /"token":2/, '"token":1'))).toThrow('INV-2: the token')
  expect(() => leasesAreUnique(altered(3, /"token":1/, '"token":2'))).toThrow('INV-2: not the newest')
  expect(() => leasesAreUnique(altered(4, /"at":"\d{4}/, '"at":"1999', 'metadata'))).toThrow('INV-14')
  expect(() => nothingIsLost(altered(1, /"number":2/, '"number":1'))).toThrow('INV-9')
  expect(() => nothingIsLost(without('Claimed'))).toThrow('do not fit')
  expect(() => answersMatchLog([{ id: 'x', command: enqueue('z'), outcome: { _tag: 'Right', right: { value: [{ id: 'z', duplicate: false }], revision: 0 } } }], entries)).toThrow('INV-19: it was acknowledged')
})
