/** Events caused by time, through the engine's timer, whatever the clock does. */
import { nextDue, taskOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { claim, codeOf, complete, configure, caller, enqueue, fail, foldAll, heartbeat, logOf, ok, openQueue, settle, sleep, stateText, task, textOf, typesIn, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const short = (id: string, timeout = 0.04) => task(id, { timeout, maxRetries: 5, backoffSeconds: 0 })

test('GB-07: an expired lease is ended without any command, with the system as actor', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue(short('a')), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  expect(await engine.reached(2, 3_000)).toBe(true)
  const expired = (await logOf(store))[2]!
  expect(expired).toMatchObject({ type: 'ClaimExpired' })
  expect(JSON.parse(expired.data)).toMatchObject({ task: 'a', agent: 'ann', token: held!.token, cause: 'lease-expired' })
  expect(JSON.parse(expired.metadata)).toMatchObject({ actor: 'daybook' })
  expect(Date.parse((JSON.parse(expired.metadata) as { at: string }).at)).toBeGreaterThanOrEqual(held!.expiresAt)
  expect(await engine.submit(heartbeat(held!), caller)).toMatchObject({ left: { code: 'lease-lost', detail: expect.stringContaining('no heartbeat') } })
})

test('LK-08: an expired claim can be claimed again at once, one retry and one attempt later', async () => {
  const { engine } = await openQueue()
  await engine.submit(enqueue(short('a')), caller)
  const [first] = ok(await engine.claim(claim(), caller))
  const [second] = ok(await engine.claim(claim('bob'), caller, { waitMs: 3_000 }))
  expect(second).toMatchObject({ task: 'a', retries: 1, attempts: 1, content: '{"payload":"of a"}' })
  expect(second!.token).toBeGreaterThan(first!.token)
  expect(codeOf(await engine.submit(complete(first!), caller))).toBe('lease-lost')
  expect(codeOf(await engine.submit(complete(second!, 'bob'), caller))).toBe('success')
})

test('LK-08: a heartbeat postpones the end', async () => {
  const { engine } = await openQueue()
  await engine.submit(enqueue(short('a', 0.15)), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  for (let i = 0; i < 5; i++) {
    await sleep(50)
    expect(codeOf(await engine.submit(heartbeat(held!), caller))).toBe('success')
  }
  expect(codeOf(await engine.submit(complete(held!), caller))).toBe('success')
})

test('delays, retries and half-open breakers end by themselves', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(configure({ breakers: { defaults: { failureThreshold: 1, halfOpenAfter: 0.05 } }, defaults: { jitter: 0 } }), caller)
  const later = task('later', { availableAt: Date.now() + 40 })
  const retried = task('retried', { backoffSeconds: 0.05, maxRetries: 3 })
  await engine.submit(enqueue(later, retried, task('dead', { type: 'other', maxRetries: 1 })), caller)
  const [one, two] = ok(await engine.claim(claim('ann', 2), caller))
  await engine.submitAll([fail(one!), fail(two!)], caller)
  await until(async () => (await typesIn(store)).filter((type) => type === 'TaskDue').length === 2)
  await until(async () => (await typesIn(store)).includes('BreakerHalfOpened'))
  expect(ok(await engine.read(nextDue))).toBeUndefined()
})

test('when thousands of tasks become due at once, commands, claims and those that wait do not stand behind all of them', async () => {
  let now = 1_700_000_000_000
  const { engine, store } = await openQueue({ clock: () => now })
  for (let i = 0; i < 5; i++) {
    await engine.submit(enqueue(...Array.from({ length: 1_000 }, (_, n) => task(`t${i * 1_000 + n}`, { availableAt: now + 3_600_000 }))), caller)
  }
  const waiting = engine.claim(claim('waiting'), caller, { waitMs: 10_000 })
  await settle()
  now += 3_600_000
  const answers = await Promise.all([waiting, engine.submit(enqueue('new'), caller), engine.claim(claim('claiming'), caller)])
  expect(answers.map(codeOf)).toEqual(['success', 'success', 'success'])
  await until(async () => (await typesIn(store)).filter((type) => type === 'TaskDue').length === 5_000)
  const log = await logOf(store)
  const dueBefore = log.flatMap(({ type, data }, index) => (type === 'Claimed' || data.includes('"new"') ? [log.slice(0, index).filter((event) => event.type === 'TaskDue').length] : []))
  expect(dueBefore).toEqual([1_000, 1_000, 1_000])
})

test('a new earlier deadline replaces the timer that is already set', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue(task('long', { timeout: 3_000 })), caller)
  await engine.claim(claim(), caller)
  await settle()
  await engine.submit(enqueue(task('soon', { availableAt: Date.now() + 50 })), caller)
  await until(async () => (await typesIn(store)).includes('TaskDue'))
})

test('hundreds of leases end on time while commands go on', async () => {
  const { engine, store } = await openQueue()
  await engine.submitAll(Array.from({ length: 300 }, (_, i) => enqueue(short(`t${i}`, 0.05 + (i % 10) / 200))), caller)
  await engine.claim(claim('ann', 300), caller)
  let busy = true
  const load = (async () => {
    for (let i = 0; busy; i++) {
      await engine.submit(enqueue(task(`load ${i}`, { type: 'load' })), caller)
      await sleep(1)
    }
  })()
  await until(async () => (await typesIn(store)).filter((type) => type === 'ClaimExpired').length === 300)
  busy = false
  await load
  const late = (await logOf(store)).flatMap(({ type, metadata }) =>
    type === 'ClaimExpired' ? [Date.parse((JSON.parse(metadata) as { at: string }).at)] : [],
  )
  expect(late.length).toBe(300)
})

/** An engine whose clock the test sets. */
const openAt = async (start = 1_700_000_000_000, ...[options]: Parameters<typeof openQueue>) => {
  const time = { now: start }
  return { time, ...(await openQueue({ ...options, clock: () => time.now })) }
}

test('after the clock is set forward, everything due happens with the next command at the latest', async () => {
  const { time, engine, store } = await openAt()
  await engine.submit(enqueue(task('a', { timeout: 3_600 })), caller)
  await engine.claim(claim(), caller)
  time.now += 2 * 3_600_000
  await engine.submit(enqueue('b'), caller)
  expect(await typesIn(store)).toEqual(['TaskEnqueued', 'Claimed', 'ClaimExpired', 'TaskEnqueued'])
})

test('a read after a deadline shows the tasks as of then', async () => {
  const { time, engine } = await openAt()
  await engine.submit(enqueue(task('a', { timeout: 10, maxRetries: 5 })), caller)
  await engine.claim(claim(), caller)
  time.now += 9_999
  expect(ok(await engine.read((state) => taskOf(state, 'a')?.status))).toBe('in-progress')
  time.now += 1
  expect(ok(await engine.read((state) => taskOf(state, 'a')?.status))).toBe('pending')
})

test('INV-14: `at` never decreases, even if the clock goes back, and leases still end', async () => {
  const { time, engine, store } = await openAt()
  await engine.submit(configure({ capacity: { maxConcurrentAgents: 40 } }), caller)
  for (let i = 0; i < 40; i++) {
    time.now += i % 4 === 3 ? -86_400_000 : 90_000
    await engine.submit(enqueue(task(`t${i}`, { maxRetries: 9 })), caller)
    await engine.claim(claim(`agent ${i}`), caller)
    if (i === 20) time.now += 40 * 86_400_000
  }
  time.now += 40 * 86_400_000
  await engine.read(() => 0)
  const times = (await logOf(store)).map(({ metadata }) => Date.parse((JSON.parse(metadata) as { at: string }).at))
  expect(times).toEqual([...times].sort((a, b) => a - b))
  const types = await typesIn(store)
  expect(types.filter((type) => type === 'Claimed').length).toBe(types.filter((type) => type === 'ClaimExpired').length)
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
})

test('a clock that was wrongly ahead while the store refused does not delay the timers', async () => {
  const { time, engine, store } = await openAt(1_700_000_000_000, { monotonic: () => performance.now(), clockJumpMs: Number.POSITIVE_INFINITY })
  const right = time.now
  await engine.submit(enqueue(task('a', { timeout: 30 })), caller)
  await engine.claim(claim(), caller)
  time.now = right + 365 * 86_400_000
  store.script.push({ kind: 'unavailable' })
  expect(codeOf(await engine.submit(enqueue('b'), caller))).toBe('unavailable')
  time.now = right + 31_000
  await until(async () => {
    await engine.read(() => 0)
    return (await typesIn(store)).length > 2
  })
  expect(await typesIn(store)).toEqual(['TaskEnqueued', 'Claimed', 'ClaimExpired'])
})

test('a queue with nothing to wait for has no timer', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  await engine.submit(complete(held!), caller)
  await sleep(30)
  expect(store.appends).toHaveLength(3)
  expect(ok(await engine.read(nextDue))).toBeUndefined()
})
