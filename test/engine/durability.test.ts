/** Acknowledged means durable (EV-03): nothing is answered before the append that it depends on has succeeded. */
import type { Outcome } from '@daybook/adapters/engine'
import type { EventStore } from '@daybook/adapters/store'
import { openMemoryStore } from '@daybook/adapters/memory'
import { depthOf, isUnreadable, taskCount } from '@daybook/core'
import { expect, test } from 'vitest'
import { claim, codeOf, complete, caller, enqueue, isSettled, ok, openQueue, settle, stream, type Opened } from '../support/queue.js'

/** Throws if anything is answered while the append that it depends on is held back. */
const nothingBeforeDurable = async ({ engine, store }: Opened): Promise<void> => {
  await engine.submit(enqueue('old'), caller)
  const release = store.hold()
  const asked: Record<string, Promise<Outcome<unknown>>> = {
    enqueue: engine.submit(enqueue('a'), caller),
    claim: engine.claim(claim('ann', 2), caller),
    duplicate: engine.submit(enqueue('a'), caller),
    refusal: engine.submit(complete({ task: 'a', token: 77 }), caller),
    read: engine.read(taskCount),
  }
  const events: Array<number> = []
  const subscription = engine.committed.subscribe(({ from }) => events.push(from))
  const reached = engine.reached(1, 60)
  await settle()
  // A read in its own turn appends nothing, but what it sees is not durable yet.
  asked.later = engine.read(taskCount)
  for (const [what, answer] of Object.entries(asked)) {
    if (await isSettled(answer)) throw new Error(`answered before it was durable: ${what}`)
  }
  if (events.length > 0) throw new Error('committed before it was durable')
  if (engine.status().revision !== 0) throw new Error('a revision that is not durable was shown')
  if (await reached) throw new Error('a revision was reached before it was durable')
  release()
  const outcomes = await Promise.all(Object.values(asked))
  expect(outcomes.map(codeOf)).toEqual(['success', 'success', 'success', 'lease-lost', 'success', 'success'])
  expect(events).toEqual([1])
  subscription.unsubscribe()
}

test('nothing is answered, shown or emitted before the append that it depends on is durable', async () => {
  await nothingBeforeDurable(await openQueue())
})

test('teeth: a store that acknowledges early is caught', async () => {
  const opened = await openQueue()
  const hasty: EventStore['append'] = (name, events, expected) => {
    const revision = (typeof expected === 'number' ? expected : -1) + events.length
    void opened.store.append(name, events, expected)()
    return async () => ({ _tag: 'Right', right: { revision, seal: '' } })
  }
  const { engine } = await openQueue({ store: { ...opened.store, append: hasty } })
  await expect(nothingBeforeDurable({ ...opened, engine })).rejects.toThrow('before it was durable')
})

test('teeth: an engine that acknowledges early is caught', async () => {
  const opened = await openQueue()
  const engine = { ...opened.engine, status: () => opened.engine.status(), claim: opened.engine.claim.bind(opened.engine) }
  engine.read = opened.engine.read.bind(opened.engine)
  engine.reached = opened.engine.reached.bind(opened.engine)
  engine.submit = (async (command, by) => {
    const answer = opened.engine.submit(command, by)
    return Promise.race([answer, settle().then(() => ({ _tag: 'Right', right: { value: [], revision: 1 } }) as never)])
  }) as typeof engine.submit
  await expect(nothingBeforeDurable({ ...opened, engine: engine as typeof opened.engine })).rejects.toThrow('enqueue')
})

test('answers come in order, whatever the order in which the store acknowledges', async () => {
  const { engine, store } = await openQueue()
  let tell = (): void => undefined
  store.script.push({ kind: 'acknowledged after', wait: new Promise<void>((resolve) => (tell = resolve)) }, { kind: 'none' })
  const told: Array<string> = []
  const first = engine.submit(enqueue('a'), caller).then((outcome) => told.push(`a ${codeOf(outcome)}`))
  await settle()
  const second = engine.submit(enqueue('b'), caller).then((outcome) => told.push(`b ${codeOf(outcome)}`))
  await settle()
  expect(told).toEqual([])
  tell()
  await Promise.all([first, second])
  expect(told).toEqual(['a success', 'b success'])
  expect(store.appends).toEqual([1, 1])
})

test('a read sees everything submitted before it, and has the revision that it shows', async () => {
  const { engine } = await openQueue()
  const submitted = [engine.submit(enqueue('a'), caller), engine.submit(enqueue('b'), caller)]
  const seen = engine.read((state) => depthOf(state).total)
  void engine.submit(enqueue('c'), caller)
  expect(await seen).toEqual({ _tag: 'Right', right: { value: 2, revision: 1 } })
  await Promise.all(submitted)
  expect(ok(await engine.read((state) => depthOf(state).total))).toBe(3)
})

test('a read of a batch that fails is answered again, and never shows what was rolled back', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  store.script.push({ kind: 'unavailable' })
  const refused = engine.submit(enqueue('b'), caller)
  const seen = engine.read((state) => depthOf(state).total)
  expect(codeOf(await refused)).toBe('unavailable')
  expect(await seen).toEqual({ _tag: 'Right', right: { value: 1, revision: 0 } })
})

test('a read whose query throws rejects without affecting others', async () => {
  const { engine } = await openQueue()
  const enqueued = engine.submit(enqueue('a'), caller)
  const asked = engine.read(() => {
    throw new Error('no such cursor')
  })
  await expect(asked).rejects.toThrow('no such cursor')
  expect(codeOf(await enqueued)).toBe('success')
  expect(ok(await engine.read(taskCount))).toBe(1)
})

test('reached: at once, later, or not in time', async () => {
  const { engine } = await openQueue()
  await engine.submit(enqueue('a'), caller)
  expect(await engine.reached(0, 0)).toBe(true)
  const soon = engine.reached(1, 5_000)
  expect(await engine.reached(1, 20)).toBe(false)
  await engine.submit(enqueue('b'), caller)
  expect(await soon).toBe(true)
})

test('committed emits every event once, in order, with its revision', async () => {
  const { engine, store } = await openQueue({ batchEventsMax: 3 })
  const told: Array<string> = []
  engine.committed.subscribe(({ from, events }) => events.forEach((event, i) => told.push(`${from + i} ${isUnreadable(event) ? 'unreadable' : event.type}`)))
  await engine.submitAll(Array.from({ length: 7 }, (_, i) => enqueue(`t${i}`)), caller)
  await engine.claim(claim('ann', 7), caller)
  const types = [...Array<string>(7).fill('TaskEnqueued'), ...Array<string>(7).fill('Claimed')]
  expect(told).toEqual(types.map((type, i) => `${i} ${type}`))
  expect(await store.head(stream)).toBe(13)
})

test('many reads that wait for a held append are all answered when it fails', async () => {
  const { engine, store } = await openQueue({ store: openMemoryStore() })
  await engine.submit(enqueue('a'), caller)
  const release = store.hold()
  store.script.push({ kind: 'unavailable' })
  const refused = engine.submit(enqueue('b'), caller)
  await settle()
  const reads: Array<Promise<Outcome<number>>> = []
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 80_000; i++) reads.push(engine.read(taskCount))
    await settle()
  }
  release()
  expect(codeOf(await refused)).toBe('unavailable')
  expect(new Set((await Promise.all(reads)).map(ok))).toEqual(new Set([1]))
})
