/** Closing an engine: every caller gets an answer, only a log and a snapshot remain, and it takes a bounded time. */
import { createDaybook, openEngine, streamOf } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { revisionOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { faultyStore } from '../support/faulty-store.js'
import { inTime } from '../support/in-time.js'
import { memorySnapshots } from '../support/memory-snapshots.js'
import { claim, codeOf, caller, enqueue, foldAll, isSettled, logOf, ok, openQueue, settle, stateText, task, textOf } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

test('everything submitted is answered, and a snapshot of all of it is left', async () => {
  const snapshots = memorySnapshots()
  const { engine, store } = await openQueue({ snapshots, batchEventsMax: 5 })
  const release = store.hold()
  const answers = []
  for (let i = 0; i < 40; i++) {
    answers.push(engine.submit(enqueue(`t${i}`), caller))
    if (i % 10 === 0) await settle()
  }
  const read = engine.read(revisionOf)
  let completed = false
  engine.committed.subscribe({ complete: () => (completed = true) })
  const closed = engine.close()
  expect(engine.close()).toBe(closed)
  expect(await isSettled(closed)).toBe(false)
  release()
  await closed
  expect((await Promise.all(answers)).map(codeOf)).toEqual(Array(40).fill('success'))
  expect(ok(await read)).toBe(39)
  expect(completed).toBe(true)
  expect(snapshots.kept.map(({ header }) => header.revision)).toEqual([39])
  const { engine: again } = await openQueue({ store, snapshots })
  expect(again.status()).toMatchObject({ revision: 39, snapshotRevision: 39 })
  expect(await stateText(again)).toBe(textOf(foldAll(await logOf(store))))
})

test('close waits for an append in flight, also if nothing else is left to do: its caller gets its answer', async () => {
  const snapshots = memorySnapshots()
  const { engine, store } = await openQueue({ snapshots })
  await engine.submit(enqueue('a'), caller)
  const release = store.hold()
  const answers: Array<string> = []
  const last = engine.submit(enqueue('b'), caller).then((outcome) => answers.push(codeOf(outcome)))
  await settle()
  const closed = engine.close().then(() => answers.push('closed'))
  expect(await isSettled(closed)).toBe(false)
  release()
  await Promise.all([last, closed])
  expect(answers).toEqual(['success', 'closed'])
  expect(snapshots.kept.map(({ header }) => header.revision)).toEqual([1])
})

test('commands, claims and reads after close are refused and write nothing', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  await engine.close()
  const outcomes = [
    await engine.submit(enqueue('b'), caller),
    await engine.claim(claim(), caller, { waitMs: 60_000 }),
    await engine.read(() => 1),
    ...(await engine.submitAll([enqueue('c'), enqueue('d')], caller)),
  ]
  expect(outcomes.map(codeOf)).toEqual(Array(5).fill('unavailable'))
  expect(outcomes[0]).toMatchObject({ left: { retryAfterSeconds: 1, detail: expect.stringContaining('stopping') } })
  expect(store.appends).toEqual([1])
})

test('waiting claims are answered with no tasks at once: those waiting, in the mailbox, and in an append that fails', async () => {
  for (const fault of ['none', 'unavailable'] as const) {
    const { engine, store } = await openQueue()
    const wait = (agent: string) => engine.claim(claim(agent), caller, { waitMs: 60_000 })
    const inLine = [wait('a'), wait('b')]
    await settle()
    const release = store.hold()
    store.script.push({ kind: fault })
    const enqueued = engine.submit(enqueue('x'), caller)
    await settle()
    const inMailbox = wait('c')
    const closed = engine.close()
    release()
    await closed
    const [a, b, c] = await Promise.all([...inLine, inMailbox])
    if (fault === 'none') expect([a, b, c].map((outcome) => ok(outcome!).length)).toEqual([1, 0, 0])
    else expect([codeOf(a!), codeOf(b!), codeOf(c!)]).toEqual(['unavailable', 'success', 'success'])
    expect(codeOf(await enqueued)).toBe(fault === 'none' ? 'success' : 'unavailable')
  }
})

test('while the store cannot write: every caller is refused, and close ends', async () => {
  const snapshots = memorySnapshots()
  const { engine, store } = await openQueue({ snapshots })
  await engine.submit(enqueue('a'), caller)
  store.script.push(...Array.from({ length: 99 }, () => ({ kind: 'unavailable' }) as const))
  const answers = Array.from({ length: 5 }, (_, i) => engine.submit(enqueue(`t${i}`), caller))
  const read = engine.read(revisionOf)
  await engine.close()
  expect((await Promise.all(answers)).map(codeOf)).toEqual(Array(5).fill('unavailable'))
  expect(ok(await read)).toBe(0)
  expect(snapshots.kept.map(({ header }) => header.revision)).toEqual([0])
})

test('while an outcome stays unknown: every caller is answered within bounds, and the snapshot contains only what is in the log', async () => {
  const snapshots = memorySnapshots()
  const inner = openMemoryStore()
  const { engine, store } = await openQueue({ store: inner, snapshots })
  await engine.submit(enqueue('a'), caller)
  store.script.push({ kind: 'unknown, lost' }, ...Array.from({ length: 99 }, () => ({ kind: 'unavailable' }) as const))
  const unsettled = engine.submit(enqueue(task('b', { type: 'never' })), caller)
  await settle()
  const behind = [engine.submit(enqueue('c'), caller), engine.claim(claim(), caller, { waitMs: 60_000 })]
  await engine.close()
  // The append that was sent may be in the log. The ones after it are not.
  expect([codeOf(await unsettled), ...(await Promise.all(behind)).map(codeOf)]).toEqual(['outcome-unknown', 'unavailable', 'unavailable'])
  expect(await unsettled).toMatchObject({ left: { detail: expect.stringContaining('in the log or it is not') } })
  expect(snapshots.kept.map(({ header }) => header.revision)).toEqual([0])
  // Another writer appends at that place: the snapshot must not contain the lost append.
  const { engine: next } = await openQueue({ store: inner })
  await next.submit(enqueue('d', 'e', 'f'), caller)
  const { engine: again } = await openQueue({ store: inner, snapshots })
  expect(await stateText(again)).toBe(textOf(foldAll(await logOf(inner))))
})

test('an outcome that becomes known while closing is acknowledged', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  store.script.push({ kind: 'unknown, written late', ms: 150 }, { kind: 'unavailable' }, { kind: 'unavailable' })
  const unsettled = engine.submit(enqueue('b'), caller)
  await settle()
  await engine.close()
  expect(codeOf(await unsettled)).toBe('success')
  expect(await logOf(store)).toHaveLength(2)
})

test('a claim whose contents are still being read gets its tasks', async () => {
  const { engine, store } = await openQueue({ contentCacheMax: 0 })
  await engine.submit(enqueue('a', 'b'), caller)
  let found: () => void = () => undefined
  const reading = new Promise<void>((resolve) => (found = resolve))
  const pick = store.pick
  Object.assign(store, { pick: async (...asked: Parameters<typeof pick>) => (await reading, pick(...asked)) })
  const claims = engine.claim(claim('w', 2), caller)
  await settle()
  const closed = engine.close()
  expect(await isSettled(closed)).toBe(false)
  found()
  await closed
  expect(ok(await claims).map(({ task }) => task)).toEqual(['a', 'b'])
})

test('contents that cannot be read in time do not keep it from closing', async () => {
  const { engine, store } = await openQueue({ contentCacheMax: 0 })
  await engine.submit(enqueue('a'), caller)
  Object.assign(store, { pick: () => new Promise(() => undefined) })
  void engine.claim(claim(), caller)
  await settle()
  await inTime('the end of closing', engine.close())
})

test('a lease that expires while closing is left to the next start', async () => {
  const store = openMemoryStore()
  let now = 1_700_000_000_000
  const clock = () => now
  const { engine } = await openQueue({ store, clock })
  await engine.submit(enqueue(task('a', { timeout: 10 })), caller)
  await engine.claim(claim(), caller)
  const closing = engine.close()
  now += 20_000
  await closing
  expect((await logOf(store)).length).toBe(2)
  const { engine: again } = await openQueue({ store, clock })
  expect(await again.reached(2, 30_000)).toBe(true)
})

test('who waits for the end of a task is not kept by a queue that has closed, however many wait, one after the other', async () => {
  const { engine } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  const begun = Date.now()
  const before = engine.nextSettled('a', 60_000)
  await engine.close()
  await before
  for (let i = 0; i < 3; i++) await engine.nextSettled('a', 60_000)
  expect(Date.now() - begun).toBeLessThan(60_000)
})

// ------------------------------------------------------------------ all queues of a store

test('a store with several queues: all are replayed, then ready; they are closed together with the store', async () => {
  const store = openMemoryStore()
  const first = createDaybook({ store })
  await first.ready
  expect(first.queues()).toEqual([])
  expect(first.queue('one')).toBeUndefined()
  for (const name of ['one', 'two', 'three']) await (await first.open(name)).submit(enqueue(`in ${name}`), caller)
  const idle = await first.open('idle')
  expect(await first.open('idle')).toBe(idle)
  expect(first.queue('idle')).toBeUndefined()
  expect(first.queues().map(({ name }) => name)).toEqual(['one', 'two', 'three'])
  const kept: typeof store = { ...store, close: async () => undefined }
  const again = createDaybook({ store: kept })
  await again.ready
  expect(again.queues().map(({ name }) => name)).toEqual(['one', 'two', 'three'])
  expect(again.loading()).toEqual([])
  expect(again.store).toBe('memory')
  await again.close()
  await expect(again.open('four')).rejects.toThrow('stopping')
  await first.close()
  await expect(store.head(streamOf('one'))).rejects.toThrow('closed')
})

test('while a long log is replayed, close does not wait for its end', async () => {
  const inner = openMemoryStore()
  const writer = createDaybook({ store: { ...inner, close: async () => undefined } })
  const queue = await writer.open('q')
  for (let i = 0; i < 5; i++) await queue.submitAll(Array.from({ length: 1_000 }, (_, n) => enqueue(`t${i * 1_000 + n}`)), caller)
  await writer.close()
  let pages = 0
  let closed: Promise<void> | undefined
  const store: typeof inner = {
    ...inner,
    read: async function* (...asked) {
      for await (const page of inner.read(...asked)) {
        if (++pages === 2) closed = daybook.close()
        yield page
      }
    },
  }
  const warnings: Array<string> = []
  const daybook = createDaybook({ store, warn: (message) => void warnings.push(message) })
  await expect(daybook.ready).rejects.toThrow('stopping')
  await closed
  expect([pages, warnings]).toEqual([2, []])
})

test('a queue that is opened twice at once has one engine', async () => {
  const daybook = createDaybook({ store: openMemoryStore() })
  const [a, b] = await Promise.all([daybook.open('q'), daybook.open('q')])
  expect(a).toBe(b)
  await daybook.close()
})

test('queues without events that requests have named do not stay open without end; those that are in use, or were opened for good, do', async () => {
  const store = openMemoryStore()
  const daybook = createDaybook({ store })
  await daybook.ready
  const kept = await daybook.open('kept')
  const used = await daybook.visit('used')
  await used.submit(enqueue('a'), caller)
  const asked = await daybook.visit('asked')
  const waiting = asked.claim({ type: 'Claim', agent: 'w', max: 1 }, caller, { waitMs: 60_000 })
  const first = await daybook.visit('first')
  let closed = 0
  for (let i = 0; i < 1_200; i++) (await daybook.visit(`any-${i}`)).committed.subscribe({ complete: () => closed++ })
  await first.close()
  expect(closed).toBeGreaterThanOrEqual(190)
  expect(closed).toBeLessThanOrEqual(210)
  expect(await daybook.visit('first')).not.toBe(first)
  for (const [name, engine] of [['kept', kept], ['used', used], ['asked', asked]] as const) expect(await daybook.visit(name)).toBe(engine)
  expect(await kept.submit(enqueue('b'), caller)).toMatchObject({ right: { revision: 0 } })
  await asked.submit(enqueue('c'), caller)
  expect(await waiting).toMatchObject({ right: { value: [{ task: 'c' }] } })
  await daybook.close()
})

test('a store that cannot be read: ready rejects, and close ends', async () => {
  const store = faultyStore(openMemoryStore())
  const before = await openEngine(store, 'q', undefined, { skipped: () => undefined, progress: () => undefined })
  await before.submit(enqueue('a'), caller)
  store.failReads = 1
  const daybook = createDaybook({ store })
  await expect(daybook.ready).rejects.toThrow('reading fails now')
  expect((await daybook.open('q')).status().revision).toBe(0)
  await daybook.close()
})
