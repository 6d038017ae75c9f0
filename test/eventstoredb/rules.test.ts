/**
 * The point of this file: rules of a real node that the recorded conversations do not cover: links,
 * checkpoints of filters, unusual metadata, the cluster, and missing answers.
 */
import {
  BACKWARDS, binaryEvent, END, eventTypeFilter, NO_STREAM, START, streamNameFilter, type AllStreamSubscription,
} from '@eventstore/db-client'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { runProgram } from '../stores/child.js'
import { EventStoreServer } from '../support/eventstoredb/server.js'
import { Cluster } from '../support/eventstoredb/cluster.js'
import { RecentIds } from '../support/eventstoredb/recent-ids.js'
import { metadataOf } from '../support/eventstoredb/metadata.js'
import { after, connect, event, events, failure, idOf, plain, read, served, sleep, startServer, until, useServers } from './client.js'

useServers()

describe('links', () => {
  test('are resolved if asked for; their target may be gone', async () => {
    const { client } = await served()
    await client.appendToStream('to@a', events(3))
    await client.setStreamMetadata('to@a', { truncateBefore: 1 })
    const link = (text: string) => binaryEvent({ type: '$>', data: Buffer.from(text) })
    await client.appendToStream('links', [link('1@to@a'), link('0@to@a'), link('nonsense'), link('0@nothing')])
    const resolved: Array<unknown> = []
    for await (const each of client.readStream('links', { resolveLinkTos: true })) {
      resolved.push([each.event?.type, each.link?.type, each.link === undefined || each.commitPosition === each.link.position?.commit])
    }
    expect(resolved).toEqual([['tested', '$>', true], [undefined, '$>', true], ['$>', undefined, true], [undefined, '$>', true]])
  })
})

describe('a filtered subscription', () => {
  const collect = async (subscription: AllStreamSubscription, count: number, list: Array<string>): Promise<void> => {
    subscription.on('data', ({ event: heard }) => list.push(`${String(heard?.streamId)} ${String(heard?.revision)}`))
    subscription.on('caughtUp', () => list.push('caught up'))
    await until(() => list.length >= count)
    await sleep(30)
    await subscription.unsubscribe()
  }

  test('sends checkpoints at intervals, before and after it has caught up', async () => {
    const { client } = await served()
    await client.appendToStream('noise', events(70))
    await client.appendToStream('wanted', events(1))
    const list: Array<string> = []
    const filter = streamNameFilter({
      prefixes: ['wanted'], maxSearchWindow: 10, checkpointInterval: 2,
      checkpointReached: async () => void list.push('checkpoint'),
    })
    const subscription = client.subscribeToAll({ filter })
    const done = collect(subscription, 8, list)
    await until(() => list.includes('caught up'))
    // 72 events are examined in tens: checkpoints after 20, 40 and 60. The remaining 12 count towards the live ones.
    expect(list).toEqual(['checkpoint', 'checkpoint', 'checkpoint', 'wanted 0', 'caught up'])
    await client.appendToStream('noise', events(7, 'n'))
    await client.appendToStream('wanted', events(2, 'w'))
    await done
    expect(list.slice(5)).toEqual(['wanted 1', 'checkpoint', 'wanted 2'])
  })

  test('by expression, also with flags in .NET style; an invalid one fails the call', async () => {
    const { client } = await served()
    await client.appendToStream('s', [{ ...event('a'), type: 'Order-Placed' }, { ...event('b'), type: 'other' }])
    const list: Array<string> = []
    await collect(client.subscribeToAll({ filter: eventTypeFilter({ regex: '(?i)^order' }) }), 2, list)
    expect(list).toEqual(['s 0', 'caught up'])
    const broken = client.subscribeToAll({ filter: eventTypeFilter({ regex: '(' }) })
    const error = await new Promise((resolve) => broken.on('error', resolve))
    expect(error).toMatchObject({ type: 'unknown' })
  })
})

describe('positions', () => {
  test('between two records cannot be read or subscribed from; beyond the end there is nothing yet', async () => {
    const { client } = await served()
    const { position } = await client.appendToStream('s', events(2))
    const at = (position as { commit: bigint }).commit + 1n
    const off = { commit: at, prepare: at }
    const far = { commit: at + 100_000n, prepare: at + 100_000n }
    const all = async (options: Parameters<typeof client.readAll>[0]): Promise<number> => {
      let count = 0
      for await (const _each of client.readAll(options)) count += 1
      return count
    }
    expect((await failure(all({ fromPosition: off }))).message).toContain('Unexpected ReadAllResult: Error')
    expect((await failure(all({ fromPosition: off, direction: BACKWARDS }))).message).toContain('Unexpected ReadAllResult: Error')
    expect(await all({ fromPosition: far })).toBe(0)
    expect(await all({ fromPosition: END })).toBe(0)
    expect(await all({ fromPosition: START, direction: BACKWARDS })).toBe(0)
    expect((await failure(all({ fromPosition: far, direction: BACKWARDS }))).type).toBe('unknown')
    expect(await after(150, all({ maxCount: 0 }))).toBe('pending')
    const subscription = client.subscribeToAll({ fromPosition: off })
    expect(await new Promise((resolve) => subscription.on('error', resolve))).toMatchObject({ message: '2 UNKNOWN: Exception was thrown by handler.' })
  })

  test('a subscription from the end receives only new events', async () => {
    const { client } = await served()
    const list: Array<unknown> = []
    const subscription = client.subscribeToAll({ fromPosition: END })
    subscription.on('data', ({ event: heard }) => list.push(heard?.streamId))
    await new Promise((resolve) => subscription.on('caughtUp', resolve))
    await client.appendToStream('s', events(1))
    await until(() => list.length > 0)
    expect(list).toEqual(['s'])
    await subscription.unsubscribe()
  })
})

describe('metadata', () => {
  test.each([
    ['{"$maxCount":3,"x":{"$tb":9}}', { softDeleted: false, maxCount: 3 }],
    ['{"$tb":9223372036854775807}', { softDeleted: true, truncateBefore: 2 ** 63 }],
    // JavaScript's rounding of that number is one more, which is not a 64-bit number. Nothing is deleted.
    ['{"$tb":9223372036854776000,"$maxCount":3}', { softDeleted: false }],
    ['{"$maxCount":"3"}', { softDeleted: false }],
    ['{"$maxCount":3.0}', { softDeleted: false }],
    ['{"$maxCount":0,"$maxAge":-1,"$tb":-5}', { softDeleted: false }],
    ['{"$maxAge":2,"text":"a } \\" {","list":[1,{"$tb":1}]}', { softDeleted: false, maxAgeMs: 2000 }],
    ['{"$acl":{"$r":["a"],"$w":"b"},"$tb":0}', { softDeleted: false, truncateBefore: 0 }],
    ['{"$acl":{"other":1},"$tb":1}', { softDeleted: false }],
    ['{}', { softDeleted: false }],
    ['[]', { softDeleted: false }],
    ['nonsense', { softDeleted: false }],
  ])('%s', (text, understood) => {
    expect(metadataOf(Buffer.from(text), true)).toEqual(understood)
    expect(metadataOf(Buffer.from(text), false)).toEqual({ softDeleted: false })
  })

  test('set on a deleted stream brings it back, empty', async () => {
    const { client } = await served()
    await client.appendToStream('s', events(3))
    await client.deleteStream('s')
    await client.setStreamMetadata('s', { maxCount: 5 })
    expect((await client.getStreamMetadata('s')).metadata).toEqual({ maxCount: 5, truncateBefore: 3 })
    expect(await read(client, 's')).toEqual([])
  })
})

describe('the cache of recent ids', () => {
  test('is bounded by bytes, first in first out, and an id belongs to its first stream', () => {
    const ids = new RecentIds(300)
    ids.put('x', 'a', 7)
    ids.put('x', 'b', 0)
    expect([ids.find('x', 'a'), ids.find('x', 'b')]).toEqual([7, undefined])
    for (let i = 0; i < 20; i++) ids.put(`y${i}`, 'a', i)
    expect([ids.find('x', 'a'), ids.find('y19', 'a')]).toEqual([undefined, 19])
  })
})

describe('answers that never come', () => {
  test('ANY with known ids far out of order', async () => {
    const { client } = await served()
    await client.appendToStream('s', events(4))
    expect(await after(200, client.appendToStream('s', [event('e3'), event('e0')]))).toBe('pending')
    expect(await after(30_000, client.appendToStream('s', [event('e3'), event('e2')]))).toBe('succeeded')
  })

  test('come twice from a batch append with a bad event: BadRequest, and a timeout two seconds later', async () => {
    const { server } = await served({ limits: { writeTimeoutMs: 150 } })
    const child = runProgram(process.execPath, [
      fileURLToPath(new URL('./children/append.mjs', import.meta.url)),
      JSON.stringify({ url: server.url, stream: 's', count: 1, ids: ['no-uuid'] }),
    ])
    expect(await child.line(/^unhandled/)).toContain('unhandled TypeError')
    expect(child.lines[0]).toBe('failed unknown')
    child.process.stdin?.end()
    await child.ended
  })

  test('a reply that comes twice: an unhandled rejection in the client', async () => {
    const { server } = await served()
    server.faults.script({ on: 'append', stream: 's', fault: { kind: 'duplicate-reply', afterMs: 10 } })
    const child = runProgram(process.execPath, [
      fileURLToPath(new URL('./children/append.mjs', import.meta.url)),
      JSON.stringify({ url: server.url, stream: 's', count: 1 }),
    ])
    await child.line(/^unhandled/)
    child.process.stdin?.end()
    await child.ended
    expect(child.lines).toContain('appended 0')
    expect(child.lines.filter((line) => line.startsWith('unhandled'))).toEqual(['unhandled TypeError: undefined is not iterable (cannot read property Symbol(Symbol.iterator))'])
  })
})

describe('a simulated cluster of three nodes', () => {
  test('discovery finds the leader; another node redirects writes that require the leader', async () => {
    const cluster = new Cluster()
    const first = await startServer({ cluster })
    const others = [await startServer({ cluster, store: first.store }), await startServer({ cluster, store: first.store })] as const
    const hosts = [first, ...others].map(({ host, port }) => `${host}:${port}`).join(',')
    const client = connect(`esdb://${hosts}?tls=false&nodePreference=leader`)
    await client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM })
    expect(first.calls.get('batchAppend')).toBe(1)

    cluster.elect(others[0].member)
    expect((await failure(client.appendToStream('s', [event('b')], { expectedRevision: 0n, requiresLeader: true, ...plain }))).type).toBe('not-leader')
    await client.appendToStream('s', [event('b')], { expectedRevision: 0n, requiresLeader: true, ...plain })
    expect(others[0].calls.get('append')).toBe(1)

    cluster.elect(undefined)
    expect((await failure(client.appendToStream('s', [event('c')], { expectedRevision: 1n, ...plain }))).type).toBe('unavailable')
    cluster.elect(first.member)
    await until(async () => (await after(5_000, client.appendToStream('s', [event('c')], { expectedRevision: 1n, ...plain }))) === 'succeeded')
    expect(await read(client, 's')).toEqual(['a', 'b', 'c'])
  })

  test('a new client finds the remaining node', async () => {
    const cluster = new Cluster()
    const first = await startServer({ cluster })
    const second = await EventStoreServer.start({ cluster, store: first.store })
    await second.stop()
    cluster.elect(first.member)
    const client = connect(`esdb://${second.host}:${second.port},${first.host}:${first.port}?tls=false`)
    await client.appendToStream('s', [event('a')], { expectedRevision: NO_STREAM })
    expect(idOf('a')).toHaveLength(36)
  })
})
