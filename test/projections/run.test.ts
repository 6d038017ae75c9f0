import { type Checkpoint, type CheckpointStore, type LoggedEvent, memoryCheckpoints, type Projection, runProjection, type Shown } from '@daybook/projections'
import * as E from 'fp-ts/lib/Either.js'
import { lastValueFrom } from 'rxjs'
import { expect, test } from 'vitest'
import { logged, logOf } from './histories.js'

const due = (revision: number): LoggedEvent => logged({ type: 'TaskDue', at: 1, data: { task: `t${revision}` } }, revision)
const events = (count: number, start = 0): ReadonlyArray<LoggedEvent> => Array.from({ length: count }, (_, i) => due(start + i))

/** A projection that records the revisions of its events. */
const revisions: Projection<ReadonlyArray<number>, ReadonlyArray<number>> = {
  name: 'revisions',
  version: 1,
  initial: () => [],
  fold: (state, { revision }) => [...state, revision],
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

test('what is appended while it is being told of something reads the log once, not once for each append', async () => {
  const log = logOf(events(1), 1_000)
  const run = runProjection(revisions, log.source, memoryCheckpoints())
  await run.caughtUp
  for (let i = 0; i < 50; i++) log.append(...events(5, 1 + i * 5))
  await settled()
  expect(run.current().value).toEqual(upTo(250))
  expect(log.reads.length).toBeLessThan(5)
  await run.stop()
})

test('a log that is shorter than it was said to be is an error, and no endless search', async () => {
  const log = logOf(events(3))
  const run = runProjection(revisions, log.source, memoryCheckpoints())
  await run.caughtUp
  log.grown.next(7)
  await expect(lastValueFrom(run.results)).rejects.toThrow('the log has grown to revision 7, but ends at 2')
  await run.stop()
})

test('EV-11: an unreadable event keeps its revision and is skipped, and the next start begins before it', async () => {
  const log = logOf(events(2), 3)
  const kept = counting()
  const run = runProjection(revisions, log.source, kept.store, { checkpointEvery: 1 })
  await run.caughtUp
  log.append({ _tag: 'Unreadable', why: 'unknown type' }, due(3), due(4))
  await settled()
  expect(run.current()).toEqual({ revision: 4, value: [0, 1, 3, 4] })
  await run.stop()
  // A later version, which can read it, folds it.
  expect(kept.held()?.revision).toBe(1)
  log.events[2] = due(2)
  const later = runProjection(revisions, log.source, kept.store)
  await later.caughtUp
  expect(later.current().value).toEqual(upTo(4))
  await later.stop()
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
