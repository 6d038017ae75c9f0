/** The JSON of a task in a request: like that of JSON.stringify, but with the payload's keys in order. */
import { type ClientOptions, createClient, type DaybookClient, type NewTask } from '@daybook/adapters/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FaultyServer, faultyServer } from './faulty-server.js'

let server: FaultyServer
let client: DaybookClient
beforeEach(async () => {
  server = await faultyServer()
  client = createClient({ url: server.url, gather: { itemsMax: 1 } } satisfies ClientOptions)
})
afterEach(async () => {
  await client.close()
  await server.close()
})

const time = new Date('2030-01-02T03:04:05.678Z')
class Point {
  readonly y = 2
  readonly x = 1
}
const cases: ReadonlyArray<readonly [string, object, string]> = [
  ['keys in order', { type: 'a', payload: { b: [{ d: 1, c: -0 }], a: 'ü\n' }, priority: 3 }, '{"type":"a","priority":3,"payload":{"a":"ü\\n","b":[{"c":0,"d":1}]}}'],
  ['a payload alone', { payload: { a: 1 } }, '{"payload":{"a":1}}'],
  ['no payload', { type: 'a' }, '{"type":"a"}'],
  ['null', { type: 'a', payload: null }, '{"type":"a","payload":null}'],
  ['undefined members', { type: 'a', payload: { a: undefined, b: 1 }, description: undefined }, '{"type":"a","payload":{"b":1}}'],
  ['times beside the payload', { type: 'a', payload: { a: 1 }, deadlineAt: time }, '{"type":"a","deadlineAt":"2030-01-02T03:04:05.678Z","payload":{"a":1}}'],
  ['times in the payload', { type: 'a', payload: { b: time, a: 1 } }, '{"type":"a","payload":{"b":"2030-01-02T03:04:05.678Z","a":1}}'],
  ['instances', { type: 'a', payload: new Point() }, '{"type":"a","payload":{"y":2,"x":1}}'],
  ['a task that prints itself', { payload: { a: 1 }, toJSON: () => ({ type: 'b' }) }, '{"type":"b"}'],
  ['a text', { type: 'a', payload: 'ü' }, '{"type":"a","payload":"ü"}'],
  ['false', { type: 'a', payload: false }, '{"type":"a","payload":false}'],
]

test.each(cases)('%s', async (_, task, text) => {
  await client.enqueue(task as NewTask)
  await client.enqueueAll([task as NewTask], { atomic: false })
  await client.enqueueAll([task as NewTask, task as NewTask])
  expect(server.seen.map((seen) => seen.text)).toEqual([
    `{"atomic":false,"tasks":[${text}]}`,
    `{"atomic":false,"tasks":[${text}]}`,
    `{"tasks":[${text},${text}]}`,
  ])
})

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle
class Task {
  readonly type = 'a'
  readonly payload = Number.NaN
}
const refused: ReadonlyArray<readonly [string, object, string]> = [
  ['a cycle', { payload: cycle }, 'not JSON: '],
  ['a bigint', { payload: { big: 1n } }, 'not JSON: '],
  ['NaN', { payload: Number.NaN }, 'not JSON: the payload is NaN, which is no JSON value'],
  ['an infinity', { payload: Number.NEGATIVE_INFINITY }, 'not JSON: the payload is -Infinity, '],
  ['a function', { payload: () => 1 }, 'not JSON: the payload is a function, '],
  ['a symbol', { payload: Symbol('s') }, 'not JSON: the payload is a symbol, '],
  ['a map', { payload: new Map() }, 'not JSON: the payload is a Map, '],
  ['a member that is NaN', { payload: { at: time, a: [{ n: Number.NaN }] } }, 'not JSON: n is NaN, '],
  ['a member that is a function', { payload: { f: () => 1 } }, 'not JSON: f is a function, '],
  ['a member that is a set', { payload: { s: new Set() } }, 'not JSON: s is a Set, '],
  ['a payload of an instance', new Task(), 'not JSON: payload is NaN, '],
]

test('NaN in a payload is refused wherever a payload is sent, by a rejection', async () => {
  const payload = { at: [Number.NaN] }
  const task = { type: 'a', payload }
  const calls: ReadonlyArray<() => Promise<unknown>> = [
    () => client.importTasks([{ id: 'a', ...task }]),
    () => client.amend('a', { payload }, 'a slip'),
    () => client.callback('key', payload),
    () => client.schedules.create('s', { every: 60, task }),
    () => client.schedules.change('s', { task }),
    () => client.batches.create({ id: 'b', callback: task }),
    () => client.limits.set('key', { concurrency: 1n as unknown as number }),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ name: 'DaybookError', code: 'invalid', detail: expect.stringMatching(/NaN, which is no JSON value|not JSON/) as string })
  expect(server.seen).toEqual([])
})

test.each(refused)('%s is refused before anything is sent, instead of being left out', async (_, task, why) => {
  const sent = (task instanceof Task ? task : { type: 'a', ...task }) as NewTask
  const error = { name: 'DaybookError', code: 'invalid', detail: expect.stringContaining(why) }
  await expect(client.enqueue(sent)).rejects.toMatchObject(error)
  await expect(client.enqueue(sent, { timeoutMs: 5_000 })).rejects.toMatchObject(error)
  await expect(client.enqueueAll([sent])).rejects.toMatchObject(error)
  expect(server.seen).toEqual([])
})
