/** The read models of a running server: `views.db` in its data folder. */
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { until } from '../support/queue.js'

let dir = ''
let running: RunningServer | undefined
const said: Array<string> = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-views-server-'))
  said.length = 0
})
afterEach(async () => {
  await running?.close()
  running = undefined
  rmSync(dir, { recursive: true, force: true })
})

const start = async (more: object = {}): Promise<(queue?: string) => DaybookClient> => {
  running = await serve(
    { host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'log.db'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' }, ...more },
    { log: { write: (line: string) => void said.push(line) } },
  )
  const { url } = running
  return (queue = 'default') => createClient({ url, queue })
}
const file = (): string => join(dir, 'views.db')
const query = <R>(sql: string): ReadonlyArray<R> => {
  const db = new Database(file(), { readonly: true })
  const rows = db.prepare<[], R>(sql).all()
  db.close()
  return rows
}
const metric = async (name: string): Promise<string | undefined> => {
  const text = await (await fetch(`${running?.url ?? ''}/metrics`)).text()
  return text.split('\n').find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
}

describe('EV-06: who did what, on a server with read models', () => {
  const post = (path: string, correlation: string, body: object) =>
    fetch(`${running?.url ?? ''}/api/queues/default${path}`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-correlation-id': correlation }, body: JSON.stringify(body) })
  interface Page {
    readonly events: ReadonlyArray<{ readonly revision: number; readonly actor?: string; readonly correlationId?: string }>
    readonly next: number | null
  }
  const events = async (query: string): Promise<ReadonlyArray<number>> => {
    const found: Array<number> = []
    for (let from: number | null = 0; from !== null; ) {
      const page = (await (await fetch(`${running?.url ?? ''}/api/queues/default/events?from=${from}&${query}`)).json()) as Page
      found.push(...page.events.map(({ revision }) => revision))
      from = page.next
    }
    return found
  }
  const lines = async (query: string): Promise<ReadonlyArray<number>> => {
    const text = await (await fetch(`${running?.url ?? ''}/api/queues/default/events?${query}`, { headers: { accept: 'application/x-ndjson' } })).text()
    return text.split('\n').filter((line) => line !== '').map((line) => (JSON.parse(line) as { readonly revision: number }).revision)
  }
  const offline = async (): Promise<ReadonlyArray<number>> => {
    const { out } = await runHere(['audit', 'log', '--data', dir, '--store', `sqlite:${join(dir, 'log.db')}`, '--correlation', 'one', '--all', '--json'])
    return (JSON.parse(out) as Page).events.map(({ revision }) => revision)
  }

  test('the answers are those of the whole log, now, for a past moment and without a server, and the log is not searched', async () => {
    const queue = (await start())()
    for (let i = 0; i < 30; i++) await post('/tasks', i % 3 === 0 ? 'one' : `other-${i}`, { id: `t${i}`, type: 'mow', payload: i })
    const { revision } = await queue.readModels({ atLeast: 29 })
    const wanted = Array.from({ length: 10 }, (_, i) => i * 3)
    const ask = async () => [await events('correlationId=one'), await events('correlationId=one&limit=3'), await events('correlationId=one&actor=anonymous'), await events(`correlationId=one&revision=${revision}`), await lines('correlationId=one'), await offline()]
    for (const answer of await ask()) expect(answer).toEqual(wanted)
    expect(await events('actor=nobody')).toEqual([])
    expect(await events(`actor=anonymous&revision=${revision}`)).toHaveLength(30)
    // The answers come from the table: without its rows, the events are not found.
    const db = new Database(file())
    db.exec("DELETE FROM causes WHERE correlation = 'one' AND revision > 0")
    db.close()
    for (const answer of await ask()) expect(answer).toEqual([0])
  })
})

describe('EV-04: a server keeps its read models', () => {
  test('on a thread of its own; whoever waits for a revision finds it in the file', async () => {
    const client = await start()
    const queue = client()
    await queue.enqueue({ type: 'mow', description: 'mow the lawn' })
    const [claimed] = await queue.claim({ agentId: 'bob' })
    if (claimed === undefined) throw new Error('nothing claimed')
    await queue.complete(claimed.task.id, { agentId: 'bob', token: claimed.lease.token, result: { decisionReport: 'done' } })
    const shown = await queue.readModels({ atLeast: 2 })
    expect(shown.revision).toBeGreaterThanOrEqual(2)
    expect(query('SELECT status, description, claimed_by FROM tasks')).toEqual([{ status: 'completed', description: 'mow the lawn', claimed_by: 'bob' }])
    const answer = await fetch(`${running?.url ?? ''}/api/queues/default/read-models`)
    expect(answer.headers.get('x-daybook-revision')).toBe('2')
    expect(await answer.json()).toEqual({ revision: 2, behind: 0 })
    expect(await metric('daybook_read_models_position')).toBe('daybook_read_models_position{queue="default"} 2')
    expect(await metric('daybook_read_models_behind_events')).toBe('daybook_read_models_behind_events{queue="default"} 0')
    expect(await metric('daybook_read_models_failing')).toBe('daybook_read_models_failing 0')
  })

  test('and goes on after a restart, also if the file was deleted meanwhile', async () => {
    const client = await start()
    await client().enqueue({ type: 'mow' })
    await client('other').enqueue({ type: 'sow' })
    await client('other').readModels({ atLeast: 0 })
    await running?.close()
    for (const end of ['', '-wal', '-shm']) rmSync(file() + end, { force: true })
    const again = await start()
    await again().enqueue({ type: 'reap' })
    await again().readModels({ atLeast: 1 })
    await again('other').readModels({ atLeast: 0 })
    expect(query('SELECT queue, number, type FROM tasks ORDER BY queue, number')).toEqual([
      { queue: 'default', number: 1, type: 'mow' },
      { queue: 'default', number: 2, type: 'reap' },
      { queue: 'other', number: 1, type: 'sow' },
    ])
  })

  test('while the tables are built for the first time, a report is refused with the progress, in every format and without a server', async () => {
    const client = (await start())()
    await client.enqueue({ type: 'mow' })
    await client.enqueue({ type: 'sow' })
    await client.readModels({ atLeast: 1 })
    expect((await client.report('summary')).rows).toMatchObject([{ enqueued: 2 }])
    // As it is during the build.
    const db = new Database(file())
    db.exec("INSERT INTO first_builds VALUES ('default'); UPDATE projections SET revision = 0")
    db.close()
    const progress = 'the tables of reports are not complete yet: they are built from the log, 1 of 2 events so far'
    for (const format of ['json', 'csv', 'svg']) {
      const answer = await fetch(`${running?.url ?? ''}/api/queues/default/reports/summary?format=${format}`)
      expect([answer.status, ((await answer.json()) as { readonly detail: string }).detail]).toEqual([503, progress])
    }
    expect(await runHere(['report', '--views', file(), '--queue', 'default'])).toMatchObject({ code: 1, out: '', err: expect.stringContaining('1 events so far') as string })
    // The other queues are answered.
    expect((await (await fetch(`${running?.url ?? ''}/api/queues/other/reports/summary`)).json()) as object).toMatchObject({ revision: -1, rows: [{ enqueued: 0 }] })
  })

  test('of another version it builds anew, tells so in its log, and answers with the new ones', async () => {
    const client = await start()
    await client().enqueue({ type: 'mow' })
    await client().readModels({ atLeast: 0 })
    await running?.close()
    // As an older version of Daybook has left it.
    const db = new Database(file())
    db.exec('ALTER TABLE breakers ADD COLUMN old TEXT')
    db.close()
    const again = await start()
    await until(() => said.some((line) => line.includes('have been built anew')))
    expect(said.some((line) => line.includes('breakers are being built anew, the old ones still answer'))).toBe(true)
    await again().readModels({ atLeast: 0 })
    expect(() => query('SELECT old FROM breakers')).toThrow('no such column')
  })

  test('if the file cannot be used, it goes on serving, says why, and has them when that is mended', async () => {
    const db = new Database(file())
    db.exec('CREATE TABLE mine (x)')
    db.close()
    const client = await start()
    await client().enqueue({ type: 'mow' })
    await until(async () => (await metric('daybook_read_models_failing')) === 'daybook_read_models_failing 1')
    const ready = (await (await fetch(`${running?.url ?? ''}/readyz`)).json()) as { readonly degraded: ReadonlyArray<{ readonly part: string; readonly reason: string }> }
    expect(ready.degraded[0]).toMatchObject({ part: 'read models', reason: expect.stringContaining('is no file of read models') as string })
    rmSync(file())
    await until(async () => (await metric('daybook_read_models_failing')) === 'daybook_read_models_failing 0')
    await client().readModels({ atLeast: 0 })
    expect(query('SELECT type FROM tasks')).toEqual([{ type: 'mow' }])
  })

  test('if a part of the file is damaged, it says which file that is and what to do', async () => {
    const client = (await start())()
    await client.enqueue({ type: 'mow' })
    await client.readModels({ atLeast: 0 })
    await running?.close()
    const [page] = query<{ readonly number: number; readonly size: number }>("SELECT rootpage AS number, page_size AS size FROM sqlite_schema, pragma_page_size WHERE name = 'totals'")
    if (page === undefined) throw new Error('there is no table totals')
    const descriptor = openSync(file(), 'r+')
    writeSync(descriptor, Buffer.alloc(page.size, 0xff), 0, page.size, (page.number - 1) * page.size)
    closeSync(descriptor)
    await (await start())().enqueue({ type: 'rake' })
    await until(async () => (await metric('daybook_read_models_failing')) === 'daybook_read_models_failing 1')
    const ready = (await (await fetch(`${running?.url ?? ''}/readyz`)).json()) as { readonly degraded: ReadonlyArray<{ readonly reason: string }> }
    expect(ready.degraded[0]?.reason).toBe(`the read models ${file()} cannot be used (database disk image is malformed): delete the file, it is built anew from the log`)
  })

  test('with --read-models off, or a store in memory, there are none, and whoever asks is told', async () => {
    const client = await start({ readModels: 'off' })
    await client().enqueue({ type: 'mow' })
    await expect(client().readModels()).rejects.toMatchObject({ code: 'disabled' })
    expect(existsSync(file())).toBe(false)
  })
})
