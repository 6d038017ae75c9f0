/** EV-07: the engine of an erasable queue: what it folds, what it refuses, and what it does without keys. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contentOf, type QueueEngine } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore, RecordedEvent } from '@daybook/adapters/store'
import { encryptedIn, KeyFile, type KeyStore, type NewKey, noKeys, revealedData } from '@daybook/adapters/task-keys'
import { deadLetters, Json } from '@daybook/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chainIsWhole } from '../support/chain.js'
import { isLocked } from '../stores/store-files.js'
import { caller, claim, codeOf, complete, configure, enqueue, fail, foldAll, logOf, ok, openQueue, sleep, stateText, task, textOf } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const openKeys = (): KeyStore => new KeyFile(':memory:')
const erasable = configure({ erasable: true })

/** Everything that has free text, and a chain of fixes that halts. */
const live = async (engine: QueueEngine): Promise<void> => {
  ok(await engine.submit(enqueue(task('a', { phase: 'VALIDATION', ticketId: 'T-1' }), task('b'), task('c')), caller))
  for (const [turn, message] of ['no luck', 'none again'].entries()) {
    const [claimed] = ok(await engine.claim({ ...claim(), types: ['work'] }, caller))
    if (claimed === undefined) throw new Error(`nothing to claim in turn ${turn}`)
    ok(await engine.submit({ ...fail(claimed), error: { message, stack: 'at line 1' }, checkpoint: { cornerstone: turn } }, caller))
  }
  const [released] = ok(await engine.claim(claim('bob'), caller))
  ok(await engine.submit({ type: 'Release', task: released!.task, agent: 'bob', token: released!.token, reason: 'not for me' }, caller))
  const validation = { error: 'two tests fail', fix: '{"payload":"fix"}', check: '{"payload":"check"}' }
  await sleep(200_000)
  const [checked] = ok(await engine.claim(claim('cleo'), caller))
  ok(await engine.submit({ ...complete(checked!, 'cleo'), found: { discoveries: [{ kind: 'security_issue', content: '{"payload":{"what":"leak"}}', ticketId: 'T-2' }], left: 0, validation } }, caller))
}

test('EV-07, INV-15: the state is the fold of the log without any key, and has none of what is withheld', async () => {
  const { engine, store } = await openQueue({ keys: openKeys() })
  ok(await engine.submit(erasable, caller))
  await live(engine)
  const log = await logOf(store)
  chainIsWhole(log)
  expect(await stateText(engine)).toBe(textOf(foldAll(log)))
  const texts = log.map(({ data }) => data).join('\n') + (await stateText(engine))
  for (const secret of ['of a', 'of b', 'no luck', 'none again', 'at line 1', 'cornerstone', 'not for me', 'two tests fail', 'fix"', 'leak']) expect([secret, texts.includes(secret)]).toEqual([secret, false])
  expect(log.map(({ type }) => type)).toContain('SpawnProposed')
})

test('EV-07: revealed, the log is that of a queue that is not erasable', async () => {
  const keys = openKeys()
  const [closed, open] = [await openQueue({ keys }), await openQueue()]
  ok(await closed.engine.submit(erasable, caller))
  ok(await open.engine.submit(configure({ retentionSeconds: 604_801 }), caller))
  await Promise.all([live(closed.engine), live(open.engine)])
  const [secret, plain] = [await logOf(closed.store), await logOf(open.store)]
  const shown = (events: ReadonlyArray<RecordedEvent>) => events.slice(1).map((event) => [event.type, JSON.parse(revealedData(event, keys)) as unknown])
  // Ids of spawned tasks and of approvals are made from the time, which is the same.
  expect(shown(secret)).toEqual(shown(plain))
  expect(secret.filter(({ data }) => encryptedIn(data) !== undefined).length).toBeGreaterThan(8)
})

test('EV-07: what waits for a guardian is encrypted as well, and enqueued with its content', async () => {
  const { engine, store } = await openQueue({ keys: openKeys() })
  ok(await engine.submit(erasable, caller))
  await live(engine)
  const proposed = (await logOf(store)).find(({ type }) => type === 'SpawnProposed')!
  const { approval } = JSON.parse(proposed.data) as { readonly approval: string }
  const { spawned } = ok(await engine.submit({ type: 'Approve', approval, reason: 'fine' }, caller))
  const revision = (await logOf(store)).findIndex(({ data }) => data.includes(`"task":"${spawned[0]}","number"`))
  const [data] = await engine.contents([revision])
  expect(JSON.parse(contentOf(data!)!)).toMatchObject({ payload: { what: 'leak' } })
})

test('EV-07: a claim after a restart gets the content', async () => {
  const [store, keys] = [openMemoryStore(), openKeys()]
  const first = await openQueue({ store, keys })
  ok(await first.engine.submit(erasable, caller))
  ok(await first.engine.submit(enqueue('a'), caller))
  await first.engine.close()
  const again = await openQueue({ store, keys })
  expect(ok(await again.engine.claim(claim(), caller))).toMatchObject([{ task: 'a', content: '{"payload":"of a"}' }])
})

describe('EV-07: keys', () => {
  test('are on disk before anything is encrypted with them: if they cannot be, nothing is appended, and the next try succeeds', async () => {
    let isFull = true
    class OnFullDisk extends KeyFile {
      override add(made: ReadonlyArray<NewKey>): void {
        if (isFull) throw new Error('database or disk is full')
        super.add(made)
      }
    }
    const { engine, store } = await openQueue({ keys: new OnFullDisk(':memory:') })
    ok(await engine.submit(erasable, caller))
    const outcomes = await Promise.all([engine.submit(enqueue('a'), caller), engine.submit(enqueue('b'), caller)])
    expect(outcomes.map(codeOf)).toEqual(['unavailable', 'unavailable'])
    expect(await store.head('taskqueue-q')).toBe(0)
    isFull = false
    for (let outcome; outcome === undefined || codeOf(outcome) === 'unavailable'; await sleep(50)) outcome = await engine.submit(enqueue('a'), caller)
    expect(ok(await engine.claim(claim(), caller))).toMatchObject([{ content: '{"payload":"of a"}' }])
    chainIsWhole(await logOf(store))
  })

  test('a program without a place for them can neither make a queue erasable nor write to one, and says what to do', async () => {
    const store = openMemoryStore()
    const without = await openQueue({ store })
    const refused = await without.engine.submit(erasable, caller)
    expect(refused).toMatchObject({ left: { code: 'disabled', detail: expect.stringContaining('keys') as string } })
    const { engine } = await openQueue({ store, keys: openKeys() })
    ok(await engine.submit(erasable, caller))
    ok(await engine.submit(enqueue('a'), caller))
    await engine.close()
    const later = await openQueue({ store })
    for (const command of [enqueue('b'), configure({ erasable: false })]) expect(codeOf(await later.engine.submit(command, caller))).toBe('read-only')
    expect(codeOf(await later.engine.claim(claim(), caller))).toBe('read-only')
    expect(await store.head('taskqueue-q')).toBe(1)
  })

  test('a task whose key is lost is not worked on: it becomes a dead letter that says so', async () => {
    const store = openMemoryStore()
    const first = await openQueue({ store, keys: openKeys() })
    ok(await first.engine.submit(erasable, caller))
    ok(await first.engine.submit(enqueue('a'), caller))
    await first.engine.close()
    const again = await openQueue({ store, keys: openKeys() })
    expect(ok(await again.engine.claim(claim(), caller))).toEqual([])
    expect(ok(await again.engine.read((state) => deadLetters(state, {}, 10)))).toMatchObject([{ id: 'a' }])
    expect(revealedData((await logOf(store))[1]!, noKeys)).toContain('"content":{"withheld":"key-missing"}')
  })

  test('another task that gets the same id has another key', async () => {
    const keys = openKeys()
    const { engine, store } = await openQueue({ keys, defaults: { retentionSeconds: 1 } })
    ok(await engine.submit(erasable, caller))
    for (let turn = 0; turn < 2; turn++) {
      ok(await engine.submit(enqueue('a'), caller))
      const [claimed] = ok(await engine.claim(claim(), caller))
      ok(await engine.submit(complete(claimed!), caller))
      await sleep(5_000)
    }
    const used = (await logOf(store)).flatMap(({ type, data }) => (encryptedIn(data) === undefined ? [] : [[type, encryptedIn(data)!.keyId]]))
    expect(used.map(([type]) => type)).toEqual(['TaskEnqueued', 'Completed', 'TaskEnqueued', 'Completed'])
    expect([used[0]![1] === used[1]![1], used[2]![1] === used[3]![1], used[1]![1] === used[2]![1]]).toEqual([true, true, false])
  })
})

describe('EV-07: what is encrypted belongs to its event', () => {
  const closedLog = async (): Promise<{ readonly log: ReadonlyArray<RecordedEvent>; readonly keys: KeyStore }> => {
    const keys = openKeys()
    const { engine, store } = await openQueue({ keys })
    ok(await engine.submit(erasable, caller))
    await live(engine)
    return { log: (await logOf(store)).filter(({ data }) => encryptedIn(data) !== undefined), keys }
  }

  test('it cannot be moved to another event, nor its facts, type, id or stream be changed', async () => {
    const { log, keys } = await closedLog()
    const [one, other] = log as [RecordedEvent, RecordedEvent]
    const damaged = (event: RecordedEvent): boolean => revealedData(event, keys).endsWith(',"content":{"withheld":"damaged"}}')
    expect(damaged(one)).toBe(false)
    expect(damaged({ ...one, data: one.data.replace(/"content":.*$/, other.data.slice(other.data.indexOf('"content":'))) })).toBe(true)
    expect(damaged({ ...one, data: one.data.replace('"priority":5', '"priority":6') })).toBe(true)
    expect(damaged({ ...one, type: 'TaskImported' })).toBe(true)
    expect(damaged({ ...one, id: other.id })).toBe(true)
    expect(damaged({ ...one, stream: 'taskqueue-other' })).toBe(true)
    expect(damaged({ ...one, data: one.data.replace(/(.)(."\})$/, (_, digit, end) => `${digit === 'A' ? 'B' : 'A'}${end}`) })).toBe(true)
  })

  test('every text is encrypted anew: equal contents do not look alike', async () => {
    const { engine, store } = await openQueue({ keys: openKeys() })
    ok(await engine.submit(erasable, caller))
    ok(await engine.submit(enqueue(task('x', { type: 'other', content: '{"payload":1}' }), task('y', { type: 'other', content: '{"payload":1}' })), caller))
    const [, a, b] = (await logOf(store)).map(({ data }) => encryptedIn(data))
    expect(a!.box).not.toBe(b!.box)
    expect(a!.keyId).not.toBe(b!.keyId)
    await live(engine)
    const nonces = (await logOf(store)).flatMap(({ data }) => encryptedIn(data)?.box.slice(0, 16) ?? [])
    expect(nonces.length).toBeGreaterThan(8)
    expect(new Set(nonces).size).toBe(nonces.length)
  })
})

test('EV-07: if the file with the keys is damaged, it is named, and nobody is led to start without it', () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-damaged-keys-'))
  try {
    const file = join(dir, 'log.db.keys')
    const sound = new KeyFile(file)
    sound.add(Array.from({ length: 200 }, (_, i): NewKey => ({ id: `key-${i}`, queue: 'q', task: `t${i}`, revision: i, key: Buffer.alloc(32, i) })))
    sound.close()
    const find = (): unknown => new KeyFile(file).find('key-7')
    truncateSync(file, 5_000)
    expect(find).toThrow(`the file with the keys of erasable tasks, ${file}, is damaged (database disk image is malformed): restore it from a backup. Do not start without it`)
    writeFileSync(file, 'no database '.repeat(1_000))
    expect(find).toThrow(`${file}, is damaged (file is not a database)`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

test('EV-07: a second thread that opens the file with the keys does not drop the locks of the first: otherwise a shell that ends would remove the WAL', () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-locked-keys-'))
  const file = join(dir, 'log.db.keys')
  const [first, second] = [new KeyFile(file), new KeyFile(file)]
  try {
    first.open()
    expect(isLocked(file)).toBe(true)
    second.open()
    expect(isLocked(file)).toBe(true)
  } finally {
    first.close()
    second.close()
    rmSync(dir, { recursive: true, force: true })
  }
})

test('EV-07: no content that users write is taken for encrypted', async () => {
  const store: EventStore = openMemoryStore()
  const { engine } = await openQueue({ store, defaults: { breakers: { defaults: { failureThreshold: 1_000_000 } } } })
  const like = ',"content":"A256GCM.abcdefghijklmnop.AAAA"}'
  const anything = fc.oneof(fc.json().filter((text) => Json.is(JSON.parse(text))), fc.constantFrom(like, { content: like }, { a: 1, content: 'A256GCM.abcdefghijklmnop.AAAA' }, [like], like.slice(0, -1)).map((value) => JSON.stringify(value)))
  const values = fc.sample(anything, 200)
  for (const [i, value] of values.entries()) {
    ok(await engine.submit(enqueue(task(`t${i}`, { content: `{"payload":${JSON.stringify(JSON.parse(value))}}` })), caller))
    const [claimed] = ok(await engine.claim(claim(), caller))
    const parsed = JSON.parse(value) as never
    ok(await engine.submit({ type: 'Heartbeat', task: claimed!.task, agent: 'ann', token: claimed!.token, progress: parsed, checkpoint: 's' }, caller))
    ok(await engine.submit({ ...fail(claimed!, 'ann', false), error: { message: value.slice(0, 100) || 'x' } }, caller))
  }
  for (const { data } of await logOf(store)) expect([data, encryptedIn(data)]).toEqual([data, undefined])
})
