/** `daybook project`: the read models in a process of their own. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeData, streamOf } from '@daybook/adapters/engine'
import type { Io } from '@daybook/adapters/cli'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore } from '@daybook/adapters/store'
import type { QueueEvent } from '@daybook/core'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ended, run, runHere, start } from '../cli/program.js'
import { eventStoreDbUrl } from '../support/eventstoredb/node.js'
import { until } from '../support/queue.js'
import { dump, openViews, rowsOf } from './views.js'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-project-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const enqueued = (number: number): QueueEvent => ({
  type: 'TaskEnqueued', at: 1_700_000_000_000 + number, content: '{"payload":1}',
  data: { task: `t${number}`, number, type: 'mow', priority: 5, idempotencyKey: `k${number}`, timeout: 60, maxRetries: 3, backoffSeconds: 1 },
})
const append = async (store: EventStore, queue: string, ...events: ReadonlyArray<QueueEvent>): Promise<void> => {
  const appended = await store.append(
    streamOf(queue),
    events.map((event) => ({ id: randomUUID(), type: event.type, data: encodeData(event), metadata: JSON.stringify({ schemaVersion: 1, at: new Date(event.at).toISOString(), actor: 'ann' }) })),
    'any',
  )()
  if (appended._tag === 'Left') throw new Error(appended.left._tag)
}
const query = <R>(sql: string, file = join(dir, 'views.db')): ReadonlyArray<R> => {
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare<[], R>(sql).all()
  } finally {
    db.close()
  }
}
const tasks = (queue: string, file = join(dir, 'views.db')): ReadonlyArray<unknown> => (existsSync(file) ? query(`SELECT id, enqueued_by FROM tasks WHERE queue = '${queue}' ORDER BY number`, file) : [])
const shown = (...ids: ReadonlyArray<string>) => ids.map((id) => ({ id, enqueued_by: 'ann' }))

/** Follows a log in a process, while somebody appends to it; SIGTERM ends it. */
const follows = async (store: EventStore, args: ReadonlyArray<string>): Promise<void> => {
  const queue = `q-${randomUUID()}`
  await append(store, queue, enqueued(1), enqueued(2))
  const level = await run(['project', ...args, '--once', '--json'])
  expect({ code: level.code, err: level.err }).toEqual({ code: 0, err: '' })
  expect((JSON.parse(level.out) as { readonly queues: ReadonlyArray<unknown> }).queues).toContainEqual({ queue, revision: 1 })
  expect(tasks(queue)).toEqual(shown('t1', 't2'))

  await append(store, queue, enqueued(3))
  const child = start(['project', ...args])
  const end = ended(child)
  await until(() => tasks(queue).length === 3)
  await append(store, queue, enqueued(4))
  await until(() => tasks(queue).length === 4)
  child.kill('SIGTERM')
  const { code, out } = await end
  expect(code).toBe(0)
  expect(out).toContain(`${queue} up to revision 3`)
  expect(tasks(queue)).toEqual(shown('t1', 't2', 't3', 't4'))
}

describe('EV-04: daybook project', () => {
  test('keeps views.db from a log on disk, up to its end or as it grows', async () => {
    const file = join(dir, 'log.db')
    const store = await openSqliteStore({ file })
    try {
      await follows(store, ['--data', dir, '--store', `sqlite:${file}`])
    } finally {
      await store.close()
    }
  })

  test('the same from EventStoreDB, without a server', async () => {
    const node = await eventStoreDbUrl()
    const store = await openEventStoreDb({ url: node.url })
    try {
      await follows(store, ['--data', dir, '--store', node.url])
    } finally {
      await store.close()
      await node.close()
    }
  })

  test('killed at any moment it goes on where the file is: each event counts once', async () => {
    const file = join(dir, 'log.db')
    const store = await openSqliteStore({ file })
    const life = (number: number): ReadonlyArray<QueueEvent> => [
      enqueued(number),
      { type: 'Claimed', at: enqueued(number).at, data: { task: `t${number}`, agent: 'bob', token: number, expiresAt: enqueued(number).at + 60_000 } },
      ...(number % 3 === 0 ? [] : [{ type: 'Completed', at: enqueued(number).at, data: { task: `t${number}`, agent: 'bob', token: number }, content: '{}' } as const]),
    ]
    for (let number = 1; number <= 10_000; number += 500) await append(store, 'q', ...Array.from({ length: 500 }, (_, i) => life(number + i)).flat())
    const head = await store.head(streamOf('q'))
    await store.close()
    const place = (): number => (existsSync(join(dir, 'views.db')) ? (query<{ readonly revision: number }>("SELECT revision FROM projections WHERE name = 'tasks'")[0]?.revision ?? -1) : -1)
    for (let kills = 0; kills < 3; kills++) {
      const before = place()
      const child = start(['project', '--data', dir, '--store', `sqlite:${file}`])
      const end = ended(child)
      await until(() => {
        try {
          return place() > before || before === head
        } catch {
          // The file is being made.
          return false
        }
      })
      child.kill('SIGKILL')
      await end
    }
    const { code } = await run(['project', '--data', dir, '--store', `sqlite:${file}`, '--once'])
    expect(code).toBe(0)
    expect((await run(['project', '--store', `sqlite:${file}`, '--views', join(dir, 'fresh.db'), '--once'])).code).toBe(0)
    const [killed, fresh] = [openViews(join(dir, 'views.db')), openViews(join(dir, 'fresh.db'))]
    expect(dump(killed)).toEqual(dump(fresh))
    expect(rowsOf(killed, 'SELECT claimed, completed FROM totals')).toEqual([{ claimed: 10_000, completed: 6_667 }])
    killed.close()
    fresh.close()
  })

  test('interrupted before the end of the log, --once does not say that it is done', async () => {
    const store = await openSqliteStore({ file: join(dir, 'log.db') })
    await append(store, 'q', enqueued(1))
    await store.close()
    const once = (onSignal?: Io['onSignal']) => runHere(['project', '--data', dir, '--store', `sqlite:${join(dir, 'log.db')}`, '--once'], {}, '', onSignal === undefined ? {} : { onSignal })
    const interrupting: Io['onSignal'] = (listener) => {
      listener('SIGINT')
      return () => undefined
    }
    expect((await once(interrupting)).code).toBe(130)
    expect((await once()).code).toBe(0)
  })

  test('a file that is none of read models, or a folder, is named, and the advice costs nobody a file', async () => {
    const store = await openSqliteStore({ file: join(dir, 'log.db') })
    await append(store, 'q', enqueued(1))
    await store.close()
    writeFileSync(join(dir, 'README.md'), '# Not a database, but a text that somebody wrote\n'.repeat(20))
    for (const [name, advice] of [['README.md', 'move it away'], ['.', 'a folder']] as const) {
      const { code, err } = await runHere(['project', '--store', `sqlite:${join(dir, 'log.db')}`, '--views', join(dir, name), '--once'])
      expect([code, err]).toEqual([1, expect.stringContaining(`the read models ${join(dir, name)} cannot be used`)])
      expect(err).toContain(advice)
      expect(err).not.toContain('delete the file')
    }
  })

  test('a log that is not there is named, and nothing is made', async () => {
    const { code, err } = await runHere(['project', '--data', join(dir, 'none'), '--once'])
    expect(code).toBe(1)
    expect(err).toContain(`${join(dir, 'none', 'daybook.sqlite')} is not there: --data names`)
    expect(existsSync(join(dir, 'none'))).toBe(false)
    expect((await runHere(['project', '--store', 'memory:'])).code).toBe(2)
  })
})
