/** The result of an append and the log after it, for each fault of server and connection. */
import type { AppendError } from '@daybook/adapters/store'
import { describe, expect, test, vi } from 'vitest'
import { append, assertHolds, events, readAll } from '../contract/check.js'
import { tombstoneStream, deleteStream } from '../support/eventstoredb/admin.js'
import { Cluster } from '../support/eventstoredb/cluster.js'
import type { Fault } from '../support/eventstoredb/faults.js'
import { ended, impatient, knowsOfCut, open, persist, started, useAdapter } from './adapter.js'
import { sleep, startServer, until } from './client.js'

useAdapter()

/** Faults that only a time-out reveals. */
const isSilent = ({ kind, afterMs = 0 }: Fault): boolean => kind === 'no-reply' || (kind === 'late-reply' && afterMs > 300)

/** The result of the append, and whether it is in the log. */
const table: ReadonlyArray<readonly [fault: Fault, told: AppendError['_tag'] | 'written', inLog: boolean]> = [
  [{ kind: 'drop', commit: false }, 'OutcomeUnknown', false],
  [{ kind: 'drop', commit: true }, 'OutcomeUnknown', true],
  [{ kind: 'no-reply', commit: false }, 'OutcomeUnknown', false],
  [{ kind: 'no-reply', commit: true }, 'OutcomeUnknown', true],
  [{ kind: 'timeout', commit: false }, 'OutcomeUnknown', false],
  [{ kind: 'timeout', commit: true, afterMs: 1 }, 'OutcomeUnknown', true],
  [{ kind: 'close-call', commit: true }, 'OutcomeUnknown', true],
  [{ kind: 'close-call', commit: false }, 'OutcomeUnknown', false],
  [{ kind: 'unavailable' }, 'OutcomeUnknown', false],
  [{ kind: 'unavailable', commit: true }, 'OutcomeUnknown', true],
  [{ kind: 'internal' }, 'OutcomeUnknown', false],
  [{ kind: 'internal', commit: true }, 'OutcomeUnknown', true],
  [{ kind: 'internal-answer' }, 'OutcomeUnknown', false],
  [{ kind: 'internal-answer', commit: true }, 'OutcomeUnknown', true],
  // Without a leader's address the append is refused.
  [{ kind: 'not-leader' }, 'Unavailable', false],
  [{ kind: 'not-ready' }, 'Unavailable', false],
  [{ kind: 'too-busy' }, 'Unavailable', false],
  [{ kind: 'duplicate-reply', afterMs: 20 }, 'written', true],
  [{ kind: 'late-reply', afterMs: 50 }, 'written', true],
  [{ kind: 'late-reply', afterMs: 400 }, 'OutcomeUnknown', true],
  [{ kind: 'slow', afterMs: 50 }, 'written', true],
]

describe('EV-03 an append', () => {
  test.each(table)('%j: the result is %s; in the log: %s; sent again it is there once', async (fault, told, inLog) => {
    const { server, store } = await started({}, isSilent(fault) ? impatient : {})
    const before = await readAll(store, 's')
    const batch = events(4, 10)
    server.faults.script({ on: 'append', stream: 's', fault })
    const task = store.append('s', batch, 2)
    expect(await ended(task)).toBe(told)
    expect(server.faults.fired).toHaveLength(1)
    if (inLog) await until(async () => (await store.head('s')) === 6)
    else expect(await store.head('s')).toBe(2)
    // Like the engine after an unknown outcome: sends the same append again.
    if (told !== 'written') await persist(task)
    await assertHolds(store, 's', [...before, ...batch])
    // A late answer has no effect. The server sends it before the answer to the next append.
    await sleep(fault.afterMs ?? 0)
    await persist(store.append('s', events(1, 20), 6))
    expect(await store.head('s')).toBe(7)
  })

  test('that timed out and is written later, after it was sent again, is there once', async () => {
    const { server, store } = await started()
    server.faults.script({ on: 'append', stream: 's', fault: { kind: 'timeout', commit: true, afterMs: 120 } })
    const batch = events(2, 10)
    const task = store.append('s', batch, 2)
    expect(await ended(task)).toBe('OutcomeUnknown')
    expect(await ended(task)).toBe('written')
    // The server's timer goes off before this one.
    await sleep(120)
    expect((await readAll(store, 's')).map(({ id }) => id).slice(3)).toEqual(batch.map(({ id }) => id))
  })

  test('without a connection: the result says that nothing was sent; appends work again when the server is back', async () => {
    const { server, store } = await started()
    await server.stop()
    await knowsOfCut(store)
    for (let i = 0; i < 5; i++) expect(await ended(store.append('s', events(1), 2))).toBe('Unavailable')
    await server.start()
    await persist(store.append('s', events(1), 2))
    expect(await store.head('s')).toBe(3)
  })

  test.each<readonly [what: string, stream: string, fault: Fault | undefined, says: RegExp]>([
    ['no connection', 's', undefined, /^Cannot reach EventStoreDB .*127\.0\.0\.1.*Are host and port right, is the node up/],
    ['a refusal', 's', { kind: 'not-ready' }, /^EventStoreDB refused: /],
    ['a failed call', 's', { kind: 'unavailable' }, /^The call to EventStoreDB failed /],
    ['no answer', 's', { kind: 'no-reply' }, /^EventStoreDB does not answer /],
    ['no answer to the name of a new stream', 'new', { kind: 'no-reply' }, /^Nothing was written, .* EventStoreDB does not answer /],
  ])('that ends with %s names EventStoreDB, because a caller of Daybook reads the reason', async (_, stream, fault, says) => {
    const { server, store } = await started({}, fault === undefined || isSilent(fault) ? impatient : {})
    if (fault !== undefined) server.faults.script({ on: 'append', times: 1, fault })
    else {
      await server.stop()
      await knowsOfCut(store)
    }
    const outcome = await store.append(stream, events(1), stream === 's' ? 2 : 'no_stream')()
    expect(outcome).toMatchObject({ _tag: 'Left', left: { reason: expect.stringMatching(says) as string } })
  })

  test('over a half-open connection: unknown within its time-out, and a new connection replaces the old', async () => {
    const { server, store } = await started({}, impatient)
    server.halfOpen(true)
    const told = await ended(store.append('s', events(1), 2))
    expect(['OutcomeUnknown', 'Unavailable']).toContain(told)
    server.halfOpen(false)
    await persist(store.append('s', events(1), 2))
    expect(await store.head('s')).toBe(3)
  })

  test('whose open connection goes silent: the next append uses another', async () => {
    const { server, store } = await started({}, impatient)
    server.faults.script({ on: 'append', stream: 's', fault: { kind: 'no-reply' } })
    expect(await ended(store.append('s', events(1), 2))).toBe('OutcomeUnknown')
    const before = server.calls.get('batchAppend') ?? 0
    await persist(store.append('s', events(1), 2))
    expect(server.calls.get('batchAppend')).toBeGreaterThan(before)
  })

  test('that comes while the first is connecting is sent in the same call', async () => {
    const { server } = await started()
    const before = server.calls.get('batchAppend') ?? 0
    const store = open(server.url)
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => ended(store.append('s', events(1), 2 + i))))
    expect(outcomes).toEqual(Array<string>(20).fill('written'))
    expect(server.calls.get('batchAppend')).toBe(before + 1)
  })

  test('gets its own answer, whatever the order of answers', async () => {
    const { server, store } = await started()
    const lateMs = [160, 40, 120, 0, 80]
    for (const [i] of lateMs.entries()) await append(store, `s${i}`, events(1 + i), 'no_stream')
    for (const [i, afterMs] of lateMs.entries()) server.faults.script({ on: 'append', stream: `s${i}`, fault: { kind: 'late-reply', afterMs } })
    const outcomes = await Promise.all(lateMs.map((_, i) => store.append(`s${i}`, events(1), i)()))
    expect(outcomes).toEqual(lateMs.map((_, i) => ({ _tag: 'Right', right: { revision: i + 1 } })))
  })

  test('without an answer does not affect others that wait for theirs', async () => {
    const { server, store } = await started({}, { appendMs: 4_000 })
    await persist(store.append('other', events(1), 'no_stream'))
    server.faults.script({ on: 'append', stream: 's', fault: { kind: 'no-reply' } })
    const silent = ended(store.append('s', events(1), 2))
    // Answered when the other is given up, and long before it would be given up itself.
    await sleep(3_000)
    server.faults.script({ on: 'append', stream: 'other', fault: { kind: 'late-reply', afterMs: 1_100 } })
    const late = ended(store.append('other', events(1), 0))
    expect(await Promise.all([silent, late])).toEqual(['OutcomeUnknown', 'written'])
  })

  // The call fails as a whole, also for an append that the node wrote while it was still the leader.
  test.each(['not-leader', 'unavailable', 'internal', 'drop'] as const)(
    'whose call fails because of another (%s) is unknown: it may have been written, and sent again both are there once',
    async (kind) => {
      const { server, store } = await started()
      await append(store, 'other', events(1), 'no_stream')
      server.faults.script(
        { on: 'append', stream: 's', fault: { kind: 'late-reply', afterMs: 60_000 } },
        { on: 'append', stream: 'other', fault: { kind, leader: { host: '127.0.0.1', port: server.port } } },
      )
      const [batch, next] = [events(2, 10), events(1, 20)]
      const [written, failing] = [store.append('s', batch, 2), store.append('other', next, 0)]
      expect(await Promise.all([ended(written), ended(failing)])).toEqual(['OutcomeUnknown', 'OutcomeUnknown'])
      expect(await store.head('s')).toBe(4)
      await Promise.all([persist(written), persist(failing)])
      expect((await readAll(store, 's')).map(({ id }) => id).slice(3)).toEqual(batch.map(({ id }) => id))
      expect((await readAll(store, 'other')).map(({ id }) => id).slice(1)).toEqual(next.map(({ id }) => id))
    },
  )

  test('of one store is not affected when the connection of another breaks', async () => {
    const [one, two] = [await started(), await started()]
    one.server.faults.script({ on: 'append', stream: 's', fault: { kind: 'late-reply', afterMs: 150 } })
    two.server.faults.script({ on: 'append', stream: 's', fault: { kind: 'late-reply', afterMs: 150 } })
    const outcomes = [ended(one.store.append('s', events(1), 2)), ended(two.store.append('s', events(1), 2))]
    await sleep(50)
    two.server.dropConnections()
    expect(await Promise.all(outcomes)).toEqual(['written', 'OutcomeUnknown'])
  })

  test('late and repeated answers cause no unhandled rejection', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    try {
      const { server, store } = await started({}, impatient)
      server.faults.script({ on: 'append', stream: 's', fault: { kind: 'late-reply', afterMs: 400 } })
      await persist(store.append('s', events(1), 2))
      server.faults.script({ on: 'append', stream: 's', fault: { kind: 'duplicate-reply', afterMs: 5 } })
      await persist(store.append('s', events(1), 3))
      // Behind all that is late.
      await sleep(400)
      await persist(store.append('s', events(1), 4))
      expect(unhandled).not.toHaveBeenCalled()
    } finally {
      process.off('unhandledRejection', unhandled)
    }
  })

  test('follows the leader', async () => {
    const cluster = new Cluster()
    const first = await startServer({ cluster })
    const second = await startServer({ cluster, store: first.store })
    const store = open(first.url)
    await append(store, 's', events(1), 'no_stream')
    cluster.elect(second.member)
    await persist(store.append('s', events(1), 0))
    const calls = second.calls.get('batchAppend')
    expect(calls).toBeGreaterThan(0)
    expect((await readAll(store, 's')).map(({ revision }) => revision)).toEqual([0, 1])
    expect(second.calls.get('read')).toBeGreaterThan(0)
  })

  test('to a tombstoned stream is refused with the reason', async () => {
    const { server, store } = await started()
    await tombstoneStream(server, 's')
    const outcome = await store.append('s', events(1), 2)()
    expect(outcome).toMatchObject({ _tag: 'Left', left: { _tag: 'Unavailable', reason: expect.stringContaining('deleted by an administrator') as string } })
    await deleteStream(server, 'never')
  })

  test('over the limit of this server: too large, with its limit', async () => {
    const { store } = await started({ limits: { appendBytesMax: 1_000 } })
    const outcome = await store.append('s', [{ ...events(1)[0]!, data: JSON.stringify('x'.repeat(2_000)) }], 2)()
    expect(outcome).toMatchObject({ _tag: 'Left', left: { _tag: 'AppendTooLarge', bytesMax: 1_000 } })
    expect(await store.head('s')).toBe(2)
  })

  test('has its cause: metadata comes back with $correlationId and $causationId', async () => {
    const { store } = await started()
    const metadata = '{"$correlationId":"c","$causationId":"d","actor":"ann"}'
    await append(store, 's', [{ ...events(1)[0]!, metadata }], 2)
    expect((await readAll(store, 's')).at(-1)?.metadata).toBe(metadata)
  })
})
