import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRecorded, type QueueEngine, streamOf } from '@daybook/adapters/engine'
import { startQueueFilesOf } from '@daybook/adapters/files'
import { readQueueFolder } from '@daybook/adapters/import'
import { evolve, initial, isUnreadable, listTasks, type Status } from '@daybook/core'
import { describe, expect, test } from 'vitest'
import { caller, claim, complete, completion, enqueue, fail, failure, fileNames, fixture, ids, read, right, shown, start, useQueueFiles } from './queue.js'

useQueueFiles()

describe('LK-04: the queue files', () => {
  test('are all there from the start, empty', async () => {
    await start()
    expect(readdirSync(fixture.dir).sort()).toEqual([...fileNames].sort())
    for (const name of fileNames) expect(read(name)).toEqual({ revision: -1, total: 0, tasks: [] })
  })

  test('show a task in the fields of LK-01, its payload and result joined', async () => {
    await start()
    const engine = await fixture.daybook.open('default')
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

  test('pending.json has pending tasks in the order of claims, then scheduled, then blocked ones', async () => {
    await start()
    const engine = await fixture.daybook.open('default')
    await enqueue(engine, [
      { id: 'low', type: 'x', priority: 2 }, { id: 'later', type: 'x', priority: 10, availableAt: Date.now() + 60_000, payload: 1 },
      { id: 'high', type: 'x', priority: 9, payload: 2 }, { id: 'behind', type: 'x', priority: 10, dependencies: ['low'], payload: 3 },
    ])
    await shown(engine)
    expect(read('pending.json').tasks.map(({ id, status }) => [id, status])).toEqual([
      ['high', 'pending'], ['low', 'pending'], ['later', 'scheduled'], ['behind', 'blocked'],
    ])
  })

  test('the five files of one generation show the same revision, and together exactly the tasks of the queue at it', async () => {
    await start()
    const engine = await fixture.daybook.open('default')
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

  test('a reader never sees an incomplete file, nor an older one than before, however busy the queue is', async () => {
    await start()
    const engine = await fixture.daybook.open('default')
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

  test('every queue except the default has a sub-folder, also one whose name is that of a file', async () => {
    const before = await fixture.daybook.open('before')
    await enqueue(before, [{ id: 'b', type: 'x' }])
    await start()
    const after = await fixture.daybook.open('pending.json')
    await enqueue(after, [{ id: 'a', type: 'x' }])
    await fixture.folders?.close()
    fixture.folders = undefined
    expect(read('pending.json', join(fixture.dir, 'before')).tasks).toMatchObject([{ id: 'b' }])
    expect(read('pending.json', join(fixture.dir, 'pending.json.queue')).tasks).toMatchObject([{ id: 'a' }])
    expect(ids('pending.json')).toEqual([])
  })

  test('files are complete, whatever their length: every task is in exactly one file, in order, with its content', async () => {
    await start()
    const engine = await fixture.daybook.open('default')
    const count = 10_000
    const waits = { availableAt: Date.now() + 3_600_000 }
    for (let from = 0; from < count; from += 1_000) {
      await enqueue(engine, Array.from({ length: 1_000 }, (_, i) => from + i).map((n) => ({
        id: `t${n}`, type: `type-${n % 3}`, priority: (n % 10) + 1, payload: { n }, ...(n % 5 === 0 ? waits : n % 7 === 1 ? { dependencies: [`t${n - 1}`] } : {}),
      })))
    }
    const held = [...(await claim(engine, 1_000)), ...(await claim(engine, 1_000)), ...(await claim(engine, 1_000))]
    await engine.submitAll([...held.slice(0, 1_500).map((one) => completion(one, { output: one.task, decisionReport: 'r' })), ...held.slice(1_500, 2_600).map((one) => failure(one))], caller)
    await engine.submitAll(Array.from({ length: 1_200 }, (_, n) => ({ type: 'Cancel' as const, task: `t${n}`, reason: 'r' })), caller)
    await shown(engine)

    const views = right(await engine.read((state) => listTasks(state, {}, count).tasks)).value
    const statusOf = new Map(views.map(({ id, status }) => [id, status]))
    const files = fileNames.map((name) => read(name))
    expect(new Set(files.map(({ revision }) => revision))).toEqual(new Set([engine.status().revision]))
    const all = files.flatMap(({ tasks }) => tasks)
    expect(all).toHaveLength(count)
    expect(new Map(all.map(({ id, status }) => [id, status]))).toEqual(statusOf)
    for (const { total, tasks } of files) expect([total, tasks.length > 0]).toEqual([tasks.length, true])
    const contentOf = ({ id, status }: Record<string, unknown>): string =>
      JSON.stringify([{ n: Number(String(id).slice(1)) }, status === 'completed' ? { output: id, decisionReport: 'r' } : undefined])
    expect(all.filter((task) => JSON.stringify([task.payload, task.result]) !== contentOf(task))).toEqual([])
    const inQueue = (...wanted: ReadonlyArray<Status>) => wanted.flatMap((status) => views.filter((view) => view.status === status).map(({ id }) => id))
    expect(ids('pending.json')).toEqual(inQueue('pending', 'scheduled', 'blocked'))
    expect(ids('in-progress.json')).toEqual(inQueue('in-progress'))
    expect(ids('dead-letter.json')).toEqual(inQueue('dead-letter'))
    const finishes = read('completed.json').tasks.map(({ completedAt }) => Date.parse(String(completedAt)))
    expect(finishes).toEqual([...finishes].sort((a, b) => b - a))
  })

  test('EV-04: while the queue is busy, each generation shows the queue at its revision', async () => {
    const engine = await fixture.daybook.open('default')
    const payloads = (round: number, count: number) => Array.from({ length: count }, (_, n) => ({ id: `r${round}-${n}`, type: `x${n % 4}`, priority: (n % 10) + 1, payload: { round, n } }))
    for (let round = 0; round < 2; round++) await enqueue(engine, payloads(round, 1_000))
    await start()
    let isOver = false
    const work = async (): Promise<void> => {
      for (let round = 2; !isOver; round++) {
        const held = await claim(engine, 5)
        await engine.submitAll(held.map((one, i) => (i % 3 === 0 ? failure(one) : completion(one, { decisionReport: round }))), caller)
        await enqueue(engine, payloads(round, 5))
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
    const working = work()
    // 1. Read several generations. After each there is a pause, in which all five files can be read.
    const seen = new Map<number, ReadonlyArray<Record<string, unknown>>>()
    while (seen.size < 3) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      await shown(engine)
      const files = fileNames.map((name) => read(name))
      expect(new Set(files.map(({ revision }) => revision)).size).toBe(1)
      seen.set(files[0]?.revision ?? -1, files.flatMap(({ tasks }) => tasks))
    }
    isOver = true
    await working
    // 2. Fold the log up to each of them.
    let state = initial('default')
    let compared = 0
    for await (const page of fixture.daybook.log.read(streamOf('default'))) {
      for (const recorded of page) {
        const event = decodeRecorded(recorded)
        if (isUnreadable(event)) throw new Error('the log has an event that this test did not write')
        state = evolve(state, event)
        const tasks = seen.get(recorded.revision)
        if (tasks === undefined) continue
        const inQueue = listTasks(state, {}, 1_000_000).tasks.map(({ id, status }) => `${id} ${status}`).sort()
        expect(tasks.map(({ id, status }) => `${String(id)} ${String(status)}`).sort()).toEqual(inQueue)
        compared++
      }
    }
    expect(compared).toBe(seen.size)
  })

  test('a thousand pending tasks and one scheduled', async () => {
    const engine = await fixture.daybook.open('default')
    await enqueue(engine, Array.from({ length: 1_000 }, (_, n) => ({ id: `t${n}`, type: 'x', payload: n })))
    await enqueue(engine, [{ id: 'later', type: 'x', availableAt: Date.now() + 3_600_000 }])
    await start()
    await shown(engine)
    expect([read('pending.json').total, read('pending.json').tasks.length, ids('pending.json').at(-1)]).toEqual([1_001, 1_001, 'later'])
  })

  test('EV-09: the files can be imported again, every one of them', async () => {
    await start()
    const engine = await fixture.daybook.open('default')
    await enqueue(engine, [{ id: 'a', type: 'x', payload: 1 }, { id: 'b', type: 'x', payload: 2, dependencies: ['a'] }, { id: 'c', type: 'x', payload: 3 }])
    const [a, b] = await claim(engine, 2)
    if (a !== undefined && b !== undefined) {
      await complete(engine, a, { output: 'o', decisionReport: 'r' })
      await fail(engine, b)
    }
    await shown(engine)
    const { files } = await readQueueFolder(fixture.dir)
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
    const name = readdirSync(fixture.dir).find((file) => /^dlq-review-\d{4}-\d\d-\d\d\.md$/.test(file)) ?? 'none'
    return readFileSync(join(fixture.dir, name), 'utf8').split('\n').filter((line) => line.startsWith('- '))
  }

  test('each decision is one line: who, what, why, and the task’s error', async () => {
    await start()
    const engine = await fixture.daybook.open('default')
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

  test('a decision made while the files are about to be written has a complete line, in the next generation', async () => {
    await fixture.daybook.ready
    const engine = await fixture.daybook.open('default')
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
    const files = startQueueFilesOf({ engine: slow, log: fixture.daybook.log, dir: fixture.dir, warn: () => undefined })
    await files.tried
    await files.shown(engine.status().revision)
    expect(log()).toEqual([expect.stringMatching(/\*\*retried\*\* b \(ops\) by ann: made room\. /) as string])
    await files.close()
  })

  test('a decision that was not logged because the server stopped is logged once, at the next start', async () => {
    await start()
    const engine = await fixture.daybook.open('default')
    await deadLetter(engine, 'a')
    await review(engine, 'Discard', 'a')
    await shown(engine)
    await fixture.folders?.close()
    // As after a crash: the decision is in the event log, but not in the files.
    await deadLetter(engine, 'b')
    await review(engine, 'Discard', 'b')
    for (let i = 0; i < 3; i++) {
      const folders = await start()
      await folders.close()
    }
    expect(log()).toHaveLength(2)
    expect(log()[1]).toContain('**discarded** b')
  })

  test('so are those of a queue that had no event when its files were last written', async () => {
    await (await start()).close()
    const engine = await fixture.daybook.open('default')
    await deadLetter(engine, 'a')
    await review(engine, 'Discard', 'a')
    await (await start()).close()
    expect(log()).toEqual([expect.stringContaining('**discarded** a') as string])
  })
})
