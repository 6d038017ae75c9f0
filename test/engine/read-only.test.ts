/** EV-11: nothing is decided after an event that this version cannot read. The state can still be read. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeRecorded, type QueueEngine } from '@daybook/adapters/engine'
import { openSnapshotFolder } from '@daybook/adapters/files'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore, EventToAppend } from '@daybook/adapters/store'
import { type Command, commandCodecs, daybookVersion, depthOf, eventTypes, foldVersion, headOf, isNewer, isUnreadable, lastUnreadableOf, needsOf, taskOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { caller, claim, codeOf, complete, configure, enqueue, fail, foldAll, heartbeat, logOf, ok, openQueue, settle, sleep, stateText, stream, task, textOf, typesIn, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

let made = 0
const foreign = (type: string, data = '{}', metadata: object = {}): EventToAppend => ({
  id: `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`,
  type,
  data,
  // `needs` comes first, as in written events.
  metadata: JSON.stringify({ ...metadata, schemaVersion: 1, at: '2026-01-05T09:00:00.000Z', ...metadata }),
})
const append = async (store: EventStore, event: EventToAppend): Promise<number> => {
  const head = await store.head(stream)
  expect(E.isRight(await store.append(stream, [event], head < 0 ? 'no_stream' : head)())).toBe(true)
  return head + 1
}
/** From a newer server. */
const newer = (): EventToAppend => foreign('TaskPainted', '{"task":"a"}', { needs: '0.7.1' })

const held = { task: 'a', token: 1 }
const commands: ReadonlyArray<Command> = [
  enqueue('new'),
  { type: 'Import', tasks: [{ ...task('old'), status: 'completed' }] },
  claim(),
  heartbeat(held),
  complete(held),
  fail(held),
  { type: 'Release', task: 'a', agent: 'ann', token: 1, reason: 'r' },
  { type: 'Cancel', task: 'a', reason: 'r' },
  { type: 'CancelAll', filter: {}, reason: 'r' },
  { type: 'Retry', filter: {}, reviewer: 'r', reason: 'r' },
  { type: 'Discard', filter: {}, reviewer: 'r', reason: 'r' },
  { type: 'OpenBreaker', taskType: 'work', reason: 'r' },
  { type: 'CloseBreaker', taskType: 'work', reason: 'r' },
  { type: 'Restart', task: 'a', id: 'b', reason: 'r', content: '{}' },
  { type: 'AmendTask', task: 'a', reason: 'r', priority: 1 },
  { type: 'Bump', task: 'a', reason: 'r' },
  { type: 'Erase', task: 'a', reason: 'r' },
  { type: 'RegisterAgent', agent: 'ann' },
  { type: 'TerminateAgent', agent: 'ann', reason: 'r' },
  configure({ maxAttempts: 9 }),
  { type: 'Pause', reason: 'r' },
  { type: 'Resume', reason: 'r' },
  { type: 'DeleteQueue', reason: 'r' },
  { type: 'Tick' },
  { type: 'Park', task: 'a', agent: 'ann', token: 1, callbackKey: 'k', timeoutSeconds: 60 },
  { type: 'Callback', callbackKey: 'k', content: '{}' },
  { type: 'CreateSchedule', name: 'nightly', cron: '0 2 * * *', task: { type: 'work' } },
  { type: 'ChangeSchedule', name: 'nightly', paused: true },
  { type: 'RemoveSchedule', name: 'nightly' },
  { type: 'CreateBatch', id: 'b', tasks: [] },
  { type: 'CloseBatch', id: 'b' },
  { type: 'CancelBatch', id: 'b', reason: 'r' },
  { type: 'SetLimit', key: 'db', concurrency: 1 },
  { type: 'RemoveLimit', key: 'db' },
  { type: 'Approve', approval: 'a', reason: 'r' },
  { type: 'Refuse', approval: 'a', reason: 'r' },
  { type: 'Snooze', filter: {}, until: 2_000_000_000_000, reviewer: 'r', reason: 'r' },
  { type: 'Escalate', filter: {}, reviewer: 'r', reason: 'r' },
  { type: 'Redrive', filter: {}, perMinute: 9, reviewer: 'r', reason: 'r' },
  { type: 'StopRedrive', reviewer: 'r', reason: 'r' },
]

/** Throws unless every command is refused with advice, nothing is appended, and reads are answered. */
const isReadOnly = async (engine: QueueEngine, store: EventStore, ...said: ReadonlyArray<string>): Promise<void> => {
  const before = await store.head(stream)
  const outcomes = [
    ...(await Promise.all(commands.map((command) => engine.submit(command, caller)))),
    ...(await engine.submitAll(commands, caller)),
    await engine.claim(claim(), caller),
  ]
  for (const outcome of outcomes) {
    expect(codeOf(outcome)).toBe('read-only')
    if (E.isLeft(outcome)) for (const words of said) expect(outcome.left.detail).toContain(words)
  }
  expect(codeOf(await engine.claim(claim(), caller, { waitMs: 60_000 }))).toBe('read-only')
  expect(ok(await engine.read(depthOf)).total).toBeGreaterThan(0)
  expect(ok(await engine.read((state) => taskOf(state, 'a')))?.id).toBe('a')
  expect(engine.status().readOnly).toContain(said[0] ?? '')
  expect(await store.head(stream)).toBe(before)
}

test('every type of command is tried here', () => {
  expect(commands.map(({ type }) => type).sort()).toEqual(Object.keys(commandCodecs).sort())
})

/** Runs a test with a temporary folder. */
const withFolder = (run: (dir: string) => Promise<void>) => async (): Promise<void> => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-read-only-'))
  try {
    await run(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

describe('at the start', () => {
  test.each([
    ['of a type to come', foreign('TaskPainted', '{}', { needs: '0.7.1' }), ['event 2 (TaskPainted, version 1)', 'unknown type', 'Update this server to Daybook 0.7.1 or newer; it is 0.1.0']],
    ['of a version to come', foreign('TaskEnqueued', '{}', { schemaVersion: 9, needs: '2.0.0' }), ['event 2 (TaskEnqueued, version 9)', 'unknown version', 'Daybook 2.0.0']],
    ['with a field to come, in a type that is known', foreign('QueuePaused', '{"reason":"r","until":7}', { needs: '0.3.0' }), ['event 2 (QueuePaused, version 1)', 'Daybook 0.3.0']],
    ['with a setting to come', foreign('QueueConfigured', '{"patch":{"maxAttempts":9,"regions":"apart"}}'), ['event 2 (QueueConfigured, version 1)', 'unknown setting', 'A newer Daybook']],
    ['with a setting to come within others', foreign('QueueConfigured', '{"patch":{"capacity":{"maxConcurrentAgents":9,"perTenant":1}}}'), ['event 2 (QueueConfigured, version 1)', 'unknown setting']],
    ['of a stranger', foreign('Painted'), ['unknown type', 'A newer Daybook, or another program, wrote it']],
    ['that is damaged', foreign('Completed', '{"task":'), ['malformed data', 'It is damaged']],
    ['that says less than its type must', foreign('Completed', '{"task":"a"}'), ['malformed data']],
  ])('an event %s makes the queue read-only, and the reason names it', async (_, event, said) => {
    const store = openMemoryStore()
    const { engine: before } = await openQueue({ store })
    await before.submit(enqueue('a', 'b'), caller)
    await before.close()
    await append(store, event)
    const { engine, warnings } = await openQueue({ store })
    await until(() => warnings.length > 0)
    for (const words of [...said, '--past-unreadable q@2']) expect(warnings.join()).toContain(words)
    await isReadOnly(engine, store, ...said)
    expect(engine.status().unreadable).toBe(1)
    expect(warnings.filter((warning) => warning.includes('read-only'))).toHaveLength(1)
    await engine.close()
  })

  test('time stands still: leases and delays do not end', async () => {
    const store = openMemoryStore()
    let now = 1_800_000_000_000
    const { engine: before } = await openQueue({ store, clock: () => now })
    await before.submit(enqueue(task('a', { timeout: 1 }), task('b', { availableAt: now + 1_000 })), caller)
    await before.claim(claim(), caller)
    await before.close()
    await append(store, newer())
    now += 3_600_000
    const { engine } = await openQueue({ store, clock: () => now })
    await sleep(50)
    await isReadOnly(engine, store)
    expect(await typesIn(store)).toEqual(['TaskEnqueued', 'TaskEnqueued', 'Claimed', 'TaskPainted'])
    await engine.close()
  })

  test('an event that was skipped before the snapshot counts, too', withFolder(async (dir) => {
    const store = openMemoryStore()
    const snapshots = await openSnapshotFolder(dir)
    const { engine: before } = await openQueue({ store })
    await before.submit(enqueue('a'), caller)
    await before.close()
    const revision = await append(store, newer())
    // An operator allowed to go on, and a snapshot was taken.
    const { engine: past } = await openQueue({ store, snapshots, pastUnreadable: { q: revision } })
    expect(codeOf(await past.submit(enqueue('b'), caller))).toBe('success')
    await past.close()
    expect((await snapshots.list(stream, foldVersion, 9)).usable).toHaveLength(1)
    const { engine } = await openQueue({ store, snapshots })
    expect(engine.status().snapshotRevision).toBe(2)
    await isReadOnly(engine, store, 'event 1 (TaskPainted', '0.7.1')
    await engine.close()
  }))

  test('an incomplete state is not saved as a snapshot, because a newer version would start from it', withFolder(async (dir) => {
    const store = openMemoryStore()
    const snapshots = await openSnapshotFolder(dir)
    const { engine: before } = await openQueue({ store })
    await before.submit(enqueue('a'), caller)
    await before.close()
    await append(store, newer())
    const { engine } = await openQueue({ store, snapshots, snapshotEvery: 1 })
    await engine.read(headOf)
    await settle()
    await engine.close()
    expect((await snapshots.list(stream, foldVersion, 9)).usable).toEqual([])
  }))
})

describe('while it runs', () => {
  test('an unreadable event of another server makes the queue read-only, and waiting claims are refused', async () => {
    const store = openMemoryStore({ isShared: true })
    const { engine, warnings } = await openQueue({ store })
    await engine.submit(enqueue('a'), caller)
    await engine.claim(claim('ann'), caller)
    const waiting = engine.claim(claim('bob'), caller, { waitMs: 60_000 })
    await append(store, newer())
    expect(codeOf(await waiting)).toBe('read-only')
    await isReadOnly(engine, store, 'event 2 (TaskPainted', '0.7.1')
    expect(warnings.filter((warning) => warning.includes('read-only'))).toHaveLength(1)
    // Events after it are still folded and shown.
    await append(store, foreign('QueuePaused', '{"reason":"from there"}'))
    await until(() => engine.status().revision === 3)
    expect(ok(await engine.read(headOf)).paused).toBe('from there')
    await engine.close()
  })

  test('an unreadable event found in a conflict: what was decided without it is not appended', async () => {
    const store = openMemoryStore({ isShared: true })
    const { engine } = await openQueue({ store })
    await engine.submit(enqueue('a'), caller)
    await append(store, newer())
    // The engine does not know of it yet, so this is decided, and the store refuses it.
    const outcomes = await Promise.all([engine.submit(enqueue('b'), caller), engine.claim(claim(), caller), engine.claim(claim('bob'), caller, { waitMs: 60_000 })])
    expect(outcomes.map(codeOf)).toEqual(['read-only', 'read-only', 'read-only'])
    await isReadOnly(engine, store, 'TaskPainted')
    expect(await typesIn(store)).toEqual(['TaskEnqueued', 'TaskPainted'])
    await engine.close()
  })

  test('the version in the reason can read all of the events, not only the last', async () => {
    const store = openMemoryStore({ isShared: true })
    const { engine } = await openQueue({ store })
    await engine.submit(enqueue('a'), caller)
    for (const needs of ['0.9.0', '0.10.0', undefined, '0.2.9', 'soon']) await append(store, foreign('TaskPainted', '{}', { needs }))
    await until(() => engine.status().revision === 5)
    await isReadOnly(engine, store, 'event 5', 'Daybook 0.10.0')
    await engine.close()
  })
})

describe('--past-unreadable', () => {
  test('skips unreadable events up to that revision, only in this queue', async () => {
    const store = openMemoryStore({ isShared: true })
    const { engine: before } = await openQueue({ store })
    await before.submit(enqueue('a', 'b'), caller)
    await before.close()
    const revision = await append(store, foreign('Completed', '{"task":'))
    for (const pastUnreadable of [{ q: revision - 1 }, { other: revision }, {}]) {
      const { engine } = await openQueue({ store, pastUnreadable })
      await isReadOnly(engine, store, 'malformed data')
      await engine.close()
    }
    const { engine } = await openQueue({ store, pastUnreadable: { q: revision } })
    const [claimed] = ok(await engine.claim(claim(), caller))
    expect(codeOf(await engine.submit(complete(claimed!), caller))).toBe('success')
    expect(engine.status()).toMatchObject({ readOnly: undefined, unreadable: 1 })
    expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
    await append(store, newer())
    await until(() => engine.status().readOnly !== undefined)
    await isReadOnly(engine, store, 'TaskPainted')
    await engine.close()
  })
})

describe('needs', () => {
  test('this version can read what it writes, and the needs of its events say so', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../packages/core/package.json', import.meta.url), 'utf8')) as { readonly version: string }
    expect(daybookVersion).toBe(manifest.version)
    for (const type of eventTypes) expect(isNewer(needsOf[type] ?? '0.1.0', daybookVersion), type).toBe(false)
  })

  test('versions are compared by their numbers', () => {
    const part = fc.nat({ max: 30 })
    fc.assert(
      fc.property(fc.tuple(part, part, part), fc.tuple(part, part, part), (one, other) => {
        const rank = ([a, b, c]: readonly [number, number, number]): number => a * 1e6 + b * 1e3 + c
        expect(isNewer(one.join('.'), other.join('.'))).toBe(rank(one) > rank(other))
      }),
      runs(300),
    )
    expect(isNewer('soon', '0.0.1')).toBe(false)
  })

  test('an event is unreadable exactly if it needs a newer version', () => {
    for (const [needs, isRead] of [['0.0.9', true], [daybookVersion, true], ['0.1.1', false], ['1.0.0', false], ['soon', true], [7, true], [null, true]] as const) {
      const { data, metadata, type } = foreign('QueuePaused', '{"reason":"r"}', { needs })
      expect(isUnreadable(decodeRecorded({ type, data, metadata, created: 'never' })), String(needs)).toBe(!isRead)
    }
  })
})

test('teeth: an engine that decides nevertheless is caught', async () => {
  const store = openMemoryStore()
  const { engine } = await openQueue({ store })
  await engine.submit(enqueue('a'), caller)
  await expect(isReadOnly(engine, store)).rejects.toThrow('read-only')
  expect(ok(await engine.read(lastUnreadableOf))).toBeNull()
})
