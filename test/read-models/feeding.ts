/** Feeding a file of read models from a queue on disk, for each test of the calling file. */
import { openSqliteLog } from '@daybook/adapters/sqlite'
import { feedViews, type FeedStatus } from '@daybook/adapters/read-models'
import type { RecordedEvent } from '@daybook/adapters/store'
import { readModels, type TableProjection } from '@daybook/projections'
import Database from 'better-sqlite3'
import { claim, complete, enqueue, fail, ok, task } from '../support/queue.js'
import { type QueueOnDisk, useQueueOnDisk } from './queue-on-disk.js'
import { dump, openViews } from './views.js'

export const caller = { actor: 'ann' }

export interface Feeding {
  readonly disk: QueueOnDisk
  /** The path of the file of read models. */
  readonly file: () => string
  /** Feeds the file up to the end of the log, and returns everything that was reported. */
  readonly feedOnce: (models?: ReadonlyArray<TableProjection>, path?: string, log?: string) => Promise<ReadonlyArray<FeedStatus>>
  /** What a file has that is built from the whole log. */
  readonly rebuilt: () => Promise<ReturnType<typeof dump>>
  readonly contentOf: (path?: string, models?: ReadonlyArray<TableProjection>) => ReturnType<typeof dump>
  readonly query: <R>(sql: string, path?: string) => ReadonlyArray<R>
  /** Runs SQL on the file, as a foreign hand may. */
  readonly change: (sql: string) => void
  /** All events of the log. */
  readonly logged: () => Promise<ReadonlyArray<RecordedEvent>>
  /** Enqueues the tasks with these numbers, and ends each: even ones are completed, the others fail. */
  readonly work: (from: number, to: number) => Promise<void>
}

export const useFeeding = (): Feeding => {
  const disk = useQueueOnDisk()
  const file = (): string => disk.file('views.db')

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
  const change = (sql: string): void => {
    const db = new Database(file())
    db.exec(sql)
    db.close()
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

  return { disk, file, feedOnce, rebuilt, contentOf, query, change, logged, work }
}
