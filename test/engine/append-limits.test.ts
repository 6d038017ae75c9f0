/** Stores that take smaller appends than they said, such as an EventStoreDB whose `MaxAppendSize` was lowered. */
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { caller, claim, codeOf, configure, enqueue, foldAll, logOf, ok, openQueue, stateText, task, textOf, typesIn, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

/** A store that refuses what is over `bytesMax`, although its limits say otherwise. It stops refusing after `refusalsMax`, so that a test ends. */
const smallStore = (bytesMax: number, refusalsMax = 100): { readonly store: EventStore; readonly refused: Array<number> } => {
  const inner = openMemoryStore()
  const refused: Array<number> = []
  const append: EventStore['append'] = (stream, events, expected, continues) => {
    const bytes = events.reduce((sum, { id, type, data, metadata }) => sum + id.length + type.length + data.length + metadata.length, 0)
    if (bytes <= bytesMax || refused.length >= refusalsMax) return inner.append(stream, events, expected, continues)
    return async () => {
      refused.push(bytes)
      return E.left({ _tag: 'AppendTooLarge', bytes, bytesMax })
    }
  }
  return { store: { ...inner, append }, refused }
}

const large = (id: string, bytes: number) => enqueue(task(id, { content: `{"payload":"${'x'.repeat(bytes)}"}` }))

test('a command is not refused because one that is written together with it is too large', async () => {
  const { store, refused } = smallStore(20_000)
  const { engine, warnings } = await openQueue({ store })
  const outcomes = await Promise.all([engine.submit(enqueue('a'), caller), engine.submit(large('b', 30_000), caller), engine.submit(large('c', 15_000), caller), engine.submit(enqueue('d'), caller)])
  expect(outcomes.map(codeOf)).toEqual(['success', 'too-large', 'success', 'success'])
  expect(outcomes[1]).toMatchObject({ left: { detail: expect.stringContaining('over 18000 bytes') as string } })
  expect(refused).toHaveLength(1)
  expect(warnings).toEqual([expect.stringContaining('appends have 18000 bytes at most')])
  expect(codeOf(await engine.submit(large('e', 30_000), caller))).toBe('too-large')
  expect(refused).toHaveLength(1)
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
})

test('what is due at once is written in several appends, and a claim that waits gets its task', async () => {
  const { store, refused } = smallStore(20_000)
  const { engine } = await openQueue({ store })
  ok(await engine.submit(configure({ capacity: { maxConcurrentAgents: 500 } }), caller))
  for (let i = 0; i < 300; i++) ok(await engine.submit(enqueue(task(`t${i}`, { availableAt: Date.now() + 1_000 })), caller))
  expect(ok(await engine.claim(claim(), caller, { waitMs: 10_000 }))).toMatchObject([{ task: 't0' }])
  await until(async () => (await typesIn(store)).filter((type) => type === 'TaskDue').length === 300)
  expect(refused).toHaveLength(1)
})

test('a store that does not say what it takes is tried with smaller and smaller appends', async () => {
  const { store, refused } = smallStore(20_000)
  const unclear: EventStore = { ...store, append: (...asked) => async () => {
    const result = await store.append(...asked)()
    return E.isLeft(result) && result.left._tag === 'AppendTooLarge' ? E.left({ ...result.left, bytesMax: 0 }) : result
  } }
  const { engine } = await openQueue({ store: unclear })
  const outcomes = await Promise.all([engine.submit(large('a', 12_000), caller), engine.submit(large('b', 12_000), caller)])
  expect(outcomes.map(codeOf)).toEqual(['success', 'success'])
  expect(refused.length).toBeLessThan(5)
})
