/** States of past moments: what is read for them, what is kept, and how many queries may wait. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { answerPastFrom, httpLimitsDefault, pastAnswersHere, pastAnswersOnThread, type PastQuestion } from '@daybook/adapters/http'
import { openMemoryStore } from '@daybook/adapters/memory'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { LogReader } from '@daybook/adapters/store'
import * as E from 'fp-ts/lib/Either.js'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { caller, enqueue, ok, openQueue, task } from '../support/queue.js'

const store = openMemoryStore()
const events = 5_000
beforeAll(async () => {
  const { engine } = await openQueue({ store })
  for (let from = 0; from < events; from += 500) {
    for (const outcome of await engine.submitAll(Array.from({ length: 500 }, (_, i) => enqueue(task(`t${from + i}`))), caller)) ok(outcome)
  }
})

/** Counts the events that are read. */
const counted = (): { readonly log: LogReader; readonly taken: () => number } => {
  let count = 0
  let before = 0
  const log: LogReader = {
    head: store.head,
    pick: store.pick,
    read: async function* (stream, options) {
      for await (const page of store.read(stream, options)) {
        count += page.length
        yield page
      }
    },
  }
  return {
    log,
    taken: () => {
      const since = count - before
      before = count
      return since
    },
  }
}

const never = new AbortController().signal
const question = (revision: number): PastQuestion => ({ queue: 'q', path: '/api/queues/{queue}', params: { queue: 'q' }, query: {}, wantsLines: false, moment: { revision } })
const totalOf = (handled: Awaited<ReturnType<ReturnType<typeof answerPastFrom>>>): number => {
  if (E.isLeft(handled)) throw new Error(handled.left.detail)
  return (JSON.parse(handled.right.text as string) as { readonly total: number }).total
}

test('the same moment again reads nothing, a later one only the events between, an earlier one begins anew', async () => {
  const { log, taken } = counted()
  const answer = answerPastFrom({ log, limits: httpLimitsDefault })
  const asked = async (revision: number): Promise<readonly [total: number, read: number]> => [totalOf(await answer(question(revision), never)), taken()]
  expect(await asked(3_000)).toEqual([3_001, 3_001])
  expect(await asked(3_000)).toEqual([3_001, 0])
  expect(await asked(3_010)).toEqual([3_011, 10])
  expect(await asked(100)).toEqual([101, 101])
  expect(await asked(3_010)).toEqual([3_011, 0])
})

test('what is a little earlier is reached by undoing events, as far as they are kept, and what is far by beginning anew', async () => {
  const { log, taken } = counted()
  const answer = answerPastFrom({ log, limits: httpLimitsDefault, states: { statesMax: 1, tasksMax: 10_000, idleMs: 60_000, backEvents: 640 } })
  const asked = async (revision: number): Promise<readonly [total: number, read: number]> => [totalOf(await answer(question(revision), never)), taken()]
  expect(await asked(4_000)).toEqual([4_001, 4_001])
  for (const revision of [3_999, 3_950, 3_500, 3_400]) {
    const [total, read] = await asked(revision)
    expect(total).toBe(revision + 1)
    // At most the events between two marks are folded again.
    expect(read).toBeLessThanOrEqual(20)
  }
  expect(await asked(3_300)).toEqual([3_301, 3_301])
  expect((await asked(3_280))[1]).toBeLessThanOrEqual(20)
  // States that are too far back are dropped on the way.
  for (const revision of [3_800, 4_300, 4_800]) await asked(revision)
  expect(await asked(3_900)).toEqual([3_901, 3_901])
})

test('as many states are kept as the limits say, those that were used last', async () => {
  const { log, taken } = counted()
  const answer = answerPastFrom({ log, limits: httpLimitsDefault, states: { statesMax: 2, tasksMax: 10_000, idleMs: 60_000, backEvents: 1 } })
  const reads = async (revision: number): Promise<number> => {
    await answer(question(revision), never)
    return taken()
  }
  await reads(3_000)
  await reads(2_000)
  await reads(1_000)
  expect(await reads(2_000)).toBe(0)
  expect(await reads(1_000)).toBe(0)
  expect(await reads(3_000)).toBeGreaterThan(0)
  const few = answerPastFrom({ log, limits: httpLimitsDefault, states: { statesMax: 9, tasksMax: 2_500, idleMs: 60_000, backEvents: 1 } })
  for (const revision of [2_000, 1_000]) await few(question(revision), never)
  taken()
  await few(question(2_000), never)
  expect(taken()).toBeGreaterThan(0)
})

test('a question that nobody waits for any more ends, and what was read for it is not read again', async () => {
  const { log, taken } = counted()
  const gone = new AbortController()
  let shown = 0
  const answer = answerPastFrom({
    log,
    limits: httpLimitsDefault,
    progress: (read) => {
      shown = read
      if (read >= 2_000) gone.abort()
    },
  })
  await expect(answer(question(4_900), gone.signal)).rejects.toThrow('abort')
  expect(shown).toBe(2_000)
  expect(taken()).toBe(2_000)
  expect(totalOf(await answer(question(4_900), never))).toBe(4_901)
  expect(taken()).toBe(2_901)
})

test('so many questions may wait; one more is refused and may come again', async () => {
  const past = pastAnswersHere({ log: store, limits: httpLimitsDefault })
  const answers = await Promise.all(Array.from({ length: 40 }, () => past.ask(question(4_000), never)))
  expect(answers.filter(E.isRight)).toHaveLength(32)
  expect(answers.filter(E.isLeft).map(({ left }) => [left.status, left.code])).toEqual(Array.from({ length: 8 }, () => [503, 'overloaded']))
  expect(totalOf(await past.ask(question(4_000), never))).toBe(4_001)
})

test('a thread that nobody asks any more is ended, but not before the last line is taken; the next question starts another', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-past-'))
  const file = join(folder, 'log.sqlite')
  const written = await openSqliteStore({ file })
  const { engine } = await openQueue({ store: written })
  for (const outcome of await engine.submitAll(Array.from({ length: 300 }, (_, i) => enqueue(task(`t${i}`))), caller)) ok(outcome)
  const threads: Array<Worker> = []
  const note = (worker: Worker): unknown => threads.push(worker)
  process.on('worker', note)
  const past = pastAnswersOnThread({ log: { kind: 'sqlite', file }, snapshots: folder, limits: httpLimitsDefault, states: { statesMax: 1, tasksMax: 1_000, idleMs: 5, backEvents: 1 } })
  onTestFinished(async () => {
    process.off('worker', note)
    await past.close()
    await written.close()
    rmSync(folder, { recursive: true })
  })
  const lines = await past.ask({ ...question(200), path: '/api/queues/{queue}/events', wantsLines: true }, never)
  if (E.isLeft(lines)) throw new Error(lines.left.detail)
  const [first] = threads
  const ended = once(first as Worker, 'exit')
  await new Promise((resolve) => setTimeout(resolve, 50))
  const read = async (): Promise<string> => {
    let text = ''
    for await (const part of lines.right.text as AsyncIterable<unknown>) text += String(part)
    return text
  }
  expect((await inTime('the lines', read())).trim().split('\n')).toHaveLength(201)
  await inTime('the end of the thread', ended)
  expect(totalOf(await past.ask(question(100), never))).toBe(101)
  expect(threads.length).toBeGreaterThan(1)
  expect(threads[threads.length - 1]).not.toBe(first)
})

test('lines of a thread that has ended before they are taken break off, and do not wait for ever', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-past-'))
  const file = join(folder, 'log.sqlite')
  const written = await openSqliteStore({ file })
  const { engine } = await openQueue({ store: written })
  ok(await engine.submit(enqueue(task('t')), caller))
  const threads: Array<Worker> = []
  const note = (worker: Worker): unknown => threads.push(worker)
  process.on('worker', note)
  const past = pastAnswersOnThread({ log: { kind: 'sqlite', file }, snapshots: folder, limits: httpLimitsDefault })
  onTestFinished(async () => {
    process.off('worker', note)
    await past.close()
    await written.close()
    rmSync(folder, { recursive: true })
  })
  const lines = await past.ask({ ...question(0), path: '/api/queues/{queue}/events', wantsLines: true }, never)
  if (E.isLeft(lines)) throw new Error(lines.left.detail)
  for (const thread of threads) await thread.terminate()
  const taken = (async () => {
    for await (const _ of lines.right.text as AsyncIterable<unknown>) continue
  })()
  await expect(inTime('the end of the lines', taken)).rejects.toThrow('The thread that answers for the past has ended')
})
