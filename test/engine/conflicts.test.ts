/** Two writers on one queue are correct, only slower: the events of the other are folded, and the commands are decided again. */
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { headOf, taskOf } from '@daybook/core'
import { NEVER } from 'rxjs'
import { expect, test } from 'vitest'
import { claim, codeOf, complete, caller, enqueue, foldAll, logOf, ok, openQueue, settle, stateText, task, textOf, typesIn } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

/** Our engine with these tasks, and another engine that has read them. */
const openTwo = async (...ids: ReadonlyArray<string>) => {
  const inner = openMemoryStore({ isShared: true })
  const ours = await openQueue({ store: inner })
  if (ids.length > 0) await ours.engine.submit(enqueue(...ids), caller)
  const other = await openQueue({ store: inner })
  const between = (run: () => Promise<unknown>): void => void ours.store.script.push({ kind: 'after', run })
  return { ...ours, inner, other: other.engine, between }
}

test('foreign events are folded, and the commands decided again, once (INV-16)', async () => {
  const { engine, store, other, between, inner } = await openTwo('a')
  between(() => other.submit(enqueue('foreign'), caller))
  const mine = await engine.submit(enqueue('b'), caller)
  expect(ok(mine)).toMatchObject([{ id: 'b', number: 3, duplicate: false }])
  expect(mine).toMatchObject({ right: { revision: 2 } })
  expect((await logOf(inner)).map(({ data }) => (JSON.parse(data) as { task: string }).task)).toEqual(['a', 'foreign', 'b'])
  expect(engine.status()).toMatchObject({ conflicts: 1, revision: 2, unavailable: undefined })
  expect(store.appends).toEqual([1, 1, 1])
  expect(ok(await engine.read((state) => taskOf(state, 'foreign')?.number))).toBe(2)
})

test('the answer is that of the second decision: the task has been claimed by another', async () => {
  const { engine, other, between, inner } = await openTwo('a', 'b')
  between(() => other.claim(claim('foreign', 1), caller))
  const [taken] = ok(await engine.claim(claim('ann', 1), caller))
  expect(taken).toMatchObject({ task: 'b', token: 2, content: '{"payload":"of b"}' })
  between(() => other.submit(enqueue('c'), caller))
  expect(ok(await engine.submit(enqueue('c'), caller))).toMatchObject([{ id: 'c', number: 3, duplicate: true }])
  between(() => other.submit({ type: 'Cancel', task: 'b', reason: 'not wanted' }, caller))
  expect(codeOf(await engine.submit(complete({ task: 'b', token: 2 }), caller))).toBe('lease-lost')
  expect(await typesIn(inner)).toEqual(['TaskEnqueued', 'TaskEnqueued', 'Claimed', 'Claimed', 'TaskEnqueued', 'Cancelled'])
})

test('commands behind a conflict stay behind: commands are decided in the order of submission', async () => {
  const { engine, store, other, between, inner } = await openTwo('a')
  between(() => other.submit(enqueue('foreign'), caller))
  const release = store.hold()
  const first = engine.submit(enqueue('first'), caller)
  await settle()
  const later = ['second', 'third'].map((id) => engine.submit(enqueue(id), caller))
  await settle()
  release()
  expect((await Promise.all([first, ...later])).map(codeOf)).toEqual(['success', 'success', 'success'])
  expect((await logOf(inner)).map(({ data }) => (JSON.parse(data) as { task: string }).task)).toEqual(['a', 'foreign', 'first', 'second', 'third'])
})

test('a task is claimed with its own content, also if a task that was rolled back had its revision', async () => {
  const { engine, other, between } = await openTwo()
  between(() => other.submit(enqueue('foreign'), caller))
  await engine.submit(enqueue('mine'), caller)
  const claims = ok(await engine.claim(claim('ann', 2), caller))
  expect(claims.map(({ task: id, content }) => [id, content])).toEqual([
    ['foreign', '{"payload":"of foreign"}'],
    ['mine', '{"payload":"of mine"}'],
  ])
})

test('a queue that both engines create', async () => {
  const { engine, other, between } = await openTwo()
  between(() => other.submit(enqueue('first'), caller))
  expect(ok(await engine.submit(enqueue('second'), caller))).toMatchObject([{ number: 2 }])
})

test('one conflict after another', async () => {
  const { engine, other, between, inner } = await openTwo()
  for (let i = 0; i < 5; i++) between(() => other.submit(enqueue(`f${i}`), caller))
  const outcomes = await engine.submitAll([enqueue('a'), enqueue('b'), complete({ task: 'x', token: 1 })], caller)
  expect(outcomes.map(codeOf)).toEqual(['success', 'success', 'not-found'])
  expect(engine.status().conflicts).toBe(5)
  const log = await logOf(inner)
  expect(log).toHaveLength(7)
  expect(await stateText(engine)).toBe(textOf(foldAll(log)))
})

test('if the log cannot be read, the engine retries until it can, and loses nothing', async () => {
  const { engine, store, other, between, inner, warnings } = await openTwo()
  between(() => other.submit(enqueue('foreign'), caller))
  store.failReads = 2
  expect(codeOf(await engine.submit(enqueue('mine'), caller))).toBe('success')
  expect(store.failReads).toBe(0)
  expect(warnings.join()).toContain('reading fails now')
  expect(await typesIn(inner)).toHaveLength(2)
  expect(engine.status().unavailable).toBeUndefined()
})

test('waiting claims keep their places in a conflict', async () => {
  const { engine, other, between } = await openTwo('a')
  await engine.claim(claim(), caller)
  const waiting = ['first', 'second', 'third'].map((agent) => engine.claim(claim(agent), caller, { waitMs: 5_000 }))
  await settle()
  between(() => other.submit(enqueue('b'), caller))
  await engine.submit(enqueue('c', 'd'), caller)
  expect((await Promise.all(waiting)).map((outcome) => ok(outcome)[0]?.task)).toEqual(['b', 'c', 'd'])
})

test('tasks found in a conflict go to the waiting claims', async () => {
  let now = 1_000_000
  const inner = openMemoryStore({ isShared: true })
  const { engine, store } = await openQueue({ store: inner, clock: () => now })
  const { engine: other } = await openQueue({ store: inner, clock: () => now })
  await engine.submit(enqueue(task('a', { maxRetries: 1, timeout: 1 })), caller)
  await engine.claim(claim(), caller)
  const waiting = engine.claim(claim('bob'), caller, { waitMs: 5_000 })
  await settle()
  store.script.push({ kind: 'after', run: () => other.submit(enqueue('foreign'), caller) })
  now += 1_000
  // Wakes the engine. This append contains only the tick, whose dead letter nobody can claim.
  void engine.read(() => 0)
  expect(ok(await waiting)[0]?.task).toBe('foreign')
})

test('two appends in flight and a foreign one of the same length: nothing is appended twice, and no caller gets a success', async () => {
  const inner = openMemoryStore()
  const { engine, store, warnings } = await openQueue({ store: inner })
  const { engine: other } = await openQueue({ store: inner })
  await engine.submit(enqueue('a'), caller)
  const release = store.hold()
  store.script.push({ kind: 'after', run: () => other.submit(enqueue('foreign'), caller) }, { kind: 'after', run: settle })
  const first = engine.submit(enqueue('b'), caller)
  await settle()
  const second = engine.submit({ type: 'OpenBreaker', taskType: 'x', reason: 'by hand' }, caller)
  const seen = engine.read((state) => headOf(state).lastNumber)
  await settle()
  release()
  const outcomes = await Promise.all([first, second, seen])
  expect(outcomes.map(codeOf)).toEqual(['success', 'outcome-unknown', 'success'])
  expect(outcomes[1]).toMatchObject({ left: { detail: expect.stringContaining('look whether it happened') } })
  expect(await typesIn(inner)).toEqual(['TaskEnqueued', 'TaskEnqueued', 'BreakerOpened', 'TaskEnqueued'])
  expect(warnings.join()).toContain('another process writes to this queue')
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(inner))))
})

test('both write continuously: every command is in the log once, and both states are its fold', async () => {
  const inner = openMemoryStore({ isShared: true })
  const pair = await Promise.all([0, 1].map(() => openQueue({ store: inner, defaults: { capacity: { maxConcurrentAgents: 200 } } })))
  const ids = Array.from({ length: 200 }, (_, i) => `t${i}`)
  await Promise.all(
    ids.map(async (id, i) => {
      await new Promise((resolve) => setTimeout(resolve, i / 4))
      const { engine } = pair[i % 2]!
      ok(await engine.submit(enqueue(id), caller))
      const [held] = ok(await engine.claim(claim(`agent ${i}`), caller, { waitMs: 1_000 }))
      if (held !== undefined) ok(await engine.submit(complete(held, `agent ${i}`), caller))
    }),
  )
  expect(pair.every(({ engine }) => engine.status().conflicts > 0)).toBe(true)
  const log = await logOf(inner)
  const told = log.filter(({ type }) => type === 'TaskEnqueued').map(({ data }) => (JSON.parse(data) as { task: string }).task)
  expect([...told].sort()).toEqual([...ids].sort())
  expect(headOf(foldAll(log)).misfits).toBe(0)
  for (const { engine } of pair) {
    // A command of its own brings each engine up to the end of the log.
    ok(await engine.submit({ type: 'OpenBreaker', taskType: 'x', reason: 'by hand' }, caller))
    expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(inner))))
  }
})

test('if the store reports a conflict before it shows the other events, the engine reads until it does', async () => {
  const inner = openMemoryStore({ isShared: true })
  let hidden = Number.POSITIVE_INFINITY
  const lagging: EventStore = {
    ...inner,
    subscribe: () => NEVER,
    read: async function* (name, options) {
      const shown = hidden
      hidden += 1
      for await (const page of inner.read(name, options)) yield page.filter(({ revision }) => revision < shown)
    },
  }
  const { engine, warnings } = await openQueue({ store: lagging })
  const { engine: other } = await openQueue({ store: inner })
  await other.submit(enqueue('a', 'b', 'c'), caller)
  hidden = 0
  expect(ok(await engine.submit(enqueue('d'), caller))).toMatchObject([{ number: 4 }])
  expect(warnings).toEqual([])
  expect(engine.status().conflicts).toBe(1)
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(inner))))
})

test('a log that is shorter than what was read: reported, and retried slowly', async () => {
  const first = openMemoryStore()
  const second = openMemoryStore()
  let current = first
  const swapped: EventStore = {
    ...first,
    append: (...args) => async () => {
      // A turn of its own, as a real store takes: an engine that tries for ever leaves room for the rest of this test.
      await new Promise((resolve) => setImmediate(resolve))
      return current.append(...args)()
    },
    read: (...args) => current.read(...args),
  }
  const { engine, store, warnings } = await openQueue({ store: swapped })
  await engine.submit(enqueue('a', 'b', 'c'), caller)
  await (await openQueue({ store: second })).engine.submit(enqueue('old'), caller)
  current = second
  const answer = engine.submit(enqueue('d'), caller)
  await new Promise((resolve) => setTimeout(resolve, 350))
  expect(store.appends.length).toBeLessThan(8)
  expect(engine.status().unavailable).toContain('was its file replaced?')
  expect(warnings.length).toBeGreaterThan(0)
  await engine.close()
  expect(codeOf(await answer)).toBe('unavailable')
})
