/** Group commit: commands that arrive together share one append. */
import { openMemoryStore } from '@daybook/adapters/memory'
import { expect, test } from 'vitest'
import { claim, codeOf, complete, configure, caller, enqueue, isSettled, logOf, ok, openQueue, settle, task, typesIn } from '../support/queue.js'

test('commands of one turn share one append, in the order of submission', async () => {
  const { engine, store } = await openQueue()
  const outcomes = await Promise.all(['a', 'b', 'c'].map((id) => engine.submit(enqueue(id), caller)))
  expect(store.appends).toEqual([3])
  expect(outcomes.map((outcome) => ok(outcome)[0])).toMatchObject([{ id: 'a', number: 1 }, { id: 'b', number: 2 }, { id: 'c', number: 3 }])
})

test('submitAll gives each command its own outcome, in order, in one append', async () => {
  const { engine, store } = await openQueue()
  const unknown = complete({ task: 'nobody', token: 1 })
  const outcomes = await engine.submitAll([enqueue('a'), unknown, claim(), enqueue('b')], caller)
  expect(outcomes.map(codeOf)).toEqual(['success', 'not-found', 'success', 'success'])
  expect(store.appends).toEqual([3])
  expect(await engine.submitAll([], caller)).toEqual([])
})

test('at most two appends are in flight; commands that arrive meanwhile share the next', async () => {
  const { engine, store } = await openQueue()
  const release = store.hold()
  const answers = []
  for (let i = 0; i < 10; i++) {
    answers.push(engine.submit(enqueue(`t${i}`), caller))
    await settle()
  }
  expect(store.open()).toEqual({ now: 2, most: 2 })
  expect(engine.status()).toMatchObject({ appendsInFlight: 2, mailbox: 8 })
  release()
  await Promise.all(answers)
  expect(store.appends).toEqual([1, 1, 8])
  expect(store.open().most).toBe(2)
})

test('only one append is in flight if other processes append to the queue, too', async () => {
  const { engine, store } = await openQueue({ store: openMemoryStore({ isShared: true }) })
  const release = store.hold()
  const answers = []
  for (let i = 0; i < 4; i++) {
    answers.push(engine.submit(enqueue(`t${i}`), caller))
    await settle()
  }
  expect(store.open().now).toBe(1)
  release()
  await Promise.all(answers)
  expect(store.appends).toEqual([1, 3])
})

test('an append holds no more than batchEventsMax events, unless one command has more', async () => {
  const { engine, store } = await openQueue({ batchEventsMax: 4 })
  await engine.submitAll(Array.from({ length: 10 }, (_, i) => enqueue(`t${i}`)), caller)
  expect(store.appends).toEqual([4, 4, 2])
  await engine.submit(enqueue(...Array.from({ length: 9 }, (_, i) => `u${i}`)), caller)
  expect(store.appends).toEqual([4, 4, 2, 9])
})

const tight = (limits: { appendBytesMax?: number; appendEventsMax?: number }) => {
  const inner = openMemoryStore()
  return { ...inner, limits: { ...inner.limits, ...limits } }
}

test("an append stays below the store's limits; a command that cannot is refused and writes nothing (INV-16)", async () => {
  const { engine, store } = await openQueue({ store: tight({ appendEventsMax: 5, appendBytesMax: 4_000 }) })
  const big = task('big', { content: JSON.stringify({ payload: 'x'.repeat(5_000) }) })
  const outcomes = await engine.submitAll([enqueue('a'), enqueue(big), enqueue(...'bcdefg'), enqueue('h')], caller)
  expect(outcomes.map(codeOf)).toEqual(['success', 'too-large', 'too-large', 'success'])
  expect(await typesIn(store)).toEqual(['TaskEnqueued', 'TaskEnqueued'])
  const many = Array.from({ length: 30 }, (_, i) => enqueue(task(`m${i}`, { content: JSON.stringify({ payload: 'x'.repeat(1_000) }) })))
  const before = store.appends.length
  await engine.submitAll(many, caller)
  expect(await logOf(store)).toHaveLength(32)
  // Each has about 1,500 bytes, so two fit. The measured size decides, not the estimate.
  expect(store.appends.slice(before)).toEqual(Array(15).fill(2))
})

test('a task with more dependents than one append can hold is not cancelled, and the refusal says how it can be', async () => {
  const { engine } = await openQueue({ store: tight({ appendEventsMax: 5 }) })
  const cancel = (): Promise<unknown> => engine.submit({ type: 'Cancel', task: 'hub', reason: 'not needed' }, caller)
  await engine.submitAll([enqueue('hub'), ...Array.from({ length: 6 }, (_, i) => enqueue(task(`d${i}`, { type: 'dependent', dependencies: ['hub'] })))], caller)
  expect(await cancel()).toMatchObject({ left: { code: 'too-large', detail: expect.stringContaining('cancel them first, by a filter') as string } })
  ok(await engine.submit({ type: 'CancelAll', filter: { type: 'dependent' }, reason: 'not needed', max: 4 }, caller))
  expect(await cancel()).toMatchObject({ _tag: 'Right' })
})

test('a claim of more tasks than one append can hold takes as many as fit', async () => {
  const { engine, store } = await openQueue({ store: tight({ appendEventsMax: 8 }) })
  await engine.submitAll(Array.from({ length: 20 }, (_, i) => enqueue(`t${i}`)), caller)
  const first = ok(await engine.claim(claim('ann', 20), caller))
  expect(first.map(({ task: id }) => id)).toEqual(['t0', 't1', 't2', 't3', 't4'])
  expect(ok(await engine.claim(claim('ann', 20), caller, { waitMs: 50 })).length).toBeGreaterThan(0)
  expect(Math.max(...store.appends)).toBeLessThanOrEqual(8)
})

test('more expired timers than one append can hold: the tick is split', async () => {
  let now = 1_000_000
  const { engine, store } = await openQueue({ store: tight({ appendEventsMax: 8 }), clock: () => now })
  await engine.submit(configure({ breakers: { defaults: { failureThreshold: 3 } } }), caller)
  await engine.submitAll(Array.from({ length: 20 }, (_, i) => enqueue(task(`t${i}`, { maxRetries: i % 2 }))), caller)
  for (let i = 0; i < 5; i++) await engine.claim(claim('ann', 4), caller)
  now += 60_000
  const depth = ok(await engine.read((state) => state)) && (await engine.submit(enqueue('last'), caller))
  expect(codeOf(depth)).toBe('success')
  const types = await typesIn(store)
  expect(types.filter((type) => type === 'ClaimExpired')).toHaveLength(20)
  expect(types.filter((type) => type === 'DeadLettered')).toHaveLength(20)
  expect(types.filter((type) => type === 'BreakerOpened')).toHaveLength(1)
  expect(types.indexOf('BreakerOpened')).toBe(types.flatMap((type, i) => (type === 'DeadLettered' ? [i] : []))[2]! + 1)
})

test('more rates that admit starts again than one append can hold: the tick is split', async () => {
  let now = 1_000_000
  let readings = 0
  // A tick that never fits would be decided again and again, without a pause in which a test could end.
  const clock = (): number => {
    if (++readings > 10_000) throw new Error('the clock was read 10,000 times')
    return now
  }
  const { engine, store } = await openQueue({ store: tight({ appendEventsMax: 8 }), clock })
  await engine.submit({ type: 'SetLimit', key: '*', rate: { starts: 1, perSeconds: 60 } }, caller)
  await engine.submitAll(Array.from({ length: 40 }, (_, i) => enqueue(task(`t${i}`, { concurrencyKey: `k${i % 20}`, timeout: 3_600 }))), caller)
  for (let i = 0; i < 3; i++) await engine.claim(claim('ann', 7), caller)
  now += 60_000
  expect(ok(await engine.claim(claim('ann', 7), caller)).length).toBeGreaterThan(0)
  expect((await typesIn(store)).filter((type) => type === 'LimitOpened')).toHaveLength(20)
})

test('beyond mailboxMax commands are refused as overloaded, and earlier ones are not affected', async () => {
  const { engine, store } = await openQueue({ mailboxMax: 5 })
  const release = store.hold()
  const under = []
  for (const id of ['a', 'b']) {
    under.push(engine.submit(enqueue(id), caller))
    await settle()
  }
  const waiting = Array.from({ length: 5 }, (_, i) => engine.submit(enqueue(`w${i}`), caller))
  const beyond = [
    await engine.submit(enqueue('x'), caller),
    await engine.claim(claim(), caller, { waitMs: 10_000 }),
    await engine.read(() => 1),
  ]
  expect(beyond.map(codeOf)).toEqual(['overloaded', 'overloaded', 'overloaded'])
  expect(beyond[0]).toMatchObject({ left: { retryAfterSeconds: 1 } })
  expect(await isSettled(waiting[0]!)).toBe(false)
  release()
  expect((await Promise.all([...under, ...waiting])).map(codeOf)).toEqual(Array(7).fill('success'))
  expect(codeOf(await engine.submit(enqueue('x'), caller))).toBe('success')
})

test('tasks that did not reach their agent are taken back however many commands wait', async () => {
  const { engine, store } = await openQueue({ mailboxMax: 5 })
  await engine.submit(enqueue('a'), caller)
  const claims = ok(await engine.claim(claim(), caller))
  const release = store.hold()
  const under = []
  for (const id of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    under.push(engine.submit(enqueue(id), caller))
    await settle()
  }
  expect(codeOf(await engine.submit(enqueue('x'), caller))).toBe('overloaded')
  engine.takeBack(claims, 'its agent has gone')
  release()
  expect((await Promise.all(under)).map(codeOf)).toEqual(Array(7).fill('success'))
  expect(ok(await engine.claim(claim('bob'), caller)).map((each) => each.task)).toEqual(['a'])
})

test('GB-07: terminating an agent with more leases than one append can end is done in parts', async () => {
  const { engine, store } = await openQueue({ store: tight({ appendEventsMax: 8 }) })
  await engine.submitAll(Array.from({ length: 20 }, (_, i) => enqueue(`t${i}`)), caller)
  for (let i = 0; i < 3; i++) await engine.claim(claim('ann', 7), caller)
  const end = async () => ok(await engine.submit({ type: 'TerminateAgent', agent: 'ann', reason: 'gone' }, caller))
  const parts = []
  for (let remaining = 20; remaining > 0; parts.push(remaining)) ({ remaining } = await end())
  // A part that does not fit is halved, so each part has its first event and some ended claims.
  expect(parts).toEqual([15, 8, 4, 0])
  expect((await typesIn(store)).filter((type) => type === 'ClaimRevoked')).toHaveLength(20)
})
