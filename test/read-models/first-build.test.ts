/** EV-05: while tables are built for the first time, no report is made of them; afterwards one is always. */
import { feedViews, ViewsFile } from '@daybook/adapters/read-models'
import { readReport, readReportRequest } from '@daybook/adapters/reports'
import { openSqliteLog, openSqliteStore } from '@daybook/adapters/sqlite'
import { type RecordedEvent, StoreError } from '@daybook/adapters/store'
import { readModels } from '@daybook/projections'
import Database from 'better-sqlite3'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { enqueue, ok } from '../support/queue.js'
import { ofAnotherLog, useQueueOnDisk } from './queue-on-disk.js'

const disk = useQueueOnDisk()
const file = (): string => disk.file('views.db')
let tasks = 0
const grow = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) ok(await disk.engine.submit(enqueue(`t${tasks++}`), { actor: 'ann' }))
}

/** What is said of a queue: the revision of its report, or why there is none. */
const told = (queue = 'q'): number | string => {
  const request = readReportRequest(queue, 'throughput', {}, Date.now(), disk.engine.status().revision)
  if (E.isLeft(request)) throw new Error(JSON.stringify(request.left))
  const answer = readReport(file(), request.right)
  return E.isRight(answer) ? answer.right.revision : answer.left.message
}
const unfinished = (done: number, of: number): string => `the tables of reports are not complete yet: they are built from the log, ${done} of ${of} events so far`

interface Feeding {
  /** Called after each batch. */
  readonly rest?: () => Promise<void> | void
  readonly log?: string
  readonly batches?: number
}
/** Feeds the file in batches of two events, to the end or for some batches. Returns what was told of the queue before, between and after them. */
const feed = async ({ rest, log = disk.file('log.db'), batches = 1_000 }: Feeding = {}): Promise<ReadonlyArray<number | string>> => {
  const opened = openSqliteLog(log)
  const stopping = new AbortController()
  const said: Array<number | string> = []
  let left = batches
  try {
    await feedViews({
      file: file(), models: readModels, signal: stopping.signal, once: true, grown: async () => undefined,
      log: { ...opened, read: (stream, options) => opened.read(stream, { ...options, limit: Math.min(2, options?.limit ?? 2) }) },
      report: () => void said.push(told()),
      rest: async () => {
        await rest?.()
        if (--left === 0) stopping.abort()
      },
    })
  } finally {
    await opened.close()
  }
  return said
}
const others = async (events: ReadonlyArray<RecordedEvent>): Promise<string> => {
  const path = disk.file('other.db')
  const other = await openSqliteStore({ file: path })
  await other.append('taskqueue-q', events, 'no_stream')()
  await other.close()
  return path
}
const logged = async (): Promise<ReadonlyArray<RecordedEvent>> => {
  const found: Array<RecordedEvent> = []
  for await (const page of disk.store.read('taskqueue-q')) found.push(...page)
  return found
}

test('until the tables have all events that the log had, reports are refused; then they are not, also when the tables are behind', async () => {
  await grow(6)
  ViewsFile.open({ file: file(), models: readModels }).close()
  // Nobody has looked at the log.
  expect(told()).toBe(unfinished(0, 6))
  expect(await feed()).toEqual([unfinished(0, 6), unfinished(2, 6), unfinished(4, 6), 5, 5])
  await grow(5)
  expect(await feed()).toEqual([5, 7, 9, 10, 10])
})

test('a build that was interrupted is still a first build after a restart', async () => {
  await grow(6)
  expect(await feed({ batches: 1 })).toEqual([unfinished(0, 6), unfinished(2, 6)])
  expect(told()).toBe(unfinished(2, 6))
  expect((await feed()).slice(0, 3)).toEqual([unfinished(2, 6), unfinished(4, 6), 5])
})

test('a log that grows faster than its tables does not keep its reports away', async () => {
  await grow(4)
  let more = 4
  const said = await feed({ rest: () => (more-- > 0 ? grow(3) : undefined) })
  expect(said.slice(0, 3)).toEqual([unfinished(0, 4), unfinished(2, 7), 3])
  expect(said.every((each, i) => i < 2 || typeof each === 'number')).toBe(true)
})

test('a queue that is new while the tables are kept is answered at once', async () => {
  await grow(2)
  await feed()
  await grow(4)
  const seen = new Set<number | string>()
  const newer = { streams: 0 }
  const events = await logged()
  await feed({
    rest: async () => {
      if (newer.streams++ === 0) await disk.store.append('taskqueue-new', events.map((event, i) => ({ ...event, id: `new-${i}` })), 'no_stream')()
      seen.add(told('new'))
    },
  })
  expect([...seen]).toEqual([-1, 1, 3, 5])
})

test('of another log they are built for the first time again', async () => {
  await grow(4)
  await feed()
  const path = await others(ofAnotherLog(await logged()))
  const said = await feed({ log: path })
  expect(said).toContain(unfinished(2, 4))
  expect(said.at(-1)).toBe(3)
})

test('the tables of an earlier version, whose file does not tell, are taken for complete', async () => {
  await grow(4)
  await feed()
  const db = new Database(file())
  db.exec('DROP TABLE first_builds')
  db.close()
  expect(told()).toBe(3)
  await grow(2)
  expect(await feed()).toEqual([3, 5, 5])
})

const marked = (): ReadonlyArray<unknown> => {
  const db = new Database(file(), { readonly: true })
  try {
    return db.prepare('SELECT queue FROM first_builds').pluck().all()
  } finally {
    db.close()
  }
}

test('a queue that cannot be read stays a first build when the tables are replaced', () => {
  const first = ViewsFile.open({ file: file(), models: readModels })
  first.beginFirstBuilds(['away', 'q'])
  first.close()
  const next = ViewsFile.open({ file: file(), models: readModels.map((model) => ({ ...model, version: model.version + 1 })) })
  next.switchOver(new Set(['away']))
  next.close()
  expect(marked()).toEqual(['away'])
})

test('a queue that could not be read a moment ago is among those whose tables are new', async () => {
  await grow(4)
  await feed()
  const opened = openSqliteLog(await others(ofAnotherLog(await logged())))
  const stopping = new AbortController()
  const head = (stream: string): Promise<number> => (stream === 'taskqueue-away' ? Promise.reject(new StoreError('damaged', 'a page is damaged')) : opened.head(stream))
  await feedViews({
    file: file(), models: readModels, signal: stopping.signal, grown: () => new Promise((resolve) => setImmediate(resolve)),
    // The first look finds that the queue `q` is another one, and everything begins anew.
    log: { ...opened, head, streams: async () => ['taskqueue-away', 'taskqueue-q'] },
    report: () => void (told() === 3 && stopping.abort()),
  })
  await opened.close()
  expect(marked()).toEqual(['away'])
})
