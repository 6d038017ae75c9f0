/** The archive of a log in EventStoreDB: `$tb` hides what was moved, while servers run. */
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveLog, openTrimmable } from '@daybook/adapters/archive'
import { joinedStore } from '@daybook/adapters/segments'
import { createClient } from '@daybook/adapters/client'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import type { RecordedEvent } from '@daybook/adapters/store'
import Database from 'better-sqlite3'
import { lastValueFrom, takeWhile, tap } from 'rxjs'
import { afterAll, expect, test, vi } from 'vitest'
import { type Ended, runHere } from '../cli/program.js'
import { truncateStream } from '../support/eventstoredb/admin.js'
import { EventStoreServer } from '../support/eventstoredb/server.js'
import { patienceMs } from '../support/in-time.js'
import { until } from '../support/queue.js'
import { readAll } from './support.js'

const rowsOfQueue = (file: string, queue: string): number => {
  const db = new Database(file, { readonly: true })
  const { rows } = db.prepare<[string], { readonly rows: number }>('SELECT count(*) AS rows FROM tasks WHERE queue = ?').get(queue) as { readonly rows: number }
  db.close()
  return rows
}

const dir = mkdtempSync(join(tmpdir(), 'daybook-archive-esdb-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('a running server goes on without a warning; audit, a new start and a second run read through the segments', async () => {
  const node = await EventStoreServer.start()
  const dataDir = join(dir, 'data')
  const archive = join(dataDir, 'archive')
  const address = { kind: 'eventstoredb', url: node.url, archive } as const
  const warnings: Array<string> = []
  const start = () => serve({ host: '127.0.0.1', port: 0, dataDir, store: address, auth: 'off', readModels: 'off', checkpoints: 'off', memory: { kind: 'off' } }, { warn: (text) => warnings.push(text) })
  const cli = (...args: ReadonlyArray<string>): Promise<Ended> => runHere([...args, '--data', dataDir, '--store', node.url, '--queue', 'q'], { NO_COLOR: '1' })
  const read = async (): Promise<ReadonlyArray<string>> => [(await cli('audit', 'log', '--all', '--json')).out, (await cli('audit', 'verify', '--json')).out, (await cli('audit', 'state', '--revision', '30', '--json')).out]
  const server = await start()
  let closed = false
  try {
    const client = createClient({ url: server.url, queue: 'q' })
    for (let i = 0; i < 10; i++) await client.enqueueAll(Array.from({ length: 10 }, (_, each) => ({ type: 'mail', id: `t${i}-${each}`, payload: { i, each } })))
    const before = await read()
    // One that knows the log as it was.
    const joined = joinedStore(openEventStoreDb({ url: node.url }), archive)
    const whole = await readAll(joined, 'taskqueue-q')
    // What an administrator has set stays.
    await node.store.writer.append('$$taskqueue-q', 'any', [{ id: '11111111-1111-4111-8111-111111111111', type: '$metadata', isJson: true, data: Buffer.from('{"$cacheControl":7,"own":"x"}'), metadata: new Uint8Array() }], () => undefined)
    const { out, err } = await cli('archive', '--before', '55')
    expect(err).toBe('')
    expect(out).toContain('the log now begins at revision 50, and ends at 99')
    expect(out).toContain('next scavenge')
    expect(await read()).toEqual(before)
    const own = openEventStoreDb({ url: node.url })
    expect(await own.first('taskqueue-q')).toBe(50)
    const [metadata] = await own.pick('$$taskqueue-q', [await own.head('$$taskqueue-q')])
    expect(JSON.parse(metadata!.data)).toEqual({ $cacheControl: 7, own: 'x', $tb: 50 })

    // Each queue is looked at once a second or so: only what is not in the archive is warned of.
    const [claim] = await client.claim({ agentId: 'w', max: 1 })
    expect(claim!.task.payload).toEqual({ i: 0, each: 0 })
    const heard: Array<RecordedEvent> = []
    let caughtUp = 0
    await lastValueFrom(joined.subscribe('taskqueue-q', 0).pipe(tap((each) => ('_tag' in each ? caughtUp++ : heard.push(...each))), takeWhile((each) => !('_tag' in each))))
    expect(heard.slice(0, whole.length)).toEqual(whole)
    expect(caughtUp).toBe(1)
    await joined.close()
    expect((await client.verify()).ok).toBe(true)
    expect((await client.at({ revision: 10 }).state()).revision).toBe(10)
    expect(server.daybook.refused()).toEqual([])
    await client.close()
    await server.close()
    closed = true
    rmSync(join(dataDir, 'snapshots'), { recursive: true })
    const again = await start()
    expect(again.daybook.refused()).toEqual([])
    expect((await createClient({ url: again.url, queue: 'q' }).task('t0-0')).status).toBe('in-progress')
    await again.close()
    expect(warnings).toEqual([])

    expect((await cli('archive', '--before', '90')).out).toContain('the log now begins at revision 90')
    expect(readdirSync(join(archive, 'taskqueue-q'))).toEqual(['000000000000-000000000049.jsonl.gz', '000000000050-000000000089.jsonl.gz'])
    expect((await cli('doctor')).out).toContain('nothing is wrong')
    // A truncation that is not ours is refused as before, and so is one without its segments.
    await truncateStream(node, 'taskqueue-q', 95)
    // A log does not say who truncated it: an administrator has to hear of the metadata as well as of the segments.
    const { err: refused } = await cli('archive', '--before', '97')
    expect(refused).toContain('the events 90 to 94 of taskqueue-q are not in the log any more')
    expect(refused).toContain('take $tb, $maxCount and $maxAge out of its metadata')
    await truncateStream(node, 'taskqueue-q', 90)
    renameSync(archive, `${archive}.away`)
    const without = await start().catch((error: unknown) => error as Error)
    if (without instanceof Error) throw without
    rmSync(join(dataDir, 'snapshots'), { recursive: true, force: true })
    await without.close()
    await own.close()
  } finally {
    if (!closed) await server.close()
    await node.close()
  }
})

test('EV-04, EV-07: a second server lacks the segments of one queue: read models and checkpoints of the others go on, and of this one when the segments are there', async () => {
  const node = await EventStoreServer.start()
  const said: Array<string> = []
  const start = (dataDir: string) =>
    serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'eventstoredb', url: node.url, archive: join(dataDir, 'archive') }, auth: 'off', memory: { kind: 'off' }, checkpoints: { everyMs: 50 } }, { log: { write: (text) => void said.push(text) } })
  const [first, second] = [join(dir, 'first'), join(dir, 'second')]
  const server = await start(first)
  let other: RunningServer | undefined
  try {
    // The log of the archived queue comes first.
    for (const queue of ['old', 'young']) await createClient({ url: server.url, queue }).enqueueAll(Array.from({ length: 20 }, (_, i) => ({ type: 'mail', id: `t${i}`, payload: i })))
    expect((await runHere(['archive', '--data', first, '--store', node.url, '--queue', 'old', '--before', '19'], { NO_COLOR: '1' })).err).toBe('')
    await createClient({ url: server.url, queue: 'old' }).enqueue({ type: 'mail', id: 'last', payload: 'last' })
    const { url, daybook } = (other = await start(second))
    expect(daybook.refused()).toMatchObject([{ queue: 'old' }])
    const young = createClient({ url, queue: 'young' })
    await young.enqueue({ type: 'mail', id: 'one more', payload: 'one more' })
    expect((await young.report('throughput', { bucket: 'total', atLeast: 20 })).rows).toMatchObject([{ enqueued: 21 }])
    await until(() => existsSync(join(second, 'checkpoints', 'young.checkpoints')))
    expect(existsSync(join(second, 'checkpoints', 'old.checkpoints'))).toBe(false)
    // Each part comes to the queue in its own time.
    await vi.waitFor(async () => {
      const { degraded } = (await (await fetch(`${url}/readyz`)).json()) as { readonly degraded: ReadonlyArray<{ readonly part: string }> }
      expect(degraded).toEqual(expect.arrayContaining([expect.objectContaining({ part: 'read models' }), expect.objectContaining({ part: 'checkpoints', queue: 'old' })]))
    }, { timeout: patienceMs, interval: 20 })
    expect(said.filter((text) => text.includes('queue old does not go on for now'))).toHaveLength(1)
    expect(said.filter((text) => text.includes('queue old: checkpoints are late'))).toHaveLength(1)
    cpSync(join(first, 'archive'), join(second, 'archive'), { recursive: true })
    await until(() => existsSync(join(second, 'checkpoints', 'old.checkpoints')))
    await until(() => rowsOfQueue(join(second, 'views.db'), 'old') === 21)
  } finally {
    await other?.close()
    await server.close()
    await node.close()
  }
}, 180_000)

test('interrupted before the events are hidden: the next run hides them, and only one may run', async () => {
  const node = await EventStoreServer.start()
  const archive = join(dir, 'shared')
  const store = openEventStoreDb({ url: node.url })
  try {
    const texts = (from: number) => Array.from({ length: 20 }, (_, i) => ({ id: `00000000-0000-4000-8000-${String(from + i).padStart(12, '0')}`, type: 'Counted', data: `{"n":${from + i}}`, metadata: '{}' }))
    await store.append('taskqueue-q', texts(0), 'no_stream')()
    const options = { address: { kind: 'eventstoredb', url: node.url, archive } as const, archive, streams: ['taskqueue-q'], before: { revision: 15 } }
    const stop = new Error('stopped')
    await expect(archiveLog({ ...options, progress: ({ step }) => { if (step === 'removing' || step === 'verifying') throw stop } })).rejects.toBe(stop)
    expect(await store.first('taskqueue-q')).toBe(0)
    const held = await openTrimmable(options.address, archive)
    await expect(archiveLog(options)).rejects.toThrow('being moved')
    await held.close()
    const { streams } = await archiveLog(options)
    expect(streams[0]).toMatchObject({ first: 15 })
    expect(await store.first('taskqueue-q')).toBe(15)
  } finally {
    await store.close()
    await node.close()
  }
})

test('archived events are picked while the store is away', async () => {
  const node = await EventStoreServer.start()
  const archive = join(dir, 'away')
  const own = openEventStoreDb({ url: node.url })
  const log = joinedStore(own, archive)
  let closed = false
  try {
    const texts = Array.from({ length: 20 }, (_, i) => ({ id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, type: 'Counted', data: `{"n":${i}}`, metadata: '{}' }))
    await own.append('taskqueue-q', texts, 'no_stream')()
    await archiveLog({ address: { kind: 'eventstoredb', url: node.url, archive }, archive, streams: ['taskqueue-q'], before: { revision: 15 } })
    const before = await log.pick('taskqueue-q', [3, 9])
    expect(before.map((event) => event?.data)).toEqual(['{"n":3}', '{"n":9}'])
    await node.close()
    closed = true
    expect(await log.pick('taskqueue-q', [3, 9])).toEqual(before)
    await expect(log.pick('taskqueue-q', [3, 17])).rejects.toMatchObject({ code: 'unavailable' })
  } finally {
    await log.close()
    if (!closed) await node.close()
  }
})
