/** Retention in an idle queue: it ends at its time, and a timer frees the memory. */
import { depthOf, headOf, listTasks, type QueueState, taskOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { sizesOf } from '../support/states/index.js'
import { caller, configure, enqueue, logOf, ok, openQueue, task, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const day = 86_400_000
const finished = (many: number) => ({
  type: 'Import' as const,
  tasks: Array.from({ length: many }, (_, i) => ({ ...task(`t${i}`), status: 'completed' as const })),
})

test('INV-25: the same thousand tasks every day, retained for an hour, are a thousand new ones every day', async () => {
  const time = { now: Date.UTC(2026, 0, 5) }
  const { engine } = await openQueue({ clock: () => time.now })
  await engine.submit(configure({ retentionSeconds: 3_600 }), caller)
  for (let days = 0; days < 3; days++) {
    const daily = ok(await engine.submit(finished(1_000), caller))
    expect(daily.filter(({ duplicate }) => duplicate)).toEqual([])
    time.now += day
  }
})

test('INV-25: a question to an idle queue is answered as of its own time', async () => {
  const time = { now: Date.UTC(2026, 0, 5) }
  const { engine, store } = await openQueue({ clock: () => time.now })
  await engine.submit(configure({ retentionSeconds: 3_600 }), caller)
  await engine.submit(finished(5_000), caller)
  const shown = async () =>
    ok(await engine.read((state, at) => [taskOf(state, 't7', at)?.id, depthOf(state, at).total, listTasks(state, {}, 9, undefined, at).tasks.length]))
  time.now += 3_599_999
  expect(await shown()).toEqual(['t7', 5_000, 9])
  const { length } = await logOf(store)
  time.now += 1
  expect(await shown()).toEqual([undefined, 0, 0])
  expect(ok(await engine.submit(enqueue('t7'), caller))).toMatchObject([{ id: 't7', duplicate: false }])
  expect((await logOf(store)).slice(length).map(({ type }) => type)).toEqual(['TaskEnqueued'])
})

test('INV-25: a clock that was some minutes ahead for a moment ends no retention early: what left memory by it stays forgotten, at later times only', async () => {
  const began = Date.UTC(2026, 0, 5)
  const time = { wall: began, monotonic: 0 }
  const { engine, store } = await openQueue({ clock: () => time.wall, monotonic: () => time.monotonic })
  await engine.submit(configure({ retentionSeconds: 60 }), caller)
  await engine.submit(finished(5), caller)
  time.wall += 240_000
  ok(await engine.read((state) => sizesOf(state)))
  await until(async () => ok(await engine.read((state) => sizesOf(state).retained)) === 0)
  time.wall = began + 1_000
  time.monotonic += 1_000
  const [again] = ok(await engine.submit(enqueue('t3'), caller))
  const { type, metadata } = (await logOf(store)).at(-1)!
  const at = Date.parse((JSON.parse(metadata) as { at: string }).at)
  // It is a duplicate until its retention is over.
  expect([again?.duplicate, type, at >= began + 60_000]).toEqual([false, 'TaskEnqueued', true])
})

test('INV-22: tasks leave memory after their retention, without any event or question', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(configure({ retentionSeconds: 3 }), caller)
  await engine.submit(finished(2_500), caller)
  let seen!: QueueState
  expect(ok(await engine.read((state) => sizesOf((seen = state)).retained))).toBeGreaterThan(0)
  // In debug mode, a state from which another one was made can no longer be read.
  const isLeftBehind = (): boolean => {
    try {
      return headOf(seen) === undefined
    } catch {
      return true
    }
  }
  await until(isLeftBehind)
  await until(async () => ok(await engine.read((state) => sizesOf(state).retained)) === 0)
  expect(await logOf(store)).toHaveLength(2_501)
})
