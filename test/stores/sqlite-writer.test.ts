/** EV-03: the outcome of an append whose writing thread ends at any moment. */
import { copyFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { checkSqliteFile, openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore } from '@daybook/adapters/store'
import { idsIn, numbered, testFolder } from './store-files.js'

const root = testFolder('writer')

/** Threads of this process, in the order of their start. */
const threads: Array<Worker> = []
const began = (thread: Worker): void => void threads.push(thread)
process.on('worker', began)
afterAll(() => process.off('worker', began))

/** Uses `pick`, which starts no thread, so that all threads here are writers. */
const lastIds = async (store: EventStore, count: number): Promise<ReadonlyArray<string>> => {
  const head = await store.head('s')
  const found = await store.pick('s', Array.from({ length: count }, (_, n) => head - n))
  return found.flatMap((event) => (event === undefined ? [] : [event.id]))
}

const within = <A>(ms: number, work: Promise<A>): Promise<A> => {
  const late = pause(ms).then((): never => {
    throw new Error(`nobody was told within ${ms} ms`)
  })
  return Promise.race([work, late])
}
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('EV-03 the writing thread dies: its appends have an unknown outcome, never "not written", and the next append goes to a new thread', async () => {
  const file = join(root, 'killed.daybook')
  const store = await openSqliteStore({ file })
  const writer = (): Worker => threads.at(-1) as Worker
  const large = 'x'.repeat(200_000)
  const told: Array<{ readonly id: string; readonly outcome: string }> = []
  const until = Date.now() + 40_000
  // Repeated until the critical moment was hit: the append is in the log, but could not be acknowledged.
  for (let round = 0, isMet = false; !isMet && Date.now() < until; round++) {
    const batches = Array.from({ length: 4 }, (_, n) => numbered(3, (round * 4 + n) * 3).map((event) => ({ ...event, data: JSON.stringify(large) })))
    const outcomes = batches.map((batch) => store.append('s', batch, 'any')())
    await pause((round * 3) % 17)
    await writer().terminate()
    const tags = (await within(20_000, Promise.all(outcomes))).map((outcome) => (outcome._tag === 'Right' ? 'written' : outcome.left._tag))
    // Reading waits for the new writer.
    const known = new Set(await lastIds(store, 12))
    batches.forEach((batch, n) => {
      const there = batch.filter(({ id }) => known.has(id)).length
      expect([0, batch.length]).toContain(there)
      const outcome = tags[n] as string
      told.push({ id: batch[0]!.id, outcome })
      if (outcome === 'written') expect(there).toBe(batch.length)
      if (outcome === 'Unavailable') expect(there, `${batch[0]!.id} was told "not written"`).toBe(0)
      isMet ||= outcome !== 'written' && there > 0
    })
    expect((await within(20_000, store.append('after', numbered(1, round), 'any')()))._tag).toBe('Right')
  }
  await store.close()
  expect(told.map(({ outcome }) => outcome)).toContain('OutcomeUnknown')
  const again = await openSqliteStore({ file })
  const ids = await idsIn(again, 's')
  expect(new Set(ids).size).toBe(ids.length)
  await again.close()
  expect((await checkSqliteFile(file)).problems).toEqual([])
})

test('EV-03 a thread that ends while it is idle is replaced', async () => {
  const store = await openSqliteStore({ file: join(root, 'idle.daybook') })
  for (let round = 0; round < 3; round++) {
    await (threads.at(-1) as Worker).terminate()
    expect((await store.append('s', numbered(1, round), 'any')())._tag).toBe('Right')
    expect(await store.head('s')).toBe(round)
  }
  await store.close()
})

describe('EV-03 nothing is acknowledged that goes to a file without a name:', () => {
  const filled = async (name: string) => {
    const file = join(root, name)
    const store = await openSqliteStore({ file })
    const append = async (n: number): Promise<string> => {
      const outcome = await store.append('s', numbered(1, n), n === 0 ? 'no_stream' : n - 1)()
      if (outcome._tag === 'Right') return 'written'
      return outcome.left._tag === 'Unavailable' ? outcome.left.reason : outcome.left._tag
    }
    for (const n of [0, 1]) expect(await append(n)).toBe('written')
    return { file, store, append }
  }

  test('the file was moved: appends are refused until it is back', async () => {
    const { file, store, append } = await filled('moved.daybook')
    await rename(file, `${file}.away`)
    expect(await append(2)).toContain('moved.daybook was deleted or exchanged while it was open')
    await rename(`${file}.away`, file)
    expect(await append(2)).toBe('written')
    await store.close()
  })

  test('another file has taken its place', async () => {
    const { file, store, append } = await filled('exchanged.daybook')
    await copyFile(file, `${file}.copy`)
    await rename(`${file}.copy`, file)
    expect(await append(2)).toContain('exchanged.daybook was deleted or exchanged')
    await store.close()
  })

  test('the WAL was deleted: at the end of the store, all that it acknowledged is in the file', async () => {
    const { file, store, append } = await filled('wal.daybook')
    await rm(`${file}-wal`)
    expect(await append(2)).toContain('wal.daybook-wal was deleted or exchanged')
    await store.close()
    const again = await openSqliteStore({ file })
    expect(await idsIn(again, 's')).toHaveLength(2)
    await again.close()
  })
})

test('EV-03 a commit that fails half-way is rolled back at once, with all appends that share it: nothing is there, and others can write', async () => {
  const file = join(root, 'half-way.daybook')
  const store = await openSqliteStore({ file })
  await store.append('s', numbered(1), 'no_stream')()
  const other = new Database(file, { timeout: 0 })
  // Damage that only affects an append to this stream.
  other.exec(`INSERT INTO segments VALUES ('damaged', 0, 999)`)
  const outcomes = await Promise.all([
    store.append('s', numbered(3, 1), 0)(),
    store.append('damaged', numbered(1, 9), 'no_stream')(),
    store.append('s', numbered(3, 4), 3)(),
  ])
  expect(outcomes.map((outcome) => outcome._tag === 'Left' && outcome.left._tag)).toContain('Unavailable')
  const written = outcomes.filter(({ _tag }) => _tag === 'Right').length
  expect(other.prepare('SELECT count(*) FROM events').pluck().get()).toBe(1 + 3 * written)
  // Throws if another connection is in a write transaction.
  other.exec('BEGIN IMMEDIATE; COMMIT')
  other.close()
  expect((await store.append('s', numbered(1, 7), 3 * written)())._tag).toBe('Right')
  await store.close()
})

test('EV-03 appends that share a commit each get their own result', async () => {
  const store = await openSqliteStore({ file: join(root, 'shared-commit.daybook') })
  // Sent in one turn: while the first is committed the others arrive, so some share a commit.
  const sizes = Array.from({ length: 400 }, (_, n) => 1 + (n % 7))
  const outcomes = await Promise.all(sizes.map((size, n) => store.append(`stream-${n}`, numbered(size, n * 10), 'no_stream')()))
  expect(outcomes).toEqual(sizes.map((size) => ({ _tag: 'Right', right: { revision: size - 1 } })))
  // Refusals among them, too.
  const again = await Promise.all(sizes.map((size, n) => store.append(`stream-${n}`, numbered(1, 10_000 + n), n % 3 === 0 ? 'no_stream' : size - 1)()))
  expect(again.map(({ _tag }) => _tag)).toEqual(sizes.map((_, n) => (n % 3 === 0 ? 'Left' : 'Right')))
  await store.close()
})
