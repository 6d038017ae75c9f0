/** `daybook archive` on a server's data folder: everything that is read afterwards is as it was before. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { archiveBeside, listSegments } from '@daybook/adapters/segments'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ended, runHere } from '../cli/program.js'
import { until } from '../support/queue.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-archive-command-'))
const dataDir = join(dir, 'data')
const file = join(dataDir, 'daybook.sqlite')
const archiveDir = archiveBeside(file)
const startServer = () => serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file, sharing: 'exclusive' }, auth: 'off', checkpoints: { everyMs: 20 }, memory: { kind: 'off' } })
/** With a server, which is closed whatever happens. */
const served = async (body: (client: DaybookClient) => Promise<void>): Promise<void> => {
  const server = await startServer()
  const client = createClient({ url: server.url, queue: 'q', retryForMs: 10 })
  try {
    await body(client)
  } finally {
    await client.close()
    await server.close()
  }
}
const json = <A>({ out, err, code }: Ended): A => {
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out) as A
}
const cli = (...args: ReadonlyArray<string>): Promise<Ended> => runHere([...args, '--queue', 'q'], { NO_COLOR: '1' })
const audit = (...args: ReadonlyArray<string>): Promise<Ended> => cli('audit', ...args, '--data', dataDir)
const python = (): string => spawnSync('python3', [fileURLToPath(new URL('../../scripts/verify-log.py', import.meta.url)), file, '--queue', 'q'], { encoding: 'utf8' }).stdout
const hasPython = spawnSync('python3', ['--version']).status === 0

/** Everything that the commands say about the queue without a server. */
const said = async (): Promise<Readonly<Record<string, unknown>>> => {
  const exported = join(dir, 'export.ndjson')
  const views = join(dir, 'views.db')
  for (const suffix of ['', '-wal', '-shm']) rmSync(views + suffix, { force: true })
  await audit('export', '--out', exported)
  json(await cli('project', '--once', '--data', dataDir, '--views', views, '--json'))
  const db = new Database(views, { readonly: true })
  const tasks = db.prepare('SELECT * FROM tasks ORDER BY id').all()
  db.close()
  const plain = async (...args: ReadonlyArray<string>): Promise<string> => {
    const { out, err, code } = await audit(...args)
    expect([code, err], args.join(' ')).toEqual([0, ''])
    return out
  }
  return {
    exported: readFileSync(exported, 'utf8'),
    tasks,
    verify: await plain('verify', '--json'),
    ...(hasPython ? { python: python() } : {}),
    log: await plain('log', '--all', '--json'),
    early: await plain('state', '--revision', '40', '--json'),
    late: await plain('state', '--json'),
    diff: await plain('diff', '--from', '30', '--to', '300', '--json'),
    proof: await plain('prove', '--revision', '17'),
    consistency: await plain('prove', '--since', '1'),
    whatIf: await plain('what-if', '--set', 'policy=score', '--json'),
  }
}

let cutTime = ''
beforeAll(async () => {
  const server = await startServer()
  const client = createClient({ url: server.url, queue: 'q' })
  await client.settings.patch({ decisionReport: 'optional' })
  for (let round = 0; round < 20; round++) {
    await client.enqueueAll(Array.from({ length: 10 }, (_, i) => ({ id: `t${round}-${i}`, type: 'build', payload: { round, i, text: 'x'.repeat(300) } })))
    const claims = await client.claim({ agentId: 'w', max: 8, types: ['build'] })
    for (const { task, lease } of claims.slice(1)) await client.complete(task.id, { agentId: 'w', token: lease.token, result: { output: { of: task.id } } })
    await client.release(claims[0]!.task.id, { agentId: 'w', token: claims[0]!.lease.token, reason: 'later' })
    if (round === 9) cutTime = (await client.events()).events.at(-1)!.at
  }
  // With a payload that is far back in the log.
  await client.enqueue({ type: 'mail', id: 'other-queue', payload: 1 })
  await createClient({ url: server.url, queue: 'side' }).enqueueAll(Array.from({ length: 50 }, (_, i) => ({ type: 'mail', payload: i })))
  await client.close()
  await server.close()
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('nothing that is read differs, the file shrinks, and a server goes on with it', async () => {
  const before = await said()
  const sizeBefore = statSync(file).size
  const head = (JSON.parse(before.verify as string) as { readonly head: { readonly revision: number } }).head.revision

  const plan = json<{ readonly queues: ReadonlyArray<{ readonly from: number; readonly cut: number; readonly events: number }> }>(await cli('archive', '--data', dataDir, '--before', String(head - 20), '--dry-run', '--json'))
  expect(plan.queues).toMatchObject([{ queue: 'q', from: 0, head }])
  const cut = plan.queues[0]!.cut
  expect(cut).toBeGreaterThan(head - 60)
  expect(statSync(file).size).toBe(sizeBefore)
  expect(await listSegments(archiveDir, 'taskqueue-q')).toEqual([])

  // By a time first; the second run goes on behind it.
  const first = json<{ readonly queues: ReadonlyArray<{ readonly first: number; readonly segments: ReadonlyArray<object> }> }>(await cli('archive', '--data', dataDir, '--before', cutTime, '--json'))
  expect(first.queues).toMatchObject([{ first: expect.any(Number) as number, segments: [{ from: 0 }] }])
  const middle = first.queues[0]!.first
  expect(middle).toBeGreaterThan(50)
  expect(middle).toBeLessThan(cut)
  expect(await said()).toEqual(before)
  // Without a snapshot that has what is moved, one is taken first.
  rmSync(join(dataDir, 'snapshots'), { recursive: true })
  const { out } = await cli('archive', '--data', dataDir, '--before', String(head - 20))
  expect(readdirSync(join(dataDir, 'snapshots'))).toHaveLength(1)
  expect(out).toContain(`the log now begins at revision ${cut}, and ends at ${head}`)
  expect(out).toContain('the file shrank')
  expect(statSync(file).size).toBeLessThan(sizeBefore * 0.6)
  expect((await listSegments(archiveDir, 'taskqueue-q')).map(({ from, to }) => [from, to])).toEqual([[0, middle - 1], [middle, cut - 1]])
  expect(await said()).toEqual(before)
  expect((await cli('archive', '--data', dataDir, '--before', String(cut))).out).toBe('q: nothing to move\n')
  expect((await cli('doctor', '--data', dataDir)).out).toContain('nothing is wrong')

  // Without any snapshot, the start reads the segments.
  renameSync(join(dataDir, 'snapshots'), join(dir, 'snapshots'))
  for (const hasSnapshots of [false, true]) {
    if (hasSnapshots) {
      rmSync(join(dataDir, 'snapshots'), { recursive: true })
      renameSync(join(dir, 'snapshots'), join(dataDir, 'snapshots'))
    }
    await served(async (client) => {
      expect((await client.state()).revision).toBeGreaterThanOrEqual(head)
      const [claim] = await client.claim({ agentId: 'v', max: 1, types: ['build'] })
      // Its payload is in a segment.
      expect(claim?.task.payload).toMatchObject({ text: 'x'.repeat(300) })
      await client.release(claim!.task.id, { agentId: 'v', token: claim!.lease.token, reason: 'later' })
      expect((await client.history('t0-1'))[0]).toMatchObject({ type: 'TaskEnqueued' })
      expect((await client.at({ revision: 30 }).state()).revision).toBe(30)
      expect(await client.result('t0-1')).toMatchObject({ result: { output: { of: 't0-1' } } })
      expect((await client.verify()).ok).toBe(true)
    })
  }
  expect(JSON.parse((await audit('verify', '--json')).out)).toMatchObject({ ok: true, checkpoint: { size: expect.any(Number) as number } })
})

test('damage in a segment, and one that is away, are found and named', async () => {
  const [segment, second] = await listSegments(archiveDir, 'taskqueue-q')
  const whole = readFileSync(segment!.path)
  const bytes = Buffer.from(whole)
  bytes[Math.floor(bytes.length / 3)]! ^= 4
  writeFileSync(segment!.path, bytes)
  const { code, out } = await audit('verify', '--json')
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({ ok: false, broken: { kind: 'altered', revision: expect.any(Number) as number, reason: expect.stringContaining(segment!.path) as string } })
  expect((await audit('verify')).out).toContain('NOT WHOLE')
  // What it unpacks may be wrong in any way before its checksum is.
  if (hasPython) expect(JSON.parse(python())).toMatchObject({ ok: false, reason: expect.stringMatching(/is damaged|is not what was appended|is missing: there is|was altered/) as string })
  expect(await cli('archive', '--data', dataDir, '--before', '10')).toMatchObject({ code: 0, err: '', out: 'q: nothing to move\n' })
  expect((await cli('archive', '--data', dataDir, '--before', '1000000')).err).toContain(segment!.path)
  writeFileSync(segment!.path, whole)

  const other = segment!.path.replace(/\d{12}\.jsonl/, (name) => `${String(Number(name.slice(0, 12)) - 1).padStart(12, '0')}.jsonl`)
  renameSync(segment!.path, other)
  expect(JSON.parse((await audit('verify', '--json')).out)).toMatchObject({ ok: false, broken: { reason: expect.stringContaining('it was renamed') as string } })
  // No backup is needed for that.
  expect((await audit('state', '--revision', String(segment!.from))).err).toContain(`give it back its name, ${basename(segment!.path)} in the folder of taskqueue-q`)
  if (hasPython) expect(JSON.parse(python())).toEqual({ ok: false, reason: `the segment ${other} has the events ${segment!.from} to ${segment!.to}: it was renamed` })
  renameSync(other, segment!.path)

  const away = join(dir, 'away')
  copyFileSync(second!.path, away)
  rmSync(second!.path)
  expect(JSON.parse((await audit('verify', '--json')).out)).toMatchObject({ ok: false, broken: { kind: 'missing', revision: second!.from, to: second!.to } })
  expect((await audit('state', '--revision', String(second!.from + 5))).err).toContain('put them back there')
  expect((await cli('archive', '--data', dataDir, '--before', '1000000')).err).toContain(`the events ${second!.from} to ${second!.to} of taskqueue-q are not in the log any more`)
  copyFileSync(away, second!.path)
  expect((await audit('verify')).code).toBe(0)
})

test('without its segments, a server starts from a snapshot, and says what it cannot read; without a snapshot it refuses the queue', async () => {
  const hidden = join(dir, 'hidden')
  renameSync(archiveDir, hidden)
  try {
    await served(async (client) => {
      expect(await client.verify()).toMatchObject({ ok: false, broken: { kind: 'missing' } })
      await expect(client.at({ revision: 30 }).state()).rejects.toThrow('does not have their segments: put them back')
      await client.enqueue({ type: 'mail', id: 'later', payload: 'and what comes later is taken' })
    })
    const copy = join(dir, 'copy')
    cpSync(dataDir, copy, { recursive: true })
    rmSync(join(copy, 'snapshots'), { recursive: true })
    const warnings: Array<string> = []
    const other = await serve({ host: '127.0.0.1', port: 0, dataDir: copy, store: { kind: 'sqlite', file: join(copy, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off' }, { warn: (text) => warnings.push(text) })
    expect(other.daybook.refused()).toEqual([{ queue: 'q', reason: expect.stringContaining('put them back there') as string }])
    expect(other.daybook.queues().map(({ name }) => name)).toEqual(['side'])
    try {
      const client = createClient({ url: other.url, queue: 'q', retryForMs: 10 })
      // It must not look like a queue that nobody has used.
      const putBack = expect.objectContaining({ code: 'unavailable', detail: expect.stringContaining('put them back there') as string }) as Error
      const reads = [() => client.tasks(), () => client.summary(), () => client.task('later'), () => client.events(), () => client.at({ revision: 30 }).state(), () => client.diff({ from: 30 })]
      for (const read of reads) await expect(read()).rejects.toThrow(putBack)
      await expect(client.complete('later', { agentId: 'a', token: 1, result: { success: true } })).rejects.toThrow(putBack)
      expect(await client.verify()).toMatchObject({ ok: false, broken: { kind: 'missing' } })
      expect(await client.listQueues()).toEqual({ queues: [expect.objectContaining({ name: 'side' })], refused: other.daybook.refused() })
      expect(await runHere(['queues', '--url', other.url])).toMatchObject({ code: 0, out: expect.stringMatching(/^side /m) as string, err: expect.stringMatching(/^queue q cannot be read: .*put them back there/m) as string })
      await client.close()
      expect(await runHere(['doctor', '--url', other.url])).toMatchObject({ code: 1, out: expect.stringMatching(/BAD .*queue q: is not open, so it answers nothing: .*put them back there/) as string })
    } finally {
      await other.close()
    }
  } finally {
    renameSync(hidden, archiveDir)
  }
  expect((await audit('verify')).code).toBe(0)
})

test.each<[string, (file: string, whole: Buffer) => void, string]>([
  ['missing', (file) => rmSync(file), 'put them back there'],
  ['empty', (file) => writeFileSync(file, ''), 'is damaged'],
  ['cut short', (file, whole) => writeFileSync(file, whole.subarray(0, whole.length / 2)), 'is damaged'],
  ['altered', (file, whole) => writeFileSync(file, whole.map((byte, at) => (at === 100 ? byte ^ 1 : byte))), 'is damaged'],
])('a start that needs a segment that is %s refuses this queue alone, and opens it when the segment is back', async (_, spoil, reason) => {
  const copy = mkdtempSync(join(dir, 'spoilt-'))
  cpSync(dataDir, copy, { recursive: true })
  rmSync(join(copy, 'snapshots'), { recursive: true })
  const log = join(copy, 'daybook.sqlite')
  const [segment] = await listSegments(archiveBeside(log), 'taskqueue-q')
  const whole = readFileSync(segment!.path)
  spoil(segment!.path, whole)
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir: copy, store: { kind: 'sqlite', file: log, sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' } })
  const client = createClient({ url: server.url, queue: 'q', retryForMs: 10 })
  try {
    expect(server.daybook.refused()).toEqual([{ queue: 'q', reason: expect.stringContaining(reason) as string }])
    expect(server.daybook.queues().map(({ name }) => name)).toEqual(['side'])
    await expect(client.summary()).rejects.toThrow(reason)
    writeFileSync(segment!.path, whole)
    await until(() => client.summary().then(() => true, () => false))
    expect(server.daybook.refused()).toEqual([])
  } finally {
    await client.close()
    await server.close()
  }
})

test('a damaged segment: the doctor says how far the log can be read and checks the other queues, the server logs the reason, and audit verify names the file', async () => {
  const copy = join(dir, 'damaged')
  cpSync(dataDir, copy, { recursive: true })
  const { from, path } = (await listSegments(archiveBeside(join(copy, 'daybook.sqlite')), 'taskqueue-q')).at(-1)!
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, Math.floor(bytes.length / 2)))
  const said: Array<string> = []
  const other = await serve({ host: '127.0.0.1', port: 0, dataDir: copy, store: { kind: 'sqlite', file: join(copy, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off' }, { log: { write: (text) => void said.push(text) } })
  try {
    const { code, out } = await runHere(['doctor', '--url', other.url], { NO_COLOR: '1' })
    expect([code, out]).toEqual([1, expect.stringMatching(/BAD +queue q: the log can be read up to revision \d+ only: .*; run `daybook audit verify --data DIR --queue q`/)])
    expect(out).toMatch(/ok +queue side: \d+ events, all readable/)
    expect(said.filter((line) => line.includes('an answer broke off'))).toEqual([expect.stringContaining(path)])
    const client = createClient({ url: other.url, queue: 'q', retryForMs: 10 })
    await expect(client.events({ from })).rejects.toThrow('run `daybook audit verify --data DIR --queue QUEUE`')
    await client.close()
    expect((await runHere(['audit', 'verify', '--data', copy, '--queue', 'q'])).out).toContain(path)
  } finally {
    await other.close()
  }
})

test('an age that no time has is refused, with what is wanted', async () => {
  expect(await cli('archive', '--data', dataDir, '--before', '999999999d')).toMatchObject({ code: 2, err: expect.stringContaining('or how long ago, like 90d, is wanted') as string })
})

test('beside a running server it is refused, and --dry-run is not', async () => {
  await served(async () => {
    expect(await cli('archive', '--data', dataDir, '--before', '1000000')).toMatchObject({ code: 1, err: expect.stringContaining('stop the server') as string })
    expect(await cli('archive', '--data', dataDir, '--before', '1000000', '--dry-run')).toMatchObject({ code: 0, out: expect.stringContaining('would move') as string })
  })
})

test('all queues; and what cannot be meant is refused', async () => {
  expect((await cli('archive', '--data', dataDir, '--all', '--before', '1000000')).out).toMatch(/q: moved[^]*side: moved/)
  expect((await runHere(['audit', 'verify', '--data', dataDir, '--queue', 'side'])).code).toBe(0)
  expect((await runHere(['archive', '--data', dataDir, '--queue', 'none', '--before', '10'])).err).toContain('there is no queue none')
  for (const args of [['--before', 'soon'], ['--before', '-5'], []]) expect((await runHere(['archive', '--data', dataDir, ...args])).code).toBe(2)
  expect((await runHere(['archive', '--before', '10'])).err).toContain('give --data or --store')
  expect((await runHere(['archive', '--data', join(dir, 'nowhere'), '--before', '10'])).err).toContain('is not there')
})
