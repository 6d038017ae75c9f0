/** A store that cannot write: commands are refused without a trace, reads still work, and everything works again afterwards. */
import { depthOf, taskOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { claim, codeOf, complete, caller, enqueue, fail, foldAll, logOf, ok, openQueue, settle, stateText, task, textOf, typesIn } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

test('commands are refused with a reason and a retry time; nothing is in the log (INV-16), and the state is as before', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a', 'b'), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  const before = await stateText(engine)
  const log = await logOf(store)
  store.script.push({ kind: 'unavailable' })
  const outcomes = await engine.submitAll(
    [enqueue('c'), complete(held!), { type: 'Cancel', task: 'b', reason: 'no' }, claim('bob'), complete({ task: 'x', token: 1 })],
    caller,
  )
  expect(outcomes.slice(0, 4)).toEqual(
    Array(4).fill({ _tag: 'Left', left: { code: 'unavailable', detail: 'disk full', retryAfterSeconds: 1 } }),
  )
  expect(engine.status()).toMatchObject({ unavailable: 'disk full', revision: 2, appendsInFlight: 0 })
  expect(await stateText(engine)).toBe(before)
  expect(await logOf(store)).toEqual(log)
})

test('reads still work, and the next command is tried at once', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  store.script.push({ kind: 'unavailable' }, { kind: 'unavailable' })
  for (let i = 0; i < 2; i++) {
    expect(codeOf(await engine.submit(enqueue('b'), caller))).toBe('unavailable')
    expect(ok(await engine.read((state) => depthOf(state).total))).toBe(1)
    expect(await engine.contents([0])).toEqual([expect.stringContaining('of a')])
  }
  expect(ok(await engine.submit(enqueue('b'), caller))).toMatchObject([{ id: 'b', number: 2, duplicate: false }])
  expect(engine.status().unavailable).toBeUndefined()
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
})

test('both batches in flight are refused, and later commands are decided again', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  const release = store.hold()
  store.script.push({ kind: 'unavailable' }, { kind: 'unavailable' })
  const answers = []
  for (const id of ['b', 'c', 'd']) {
    answers.push(engine.submit(enqueue(id), caller))
    await settle()
  }
  release()
  expect((await Promise.all(answers)).map(codeOf)).toEqual(['unavailable', 'unavailable', 'success'])
  expect((await logOf(store)).map(({ revision }) => revision)).toEqual([0, 1])
})

test('contents are those of the appended tasks, not of those that were rolled back', async () => {
  const { engine, store } = await openQueue({ batchEventsMax: 2, contentCacheMax: 400 })
  const lost = Array.from({ length: 6 }, (_, i) => task(`lost${i}`))
  store.script.push({ kind: 'unavailable' })
  expect(codeOf(await engine.submit(enqueue(...lost), caller))).toBe('unavailable')
  await engine.submit(enqueue(...Array.from({ length: 30 }, (_, i) => `t${i}`)), caller)
  const claimed = ok(await engine.claim(claim('ann', 40), caller))
  expect(claimed.map(({ content }) => content)).toEqual(Array.from({ length: 30 }, (_, i) => `{"payload":"of t${i}"}`))
})

test('a claim whose contents cannot be read is refused, and its task is given back', async () => {
  const { engine, store } = await openQueue({ contentCacheMax: 0 })
  await engine.submit(enqueue('a', 'b'), caller)
  // First together, then each on its own.
  store.failReads = 2
  expect(await engine.claim(claim(), caller)).toMatchObject({ left: { code: 'unavailable', detail: expect.stringContaining('cannot be read') } })
  expect(ok(await engine.read((state) => taskOf(state, 'a')))).toMatchObject({ status: 'pending', attempts: 0 })
  expect(ok(await engine.claim(claim(), caller))).toMatchObject([{ task: 'a', content: '{"payload":"of a"}' }])
})

test('a lease that ends while the store cannot write ends as soon as it can, without any command', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue(task('a', { timeout: 0.05 })), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  store.script.push({ kind: 'unavailable' })
  expect(await engine.reached(2, 3_000)).toBe(true)
  expect(await typesIn(store)).toEqual(['TaskEnqueued', 'Claimed', 'ClaimExpired'])
  expect(codeOf(await engine.submit(fail(held!), caller))).toBe('lease-lost')
  expect(store.appends).toEqual([1, 1, 1, 1])
})

test('appends that the store does not answer for ten seconds are reported once, and again when the last is answered; the commands are answered then', async () => {
  const { engine, store, warnings } = await openQueue()
  const release = store.hold()
  const answers = [engine.submit(enqueue('a'), caller)]
  await settle()
  answers.push(engine.submit(enqueue('b'), caller))
  await new Promise((resolve) => setTimeout(resolve, 9_000))
  expect(engine.status()).toMatchObject({ unavailable: undefined, appendsInFlight: 2 })
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(engine.status().unavailable).toContain('has not answered an append for 10 s')
  release()
  expect((await Promise.all(answers)).map(codeOf)).toEqual(['success', 'success'])
  expect(engine.status().unavailable).toBeUndefined()
  expect(warnings).toEqual([expect.stringMatching(/^queue q: the store has not answered .* look at its disk, or at its cluster$/), expect.stringMatching(/^queue q: the store has answered an append after \d+ s$/)])
  ok(await engine.submit(enqueue('c'), caller))
  await new Promise((resolve) => setTimeout(resolve, 20_000))
  expect(warnings).toHaveLength(2)
})
