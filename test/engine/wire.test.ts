/** Events as they are in the log: complete, linked, and readable by later versions. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decodeRecorded, historyOf, parseObject, showEvent, taskOfEvent, viewOf } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore, EventToAppend, RecordedEvent } from '@daybook/adapters/store'
import { headOf, isUnreadable } from '@daybook/core'
import { expect, test } from 'vitest'
import { below, oneOf, randomOf } from '../support/random.js'
import { claim, codeOf, complete, configure, caller, enqueue, fail, foldAll, heartbeat, logOf, ok, openQueue, stateText, stream, task, textOf } from '../support/queue.js'

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A queue with random events of all kinds. */
const lively = async (seed: number, store: EventStore = openMemoryStore()) => {
  const random = randomOf(seed)
  const opened = await openQueue({ store, random })
  const { engine } = opened
  const held = new Map<string, { task: string; token: number; agent: string }>()
  await engine.submit(configure({ decisionReport: 'required', maxAttempts: 4, breakers: { defaults: { failureThreshold: 8 } } }), caller)
  for (let i = 0; i < 150; i++) {
    const agent = `agent ${below(random, 4)}`
    const [some] = [...held.values()].slice(below(random, Math.max(1, held.size)))
    switch (below(random, 9)) {
      case 0:
      case 1:
      case 2: {
        const earlier = i > 5 && random() < 0.3 ? { dependencies: [`t${below(random, i - 2)}`] } : {}
        await engine.submit(enqueue(task(`t${i}`, { ...earlier, maxRetries: 2, backoffSeconds: 0 })), { actor: agent, correlationId: `request ${i}` })
        break
      }
      case 3:
      case 4:
        for (const { task: id, token } of ok(await engine.claim(claim(agent, 3), { actor: agent }))) held.set(id, { task: id, token, agent })
        break
      case 5:
        if (some !== undefined) await engine.submit(random() < 0.7 ? complete(some, some.agent) : { ...complete(some, some.agent), hasReport: false }, caller)
        break
      case 6:
        if (some !== undefined) await engine.submit(fail(some, some.agent, random() < 0.7), caller)
        break
      case 7:
        await engine.submit(oneOf(random, [
          { type: 'Cancel', task: `t${below(random, i + 1)}`, reason: 'no' } as const,
          { type: 'TerminateAgent', agent, reason: 'gone' } as const,
          { type: 'Retry', reviewer: 'r', reason: 'again', filter: {} } as const,
          { type: 'CloseBreaker', taskType: 'work', reason: 'fine' } as const,
        ]), caller)
        break
      default:
        if (some !== undefined) await engine.submit({ ...heartbeat(some, some.agent), progress: { n: i, content: ['x'] } }, caller)
    }
  }
  return { ...opened, log: await logOf(store) }
}

test('each event has time, actor, correlation and version; ids are unique; all events of a command have one causation', async () => {
  const { log } = await lively(1)
  expect(new Set(log.map(({ id }) => id)).size).toBe(log.length)
  for (const { id, metadata } of log) {
    const { at, actor, schemaVersion, $correlationId, $causationId } = parseObject(metadata)!
    expect(id).toMatch(uuid)
    expect(at).toMatch(isoTime)
    expect(actor).toMatch(/^(tester|daybook|agent \d)$/)
    expect(schemaVersion).toBe(1)
    expect($causationId).toMatch(uuid)
    expect(id.slice(0, 30)).toBe(String($causationId).slice(0, 30))
    expect(typeof $correlationId).toBe('string')
  }
})

test('the correlation is the caller’s, or the command itself; commands in one append keep their own', async () => {
  const { engine, store } = await openQueue()
  await Promise.all([
    engine.submit(enqueue('a', 'b'), { actor: 'ann "the" ann', correlationId: 'request "7"' }),
    engine.submit(enqueue('c'), { actor: 'bob' }),
  ])
  expect(store.appends).toEqual([3])
  const [a, b, c] = (await logOf(store)).map(({ metadata }) => parseObject(metadata)!)
  expect(a).toMatchObject({ actor: 'ann "the" ann', $correlationId: 'request "7"' })
  expect(b).toEqual(a)
  expect(c).toMatchObject({ actor: 'bob', $correlationId: c!.$causationId })
  expect(c!.$causationId).not.toBe(a!.$causationId)
})

/** Throws unless each event of a task names the previous event of that task. */
const isChained = (log: ReadonlyArray<RecordedEvent>): number => {
  const last = new Map<string, number>()
  for (const event of log) {
    const id = taskOfEvent(event)
    if (id === undefined) continue
    const prev = parseObject(event.metadata)?.prev
    if (prev !== last.get(id)) throw new Error(`${event.revision} ${event.type}: prev is ${String(prev)}, not ${last.get(id)}`)
    last.set(id, event.revision)
  }
  return last.size
}

test('history: each event of a task names the previous one; following the links finds the same as filtering the log', async () => {
  for (const seed of [1, 2, 3]) {
    const { engine, store, log } = await lively(seed)
    expect(isChained(log)).toBeGreaterThan(20)
    const tasks = new Set(log.flatMap((event) => taskOfEvent(event) ?? []))
    for (const id of tasks) {
      const told = ok(await historyOf(viewOf(engine, store), id))
      expect(told?.events).toEqual(log.filter((event) => taskOfEvent(event) === id))
    }
    expect(ok(await historyOf(viewOf(engine, store), 'nobody'))).toBeUndefined()
  }
})

test('history: teeth: a missing or wrong link is caught', async () => {
  const { log } = await lively(1)
  const at = log.findIndex(({ type }) => type === 'Completed')
  const without = log.map((event, i) => (i === at ? { ...event, metadata: event.metadata.replace(/,"prev":\d+/, '') } : event))
  expect(() => isChained(without)).toThrow('Completed')
  const wrong = log.map((event, i) => (i === at ? { ...event, metadata: event.metadata.replace(/"prev":\d+/, '"prev":0') } : event))
  expect(() => isChained(wrong)).toThrow('Completed')
})

test('EV-01: folding the log gives the same state as folding the decided events', async () => {
  for (const seed of [4, 5, 6]) {
    const { engine, log } = await lively(seed)
    expect(await stateText(engine)).toBe(textOf(foldAll(log)))
    expect(headOf(foldAll(log))).toMatchObject({ misfits: 0, unreadable: {} })
  }
})

test('EV-01: members named `content` in a checkpoint, progress or setting are read back unchanged', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(configure({ breakers: { overrides: { a: { failureThreshold: 2 }, content: { failureThreshold: 3 } } } }), caller)
  await engine.submit(enqueue(task('a', { backoffSeconds: 0 })), caller)
  const [held] = ok(await engine.claim(claim(), caller))
  const value = { before: 1, content: { text: ',"content":' }, after: 2 }
  await engine.submit({ ...heartbeat(held!), progress: value, checkpoint: value }, caller)
  await engine.submit({ ...fail(held!), checkpoint: value }, caller)
  const again = foldAll(await logOf(store))
  expect(headOf(again).unreadable).toEqual({})
  expect(textOf(again)).toBe(await stateText(engine))
})

// ------------------------------------------------------------------ EV-11

const foreign = (id: number, type: string, data: string, metadata = '{}'): EventToAppend => ({
  id: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
  type,
  data,
  metadata,
})

test('EV-11: unreadable events are kept and counted; the start goes on, and decisions too if an operator says so', async () => {
  const store = openMemoryStore()
  const { engine: before } = await openQueue({ store })
  await before.submit(enqueue('a'), caller)
  await before.close()
  const odd = [
    foreign(1, 'TaskPainted', '{"task":"a","colour":"red"}'),
    foreign(2, 'Completed', '{"task":'),
    foreign(3, 'Completed', '[]'),
    foreign(4, 'Completed', '{"task":"a"}'),
    foreign(5, 'TaskEnqueued', '{"task":"z"}', '{"schemaVersion":77}'),
    foreign(6, 'TaskPainted', 'no json', 'none here either'),
    foreign(7, 'Claimed', '{"task":"nobody","agent":"x","token":1,"expiresAt":5}', '{"at":"yesterday"}'),
  ]
  await store.append(stream, odd, 0)()
  const { engine } = await openQueue({ store, pastUnreadable: { q: 6 } })
  const head = ok(await engine.read(headOf))
  expect(head).toMatchObject({ revision: 7, misfits: 1, lastNumber: 1 })
  expect(Object.values(head.unreadable).reduce((sum, count) => sum + count, 0)).toBe(6)
  expect(head.unreadable).toMatchObject({ 'unknown type: TaskPainted': 2, 'unknown version: TaskEnqueued': 1, 'malformed data: Completed': 3 })
  expect((await logOf(store)).slice(1).map(({ data }) => data)).toEqual(odd.map(({ data }) => data))
  const [held] = ok(await engine.claim(claim(), caller))
  expect(codeOf(await engine.submit(complete(held!), caller))).toBe('success')
  expect(isChained((await logOf(store)).filter((event) => !odd.some(({ id }) => id === event.id)))).toBe(1)
})

test.each([
  ['{}', 'read'],
  ['{"at":"yesterday"}', 'read'],
  ['{"schemaVersion":1}', 'read'],
  ['{"schemaVersion":1,"at":"2026-01-05T09:00:00.000Z","actor":"a"}', 'read'],
  ['{"schemaVersion":1,"at":"2026-01-05T09:00:00.000Z","act', 'malformed data'],
  ['', 'malformed data'],
  ['none', 'malformed data'],
  ['[]', 'malformed data'],
  ['null', 'malformed data'],
  ['{"schemaVersion":"1"}', 'malformed data'],
  ['{"schemaVersion":null}', 'malformed data'],
  ['{"schemaVersion":2}', 'unknown version'],
])('EV-11: an event with metadata %j: %s', (metadata, want) => {
  const event = decodeRecorded({ type: 'TaskDue', data: '{"task":"a"}', metadata, created: '2026-01-05T09:00:00.000Z' })
  expect(isUnreadable(event) ? event.why : 'read').toBe(want)
})

test('EV-11: any text in the log is either an event or unreadable, never a crash', () => {
  const random = randomOf(7)
  const types = ['TaskEnqueued', 'Claimed', 'Completed', 'QueueConfigured', 'Nonsense', '', '__proto__', 'constructor']
  const parts = ['{', '}', '"task":"a"', ',', '"content":', ',"content":', 'null', '1e999', '[', ']', '\u0000', '"', '\ud800', '"at":"x"', '"schemaVersion":']
  for (let i = 0; i < 5_000; i++) {
    const text = (): string => Array.from({ length: below(random, 8) }, () => oneOf(random, parts)).join('')
    const created = random() < 0.5 ? 'never' : '2026-01-01T00:00:00.000Z'
    const event = decodeRecorded({ type: oneOf(random, types), data: text(), metadata: text(), created })
    if (!isUnreadable(event)) expect(Number.isFinite(event.at)).toBe(true)
  }
})

test('EV-11: the fast reader of tasks, claims and completions gives the same as parser and codec', () => {
  const random = randomOf(11)
  const long = 'x'.repeat(128)
  const names = ['"a"', '"01a1fc3b-7336-7368-8d7e-f3d6789d0ed0"', '"#a"', '"a#"', '"a*"', '""', `"${long}"`, `"${long}x"`, '"é ☃"', '"😀"', '"\ud800"', '"\\u0061"', '"a\\"b"', '"a\u007f"', '"a\u2028"', '"a\nb"', 'null', '7']
  const numbers = ['1', '7', '10', '11', '0', '00', '-1', '-0', '1.5', '1e3', '01', '"1"', '99999999', '315360000', '315360001', '999999999999999', '9007199254740993', '253402300799999', '253402300800000', 'null']
  const ends = ['}', '', ' }', ',"probe":true}', ',"probe":false}', ',"content":{"success":true}}', ',"content":}', ',"content":null,"token":1}', ',"task":"b"}', ',"tenant":"t"}', ',"tenant":"t","content":{}}', ',"tenant":7}', '}}']
  const members: Readonly<Record<string, ReadonlyArray<readonly [name: string, values: ReadonlyArray<string>]>>> = {
    TaskEnqueued: [
      ['task', names], ['number', numbers], ['type', names], ['priority', numbers], ['idempotencyKey', names],
      ['timeout', numbers], ['maxRetries', numbers], ['backoffSeconds', numbers],
      ['deadlineAt', numbers], ['phase', ['"TESTING"', '"testing"', '""', 'null', '7']], ['tenant', names],
    ],
    Claimed: [['task', names], ['agent', names], ['token', numbers], ['expiresAt', numbers]],
    Completed: [['task', names], ['agent', names], ['token', numbers]],
  }
  const metadata = '{"schemaVersion":1,"at":"2026-01-05T09:00:00.000Z"}'
  const optional = new Set(['deadlineAt', 'phase', 'tenant'])
  const read = new Set<string>()
  for (let i = 0; i < 40_000; i++) {
    const type = oneOf(random, Object.keys(members))
    const parts = members[type]!
    // A valid text in which at most one thing is changed: a value, the end, or the order.
    const odd = below(random, parts.length + 2)
    const texts = parts.flatMap(([name, values], place) => {
      if (optional.has(name) && place !== odd && random() < 0.5) return []
      return [`"${name}":${place === odd ? oneOf(random, values) : (values[0] as string)}`]
    })
    if (odd === parts.length + 1) texts.unshift(...texts.splice(below(random, texts.length), 1))
    const facts = texts.join(',')
    const end = odd === parts.length ? oneOf(random, ends) : type === 'Claimed' ? '}' : ',"content":null}'
    const recorded = { type, metadata, created: 'never' }
    const plain = decodeRecorded({ ...recorded, data: `{${facts}${end}` })
    // With a leading blank the fast reader does not recognise it, so the parser reads it.
    expect(plain, facts + end).toEqual(decodeRecorded({ ...recorded, data: `{ ${facts}${end}` }))
    read.add(`${type} ${isUnreadable(plain) ? plain.why : 'read'}`)
  }
  const found = Object.keys(members).flatMap((type) => [`${type} malformed data`, `${type} read`])
  expect([...read].sort()).toEqual(found.sort())
})

test('INV-22: a task in memory does not keep the page that it was read from', () => {
  setFlagsFromString('--expose-gc')
  const heapBytes = (): number => {
    ;(runInNewContext('gc') as () => void)()
    return process.memoryUsage().heapUsed
  }
  const metadata = '{"schemaVersion":1,"at":"2026-01-05T09:00:00.000Z"}'
  const before = heapBytes()
  const tasks = Array.from({ length: 50 }, (_, i) => {
    const name = `${i} of which nobody else knows`
    const rest = `"timeout":1,"maxRetries":0,"backoffSeconds":0,"phase":"IMPLEMENTATION","tenant":"${name}","content":"`
    const page = `{"task":"${name}","number":1,"type":"${name}","priority":1,"idempotencyKey":"${name}",${rest}${'x'.repeat(2 ** 20)}"}|`
    const [data] = page.split('|')
    return decodeRecorded({ type: 'TaskEnqueued', data: data!, metadata, created: 'never' })
  })
  expect(heapBytes() - before).toBeLessThan(10 * 2 ** 20)
  expect(tasks.some(isUnreadable)).toBe(false)
})

test('showEvent describes events for people; text that is not JSON is shown as text', async () => {
  const { engine, store } = await openQueue()
  await engine.submit(enqueue('a'), { actor: 'ann', correlationId: 'r1' })
  const [event] = await logOf(store)
  const shown = showEvent(event!)
  expect(shown).toMatchObject({ revision: 0, type: 'TaskEnqueued', actor: 'ann', correlationId: 'r1' })
  expect(shown.data).toMatchObject({ task: 'a', content: { payload: 'of a' } })
  expect(shown.at).toMatch(isoTime)
  expect(showEvent({ ...event!, data: 'no json', metadata: '' })).toMatchObject({ data: 'no json', actor: undefined, at: event!.created })
})

test('a task’s event is encoded independently of the event before it', async () => {
  const { engine, store } = await openQueue()
  const random = randomOf(7)
  const tasks = Array.from({ length: 200 }, (_, i) =>
    task(`t${i}`, {
      type: oneOf(random, ['work', 'say "so"', 'back\\slash', 'ü']),
      idempotencyKey: `key "${i}"`,
      priority: 1 + below(random, 10),
      timeout: oneOf(random, [60, 0.5]),
      maxRetries: below(random, 2),
      backoffSeconds: below(random, 2),
      ...oneOf(random, [{}, {}, { tenant: 'a "tenant"', skills: ['x'] }]),
    }),
  )
  await engine.submit(enqueue(...tasks), caller)
  const facts = (await logOf(store)).map(({ data }) => parseObject(data)!)
  expect(facts).toEqual(tasks.map(({ id, content, ...rest }, i) => ({ ...rest, task: id, number: i + 1, content: JSON.parse(content) as unknown })))
  expect(await stateText(engine)).toBe(textOf(foldAll(await logOf(store))))
})
