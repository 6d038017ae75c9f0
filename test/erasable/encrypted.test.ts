/** EV-07: what tasks of an erasable queue contain is in the log encrypted, and nowhere else; whoever has the keys reads it as always. */
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { until } from '../support/queue.js'
import { bytesIn, filesWith, liveThrough, logFile, type Started, startServer, token, written } from './support.js'

/** One word, as an index of words has it. */
const secret = 'xanthippe'
const dir = mkdtempSync(join(tmpdir(), 'daybook-encrypted-'))
const data = join(dir, 'data')
let started: Started

beforeAll(async () => {
  started = await startServer(data)
  await started.client.settings.patch({ erasable: true })
  await liveThrough(started.client, 'a', secret)
})
afterAll(async () => {
  await started.stop()
  rmSync(dir, { recursive: true, force: true })
})

const audit = (...args: ReadonlyArray<string>) => runHere(['audit', ...args], { DAYBOOK_QUEUE: 'q', NO_COLOR: '1' })

test('EV-07: the server shows everything as of any other queue', async () => {
  const { client } = started
  expect(await client.task('a')).toMatchObject({ payload: { to: `amended ${secret}` }, description: `description ${secret}`, metadata: { note: `metadata ${secret}` } })
  expect((await client.result('a')).result).toMatchObject({ output: `output ${secret}` })
  const history = JSON.stringify(await client.history('a'))
  for (const what of written) expect(history).toContain(`${what} ${secret}`)
  const events = JSON.stringify((await client.events({})).events)
  for (const what of written) expect(events).toContain(`${what} ${secret}`)
})

test('EV-07: only the user of the server may read the keys', () => {
  const files = readdirSync(data).filter((name) => name.includes('.keys'))
  expect(files.length).toBeGreaterThan(0)
  for (const name of files) expect(statSync(join(data, name)).mode & 0o077, name).toBe(0)
})

test('EV-07: and past moments too, in which a task was not finished yet', async () => {
  const { client } = started
  const history = await client.history('a')
  const failed = history.find(({ type }) => type === 'Failed')
  const past = await client.at({ revision: failed?.revision ?? -1 }).task('a')
  expect(past).toMatchObject({ payload: { to: `amended ${secret}` }, checkpoint: { done: `checkpoint ${secret}` } })
})

test('EV-07: an export shows it as well, with a server and without, byte for byte', async () => {
  const withServer = await runHere(['audit', 'export'], { DAYBOOK_URL: started.server.url, DAYBOOK_TOKEN: token, DAYBOOK_QUEUE: 'q', NO_COLOR: '1' })
  const without = await audit('export', '--data', data)
  expect(without).toMatchObject({ code: 0 })
  for (const what of written) expect(without.out).toContain(`${what} ${secret}`)
  expect(without.out).toBe(withServer.out)
})

test('EV-07: nothing of it is in any file in the clear: log, snapshots, read models, memories, queue files', async () => {
  const { client } = started
  const { revision } = await client.state()
  await client.readModels({ atLeast: revision })
  await until(() => [...bytesIn(join(data, 'queues'))].some(([, bytes]) => bytes.includes(`"revision":${revision}`)))
  expect(filesWith(data, secret)).toEqual([])
  await started.stop()
  expect(filesWith(data, secret)).toEqual([])
  // The search finds what is there.
  expect(filesWith(data, 'a new address')).toContain('daybook.sqlite')
  started = await startServer(data)
  expect(JSON.stringify(await started.client.history('a'))).toContain(`output ${secret}`)
  expect(filesWith(data, secret)).toEqual([])
})

describe('EV-07: without a server', () => {
  test('the log is whole, and read with its keys', async () => {
    expect(JSON.parse((await audit('verify', '--data', data, '--json')).out)).toMatchObject({ ok: true })
    const exported = await audit('export', '--data', data)
    for (const what of written) expect(exported.out).toContain(`${what} ${secret}`)
  })

  test('a backup is read with its keys, and not a byte of it changes: it may be on a read-only disk', async () => {
    const copy = join(dir, 'backup')
    expect(await runHere(['backup', copy, '--data', data], { NO_COLOR: '1' })).toMatchObject({ code: 0 })
    const files = (): ReadonlyArray<readonly [string, string]> =>
      readdirSync(copy, { withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => [name, createHash('sha256').update(readFileSync(join(copy, name))).digest('hex')])
    const before = files()
    expect(before.map(([name]) => name)).toContain('daybook.sqlite.keys')
    const exported = await audit('export', '--data', copy)
    for (const what of written) expect(exported.out).toContain(`${what} ${secret}`)
    expect(files()).toEqual(before)
  })

  test('a copy without its keys is whole as well, and says what it lacks', async () => {
    const copy = join(dir, 'copy.sqlite')
    await started.stop()
    cpSync(logFile(data), copy)
    started = await startServer(data)
    expect(JSON.parse((await audit('verify', '--store', copy, '--json')).out)).toMatchObject({ ok: true })
    const exported = await audit('export', '--store', copy)
    expect(exported.out).not.toContain(secret)
    expect(exported.out).toContain('{"withheld":"key-missing"}')
  })
})

test('EV-07: a task that was enqueued before goes on in the clear if the setting is off, and is encrypted from then on if it is on', async () => {
  const { client } = started
  const other = createClient({ url: started.server.url, token, queue: 'other' })
  await other.enqueue({ id: 'b', type: 't', payload: 'open-payload' })
  await other.settings.patch({ erasable: true, decisionReport: 'optional' })
  const [claim] = await other.claim({ agentId: 'ann' })
  expect(claim?.task.payload).toBe('open-payload')
  await other.complete('b', { agentId: 'ann', token: claim?.lease.token ?? 0, result: { output: 'closed-output' } })
  await other.enqueue({ id: 'c', type: 't', payload: 'closed-payload' })
  await other.settings.patch({ erasable: false })
  const [next] = await other.claim({ agentId: 'ann' })
  await other.complete('c', { agentId: 'ann', token: next?.lease.token ?? 0, result: { output: 'closed-as-well' } })
  await other.enqueue({ id: 'd', type: 't', payload: 'open-again' })
  expect(filesWith(data, 'open-payload')).not.toEqual([])
  expect(filesWith(data, 'open-again')).not.toEqual([])
  for (const closed of ['closed-output', 'closed-payload', 'closed-as-well']) expect(filesWith(data, closed)).toEqual([])
  expect((await other.result('c')).result).toMatchObject({ output: 'closed-as-well' })
  await other.close()
  expect(await client.task('a')).toMatchObject({ id: 'a' })
})
