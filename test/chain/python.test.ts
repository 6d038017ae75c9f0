/** EV-07: a verifier in another language, by the documented rules alone, agrees. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/queue.js'

const script = fileURLToPath(new URL('../../scripts/verify-log.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('python3 is not there: the independent verifier of the log is not tested')

const dir = mkdtempSync(join(tmpdir(), 'daybook-python-'))
const dataDir = join(dir, 'data')
const file = join(dataDir, 'daybook.sqlite')
let hash: string | null

beforeAll(async () => {
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file, sharing: 'exclusive' }, auth: 'off', checkpoints: { everyMs: 20 } })
  const client = createClient({ url: server.url, queue: 'q' })
  await client.enqueueAll(Array.from({ length: 30 }, (_, i) => ({ id: `t${i}`, type: 'build', payload: { i, text: 'é€😀' } })))
  for (const { task, lease } of await client.claim({ agentId: 'w', max: 5 })) await client.fail(task.id, { agentId: 'w', token: lease.token, error: 'no' })
  ;({ hash } = (await client.verify()).head)
  await until(() => existsSync(checkpoints))
  await server.close()
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const checkpoints = join(dataDir, 'checkpoints', 'q.checkpoints')
const key = join(dataDir, 'checkpoints', 'q.key')
const python = (log: string, ...more: ReadonlyArray<string>): { readonly code: number | null; readonly out: string; readonly err: string } => {
  const { status, stdout, stderr } = spawnSync('python3', [script, log, '--queue', 'q', ...more], { encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}
let copies = 0
const altered = (statements: string): string => {
  const copy = join(dir, `copy${++copies}.sqlite`)
  const source = new Database(file, { readonly: true })
  source.exec(`VACUUM INTO '${copy}'`)
  source.close()
  const db = new Database(copy)
  db.exec(statements)
  db.close()
  return copy
}
const where = (revision: number): string => `WHERE stream = 'taskqueue-q' AND revision = ${revision}`

test.skipIf(!hasPython)('EV-07: the verifier in Python finds the same hash, and the checkpoints signed', () => {
  const { code, out, err } = python(file, '--checkpoints', checkpoints, '--key', key)
  expect(err).toBe('')
  expect(code).toBe(0)
  const verdict = JSON.parse(out) as { readonly events: number }
  expect(verdict).toMatchObject({ ok: true, begins: 0, head: { hash, revision: verdict.events - 1 }, covered: verdict.events, signed: verdict.events })
})

test.skipIf(!hasPython)('EV-07: the verifier in Python names what was altered, missing, cut or not signed', () => {
  const reason = (log: string, ...more: ReadonlyArray<string>): string => {
    const { code, out } = python(log, ...more)
    expect(code).toBe(1)
    return (JSON.parse(out) as { readonly reason: string }).reason
  }
  expect(reason(altered(`UPDATE events SET data = replace(data, '"i":7', '"i":8') ${where(7)}`))).toBe('revision 7 is not what was appended there')
  expect(reason(altered(`UPDATE events SET metadata = replace(metadata, '"actor":"', '"actor":"x') ${where(31)}`))).toContain('31')
  const db = new Database(file, { readonly: true })
  const { metadata } = db.prepare<[], { metadata: string }>(`SELECT metadata FROM events ${where(29)}`).get()!
  db.close()
  const otherHash = metadata.replace(/"hash":"(.)/, (_, first) => `"hash":"${first === 'A' ? 'B' : 'A'}`)
  expect(reason(altered(`UPDATE events SET metadata = '${otherHash}' ${where(29)}`))).toBe('some event up to revision 29, or its hash, was altered: the hash in the metadata of revision 29 does not fit')
  expect(reason(altered(`DELETE FROM events ${where(12)}`))).toContain('revision 12 is missing')
  const end = (statement: string): string => altered(`UPDATE streams SET revision = ${statement} WHERE stream = 'taskqueue-q'`)
  expect(reason(end('revision + 5'))).toContain('its end was cut off')
  expect(reason(end('revision - 5'))).toContain('the table was altered')
  expect(reason(altered(`DELETE FROM streams WHERE stream = 'taskqueue-q'`))).toContain('the last revision is -1')
  const deleted = `DELETE FROM events WHERE stream = 'taskqueue-q' AND revision > 29`
  expect(reason(altered(deleted))).toContain('and the log has 30 events: its end was cut off')
  const cut = altered(`${deleted}; UPDATE streams SET revision = 29 WHERE stream = 'taskqueue-q'`)
  expect(python(cut).code).toBe(0)
  expect(reason(cut, '--checkpoints', checkpoints, '--key', key)).toContain('its end was cut off')
  const forged = join(dir, 'forged')
  writeFileSync(forged, readFileSync(checkpoints, 'utf8').replace(/\n(\d+)\n/, '\n3\n'))
  expect(reason(file, '--checkpoints', forged, '--key', key)).toContain('is not signed by daybook-')
  // What is no checkpoint of this log proves nothing.
  for (const [name, text, why] of [['none of it', 'no checkpoint\n', 'no signed checkpoint'], ['torn', readFileSync(checkpoints, 'utf8').trimEnd().slice(0, -90), 'no signed checkpoint'], ['empty', '', 'no checkpoint of daybook-']] as const) {
    writeFileSync(join(dir, name), text)
    expect(reason(file, '--checkpoints', join(dir, name), '--key', key), name).toContain(why)
  }
  for (const column of ['id', 'type', 'data', 'metadata']) expect(reason(altered(`UPDATE events SET ${column} = CAST(${column} AS BLOB) ${where(7)}`)), column).toContain('revision 7')
  expect(reason(altered(`UPDATE events SET data = CAST(x'ff' AS TEXT) ${where(7)}`))).toBe('revision 7 is not what was appended there')
  // The texts that the seal hashes are the same: only the seal is written in another way.
  for (const [way, text] of [['a line break after it', 'metadata || char(10)'], ['a leading zero', `replace(metadata, '"from":0', '"from":00')`]] as const) {
    expect(reason(altered(`UPDATE events SET metadata = ${text} ${where(29)}`)), way).toContain('some event up to revision')
  }
  expect(python(join(dir, 'none')).code).toBe(2)
})
