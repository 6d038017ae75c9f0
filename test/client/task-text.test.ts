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
  ['NaN', { type: 'a', payload: { a: Number.NaN } }, '{"type":"a","payload":{"a":null}}'],
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

test('a value that is not JSON is refused before anything is sent', async () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  for (const task of [{ type: 'a', payload: cycle }, { type: 'a', payload: { big: 1n } }] as ReadonlyArray<object>) {
    await expect(client.enqueue(task as NewTask)).rejects.toMatchObject({ name: 'DaybookError', code: 'invalid' })
    await expect(client.enqueueAll([task as NewTask])).rejects.toMatchObject({ name: 'DaybookError', code: 'invalid' })
  }
  expect(server.seen).toEqual([])
})
