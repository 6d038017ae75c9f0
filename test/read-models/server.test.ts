/** The read models of a running server: `views.db` in its data folder. */
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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

  test('with --read-models off, or a store in memory, there are none, and whoever asks is told', async () => {
    const client = await start({ readModels: 'off' })
    await client().enqueue({ type: 'mow' })
    await expect(client().readModels()).rejects.toMatchObject({ code: 'disabled' })
    expect(existsSync(file())).toBe(false)
  })
})
