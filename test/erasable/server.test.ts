/** EV-07: erasing over HTTP and on the command line, with a server that makes every copy there is. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import { KeyFile } from '@daybook/adapters/task-keys'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { bytesIn, filesWith, liveThrough, logFile, type Started, startServer, token, written } from './support.js'

let dir = ''
let started: Started | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-erasing-'))
})
afterEach(async () => {
  await started?.stop()
  started = undefined
  rmSync(dir, { recursive: true, force: true })
})

const daybook = (url: string, ...args: ReadonlyArray<string>) => runHere(args, { DAYBOOK_URL: url, DAYBOOK_TOKEN: token, DAYBOOK_QUEUE: 'q', NO_COLOR: '1' })
const filesWithKey = (key: Buffer): ReadonlyArray<string> => [...bytesIn(dir)].filter(([, bytes]) => bytes.includes(key)).map(([name]) => name)

test('EV-07: enqueue, complete, erase, restart: the text and its key are in no file, the log is whole, the history says what happened', async () => {
  const secret = 'xanthippe'
  started = await startServer(dir)
  await started.client.settings.patch({ erasable: true })
  await liveThrough(started.client, 'a', secret)
  await liveThrough(started.client, 'b', 'aspasia')
  const keys = new KeyFile(`${logFile(dir)}.keys`)
  const [gone, kept] = ['a', 'b'].map((id) => (keys.newestOf('q', id) as { readonly key: Buffer }).key) as [Buffer, Buffer]
  keys.close()
  expect(filesWithKey(gone)).not.toEqual([])
  const { revision } = await started.client.state()

  const erased = await daybook(started.server.url, 'erase', 'a', '--reason', 'request 2026-118')
  expect(erased).toEqual({ code: 0, out: 'a is erased: nobody can read any more what it contained\n', err: '' })

  const check = async ({ client, server }: Started): Promise<void> => {
    expect(filesWith(dir, secret)).toEqual([])
    expect(filesWithKey(gone)).toEqual([])
    expect(filesWithKey(kept)).not.toEqual([])
    expect(await client.verify()).toMatchObject({ ok: true })
    expect(JSON.parse((await runHere(['audit', 'verify', '--data', dir, '--json'], { DAYBOOK_QUEUE: 'q' })).out)).toMatchObject({ ok: true })
    const history = await client.history('a')
    expect(history.at(-1)).toMatchObject({ type: 'TaskErased', actor: expect.any(String) as string, data: { task: 'a', reason: 'request 2026-118' } })
    expect(history.filter(({ data }) => JSON.stringify(data).includes('{"withheld":"erased"}')).length).toBeGreaterThan(6)
    const shown = await client.task('a')
    const { at, actor } = history.at(-1) as (typeof history)[number]
    expect(shown).toMatchObject({ status: 'completed', withheld: 'erased', type: 'letter', erased: { at, actor, reason: 'request 2026-118' } })
    expect(JSON.parse((await daybook(server.url, 'show', 'a', '--json')).out)).toMatchObject({ withheld: 'erased', erased: shown.erased })
    expect((await daybook(server.url, 'show', 'a')).out).toMatch(/^content +erased \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* \(\d+[sm] ago\) by \S.*: request 2026-118$/m)
    expect(shown).not.toHaveProperty('payload')
    expect(shown).not.toHaveProperty('result')
    expect(await client.result('a')).toEqual({ status: 'completed' })
    // It was not erased then, but nobody can read it any more.
    const then = await client.at({ revision }).task('a')
    expect(then).toMatchObject({ withheld: 'erased' })
    expect(then).not.toHaveProperty('erased')
    expect(await client.task('b')).not.toHaveProperty('erased')
    const everything = [JSON.stringify(history), JSON.stringify((await client.events({})).events), JSON.stringify(await client.state()), (await runHere(['audit', 'export', '--data', dir], { DAYBOOK_QUEUE: 'q' })).out]
    for (const text of everything) expect(text).not.toContain(secret)
    expect((await daybook(server.url, 'history', 'a')).out).toContain('TaskErased')
    const other = JSON.stringify(await client.history('b'))
    for (const what of written) expect(other).toContain(`${what} aspasia`)
    await expect(client.restart('a', 'once more')).rejects.toMatchObject({ code: 'wrong-state', message: expect.stringContaining('erased') as string })
  }
  await check(started)
  await started.stop()
  started = await startServer(dir)
  await check(started)
})

test('EV-07, INV-26: a past moment of an erasable queue is answered as it was then: without texts of errors, before and after the task is erased', async () => {
  started = await startServer(dir)
  const { client, server } = started
  const secret = 'no mailbox xanthippe'
  await client.settings.patch({ erasable: true })
  await client.enqueueAll([{ id: 'a', type: 'letter', payload: { to: 'x' } }])
  const [claim] = await client.claim({ agentId: 'w', max: 1 })
  await client.fail('a', { agentId: 'w', token: claim!.lease.token, error: secret, retryable: false })
  const { revision } = await client.state()
  const then = client.at({ revision })
  const answers = async (from: Pick<typeof then, 'task' | 'state' | 'deadLetters'>): Promise<ReadonlyArray<unknown>> => [(await from.task('a')).lastError, (await from.state()).tasks[0]?.lastError, (await from.deadLetters.list({ error: 'mailbox' })).tasks]
  const now = await answers(client)
  expect(now).toEqual([expect.stringMatching(/^withheld: /), expect.stringMatching(/^withheld: /), []])
  expect(await answers(then)).toEqual(now)
  const offline = await runHere(['audit', 'state', '--data', dir, '--revision', String(revision), '--json'], { DAYBOOK_QUEUE: 'q' })
  expect(offline.out).toContain('"a"')
  expect(offline.out).not.toContain(secret)
  await client.deadLetters.discard('a', { reviewer: 'ada', reason: 'r' })
  expect((await daybook(server.url, 'erase', 'a', '--reason', 'r')).code).toBe(0)
  expect(await answers(then)).toEqual(now)
})

test('EV-07: an export with an erased task is one that folds', async () => {
  started = await startServer(dir)
  const { client } = started
  await client.settings.patch({ erasable: true })
  await liveThrough(client, 'a', 'xanthippe')
  await client.erase('a', 'r')
  const out = join(dir, 'export.ndjson')
  expect((await runHere(['audit', 'export', '--data', dir, '--out', out], { DAYBOOK_QUEUE: 'q' })).code).toBe(0)
  const replayed = await runHere(['audit', 'replay', out], {})
  expect([replayed.code, replayed.err]).toEqual([0, ''])
})

test('EV-07: in a queue that is not erasable, the command line says why, and what to do for later tasks', async () => {
  started = await startServer(dir)
  await started.client.enqueue({ id: 'a', type: 't' })
  await started.client.cancel('a', 'no')
  const refused = await daybook(started.server.url, 'erase', 'a', '--reason', 'r')
  expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/^daybook: wrong-state: a was enqueued while the queue was not erasable: .*settings set erasable=true/) as string })
  expect((await daybook(started.server.url, 'erase', 'a')).code).toBe(2)
})

test('EV-07: a server that starts without the file of keys says so before its tasks become dead letters, and is silent otherwise', async () => {
  const said: Array<string> = []
  const start = () => serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: logFile(dir), sharing: 'exclusive' }, auth: 'off' }, { log: { write: (line: string) => void said.push(line) } })
  const first = await start()
  const client = createClient({ url: first.url, queue: 'q' })
  await client.settings.patch({ erasable: true })
  await client.enqueue({ type: 'letter', payload: 'xanthippe' })
  await client.close()
  await first.close()
  await (await start()).close()
  expect(said.join('')).not.toContain('keys')

  for (const end of ['', '-wal', '-shm']) rmSync(`${logFile(dir)}.keys${end}`, { force: true })
  await (await start()).close()
  expect(said.filter((line) => line.includes(`queue q is erasable, and the file with the keys of its tasks, ${logFile(dir)}.keys, is not there`))).toHaveLength(1)
})
