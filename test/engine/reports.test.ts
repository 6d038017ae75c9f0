/** A report counts by its arrival: if it arrived before the end of its lease, it is not refused because this server was busy, down, or could not write. */
import { openMemoryStore } from '@daybook/adapters/memory'
import type { QueueEngine } from '@daybook/adapters/engine'
import type { Command } from '@daybook/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { caller, claim, codeOf, complete, enqueue, fail, heartbeat, ok, openQueue, type OpenOptions, settle, sleep, task, typesIn, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

/** The grace period for agents' reports, in milliseconds. */
const leaseGraceMs = 10_000

const leaseMs = 2_000
const leased = (id: string) => task(id, { timeout: leaseMs / 1_000, maxRetries: 9, backoffSeconds: 0 })

/** A queue after the grace period of its start, in which ann holds task a. */
const holding = async (options: OpenOptions = {}) => {
  const opened = await openQueue({ leaseGraceMs, ...options })
  await sleep(2 * leaseGraceMs)
  await opened.engine.submit(enqueue(leased('a')), caller)
  const [held] = ok(await opened.engine.claim(claim(), caller))
  return { ...opened, held: held! }
}

type Held = Awaited<ReturnType<typeof holding>>['held']
const reports: Readonly<Record<string, (held: Held) => Command>> = {
  completion: complete,
  failure: (held) => fail(held),
  heartbeat: (held) => heartbeat(held),
  refusal: ({ task: id, token }) => ({ type: 'Release', task: id, token, agent: 'ann', reason: 'not mine' }),
}

/** Makes both appends in flight wait for the store, until the returned function is called. */
const occupy = async ({ engine, store }: Pick<Awaited<ReturnType<typeof holding>>, 'engine' | 'store'>): Promise<() => Promise<void>> => {
  const release = store.hold()
  const others: Array<Promise<unknown>> = []
  for (const id of ['b', 'c']) {
    others.push(engine.submit(enqueue(id), caller))
    await settle()
  }
  expect(store.open().now).toBe(2)
  return async () => {
    release()
    await Promise.all(others)
  }
}

const expiredIn = async (store: Parameters<typeof typesIn>[0]): Promise<number> => (await typesIn(store)).filter((type) => type === 'ClaimExpired').length

describe('GB-03: while the store is slow', () => {
  // Without a grace period, only arrivals decide about the end of a lease.
  const slow = { leaseGraceMs: 0 }

  test.each(Object.entries(reports))('a %s that arrived before the end of its lease is accepted after it', async (_, report) => {
    const opened = await holding(slow)
    const { engine, store, held } = opened
    const release = await occupy(opened)
    await sleep(leaseMs - 100)
    const outcome = engine.submit(report(held), caller)
    await sleep(2_500)
    // A command that arrived late does not change the decision about one that arrived in time.
    const late = engine.submit(enqueue('d'), caller)
    await release()
    expect(codeOf(await outcome)).toBe('success')
    await late
    expect(await expiredIn(store)).toBe(0)
  })

  test('rule: a report is accepted if it arrived before the end of its lease, and refused if it arrived after it, however long the store was away', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 * leaseMs }), fc.integer({ min: 0, max: 3 * leaseMs }), fc.constantFrom(...Object.keys(reports)), async (afterMs, awayMs, kind) => {
        const opened = await holding(slow)
        const { engine, held } = opened
        const release = await occupy(opened)
        const began = held.expiresAt - leaseMs
        await sleep(Math.max(0, began + afterMs - Date.now()))
        const arrivedAt = Date.now()
        const outcome = engine.submit((reports[kind] as (typeof reports)[string])(held), caller)
        await sleep(Math.max(0, began + awayMs - Date.now()))
        await release()
        expect(codeOf(await outcome)).toBe(arrivedAt < held.expiresAt ? 'success' : 'lease-lost')
        await engine.close()
      }),
      runs(30),
    )
  })

  test('a report that is decided again after a conflict counts by its first arrival', async () => {
    const inner = openMemoryStore({ isShared: true })
    const { engine, store, held } = await holding({ ...slow, store: inner })
    await sleep(leaseMs - 100)
    store.script.push({
      kind: 'after',
      run: async () => {
        await sleep(2_500)
        // The engine has just started, so it does not end leases yet.
        const other = await openQueue({ store: inner, leaseGraceMs })
        await other.engine.submit(enqueue('theirs'), caller)
      },
    })
    const outcome = engine.submit(complete(held), caller)
    expect(codeOf(await outcome)).toBe('success')
    expect(await expiredIn(store)).toBe(0)
  })
})

describe('GB-03: while the store cannot write', () => {
  test('refused reports are waited for: an agent that retries within the grace period is accepted', async () => {
    const { engine, store, held } = await holding()
    await sleep(leaseMs - 100)
    store.script.push({ kind: 'unavailable' })
    expect(codeOf(await engine.submit(complete(held), caller))).toBe('unavailable')
    await sleep(leaseGraceMs - 500)
    expect(codeOf(await engine.submit(complete(held), caller))).toBe('success')
    expect(await expiredIn(store)).toBe(0)
  })

  test('but not longer: then the lease ends without any command', async () => {
    const { engine, store, held } = await holding()
    await sleep(leaseMs - 100)
    store.script.push({ kind: 'unavailable' })
    expect(codeOf(await engine.submit(enqueue('b'), caller))).toBe('unavailable')
    await until(async () => (await expiredIn(store)) === 1)
    expect(codeOf(await engine.submit(complete(held), caller))).toBe('lease-lost')
  })
})

describe('GB-03: after this server was away', () => {
  /** Ann's lease ended while no server ran. */
  const restarted = async () => {
    const store = openMemoryStore()
    const { engine, held } = await holding({ store })
    await engine.close()
    await sleep(60_000)
    return { ...(await openQueue({ store, leaseGraceMs })), held }
  }

  test('a report that arrives soon after a start is accepted', async () => {
    const { engine, store, held } = await restarted()
    await sleep(leaseGraceMs - 500)
    expect(codeOf(await engine.submit(complete(held), caller))).toBe('success')
    expect(await expiredIn(store)).toBe(0)
  })

  test('without a report, the lease ends without any command', async () => {
    const { engine, store, held } = await restarted()
    await until(async () => (await expiredIn(store)) === 1)
    expect(codeOf(await engine.submit(heartbeat(held), caller))).toBe('lease-lost')
  })

  /** Simulates a process that is stopped or swapped out. Afterwards all due timers fire at once. */
  const standStill = (engine: QueueEngine, ms: number, clock: { now: number }): Promise<unknown> => {
    clock.now += ms
    return engine.read(() => 0)
  }

  test('a process that stood still leaves time for reports to be read, at least a tenth of the grace period', async () => {
    const clock = { now: Date.now() }
    const time = { clock: () => clock.now, monotonic: () => clock.now }
    const { engine, store } = await openQueue({ leaseGraceMs, ...time })
    await standStill(engine, 2 * leaseGraceMs, clock)
    await engine.submit(enqueue(leased('a'), leased('b')), caller)
    const [a, b] = ok(await engine.claim(claim('ann', 2), caller))
    await standStill(engine, leaseMs + 100, clock)
    expect(codeOf(await engine.submit(complete(a!), caller))).toBe('success')
    await standStill(engine, leaseGraceMs / 10 + 1, clock)
    expect(await expiredIn(store)).toBe(1)
    expect(codeOf(await engine.submit(complete(b!), caller))).toBe('lease-lost')
  })

  test('one that stood still at the end of a grace period leaves it for leases that ended meanwhile, too', async () => {
    const clock = { now: Date.now() }
    const { engine, store } = await openQueue({ leaseGraceMs, clock: () => clock.now, monotonic: () => clock.now })
    await engine.submit(enqueue(leased('a'), leased('b')), caller)
    ok(await engine.claim(claim('ann', 1), caller))
    await standStill(engine, leaseGraceMs - 100, clock)
    const [b] = ok(await engine.claim(claim('bob', 1), caller))
    await standStill(engine, leaseMs + 1_000, clock)
    expect(await expiredIn(store)).toBe(1)
    expect(codeOf(await engine.submit(complete(b!, 'bob'), caller))).toBe('success')
  })
})

describe('GB-03: while the clock of this server is refused', () => {
  /** The clock jumps ahead by an hour, and is set right after this many milliseconds. */
  const refusedFor = async (ms: number, before: (opened: Awaited<ReturnType<typeof openQueue>>) => Promise<void>) => {
    const wall = { offset: 0 }
    const opened = await openQueue({ leaseGraceMs, clock: () => Date.now() + wall.offset, monotonic: () => performance.now(), uptime: () => performance.now() })
    await sleep(2 * leaseGraceMs)
    await opened.engine.submit(enqueue(leased('a'), leased('b')), caller)
    await before(opened)
    wall.offset = 3_600_000
    await sleep(ms)
    return { ...opened, setRight: () => void (wall.offset = 0) }
  }

  test('refused reports are waited for, however shortly before its end the lease was over', async () => {
    let held: Held | undefined
    const { engine, store, setRight } = await refusedFor(leaseMs + 100, async ({ engine: opened }) => void ([held] = ok(await opened.claim(claim(), caller))))
    expect(codeOf(await engine.submit(complete(held!), caller))).toBe('clock')
    setRight()
    await sleep(leaseGraceMs - 500)
    expect(codeOf(await engine.submit(complete(held!), caller))).toBe('success')
    expect(await expiredIn(store)).toBe(0)
  })

  test('but not longer: then the lease ends without any command', async () => {
    const { store, setRight } = await refusedFor(leaseMs + 100, async ({ engine }) => void ok(await engine.claim(claim(), caller)))
    setRight()
    await until(async () => (await expiredIn(store)) === 1)
  })
})

test('GB-03: in an idle queue a lease ends on time, and a later report is late', async () => {
  const { engine, store, held } = await holding()
  await sleep(leaseMs + 10)
  expect(await expiredIn(store)).toBe(1)
  expect(codeOf(await engine.submit(complete(held), caller))).toBe('lease-lost')
})

test('GB-03: a report counts by its arrival only if its token is still the newest', async () => {
  const { engine, store, held } = await holding()
  await sleep(leaseMs + 10)
  const [again] = ok(await engine.claim(claim('bob'), caller))
  const release = store.hold()
  const busy = ['b', 'c'].map((id) => engine.submit(enqueue(id), caller))
  await settle()
  const [late, right] = [engine.submit(complete(held), caller), engine.submit(complete(again!, 'bob'), caller)]
  release()
  expect([codeOf(await late), codeOf(await right)]).toEqual(['lease-lost', 'success'])
  await Promise.all(busy)
})

test('GB-03: two servers: the timer of one leaves half a second for the commands that have reached the other', async () => {
  const inner = openMemoryStore({ isShared: true })
  const { engine: here, held } = await holding({ store: inner })
  const there = await openQueue({ store: inner, leaseGraceMs })
  await sleep(leaseMs - 50)
  const release = there.store.hold()
  const outcome = there.engine.submit(complete(held), caller)
  await sleep(400)
  release()
  expect(codeOf(await outcome)).toBe('success')
  await here.read(() => 0)
  expect(await expiredIn(inner)).toBe(0)
})

test('other timers do not wait for reports: a delay ends on time after a start, while a lease is kept', async () => {
  const store = openMemoryStore()
  const { engine } = await holding({ store })
  await engine.submit(enqueue(task('later', { availableAt: Date.now() + 60_100 })), caller)
  await engine.close()
  await sleep(60_000)
  await openQueue({ store, leaseGraceMs })
  await sleep(200)
  expect((await typesIn(store)).slice(2)).toEqual(['TaskEnqueued', 'TaskDue'])
})
