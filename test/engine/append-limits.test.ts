/** Stores that take smaller appends than they said, such as an EventStoreDB whose `MaxAppendSize` was lowered. */
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { caller, claim, codeOf, configure, enqueue, foldAll, logOf, ok, openQueue, sleep, stateText, task, textOf, typesIn, until } from '../support/queue.js'
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

test('what is due and fits in no append does not keep the queue from all else: it is said, and tried again later', async () => {
  const store: EventStore = { ...openMemoryStore(), limits: { appendBytesMax: 3_000, appendEventsMax: 100 } }
  let readings = 0
  // An engine that decides without end would never let the test fail.
  const clock = () => {
    if (++readings > 100_000) throw new Error('the clock is read without end')
    return Date.now()
  }
  const { engine, warnings } = await openQueue({ store, clock, monotonic: () => performance.now() })
  ok(await engine.submit({ type: 'CreateSchedule', name: 'large', every: 1, task: { type: 'work', payload: 'x'.repeat(2_300) } }, caller))
  await sleep(130_000)
  expect(codeOf(await engine.submit(enqueue('a'), caller))).toBe('success')
  expect(ok(await engine.claim(claim(), caller))).toHaveLength(1)
  const said = expect.stringContaining('it begins with ScheduleRan') as string
  expect(warnings).toEqual([said, said, said])
  expect((await typesIn(store)).filter((type) => type !== 'ScheduleSkipped')).toEqual(['ScheduleSet', 'TaskEnqueued', 'Claimed'])
  ok(await engine.submit({ type: 'RemoveSchedule', name: 'large' }, caller))
  expect(ok(await engine.claim(claim('bob'), caller, { waitMs: 120_000 }))).toMatchObject([{ task: 'a', retries: 1 }])
})
