/** An append with an unknown outcome is resolved and never written twice (EV-03, INV-19). */
import { openMemoryStore } from '@daybook/adapters/memory'
import { taskOf } from '@daybook/core'
import { expect, test } from 'vitest'
import type { Fault } from '../support/faulty-store.js'
import { claim, codeOf, complete, caller, enqueue, foldAll, isSettled, logOf, ok, openQueue, settle, sleep, stateText, textOf, typesIn } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const faults: ReadonlyArray<Fault> = [
  { kind: 'unknown, written' },
  { kind: 'unknown, lost' },
  { kind: 'unknown, written late', ms: 5 },
  { kind: 'unknown, written late', ms: 80 },
]
const name = (fault: Fault): string => ('ms' in fault ? `${fault.kind} (${fault.ms} ms)` : fault.kind)

/** Throws unless each event occurs once, and exactly these tasks are enqueued. */
const holdsOnce = (log: Awaited<ReturnType<typeof logOf>>, tasks: ReadonlyArray<string>): void => {
  const ids = log.map(({ id }) => id)
  if (new Set(ids).size !== ids.length) throw new Error('INV-19: an event is in the log twice')
  const enqueued = log.flatMap(({ type, data }) => (type === 'TaskEnqueued' ? [(JSON.parse(data) as { task: string }).task] : []))
  if (enqueued.join() !== tasks.join()) throw new Error(`INV-19: ${enqueued.join()} instead of ${tasks.join()}`)
}

for (const fault of faults) {
  test(`INV-19: ${name(fault)}: in the log once, and acknowledged`, async () => {
    const { engine, store, warnings } = await openQueue()
    await engine.submit(enqueue('a'), caller)
    store.script.push(fault)
    const outcomes = await Promise.all([engine.submit(enqueue('b'), caller), engine.submit(enqueue('c'), caller)])
    expect(outcomes.map(codeOf)).toEqual(['success', 'success'])
    await sleep(100)
    holdsOnce(await logOf(store), ['a', 'b', 'c'])
    expect(warnings.join()).toContain('outcome is unknown')
    expect(engine.status()).toMatchObject({ unavailable: undefined, conflicts: 0, revision: 2 })
    expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
  })

  test(`INV-19: ${name(fault)}: the very first append of a queue`, async () => {
    const { engine, store } = await openQueue()
    store.script.push(fault)
    expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe('success')
    await sleep(100)
    holdsOnce(await logOf(store), ['a'])
  })

  test(`INV-19: ${name(fault)}: with another append after it`, async () => {
    for (const behind of [...faults, { kind: 'none' }, { kind: 'unavailable' }] as const) {
      const { engine, store, warnings } = await openQueue()
      await engine.submit(enqueue('a'), caller)
      store.script.push(fault, behind)
      const release = store.hold()
      const first = engine.submit(enqueue('b'), caller)
      await settle()
      const second = engine.submit(enqueue('c'), caller)
      await settle()
      release()
      expect(codeOf(await first)).toBe('success')
      const told = codeOf(await second)
      await sleep(90)
      // After a lost append the second is refused for its revision and sent again; or its own fault is reported.
      expect(told).toBe(behind.kind === 'unavailable' ? 'unavailable' : 'success')
      holdsOnce(await logOf(store), told === 'success' ? ['a', 'b', 'c'] : ['a', 'b'])
      expect(warnings.filter((text) => text.includes('has lost'))).toEqual([])
      expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
    }
  })

  test(`INV-19: ${name(fault)}: unknown again and again, reads failing, too`, async () => {
    const { engine, store } = await openQueue()
    await engine.submit(enqueue('a'), caller)
    store.script.push(fault, { kind: 'unavailable' }, fault)
    store.failReads = 2
    const answer = engine.submit(enqueue('b'), caller)
    const [held] = ok(await engine.claim(claim(), caller))
    expect(held?.task).toBe('a')
    expect(codeOf(await answer)).toBe('success')
    await sleep(90)
    holdsOnce(await logOf(store), ['a', 'b'])
    expect((await typesIn(store)).filter((type) => type === 'Claimed')).toHaveLength(1)
  })
}

test('INV-19: lost, and another writer appended at its revision: decided again, once', async () => {
  const { engine, store } = await openQueue({ store: openMemoryStore({ isShared: true }) })
  const { engine: other } = await openQueue({ store })
  await engine.submit(enqueue('a'), caller)
  const { kind } = { kind: 'unknown, lost' } as const
  store.script.push({ kind })
  store.script.push({ kind: 'after', run: () => Promise.resolve() })
  const claimed = engine.claim(claim('ann'), caller)
  await new Promise((resolve) => setImmediate(resolve))
  const foreign = other.claim(claim('foreign'), caller)
  const outcomes = [ok(await claimed), ok(await foreign)]
  expect(outcomes.map((tasks) => tasks.length).sort()).toEqual([0, 1])
  expect((await typesIn(store)).filter((type) => type === 'Claimed')).toHaveLength(1)
})

test("INV-19: lost, and another writer's event at its revision is not mistaken for it", async () => {
  const inner = openMemoryStore({ isShared: true })
  const { engine, store } = await openQueue({ store: inner })
  const { engine: other } = await openQueue({ store: inner })
  await engine.submit(enqueue('a'), caller)
  store.script.push({ kind: 'unknown, lost' })
  // The engine cannot read at once, and the other writer appends meanwhile.
  store.failReads = 1
  const mine = engine.submit(enqueue('mine'), caller)
  await settle()
  expect(codeOf(await other.submit(enqueue('foreign'), caller))).toBe('success')
  expect(ok(await mine)).toMatchObject([{ id: 'mine', number: 3, duplicate: false }])
  holdsOnce(await logOf(inner), ['a', 'foreign', 'mine'])
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(inner))))
})

test('nothing is answered while the outcome is unknown, and nothing new is decided', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  store.script.push({ kind: 'unknown, lost' }, ...Array.from({ length: 2 }, () => ({ kind: 'unavailable' }) as const))
  const unsettled = engine.submit(enqueue('b'), caller)
  await settle()
  const later = [engine.submit(enqueue('c'), caller), engine.read((state) => taskOf(state, 'b')?.status)] as const
  expect(await isSettled(Promise.race([unsettled, ...later]))).toBe(false)
  expect(engine.status().unavailable).toContain('unknown')
  expect(codeOf(await unsettled)).toBe('success')
  expect(ok(await later[1])).toBe('pending')
  holdsOnce(await logOf(store), ['a', 'b', 'c'])
})

test('while the log cannot be read either, the reason is told once, and not with each try', async () => {
  const { engine, store, warnings } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  store.script.push({ kind: 'unknown, written' })
  store.failReads = 20
  expect(codeOf(await engine.submit(enqueue('b'), caller))).toBe('success')
  expect(store.failReads).toBe(0)
  expect(warnings.filter((text) => text.includes('still unknown: '))).toHaveLength(1)
})

test('after some seconds of doubt, questions and commands that wait are refused, and so are later ones at once; the command in doubt waits on', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  const claims = ok(await engine.claim(claim(), caller))
  store.script.push({ kind: 'unknown, lost' }, ...Array.from({ length: 20 }, () => ({ kind: 'unavailable' }) as const))
  const unsettled = engine.submit(enqueue('b'), caller)
  const beside = engine.read((state) => taskOf(state, 'b')?.status)
  await settle()
  const waiting = [engine.submit(enqueue('c'), caller), engine.read(() => 'asked'), engine.claim(claim(), caller, { waitMs: 60_000 })] as const
  engine.takeBack(claims, 'its agent has gone')
  await sleep(4_900)
  expect(await isSettled(Promise.race([unsettled, beside, ...waiting]))).toBe(false)
  await sleep(200)
  expect(await isSettled(Promise.all([beside, ...waiting]))).toBe(true)
  expect((await Promise.all([beside, ...waiting])).map(codeOf)).toEqual(['unavailable', 'unavailable', 'unavailable', 'unavailable'])
  const later = engine.read(() => 'asked later')
  await settle()
  expect(await isSettled(later)).toBe(true)
  expect(await later).toMatchObject({ left: { code: 'unavailable', detail: expect.stringContaining("an append's outcome is unknown") } })
  expect(await isSettled(unsettled)).toBe(false)
  store.heal()
  expect(codeOf(await unsettled)).toBe('success')
  expect(ok(await engine.read((state) => [taskOf(state, 'a')?.status, taskOf(state, 'b')?.status]))).toEqual(['pending', 'pending'])
  holdsOnce(await logOf(store), ['a', 'b'])
})

test('teeth: an engine that appends again without looking is caught', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  const [event] = await logOf(store)
  await store.append(event!.stream, [event!], 'any')()
  const log = await logOf(store)
  expect(() => holdsOnce(log, ['a', 'a'])).toThrow('twice')
  expect(() => holdsOnce(log.slice(0, 1), ['a', 'b'])).toThrow('instead of')
})

test('a completion whose unknown append was written completes once', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  store.script.push({ kind: 'unknown, written' })
  expect(ok(await engine.submit(complete(held!), caller))).toEqual({ status: 'completed' })
  expect(await typesIn(store)).toEqual(['TaskEnqueued', 'Claimed', 'Completed'])
})
