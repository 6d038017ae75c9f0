/** Feeding the file of read models when a projection has a new version, and the indexes that are made at the end of a build. */
import { openSqliteLog } from '@daybook/adapters/sqlite'
import { feedViews, type FeedStatus, ViewsFile } from '@daybook/adapters/read-models'
import { breakerReadModel, readModels, type TableProjection, taskReadModel } from '@daybook/projections'
import { daybookVersion } from '@daybook/core'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openViews, rowsOf } from './views.js'
import { useFeeding } from './feeding.js'

const { disk, file, feedOnce, rebuilt, contentOf, query, change, logged, work } = useFeeding()

/** Everything but the versions of the projections is as if it had been built anew. */
const expectAsRebuilt = async (models: ReadonlyArray<TableProjection>): Promise<void> => {
  const { projections: _, ...now } = contentOf(file(), models)
  const { projections: __, ...fresh } = await rebuilt()
  expect(now).toEqual(fresh)
}

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
    await expectAsRebuilt(models)
    expect(contentOf(file(), models).tasks).not.toEqual(old.tasks)
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
    await expectAsRebuilt(newer)
  })

  test('while the file can be neither written nor opened, it is told how far the tables and the build were', async () => {
    await work(1, 3)
    await feedOnce()
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
        if (++batches === 1) change("CREATE TRIGGER refuse BEFORE UPDATE ON projections BEGIN SELECT RAISE(ABORT, 'not now'); END; PRAGMA user_version = 99")
      },
      waitAfterError: async () => {
        if (++pauses === 3) change('PRAGMA user_version = 1; DROP TRIGGER refuse')
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
    await expectAsRebuilt(models)
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
    // An older checkout of this version, which knows fewer events.
    db.prepare('UPDATE projections SET reader = ?').run(daybookVersion)
    const older = openViews(file())
    expect(older.building).toBeDefined()
    older.close()
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
