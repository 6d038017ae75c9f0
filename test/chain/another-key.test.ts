/** EV-07: all checkpoints of a queue are signed by one key. */
import type { KeyObject } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Checkpointer, openSigningKey, readCheckpoints, signerOf, verifierKey, verifyScan } from '@daybook/adapters/chain'
import { createClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import { afterAll, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { until } from '../support/queue.js'
import { newLog, stream } from './logs.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-another-key-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
let folders = 0
const newFolder = (): string => join(dir, `folder${++folders}`)

test('EV-07: another key signs nothing of a queue that was signed, with or without the public key; the first key goes on', async () => {
  const folder = newFolder()
  const { store, grow } = await newLog([3])
  const key = openSigningKey(join(dir, 'key.pem'))
  const otherKey = openSigningKey(join(dir, 'other.pem'))
  const of = (signing: KeyObject, warnings: Array<string> = []): Checkpointer =>
    new Checkpointer({ log: store, stream, queue: 'q', folder, key: signing, signer: signerOf(signing, 'q'), warn: (text) => void warnings.push(text) })
  await of(key).round()
  await grow(2)
  const publicKey = readFileSync(join(folder, 'q.key'))
  for (const hasKey of [true, false]) {
    if (!hasKey) rmSync(join(folder, 'q.key'))
    const warnings: Array<string> = []
    const other = of(otherKey, warnings)
    await other.round()
    await other.round()
    expect(warnings).toEqual([expect.stringContaining(`signed so far by another key: restore checkpoint-key.pem from a backup, or move the files of the queue in ${folder} away`)])
    expect(other.status.problem).toContain('signed so far by another key')
  }
  writeFileSync(join(folder, 'q.key'), publicKey)
  expect((await readCheckpoints(folder, 'q'))?.notes).toHaveLength(1)
  await of(key).round()
  expect(await verifyScan(stream, { head: await store.head(stream), pages: store.read(stream) }, { checkpoints: await readCheckpoints(folder, 'q') })).toMatchObject({ ok: true, checkpoint: { size: 5, count: 2 } })
})

test('EV-07: a public key that is torn, or that signed nothing, is written anew', async () => {
  const folder = newFolder()
  const { store, grow } = await newLog([3])
  const key = openSigningKey(join(dir, 'key.pem'))
  mkdirSync(folder)
  for (const text of [`${verifierKey(signerOf(openSigningKey(join(dir, 'other.pem')), 'q'))}\n`, '']) {
    writeFileSync(join(folder, 'q.key'), text)
    await grow(1)
    await new Checkpointer({ log: store, stream, queue: 'q', folder, key, signer: signerOf(key, 'q'), warn: () => undefined }).round()
    expect(readFileSync(join(folder, 'q.key'), 'utf8')).toBe(`${verifierKey(signerOf(key, 'q'))}\n`)
  }
  expect((await readCheckpoints(folder, 'q'))?.notes).toHaveLength(2)
})

test('EV-07: a server whose key is another one says so in /readyz and metrics, and so does the doctor; the log and its backups stay whole', async () => {
  const dataDir = newFolder()
  const options = { host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', checkpoints: { everyMs: 20 } } as const
  const server = await serve(options)
  await createClient({ url: server.url, queue: 'q' }).enqueue({ type: 'mail', payload: 1 })
  await until(async () => (await readCheckpoints(join(dataDir, 'checkpoints'), 'q')) !== undefined)
  await server.close()
  const doctor = () => runHere(['doctor', '--data', dataDir], { NO_COLOR: '1' })
  rmSync(join(dataDir, 'checkpoint-key.pem'))
  expect(await doctor()).toMatchObject({ code: 0, out: expect.stringMatching(/note .*checkpoint-key\.pem: is missing, and checkpoints of q were signed/) })
  const again = await serve(options)
  await createClient({ url: again.url, queue: 'q' }).enqueue({ type: 'mail', payload: 2 })
  const textOf = async (path: string): Promise<string> => (await fetch(`${again.url}${path}`)).text()
  await until(async () => (await textOf('/readyz')).includes('signed so far by another key'))
  expect(await textOf('/metrics')).toContain('daybook_checkpoints_failing{queue="q"} 1')
  await again.close()
  expect(await doctor()).toMatchObject({ code: 1, out: expect.stringMatching(/BAD +queue q: signed so far by another key/) })
  expect(await runHere(['audit', 'verify', '--data', dataDir, '--queue', 'q'], { NO_COLOR: '1' })).toMatchObject({ code: 0 })
  expect(await runHere(['backup', join(dir, 'other-key'), '--data', dataDir], { NO_COLOR: '1' })).toMatchObject({ code: 0 })
})
