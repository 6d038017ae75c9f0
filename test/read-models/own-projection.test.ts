/** A user's own projection: the example of the documentation, and modules that are wrong. */
import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { encodeData, streamOf } from '@daybook/adapters/engine'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { feedViews, Group, loadProjection } from '@daybook/adapters/read-models'
import { serve } from '@daybook/adapters/serve'
import { openSqliteLog, openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore } from '@daybook/adapters/store'
import type { QueueEvent } from '@daybook/core'
import { memoryCheckpoints, named, projectionOf, ProjectionFailed, runProjection, type TableProjection, type ValueProjection, valueTables } from '@daybook/projections'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import * as t from 'io-ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ended, root, run, runHere, start } from '../cli/program.js'
import { history, logOf } from '../projections/histories.js'
import { eventStoreDbUrl } from '../support/eventstoredb/node.js'
import { inTime } from '../support/in-time.js'
import { until } from '../support/queue.js'
import { openViews, queue as viewsQueue, recorded, rowsOf } from './views.js'

let dir = ''
let example = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-own-'))
  cpSync(join(root, 'examples/own-projection'), dir, { recursive: true })
  example = join(dir, 'run-time-by-tenant.mjs')
  // What `npm install` does there.
  mkdirSync(join(dir, 'node_modules'))
  for (const name of ['io-ts', 'fp-ts']) symlinkSync(realpathSync(join(root, 'packages/projections/node_modules', name)), join(dir, 'node_modules', name))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const beginning = Date.UTC(2026, 6, 1)
const minute = 60_000

/** A task of this number: its tenant is worked for by so many minutes, beginning with its number as minute. */
const life = (number: number, minutes = 1): ReadonlyArray<QueueEvent> => {
  const [task, at] = [`t${number}`, beginning + number * minute]
  const held = { task, agent: 'bob', token: number }
  return [
    { type: 'TaskEnqueued', at, content: '{"payload":1}', data: { task, number, type: 'mow', tenant: `tenant-${number % 3}`, priority: 5, idempotencyKey: task, timeout: 6_000, maxRetries: 3, backoffSeconds: 1 } },
    { type: 'Claimed', at, data: { ...held, expiresAt: at + 6_000_000 } },
    { type: 'Completed', at: at + minutes * minute, data: held, content: '{}' },
  ]
}
const append = async (store: EventStore, queue: string, events: ReadonlyArray<QueueEvent>): Promise<void> => {
  const appended = await store.append(
    streamOf(queue),
    events.map((event) => ({ id: randomUUID(), type: event.type, data: encodeData(event), metadata: JSON.stringify({ schemaVersion: 1, at: new Date(event.at).toISOString() }) })),
    'any',
  )()
  if (appended._tag === 'Left') throw new Error(appended.left._tag)
}
/** A log with one task. */
const smallLog = async (): Promise<string> => {
  const file = join(dir, 'log.db')
  const store = await openSqliteStore({ file })
  await append(store, 'q', life(1))
  await store.close()
  return file
}
interface Answer {
  readonly file: string
  readonly queues: ReadonlyArray<{ readonly queue: string; readonly revision: number; readonly result: unknown }>
}
const project = async (...args: ReadonlyArray<string>): Promise<Answer> => {
  const { code, out, err } = await runHere(['project', '--module', example, '--once', '--json', '--data', dir, ...args])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as Answer
}
const resultsIn = (file: string): ReadonlyArray<{ readonly queue: string; readonly result: string; readonly state: string }> => {
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare<[], { readonly queue: string; readonly result: string; readonly state: string }>('SELECT * FROM results ORDER BY queue').all()
  } finally {
    db.close()
  }
}
const feed = async (file: string, log: string, model: TableProjection, look: () => void = () => undefined): Promise<void> => {
  const opened = openSqliteLog(log)
  try {
    await feedViews({ file, models: [model], log: opened, signal: new AbortController().signal, grown: async () => undefined, report: () => undefined, once: true, rest: async () => look() })
  } finally {
    await opened.close()
  }
}

describe('EV-04: a projection of a user\'s own', () => {
  test('folds the whole log of a server beside it, and goes on from its checkpoint', async () => {
    const server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' } })
    try {
      const client = createClient({ url: server.url })
      const work = async (id: string, tenant: string): Promise<void> => {
        await client.enqueue({ id, type: 'mow', tenant, payload: id })
        const [claimed] = await client.claim({ agentId: 'bob' })
        if (claimed === undefined) throw new Error('nothing to claim')
        await client.complete(id, { agentId: 'bob', token: claimed.lease.token, result: { decisionReport: 'done' } })
      }
      const expected = async (): Promise<unknown> => {
        const tenants: Record<string, number> = {}
        const [tenantOf, begun] = [new Map<unknown, string>(), new Map<unknown, number>()]
        for await (const { type, at, data } of client.eachEvent({})) {
          const ms = new Date(at).getTime()
          if (type === 'TaskEnqueued') tenantOf.set(data.task, String(data.tenant))
          if (type === 'Claimed') begun.set(data.task, ms)
          if (type === 'Completed') tenants[tenantOf.get(data.task) ?? ''] = (tenants[tenantOf.get(data.task) ?? ''] ?? 0) + ms - (begun.get(data.task) ?? 0)
        }
        return { [new Date().toISOString().slice(0, 7)]: Object.fromEntries(Object.entries(tenants).map(([tenant, ms]) => [tenant, Math.round(ms / 600) / 100])) }
      }
      await work('one', 'acme')
      await work('two', 'beta')
      const first = await project()
      expect(first.queues).toEqual([{ queue: 'default', revision: 5, result: await expected() }])
      expect(first.file).toBe(join(dir, 'projections', 'run-time-by-tenant.db'))
      await work('three', 'gamma')
      expect((await project()).queues).toEqual([{ queue: 'default', revision: 8, result: await expected() }])
    } finally {
      await server.close()
    }
  })

  test('folds a log in EventStoreDB, and goes on as it grows', async () => {
    const node = await eventStoreDbUrl()
    const store = await openEventStoreDb({ url: node.url })
    const queue = `q-${randomUUID()}`
    try {
      await append(store, queue, life(1, 5))
      const of = ({ queues }: Answer) => queues.find((each) => each.queue === queue)
      expect(of(await project('--store', node.url))).toEqual({ queue, revision: 2, result: { '2026-07': { 'tenant-1': 5 } } })
      const child = start(['project', '--module', example, '--data', dir, '--store', node.url, '--json'])
      try {
        const end = ended(child)
        await append(store, queue, life(10, 2))
        const shown = () => resultsIn(join(dir, 'projections/run-time-by-tenant.db')).find((each) => each.queue === queue)?.result
        await until(() => shown() === '{"2026-07":{"tenant-1":7}}')
        child.kill('SIGTERM')
        const { code, out } = await end
        expect(code).toBe(0)
        expect(of(JSON.parse(out) as Answer)).toEqual({ queue, revision: 5, result: { '2026-07': { 'tenant-1': 7 } } })
      } finally {
        child.kill('SIGKILL')
      }
    } finally {
      await store.close()
      await node.close()
    }
  })

  test('killed at any moment it counts each event once', async () => {
    const log = join(dir, 'log.db')
    const store = await openSqliteStore({ file: log })
    for (let number = 1; number <= 10_000; number += 500) await append(store, 'q', Array.from({ length: 500 }, (_, i) => life(number + i, 0).map((event) => ({ ...event, at: beginning + (event.type === 'Completed' ? minute : 0) + (number + i) * minute }))).flat().sort((a, b) => a.at - b.at))
    const head = await store.head(streamOf('q'))
    await store.close()
    const file = join(dir, 'projections/run-time-by-tenant.db')
    const place = (): number => {
      try {
        const db = new Database(file, { readonly: true })
        const revision = db.prepare<[], number>('SELECT revision FROM projections').pluck().get() ?? -1
        db.close()
        return revision
      } catch {
        // It is being made.
        return -1
      }
    }
    for (let kills = 0; kills < 3; kills++) {
      const before = place()
      const child = start(['project', '--module', example, '--data', dir, '--store', `sqlite:${log}`])
      const end = ended(child)
      try {
        await until(() => place() > before || before === head)
      } finally {
        child.kill('SIGKILL')
      }
      await end
    }
    await project('--store', `sqlite:${log}`)
    await project('--store', `sqlite:${log}`, '--views', join(dir, 'fresh.db'))
    const [killed] = resultsIn(file)
    expect(killed).toEqual(resultsIn(join(dir, 'fresh.db'))[0])
    const months = JSON.parse(killed?.result ?? '{}') as Readonly<Record<string, Readonly<Record<string, number>>>>
    expect(Object.values(months).flatMap((tenants) => Object.values(tenants)).reduce((sum, minutes) => sum + minutes, 0)).toBe(10_000)
  })

  test('a new version is built while the old result answers, and then takes its place', async () => {
    const log = join(dir, 'log.db')
    const store = await openSqliteStore({ file: log })
    await append(store, 'q', Array.from({ length: 2_000 }, (_, i) => life(i + 1)).flat().sort((a, b) => a.at - b.at))
    await store.close()
    const counting = (version: number): TableProjection =>
      valueTables({ name: 'count', version, codec: t.number, initial: () => 0, fold: (count) => count + 1, result: (count) => `version ${version}: ${count}` })
    const file = join(dir, 'count.db')
    await feed(file, log, counting(1))
    const seen: Array<string | undefined> = []
    await feed(file, log, counting(2), () => void seen.push(resultsIn(file)[0]?.result))
    expect(seen.length).toBeGreaterThan(1)
    expect(new Set(seen)).toEqual(new Set(['"version 1: 6000"']))
    expect(resultsIn(file).map(({ result }) => result)).toEqual(['"version 2: 6000"'])
  })

  test('a module may fold into tables of its own', async () => {
    const log = await smallLog()
    const module = join(dir, 'claims.mjs')
    writeFileSync(module, `
      const text = { type: 'TEXT', isOptional: false, about: 'a text' }
      const claims = { name: 'claims', about: 'Claims by agent.', key: ['queue', 'agent'], columns: { queue: text, agent: text, count: { ...text, type: 'INTEGER' } } }
      export default {
        name: 'claims', version: 1, about: 'Claims.', tables: [claims],
        feed: ({ queue, rows }) => ({
          fold: ({ event }) => {
            if (event.type !== 'Claimed') return
            const { agent } = event.data
            const row = rows(claims).get(queue, agent) ?? { queue, agent, count: 0 }
            row.count++
            rows(claims).put(row)
          },
          settle: () => undefined,
        }),
      }`)
    const { code, err } = await runHere(['project', '--module', module, '--once', '--data', dir, '--store', `sqlite:${log}`])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const db = new Database(join(dir, 'projections/claims.db'), { readonly: true })
    expect(db.prepare('SELECT * FROM claims').all()).toEqual([{ queue: 'q', agent: 'bob', count: 1 }])
    db.close()
  })

  test('a fold that throws names the event, and goes on there when it is mended', async () => {
    const log = join(dir, 'log.db')
    const store = await openSqliteStore({ file: log })
    await append(store, 'q', life(1))
    const module = (name: string, fails: boolean): string => {
      const file = join(dir, name)
      writeFileSync(file, `
        import * as t from 'io-ts'
        export default { name: 'fragile', version: 1, codec: t.array(t.string), initial: () => [], fold: (seen, { event }) => {
          if (${fails} && event.data.task === 't2' && event.type === 'Completed') throw new Error('no such tenant')
          return [...seen, event.type]
        } }`)
      return file
    }
    const once = (file: string) => runHere(['project', '--module', file, '--once', '--json', '--data', dir, '--store', `sqlite:${log}`])
    const broken = module('broken.mjs', true)
    expect((await once(broken)).code).toBe(0)
    await append(store, 'q', life(3).map((event) => (event.type === 'Completed' ? { ...event, at: event.at } : event)))
    await append(store, 'q', life(2).map((event) => ({ ...event, at: beginning + 4 * minute })))
    const failed = await once(broken)
    expect(failed.code).toBe(1)
    expect(failed.err).toContain('fragile failed at revision 8 (Completed) of queue q: no such tenant')
    // Without --once, too: trying again would not help.
    const follower = start(['project', '--module', broken, '--data', dir, '--store', `sqlite:${log}`])
    try {
      expect((await inTime('the end of a follower whose fold throws', ended(follower))).code).toBe(1)
    } finally {
      follower.kill()
    }
    const { out } = await once(module('mended.mjs', false))
    expect((JSON.parse(out) as Answer).queues).toEqual([{ queue: 'q', revision: 8, result: Array.from({ length: 3 }, () => ['TaskEnqueued', 'Claimed', 'Completed']).flat() }])
    await store.close()
  })

  test.each([
    ['is not there', 'none.mjs', undefined, 'is not there'],
    ['does not parse', 'wrong.mjs', 'export default {', 'cannot be loaded'],
    ['needs what is not installed', 'wrong.mjs', "import 'not-installed'", 'npm install io-ts fp-ts'],
    ['has no default export', 'wrong.mjs', 'export const one = 1', 'has no default export'],
    ['exports a number', 'wrong.mjs', 'export default 7', 'is no object'],
    ['lacks everything', 'wrong.mjs', 'export default {}', /name must be .*; version must be .*; codec must be .*; initial must be .*; fold must be/],
    ['has the name of a read model', 'wrong.mjs', "export default { name: 'tasks' }", 'a read model of Daybook has that name'],
    ['has a table that every file has', 'wrong.mjs', "export default { name: 'x', version: 1, feed() {}, tables: [{ name: 'queues', columns: { a: {} }, key: ['b'] }] }", /tables\[0\]\.name must be .*; tables\[0\]\.key must/],
    ['has another table that every file has', 'wrong.mjs', "export default { name: 'x', version: 1, feed() {}, tables: [{ name: 'first_builds', columns: { a: {} }, key: ['b'] }] }", /tables\[0\]\.name must be /],
    ['has a column named by a word of SQL', 'wrong.mjs', "const text = { type: 'TEXT', isOptional: false, about: '' }; export default { name: 'x', version: 1, feed() {}, tables: [{ name: 'rows', about: '', columns: { a: text, order: text }, key: ['a'] }] }", /exports tables that SQLite cannot make \(near "order": syntax error\): is a table, a column or an index named by a word of SQL/],
    ['has an index that cannot be made', 'wrong.mjs', "const text = { type: 'TEXT', isOptional: false, about: '' }; export default { name: 'x', version: 1, feed() {}, tables: [{ name: 'rows', about: '', columns: { a: text }, key: ['a'], indexes: [{ name: 'rows_by_b', on: 'b' }] }] }", /exports tables that SQLite cannot make \(no such column: b\)/],
  ])('a module that %s is told what to do', async (_, name, text, message) => {
    const file = join(dir, name)
    if (text !== undefined) writeFileSync(file, text)
    const { code, err } = await run(['project', '--module', file, '--once', '--data', dir])
    expect(code).toBe(1)
    expect(err).toMatch(message)
    expect(existsSync(join(dir, 'projections'))).toBe(false)
  })

  test('TypeScript is compiled first, where Node does not load it', async () => {
    const file = join(dir, 'mine.ts')
    writeFileSync(file, 'export default { name: "x" as string }')
    const isLoaded = Boolean((process.features as { readonly typescript?: unknown }).typescript)
    await expect(loadProjection(file)).rejects.toThrow(isLoaded ? /exports no projection/ : /is TypeScript, which Node .* does not load: compile it/)
  })

  test('the file of another projection is refused', async () => {
    const log = await smallLog()
    expect((await runHere(['project', '--once', '--data', dir, '--store', `sqlite:${log}`])).code).toBe(0)
    const { code, err } = await runHere(['project', '--module', example, '--once', '--store', `sqlite:${log}`, '--views', join(dir, 'views.db')])
    expect(code).toBe(1)
    expect(err).toContain('each module has a file of its own')
  })

  test('the file of a module is refused to the read models, and one that is damaged is named', async () => {
    const log = await smallLog()
    const own = join(dir, 'own.db')
    const project = (...args: ReadonlyArray<string>) => runHere(['project', '--once', '--store', `sqlite:${log}`, '--views', own, ...args])
    expect((await project('--module', example)).code).toBe(0)
    expect(await project()).toMatchObject({ code: 1, err: expect.stringContaining(`${own} belongs to the module run-time-by-tenant`) as string })
    expect((await project('--module', example)).code).toBe(0)
    writeFileSync(own, 'no database'.repeat(1_000))
    expect(await project('--module', example)).toMatchObject({ code: 1, err: expect.stringContaining(`${own} cannot be used (file is not a database): it is damaged`) as string })
  })

  test('a fold or a result that is a promise is refused, and no checkpoint is written', async () => {
    const log = await smallLog()
    const once = async (members: string) => {
      const file = join(dir, `${randomUUID()}.mjs`)
      writeFileSync(file, `import * as t from 'io-ts'\nexport default { name: 'late', version: 1, codec: t.number, initial: () => 0, ${members} }`)
      return runHere(['project', '--module', file, '--once', '--json', '--data', dir, '--store', `sqlite:${log}`])
    }
    expect((await once('fold: async (n) => n + 1')).err).toContain('late failed at revision 0 (TaskEnqueued) of queue q: fold returned a promise')
    expect((await once('initial: async () => 0, fold: (n) => n + 1')).err).toContain('initial returned a promise')
    expect((await once('fold: (n) => n + 1, result: async (n) => n')).err).toContain('result is a promise')
    expect((JSON.parse((await once('fold: (n) => n + 1')).out) as Answer).queues).toEqual([{ queue: 'q', revision: 2, result: 3 }])
  })

  test('so is a promise of one with tables, and a table may have nothing but its key', async () => {
    const log = join(dir, 'log.db')
    const store = await openSqliteStore({ file: log })
    await append(store, 'q', life(1))
    const once = async (feed: string) => {
      const file = join(dir, `${randomUUID()}.mjs`)
      writeFileSync(file, `const tables = [{ name: 'seen', columns: { queue: { type: 'TEXT' } }, key: ['queue'] }]\nexport default { name: 'late', version: 1, tables, feed: ${feed} }`)
      return runHere(['project', '--module', file, '--once', '--json', '--data', dir, '--store', `sqlite:${log}`])
    }
    expect((await once('async () => ({ fold() {}, settle() {} })')).err).toContain('late failed at its beginning of queue q: feed returned a promise')
    expect((await once('() => ({ async fold() {}, settle() {} })')).err).toContain('late failed at revision 0 (TaskEnqueued) of queue q: fold returned a promise')
    expect((await once('() => ({ fold() {}, async settle() {} })')).err).toContain('late failed after revision 2 of queue q: settle returned a promise')
    for (let tasks = 2; tasks < 4; tasks++) {
      // The second time, the row is in the file, is found there and put again.
      expect((await once("({ queue, rows }) => ({ fold: () => rows(tables[0]).get(queue) && undefined, settle: () => rows(tables[0]).put({ queue }) })")).code).toBe(0)
      await append(store, 'q', life(tasks))
    }
    await store.close()
  })
})

// -------------------------------------------------------------------------------------------- laws

// The law does not look at the state.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyProjection = ValueProjection<any>

/** The main law: whatever the batches, and wherever the process starts again, the result is that of the whole log. */
const liveEqualsRebuilt = (own: AnyProjection): void => {
  fc.assert(
    fc.property(history, fc.array(fc.nat(60), { maxLength: 6 }), (events, cuts) => {
      const views = openViews(':memory:', [named(valueTables(own))])
      const log = recorded(events.map(({ event }) => event))
      const places = [0, ...new Set(cuts.filter((at) => at > 0 && at < log.length)), log.length].sort((a, b) => a - b)
      let group = views.current
      places.slice(1).forEach((end, i) => {
        group.take(viewsQueue, log.slice(places[i] ?? 0, end))
        if (i % 2 === 0) group = new Group(views.db, views.current.models, '')
      })
      const projection = projectionOf(own)
      const whole = projection.result(events.reduce(projection.fold, projection.initial()))
      expect(rowsOf(views, 'SELECT result FROM results')).toEqual(events.length === 0 ? [] : [{ result: JSON.stringify(whole) }])
      views.close()
    }),
    { numRuns: 200 },
  )
}

describe('EV-04: a value projection, live or rebuilt, has the same result', () => {
  const loadExample = async () => ((await import(example)) as { readonly default: AnyProjection }).default

  test('the example does, whatever the batches and restarts', async () => liveEqualsRebuilt(await loadExample()))

  test('the example in a program of one\'s own: with a checkpoint between, it equals the whole', async () => {
    const projection = projectionOf(await loadExample())
    await fc.assert(
      fc.asyncProperty(history, async (events) => {
        const log = logOf(events.slice(0, events.length >> 1))
        const checkpoints = memoryCheckpoints()
        const first = runProjection(projection, log.source, checkpoints)
        await first.caughtUp
        await first.stop()
        log.append(...events.slice(events.length >> 1))
        const second = runProjection(projection, log.source, checkpoints)
        await second.caughtUp
        expect(second.current().value).toEqual(projection.result(events.reduce(projection.fold, projection.initial())))
        await second.stop()
      }),
      { numRuns: 50 },
    )
  })

  const counts: ValueProjection<{ count: number; last: string }> = {
    name: 'counts',
    version: 1,
    codec: t.type({ count: t.number, last: t.string }),
    initial: () => ({ count: 0, last: '' }),
    fold: ({ count, last }, { event }) => ({ count: count + (last === event.type ? 0 : 1), last: event.type }),
    result: ({ count }) => count,
  }
  test('the law has teeth: a codec that forgets, and a fold with a memory of its own', () => {
    liveEqualsRebuilt(counts)
    const forgets = new t.Type<{ count: number; last: string }, unknown>('forgets', counts.codec.is, (u, context) => counts.codec.validate(u, context), ({ count }) => ({ count, last: '' }))
    expect(() => liveEqualsRebuilt({ ...counts, codec: forgets })).toThrow()
    let seen = 0
    expect(() => liveEqualsRebuilt({ ...counts, fold: (state) => ({ ...state, count: ++seen }) })).toThrow()
  })

  test('a state that the codec cannot read, or a fold without a state, says so', () => {
    const views = openViews(':memory:', [named(valueTables(counts))])
    const log = recorded(life(1))
    views.current.take(viewsQueue, log.slice(0, 1))
    const other = { ...counts, codec: t.type({ number: t.number }) }
    const group = new Group(views.db, [named(valueTables(other as never))], '')
    expect(() => group.take(viewsQueue, log.slice(1))).toThrow(/raise the version/)
    const forgetful = openViews(':memory:', [named(valueTables({ ...counts, fold: () => undefined as never }))])
    expect(() => forgetful.current.take(viewsQueue, log)).toThrow(ProjectionFailed)
    views.close()
    forgetful.close()
  })
})
