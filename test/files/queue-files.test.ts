import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaybook, type Daybook, prepareTask, type QueueEngine } from '@daybook/adapters/engine'
import { listedMax, type QueueFolders, startQueueFiles, startQueueFilesOf } from '@daybook/adapters/files'
import { readQueueFolder } from '@daybook/adapters/import'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { type CommandOf, listTasks, type NewTask, type Result } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const caller = { actor: 'test' }
const fileNames = ['pending.json', 'in-progress.json', 'completed.json', 'dead-letter.json', 'cancelled.json']

interface Shown {
  readonly revision: number
  readonly total: number
  readonly tasks: ReadonlyArray<Record<string, unknown>>
}

let dir = ''
let store: EventStore
let daybook: Daybook
let folders: QueueFolders | undefined

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-files-'))
  store = openMemoryStore()
  daybook = createDaybook({ store })
})
afterEach(async () => {
  await folders?.close()
  folders = undefined
  await daybook.close()
  rmSync(dir, { recursive: true, force: true })
})

const start = async (): Promise<void> => {
  await daybook.ready
  folders = await startQueueFiles({ daybook, dir })
}
const read = (name: string, folder = dir): Shown => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Shown
const ids = (name: string): ReadonlyArray<unknown> => read(name).tasks.map(({ id }) => id)

const right = <A>(outcome: E.Either<unknown, A>): A => {
  if (E.isLeft(outcome)) throw new Error(JSON.stringify(outcome.left))
  return outcome.right
}
const enqueue = async (engine: QueueEngine, tasks: ReadonlyArray<NewTask>): Promise<number> =>
  right(await engine.submit({ type: 'Enqueue', tasks: tasks.map((task) => right(prepareTask(task))) }, caller)).revision
const claim = async (engine: QueueEngine, max = 1) =>
  right(await engine.claim({ type: 'Claim', agent: 'a', max }, caller)).value
const complete = async (engine: QueueEngine, held: { readonly task: string; readonly token: number }, result: Result) =>
  right(await engine.submit({ type: 'Complete', task: held.task, agent: 'a', token: held.token, content: JSON.stringify(result), hasReport: result.decisionReport !== undefined }, caller))
const fail = async (engine: QueueEngine, held: { readonly task: string; readonly token: number }, message = 'no') =>
  right(await engine.submit({ type: 'Fail', task: held.task, agent: 'a', token: held.token, error: { message }, retryable: false } satisfies CommandOf<'Fail'>, caller))
const shown = async (engine: QueueEngine): Promise<void> => folders?.of(engine.name)?.shown(engine.status().revision)

describe('LK-04: the queue files', () => {
  test('are all there from the start, empty', async () => {
    await start()
    expect(readdirSync(dir).sort()).toEqual([...fileNames].sort())
    for (const name of fileNames) expect(read(name)).toEqual({ revision: -1, total: 0, tasks: [] })
  })

  test('show a task in the fields of LK-01, its payload and result joined', async () => {
    await start()
    const engine = await daybook.open('default')
    await enqueue(engine, [{ id: 'a', type: 'dev', priority: 9, payload: { action: 'test' }, description: 'd', metadata: { m: 1 }, requires: { skills: [] } }])
    await shown(engine)
    expect(read('pending.json').tasks).toEqual([{
      id: 'a', idempotencyKey: expect.any(String) as string, type: 'dev', priority: 9, status: 'pending', dependencies: [],
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string, claimedBy: null, claimedAt: null, timeout: 3600, retries: 0,
      maxRetries: 3, backoffSeconds: 60, lastError: null, completedAt: null, payload: { action: 'test' }, description: 'd', metadata: { m: 1 },
    }])
    const [held] = await claim(engine)
    await shown(engine)
    expect(read('in-progress.json').tasks).toMatchObject([{ id: 'a', claimedBy: 'a', claimedAt: expect.any(String) as string }])
    if (held !== undefined) await complete(engine, held, { output: 1, decisionReport: { why: 'w' } })
    await shown(engine)
    expect(read('completed.json').tasks).toMatchObject([{ id: 'a', status: 'completed', completedAt: expect.any(String) as string, payload: { action: 'test' }, result: { output: 1, decisionReport: { why: 'w' } } }])
    expect(ids('pending.json')).toEqual([])
  })

  test('pending.json holds what is pending in the order of claims, then scheduled, then blocked', async () => {
    await start()
    const engine = await daybook.open('default')
    await enqueue(engine, [
      { id: 'low', type: 'x', priority: 2 }, { id: 'later', type: 'x', priority: 10, availableAt: Date.now() + 60_000, payload: 1 },
      { id: 'high', type: 'x', priority: 9, payload: 2 }, { id: 'behind', type: 'x', priority: 10, dependencies: ['low'], payload: 3 },
    ])
    await shown(engine)
    expect(read('pending.json').tasks.map(({ id, status }) => [id, status])).toEqual([
      ['high', 'pending'], ['low', 'pending'], ['later', 'scheduled'], ['behind', 'blocked'],
    ])
  })

  test('all five of one generation show one revision, and together exactly what the queue holds then', async () => {
    await start()
    const engine = await daybook.open('default')
    await enqueue(engine, Array.from({ length: 40 }, (_, i) => ({ id: `t${i}`, type: 'x', payload: i })))
    for (let round = 0; round < 10; round++) {
      const held = await claim(engine, 4)
      for (const [i, one] of held.entries()) await (i % 4 === 0 ? fail(engine, one) : i % 4 === 1 ? Promise.resolve() : complete(engine, one, i % 4 === 2 ? {} : { decisionReport: 'r' }))
    }
    await engine.submit({ type: 'Cancel', task: 't1', reason: 'enough' }, caller)
    await shown(engine)
    const files = fileNames.map((name) => read(name))
    expect(new Set(files.map(({ revision }) => revision))).toEqual(new Set([engine.status().revision]))
    const inFiles = files.flatMap(({ tasks }) => tasks.map(({ id, status }) => `${String(id)} ${String(status)}`)).sort()
    const inQueue = right(await engine.read((state) => listTasks(state, {}, 1_000).tasks)).value.map(({ id, status }) => `${id} ${status}`).sort()
    expect(inFiles).toEqual(inQueue)
    for (const { total, tasks } of files) expect(tasks).toHaveLength(total)
  })

  test('a reader never sees half a file, nor older than before, however fast the queue goes', async () => {
    await start()
    const engine = await daybook.open('default')
    let isOver = false
    let last = -1
    let reads = 0
    const reader = (async () => {
      while (!isOver) {
        const { revision } = read('pending.json')
        expect(revision).toBeGreaterThanOrEqual(last)
        last = revision
        reads++
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })()
    for (let i = 0; i < 200; i++) {
      await enqueue(engine, [{ id: `t${i}`, type: 'x', payload: i }])
      if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 15))
    }
    await shown(engine)
    isOver = true
    await reader
    expect(reads).toBeGreaterThan(5)
    expect(read('pending.json').total).toBe(200)
  })

  test('every queue but the default has a sub-folder, also one that is called like a file', async () => {
    const before = await daybook.open('before')
    await enqueue(before, [{ id: 'b', type: 'x' }])
    await start()
    const after = await daybook.open('pending.json')
    await enqueue(after, [{ id: 'a', type: 'x' }])
    await folders?.close()
    folders = undefined
    expect(read('pending.json', join(dir, 'before')).tasks).toMatchObject([{ id: 'b' }])
    expect(read('pending.json', join(dir, 'pending.json.queue')).tasks).toMatchObject([{ id: 'a' }])
    expect(ids('pending.json')).toEqual([])
  })

  test(`a file lists at most ${listedMax} tasks and says how many there are; of what is over, the newest`, async () => {
    await start()
    const engine = await daybook.open('default')
    for (let i = 0; i < 3; i++) await enqueue(engine, Array.from({ length: 600 }, (_, n) => ({ id: `t${i * 600 + n}`, type: 'x', payload: i * 600 + n })))
    const held = await claim(engine, 1_000)
    await engine.submitAll([...held.slice(0, 500), ...(await claim(engine, 600))].map(({ task, token }) => ({ type: 'Complete' as const, task, agent: 'a', token, content: '{}', hasReport: true })), caller)
    await enqueue(engine, Array.from({ length: 1_001 }, (_, n) => ({ id: `more${n}`, type: 'x', payload: `more${n}` })))
    await shown(engine)
    const pending = read('pending.json')
    expect([pending.total, pending.tasks.length, pending.tasks[0]?.id]).toEqual([1_201, listedMax, 't1600'])
    const completed = read('completed.json')
    expect([completed.total, completed.tasks.length]).toEqual([1_100, listedMax])
    expect(completed.tasks[0]?.id).toBe('t1599')
    expect(completed.tasks.some(({ id }) => id === 't0')).toBe(false)
  })

  test('EV-09: the files can be imported again, every one of them', async () => {
    await start()
    const engine = await daybook.open('default')
    await enqueue(engine, [{ id: 'a', type: 'x', payload: 1 }, { id: 'b', type: 'x', payload: 2, dependencies: ['a'] }, { id: 'c', type: 'x', payload: 3 }])
    const [a, b] = await claim(engine, 2)
    if (a !== undefined && b !== undefined) {
      await complete(engine, a, { output: 'o', decisionReport: 'r' })
      await fail(engine, b)
    }
    await shown(engine)
    const { files } = await readQueueFolder(dir)
    expect(files.flatMap(({ refused }) => refused)).toEqual([])
    const found = files.flatMap((file) => file.found.map(({ task }) => [task.id, task.status]))
    expect(Object.fromEntries(found)).toEqual({ a: 'completed', b: 'pending', c: 'dead-letter' })
  })
})

describe('LK-11: the review log', () => {
  const deadLetter = async (engine: QueueEngine, id: string): Promise<void> => {
    await enqueue(engine, [{ id, type: 'ops', priority: 10, payload: id }])
    const [held] = await claim(engine)
    if (held !== undefined) await fail(engine, held, 'disk\nfull')
  }
  const review = (engine: QueueEngine, type: 'Retry' | 'Discard', task: string, reason = 'made room') =>
    engine.submit({ type, task, reviewer: 'ann', reason }, caller)
  const log = (): ReadonlyArray<string> => {
    const name = readdirSync(dir).find((file) => /^dlq-review-\d{4}-\d\d-\d\d\.md$/.test(file)) ?? 'none'
    return readFileSync(join(dir, name), 'utf8').split('\n').filter((line) => line.startsWith('- '))
  }

  test('each decision is one line: who, what, why, and the error it was about', async () => {
    await start()
    const engine = await daybook.open('default')
    await deadLetter(engine, 'a')
    await review(engine, 'Discard', 'a')
    await deadLetter(engine, 'b')
    await review(engine, 'Retry', 'b', 'made\nroom')
    await shown(engine)
    expect(log()).toEqual([
      expect.stringMatching(/^- \d{4}-\S+Z \*\*discarded\*\* a \(ops\) by ann: made room\. Last error: disk full\. \[revision \d+\]$/) as string,
      expect.stringMatching(/^- \d{4}-\S+Z \*\*retried\*\* b \(ops\) by ann: made room\. .*\[revision \d+\]$/) as string,
    ])
  })

  test('a decision made while the files are about to be written has its line whole, in the next ones', async () => {
    await daybook.ready
    const engine = await daybook.open('default')
    await deadLetter(engine, 'b')
    let decide: (() => Promise<unknown>) | undefined = () => review(engine, 'Retry', 'b')
    const slow = new Proxy(engine, {
      get: (target, key) =>
        key !== 'read'
          ? (Reflect.get(target, key) as unknown)
          : async (query: Parameters<QueueEngine['read']>[0]) => {
              const answer = await engine.read(query)
              const now = decide
              decide = undefined
              await now?.()
              return answer
            },
    })
    const files = await startQueueFilesOf({ engine: slow, log: daybook.log, dir, warn: () => undefined })
    await files.shown(engine.status().revision)
    expect(log()).toEqual([expect.stringMatching(/\*\*retried\*\* b \(ops\) by ann: made room\. /) as string])
    await files.close()
  })

  test('a decision that was not logged because the server stopped is logged at the next start, once', async () => {
    await start()
    const engine = await daybook.open('default')
    await deadLetter(engine, 'a')
    await review(engine, 'Discard', 'a')
    await shown(engine)
    await folders?.close()
    // As after a crash: a decision in the log of events, none in the files.
    await deadLetter(engine, 'b')
    await review(engine, 'Discard', 'b')
    for (let i = 0; i < 3; i++) {
      folders = await startQueueFiles({ daybook, dir })
      await folders.close()
    }
    expect(log()).toHaveLength(2)
    expect(log()[1]).toContain('**discarded** b')
  })
})

test('a folder that cannot be written is an error at the start, and a warning later on', async () => {
  writeFileSync(join(dir, 'taken'), '')
  await daybook.ready
  await expect(startQueueFiles({ daybook, dir: join(dir, 'taken') })).rejects.toThrow(/EEXIST|ENOTDIR/)
})
