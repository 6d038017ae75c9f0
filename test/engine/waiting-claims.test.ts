/** Long polling: a claim that finds no task waits, and is served in the same append that brings the task. */
import { openMemoryStore } from '@daybook/adapters/memory'
import { taskOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { claim, codeOf, complete, configure, caller, enqueue, fail, heartbeat, isSettled, ok, openQueue, settle, sleep, task, typesIn, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const openIdle = async (...args: Parameters<typeof openQueue>) => {
  const opened = await openQueue(...args)
  const wait = (agent: string, waitMs = 10_000, max = 1, signal?: AbortSignal) =>
    opened.engine.claim(claim(agent, max), { actor: agent }, signal === undefined ? { waitMs } : { waitMs, signal })
  return { ...opened, wait }
}

test('a waiting claim is served in the append that brings the task: one append for both', async () => {
  const { engine, store, wait } = await openIdle()
  const waiting = wait('ann')
  await settle()
  expect(engine.status().waitingClaims).toBe(1)
  const enqueued = await engine.submit(enqueue('a'), caller)
  expect(ok(await waiting)).toMatchObject([{ task: 'a', token: 1, content: '{"payload":"of a"}', checkpoint: undefined }])
  expect(store.appends).toEqual([2])
  expect(enqueued).toMatchObject({ right: { revision: 0 } })
  expect(engine.status().waitingClaims).toBe(0)
})

test('first come, first served, also against claims that arrive together with the task', async () => {
  const { engine, store, wait } = await openIdle()
  const waiting = ['first', 'second', 'third'].map((agent) => wait(agent))
  await settle()
  const both = await Promise.all([engine.submit(enqueue('a', 'b'), caller), engine.claim(claim('late'), caller)])
  expect(both.map(codeOf)).toEqual(['success', 'success'])
  expect((await Promise.all(waiting.slice(0, 2))).map((outcome) => ok(outcome)[0]?.task)).toEqual(['a', 'b'])
  expect(both[1]).toMatchObject({ right: { value: [] } })
  expect(await isSettled(waiting[2]!)).toBe(false)
  await engine.submit(enqueue('c'), caller)
  expect(ok(await waiting[2]!)[0]?.task).toBe('c')
  expect(store.appends).toEqual([4, 2])
})

test('a claim has the time it had waited when its tasks were granted, not when they were written', async () => {
  const { engine, store, wait } = await openIdle()
  const askedAt = performance.now()
  const waiting = wait('ann')
  await sleep(50)
  const release = store.hold()
  const enqueued = engine.submit(enqueue('a'), caller)
  await settle()
  const grantedBy = performance.now()
  await sleep(200)
  release()
  const [granted] = ok(await waiting)
  expect(granted?.waitedMs).toBeLessThanOrEqual(grantedBy - askedAt)
  expect(granted?.waitedMs).toBeGreaterThan(0)
  await enqueued
})

test('a new claim does not overtake waiting ones, even if the append has room for it and not for them', async () => {
  const inner = openMemoryStore()
  const { engine, wait } = await openIdle({ store: { ...inner, limits: { ...inner.limits, appendEventsMax: 10 } } })
  const first = wait('first', 10_000, 8)
  await settle()
  // Eight events, and eight more do not fit after them; one would.
  const ids = Array.from({ length: 8 }, (_, i) => `t${i}`)
  const [, late] = await Promise.all([engine.submit(enqueue(...ids), caller), engine.claim(claim('late'), caller)])
  expect(ok(late)).toEqual([])
  expect(ok(await first).map(({ task: id }) => id)).toEqual(ids)
})

test('a claim that may take only other tasks does not block the others', async () => {
  const { engine, wait } = await openIdle()
  const picky = engine.claim({ ...claim('picky'), types: ['special'] }, caller, { waitMs: 10_000 })
  const ann = wait('ann')
  await engine.submit(enqueue('a'), caller)
  expect(ok(await ann)[0]?.task).toBe('a')
  await engine.submit(enqueue(task('s', { type: 'special' })), caller)
  expect(ok(await picky)[0]?.task).toBe('s')
})

test('when the wait is over, not earlier, the claim is answered with no tasks, and nothing is claimed', async () => {
  const { engine, store, wait } = await openIdle()
  const started = performance.now()
  expect(await wait('ann', 40)).toEqual({ _tag: 'Right', right: { value: [], revision: -1 } })
  const took = performance.now() - started
  expect(took).toBeGreaterThan(35)
  expect(engine.status().waitingClaims).toBe(0)
  await engine.submit(enqueue('a'), caller)
  expect(await typesIn(store)).toEqual(['TaskEnqueued'])
})

test('when its signal aborts, the claim is answered with no tasks, and nothing is claimed', async () => {
  const { engine, store, wait } = await openIdle()
  const leaving = new AbortController()
  const [gone, stays] = [wait('ann', 10_000, 1, leaving.signal), wait('bob')]
  await settle()
  leaving.abort()
  expect(ok(await gone)).toEqual([])
  expect(engine.status().waitingClaims).toBe(1)
  await engine.submit(enqueue('a'), caller)
  expect(ok(await stays)[0]?.task).toBe('a')
  expect(ok(await wait('late', 10_000, 1, AbortSignal.abort()))).toEqual([])
  expect(await typesIn(store)).toEqual(['TaskEnqueued', 'Claimed'])
})

for (const how of ['out of patience', 'given up'] as const) {
  test(`${how} just after a task was found: answered with the task, so that no lease runs for nobody`, async () => {
    const { engine, store, wait } = await openIdle()
    const leaving = new AbortController()
    const waiting = wait('ann', how === 'given up' ? 10_000 : 60, 1, leaving.signal)
    await settle()
    const release = store.hold()
    const enqueued = engine.submit(enqueue('a'), caller)
    await settle()
    leaving.abort()
    await sleep(80)
    expect(await isSettled(waiting)).toBe(false)
    release()
    expect(ok(await waiting)).toMatchObject([{ task: 'a', token: 1 }])
    await enqueued
  })

  test(`${how} just after a task was found that is then rolled back: answered with no tasks, and nothing is claimed`, async () => {
    const { engine, store, wait } = await openIdle()
    const leaving = new AbortController()
    const waiting = wait('ann', how === 'given up' ? 10_000 : 60, 1, leaving.signal)
    await settle()
    const release = store.hold()
    store.script.push({ kind: 'unavailable' })
    const enqueued = engine.submit(enqueue('a'), caller)
    await settle()
    leaving.abort()
    await sleep(80)
    release()
    expect(codeOf(await enqueued)).toBe('unavailable')
    expect(ok(await waiting)).toEqual([])
    await engine.submit(enqueue('a'), caller)
    expect(await typesIn(store)).toEqual(['TaskEnqueued'])
  })
}

test('a waiting claim survives an append that the store refuses, and keeps its place', async () => {
  const { engine, store, wait } = await openIdle()
  const waiting = ['first', 'second'].map((agent) => wait(agent))
  await settle()
  store.script.push({ kind: 'unavailable' })
  expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe('unavailable')
  expect(engine.status().waitingClaims).toBe(2)
  await engine.submit(enqueue('b', 'c'), caller)
  expect((await Promise.all(waiting)).map((outcome) => ok(outcome)[0]?.task)).toEqual(['b', 'c'])
  expect(store.appends).toEqual([2, 4])
})

test('a claim whose append the store refused is served later without any command', async () => {
  const { engine, store, wait } = await openIdle()
  await engine.submit(enqueue('a'), caller)
  store.script.push({ kind: 'unavailable' })
  expect(ok(await wait('ann', 20_000))).toMatchObject([{ task: 'a' }])
  expect(store.appends).toEqual([1, 1, 1])
})

test('more tasks than one append can hold are handed out in several', async () => {
  const { engine, store, wait } = await openIdle({ batchEventsMax: 10, defaults: { capacity: { maxConcurrentAgents: 30 } } })
  const waiting = Array.from({ length: 30 }, (_, i) => wait(`agent ${i}`))
  await settle()
  await engine.submit(enqueue(...Array.from({ length: 30 }, (_, i) => `t${i}`)), caller)
  const taken = (await Promise.all(waiting)).map((outcome) => ok(outcome)[0]?.task)
  expect(taken).toEqual(Array.from({ length: 30 }, (_, i) => `t${i}`))
  expect(store.appends).toEqual([31, 10, 10, 10])
})

test('if an append has no room for the first waiting claim, no later one is served before it: it is in the next append', async () => {
  const memory = openMemoryStore()
  const { engine, store, wait } = await openIdle({ store: { ...memory, limits: { ...memory.limits, appendEventsMax: 5 } } })
  const waiting = [wait('first', 10_000, 3), wait('second', 10_000, 1)]
  await settle()
  await engine.submit(enqueue('a', 'b', 'c', 'd'), caller)
  const [first, second] = await Promise.all(waiting)
  expect([first, second].map((outcome) => ok(outcome!).map(({ task: id }) => id))).toEqual([['a', 'b', 'c'], ['d']])
  expect(store.appends).toEqual([4, 4])
})

test('served by everything that frees tasks: a failure, a release, an expiry, the end of a delay, a resumed queue', async () => {
  const { engine, wait } = await openIdle()
  await engine.submit(configure({ retentionSeconds: 3_600 }), caller)
  await engine.submit(enqueue(task('a', { backoffSeconds: 0, maxRetries: 9 })), caller)
  const [held] = ok(await engine.claim(claim('ann'), caller))
  const second = wait('bob')
  await engine.submit(fail(held!, 'ann'), caller)
  const [again] = ok(await second)
  expect(again).toMatchObject({ task: 'a', retries: 1 })
  const third = wait('cem')
  await engine.submit({ type: 'Release', task: 'a', agent: 'bob', token: again!.token, reason: 'not mine' }, caller)
  const [released] = ok(await third)
  expect(released).toMatchObject({ task: 'a', attempts: 2 })
  const fourth = wait('dan')
  await engine.submit({ type: 'TerminateAgent', agent: 'cem', reason: 'gone' }, caller)
  expect(ok(await fourth)[0]?.task).toBe('a')
  await engine.submit(enqueue(task('short', { timeout: 0.05, maxRetries: 9 })), caller)
  expect(ok(await engine.claim(claim('eve'), caller))[0]?.task).toBe('short')
  const fifth = wait('fay')
  expect(ok(await fifth)[0]?.task).toBe('short')
  const sixth = wait('gus')
  await engine.submit(enqueue(task('later', { availableAt: Date.now() + 60 })), caller)
  const taken = [ok(await sixth)[0]?.task, ok(await wait('hal'))[0]?.task].sort()
  expect(taken).toEqual(['later', 'short'])
  await engine.submit({ type: 'Pause', reason: 'lunch' }, caller)
  await engine.submit(enqueue('p'), caller)
  const last = engine.claim({ ...claim('ian'), types: ['work'] }, caller, { waitMs: 10_000 })
  await sleep(10)
  await engine.submit({ type: 'Resume', reason: 'back' }, caller)
  expect(['p', 'short']).toContain(ok(await last)[0]?.task)
})

test('dependents of a completed task go to waiting claims in the same append', async () => {
  const { engine, store, wait } = await openIdle()
  await engine.submit(enqueue('a', task('b', { dependencies: ['a'] })), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  const waiting = wait('bob')
  await settle()
  await engine.submit(complete(held!), caller)
  expect(ok(await waiting)[0]?.task).toBe('b')
  expect(store.appends).toEqual([2, 1, 2])
})

test('each gets up to max tasks, with their contents, from memory or from the log', async () => {
  const store = openMemoryStore()
  for (const contentCacheMax of [0, 60, 1_000_000]) {
    const { engine, wait } = await openIdle({ store, contentCacheMax })
    const ids = Array.from({ length: 5 }, (_, i) => `${contentCacheMax}-${i}`)
    const waiting = wait('ann', 10_000, 5)
    await settle()
    await engine.submit(enqueue(...ids), caller)
    expect(ok(await waiting).map(({ content }) => content)).toEqual(ids.map((id) => `{"payload":"of ${id}"}`))
    await engine.close().then(() => undefined)
  }
})

test('contents stay right if a task is claimed again while they are being read', async () => {
  const { engine } = await openIdle({ contentCacheMax: 20 })
  await engine.submit(enqueue('a', 'b'), caller)
  const both = engine.claim(claim('ann', 2), caller)
  void engine.submit({ type: 'TerminateAgent', agent: 'ann', reason: 'gone' }, caller)
  const again = engine.claim(claim('bob', 1), caller)
  expect(ok(await both).map(({ content }) => content)).toEqual(['{"payload":"of a"}', '{"payload":"of b"}'])
  expect(ok(await again).map(({ content }) => content)).toEqual(['{"payload":"of a"}'])
})

test('the checkpoint of a former holder comes with the task', async () => {
  const { engine } = await openIdle()
  await engine.submit(enqueue(task('a', { backoffSeconds: 0 })), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  await engine.submit({ ...heartbeat(held!), checkpoint: { step: 3, content: 'x' } }, caller)
  await engine.submit(fail(held!), caller)
  expect(ok(await engine.claim(claim('bob'), caller))).toMatchObject([{ task: 'a', checkpoint: '{"step":3,"content":"x"}' }])
})

test('many waiting claims, many tasks, some claims aborted: each task goes to one agent, and each agent gets exactly its tasks', async () => {
  const { engine, wait } = await openIdle({ defaults: { capacity: { maxConcurrentAgents: 200 } } })
  const got: Array<string> = []
  const agents = Array.from({ length: 200 }, async (_, i) => {
    const leaving = new AbortController()
    if (i % 5 === 0) setTimeout(() => leaving.abort(), i / 4)
    const tasks = ok(await wait(`agent ${i}`, 20 + i, 2, leaving.signal))
    for (const { task: id } of tasks) got.push(`${id} agent ${i}`)
  })
  for (let i = 0; i < 60; i++) {
    await engine.submit(enqueue(`a${i}`, `b${i}`), caller)
    await sleep(1)
  }
  await Promise.all(agents)
  await until(() => engine.status().waitingClaims === 0)
  const held = ok(
    await engine.read((state) =>
      Array.from({ length: 60 }, (_, i) => [`a${i}`, `b${i}`]).flat().flatMap((id) => {
        const claimedBy = taskOf(state, id)?.claimedBy
        return claimedBy === undefined ? [] : [`${id} ${claimedBy}`]
      }),
    ),
  )
  expect(got.sort()).toEqual(held.sort())
})
