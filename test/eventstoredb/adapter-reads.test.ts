/** Reads and subscriptions of the adapter under faults of server and connection, and after an administrator's changes. */
import { BACKWARDS, END } from '@eventstore/db-client'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { type EventStore, StoreError, StoreUnreachable } from '@daybook/adapters/store'
import { describe, expect, test } from 'vitest'
import { append, assertHolds, events, readAll, revisionsOf } from '../contract/check.js'
import { follow } from '../contract/subscription-log.js'
import { deleteStream, tombstoneStream, truncateStream, writeMetadata } from '../support/eventstoredb/admin.js'
import type { EventStoreServer } from '../support/eventstoredb/server.js'
import type { Fault } from '../support/eventstoredb/faults.js'
import { inTime } from '../support/in-time.js'
import { ended, impatient, open, persist, started, useAdapter } from './adapter.js'
import { connect, sleep, until } from './client.js'
import { startProxy } from './proxy.js'

useAdapter()

const upTo = (count: number): Array<number> => Array.from({ length: count }, (_, i) => i)

const codeOf = async (call: Promise<unknown>): Promise<string> =>
  call.then(() => 'no error', (error: unknown) => (error instanceof StoreError ? error.code : `not a StoreError: ${String(error)}`))

const readFaults: ReadonlyArray<Fault> = [
  { kind: 'drop' },
  { kind: 'drop', afterEvents: 20 },
  { kind: 'close-call', afterEvents: 20 },
  { kind: 'close-call' },
  { kind: 'unavailable', afterEvents: 3 },
  { kind: 'internal' },
  { kind: 'not-ready' },
  { kind: 'timeout' },
  { kind: 'no-reply', afterEvents: 5 },
  { kind: 'slow', afterMs: 50 },
]

describe('EV-02 a read', () => {
  test.each(readFaults)('that meets %j still returns every event once and in order', async (fault) => {
    // Only a time-out ends a silence.
    const { server, store } = await started({}, { pageEvents: 40, ...(fault.kind === 'no-reply' ? impatient : {}) })
    const more = events(97)
    await persist(store.append('s', more, 2))
    // The reads are: the head, one page, the next page.
    server.faults.script({ on: 'read', stream: 's', skip: 1, times: 2, fault })
    const found = await readAll(store, 's')
    expect(revisionsOf(found)).toEqual(upTo(100))
    expect(found.slice(3).map(({ id }) => id)).toEqual(more.map(({ id }) => id))
    expect(server.faults.fired).toHaveLength(2)
    server.faults.script({ on: 'read', stream: 's', times: 3, fault })
    expect(await store.head('s')).toBe(99)
    server.faults.script({ on: 'read', stream: 's', skip: 1, times: 2, fault })
    expect((await store.pick('s', [0, 50, 99, 100])).map((event) => event?.revision)).toEqual([0, 50, 99, undefined])
  })

  test('of a server that stays away fails in a bounded time, and the error names the stream', async () => {
    const { server, store } = await started()
    await server.stop()
    const error: unknown = await store.head('s').catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringMatching(new RegExp(`Cannot reach EventStoreDB .*esdb://127.0.0.1:${server.port}`)) as string })
  })

  test('of a server that no longer answers fails when its time is over, however long a silence may be', async () => {
    const { server, store } = await started({}, { readMs: 500 })
    server.faults.script({ on: 'read', times: 1_000, fault: { kind: 'no-reply' } })
    const calls = [store.head('s'), store.pick('s', [1]), readAll(store, 's')]
    for (const call of calls) {
      // Sooner than a silence ends.
      const error: unknown = await inTime('the end of a read', call.catch((reason: unknown) => reason), 20_000)
      expect(error).toBeInstanceOf(StoreUnreachable)
      expect(error).toMatchObject({ message: expect.stringContaining('no answer within 500 ms') as string })
    }
    await until(() => server.openCalls === 1)
  })

  test('that gets events, however slowly, does not give up', async () => {
    const { server, store } = await started({}, { readMs: 3_000, silenceMs: 500 })
    // Each try takes a second, together more than a read may be silent.
    server.faults.script({ on: 'read', skip: 1, times: 6, fault: { kind: 'no-reply', afterEvents: 2 } })
    expect(revisionsOf(await readAll(store, 's'))).toEqual([0, 1, 2])
    expect(server.faults.fired).toHaveLength(6)
  })

  test('that gives up leaves its connection, which may be dead, for a new one', async () => {
    const { server } = await started()
    const proxy = await startProxy(server.port)
    const store = open(`esdb://127.0.0.1:${proxy.port}?tls=false`, { readMs: 1_000 })
    expect(await store.head('s')).toBe(2)
    proxy.swallow()
    const heard: Array<number> = []
    // Fewer than gRPC needs to notice that its connection is dead.
    for (let i = 0; i < 8 && heard.length === 0; i++) await inTime('the end of a read', store.head('s').then((head) => heard.push(head), () => undefined), 20_000)
    expect(heard).toEqual([2])
    proxy.close()
  })

  test('has as many tries as it needs until the server has answered once: a node that hangs keeps nobody from starting', async () => {
    const { server } = await started()
    const store = open(server.url, { readMs: 50, silenceMs: 500 })
    server.faults.script({ on: 'read', stream: 's', times: 2, fault: { kind: 'no-reply' } })
    expect(await store.head('s')).toBe(2)
    expect(server.faults.fired).toHaveLength(2)
  })

  test('that is left early is cancelled on the server: after three hundred of them the next one works', async () => {
    const { server, store } = await started({}, { pageEvents: 10 })
    await append(store, 's', events(97), 2)
    for (let i = 0; i < 300; i++) {
      for await (const [first] of store.read('s')) {
        expect(first?.revision).toBe(0)
        break
      }
    }
    expect(await readAll(store, 's')).toHaveLength(100)
    // The call that appends use.
    await until(() => server.openCalls === 1)
  })

  test('and a subscription that are left are cancelled, also those that never came to an end', async () => {
    const { server, store } = await started()
    for (let i = 0; i < 6; i++) await append(store, 'large', [{ ...events(1)[0]!, data: JSON.stringify('x'.repeat(900_000)) }])
    for await (const page of store.read('large')) {
      expect(page).toHaveLength(5)
      break
    }
    for (let i = 0; i < 20; i++) {
      const log = follow(store, 's', 0)
      await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
      log.unsubscribe()
    }
    await until(() => server.openCalls === 1)
  })

  test('of large events is bounded in bytes as well', async () => {
    const { store } = await started()
    for (let i = 0; i < 8; i++) await append(store, 'large', [{ ...events(1)[0]!, data: JSON.stringify('x'.repeat(900_000)) }])
    const pages: Array<number> = []
    for await (const page of store.read('large')) pages.push(page.length)
    expect(pages).toEqual([5, 3])
  })
})

describe('EV-02 what an administrator removed is not taken for an empty stream', () => {
  test.each([[1], [3], [99]])('truncated before %s: reads that begin before it are refused, later ones work', async (before) => {
    const { server, store } = await started()
    await append(store, 's', events(2), 2)
    await truncateStream(server, 's', before)
    expect(await codeOf(readAll(store, 's'))).toBe('truncated')
    // Events that a snapshot covers are not read.
    if (before < 5) expect(revisionsOf(await readAll(store, 's', { from: before }))).toEqual(upTo(5).slice(before))
    if (before < 5) expect((await store.pick('s', [0, 4])).map((event) => event?.revision)).toEqual([undefined, 4])
    const log = follow(store, 's', 0)
    await log.until('an error', ({ errors }) => errors.length > 0)
    expect(log.errors).toMatchObject([{ code: 'truncated' }])
  })

  test('deleted', async () => {
    const { server, store } = await started()
    await deleteStream(server, 's')
    for (const call of [readAll(store, 's'), store.head('s'), store.pick('s', [0])]) expect(await codeOf(call)).toBe('deleted')
  })

  test.each(['forwards', 'backwards'] as const)('deleted while it is read %s: the read ends with that', async (direction) => {
    const { server, store } = await started({}, { pageEvents: 10 })
    await append(store, 's', events(47), 2)
    const pages: Array<number> = []
    const reading = async (): Promise<void> => {
      for await (const page of store.read('s', { direction })) {
        if (pages.push(page.length) === 1) await deleteStream(server, 's')
        // More than the stream ever had.
        if (pages.length > 10) throw new Error('the read does not end')
      }
    }
    expect(await codeOf(reading())).toBe('deleted')
    expect(pages.every((length) => length > 0)).toBe(true)
  })

  test('deleted while events are picked: that they exist is not denied', async () => {
    const { server, store } = await started()
    // The first read is of the head.
    server.faults.script({ on: 'read', stream: 's', skip: 1, fault: { kind: 'slow', afterMs: 100 } })
    const picking = codeOf(store.pick('s', [1]))
    await until(() => server.faults.fired.length === 1)
    await deleteStream(server, 's')
    expect(await picking).toBe('deleted')
  })

  test('tombstoned: the stream is still listed, so that opening it is refused', async () => {
    const { server, store } = await started()
    await tombstoneStream(server, 's')
    for (const call of [readAll(store, 's'), store.head('s'), store.pick('s', [0])]) expect(await codeOf(call)).toBe('deleted')
    expect(await store.streams('')).toEqual(['s'])
  })
})

describe('EV-11 events of other programs', () => {
  test('are read as they are: other types, no JSON, no metadata, links', async () => {
    const { server, store } = await started()
    const client = connect(server.url)
    const stranger = (type: string, contentType: string, data: unknown) => ({ id: crypto.randomUUID(), type, contentType, data }) as never
    await client.appendToStream('s', [
      stranger('Noise', 'application/octet-stream', Buffer.from([0, 255, 1])),
      stranger('Other', 'application/json', { a: 1 }),
      stranger('$>', 'application/octet-stream', Buffer.from('0@s')),
    ], { expectedRevision: 2n })
    const log = follow(store, 's', 0)
    await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    for (const found of [await readAll(store, 's'), log.events]) {
      expect(found.slice(3).map(({ type, data, metadata }) => [type, data, metadata])).toEqual([
        ['Noise', '\u0000\ufffd\u0001', ''], ['Other', '{"a":1}', ''], ['$>', '0@s', ''],
      ])
    }
  })

  test('can read ours as JSON', async () => {
    const { server, store } = await started()
    await append(store, 's', [{ ...events(1)[0]!, data: '{ "spaced":  1.0 }' }], 2)
    const client = connect(server.url)
    for await (const { event } of client.readStream('s', { direction: BACKWARDS, fromRevision: END, maxCount: 1 })) {
      expect([event?.isJson, event?.data]).toEqual([true, { spaced: 1 }])
    }
  })
})

const subscriptionFaults: ReadonlyArray<Fault> = [
  { kind: 'drop', afterEvents: 4 },
  { kind: 'drop' },
  { kind: 'close-call', afterEvents: 2 },
  { kind: 'unavailable', afterEvents: 7 },
  { kind: 'too-slow', afterEvents: 3 },
  { kind: 'internal' },
  { kind: 'not-ready' },
  { kind: 'no-reply', afterEvents: 3 },
  { kind: 'no-reply' },
  { kind: 'duplicate-reply', afterEvents: 0 },
]

describe('EV-02 a subscription', () => {
  const listens = async (store: EventStore, appends: number, trouble: (i: number) => unknown): Promise<void> => {
    const early = follow(store, 's', 0)
    const late = follow(store, 's', 2)
    let head = 2
    for (let i = 0; i < appends; i++) {
      await trouble(i)
      await persist(store.append('s', events(2), head))
      head += 2
    }
    for (const [log, from] of [[early, 0], [late, 2]] as const) {
      await log.until('every event', (seen) => seen.events.length >= head + 1 - from)
      expect(revisionsOf(log.events)).toEqual(upTo(head + 1).slice(from))
      expect(log.errors).toEqual([])
      expect(log.caughtUp).toHaveLength(1)
      log.unsubscribe()
    }
    await assertHolds(store, 's', await readAll(store, 's'))
  }

  test.each(subscriptionFaults)('that meets %j continues after the last event: no gap, no repeat', async (fault) => {
    const { server, store } = await started()
    server.faults.script({ on: 'subscribe', stream: 's', times: 6, fault })
    await listens(store, 20, () => sleep(10))
    expect(server.faults.fired.length).toBeGreaterThan(1)
  })

  test('survives restarts, closed connections and a half-open one', async () => {
    const { server, store } = await started()
    await listens(store, 40, async (i) => {
      if (i % 10 === 3) await server.restart()
      if (i % 10 === 6) server.dropConnections()
      if (i !== 18) return
      server.halfOpen(true)
      await sleep(400)
      server.halfOpen(false)
    })
  })

  test('leaves room for other calls, however many there are: a node takes a hundred at once on a connection', async () => {
    const { server, store } = await started({}, { livenessMs: 2_000 })
    const logs = Array.from({ length: 120 }, () => follow(store, 's', 0))
    for (const log of logs) await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    // Sooner than a silence ends.
    expect(await inTime('an answer to a read', store.head('s'), 20_000)).toBe(2)
    expect(await ended(store.append('s', events(1), 2))).toBe('written')
    for (const log of logs) await log.until('the event', (seen) => seen.events.length === 4)
    // Also when all of them begin anew at once.
    server.dropConnections()
    await persist(store.append('s', events(1), 3))
    for (const log of logs) await log.until('the next event', (seen) => seen.events.length === 5)
    for (const log of logs) log.unsubscribe()
    await until(() => server.openCalls === 1)
  })

  test('whose connection has died silently notices that by itself', async () => {
    const { server, store } = await started()
    const log = follow(store, 's', 0)
    await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    log.unsubscribe()
    server.faults.script({ on: 'subscribe', stream: 's', fault: { kind: 'no-reply' } })
    const silent = follow(store, 's', 3)
    await silent.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    await append(open(server.url), 's', events(2), 2)
    await silent.until('two events', (seen) => seen.events.length === 2)
    expect(revisionsOf(silent.events)).toEqual([3, 4])
    expect(server.faults.fired).toHaveLength(1)
  })

  test('over a connection that dies silently, with concurrent appends and reads: all continue over a new one', async () => {
    const { server } = await started()
    const proxy = await startProxy(server.port)
    const store = open(`esdb://127.0.0.1:${proxy.port}?tls=false`, impatient)
    // Another store with its own connection: the dead connection of one must not be given to the other.
    await open(`esdb://127.0.0.1:${proxy.port}?tls=false`).head('s')
    const log = follow(store, 's', 0)
    await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    await persist(store.append('s', events(1), 2))
    const before = proxy.connections()
    proxy.swallow()
    const next = store.append('s', events(1), 3)
    expect(await ended(next)).toBe('OutcomeUnknown')
    await persist(next)
    await log.until('all', (seen) => seen.events.length === 5)
    proxy.swallow()
    expect(await store.head('s')).toBe(4)
    await append(open(server.url), 's', events(2), 4)
    await log.until('those of others', (seen) => seen.events.length === 7)
    expect(revisionsOf(log.events)).toEqual(upTo(7))
    expect(proxy.connections()).toBeGreaterThanOrEqual(before + 2)
    proxy.close()
  })

  test('that is left while it reconnects leaves nothing open', async () => {
    const { server } = await started()
    const proxy = await startProxy(server.port)
    const store = open(`esdb://127.0.0.1:${proxy.port}?tls=false`)
    const log = follow(store, 's', 0)
    await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    const before = proxy.connections()
    proxy.cut(400)
    await until(() => proxy.connections() > before)
    log.unsubscribe()
    expect(await store.head('s')).toBe(2)
    // The call that the first store appends on.
    await until(() => server.openCalls === 1)
    proxy.close()
  })

  test('from beyond the end asks the server for the events after the last one, and delivers from its own revision on', async () => {
    // On a slow machine a subscription that is checked often is made again without need.
    const { server, store } = await started({}, { livenessMs: 60_000 })
    const log = follow(store, 's', 7)
    await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    for (let head = 2; head < 10; head += 2) await append(store, 's', events(2), head)
    await log.until('its events', (seen) => seen.events.length === 4)
    expect(revisionsOf(log.events)).toEqual([7, 8, 9, 10])
    expect(server.subscriptions.filter(({ stream }) => stream === 's')).toEqual([{ stream: 's', from: 2 }])
  })

  test('to a stream that does not exist yet survives a restart', async () => {
    const { server, store } = await started()
    const log = follow(store, 'new', 0)
    await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    await server.restart()
    await persist(store.append('new', events(2), 'no_stream'))
    await log.until('two events', (seen) => seen.events.length === 2)
    expect(revisionsOf(log.events)).toEqual([0, 1])
  })

  test.each([['tombstoned', tombstoneStream], ['deleted', deleteStream]] as const)('to a stream that is %s ends with an error and without a false event', async (_how, remove) => {
    const { server, store } = await started()
    const log = follow(store, 's', 0)
    await log.until('caught up', ({ caughtUp }) => caughtUp.length > 0)
    await remove(server, 's')
    await log.until('an error', ({ errors }) => errors.length > 0)
    expect(revisionsOf(log.events)).toEqual([0, 1, 2])
    expect(log.errors).toMatchObject([{ code: 'deleted' }])
  })
})

test.each([['truncated', (server: EventStoreServer) => truncateStream(server, 's', 10)], ['tombstoned', (server: EventStoreServer) => tombstoneStream(server, 's')]] as const)(
  'a stream that was %s does not hide the others',
  async (_how, remove) => {
    const { server, store } = await started()
    await append(store, 'sound', events(1), 'no_stream')
    await remove(server)
    const second = open(server.url)
    expect(await second.streams('s')).toEqual(['s', 'sound'])
  },
)

test('a stream gets no event before its name is in the list: a start does not find streams that are not listed', async () => {
  const { server, store } = await started()
  server.faults.script({ on: 'append', stream: 'daybook-streams', fault: { kind: 'not-ready' } })
  expect(await ended(store.append('new', events(1), 'no_stream'))).toBe('Unavailable')
  expect(await open(server.url).head('new')).toBe(-1)
  await persist(store.append('new', events(1), 'no_stream'))
  expect(await open(server.url).streams('')).toEqual(['s', 'new'])
})

test('an invalid entry in the list of streams, or one of another program, is skipped', async () => {
  const { store } = await started()
  for (const data of ['no JSON', 'null', '[]', '{"stream":7}']) await append(store, 'daybook-streams', [{ ...events(1)[0]!, data }], await store.head('daybook-streams'))
  await append(store, 'second', events(1), 'no_stream')
  expect(await store.streams('s')).toEqual(['s', 'second'])
})

test("a KurrentDB connection string is taken, which this client's version does not know, and the name of the store is as it was given", async () => {
  const { server } = await started()
  const store = open(server.url.replace(/^esdb:/, 'kurrentdb:'))
  await append(store, 'k', events(2), 'no_stream')
  expect(await open(server.url).head('k')).toBe(1)
  expect(store.name).toBe(`kurrentdb://${server.host}:${server.port}`)
})

test.each(['secret', 's/cret', 's?cret', 's:c/r?t', 's%40cret', 's@cret'])('the name of a store, which logs and metrics show, has neither its user nor its password %s', (password) => {
  expect(open(`esdb+discover://ann:${password}@db1:2113,db2:2113/?tls=false`, { connectMs: 200 }).name).toBe('esdb+discover://db1:2113,db2:2113')
})

test('a stream whose metadata are no JSON is not truncated, and the error says what to do: what somebody has set there may not be lost', async () => {
  const { server } = await started()
  const store = openEventStoreDb({ url: server.url })
  try {
    await writeMetadata(server, 's', '{"$maxAge": an hour}')
    await expect(store.truncate('s', 2)).rejects.toMatchObject({ name: 'StoreError', message: expect.stringContaining('The metadata of s in esdb://') as string })
    await expect(store.truncate('s', 2)).rejects.toThrow('are no JSON, so nothing is archived: write them anew')
    await writeMetadata(server, 's', '{"$acl": {}}')
    expect(await store.truncate('s', 2)).toBe(2)
  } finally {
    await store.close()
  }
})
