/** Feeding the file of read models from a log on disk: restarts, new versions, other logs, damage. */
import { openSqliteLog, openSqliteStore } from '@daybook/adapters/sqlite'
import { feedViews, type FeedStatus, ViewsFile, wakeable } from '@daybook/adapters/read-models'
import type { RecordedEvent } from '@daybook/adapters/store'
import { breakerReadModel, integer, readModels, table, type TableProjection, taskReadModel, text } from '@daybook/projections'
import Database from 'better-sqlite3'
import { rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { claim, complete, enqueue, fail, ok, task, until } from '../support/queue.js'
import { ofAnotherLog, useQueueOnDisk } from './queue-on-disk.js'
import { dump, openViews, rowsOf } from './views.js'

const caller = { actor: 'ann' }
const disk = useQueueOnDisk()
const file = (): string => disk.file('views.db')

/** Feeds the file up to the end of the log, and returns everything that was reported. */
const feedOnce = async (models: ReadonlyArray<TableProjection> = readModels, path = file(), log = disk.file('log.db')): Promise<ReadonlyArray<FeedStatus>> => {
  const reported: Array<FeedStatus> = []
  const opened = openSqliteLog(log)
  try {
    await feedViews({ file: path, models, log: opened, signal: new AbortController().signal, grown: async () => undefined, report: (status) => void reported.push(status), once: true })
  } finally {
    await opened.close()
  }
  return reported
}
/** What a file has that is built from the whole log. */
const rebuilt = async (): Promise<ReturnType<typeof dump>> => {
  const fresh = disk.file(`fresh-${Math.random()}.db`)
  await feedOnce(readModels, fresh)
  return contentOf(fresh)
}
const contentOf = (path = file(), models = readModels): ReturnType<typeof dump> => {
  const views = openViews(path, models)
  const found = dump(views)
  views.close()
  return found
}
const query = <R>(sql: string, path = file()): ReadonlyArray<R> => {
  const db = new Database(path, { readonly: true })
  const rows = db.prepare<[], R>(sql).all()
  db.close()
  return rows
}
const logged = async (): Promise<ReadonlyArray<RecordedEvent>> => {
  const found: Array<RecordedEvent> = []
  for await (const page of disk.store.read('taskqueue-q')) found.push(...page)
  return found
}
const work = async (from: number, to: number): Promise<void> => {
  for (let i = from; i <= to; i++) {
    ok(await disk.engine.submit(enqueue(task(`t${i}`, { content: JSON.stringify({ payload: i, description: `mow lawn number ${i}` }) })), caller))
    const [held] = ok(await disk.engine.claim(claim('bob'), caller))
    if (held !== undefined && i % 2 === 0) await disk.engine.submit(complete(held, 'bob'), caller)
    if (held !== undefined && i % 2 === 1) await disk.engine.submit(fail(held, 'bob', false), caller)
  }
}

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
    const db = new Database(file())
    db.exec("CREATE TRIGGER refuse BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'not now'); END")
    db.close()
    await expect(feedOnce()).rejects.toThrow('not now')
    expect(contentOf()).toEqual(before)
    const mended = new Database(file())
    mended.exec('DROP TRIGGER refuse')
    mended.close()
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

  test('a file that is deleted while they are kept is built anew, and the feed goes on', async () => {
    await work(1, 2)
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
    for (const end of ['', '-wal', '-shm']) rmSync(file() + end, { force: true })
    await work(3, 4)
    await until(() => problems.length > 0 && last?.problem === undefined && last?.queues[0]?.revision === disk.engine.status().revision)
    stopping.abort()
    waiting.wake()
    await feeding
    await log.close()
    expect(problems[0]).toContain('deleted or exchanged')
    expect(contentOf()).toEqual(await rebuilt())
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
    const onFile = (sql: string): void => {
      const db = new Database(file())
      db.exec(sql)
      db.close()
    }
    const refuse = (): void => onFile("CREATE TRIGGER refuse BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
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
        if (pauses.length >= 6) onFile('DROP TRIGGER refuse')
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

describe('EV-04: indexes that only readers need', () => {
  const names = (): ReadonlyArray<string> => query<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'tasks_%'").map(({ name }) => name.replace(/_\d+$/, '')).sort()
  const all = ['tasks_by_id', 'tasks_finished', 'tasks_unfinished']
  test('are made when the tables are level with the log, once', async () => {
    await work(1, 2)
    const log = await logged()
    const views = ViewsFile.open({ file: file(), models: readModels })
    views.current.take('q', log.slice(0, 3))
    expect(names()).toEqual(['tasks_by_id'])
    views.close()
    await feedOnce()
    expect(names()).toEqual(all)
    await work(3, 4)
    await feedOnce()
    expect(names()).toEqual(all)
  })
  test('are made for a new version before it takes the place of the old one', async () => {
    await work(1, 2)
    await feedOnce()
    await feedOnce(readModels.map((model) => ({ ...model, version: model.version + 1 })))
    expect(names()).toEqual(all)
  })
  test('are made for the tables of another log', async () => {
    await work(1, 2)
    await feedOnce()
    const views = ViewsFile.open({ file: file(), models: readModels })
    views.startAnew()
    views.close()
    expect(names()).toEqual(['tasks_by_id'])
    await feedOnce()
    expect(names()).toEqual(all)
  })
})

describe('EV-04: a new version of a projection', () => {
  const next: TableProjection = { ...taskReadModel, version: taskReadModel.version + 1 }
  const models = [next, ...readModels.filter(({ name }) => name !== next.name)]
  test('is built beside the old one, which answers until it is level, with progress; then it takes its place', async () => {
    await work(1, 6)
    await feedOnce()
    const old = contentOf()
    const log = await logged()
    const views = ViewsFile.open({ file: file(), models })
    expect(views.building?.models).toEqual([next])
    views.building?.take('q', log.slice(0, 5))
    // People who read the file still see the old tables.
    expect(query('SELECT count(*) AS n FROM tasks')).toEqual([{ n: 6 }])
    expect(query("SELECT version, revision FROM projections WHERE name = 'tasks' ORDER BY version")).toEqual([{ version: taskReadModel.version, revision: log.length - 1 }, { version: next.version, revision: 4 }])
    expect(views.shownOf('q')).toBe(log.length - 1)
    views.close()

    await work(7, 8)
    const reported = await feedOnce(models)
    const [first] = reported
    // Told before the first batch, which may take seconds: what answers, and how far the build is.
    expect(first).toMatchObject({
      queues: [{ queue: 'q', revision: log.length - 1, head: disk.engine.status().revision }],
      building: { names: ['tasks'], done: 5, of: disk.engine.status().revision + 1 },
    })
    expect(reported.at(-1)?.building).toBeUndefined()
    expect(reported.at(-1)?.queues).toEqual([{ queue: 'q', revision: disk.engine.status().revision, head: disk.engine.status().revision }])
    expect(query("SELECT name FROM sqlite_schema WHERE name LIKE 'next%'")).toEqual([])
    expect(query("SELECT version, revision FROM projections WHERE name = 'tasks'")).toEqual([{ version: next.version, revision: disk.engine.status().revision }])
    const { projections: _, ...now } = contentOf(file(), models)
    const { projections: __, ...fresh } = await rebuilt()
    expect(now).toEqual(fresh)
    expect(now.tasks).not.toEqual(old.tasks)
    // The next start finds nothing to build.
    const again = ViewsFile.open({ file: file(), models })
    expect(again.building).toBeUndefined()
    again.close()
  })

  test.each([
    ['one projection', models],
    ['all projections', readModels.map((model) => ({ ...model, version: model.version + 1 }))],
  ])('of %s takes its place although the log grows during each batch', async (_, newer) => {
    await work(1, 3)
    await feedOnce()
    const log = openSqliteLog(disk.file('log.db'))
    const stopping = new AbortController()
    let [tasks, isBuilding] = [3, true]
    const grow = async (): Promise<void> => (++tasks > 20 ? stopping.abort() : work(tasks, tasks))
    const shares: Array<boolean> = []
    await feedViews({
      file: file(), models: newer, signal: stopping.signal, grown: async () => stopping.abort(), rest: grow,
      log: { ...log, read: async function* (stream, options) {
        await grow()
        yield* log.read(stream, options)
      } },
      report: ({ building }) => {
        isBuilding = building !== undefined
        if (building === undefined) stopping.abort()
        else shares.push(building.done <= building.of)
      },
    })
    await log.close()
    expect(isBuilding).toBe(false)
    expect(tasks).toBeLessThan(20)
    // It never has more events than there are.
    expect(shares).not.toContain(false)
    await feedOnce(newer)
    const { projections: _projections, ...now } = contentOf(file(), newer)
    const { projections: _rebuilt, ...fresh } = await rebuilt()
    expect(now).toEqual(fresh)
  })

  test('while the file can be neither written nor opened, it is told how far the tables and the build were', async () => {
    await work(1, 3)
    await feedOnce()
    const onFile = (sql: string): void => {
      const db = new Database(file())
      db.exec(sql)
      db.close()
    }
    const log = openSqliteLog(disk.file('log.db'))
    const stopping = new AbortController()
    const reported: Array<FeedStatus> = []
    let [batches, pauses] = [0, 0]
    await feedViews({
      file: file(), models, signal: stopping.signal, grown: async () => stopping.abort(),
      log: { ...log, read: (stream, options) => log.read(stream, { ...options, limit: 2 }) },
      report: (status) => void reported.push(status),
      rest: async () => {
        // A file with another version of its own is not opened.
        if (++batches === 1) onFile("CREATE TRIGGER refuse BEFORE UPDATE ON projections BEGIN SELECT RAISE(ABORT, 'not now'); END; PRAGMA user_version = 99")
      },
      waitAfterError: async () => {
        if (++pauses === 3) onFile('PRAGMA user_version = 1; DROP TRIGGER refuse')
      },
    })
    await log.close()
    const { revision } = disk.engine.status()
    const failed = reported.filter(({ problem }) => problem !== undefined)
    // The last is the first look after the file was mended: it has written nothing yet.
    expect(failed).toHaveLength(4)
    for (const { queues, building } of failed) expect({ queues, building }).toEqual({ queues: [{ queue: 'q', revision, head: revision }], building: { names: ['tasks'], done: 2, of: revision + 1 } })
    expect(reported.at(-1)).toMatchObject({ building: undefined, problem: undefined })
  })

  test('that was half built goes on where it was, and one of a third version begins anew', async () => {
    await work(1, 3)
    await feedOnce()
    const log = await logged()
    const begun = ViewsFile.open({ file: file(), models })
    begun.building?.take('q', log.slice(0, 4))
    begun.close()
    const later = ViewsFile.open({ file: file(), models })
    expect(later.building?.at('q').revision).toBe(3)
    later.close()
    const third = ViewsFile.open({ file: file(), models: [{ ...next, version: 9 }, breakerReadModel] })
    expect(third.building?.at('q').revision).toBe(-1)
    third.close()
    await feedOnce(models)
    const { projections: _, ...now } = contentOf(file(), models)
    const { projections: __, ...fresh } = await rebuilt()
    expect(now).toEqual(fresh)
  })

  test('is not another wording of what a column means', async () => {
    await work(1, 1)
    await feedOnce()
    const [first, ...others] = taskReadModel.tables
    if (first === undefined) throw new Error('no tables')
    const reworded = { ...taskReadModel, tables: [{ ...first, about: 'All that there is to do, and was.' }, ...others] }
    const views = ViewsFile.open({ file: file(), models: [reworded, ...models.slice(1)] })
    expect(views.building).toBeUndefined()
    views.close()
  })

  test('EV-11: one that skipped an event is built anew by a version of Daybook that may be able to read it', async () => {
    await work(1, 2)
    await disk.store.append('taskqueue-q', [{ id: '00000000-0000-4000-8000-000000000001', type: 'FromTheFuture', data: '{}', metadata: '{}' }], 'any')()
    await feedOnce()
    expect(query("SELECT DISTINCT unreadable FROM projections")).toEqual([{ unreadable: 1 }])
    const same = openViews(file())
    expect(same.building).toBeUndefined()
    same.close()
    const db = new Database(file())
    db.exec("UPDATE projections SET reader = '0.0.1'")
    db.close()
    const newer = openViews(file())
    expect(newer.building?.models.map(({ name }) => name)).toEqual(readModels.map(({ name }) => name))
    expect(rowsOf(newer, 'SELECT count(*) AS n FROM tasks')).toEqual([{ n: 2 }])
    newer.close()
    await feedOnce()
    expect(contentOf()).toEqual(await rebuilt())
  })
})
