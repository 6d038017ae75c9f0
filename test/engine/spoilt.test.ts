/** A log with a damaged page: the readable tasks are still worked on. And: readiness after a failed write. */
import { createDaybook, type Caller, prepareTask } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type EventStore, LostEvents, StoreError } from '@daybook/adapters/store'
import { deadLetters } from '@daybook/core'
import { isRight, left } from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'

const caller: Caller = { actor: 'test' }
const right = <A>(outcome: { readonly _tag: string; readonly right?: A; readonly left?: unknown }): A => {
  if (outcome._tag === 'Left') throw new Error(JSON.stringify(outcome.left))
  return outcome.right as A
}

/** A store on which the revisions in `damaged` cannot be read. */
const damagedAt = (store: EventStore, error = (): StoreError => new StoreError('damaged', 'a page of the log is damaged')): { readonly store: EventStore; readonly damaged: Set<number> } => {
  const damaged = new Set<number>()
  return {
    damaged,
    store: {
      ...store,
      pick: (stream, revisions) =>
        revisions.some((revision) => damaged.has(revision))
          ? Promise.reject(error())
          : store.pick(stream, revisions),
    },
  }
}

const enqueue = async (daybook: ReturnType<typeof createDaybook>, count: number) => {
  const queue = await daybook.open('q')
  const tasks = Array.from({ length: count }, (_, i) => right(prepareTask({ id: `t${i}`, type: 'a', payload: i })))
  right(await queue.submit({ type: 'Enqueue', tasks }, caller))
  return queue
}

test('EV-03: a claim gets the tasks that can be read, and the one that cannot becomes a dead letter', async () => {
  const { store, damaged } = damagedAt(openMemoryStore())
  const daybook = createDaybook({ store, contentCacheMax: 0 })
  const queue = await enqueue(daybook, 5)
  damaged.add(2)
  const claims = right(await queue.claim({ type: 'Claim', agent: 'a', max: 5 }, caller)).value
  expect(claims.map(({ task }) => task)).toEqual(['t0', 't1', 't3', 't4'])
  const dead = right(await queue.read((state) => deadLetters(state, {}, 10))).value
  expect(dead.map(({ id, lastError }) => [id, lastError?.includes('cannot be read')])).toEqual([['t2', true]])
  await daybook.close()
})

test('EV-03: a damaged task does not hold up the queue for agents that claim one task at a time', async () => {
  const { store, damaged } = damagedAt(openMemoryStore())
  const daybook = createDaybook({ store, contentCacheMax: 0 })
  const queue = await enqueue(daybook, 2)
  damaged.add(0)
  const claimed: Array<string> = []
  for (const agent of ['a', 'b', 'c']) {
    claimed.push(...right(await queue.claim({ type: 'Claim', agent, max: 1 }, caller)).value.map(({ task }) => task))
  }
  expect(claimed).toEqual(['t1'])
  expect(right(await queue.read((state) => deadLetters(state, {}, 10))).value.map(({ id }) => id)).toEqual(['t0'])
  await daybook.close()
})

test('if the store can read nothing, the claim is refused, and no task becomes a dead letter', async () => {
  const { store, damaged } = damagedAt(openMemoryStore())
  const daybook = createDaybook({ store, contentCacheMax: 0 })
  const queue = await enqueue(daybook, 2)
  for (let revision = 0; revision < 10; revision++) damaged.add(revision)
  const outcome = await queue.claim({ type: 'Claim', agent: 'a', max: 2 }, caller)
  expect(isRight(outcome)).toBe(false)
  expect(right(await queue.read((state) => deadLetters(state, {}, 10))).value).toEqual([])
  await daybook.close()
})

test('a read that fails once makes no dead letter: the claim is refused, and its tasks are given back', async () => {
  const { store, damaged } = damagedAt(openMemoryStore(), () => new StoreError('unavailable', 'a page of the log is unavailable'))
  const daybook = createDaybook({ store, contentCacheMax: 0 })
  const queue = await enqueue(daybook, 3)
  damaged.add(2)
  const outcome = await queue.claim({ type: 'Claim', agent: 'a', max: 3 }, caller)
  expect(outcome).toMatchObject({ _tag: 'Left', left: { code: 'unavailable', detail: expect.stringContaining('cannot be read') } })
  expect(right(await queue.read((state) => deadLetters(state, {}, 10))).value).toEqual([])
  damaged.clear()
  // The agent never received the claim, so it is neither an attempt nor a bar.
  const again = right(await queue.claim({ type: 'Claim', agent: 'a', max: 3 }, caller)).value
  expect(again.map(({ task, attempts }) => [task, attempts])).toEqual([['t0', 0], ['t1', 0], ['t2', 0]])
  await daybook.close()
})

const segmentAway = () => new LostEvents('damaged', 0, 2, 'the segment x is damaged', 'bring it back from a backup')

test('a damaged segment of the archive makes no dead letters: its tasks wait, and are claimed when it is back', async () => {
  let now = 1e12
  const { store, damaged } = damagedAt(openMemoryStore(), segmentAway)
  const daybook = createDaybook({ store, contentCacheMax: 0, clock: () => now, monotonic: () => now })
  const queue = await enqueue(daybook, 3)
  damaged.add(0).add(2)
  expect(await queue.claim({ type: 'Claim', agent: 'a', max: 1 }, caller)).toMatchObject({ left: { code: 'unavailable', detail: expect.stringContaining('bring it back from a backup') } })
  expect(right(await queue.claim({ type: 'Claim', agent: 'a', max: 3 }, caller)).value.map(({ task }) => task)).toEqual(['t1'])
  expect(right(await queue.claim({ type: 'Claim', agent: 'a', max: 3 }, caller)).value).toEqual([])
  // Nothing is written for further claims.
  const { revision } = queue.status()
  expect(right(await queue.claim({ type: 'Claim', agent: 'a', max: 3 }, caller)).value).toEqual([])
  expect(queue.status().revision).toBe(revision)
  expect(right(await queue.read((state) => deadLetters(state, {}, 10))).value).toEqual([])
  damaged.clear()
  now += 300_000
  const back = right(await queue.claim({ type: 'Claim', agent: 'a', max: 3 }, caller)).value
  expect(back.map(({ task, attempts }) => [task, attempts])).toEqual([['t0', 0], ['t2', 0]])
  await daybook.close()
})

test('a refused write makes the queue unavailable for five seconds only, so that a load balancer comes back', async () => {
  let now = 1e12
  let isFull = false
  const memory = openMemoryStore()
  const store: EventStore = {
    ...memory,
    append: (...args) => (isFull ? () => Promise.resolve(left({ _tag: 'Unavailable', reason: 'disk full' })) : memory.append(...args)),
  }
  const warnings: Array<string> = []
  const daybook = createDaybook({ store, clock: () => now, monotonic: () => now, warn: (message) => warnings.push(message) })
  const queue = await enqueue(daybook, 1)
  isFull = true
  expect(isRight(await queue.submit({ type: 'Pause', reason: 'x' }, caller))).toBe(false)
  expect(queue.status().unavailable).toContain('disk full')
  now += 4_000
  expect(queue.status().unavailable).toContain('disk full')
  now += 2_000
  expect(queue.status().unavailable).toBeUndefined()
  // The log of the server says so once, again after a minute, and when it is over.
  const pause = async () => isRight(await queue.submit({ type: 'Pause', reason: 'x' }, caller))
  expect(await pause()).toBe(false)
  const refused = 'queue q: commands are refused: disk full'
  expect(warnings).toEqual([refused])
  now += 60_000
  expect(await pause()).toBe(false)
  isFull = false
  expect(await pause()).toBe(true)
  expect(warnings).toEqual([refused, refused, 'queue q: commands are taken again'])
  await daybook.close()
})
