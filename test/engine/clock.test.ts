/** Wrong clocks: they do not stop a queue, and a clock that jumps ahead does not get into the log. */
import { createDaybook } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore, StoreTime } from '@daybook/adapters/store'
import { taskOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { caller, claim, codeOf, complete, configure, enqueue, fail, logOf, ok, openQueue, type OpenOptions, settle, sleep, task, typesIn, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const hour = 3_600_000
const year = 365 * 24 * hour

/** The clocks of a simulated machine: `offset` is how far its wall clock is ahead, `asleep` how long it has slept. */
const machine = () => {
  const state = { offset: 0, asleep: 0 }
  const options: OpenOptions = {
    clock: () => Date.now() + state.offset,
    monotonic: () => performance.now() - state.asleep,
    uptime: () => performance.now(),
  }
  return { state, options }
}

const timesIn = async (store: EventStore): Promise<ReadonlyArray<number>> =>
  (await logOf(store)).map(({ metadata }) => Date.parse((JSON.parse(metadata) as { at: string }).at))

/** A log with an event one year ahead. */
const aheadByAYear = async () => {
  const store = openMemoryStore({ isShared: true })
  const { engine } = await openQueue({ store, ...machine().options, clock: () => Date.now() + year })
  ok(await engine.submit(enqueue('first'), caller))
  await engine.close()
  return store
}

describe('a queue whose last event is ahead of every clock', () => {
  test('INV-14, GB-07: leases, delays, retries and breakers end when they should, and `at` continues from that event', async () => {
    const store = await aheadByAYear()
    const { engine } = await openQueue({ store, ...machine().options })
    await engine.submit(configure({ breakers: { defaults: { failureThreshold: 1, halfOpenAfter: 20 } }, defaults: { jitter: 0 } }), caller)
    const [first] = ok(await engine.claim(claim(), caller))
    await engine.submit(complete(first!), caller)
    await engine.submit(enqueue(task('leased', { timeout: 10 }), task('retried', { backoffSeconds: 15, maxRetries: 3 }), task('dead', { type: 'other', maxRetries: 1 })), caller)
    const held = ok(await engine.claim(claim('ann', 3), caller))
    for (const each of held) if (each.task !== 'leased') await engine.submit(fail(each), caller)
    await sleep(20_100)
    const [types, times] = [await typesIn(store), await timesIn(store)]
    const endOf = (type: string): number => Math.round(((times[types.indexOf(type)] ?? 0) - times[0]!) / 1_000)
    expect([endOf('ClaimExpired'), endOf('TaskDue'), endOf('BreakerHalfOpened')]).toEqual([10, 15, 20])
    expect(times).toEqual([...times].sort((a, b) => a - b))
  })

  test('works on every server: two of them, of which one only follows the event', async () => {
    const store = openMemoryStore({ isShared: true })
    const { engine: right } = await openQueue({ store })
    await right.submit(enqueue(task('a', { timeout: 10 })), caller)
    await right.claim(claim(), caller)
    const { engine: fast } = await openQueue({ store, ...machine().options, clock: () => Date.now() + year })
    await fast.submit(enqueue(task('b', { timeout: 10 })), caller)
    await fast.close()
    // The lease that the year ahead has ended at once is claimed again. From then on time passes normally.
    await until(async () => (await typesIn(store)).includes('ClaimExpired'))
    const bobs = ok(await right.claim(claim('bob'), caller, { waitMs: 60_000 })).concat(ok(await right.claim(claim('bob'), caller, { waitMs: 60_000 })))
    const began = Date.now()
    expect(bobs.length).toBe(2)
    await until(async () => (await typesIn(store)).filter((type) => type === 'ClaimExpired').length === 3)
    expect(Math.round((Date.now() - began) / 1_000)).toBe(10)
    expect(right.status().aheadMs / year).toBeCloseTo(1, 3)
  })

  test('is reported once an hour, and its status has the difference', async () => {
    const store = await aheadByAYear()
    const { engine, warnings } = await openQueue({ store, ...machine().options })
    for (let i = 0; i < 5; i++) await engine.submit(enqueue(`t${i}`), caller)
    expect(warnings).toEqual([expect.stringContaining("the queue's time is 31536000 s ahead of this clock")])
    expect(Math.round(engine.status().aheadMs / 1_000)).toBe(year / 1_000)
    await sleep(hour + 1)
    await engine.submit(enqueue('later'), caller)
    expect(warnings.length).toBe(2)
  })

  test('also continues if the clock is set back while a server runs', async () => {
    const { state, options } = machine()
    const { engine, store } = await openQueue(options)
    await engine.submit(enqueue(task('a', { timeout: 30 })), caller)
    await engine.claim(claim(), caller)
    state.offset = -year
    await sleep(30_010)
    expect(await typesIn(store)).toContain('ClaimExpired')
    expect(Math.round(engine.status().aheadMs / 1_000)).toBe(year / 1_000)
  })

  test('is not delayed by slow appends', async () => {
    const store = await aheadByAYear()
    const { engine, store: faulty } = await openQueue({ store, ...machine().options })
    const began = Date.now()
    for (let i = 0; i < 20; i++) {
      faulty.script.push({ kind: 'written late', ms: 700 })
      ok(await engine.submit(enqueue(`t${i}`), caller))
    }
    const times = await timesIn(store)
    expect(times[times.length - 1]! - times[0]!).toBeGreaterThan(Date.now() - began - 1_000)
  })
})

describe('a clock that jumps ahead', () => {
  test('is refused before it gets into the log; reads, time and leases continue; when the clock is right again, everything works', async () => {
    const { state, options } = machine()
    const { engine, store } = await openQueue(options)
    await engine.submit(enqueue('a', task('held', { timeout: 3_000 })), caller)
    const [held] = ok(await engine.claim(claim('ann', 1), caller))
    const before = await logOf(store)
    state.offset = 301_000
    const refused = await engine.submit(enqueue('b'), caller)
    expect(refused).toMatchObject({ left: { code: 'clock', retryAfterSeconds: 5, detail: expect.stringMatching(/jumped ahead by 301 s, to .*set it right.*--clock-jump off/s) } })
    expect((await engine.submitAll([complete(held!), enqueue('c')], caller)).map(codeOf)).toEqual(['clock', 'clock'])
    expect(codeOf(await engine.claim(claim('bob'), caller, { waitMs: 60_000 }))).toBe('clock')
    expect(ok(await engine.read((each) => taskOf(each, 'a')?.status))).toBe('in-progress')
    expect(await logOf(store)).toEqual(before)
    expect(engine.status().clockRefusal).toContain('jumped ahead')
    state.offset = 0
    expect(codeOf(await engine.submit(complete(held!), caller))).toBe('success')
    expect(engine.status().clockRefusal).toBeUndefined()
    const [first, ...times] = await timesIn(store)
    for (const time of times) expect(time - first!).toBeLessThan(60_000)
  })

  test('waiting claims are refused, and timers that were due meanwhile fire when the clock is right again, without any command', async () => {
    const { state, options } = machine()
    const { engine, store } = await openQueue(options)
    await engine.submit(enqueue(task('later', { availableAt: Date.now() + 5_000 })), caller)
    const waiting = engine.claim(claim(), caller, { waitMs: 120_000 })
    await settle()
    state.offset = year
    await sleep(10_000)
    expect(await typesIn(store)).toEqual(['TaskEnqueued'])
    expect(codeOf(await waiting)).toBe('clock')
    state.offset = 0
    await until(async () => (await typesIn(store)).includes('TaskDue'))
  })

  test('a clock that was set back and is set right again has not jumped', async () => {
    const { state, options } = machine()
    const { engine } = await openQueue(options)
    for (const offset of [0, -year, 0, -hour, 200_000, -year, 200_000]) {
      state.offset = offset
      expect(codeOf(await engine.submit(enqueue(`at ${offset}`), caller))).toBe('success')
    }
    state.offset = 600_000
    expect(codeOf(await engine.submit(enqueue('too far'), caller))).toBe('clock')
  })

  test('a clock that jumps by less is accepted', async () => {
    const { state, options } = machine()
    const { engine, store } = await openQueue(options)
    for (let i = 0; i < 5; i++) {
      state.offset += 299_000
      expect(codeOf(await engine.submit(enqueue(`t${i}`), caller))).toBe('success')
    }
    const times = await timesIn(store)
    expect(times[4]! - times[0]!).toBeGreaterThanOrEqual(4 * 299_000)
  })

  test.each([
    ['a bound of its own', { clockJumpMs: 10_000 }, 11_000, 'clock'],
    ['a bound of its own, not reached', { clockJumpMs: 10_000 }, 9_000, 'success'],
    ['no bound', { clockJumpMs: Number.POSITIVE_INFINITY }, 100 * year, 'success'],
  ])('%s', async (_, more, offset, want) => {
    const { state, options } = machine()
    const { engine } = await openQueue({ ...options, ...more })
    state.offset = offset
    expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe(want)
  })

  test('a machine that slept has not jumped: its wall clock went on, and the monotonic one did not', async () => {
    const { state, options } = machine()
    const { engine, store } = await openQueue(options)
    ok(await engine.submit(enqueue('a'), caller))
    for (let night = 1; night <= 3; night++) {
      await sleep(8 * hour)
      state.asleep += 8 * hour
      expect(codeOf(await engine.submit(enqueue(`b${night}`), caller))).toBe('success')
    }
    // Earlier sleep does not excuse a clock that is set ahead by as much.
    state.offset = 8 * hour
    expect(codeOf(await engine.submit(enqueue('c'), caller))).toBe('clock')
    expect((await logOf(store)).length).toBe(4)
  })

  test('a queue that is opened after the jump refuses it, too: the process has one clock', async () => {
    const { state, options } = machine()
    const daybook = createDaybook({ store: openMemoryStore(), ...options })
    await daybook.ready
    state.offset = year
    const engine = await daybook.open('late')
    expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe('clock')
    state.offset = 0
    expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe('success')
    await daybook.close()
  })
})

describe("a store with a clock of its own", () => {
  const withTime = (time: () => StoreTime | undefined): EventStore => ({ ...openMemoryStore({ isShared: true }), time })

  test('a server that starts with a clock ahead of the store is refused, also if the store was last heard some time ago', async () => {
    const heard = { time: Date.now(), heardAt: performance.now() }
    const { state, options } = machine()
    state.offset = year
    const store = withTime(() => heard)
    const { engine } = await openQueue({ store, ...options })
    await sleep(hour)
    const refused = await engine.submit(enqueue('a'), caller)
    expect(refused).toMatchObject({ left: { code: 'clock', detail: expect.stringContaining("31536000 s ahead of the store's") } })
    expect(await logOf(store)).toEqual([])
    state.offset = 0
    expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe('success')
  })

  test('a clock that is behind the store, or ahead by less than the limit, is accepted; so is any clock before the store was heard', async () => {
    for (const time of [{ time: Date.now() + year, heardAt: performance.now() }, { time: Date.now() - 299_000, heardAt: performance.now() }, undefined]) {
      const { engine } = await openQueue({ store: withTime(() => time), ...machine().options })
      expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe('success')
    }
  })
})

test('a wait of more than 2^31 ms is possible: a claim for tasks, and a reader for a revision', async () => {
  const { engine } = await openQueue()
  const weeks = 5 * 7 * 24 * hour
  let answered = 0
  const counted = async <A>(work: Promise<A>): Promise<A> => {
    const answer = await work
    answered++
    return answer
  }
  const waiting = [counted(engine.claim(claim(), caller, { waitMs: weeks })), counted(engine.reached(7, weeks))] as const
  for (let week = 1; week < 5; week++) await sleep(weeks / 5)
  await sleep(weeks / 5 - 1_000)
  expect(answered).toBe(0)
  await sleep(2_000)
  expect(answered).toBe(2)
  expect(await waiting[1]).toBe(false)
  expect(E.isRight(await waiting[0])).toBe(true)
})

test('a timer of more than 2^31 ms does not fire at once and for ever', async () => {
  let readings = 0
  const { engine } = await openQueue({ clock: () => (readings++, Date.now()), monotonic: () => performance.now() })
  await engine.submit(enqueue(task('later', { availableAt: Date.now() + year })), caller)
  readings = 0
  await sleep(2_000)
  expect(readings).toBeLessThan(50)
})
