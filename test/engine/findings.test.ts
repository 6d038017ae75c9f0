/** The engine's work besides the decision when a completion spawns tasks: it reads the parent's content, and never fails because of it. */
import { openEngine, prepareResult } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type EventStore, StoreError } from '@daybook/adapters/store'
import type { Replies, Result } from '@daybook/core'
import { expect, test } from 'vitest'

const me = { actor: 'test' }
const silent = { progress: () => undefined, skipped: () => undefined }
const held = async (store: EventStore, content = '{"payload":1,"metadata":{"team":"web"}}') => {
  const engine = await openEngine(store, 'q', undefined, silent)
  await engine.submit({ type: 'Enqueue', tasks: [{ id: 'p', type: 'work', idempotencyKey: 'p', content }] }, me)
  const claimed = await engine.claim({ type: 'Claim', agent: 'ann', max: 1 }, me)
  if (claimed._tag === 'Left') throw new Error(claimed.left.detail)
  const { token } = claimed.right.value[0]!
  const handIn = async (result: Result) => {
    const prepared = prepareResult(result)
    if (prepared._tag === 'Left') throw new Error(prepared.left.detail)
    return engine.submit({ type: 'Complete', task: '#1', agent: 'ann', token, ...prepared.right }, me)
  }
  return { engine, handIn, complete: (result: Result) => handIn({ decisionReport: 'x', ...result }) }
}
const contentsOf = async (store: EventStore): Promise<ReadonlyArray<{ readonly payload: unknown; readonly metadata?: unknown }>> => {
  const contents = []
  for await (const page of store.read('taskqueue-q', { from: 2 })) for (const { type, data } of page) if (type === 'TaskEnqueued') contents.push(JSON.parse(data).content)
  return contents
}
const issue = { type: 'security_issue', details: 'x' }
const valueOf = (outcome: { readonly _tag: string; readonly right?: { readonly value: Replies['Complete'] } }) => outcome.right?.value

test('a parent whose content is damaged in the log can be completed; its children inherit nothing', async () => {
  const store = openMemoryStore()
  const damaged: EventStore = { ...store, pick: () => Promise.reject(new StoreError('damaged', 'a page is damaged')) }
  const { complete, engine } = await held(damaged)
  expect(valueOf(await complete({ discoveries: [issue] }))).toMatchObject({ status: 'completed', spawned: { length: 1 } })
  expect(await contentsOf(store)).toEqual([{ payload: { discovery: issue }, description: 'security_issue: x' }])
  await engine.close()
})

test('of two completions at once, without a report and with it, the second has what the first handed in', async () => {
  const store = openMemoryStore()
  const { complete, engine, handIn } = await held(store)
  const first = handIn({ output: 1 })
  // Enters before the first is decided.
  const second = complete({})
  expect([valueOf(await first), valueOf(await second)]).toMatchObject([{ status: 'incomplete' }, { status: 'completed' }])
  const events = []
  for await (const page of store.read('taskqueue-q', { from: 0 })) events.push(...page)
  expect(JSON.parse(events.at(-1)!.data)).toMatchObject({ task: 'p', content: { output: 1, decisionReport: 'x' } })
  await engine.close()
})

test('when the report comes, and what was handed in before is damaged in the log, the report alone is taken; if it cannot be read, the completion is refused', async () => {
  const store = openMemoryStore()
  let why: 'damaged' | 'unavailable' = 'unavailable'
  const failing: EventStore = {
    ...store,
    read: (stream, options) => {
      if (options?.direction === 'backwards') throw new StoreError(why, 'a page cannot be read')
      return store.read(stream, options)
    },
  }
  const { complete, engine, handIn } = await held(failing)
  expect(valueOf(await handIn({ output: 1 }))).toEqual({ status: 'incomplete' })
  expect(await complete({})).toMatchObject({ _tag: 'Left', left: { code: 'unavailable' } })
  why = 'damaged'
  expect(valueOf(await complete({}))).toMatchObject({ status: 'completed' })
  await engine.close()
})

test('what another task handed in is not taken for it, if the last event has become one about that task', async () => {
  const store = openMemoryStore()
  const other: EventStore = {
    ...store,
    read: async function* (stream, options) {
      for await (const page of store.read(stream, options)) {
        yield options?.direction === 'backwards' ? page.map((event) => ({ ...event, data: event.data.replace('"task":"p"', '"task":"z"') })) : page
      }
    },
  }
  const { complete, engine, handIn } = await held(other)
  await handIn({ output: 1 })
  expect(await complete({})).toMatchObject({ _tag: 'Left', left: { code: 'unavailable', detail: expect.stringContaining('not in the log yet') as string } })
  await engine.close()
})

test('what is handed in part by part has a limit together', async () => {
  const { complete, engine, handIn } = await held(openMemoryStore())
  for (let i = 0; i < 4; i++) expect(valueOf(await handIn({ [`part${i}`]: 'x'.repeat(250_000) } as Result))).toEqual({ status: 'incomplete' })
  expect(await complete({ output: 'x'.repeat(250_000) })).toMatchObject({ _tag: 'Left', left: { code: 'too-large' } })
  expect(valueOf(await complete({ output: 'short' }))).toMatchObject({ status: 'completed' })
  await engine.close()
})

test('while the log cannot be read the completion is refused and can be repeated', async () => {
  const store = openMemoryStore()
  let isDown = true
  const flaky: EventStore = { ...store, pick: (...given) => (isDown ? Promise.reject(new StoreError('unavailable', 'the disk is away')) : store.pick(...given)) }
  const { complete, engine } = await held(flaky)
  expect(await complete({ discoveries: [issue] })).toMatchObject({ _tag: 'Left', left: { code: 'unavailable' } })
  isDown = false
  expect(valueOf(await complete({ discoveries: [issue] }))).toMatchObject({ status: 'completed', spawned: { length: 1 } })
  expect(await contentsOf(store)).toMatchObject([{ metadata: { team: 'web' } }])
  await engine.close()
})

test('what does not fit in one append is left in the result, and the completion is accepted', async () => {
  const store = openMemoryStore()
  const small: EventStore = { ...store, limits: { ...store.limits, appendBytesMax: 20_000 } }
  const { complete, engine } = await held(small)
  const discoveries = Array.from({ length: 50 }, (_, i) => ({ ...issue, details: `${i} ${'x'.repeat(200)}` }))
  const reply = valueOf(await complete({ discoveries }))
  expect(reply).toMatchObject({ status: 'completed' })
  const { spawned = [], left = 0 } = reply ?? {}
  expect(spawned.length).toBeGreaterThan(0)
  expect(left).toBeGreaterThan(0)
  expect(spawned.length + left).toBe(50)
  await engine.close()
})

test('metadata of a parent that are too large are named instead of copied', async () => {
  const store = openMemoryStore()
  const { complete, engine } = await held(store, JSON.stringify({ payload: 'x'.repeat(20_000), metadata: { text: 'y'.repeat(20_000) } }))
  await complete({ discoveries: [issue] })
  expect(await contentsOf(store)).toMatchObject([{ payload: { parent: { payload: { omitted: expect.any(String) } } }, metadata: { omitted: expect.any(String) } }])
  await engine.close()
})
