/**
 * The point of this file: how each fault of the server looks to the unmodified client. An adapter
 * has to cope with everything that is asserted here.
 */
import { END, NO_STREAM, START } from '@eventstore/db-client'
import { describe, expect, test } from 'vitest'
import { deleteStream, tombstoneStream, truncateStream } from '../support/eventstoredb/admin.js'
import { serveControl } from '../support/eventstoredb/control.js'
import type { Fault } from '../support/eventstoredb/faults.js'
import type { EventStoreServer } from '../support/eventstoredb/server.js'
import { after, connect, event, events, failure, persist, plain, read, served, sleep, startServer, until, useServers } from './client.js'

useServers()

/** Clients of one process share a connection; a new client gets the old connection until it is known to be dead: some turns of the event loop after the cut. */
const connectionsSeenCut = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await sleep(2)
}

const onAppend = (server: EventStoreServer, fault: Fault): void => server.faults.script({ on: 'append', stream: 's', fault })

describe('the connection', () => {
  test('refused: an append of a new client fails with a bare grpc error, a read with UnavailableError', async () => {
    const { server, client } = await served()
    await server.stop()
    const late = connect(server.url)
    const append = await failure(late.appendToStream('s', [event('a')]))
    expect([append.code, append.type]).toEqual([14, undefined])
    expect((await failure(read(late, 's'))).type).toBe('unavailable')
    await server.start()
    await until(async () => (await after(5_000, client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM }))) === 'succeeded')
    expect(await read(connect(server.url), 's')).toEqual(['a'])
  })

  test.each([['before', false, []], ['after', true, ['a']]] as const)('cut %s the commit: UnavailableError either way', async (_when, commit, left) => {
    const { server, client } = await served()
    onAppend(server, { kind: 'drop', commit })
    const { type, name } = await failure(client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM }))
    expect([name, type]).toEqual(['UnavailableError', 'unavailable'])
    const stored = await read(connect(server.url), 's').catch(() => [])
    expect(stored).toEqual(left)
    // Sent again with the same ids and revision, it is written once in either case.
    expect((await persist(client, 's', 'a', NO_STREAM)).nextExpectedRevision).toBe(0n)
    expect(await read(client, 's')).toEqual(['a'])
  })

  test('half-open: accepted and never answered; only a deadline ends the wait', async () => {
    const { server } = await served()
    server.halfOpen(true)
    await connectionsSeenCut()
    const client = connect(server.url)
    expect(await after(300, client.readStream('s')[Symbol.asyncIterator]().next())).toBe('pending')
    expect(await after(30_000, client.deleteStream('s', { deadline: 150 }))).toBe('failed')
    server.halfOpen(false)
    await connectionsSeenCut()
    expect(await read(connect(server.url), 'warm-up')).toEqual(['warm'])
  })
})

describe('an append', () => {
  test('timed out, written later: DeadlineExceededError by batch, TimeoutError by the plain call', async () => {
    const { server, client } = await served()
    onAppend(server, { kind: 'timeout', commit: true, afterMs: 4_000 })
    expect((await failure(client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM }))).type).toBe('deadline-exceeded')
    expect((await failure(read(client, 's'))).type).toBe('stream-not-found')
    await until(async () => (await read(client, 's').catch(() => [])).length === 1)

    onAppend(server, { kind: 'timeout' })
    expect((await failure(client.appendToStream('s', [event('b')], { expectedRevision: 0n, ...plain }))).type).toBe('timeout')
    expect(await read(client, 's')).toEqual(['a'])
  })

  test('never answered: by batch it is pending for ever, the plain call has its deadline', async () => {
    const { server, client } = await served()
    onAppend(server, { kind: 'no-reply', commit: true })
    expect(await after(400, client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM, deadline: 100 }))).toBe('pending')
    expect(await read(client, 's')).toEqual(['a'])
    onAppend(server, { kind: 'no-reply' })
    const { type } = await failure(client.appendToStream('s', [event('b')], { expectedRevision: 0n, ...plain, deadline: 100 }))
    expect(type).toBe('deadline-exceeded')
    expect(await read(client, 's')).toEqual(['a'])
  })

  test('answered late: the event is there before the answer', async () => {
    const { server, client } = await served()
    onAppend(server, { kind: 'late-reply', afterMs: 200 })
    const append = client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM })
    expect(await after(100, append)).toBe('pending')
    expect(await read(client, 's')).toEqual(['a'])
    expect((await append).nextExpectedRevision).toBe(0n)
  })

  test('slow: nothing is there until it is done', async () => {
    const { server, client } = await served()
    onAppend(server, { kind: 'slow', afterMs: 4_000 })
    const append = client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM })
    expect(await after(100, append)).toBe('pending')
    expect((await failure(read(client, 's'))).type).toBe('stream-not-found')
    expect((await append).success).toBe(true)
  })

  test('not ready, too busy: UnknownError by batch, UnavailableError by the plain call; nothing is written', async () => {
    const { server, client } = await served()
    onAppend(server, { kind: 'not-ready' })
    const { type, message } = await failure(client.appendToStream('s', [event('a')]))
    expect([type, message]).toEqual(['unknown', 'Could not recognize Server Is Not Ready'])
    onAppend(server, { kind: 'too-busy' })
    expect((await failure(client.appendToStream('s', [event('a')], plain))).type).toBe('unavailable')
    server.faults.script({ on: 'read', fault: { kind: 'not-ready' } })
    expect((await failure(read(client, 's'))).type).toBe('unavailable')
    await until(async () => (await failure(read(client, 's'))).type === 'stream-not-found')
  })

  test('not the leader: the whole batch call fails, and the client switches to the leader named in the error', async () => {
    const { server, client } = await served()
    const leader = await startServer()
    onAppend(server, { kind: 'not-leader', leader: { host: leader.host, port: leader.port } })
    expect((await failure(client.appendToStream('s', [event('a')]))).type).toBe('not-leader')
    await client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM })
    expect(leader.store.log.head('s')).toBe(0)
    expect(server.store.log.head('s')).toBe(-1)
  })

  test('not the leader, and none known: UnknownError', async () => {
    const { server, client } = await served()
    onAppend(server, { kind: 'not-leader' })
    const { type, message } = await failure(client.appendToStream('s', [event('a')]))
    expect([type, message]).toEqual(['unknown', 'Could not recognize No leader info available in response'])
  })

  test('the batch call closed with OK: the append under way is pending for ever', async () => {
    const { server, client } = await served()
    onAppend(server, { kind: 'close-call', commit: true })
    expect(await after(300, client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM }))).toBe('pending')
    expect(await read(client, 's')).toEqual(['a'])
    // The client cannot even end that call.
    expect(await after(300, client.dispose())).toBe('pending')
  })

  test('of an older server without BatchAppend, or without ServerFeatures, uses the plain call', async () => {
    for (const features of ['no-batch', 'unimplemented'] as const) {
      const { server } = await served({ features })
      expect([server.calls.get('append'), server.calls.get('batchAppend')]).toEqual([1, undefined])
    }
  })

  test('after one failed request for the features never works again with that client', async () => {
    const server = await startServer()
    server.faults.script({ on: 'features', fault: { kind: 'internal' } })
    const client = connect(server.url)
    await failure(client.appendToStream('s', [event('a')]))
    await failure(client.appendToStream('s', [event('a')]))
    expect(server.calls.get('getSupportedMethods')).toBe(1)
    await connect(server.url).appendToStream('s', [event('a')])
  })
})

describe('a read', () => {
  test('that breaks in the middle: some events, then UnavailableError', async () => {
    const { server, client } = await served()
    await client.appendToStream('s', events(100))
    for (const kind of ['unavailable', 'drop'] as const) {
      server.faults.script({ on: 'read', fault: { kind, afterEvents: 40 } })
      let seen = 0
      const reading = (async () => {
        for await (const _each of connect(server.url).readStream('s')) seen += 1
      })()
      expect((await failure(reading)).type).toBe('unavailable')
      // A reset connection may lose messages in transit.
      expect(seen).toBeLessThanOrEqual(40)
      if (kind === 'unavailable') expect(seen).toBe(40)
    }
  })

  test('that ends early with OK looks complete', async () => {
    const { server, client } = await served()
    await client.appendToStream('s', events(100))
    server.faults.script({ on: 'read', fault: { kind: 'close-call', afterEvents: 40 } })
    expect(await read(client, 's')).toHaveLength(40)
  })
})

interface Heard {
  readonly list: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

const listen = (client: ReturnType<typeof connect>, stream: string, fromRevision: bigint | typeof START | typeof END = START): Heard => {
  const list: Array<string> = []
  const subscription = client.subscribeToStream(stream, { fromRevision })
  subscription.on('data', ({ event: heard }) => list.push((heard?.data as { label?: string }).label ?? String(heard?.type)))
  subscription.on('caughtUp', () => list.push('caught up'))
  subscription.on('error', (error) => list.push(`error ${(error as { type?: string }).type ?? ''}`))
  subscription.on('end', () => list.push('end'))
  return { list, stop: () => subscription.unsubscribe().catch(() => {}) }
}

describe('a subscription', () => {
  test.each([
    ['ended with OK: a bare end', 'close-call', ['e0', 'end']],
    ['failed: UnavailableError', 'unavailable', ['e0', 'error unavailable']],
    ['dropped for being too slow: TimeoutError', 'too-slow', ['e0', 'error timeout']],
  ] as const)('%s', async (_title, kind, heard) => {
    const { server, client } = await served()
    await client.appendToStream('s', events(3))
    server.faults.script({ on: 'subscribe', fault: { kind, afterEvents: 1 } })
    const { list, stop } = listen(client, 's')
    await until(() => list.length === heard.length)
    // Whatever came behind that would be there before the answer to this.
    await read(client, 's')
    expect(list).toEqual(heard)
    await stop()
    // The client does not subscribe again by itself; subscribing after the last event loses nothing.
    const again = listen(connect(server.url), 's', 0n)
    await until(() => again.list.length === 3)
    expect(again.list).toEqual(['e1', 'e2', 'caught up'])
    await again.stop()
  })

  test('whose reader takes nothing is dropped: Consumer too slow', async () => {
    const { client } = await served()
    await client.appendToStream('s', [event('first')])
    const subscription = client.subscribeToStream('s', { fromRevision: END })
    const failed = new Promise<unknown>((resolve) => subscription.once('error', resolve))
    await new Promise((resolve) => subscription.once('caughtUp', resolve))
    subscription.pause()
    for (let i = 0; i < 30; i++) {
      await client.appendToStream('s', Array.from({ length: 10 }, (_, j) => ({ ...event(`big${i}-${j}`), data: { pad: 'x'.repeat(8_000) } })))
      await sleep(10)
    }
    subscription.resume()
    expect(await failed).toMatchObject({ type: 'timeout', message: expect.stringContaining('Consumer too slow') as string })
  })

  test('of a stream that an administrator deletes and tombstones', async () => {
    const { server, client } = await served()
    await client.appendToStream('s', events(2))
    const { list, stop } = listen(client, 's')
    await until(() => list.includes('caught up'))
    await deleteStream(server, 's')
    await client.appendToStream('s', [event('later')])
    await tombstoneStream(server, 's')
    await until(() => list.length === 6)
    expect(list).toEqual(['e0', 'e1', 'caught up', 'later', '$streamDeleted', 'error stream-deleted'])
    await stop()
  })
})

describe('an administrator', () => {
  test('truncates a stream: earlier events are gone for readers, and revisions go on', async () => {
    const { server, client } = await served()
    await client.appendToStream('s', events(5))
    await truncateStream(server, 's', 3)
    expect(await read(client, 's')).toEqual(['e3', 'e4'])
    expect((await client.appendToStream('s', [event('e5')], { expectedRevision: 4n })).nextExpectedRevision).toBe(5n)
  })

  test('tombstones a stream: StreamDeletedError for ever, by both calls and for reads', async () => {
    const { server, client } = await served()
    await client.appendToStream('s', events(2))
    await tombstoneStream(server, 's')
    expect((await failure(client.appendToStream('s', [event('x')]))).type).toBe('stream-deleted')
    expect((await failure(client.appendToStream('s', [event('x')], plain))).type).toBe('stream-deleted')
    expect((await failure(read(client, 's'))).type).toBe('stream-deleted')
  })

  test('tombstones a metastream: the node stops', async () => {
    const { server, client } = await served()
    expect((await failure(client.tombstoneStream('$$s'))).type).toBe('unavailable')
    expect((await failure(read(connect(server.url), 'warm-up'))).type).toBe('unavailable')
  })
})

describe('a restart', () => {
  test('under load loses and duplicates nothing for clients that repeat their appends', async () => {
    const { server } = await served()
    const streams = ['s0', 's1', 's2']
    const wanted = Array.from({ length: 40 }, (_, i) => `r${i}`)
    let done = 0
    const appender = async (stream: string): Promise<void> => {
      const client = connect(server.url)
      for (const [i, label] of wanted.entries()) {
        await persist(client, stream, label, i === 0 ? NO_STREAM : BigInt(i - 1))
        done++
      }
    }
    const loads = Promise.all(streams.map(appender))
    for (const after of [20, 50, 80]) {
      await until(() => done >= after)
      await server.restart()
    }
    await loads
    const client = connect(server.url)
    for (const stream of streams) expect(await read(client, stream)).toEqual(wanted)
  })

  test('forgets recent ids: ANY appends again what an explicit revision recognises', async () => {
    const { server, client } = await served()
    await client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM })
    await server.restart()
    await connectionsSeenCut()
    const again = connect(server.url)
    expect((await again.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM })).nextExpectedRevision).toBe(0n)
    expect((await again.appendToStream('s', [event('a')])).nextExpectedRevision).toBe(1n)
  })
})

describe('faults', () => {
  test('by seed: the same seed fails the same calls in the same ways', async () => {
    const run = async (seed: number): Promise<ReadonlyArray<string>> => {
      const { server, client } = await served()
      server.faults.random({
        seed, rate: 0.4,
        choices: [{ on: 'append', fault: { kind: 'not-ready' } }, { on: 'append', fault: { kind: 'timeout', commit: true } }],
      })
      const outcomes: Array<string> = []
      for (let i = 0; i < 30; i++) {
        outcomes.push(await client.appendToStream('s', [event(`x${i}`)]).then(() => 'ok', (error: { type: string }) => error.type))
      }
      return outcomes
    }
    const first = await run(1)
    expect(new Set(first)).toEqual(new Set(['ok', 'unknown', 'deadline-exceeded']))
    expect(await run(1)).toEqual(first)
    expect(await run(2)).not.toEqual(first)
  })

  test('by HTTP, for a server in another process', async () => {
    const { server, client } = await served()
    const control = await serveControl(server)
    const order = (method: string, path: string, body?: unknown) =>
      fetch(`http://127.0.0.1:${control.port}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    try {
      await order('POST', '/faults', { rules: [{ on: 'append', stream: 's', skip: 1, times: 2, fault: { kind: 'not-ready' } }] })
      const outcomes = []
      for (let i = 0; i < 4; i++) outcomes.push(await after(30_000, client.appendToStream('s', [event(`h${i}`)])))
      expect(outcomes).toEqual(['succeeded', 'failed', 'failed', 'succeeded'])
      expect(await (await order('GET', '/faults/fired')).json()).toHaveLength(2)
      await order('POST', '/truncate', { stream: 's', before: 1 })
      expect(await read(client, 's')).toEqual(['h3'])
      await order('POST', '/stop')
      expect((await failure(read(connect(server.url), 's'))).type).toBe('unavailable')
      await order('POST', '/start')
      expect(await read(connect(server.url), 's')).toEqual(['h3'])
      expect((await order('GET', '/nonsense')).status).toBe(404)
    } finally {
      await control.close()
    }
  })
})
