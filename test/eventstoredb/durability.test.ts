/**
 * The point of this file: with `--data`, everything that the server has acknowledged is there after a
 * kill, and an incomplete write is removed.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NO_STREAM } from '@eventstore/db-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runProgram, type Child } from '../stores/child.js'
import { tombstoneStream, truncateStream } from '../support/eventstoredb/admin.js'
import { EventStoreServer } from '../support/eventstoredb/server.js'
import { connect, event, events, failure, fresh, idOf, plain, read, sleep, useServers } from './client.js'

useServers()

const runScript = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url))
const appender = fileURLToPath(new URL('./children/append.mjs', import.meta.url))
const lazyServer = fileURLToPath(new URL('./children/lazy-server.mjs', import.meta.url))

interface Started {
  readonly child: Child
  readonly url: string
}

const started = async (child: Child): Promise<Started> => {
  const line = await child.line(/^esdb:/)
  return { child, url: line.split(' ')[0] as string }
}

/** Starts the server in the same way as by hand. */
const startByHand = (...args: ReadonlyArray<string>): Promise<Started> =>
  started(runProgram(process.execPath, [runScript, 'eventstoredb', '--port', '0', ...args]))

const startLazy = async (folder: string): Promise<Started> => {
  // Builds the server first.
  await runProgram(process.execPath, [runScript, 'eventstoredb', '--help']).ended
  return started(runProgram(process.execPath, [lazyServer, JSON.stringify({ dir: folder })]))
}

const labels = Array.from({ length: 2_500 }, (_, i) => `d${i}`)

/** Kills a server while one client appends. Resolves to the number of acknowledged appends. */
const killUnderLoad = async ({ child, url }: Started): Promise<number> => {
  const load = runProgram(process.execPath, [appender, JSON.stringify({ url, stream: 's', count: labels.length, ids: labels.map(idOf) })])
  await load.line(/^appended 25$/)
  child.process.kill('SIGKILL')
  await child.ended
  await load.line(/^failed/)
  load.process.kill('SIGKILL')
  await load.ended
  return load.lines.filter((line) => line.startsWith('appended')).length
}

const idsIn = async (url: string): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  for await (const { event: found } of connect(url).readStream('s')) ids.push(String(found?.id))
  return ids
}

let dir: string
let journal: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'eventstoredb-'))
  journal = join(dir, 'eventstoredb.log')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('a server with a data folder', () => {
  test('killed under load has everything that it acknowledged, in order', async () => {
    const acknowledged = await killUnderLoad(await startByHand('--data', dir))
    expect(acknowledged).toBeGreaterThan(25)
    const again = await startByHand('--data', dir)
    const ids = await idsIn(again.url)
    expect(ids.length).toBeGreaterThanOrEqual(acknowledged)
    expect(ids).toEqual(labels.map(idOf).slice(0, ids.length))
    // The client may not know the outcome of the last append. Its id shows whether it was written.
    const { nextExpectedRevision } = await connect(again.url).appendToStream('s', [event(`d${ids.length - 1}`)], { expectedRevision: BigInt(ids.length - 2), ...plain })
    expect(nextExpectedRevision).toBe(BigInt(ids.length - 1))
    again.child.process.kill('SIGTERM')
    expect(await again.child.ended).toBe(0)
  })

  test('teeth: one that acknowledges before it writes is caught by a kill', async () => {
    const acknowledged = await killUnderLoad(await startLazy(dir))
    const again = await startByHand('--data', dir)
    expect((await idsIn(again.url).catch(() => [])).length).toBeLessThan(acknowledged)
    again.child.process.kill('SIGKILL')
  })

  const used = async (act: (server: EventStoreServer, client: ReturnType<typeof connect>) => Promise<void>): Promise<void> => {
    const server = await EventStoreServer.start({ dir })
    try {
      await act(server, connect(server.url))
    } finally {
      await server.close()
      await sleep(20)
    }
  }

  test('comes back with revisions, positions, metadata, deletions and tombstones', async () => {
    let before: unknown
    const whole = async (client: ReturnType<typeof connect>): Promise<unknown> => {
      const list: Array<unknown> = []
      for await (const { event: found } of client.readAll()) list.push(found)
      return list
    }
    await used(async (server, client) => {
      await client.appendToStream('a', events(5), { expectedRevision: NO_STREAM })
      await client.appendToStream('a', [])
      await client.appendToStream('gone', events(2, 'g'))
      await truncateStream(server, 'a', 2)
      await client.deleteStream('gone')
      await client.appendToStream('ended', [event('x')])
      await tombstoneStream(server, 'ended')
      before = await whole(client)
    })
    await used(async (_server, client) => {
      expect(await whole(client)).toEqual(before)
      expect(await read(client, 'a')).toEqual(['e2', 'e3', 'e4'])
      expect((await failure(read(client, 'gone'))).type).toBe('stream-not-found')
      expect((await failure(read(client, 'ended'))).type).toBe('stream-deleted')
      expect((await client.appendToStream('a', [event('e5')], { expectedRevision: 4n })).nextExpectedRevision).toBe(5n)
      expect((await client.appendToStream('gone', [event('g2')])).nextExpectedRevision).toBe(2n)
    })
  })

  test.each([
    ['a frame of which the end is missing', (size: number) => truncateSync(journal, size - 3)],
    ['a frame with a wrong byte', (size: number) => {
      const bytes = readFileSync(journal)
      bytes[size - 1] = (bytes[size - 1] as number) ^ 1
      writeFileSync(journal, bytes)
    }],
    ['half a header after the last frame', (size: number) => {
      truncateSync(journal, size - 3)
      appendFileSync(journal, Buffer.from([9, 0, 0]))
    }],
  ])('cuts off %s, and goes on from there', async (_what, damage) => {
    const stream = fresh()
    let whole = 0
    await used(async (_server, client) => {
      await client.appendToStream(stream, [event('a')], { expectedRevision: NO_STREAM })
      whole = statSync(journal).size
      await client.appendToStream(stream, [event('b')], { expectedRevision: 0n })
    })
    damage(statSync(journal).size)
    await used(async (_server, client) => {
      expect(await read(client, stream)).toEqual(['a'])
      expect(statSync(journal).size).toBe(whole)
      await client.appendToStream(stream, [event('c')], { expectedRevision: 0n })
    })
    await used(async (_server, client) => expect(await read(client, stream)).toEqual(['a', 'c']))
  })

  test('shows readers nothing that is not on disk, and drops repeated writes until then', async () => {
    const { Log } = await import('../support/eventstoredb/log.js')
    const { Writer } = await import('../support/eventstoredb/writer.js')
    const log = new Log()
    const disk: Array<() => void> = []
    const writer = new Writer(log, { keep: (_write, kept) => disk.push(kept) })
    const outcomes: Array<unknown> = []
    const one = { id: idOf('a'), type: 't', isJson: true, data: new Uint8Array(), metadata: new Uint8Array() }
    for (let i = 0; i < 2; i++) writer.append('s', 'no_stream', [one], (outcome) => outcomes.push(outcome))
    expect([log.count, outcomes.length, disk.length]).toEqual([0, 0, 1])
    disk[0]?.()
    expect([log.count, outcomes.length]).toEqual([1, 1])
    writer.append('s', 'no_stream', [one], (outcome) => outcomes.push(outcome))
    expect(outcomes[1]).toEqual(outcomes[0])
  })
})
