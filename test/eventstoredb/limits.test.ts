/**
 * The point of this file: what a real node does at the limits of 64-bit numbers, with names that
 * cannot be sent back, and with unusual deletions.
 */
import { ANY, BACKWARDS, binaryEvent, END, NO_STREAM, START, STREAM_EXISTS } from '@eventstore/db-client'
import { describe, expect, test } from 'vitest'
import { event, events, failure, labels, plain, read, served, until, useServers } from './client.js'

useServers()

const int64Max = 2n ** 63n - 1n
const uint64Max = 2n ** 64n - 1n

describe('an expected revision', () => {
  test('is repeated in the error to the last digit', async () => {
    const { client } = await served()
    for (const expectedRevision of [2n ** 53n + 1n, int64Max]) {
      for (const how of [{}, plain]) {
        const refused = client.appendToStream('s', [event('a')], { expectedRevision, ...how })
        await expect(refused).rejects.toMatchObject({ type: 'wrong-expected-version', expectedVersion: expectedRevision })
      }
      await expect(client.deleteStream('s', { expectedRevision })).rejects.toMatchObject({ expectedVersion: expectedRevision })
    }
    expect((await failure(client.deleteStream('s', { expectedRevision: int64Max + 1n }))).message).toContain('Exception was thrown by handler')
  })

  test('of 2^64-1 means no stream; only the plain call repeats it as a number', async () => {
    const { client } = await served()
    await client.appendToStream('s', [event('a')], { expectedRevision: uint64Max })
    const again = { expectedRevision: uint64Max }
    await expect(client.appendToStream('s', [event('b')], again)).rejects.toMatchObject({ expectedVersion: 'no_stream', actualVersion: 0n })
    await expect(client.appendToStream('s', [event('b')], { ...again, ...plain })).rejects.toMatchObject({ expectedVersion: uint64Max })
  })
})

describe('a read from a revision', () => {
  test.each([
    [int64Max - 1n, 'e2 e1 e0'],
    [int64Max, 'e2 e1 e0'],
    [int64Max + 1n, 'Exception was thrown by handler'],
    [uint64Max - 1n, 'Exception was thrown by handler'],
    [uint64Max, 'e2 e1 e0'],
  ])('%s, backwards: %s', async (fromRevision, outcome) => {
    const { client } = await served()
    await client.appendToStream('s', events(3))
    const reading = labels(client.readStream('s', { direction: BACKWARDS, fromRevision }))
    expect(await reading.then((list) => list.join(' '), ({ message }: Error) => message)).toContain(outcome)
  })

  test('backwards ends even if so much is truncated that a number cannot count by ones any more', async () => {
    const { client } = await served()
    await client.appendToStream('s', events(3))
    await client.setStreamMetadata('s', { truncateBefore: 1e18 })
    expect(await labels(client.readStream('s', { direction: BACKWARDS, fromRevision: END }))).toEqual([])
    expect(await read(client, 's')).toEqual([])
  })
})

test('a subscription from the greatest possible revision has no start', async () => {
  const { client } = await served()
  await client.appendToStream('s', events(1))
  for (const fromRevision of [int64Max, int64Max + 1n]) {
    const error = await new Promise((resolve) => client.subscribeToStream('s', { fromRevision }).on('error', resolve))
    expect(error).toMatchObject({ message: '2 UNKNOWN: Exception was thrown by handler.' })
  }
})

test('a position with 2^64-1 in only one half does not exist', async () => {
  const { client } = await served()
  for (const direction of ['forwards', 'backwards'] as const) {
    const reading = client.readAll({ direction, fromPosition: { commit: uint64Max, prepare: 0n } })
    expect((await failure(reading[Symbol.asyncIterator]().next())).message).toContain('Unexpected ReadAllResult: Error')
  }
})

test('a subscription to everything catches up even if the log ends in a write without events', async () => {
  const { client } = await served()
  const { position } = await client.appendToStream('s', events(2))
  await client.appendToStream('s', [])
  const subscription = client.subscribeToAll({ fromPosition: position ?? START })
  await new Promise((resolve) => subscription.on('caughtUp', resolve))
  await subscription.unsubscribe()
})

test('a link to a revision that is not a 64-bit number is not a link', async () => {
  const { client } = await served()
  await client.appendToStream('s', ['9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809']
    .map((revision) => binaryEvent({ type: '$>', data: Buffer.from(`${revision}@s`) })))
  const found: Array<boolean> = []
  for await (const { link } of client.readStream('s', { resolveLinkTos: true })) found.push(link !== undefined)
  expect(found).toEqual([true, false, true, false])
})

describe('a name that is not ASCII', () => {
  test('cannot be sent in a trailer: if an error would contain it, the call ends in HTTP 500', async () => {
    const { client } = await served()
    await client.appendToStream('ö', [event('a')])
    const unknown = { type: 'unknown', message: '2 UNKNOWN: Received HTTP status code 500' }
    expect(await failure(client.deleteStream('ö', { expectedRevision: 5n }))).toMatchObject(unknown)
    await client.tombstoneStream('ö')
    expect(await failure(read(client, 'ö'))).toMatchObject(unknown)
    expect(await failure(client.appendToStream('ö', [event('b')], plain))).toMatchObject(unknown)
    expect(await failure(client.appendToStream('ö', [event('b')]))).toMatchObject({ type: 'stream-deleted' })
  })

  test('resets the call once something has been sent', async () => {
    const { client } = await served()
    await client.appendToStream('ö', [event('a')])
    const subscription = client.subscribeToStream('ö')
    const failed = new Promise((resolve) => subscription.on('error', resolve))
    await new Promise((resolve) => subscription.on('caughtUp', resolve))
    await client.tombstoneStream('ö')
    expect(await failed).toMatchObject({ type: 'unknown', message: '13 INTERNAL: Received RST_STREAM with code 2 (Internal server error)' })
  })

  test('and has no UTF-8: a lone surrogate in a type comes back as three replacement characters', async () => {
    const { client } = await served()
    await client.appendToStream('s', [{ ...event('a'), type: 'x\ud800' }])
    for await (const { event: found } of client.readStream('s')) expect(found?.type).toBe('x\ufffd\ufffd\ufffd')
  })
})

describe('a metastream', () => {
  test('can be soft-deleted like any stream as far as the writer is concerned; readers still see it', async () => {
    const { client } = await served()
    await client.setStreamMetadata('s', { maxCount: 1 })
    await client.deleteStream('$$s')
    expect((await client.getStreamMetadata('s')).metadata).toEqual({ maxCount: 1 })
    expect(await failure(client.appendToStream('$$s', [event('a')], { expectedRevision: STREAM_EXISTS }))).toMatchObject({ type: 'stream-deleted' })
    await client.setStreamMetadata('s', { maxCount: 2 })
    // The write restored it: $tb was set to its next revision.
    expect((await client.getStreamMetadata('$$s')).metadata).toEqual({ truncateBefore: 1 })
  })
})

describe('the writer\'s copy of a metastream', () => {
  test('is used until the next start, whatever has happened to the stream', async () => {
    const { client, server } = await served()
    await client.appendToStream('s', events(2))
    await client.setStreamMetadata('s', { maxCount: 1 })
    await client.deleteStream('s')
    await client.tombstoneStream('s')
    expect((await client.setStreamMetadata('s', { maxCount: 2 })).nextExpectedRevision).toBe(2n)
    // The stream also counts as soft-deleted, so the server raised $tb, which overflows beyond 2^63-1.
    expect((await client.setStreamMetadata('s', { maxCount: 3 })).nextExpectedRevision).toBe(4n)
    const documents: Array<unknown> = []
    for await (const { event: found } of client.readAll()) if (found?.streamId === '$$s') documents.push(found.data)
    expect(documents[3]).toEqual({ $maxCount: 2, $tb: -(2 ** 63) })
    expect(await failure(client.getStreamMetadata('s'))).toMatchObject({ type: 'stream-deleted' })
    await server.restart()
    await until(async () => (await failure(client.setStreamMetadata('s', {}, plain))).type === 'stream-deleted')
  })

  test('is parsed even without the JSON flag, which readers look at', async () => {
    const { client } = await served()
    await client.appendToStream('s', events(2))
    await client.appendToStream('$$s', [binaryEvent({ type: '$metadata', data: Buffer.from(`{"$tb":${int64Max}}`) })])
    expect(await read(client, 's')).toEqual(['e0', 'e1'])
    expect(await failure(client.appendToStream('s', [event('a')], { expectedRevision: STREAM_EXISTS }))).toMatchObject({ type: 'stream-deleted' })
  })
})

test('a call whose deadline has passed when it arrives is not started', async () => {
  const { client, server } = await served()
  await client.appendToStream('s', events(1))
  const late = { deadline: 0 }
  for (const call of [
    client.deleteStream('s', late), client.tombstoneStream('s', late), client.appendToStream('s', events(1), { ...plain, ...late }),
  ]) await failure(call)
  await client.appendToStream('t', events(1))
  expect(server.store.log.head('s')).toBe(0)
  expect(await read(client, 's')).toEqual(['e0'])
})

test('an append to an empty name is refused before its size is checked', async () => {
  const { client } = await served()
  const large = binaryEvent({ type: 'large', data: new Uint8Array(2_000_000) })
  expect(await failure(client.appendToStream('', [large], { expectedRevision: NO_STREAM, ...plain }))).toMatchObject({ type: 'unknown' })
  expect(await failure(client.appendToStream('s', [large], { expectedRevision: ANY, ...plain }))).toMatchObject({ type: 'maximum-append-size-exceeded' })
})
