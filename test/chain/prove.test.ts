/** EV-07: proofs for those who have no log: an event is in it, and it begins with what was signed before. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openNote, readCheckpoint, readCheckpoints, type SignedCheckpoints } from '@daybook/adapters/chain'
import { createClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ended, runHere } from '../cli/program.js'
import { until } from '../support/queue.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-prove-'))
const dataDir = join(dir, 'data')
let signed: SignedCheckpoints

beforeAll(async () => {
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', checkpoints: { everyMs: 20 } })
  const client = createClient({ url: server.url, queue: 'q' })
  const sizes = async (): Promise<number> => (await readCheckpoints(join(dataDir, 'checkpoints'), 'q'))?.notes.length ?? 0
  await client.enqueueAll(Array.from({ length: 7 }, (_, i) => ({ id: `t${i}`, type: 'mail', payload: { i } })))
  await until(async () => (await sizes()) > 0)
  await client.enqueueAll(Array.from({ length: 5 }, (_, i) => ({ id: `u${i}`, type: 'mail', payload: { u: i } })))
  await until(async () => (await sizes()) > 1)
  await server.close()
  signed = (await readCheckpoints(join(dataDir, 'checkpoints'), 'q'))!
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const audit = (...args: ReadonlyArray<string>): Promise<Ended> => runHere(['audit', ...args], { NO_COLOR: '1' })
const key = join(dataDir, 'checkpoints', 'q.key')
const prove = async (name: string, ...args: ReadonlyArray<string>): Promise<string> => {
  const { code, out, err } = await audit('prove', '--data', dataDir, '--queue', 'q', ...args)
  expect([code, err]).toEqual([0, ''])
  const file = join(dir, name)
  writeFileSync(file, out)
  return file
}
const check = (file: string, ...args: ReadonlyArray<string>): Promise<Ended> => audit('check', file, '--checkpoint-key', key, ...args)
let forgeries = 0
/** The file with another text in place of the first that matches. */
const forged = (file: string, from: RegExp, to: string): string => {
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(from)
  const other = `${file}.forged${++forgeries}`
  writeFileSync(other, text.replace(from, to))
  return other
}

test('EV-07: an event is proven with the key alone; another event, place, path or checkpoint is not', async () => {
  for (const revision of [0, 6, 7, 11]) {
    const file = await prove(`${revision}.tlog-proof`, '--revision', String(revision))
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^c2sp.org/tlog-proof@v1\\nextra \\S+\\nindex ${revision}\\n`))
    const { code, out } = await check(file)
    expect(code).toBe(0)
    expect(out).toContain(`ok  event ${revision} of the 12 that daybook-`)
    expect(out).toContain(`"task":"${revision < 7 ? `t${revision}` : `u${revision - 7}`}"`)
  }
  const file = join(dir, '6.tlog-proof')
  expect(JSON.parse((await check(file, '--json')).out)).toMatchObject({ ok: true, kind: 'inclusion', index: 6, size: 12 })
  const other = /^extra (\S+)$/m.exec(readFileSync(join(dir, '7.tlog-proof'), 'utf8'))![1]!
  for (const wrong of [forged(file, /extra \S+/, `extra ${other}`), forged(file, /index 6/, 'index 5'), forged(file, /(index 6\n)\S+\n/, '$1'), forged(file, /\n12\n/, '\n13\n')]) {
    expect(await check(wrong)).toMatchObject({ code: 1, out: expect.stringContaining('NOT PROVEN') })
  }
  // What a shell leaves of a command that failed, and another file.
  for (const [text, why] of [['', 'the file is empty: was daybook audit prove refused?'], ['a\n\nb\n', 'it is no proof: daybook audit prove prints one']] as const) {
    writeFileSync(join(dir, 'none'), text)
    expect(await check(join(dir, 'none'))).toMatchObject({ code: 1, out: `NOT PROVEN  ${why}\n` })
  }
  expect((await audit('prove', '--data', dataDir, '--queue', 'q', '--revision', '12')).err).toContain('revision 12 is in no checkpoint yet: the newest is of 12 events. A server signs one every minute, and when it stops')
  expect(await audit('prove', '--data', dataDir, '--queue', 'q')).toMatchObject({ code: 2 })
})

test('EV-07: of a log that was altered there is no proof, neither of an event nor of its beginning', async () => {
  const store = join(dir, 'altered.sqlite')
  const source = new Database(join(dataDir, 'daybook.sqlite'), { readonly: true })
  source.exec(`VACUUM INTO '${store}'`)
  source.close()
  const db = new Database(store)
  db.exec(`UPDATE events SET data = replace(data, '"task":"t3"', '"task":"x3"') WHERE stream = 'taskqueue-q' AND revision = 3`)
  db.close()
  for (const args of [['--revision', '5'], ['--since', '7'], ['--since', '12']]) {
    expect(await audit('prove', '--store', store, '--data', dataDir, '--queue', 'q', ...args), args.join(' ')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('run daybook audit verify') })
  }
})

test('EV-07: a log is proven to begin with what was signed before', async () => {
  const older = join(dir, 'older')
  writeFileSync(older, signed.notes[0]!)
  const { size } = readCheckpoint(openNote(signed.notes[0]!, signed.signer)!)!
  expect(size).toBe(7)
  const file = await prove('since', '--since', String(size))
  expect(await check(file, '--older', older)).toMatchObject({ code: 0, out: 'ok  the log of 12 events begins with the 7 of the older checkpoint\n' })
  // The file of a server or a witness has all checkpoints, each with an empty line after it.
  const all = join(dataDir, 'checkpoints', 'q.checkpoints')
  expect(await check(file, '--older', all)).toMatchObject({ code: 0 })
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n`)
  expect(await check(file, '--older', all)).toMatchObject({ code: 0 })
  expect((await check(file)).out).toContain('--older')
  expect((await check(forged(file, /(old 7\n)\S+\n/, '$1'), '--older', older)).out).toContain('does not begin with')
  expect((await check(forged(file, /old 7/, 'old 6'), '--older', older)).out).toContain('it is about 6 events')
  expect((await check(forged(file, /old 7/, 'old seven'), '--older', older)).out).toContain('does not say of how many events')
  expect((await check(file, '--older', forged(older, /\n7\n/, '\n6\n'))).out).toContain('the older checkpoint is not signed')
})
