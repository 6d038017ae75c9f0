/** Which thread feeds the read models of a server: one with more memory for young objects during a build, a usual one afterwards. */
import type { QueueEngine } from '@daybook/adapters/engine'
import { buildEventsMin, type FeedStatus, type FeedWorker, isNearlyLevel, startFeedWorker } from '@daybook/adapters/read-models'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore } from '@daybook/adapters/store'
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { enqueue, ok, openQueue, task, until } from '../support/queue.js'

let dir = ''
let store: EventStore
let engine: QueueEngine
let worker: FeedWorker | undefined
/** All threads so far, and the memory for young objects that each was given, in MiB. */
const threads: Array<Worker> = []
const youngMib: Array<number> = []
const heard: Array<FeedStatus> = []
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-feed-worker-'))
  store = await openSqliteStore({ file: join(dir, 'log.db') })
  engine = (await openQueue({ store })).engine
  for (const list of [threads, youngMib, heard]) list.length = 0
})
afterEach(async () => {
  await worker?.close()
  worker = undefined
  await engine.close()
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})
const file = (): string => join(dir, 'views.db')

/** `events`: as if the log had so many. */
const start = (events: number, hear: (status: FeedStatus) => void = (status) => void heard.push(status)): void => {
  worker = startFeedWorker({
    file: file(),
    log: { kind: 'sqlite', file: join(dir, 'log.db') },
    events,
    hear,
    failed: () => undefined,
    started: (thread) => {
      threads.push(thread)
      youngMib.push(thread.resourceLimits?.maxYoungGenerationSizeMb ?? 0)
    },
  })
}
const add = async (id: string): Promise<void> => {
  ok(await engine.submit(enqueue(task(id)), { actor: 'ann' }))
  worker?.grown()
}
const tasks = (): ReadonlyArray<string> => {
  const db = new Database(file(), { readonly: true })
  const ids = db.prepare<[], string>('SELECT id FROM tasks ORDER BY number').pluck().all()
  db.close()
  return ids
}
const place = (queue: string, revision: number, head: number): FeedStatus['queues'][number] => ({ queue, revision, head })
const shows = (revision: number): Promise<void> => until(() => heard.at(-1)?.queues[0]?.revision === revision)

describe('EV-04: the thread that feeds the read models', () => {
  test('of a short log is the usual one, and stays', async () => {
    await add('a')
    start(buildEventsMin - 1)
    await shows(0)
    await add('b')
    await shows(1)
    expect(youngMib).toEqual([24])
    expect(tasks()).toEqual(['a', 'b'])
  })

  test('of a long log has more memory until the tables are level; a usual one goes on where it ended', async () => {
    await add('a')
    start(buildEventsMin)
    await until(() => threads.length === 2)
    await add('b')
    await shows(1)
    await add('c')
    await shows(2)
    expect(youngMib).toEqual([96, 24])
    expect(tasks()).toEqual(['a', 'b', 'c'])
  })

  test('is not taken for level while nothing can be written', async () => {
    const foreign = new Database(file())
    foreign.exec('CREATE TABLE mine (x)')
    foreign.close()
    await add('a')
    start(buildEventsMin)
    await until(() => heard.filter(({ problem }) => problem !== undefined).length >= 2)
    expect(youngMib).toEqual([96])
    rmSync(file())
    await until(() => threads.length === 2)
    await add('b')
    await shows(1)
    expect(tasks()).toEqual(['a', 'b'])
  })

  test('is started again after it has died, and builds on', async () => {
    await add('a')
    start(buildEventsMin)
    await threads[0]?.terminate()
    await until(() => threads.length === 2)
    expect(youngMib).toEqual([96, 96])
    await add('b')
    await shows(1)
  })

  test('that is closed while it is replaced is not followed by another', async () => {
    await add('a')
    let closing: Promise<void> | undefined
    // The first report says that the tables are level, so this thread has been told to end.
    start(buildEventsMin, () => (closing ??= worker?.close()))
    await until(() => closing !== undefined)
    await closing
    expect(youngMib).toEqual([96])
  })
})

test.each<[string, FeedStatus, boolean]>([
  ['few events are left of all queues', { queues: [place('a', 80_000, 90_000), place('b', 10, 10_000)], building: undefined, problem: undefined }, true],
  ['many are left of all queues', { queues: [place('a', 80_000, 90_000), place('b', 10, 10_100)], building: undefined, problem: undefined }, false],
  ['old tables answer while others are built', { queues: [place('a', 90_000, 90_000)], building: { names: ['tasks'], done: 40_000, of: 90_000 }, problem: undefined }, false],
  ['these are nearly built', { queues: [place('a', 90_000, 90_000)], building: { names: ['tasks'], done: 80_000, of: 90_000 }, problem: undefined }, true],
  ['a queue cannot be read', { queues: [place('a', 90_000, 90_000)], building: undefined, problem: 'lost', queue: 'b' }, true],
  ['nothing can be read', { queues: [], building: undefined, problem: 'away' }, false],
])('the tables are nearly level: %s', (_, status, expected) => {
  expect(isNearlyLevel(status)).toBe(expected)
})
