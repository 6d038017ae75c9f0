import type { QueueEvent } from '@daybook/core'
import { type Checkpoint, type CheckpointStore, memoryCheckpoints, type Projection, runProjection, type Shown } from '@daybook/projections'
import * as E from 'fp-ts/lib/Either.js'
import { lastValueFrom } from 'rxjs'
import { expect, test } from 'vitest'
import { logOf } from './histories.js'

const due = (task: string): QueueEvent => ({ type: 'TaskDue', at: 1, data: { task } })
const events = (count: number, start = 0): ReadonlyArray<QueueEvent> => Array.from({ length: count }, (_, i) => due(`t${start + i}`))

/** A projection that records the revisions of its events. */
const revisions: Projection<ReadonlyArray<number>, ReadonlyArray<number>> = {
  name: 'revisions',
  version: 1,
  initial: () => [],
  fold: (state, _, revision) => [...state, revision],
  result: (state) => state,
  encode: (state) => state,
  decode: (json) => (Array.isArray(json) ? E.right(json as ReadonlyArray<number>) : E.left('no list')),
}
const upTo = (last: number): ReadonlyArray<number> => Array.from({ length: last + 1 }, (_, i) => i)
const settled = async (): Promise<void> => {
  // Everything here runs in microtasks, which are done before the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
}

test('EV-04: every result has the revision it shows; each event is folded once, in order', async () => {
  const log = logOf(events(20))
  const run = runProjection(revisions, log.source, memoryCheckpoints())
  const seen: Array<Shown<ReadonlyArray<number>>> = []
  run.results.subscribe((shown) => seen.push(shown))
  await run.caughtUp
  log.append(...events(3, 20))
  log.append(...events(2, 23))
  await settled()
  expect(run.current()).toEqual({ revision: 24, value: upTo(24) })
  for (const { revision, value } of seen) expect(value).toEqual(upTo(revision))
  expect(seen.at(-1)?.revision).toBe(24)
  await run.stop()
})

test('events committed while the log is being read are neither lost nor folded twice', async () => {
  const log = logOf(events(30), 1)
  const run = runProjection(revisions, log.source, memoryCheckpoints())
  for (let i = 0; i < 10; i++) {
    await Promise.resolve()
    log.append(...events(1, 30 + i))
  }
  await run.caughtUp
  await settled()
  expect(run.current().value).toEqual(upTo(39))
  await run.stop()
})

test('a projection that falls behind reads the log instead of keeping more in memory', async () => {
  const log = logOf(events(1))
  const run = runProjection(revisions, log.source, memoryCheckpoints(), { liveEventsMax: 10 })
  await run.caughtUp
  for (let i = 0; i < 50; i++) log.append(...events(5, 1 + i * 5))
  await settled()
  expect(run.current().value).toEqual(upTo(250))
  expect(log.reads.length).toBeGreaterThan(1)
  await run.stop()
})

test('EV-11: an unreadable event keeps its revision and is skipped', async () => {
  const log = logOf()
  const run = runProjection(revisions, log.source, memoryCheckpoints())
  await run.caughtUp
  log.events.push(...events(3))
  log.committed.next({ from: 0, events: [due('a'), { _tag: 'Unreadable', why: 'unknown type' }, due('b')] })
  await settled()
  expect(run.current()).toEqual({ revision: 2, value: [0, 2] })
  await run.stop()
})

const counting = (checkpoint?: Checkpoint) => {
  let saves = 0
  let held = checkpoint
  const store: CheckpointStore = {
    load: async () => held,
    save: async (taken) => {
      saves++
      held = taken
    },
  }
  return { store, saves: () => saves, held: () => held }
}

test('checkpoints are saved at intervals and at the end', async () => {
  const log = logOf(events(25), 5)
  const kept = counting()
  const run = runProjection(revisions, log.source, kept.store, { checkpointEvery: 10 })
  await run.caughtUp
  expect(kept.saves()).toBe(2)
  await run.stop()
  expect(kept.held()).toMatchObject({ projection: 'revisions', version: 1, revision: 24, state: JSON.stringify(upTo(24)) })
})

test.each<[string, Checkpoint]>([
  ['of another version', { projection: 'revisions', version: 2, revision: 3, state: '[9,9,9,9]' }],
  ['beyond the log, as after a restored backup', { projection: 'revisions', version: 1, revision: 99, state: '[9]' }],
  ['that is damaged', { projection: 'revisions', version: 1, revision: 3, state: '[9,' }],
  ['that is no state', { projection: 'revisions', version: 1, revision: 3, state: '{}' }],
])('EV-04: a checkpoint %s is not used: the projection is rebuilt', async (_, checkpoint) => {
  const log = logOf(events(5))
  const run = runProjection(revisions, log.source, counting(checkpoint).store)
  await run.caughtUp
  expect(run.current()).toEqual({ revision: 4, value: upTo(4) })
  await run.stop()
})

test('a fold that fails ends the results with its error, and no checkpoint is saved', async () => {
  const log = logOf(events(5))
  const kept = counting()
  const run = runProjection({ ...revisions, fold: () => { throw new Error('broken fold') } }, log.source, kept.store)
  await expect(run.caughtUp).rejects.toThrow('broken fold')
  await expect(lastValueFrom(run.results)).rejects.toThrow('broken fold')
  await run.stop()
  expect(kept.saves()).toBe(0)
})
