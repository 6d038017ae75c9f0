/** Other processes on the same queue: their events are followed, and neither process starves. */
import { createDaybook } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type Delivered, type EventStore, LostEvents, StoreError } from '@daybook/adapters/store'
import { isUnreadable, taskOf } from '@daybook/core'
import { NEVER, Observable } from 'rxjs'
import { expect, test } from 'vitest'
import { claim, codeOf, complete, caller, enqueue, foldAll, logOf, ok, openQueue, sleep, stateText, stream, textOf, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

/** Two engines on one store. `change` may wrap the store of the second. */
const openTwo = async (change: (store: EventStore) => EventStore = (store) => store) => {
  const inner = openMemoryStore({ isShared: true })
  const here = await openQueue({ store: change(inner) })
  const there = await openQueue({ store: inner })
  return { inner, here, there }
}

/** Counts subscriptions; `fail` ends them with an error. */
const watched = (store: EventStore) => {
  const open = new Set<(error: Error) => void>()
  let opened = 0
  const subscribe: EventStore['subscribe'] = (...args) =>
    new Observable<Delivered>((subscriber) => {
      const fail = (error: Error): void => subscriber.error(error)
      open.add(fail)
      opened++
      subscriber.add(store.subscribe(...args).subscribe(subscriber))
      subscriber.add(() => open.delete(fail))
    })
  return { store: { ...store, subscribe }, now: () => open.size, opened: () => opened, fail: (error: Error) => [...open].forEach((each) => each(error)) }
}

test('an idle engine hears of a task that another engine enqueued, and gives it to a waiting claim', async () => {
  const { here, there } = await openTwo()
  const waiting = here.engine.claim(claim('ann'), caller, { waitMs: 5_000 })
  await sleep(50)
  await there.engine.submit(enqueue('a'), caller)
  expect(ok(await waiting)).toMatchObject([{ task: 'a', token: 1, content: '{"payload":"of a"}' }])
  expect(here.engine.status().conflicts).toBe(0)
})

test('timers of tasks that another engine appended also run here', async () => {
  const { inner, here, there } = await openTwo()
  await sleep(50)
  await there.engine.submit(enqueue({ ...enqueue('a').tasks[0]!, timeout: 0.1 }), caller)
  await there.engine.claim(claim('ann'), caller)
  await until(() => here.engine.status().revision === 1)
  await there.engine.close()
  await until(async () => (await logOf(inner)).some(({ type }) => type === 'ClaimExpired'))
})

test('`reached` and `committed` include the events of others, also unreadable ones', async () => {
  const { inner, here, there } = await openTwo()
  const told: Array<string> = []
  here.engine.committed.subscribe(({ from, events, isOwn }) =>
    events.forEach((event, i) => told.push(`${from + i} ${isUnreadable(event) ? 'unreadable' : event.type} ${isOwn ? 'own' : 'other'}`)))
  await here.engine.submit(enqueue('a'), caller)
  await there.engine.submit(enqueue('b'), caller)
  await inner.append(stream, [{ id: '00000000-0000-4000-8000-000000000000', type: 'Strange', data: 'x', metadata: '' }], 1)()
  await inner.append(stream, [{ id: '00000000-0000-4000-8000-000000000001', type: 'TaskDue', data: '{"task":"c"}', metadata: '{}' }], 2)()
  expect(await here.engine.reached(3, 5_000)).toBe(true)
  expect(told).toEqual(['0 TaskEnqueued own', '1 TaskEnqueued other', '2 unreadable other', '3 TaskDue other'])
  expect(await stateText(here.engine)).toBe(textOf(foldAll(await logOf(inner))))
})

test('it does not listen to itself for long, and listens again when it is idle', async () => {
  const memory = watched(openMemoryStore({ isShared: true }))
  const { engine, warnings } = await openQueue({ store: memory.store })
  await until(() => memory.now() === 1)
  const tasks = (from: number) => Array.from({ length: 400 }, (_, i) => enqueue(`t${from + i}`))
  let listenedTo = 0
  for (let i = 0; i < 6; i++) {
    await engine.submitAll(tasks(i * 400), caller)
    if (memory.now() === 1) listenedTo++
  }
  expect(listenedTo).toBeLessThan(5)
  await until(() => memory.now() === 1)
  expect(memory.opened()).toBe(2)
  // Its own events are no news, and do no harm.
  expect([warnings, engine.status().unavailable]).toEqual([[], undefined])
  await engine.close()
  expect(memory.now()).toBe(0)
})

test('a subscription that fails is reported and taken up again', async () => {
  const memory = watched(openMemoryStore({ isShared: true }))
  const here = await openQueue({ store: memory.store })
  const there = await openQueue({ store: memory.store })
  await until(() => memory.now() === 2)
  memory.fail(new StoreError('unavailable', 'connection lost'))
  expect(here.warnings.join()).toContain('not heard of for now: connection lost')
  await there.engine.submit(enqueue('a'), caller)
  expect(await here.engine.reached(0, 5_000)).toBe(true)
  expect(ok(await here.engine.read((state) => taskOf(state, 'a')?.number))).toBe(1)
})

test('an engine with an exclusive store does not listen', async () => {
  const memory = watched(openMemoryStore())
  const { engine } = await openQueue({ store: memory.store })
  await engine.submit(enqueue('a'), caller)
  await sleep(60)
  expect(memory.opened()).toBe(0)
})

test('a log of which the middle is missing is not folded: the start is refused, later the queue is unavailable', async () => {
  const inner = openMemoryStore({ isShared: true })
  const { engine } = await openQueue({ store: inner })
  await engine.submit(enqueue('a', 'b', 'c', 'd'), caller)
  await engine.close()
  const cut = (from: number): EventStore => ({
    ...inner,
    read: async function* (name, options) {
      for await (const page of inner.read(name, options)) yield page.filter(({ revision }) => revision >= from)
    },
  })
  await expect(openQueue({ store: cut(2) })).rejects.toThrow('goes on at revision 2 where 0 should be')
  const holed: EventStore = { ...inner, read: async function* (name, options) {
    for await (const page of inner.read(name, options)) yield page.filter(({ revision }) => revision !== 1)
  } }
  await expect(openQueue({ store: holed })).rejects.toThrow('goes on at revision')
  let isCut = false
  // This engine follows nobody, so only a conflict reveals the gap.
  const later: EventStore = { ...inner, subscribe: () => NEVER, read: (...args) => (isCut ? cut(6) : inner).read(...args) }
  const { engine: here, warnings } = await openQueue({ store: later })
  const { engine: there } = await openQueue({ store: inner })
  await there.submit(enqueue('e', 'f', 'g'), caller)
  isCut = true
  const refused = here.submit(enqueue('h'), caller)
  await until(() => warnings.some((warning) => warning.includes('goes on at revision 6 where 4 should be')))
  expect(here.status().unavailable).toContain('events were cut off')
  isCut = false
  expect(codeOf(await refused)).toBe('success')
  expect(await stateText(here)).toBe(textOf(foldAll(await logOf(inner))))
})

test('two engines, each with a task for one worker: both are done once and reported once', async () => {
  const { here, there, inner } = await openTwo()
  await Promise.all([here.engine.submit(enqueue('a'), caller), there.engine.submit(enqueue('b'), caller)])
  for (const engine of [here.engine, there.engine]) {
    for (const held of ok(await engine.claim(claim('ann', 5), caller))) expect(codeOf(await engine.submit(complete(held), caller))).toBe('success')
  }
  const log = await logOf(inner)
  expect(log.filter(({ type }) => type === 'Completed')).toHaveLength(2)
})

test('a queue that another process created is found, and its timers run although nobody asks for it', async () => {
  const store = openMemoryStore({ isShared: true })
  const here = createDaybook({ store, leaseGraceMs: 0 })
  const there = createDaybook({ store: { ...store, close: async () => undefined } })
  await Promise.all([here.ready, there.ready])
  expect(await here.find('q')).toBeUndefined()
  const theirs = await there.open('q')
  await theirs.submit(enqueue({ ...enqueue('a').tasks[0]!, timeout: 0.05 }), caller)
  expect(here.queue('q')).toBeUndefined()
  expect((await here.find('q'))?.status().revision).toBe(0)
  const second = await there.open('second')
  await second.submit(enqueue({ ...enqueue('b').tasks[0]!, timeout: 0.05 }), caller)
  await second.claim(claim('ann'), caller)
  await there.close()
  await until(() => (here.queue('second')?.status().revision ?? -1) > 1)
  expect(here.queues().map(({ name }) => name)).toEqual(['q', 'second'])
  await here.close()
})

test('an exclusive store is not searched for queues of other processes', async () => {
  let asked = 0
  const inner = openMemoryStore()
  const daybook = createDaybook({ store: { ...inner, head: (name) => (asked++, inner.head(name)) } })
  await daybook.ready
  expect(await daybook.find('q')).toBeUndefined()
  expect(asked).toBe(0)
  await daybook.close()
})

test('a queue whose log was truncated is refused with the reason, and the others work', async () => {
  const inner = openMemoryStore({ isShared: true })
  const before = createDaybook({ store: { ...inner, close: async () => undefined } })
  for (const name of ['cut', 'sound']) ok(await (await before.open(name)).submit(enqueue('a', 'b'), caller))
  await before.close()
  let isCut = true
  const store: EventStore = {
    ...inner,
    read: async function* (name, options) {
      for await (const page of inner.read(name, options)) yield page.filter(({ revision }) => !isCut || name !== 'taskqueue-cut' || revision > 0)
    },
  }
  const warnings: Array<string> = []
  const daybook = createDaybook({ store, warn: (message) => warnings.push(message) })
  await daybook.ready
  expect(daybook.queues().map(({ name }) => name)).toEqual(['sound'])
  expect(daybook.refused()).toEqual([{ queue: 'cut', reason: expect.stringContaining('goes on at revision 1 where 0 should be') }])
  expect(warnings).toEqual([expect.stringContaining('queue cut is not opened')])
  await expect(daybook.open('cut')).rejects.toThrow('cut off')
  isCut = false
  expect((await daybook.open('cut')).status().revision).toBe(1)
  expect(daybook.refused()).toEqual([])
  await daybook.close()
})

test('a queue whose events are brought back opens at a request, and is not read more than once a second', async () => {
  const inner = openMemoryStore()
  const before = createDaybook({ store: { ...inner, close: async () => undefined } })
  for (const name of ['asked', 'idle']) ok(await (await before.open(name)).submit(enqueue('a', 'b'), caller))
  await before.close()
  let isAway = true
  let reads = 0
  const store: EventStore = {
    ...inner,
    read: async function* (name, options) {
      reads++
      if (isAway) throw new LostEvents('damaged', 0, 1, 'the segment is damaged', 'bring it back')
      yield* inner.read(name, options)
    },
  }
  const warnings: Array<string> = []
  const daybook = createDaybook({ store, retryMs: 3_600_000, warn: (message) => warnings.push(message) })
  await daybook.ready
  expect(daybook.refused().map(({ queue }) => queue)).toEqual(['asked', 'idle'])
  const begun = performance.now()
  await until(async () => (await daybook.find('asked')) === undefined && reads > 2)
  for (let i = 0; i < 20; i++) await expect(daybook.visit('asked')).rejects.toThrow('the segment is damaged')
  expect(reads - 2).toBeLessThanOrEqual(1 + (performance.now() - begun) / 1_000)
  expect(warnings.length).toBe(2)
  isAway = false
  await until(async () => (await daybook.find('asked')) !== undefined)
  expect(daybook.queue('asked')?.status().revision).toBe(1)
  expect(daybook.refused().map(({ queue }) => queue)).toEqual(['idle'])
  await daybook.close()
})

test('a queue whose events are brought back opens by itself, and only what was lost is read until then', async () => {
  const inner = openMemoryStore()
  const before = createDaybook({ store: { ...inner, close: async () => undefined } })
  ok(await (await before.open('q')).submit(enqueue('a', 'b'), caller))
  await before.close()
  let isAway = true
  const read: Array<unknown> = []
  const store: EventStore = {
    ...inner,
    read: async function* (name, options) {
      read.push(options?.from)
      if (isAway) throw new LostEvents('damaged', 1, 1, 'the segment is damaged', 'bring it back')
      yield* inner.read(name, options)
    },
  }
  const daybook = createDaybook({ store, retryMs: 1 })
  await daybook.ready
  await until(() => read.length > 2)
  expect([read[0], new Set(read.slice(1))]).toEqual([0, new Set([1])])
  isAway = false
  await until(() => daybook.refused().length === 0)
  expect(daybook.queue('q')?.status().revision).toBe(1)
  await daybook.close()
})

test('a store that cannot be read at all makes everything unready, and not one queue', async () => {
  const inner = openMemoryStore()
  const before = createDaybook({ store: { ...inner, close: async () => undefined } })
  ok(await (await before.open('q')).submit(enqueue('a'), caller))
  await before.close()
  const head: EventStore['head'] = () => Promise.reject(new StoreError('unavailable', 'no connection'))
  const daybook = createDaybook({ store: { ...inner, head } })
  await expect(daybook.ready).rejects.toThrow('no connection')
  await daybook.close()
})

test('an append that took long is not followed by a long pause, and neither is a close', async () => {
  const inner = openMemoryStore({ isShared: true })
  let slowMs = 0
  const slow: EventStore = { ...inner, append: (...args) => async () => sleep(slowMs).then(inner.append(...args)) }
  const here = await openQueue({ store: slow })
  const there = await openQueue({ store: inner })
  // A conflict. After it, the next append of this engine is followed by a pause.
  here.store.script.push({ kind: 'after', run: () => there.engine.submit(enqueue('theirs'), caller) })
  slowMs = 1_500
  ok(await here.engine.submit(enqueue('ours'), caller))
  slowMs = 0
  expect(here.engine.status().conflicts).toBe(1)
  const late = sleep(1_500).then(() => 'late')
  expect(await Promise.race([here.engine.read(() => 'in time').then((outcome) => ok(outcome)), late])).toBe('in time')
  await here.engine.close()
})

test('a queue whose time is ahead of this clock is reported, at intervals', async () => {
  const inner = openMemoryStore({ isShared: true })
  const fast = await openQueue({ store: inner, clock: () => Date.now() + 600_000 })
  await fast.engine.submit(enqueue('a'), caller)
  const right = await openQueue({ store: inner })
  await right.engine.submit(enqueue('b'), caller)
  await right.engine.submit(enqueue('c'), caller)
  expect(right.warnings).toEqual([expect.stringMatching(/ahead of this clock/)])
  expect(right.warnings[0]).toContain('600 s')
  expect(fast.warnings).toEqual([])
})

test('a shared store that cannot be listed is a problem of the whole server, until it can', async () => {
  const inner = openMemoryStore({ isShared: true })
  let isAway = false
  const streams: EventStore['streams'] = (prefix) => (isAway ? Promise.reject(new StoreError('unavailable', 'no connection')) : inner.streams(prefix))
  const warnings: Array<string> = []
  const daybook = createDaybook({ store: { ...inner, streams }, warn: (message) => warnings.push(message) })
  await daybook.ready
  expect(daybook.problem()).toBeUndefined()
  isAway = true
  await until(() => daybook.problem() === 'no connection')
  isAway = false
  await until(() => daybook.problem() === undefined)
  expect(warnings).toEqual(['the store cannot be looked at: no connection'])
  await daybook.close()
})

test('TQM-ASSIGN-001: a waiting claim is served when its agent registers for more with another engine', async () => {
  const { here, there } = await openTwo()
  const register = (types: ReadonlyArray<string>) => ({ type: 'RegisterAgent' as const, agent: 'ann', types })
  await here.engine.submit(register(['ops']), caller)
  await here.engine.submit(enqueue('a'), caller)
  const waiting = here.engine.claim(claim('ann'), caller, { waitMs: 60_000 })
  await sleep(50)
  await there.engine.submit(register(['work']), caller)
  expect(ok(await waiting)).toMatchObject([{ task: 'a' }])
})

test('a start opens several queues of a shared store at once, not more than eight, and those of a file one after the other', async () => {
  const opened = async (isShared: boolean): Promise<number> => {
    const inner: EventStore = { ...openMemoryStore({ isShared }), close: async () => undefined }
    const first = createDaybook({ store: inner })
    await first.ready
    for (let n = 0; n < 20; n++) await (await first.open(`q${n}`)).submit(enqueue('a'), caller)
    await first.close()
    let under = 0
    let most = 0
    const head: EventStore['head'] = async (name) => {
      most = Math.max(most, ++under)
      await sleep(10)
      under--
      return inner.head(name)
    }
    const daybook = createDaybook({ store: { ...inner, head } })
    await daybook.ready
    expect(daybook.queues()).toHaveLength(20)
    await daybook.close()
    return most
  }
  expect([await opened(true), await opened(false)]).toEqual([8, 1])
})
