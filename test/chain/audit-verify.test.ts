/** EV-07: `audit verify`, over HTTP and without a server, names the first event that is not what was appended. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ended, runHere } from '../cli/program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-verify-'))
const dataDir = join(dir, 'data')
const file = join(dataDir, 'daybook.sqlite')
const token = 'dbk_token-of-the-verify-tests'
let server: RunningServer
let client: DaybookClient

beforeAll(async () => {
  // Without checkpoints: one that is signed while the log is altered would be right, and no test here means it. Nothing comes due meanwhile, either.
  server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file, sharing: 'exclusive' }, auth: 'tokens', token, checkpoints: 'off' })
  client = createClient({ url: server.url, token, queue: 'q' })
  await client.enqueueAll(Array.from({ length: 30 }, (_, i) => ({ id: `t${i}`, type: 'build', payload: { i }, backoffSeconds: 3_600 })))
  for (let i = 0; i < 3; i++) await client.enqueue({ type: 'mail', payload: i, backoffSeconds: 3_600 })
  await createClient({ url: server.url, token, queue: 'other' }).enqueue({ type: 'mail', payload: 'between' })
  const claims = await client.claim({ agentId: 'w', max: 5 })
  for (const { task, lease } of claims) await client.fail(task.id, { agentId: 'w', token: lease.token, error: 'no' })
})
afterAll(async () => {
  await client.close()
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

const verify = (...args: ReadonlyArray<string>): Promise<Ended> => runHere(['audit', 'verify', ...args], { DAYBOOK_URL: server.url, DAYBOOK_TOKEN: token, DAYBOOK_QUEUE: 'q', NO_COLOR: '1' })

let copies = 0
/** A copy of the log, altered by these statements. */
const altered = (...statements: ReadonlyArray<string>): string => {
  const copy = join(dir, `copy${++copies}.sqlite`)
  const source = new Database(file, { readonly: true })
  source.exec(`VACUUM INTO '${copy}'`)
  source.close()
  const db = new Database(copy)
  for (const statement of statements) db.exec(statement)
  db.close()
  return copy
}
const where = (revision: number): string => `WHERE stream = 'taskqueue-q' AND revision = ${revision}`

test('EV-07: a whole log, by the server, by the client and from the file, while the server runs', async () => {
  const { revision } = await client.state()
  const online = await verify('--json')
  expect(online.code).toBe(0)
  const verdict = JSON.parse(online.out) as { readonly head: { readonly hash: string } }
  expect(verdict).toEqual({ ok: true, events: revision + 1, head: { revision, hash: expect.stringMatching(/^[\w-]{43}$/) }, begins: 0 })
  expect(await client.verify()).toEqual(verdict)
  expect(JSON.parse((await verify('--data', dataDir, '--json')).out)).toEqual(verdict)
  expect((await verify('--store', file)).out).toBe(`ok  ${revision + 1} events, revision ${revision}, hash ${verdict.head.hash}\n`)
  copyFileSync(altered(), join(dir, 'plain.sqlite'))
  expect(JSON.parse((await verify('--store', join(dir, 'plain.sqlite'), '--json')).out)).toEqual(verdict)
})

test('EV-07: --all verifies every queue, also one that is signed and no longer in the log', async () => {
  const shown = await verify('--data', dataDir, '--all')
  expect(shown).toMatchObject({ code: 0, out: expect.stringMatching(/^ok {2}other: 1 event, .*\nok {2}q: \d+ events, .*\n$/) as string })
  expect((await verify('--all')).out).toBe(shown.out)
  const copy = altered(`UPDATE events SET data = replace(data, '"type":"mail"', '"type":"post"') WHERE stream = 'taskqueue-other'`)
  const found = await verify('--store', copy, '--all', '--json')
  expect(found.code).toBe(1)
  expect(JSON.parse(found.out)).toMatchObject({ ok: false, queues: [{ queue: 'other', ok: false, broken: { kind: 'altered', revision: 0 } }, { queue: 'q', ok: true }] })
  expect((await verify('--store', copy, '--all')).out).toMatch(/^NOT WHOLE {2}other: altered: revision 0 is not .*\nok {2}q: /)

  const folder = join(dir, 'signed')
  mkdirSync(join(folder, 'checkpoints'), { recursive: true })
  copyFileSync(altered(), join(folder, 'daybook.sqlite'))
  writeFileSync(join(folder, 'checkpoints', 'gone.tree'), '')
  expect(await verify('--data', folder, '--all')).toMatchObject({ code: 1, out: expect.stringContaining('NOT VERIFIED  gone: ') as string })
  expect(await verify('--data', dataDir, '--all', '--checkpoints', 'x')).toMatchObject({ code: 2 })
  expect(await verify('--store', copy, '--queue', 'nope')).toMatchObject({ code: 1, err: expect.stringContaining('there is no queue nope in this log; --queue names one of: other, q') as string })
})

test('EV-07: an altered, missing, moved or inserted row is named, and the exit code is 1', async () => {
  const found = async (...statements: ReadonlyArray<string>): Promise<unknown> => {
    const { code, out } = await verify('--store', altered(...statements), '--json')
    expect(code).toBe(1)
    const { ok, broken } = JSON.parse(out) as { readonly ok: boolean; readonly broken: object }
    expect(ok).toBe(false)
    return broken
  }
  expect(await found(`UPDATE events SET data = replace(data, '"i":7', '"i":8') ${where(7)}`)).toMatchObject({ kind: 'altered', revision: 7 })
  expect(await found(`UPDATE events SET metadata = replace(metadata, '"actor":"admin"', '"actor":"nobody"') ${where(31)}`)).toMatchObject({ kind: 'altered', revision: 31 })
  expect(await found(`DELETE FROM events ${where(12)}`)).toMatchObject({ kind: 'missing', revision: 12 })
  // A blob with the same bytes: the server answers with an error when it reads such an event.
  for (const column of ['id', 'type', 'data', 'metadata']) {
    expect(await found(`UPDATE events SET ${column} = CAST(${column} AS BLOB) ${where(7)}`), column).toMatchObject({ kind: 'altered', revision: 7 })
  }
  // With its traces removed: all later events move up.
  expect(await found(
    `DELETE FROM events ${where(12)}`,
    `UPDATE events SET revision = revision - 1 WHERE stream = 'taskqueue-q' AND revision > 12`,
    `UPDATE streams SET revision = revision - 1 WHERE stream = 'taskqueue-q'`,
  )).toMatchObject({ kind: 'missing', revision: 12 })
  expect(await found(
    `UPDATE events SET position = -1 WHERE stream = 'taskqueue-q' AND revision = 3`,
    `UPDATE events SET position = 4, revision = 3 WHERE stream = 'taskqueue-q' AND revision = 9`,
    `UPDATE events SET position = 10, revision = 9 WHERE position = -1`,
  )).toMatchObject({ kind: 'reordered', revision: 3 })
  expect(await found(`UPDATE events SET revision = 40 ${where(20)}`)).toMatchObject({ kind: 'missing', revision: 20 })
  expect(await found(`DELETE FROM events WHERE stream = 'taskqueue-q' AND revision > 33`)).toMatchObject({ kind: 'missing', revision: 34 })
  expect(await found(`INSERT INTO events (position, stream, revision, id, type, data, metadata, created) SELECT position + 1000, stream, revision, 'twice', type, data, metadata, created FROM events ${where(3)}`)).toMatchObject({ kind: 'inserted', revision: 3 })
  const people = await verify('--store', altered(`UPDATE events SET type = 'Completed' ${where(5)}`))
  expect(people.out).toBe('NOT WHOLE  altered: revision 5 is not the event that was appended there\n')
})

test('EV-07: an event that somebody added without a hash is told of also after the next append sealed it', async () => {
  const folder = join(dir, 'added')
  const own = { host: '127.0.0.1', port: 0, dataDir: folder, store: { kind: 'sqlite', file: join(folder, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', checkpoints: 'off' } as const
  const append = async (id: string): Promise<void> => {
    const running = await serve(own)
    const other = createClient({ url: running.url, queue: 'q' })
    await other.enqueue({ id, type: 'mail', payload: id })
    await other.close()
    await running.close()
  }
  await append('a')
  const db = new Database(own.store.file)
  const last = db.prepare<[], { revision: number }>(`SELECT max(revision) AS revision FROM events WHERE stream = 'taskqueue-q'`).get()!.revision
  const rest = db.prepare<[], { metadata: string }>(`SELECT metadata FROM events ${where(last)}`).get()!.metadata.replace(/,"chain":.*/, '}')
  db.prepare(`INSERT INTO events SELECT position + 1, stream, revision + 1, '00000000-0000-4000-8000-000000000001', 'QueueConfigured', '{"patch":{}}', ?, created FROM events ${where(last)}`).run(rest)
  db.exec(`UPDATE streams SET revision = revision + 1, position = position + 1 WHERE stream = 'taskqueue-q'`)
  db.close()
  const added = last + 1
  expect(JSON.parse((await verify('--data', folder, '--json')).out)).toMatchObject({ ok: true, unsealed: { from: added, to: added } })
  await append('b')
  const { code, out } = await verify('--data', folder, '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ ok: true, sealedLater: { events: 1, from: added, to: added } })
  expect((await verify('--data', folder)).out).toContain(`1 event had no hash until a later append: revision ${added}. An older server wrote`)
})

test('EV-07: another queue in the same file is not concerned; one that is not there is refused', async () => {
  const copy = altered(`UPDATE events SET data = '{}' ${where(5)}`)
  expect((await verify('--store', copy, '--queue', 'other')).code).toBe(0)
  expect(await verify('--store', copy, '--queue', 'none')).toMatchObject({ code: 1, err: expect.stringContaining('no queue none') })
  expect(await verify('--store', join(dir, 'none.sqlite'))).toMatchObject({ code: 1, err: expect.stringContaining('is not there') })
  expect(await verify('--queue', 'unused')).toMatchObject({ code: 1, err: expect.stringContaining('queue unused has no events on this server') })
  expect(await createClient({ url: server.url, token, queue: 'unused' }).verify()).toEqual({ ok: true, events: 0, head: { revision: -1, hash: null }, begins: null })
})

test('EV-07: a log that is altered behind the server is found by the server', async () => {
  const db = new Database(file)
  try {
    const { data } = db.prepare<[], { data: string }>(`SELECT data FROM events ${where(2)}`).get()!
    db.prepare(`UPDATE events SET data = ? ${where(2)}`).run(data.replace('build', 'guild'))
    expect((await verify('--json')).code).toBe(1)
    expect((await client.verify()).broken).toMatchObject({ kind: 'altered', revision: 2 })
    db.prepare(`UPDATE events SET data = ? ${where(2)}`).run(data)
    expect((await verify()).code).toBe(0)
  } finally {
    db.close()
  }
})
