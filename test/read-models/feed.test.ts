/** Feeding the file of read models from a log on disk: restarts, other logs, damage. */
import { openSqliteLog, openSqliteStore } from '@daybook/adapters/sqlite'
import { feedViews, type FeedStatus, wakeable } from '@daybook/adapters/read-models'
import { integer, readModels, table, type TableProjection, text } from '@daybook/projections'
import Database from 'better-sqlite3'
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { enqueue, until } from '../support/queue.js'
import { ofAnotherLog } from './queue-on-disk.js'
import { openViews, rowsOf } from './views.js'
import { caller, useFeeding } from './feeding.js'

/** Linux lists all locks on files here. */
const locks = '/proc/locks'

const { disk, file, feedOnce, rebuilt, contentOf, query, change, logged, work } = useFeeding()

describe('EV-04: read models in a file', () => {
  test('are built from the log, and go on from their checkpoint', async () => {
    await work(1, 4)
    await feedOnce()
    expect(query('SELECT id, status, description, claimed_by, enqueued_by, last_error FROM tasks ORDER BY number')).toEqual([
      { id: 't1', status: 'dead-letter', description: 'mow lawn number 1', claimed_by: 'bob', enqueued_by: 'ann', last_error: 'no luck' },
      { id: 't2', status: 'completed', description: 'mow lawn number 2', claimed_by: 'bob', enqueued_by: 'ann', last_error: null },
      { id: 't3', status: 'dead-letter', description: 'mow lawn number 3', claimed_by: 'bob', enqueued_by: 'ann', last_error: 'no luck' },
      { id: 't4', status: 'completed', description: 'mow lawn number 4', claimed_by: 'bob', enqueued_by: 'ann', last_error: null },
    ])
    expect(query("SELECT id FROM search JOIN tasks ON key = search.rowid WHERE search MATCH 'lawns AND luck' ORDER BY number")).toEqual([{ id: 't1' }, { id: 't3' }])
    const { revision } = disk.engine.status()
    expect(query("SELECT DISTINCT revision FROM projections WHERE queue = 'q'")).toEqual([{ revision }])

    await work(5, 6)
    await disk.engine.submit({ type: 'Retry', task: 't1', reviewer: 'eve', reason: 'once more' }, caller)
    await feedOnce()
    expect(contentOf()).toEqual(await rebuilt())
    expect(query('SELECT id, reviews.verdict, reviewer, reason FROM reviews JOIN tasks ON key = task_key')).toEqual([{ id: 't1', verdict: 'retried', reviewer: 'eve', reason: 'once more' }])
    expect(query("SELECT verdict, reviewer, note FROM dead_letters WHERE verdict IS NOT NULL")).toEqual([{ verdict: 'retried', reviewer: 'eve', note: 'once more' }])
  })

  test('a batch whose transaction fails leaves nothing behind, and is done again', async () => {
    await work(1, 3)
    await feedOnce()
    const before = contentOf()
    await work(4, 5)
    change("CREATE TRIGGER refuse BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'not now'); END")
    await expect(feedOnce()).rejects.toThrow(`the read models ${file()} cannot be used (not now)`)
    expect(contentOf()).toEqual(before)
    change('DROP TRIGGER refuse')
    await feedOnce()
    expect(contentOf()).toEqual(await rebuilt())
  })

  test('a second process that writes to the same file is refused before it writes anything', async () => {
    await work(1, 2)
    const first = openViews(file())
    const second = openViews(file())
    first.beginFirstBuilds([])
    const events = await logged()
    expect(first.current.at('q').revision).toBe(-1)
    expect(second.current.at('q').revision).toBe(-1)
    first.current.take('q', events)
    expect(() => second.current.take('q', events)).toThrow('another process writes to these read models')
    first.close()
    second.close()
    expect(contentOf()).toEqual(await rebuilt())
  })

  test.each<[string, (path: string) => void]>([
    ['deleted', (path) => ['', '-wal', '-shm'].forEach((end) => rmSync(path + end, { force: true }))],
    ['emptied', (path) => truncateSync(path)],
  ])('a file that is %s while they are kept is built anew, and the feed goes on', async (_, spoil) => {
    await work(1, 2)
    // Everything is in the file, and nothing in its WAL.
    await feedOnce()
    const stopping = new AbortController()
    const waiting = wakeable()
    const log = openSqliteLog(disk.file('log.db'))
    let last: FeedStatus | undefined
    const problems: Array<string> = []
    const feeding = feedViews({
      file: file(), models: readModels, log, signal: stopping.signal, grown: () => waiting.wait(20), waitAfterError: async () => undefined,
      report: (status) => {
        last = status
        if (status.problem !== undefined) problems.push(status.problem)
      },
    })
    await until(() => last?.queues[0]?.revision === disk.engine.status().revision)
    spoil(file())
    await work(3, 4)
    await until(() => problems.length > 0 && last?.problem === undefined && last?.queues[0]?.revision === disk.engine.status().revision)
    stopping.abort()
    waiting.wake()
    await feeding
    await log.close()
    expect(problems[0]).toContain('deleted, emptied or exchanged')
    expect(contentOf()).toEqual(await rebuilt())
  })

  test.skipIf(!existsSync(locks))('while they are kept, SQLite has its lock on the file', async () => {
    await work(1, 2)
    const stopping = new AbortController()
    const waiting = wakeable()
    const log = openSqliteLog(disk.file('log.db'))
    let last: FeedStatus | undefined
    const feeding = feedViews({ file: file(), models: readModels, log, signal: stopping.signal, grown: () => waiting.wait(20), report: (status) => (last = status) })
    const isLevel = (): boolean => last?.queues[0]?.revision === disk.engine.status().revision
    await until(isLevel)
    // It looks after its file at each round.
    await work(3, 4)
    await until(isLevel)
    const isLocked = readFileSync(locks, 'utf8').includes(`:${statSync(file()).ino} `)
    stopping.abort()
    waiting.wake()
    await feeding
    await log.close()
    expect(isLocked).toBe(true)
  })

  test.each(['another log', 'a log that was restored from a backup and is shorter'])('of %s they are built anew', async (which) => {
    await work(1, 4)
    await feedOnce()
    const other = await openSqliteStore({ file: disk.file('other.db') })
    const events = await logged()
    const kept = which === 'another log' ? ofAnotherLog(events) : events.slice(0, 3)
    await other.append('taskqueue-q', kept, 'no_stream')()
    await other.close()
    await feedOnce(readModels, file(), disk.file('other.db'))
    const fresh = disk.file('fresh.db')
    await feedOnce(readModels, fresh, disk.file('other.db'))
    expect(contentOf()).toEqual(contentOf(fresh))
  })

  test('of a log that lacks one of their queues they are built anew, because it is another one', async () => {
    await work(1, 2)
    await disk.store.append('taskqueue-second', ofAnotherLog(await logged()), 'no_stream')()
    await feedOnce()
    expect(query('SELECT DISTINCT queue FROM tasks ORDER BY 1')).toEqual([{ queue: 'q' }, { queue: 'second' }])
    const other = await openSqliteStore({ file: disk.file('other.db') })
    await other.append('taskqueue-q', await logged(), 'no_stream')()
    await other.close()
    await feedOnce(readModels, file(), disk.file('other.db'))
    const fresh = disk.file('fresh.db')
    await feedOnce(readModels, fresh, disk.file('other.db'))
    expect(contentOf()).toEqual(contentOf(fresh))
  })

  test('while others append, it rests after each batch, so that they come first; at the end of the log it does not', async () => {
    await work(1, 1)
    const log = openSqliteLog(disk.file('log.db'))
    const rests: Array<number> = []
    let more = 2
    await feedViews({
      file: file(), models: readModels, once: true, signal: new AbortController().signal, grown: async () => undefined, report: () => undefined,
      // Somebody appends whenever a batch is read, twice.
      log: { ...log, read: async function* (stream, options) {
        yield* log.read(stream, options)
        if (more-- > 0) await work(10 - more, 10 - more)
      } },
      rest: async (ms) => void rests.push(ms),
    })
    await log.close()
    expect(rests.map((ms) => ms > 0)).toEqual([true, true, false])
    expect(contentOf()).toEqual(await rebuilt())
  })

  test.each([
    ['near the end of the log it rests for as long as the batch took', 0, 1],
    ['far behind it rests for the share that was appended meanwhile', 100_000, 1 / 4],
  ])('while others append, %s', async (_, further, share) => {
    await work(1, 2)
    const [first, ...others] = await logged()
    const length = 4
    const [tookMin, head] = [40, length - 1 + further]
    const stopping = new AbortController()
    let begun = 0
    let hasRead = false
    let rested = { ms: -1, spanMs: 0 }
    await feedViews({
      file: file(), models: readModels, signal: stopping.signal, report: () => undefined, grown: async () => undefined,
      log: {
        streams: async () => ['taskqueue-q'],
        head: async () => {
          if (!hasRead) begun = performance.now()
          return hasRead ? head + 1 : head
        },
        read: async function* () {
          await new Promise((resolve) => setTimeout(resolve, tookMin + 5))
          hasRead = true
          yield [first!, ...others].slice(0, length)
        },
      },
      rest: async (ms) => {
        rested = { ms, spanMs: performance.now() - begun }
        stopping.abort()
      },
    })
    expect(rested.ms).toBeGreaterThanOrEqual(tookMin * share)
    expect(rested.ms).toBeLessThanOrEqual(rested.spanMs * share)
  })

  test('what was in the log before, and what is left when very much is, is read in batches of 50,000 events; the rest in smaller ones, which take less memory', async () => {
    /** Of the first batch, when the log ends at these revisions one after the other. */
    const limitOf = async (...heads: Array<number>): Promise<number | undefined> => {
      const stopping = new AbortController()
      let limit: number | undefined
      await feedViews({
        file: file(), models: readModels, signal: stopping.signal, report: () => undefined, grown: async () => void heads.shift(),
        log: {
          streams: async () => ['taskqueue-q'],
          head: async () => heads[0] ?? -1,
          read: async function* (_stream, options) {
            limit = options?.limit
            stopping.abort()
            yield []
          },
        },
      })
      return limit
    }
    expect(await limitOf(200_000)).toBe(50_000)
    expect(await limitOf(30_000)).toBe(20_000)
    expect(await limitOf(-1, 200_000)).toBe(50_000)
    expect(await limitOf(-1, 90_000)).toBe(20_000)
    expect(await limitOf(-1, 10_000)).toBe(4_000)
  })

  test('a row that is put anew takes the place of the one that was changed before', async () => {
    await work(1, 2)
    const noted = table({ name: 'noted', about: 'The last event.', columns: { queue: text('the queue'), type: text('its type'), count: integer('how many') }, key: ['queue'] })
    const last: TableProjection = {
      name: 'last', version: 1, about: 'The last event.', tables: [noted],
      feed: ({ queue, rows }) => ({
        fold: ({ event: { type } }) => {
          const known = rows(noted).get(queue)
          if (known !== undefined) {
            known.type = 'old'
            rows(noted).put(known)
          }
          rows(noted).put({ queue, type, count: (known?.count ?? 0) + 1 })
        },
        settle: () => undefined,
      }),
    }
    const views = openViews(':memory:', [last])
    const events = await logged()
    views.current.take('q', events.slice(0, 2))
    views.current.take('q', events.slice(2))
    expect(rowsOf(views, 'SELECT type, count FROM noted')).toEqual([{ type: events[events.length - 1]?.type, count: events.length }])
    views.close()
  })

  test('while the log cannot be read, it is told how far the tables are, and when the log is back they go on within seconds', async () => {
    await disk.engine.submit(enqueue('a'), caller)
    const opened = openSqliteLog(disk.file('log.db'))
    let isAway = false
    const log = { ...opened, streams: (prefix: string) => (isAway ? Promise.reject(new Error('the cluster has no leader')) : opened.streams(prefix)) }
    const stopping = new AbortController()
    const waiting = wakeable()
    const away: Array<FeedStatus> = []
    const pauses: Array<number> = []
    let last: FeedStatus | undefined
    const running = feedViews({
      file: file(), models: readModels, log, signal: stopping.signal, grown: () => waiting.wait(20),
      waitAfterError: async (ms) => {
        pauses.push(ms)
        if (pauses.length === 40) isAway = false
      },
      report: (status) => {
        last = status
        if (status.problem !== undefined) away.push(status)
      },
    })
    try {
      await until(() => last?.queues[0]?.revision === 0)
      isAway = true
      await until(() => away.length >= 40 && last?.problem === undefined)
      expect([...new Set(away.map(({ queues }) => JSON.stringify(queues)))]).toEqual([JSON.stringify([{ queue: 'q', revision: 0, head: 0 }])])
      expect(Math.max(...pauses)).toBeLessThanOrEqual(5_000)
    } finally {
      stopping.abort()
      waiting.wake()
      await running
      await opened.close()
    }
  })

  test('while nothing can be written, each report says so, and the pauses grow; after something was written, the first pause is short again', async () => {
    await work(1, 1)
    await feedOnce()
    const refuse = (): void => change("CREATE TRIGGER refuse BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
    refuse()
    await work(2, 2)
    const log = openSqliteLog(disk.file('log.db'))
    const stopping = new AbortController()
    const waiting = wakeable()
    const reported: Array<FeedStatus> = []
    const pauses: Array<number> = []
    const feeding = feedViews({
      file: file(), models: readModels, log, signal: stopping.signal, grown: () => waiting.wait(20),
      waitAfterError: async (ms) => {
        pauses.push(ms)
        if (pauses.length >= 6) change('DROP TRIGGER refuse')
      },
      report: (status) => void reported.push(status),
    })
    const isLevel = (): boolean => reported.at(-1)?.problem === undefined && reported.at(-1)?.queues[0]?.revision === disk.engine.status().revision
    try {
      await until(isLevel)
      const failures = reported.slice(reported.findIndex(({ problem }) => problem !== undefined))
      expect(failures.find(({ problem }) => problem === undefined)?.queues[0]?.revision).toBe(disk.engine.status().revision)
      expect(pauses).toHaveLength(6)
      expect(pauses[5]).toBeGreaterThanOrEqual(2_500)
      refuse()
      await work(3, 3)
      await until(() => pauses.length === 7 && isLevel())
      expect(pauses[6]).toBeLessThanOrEqual(500)
    } finally {
      stopping.abort()
      waiting.wake()
      await feeding
      await log.close()
    }
    expect(contentOf()).toEqual(await rebuilt())
  })

  test('a file of somebody else is left as it is', async () => {
    const db = new Database(file())
    db.exec('CREATE TABLE mine (x); INSERT INTO mine VALUES (1)')
    db.close()
    await expect(feedOnce()).rejects.toThrow('is no file of read models: move it away')
    expect(query('SELECT x FROM mine')).toEqual([{ x: 1 }])
    rmSync(file())
    writeFileSync(file(), 'not a database at all, but long enough to be taken for one'.repeat(20))
    await expect(feedOnce()).rejects.toThrow('move it away, it is built anew from the log; or name another one')
  })
})
