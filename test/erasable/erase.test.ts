/** EV-07: erasing a task throws its key away; the chain stays whole, and so does everything else. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaybook, searchHistory } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type EventStore, type RecordedEvent, StoreError } from '@daybook/adapters/store'
import { encryptedIn, KeyFile, newKey, revealedData, revealingLog } from '@daybook/adapters/task-keys'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chainIsWhole } from '../support/chain.js'
import { caller, claim, codeOf, complete, configure, enqueue, fail, foldAll, logOf, ok, openQueue, type Opened, type OpenOptions, sleep, stateText, task, textOf } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'
import { bytesIn } from './support.js'

useVirtualTime()

let dir = ''
let file = ''
const opened: Array<KeyFile> = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-erase-'))
  file = join(dir, 'keys')
})
afterEach(() => {
  for (const keys of opened.splice(0)) keys.close()
  rmSync(dir, { recursive: true, force: true })
})
const openKeys = (make: (path: string) => KeyFile = (path) => new KeyFile(path)): KeyFile => {
  const keys = make(file)
  opened.push(keys)
  return keys
}

/** An erasable queue, and the keys that it uses. */
const open = async (options: OpenOptions = {}, keys = openKeys()): Promise<Opened & { readonly keys: KeyFile }> => {
  const queue = await openQueue({ keys, ...options })
  ok(await queue.engine.submit(configure({ erasable: true }), caller))
  return { ...queue, keys }
}
const finish = async ({ engine }: Pick<Opened, 'engine'>, ...ids: ReadonlyArray<string>): Promise<void> => {
  ok(await engine.submit(enqueue(...ids), caller))
  for (const claimed of ok(await engine.claim(claim('ann', ids.length), caller))) ok(await engine.submit(complete(claimed), caller))
}
const shownIn = async (store: EventStore, keys: KeyFile): Promise<ReadonlyArray<string>> => (await logOf(store)).map((event) => revealedData(event, keys))
const whyNot = (outcome: unknown): string => (outcome as { readonly left: { readonly detail: string } }).left.detail

test('EV-07: what the task contained is gone, the events of all others are as they were, and the state is the fold of the log', async () => {
  const queue = await open()
  await finish(queue, 'a', 'b')
  const before = await shownIn(queue.store, queue.keys)
  expect(ok(await queue.engine.erase('a', 'Article 17', caller))).toEqual({ id: 'a', erased: true })
  const log = await logOf(queue.store)
  const after = await shownIn(queue.store, queue.keys)
  expect(log.at(-1)).toMatchObject({ type: 'TaskErased', data: '{"task":"a","reason":"Article 17"}' })
  for (const [i, text] of before.entries()) {
    const isOfA = log[i]!.data.startsWith('{"task":"a"') && encryptedIn(log[i]!.data) !== undefined
    if (isOfA) expect(after[i]).toBe(`${encryptedIn(log[i]!.data)!.facts},"content":{"withheld":"erased"}}`)
    else expect(after[i]).toBe(text)
  }
  expect(after.filter((text) => text.includes('"withheld":"erased"'))).toHaveLength(2)
  chainIsWhole(log)
  expect(await stateText(queue.engine)).toBe(textOf(foldAll(log)))
})

test('EV-07: no byte of the key is left in any file', async () => {
  const queue = await open()
  await finish(queue, 'a', 'b')
  const keyOf = (id: string): Buffer => (queue.keys.newestOf('q', id) as { readonly key: Buffer }).key
  const [gone, kept] = [keyOf('a'), keyOf('b')]
  const isIn = async (key: Buffer): Promise<ReadonlyArray<string>> => {
    return [...bytesIn(dir)].filter(([, bytes]) => bytes.includes(key)).map(([name]) => name)
  }
  expect(await isIn(gone)).not.toEqual([])
  ok(await queue.engine.erase('a', 'r', caller))
  expect(await isIn(gone)).toEqual([])
  expect(await isIn(kept)).not.toEqual([])
})

test('EV-07: of many keys, wherever in the file they are', () => {
  const keys = openKeys()
  const made = Array.from({ length: 300 }, (_, revision) => ({ ...newKey(), queue: 'q', task: `t${revision}`, revision }))
  for (const each of made) keys.add([each])
  for (let i = 50; i < 250; i += 7) {
    keys.throwAway({ queue: 'q', task: `t${i}`, revision: i }, i + 1)
    expect([...bytesIn(dir).values()].some((bytes) => bytes.includes(made[i]!.key))).toBe(false)
  }
  expect(keys.find(made[51]!.id)).toEqual(made[51]!.key)
})

test('EV-07: erased once more, nothing happens, and the answer is the same', async () => {
  const queue = await open()
  await finish(queue, 'a')
  for (let i = 0; i < 2; i++) expect(ok(await queue.engine.erase('a', 'r', caller))).toEqual({ id: 'a', erased: true })
  expect((await logOf(queue.store)).filter(({ type }) => type === 'TaskErased')).toHaveLength(1)
})

describe('EV-07: refused, with what to do', () => {
  test('while the task is not finished', async () => {
    const { engine, keys } = await open()
    ok(await engine.submit(enqueue('waits', 'dead', 'held'), caller))
    expect(whyNot(await engine.erase('waits', 'r', caller))).toMatch(/waits is pending: .* Cancel it first/)
    ok(await engine.submit({ type: 'Cancel', task: 'waits', reason: 'r' }, caller))
    const [dead] = ok(await engine.claim(claim(), caller))
    ok(await engine.submit(fail(dead!, 'ann', false), caller))
    expect(whyNot(await engine.erase(dead!.task, 'r', caller))).toMatch(/is a? ?dead-letter: .* Discard it first/)
    ok(await engine.claim(claim('bob'), caller))
    expect(codeOf(await engine.erase('held', 'r', caller))).toBe('wrong-state')
    expect(ok(await engine.erase('waits', 'r', caller))).toEqual({ id: 'waits', erased: true })
    // What was refused leaves nothing that a later start would act on.
    expect(keys.intended('q')).toEqual([])
    expect(keys.newestOf('q', 'held')).toMatchObject({ id: expect.any(String) as string })
  })

  test('if the queue was not erasable when the task was enqueued, also if something was encrypted later', async () => {
    const queue = await openQueue({ keys: openKeys(), defaults: { retentionSeconds: 60 } })
    ok(await queue.engine.submit(enqueue('before', 'between'), caller))
    const refused = await queue.engine.erase('before', 'r', caller)
    expect(codeOf(refused)).toBe('wrong-state')
    ok(await queue.engine.submit({ type: 'Cancel', task: 'before', reason: 'r' }, caller))
    expect(whyNot(await queue.engine.erase('before', 'r', caller))).toMatch(/not erasable: .*settings set erasable=true/)
    ok(await queue.engine.submit(configure({ erasable: true }), caller))
    const [claimed] = ok(await queue.engine.claim(claim(), caller))
    ok(await queue.engine.submit(complete(claimed!), caller))
    expect(encryptedIn((await logOf(queue.store)).at(-1)!.data)).toBeDefined()
    expect(whyNot(await queue.engine.erase('between', 'r', caller))).toMatch(/in the clear/)
    // Nor when only the keys know it.
    await sleep(90_000)
    expect(whyNot(await queue.engine.erase('between', 'r', caller))).toMatch(/in the clear/)
    expect((await logOf(queue.store)).some(({ type }) => type === 'TaskErased')).toBe(false)
  })

  test('if there is no such task, and in a program without keys', async () => {
    const { engine } = await open()
    expect(codeOf(await engine.erase('nobody', 'r', caller))).toBe('not-found')
    expect(codeOf(await engine.erase('#7', 'r', caller))).toBe('not-found')
    expect(codeOf(await (await openQueue()).engine.erase('a', 'r', caller))).toBe('disabled')
  })
})

test('EV-07: a task that the queue does not know any more can be erased, and its history is found with what ended it', async () => {
  const queue = await open({ defaults: { retentionSeconds: 1 } })
  await finish(queue, 'a')
  await finish(queue, 'b')
  await sleep(10_000)
  await finish(queue, 'c')
  expect(ok(await queue.engine.erase('a', 'late', caller))).toEqual({ id: 'a', erased: true })
  const head = (await logOf(queue.store)).length - 1
  const { events, next } = await searchHistory(revealingLog(queue.store, queue.keys), 'q', 'a', head, 1_000)
  expect(next).toBeUndefined()
  expect(events.map(({ type }) => type)).toEqual(['TaskEnqueued', 'Claimed', 'Completed', 'TaskErased'])
  expect(events[0]!.data).toContain('{"withheld":"erased"}')
  // In parts, as a large log is searched.
  const parts: Array<string> = []
  for (let from: number | undefined = head; from !== undefined; ) {
    const found = await searchHistory(queue.store, 'q', 'a', from, 2)
    parts.unshift(...found.events.map(({ type }) => type))
    from = found.next
  }
  expect(parts).toEqual(['TaskEnqueued', 'Claimed', 'Completed', 'TaskErased'])
})

test('EV-07: another task that got the same id keeps its content', async () => {
  const queue = await open({ defaults: { retentionSeconds: 1 } })
  await finish(queue, 'a')
  await sleep(10_000)
  ok(await queue.engine.erase('a', 'r', caller))
  await finish(queue, 'a')
  expect((await shownIn(queue.store, queue.keys)).filter((text) => text.includes('"of a"'))).toHaveLength(1)
  // An intention of then has nothing to do with the task of now.
  queue.keys.intend({ queue: 'q', task: 'a', revision: 0 })
  await queue.engine.close()
  await openQueue({ store: queue.store, keys: queue.keys })
  expect((await shownIn(queue.store, queue.keys)).filter((text) => text.includes('"of a"'))).toHaveLength(1)
  expect(queue.keys.intended('q')).toEqual([])
})

describe('EV-07: a crash', () => {
  /** Keys of a process that is killed at a point. */
  class Killed extends KeyFile {
    override throwAway(): void {
      throw new Error('killed')
    }
  }
  test('after the event and before the key is thrown away: the next start throws it away', async () => {
    const store = openMemoryStore()
    const queue = await open({ store }, openKeys((path) => new Killed(path)))
    await finish(queue, 'a', 'b')
    const outcome = await queue.engine.erase('a', 'r', caller)
    expect([codeOf(outcome), whyNot(outcome)]).toEqual(['unavailable', expect.stringContaining('could not be thrown away')])
    expect((await logOf(store)).at(-1)!.type).toBe('TaskErased')
    expect(queue.keys.intended('q')).toHaveLength(1)
    const keys = openKeys()
    expect(keys.newestOf('q', 'a')).not.toBe('erased')
    const again = await openQueue({ store, keys })
    expect(keys.newestOf('q', 'a')).toBe('erased')
    expect(keys.newestOf('q', 'b')).not.toBe('erased')
    expect(keys.intended('q')).toEqual([])
    expect(ok(await again.engine.erase('a', 'r', caller))).toEqual({ id: 'a', erased: true })
  })

  test('and while the next start looks for the event, nothing is decided: whoever opened the queue hears of all that is', async () => {
    const store = openMemoryStore()
    const queue = await open({ store }, openKeys((path) => new Killed(path)))
    ok(await queue.engine.submit(enqueue(task('later', { availableAt: Date.now() + 60_000 })), caller))
    await finish(queue, 'a')
    await queue.engine.erase('a', 'r', caller)
    await queue.engine.close()
    await sleep(120_000)
    const slow: EventStore = { ...store, read: async function* (...asked) {
      await sleep(1_000)
      yield* store.read(...asked)
    } }
    const heard: Array<string> = []
    const daybook = createDaybook({ store: slow, keys: openKeys(), opened: ({ committed }) => void committed.subscribe(({ events }) => heard.push(...events.map((event) => ('type' in event ? event.type : '')))) })
    await daybook.ready
    await sleep(20_000)
    await daybook.close()
    expect(heard).toEqual(['TaskDue'])
  })

  test('or a reader that does not let go of the file: the answer says so, and the next start finishes it', async () => {
    const store = openMemoryStore()
    const queue = await open({ store })
    await finish(queue, 'a')
    const { key } = queue.keys.newestOf('q', 'a') as { readonly key: Buffer }
    const reader = new Database(file, { readonly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM keys').get()
    const outcome = await queue.engine.erase('a', 'r', caller)
    expect([codeOf(outcome), whyNot(outcome)]).toEqual(['unavailable', expect.stringContaining('in use by another process')])
    expect([...bytesIn(dir).values()].some((bytes) => bytes.includes(key))).toBe(true)
    reader.close()
    await openQueue({ store, keys: openKeys() })
    expect([...bytesIn(dir).values()].some((bytes) => bytes.includes(key))).toBe(false)
    expect(queue.keys.intended('q')).toEqual([])
  })

  test('or a reader that lets go of the file later: erasing it again says that it is erased only when no byte of the key is left', async () => {
    const queue = await open()
    await finish(queue, 'a')
    const { key } = queue.keys.newestOf('q', 'a') as { readonly key: Buffer }
    const reader = new Database(file, { readonly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM keys').get()
    for (let i = 0; i < 2; i++) {
      const outcome = await queue.engine.erase('a', 'r', caller)
      expect([codeOf(outcome), whyNot(outcome)]).toEqual(['unavailable', expect.stringContaining('in use by another process')])
    }
    reader.close()
    expect(ok(await queue.engine.erase('a', 'r', caller))).toEqual({ id: 'a', erased: true })
    expect([...bytesIn(dir).values()].some((bytes) => bytes.includes(key))).toBe(false)
    expect(queue.keys.intended('q')).toEqual([])
    expect((await logOf(queue.store)).filter(({ type }) => type === 'TaskErased')).toHaveLength(1)
  })

  test('before the event: the next start forgets the intention, and the task keeps its content', async () => {
    const store = openMemoryStore()
    const queue = await open({ store })
    await finish(queue, 'a')
    queue.keys.intend({ queue: 'q', task: 'a', revision: queue.engine.status().revision })
    queue.keys.intend({ queue: 'other', task: 'a', revision: 0 })
    const again = openKeys()
    await openQueue({ store, keys: again })
    expect([again.intended('q'), again.intended('other').length]).toEqual([[], 1])
    expect((await shownIn(store, again)).filter((text) => text.includes('"of a"'))).toHaveLength(1)
  })

  test.each(['unknown, written', 'unknown, lost'] as const)('an append of which it is not known whether it happened (%s): the key goes when its event is in the log', async (kind) => {
    const queue = await open()
    await finish(queue, 'a')
    queue.store.script.push({ kind })
    expect(ok(await queue.engine.erase('a', 'r', caller))).toEqual({ id: 'a', erased: true })
    const log = await logOf(queue.store)
    expect(log.filter(({ type }) => type === 'TaskErased')).toHaveLength(1)
    expect([queue.keys.newestOf('q', 'a'), queue.keys.intended('q')]).toEqual(['erased', []])
    chainIsWhole(log)
  })

  test('a log that cannot be read: the answer says that it is the log, and not the keys', async () => {
    const queue = await open()
    await finish(queue, 'a')
    Object.assign(queue.store, { pick: () => Promise.reject(new StoreError('unavailable', 'not now')) })
    expect(await queue.engine.erase('a', 'r', caller)).toMatchObject({ left: { code: 'unavailable', detail: 'the log cannot be read: not now' } })
  })

  test('an erasure that cannot be recorded leaves the task as it was', async () => {
    const inner = openMemoryStore()
    const queue = await open({ store: inner })
    await finish(queue, 'a')
    queue.store.script.push({ kind: 'unavailable' })
    expect(codeOf(await queue.engine.erase('a', 'r', caller))).toBe('unavailable')
    expect(queue.keys.intended('q')).toEqual([])
    expect(queue.keys.newestOf('q', 'a')).not.toBe('erased')
  })
})

test('EV-07: a server that shares the log and the keys cannot read it either, nor after it has read it before', async () => {
  const store = openMemoryStore({ isShared: true })
  const [here, there] = [await open({ store }), await openQueue({ store, keys: openKeys() })]
  await finish(here, 'a')
  const last = here.engine.status().revision
  await there.engine.reached(last, 30_000)
  const read = async (): Promise<string | undefined> => (await there.engine.contents([last]))[0]
  expect(await read()).toContain('done')
  ok(await here.engine.erase('a', 'r', caller))
  expect(await read()).toContain('{"withheld":"erased"}')
})

test('EV-07: a copy of the keys is all that can bring it back', async () => {
  const queue = await open()
  await finish(queue, 'a')
  queue.keys.close()
  copyFileSync(file, `${file}.backup`)
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${file}.backup-wal`)
  ok(await queue.engine.erase('a', 'r', caller))
  const [first] = (await logOf(queue.store)).filter(({ type }) => type === 'TaskEnqueued') as [RecordedEvent]
  expect(revealedData(first, queue.keys)).not.toContain('of a')
  const backup = openKeys((path) => new KeyFile(`${path}.backup`))
  expect(revealedData(first, backup)).toContain('of a')
})
