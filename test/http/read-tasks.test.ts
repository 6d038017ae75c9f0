/** Bodies whose payloads are cut out without parsing: the result must be the same as with the parser. */
import { contentKey } from '@daybook/adapters/engine'
import { inexactNumbers, readTasks } from '@daybook/adapters/http'
import { canonicalJson, CanonicalText, type Json } from '@daybook/core'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { startTestServer, type TestServer } from './support.js'

const read = (text: string): unknown => readTasks(Buffer.from(text))
const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
/** The result of the parser and the canonical printer. */
const parsed = (text: string): unknown => {
  const body = JSON.parse(text) as { readonly tasks: ReadonlyArray<Record<string, unknown>> }
  const tasks = body.tasks.map((task) => ('payload' in task ? { ...task, payload: new CanonicalText(canonicalJson(task['payload'])) } : task))
  return { ...body, tasks }
}
const among = (payload: string): string => `{"tasks":[{"type":"a"},{"payload":${payload},"type":"b"}],"atomic":false}`

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

test.each([
  ['all kinds of values', '{"a":[1,-2,0,1.5,1e+30,1e-7,true,false,null,"x"],"b":{},"c":[]}'],
  ['escapes', String.raw`{"a":"\"\\\b\f\n\r\t/"}`],
  ['text beyond ASCII', '"Grüße, 世界 😀"'],
  ['a key with the previous key as its prefix', '{"":0,"a":1,"a b":2,"a!":3,"ab":4}'],
  ['the deepest nesting allowed', nested(64)],
])('reads %s', (_, payload) => {
  expect(canonicalJson(JSON.parse(payload)), 'is canonical').toBe(payload)
  expect(read(among(payload))).toEqual(parsed(among(payload)))
})

test.each([
  ['white space', among('{"a": 1}')],
  ['a line at the end', `${among('1')}\n`],
  ['keys out of order', among('{"b":1,"a":2}')],
  ['a key twice', among('{"a":1,"a":2}')],
  ['a longer key before a shorter', among('{"ab":1,"a":2}')],
  ['a longer key before a shorter, by a character below the quote', among('{"a b":1,"a":2}')],
  ['a number that is not canonical', among('1.0')],
  ['minus zero', among('-0')],
  ['a zero in front', among('01')],
  ['an exponent without its sign', among('1e30')],
  ['more digits than a double has', among('12345678901234567890')],
  ['a whole number that shares its double with another', among('9007199254740992')],
  ['one whose text is canonical, but not exact', among('100000000000000000000')],
  ['half a surrogate pair', among(String.raw`"\ud800"`)],
  ['half a surrogate pair in a key', among(String.raw`{"\ud800":1}`)],
  ['a letter escaped', among(String.raw`"\u0041"`)],
  ['a slash escaped', among(String.raw`"\/"`)],
  ['a key escaped', among(String.raw`{"\n":1}`)],
  ['a key beyond ASCII', among('{"ü":1}')],
  ['a control character', among('"\u0001"')],
  ['__proto__', among('{"__proto__":{}}')],
  ['constructor', among('{"constructor":{"prototype":{}}}')],
  ['too many levels', among(nested(65))],
  ['two payloads', '{"tasks":[{"type":"a","payload":1,"payload":2}]}'],
  ['two lists', '{"tasks":[],"tasks":[{"type":"a"}]}'],
  ['no list', '{"tasks":{"payload":1}}'],
  ['a list whose item is not a task', '{"tasks":[1]}'],
  ['a task alone', '{"type":"a","payload":1}'],
  ['metadata out of order', '{"tasks":[{"type":"a","metadata":{"b":1,"a":2},"payload":1}]}'],
  ['a text that ends too soon', among('{"a":1').slice(0, -30)],
  ['an unknown word', among('nul')],
  ['nothing', ''],
])('leaves %s to the parser', (_, text) => {
  expect(read(text)).toBeUndefined()
})

test('a member `payload` of another member is not a payload', () => {
  const text = '{"tasks":[{"metadata":{"payload":{"a":1}},"payload":[2],"type":"a"}]}'
  expect(read(text)).toEqual({ tasks: [{ metadata: { payload: { a: 1 } }, payload: new CanonicalText('[2]'), type: 'a' }] })
})

/** Prints JSON in various styles, mostly canonical; `dice` chooses. */
const printed = (value: Json, dice: () => number): string => {
  const space = dice() === 0 ? ' ' : ''
  if (Array.isArray(value)) return `[${value.map((item) => printed(item as Json, dice)).join(`,${space}`)}]`
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).sort()
    if (dice() === 1) keys.reverse()
    return `{${keys.map((key) => `${JSON.stringify(key)}:${space}${printed((value as Record<string, Json>)[key] as Json, dice)}`).join(',')}}`
  }
  if (typeof value === 'number' && dice() === 2) return value.toExponential()
  return JSON.stringify(value)
}

describe('random bodies', () => {
  /** Inserted into the text as it is, without quotes. */
  const raw = fc
    .oneof(
      fc.constantFrom('9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993', '1e400', '-1e400', '1e-400', '1e20', '1e21', '100000000000000000000', '1180591620717411303424', '0.1', '0.10000000000000001', '0.1000000000000000055', '0.3000000000000000444', '123456789012345678.9', '1E5', '-0', '0.0', '5e-324'),
      fc.tuple(fc.stringMatching(/^-?[1-9]\d{0,21}$/), fc.stringMatching(/^(\.\d{1,21})?(e[+-]?\d{1,3})?$/)).map((parts) => parts.join('')),
    )
    .map((number) => `@${number}`)
  const key = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a', 'b', 'ab', 'payload', 'tasks', '10', '9', '') }, fc.string())
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), raw, fc.boolean(), fc.constant(null), fc.string(), fc.string({ unit: 'grapheme' })),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  })).value as fc.Arbitrary<Json>
  const task = fc.record({ type: fc.string(), payload: json, metadata: json }, { requiredKeys: ['type'] })
  const body = fc.record({ tasks: fc.array(task, { maxLength: 4 }), atomic: fc.boolean() }, { requiredKeys: ['tasks'] })
  const change = fc.record({ at: fc.nat(), remove: fc.nat(2), insert: fc.constantFrom('', '', '"', '{', ',', ':', '0', '\\', 'e') })

  test('the reader gives the same as the parser', () => {
    let [read_, left] = [0, 0]
    fc.assert(
      fc.property(body, fc.infiniteStream(fc.nat(40)), fc.option(change, { freq: 3 }), (given, throws, changed) => {
        let text = printed(given, () => throws.next().value as number)
        if (changed !== null) {
          const at = changed.at % (text.length + 1)
          text = text.slice(0, at) + changed.insert + text.slice(at + changed.remove)
        }
        text = text.replace(/"@([-+.\deE]+)"/g, '$1')
        // Lone surrogates do not survive UTF-8.
        text = Buffer.from(text).toString()
        const value = read(text)
        if (value === undefined) left++
        else {
          read_++
          expect(isJson(text), text).toBe(true)
          expect(inexactNumbers(text), text).toEqual([])
          expect(value).toEqual(parsed(text))
        }
      }),
      runs(2_000),
    )
    expect(read_).toBeGreaterThan(200)
    expect(left).toBeGreaterThan(200)
  })
})

describe('over HTTP', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.stop())
  const path = '/api/queues/cut/tasks'

  test('LK-05: the same payload is a duplicate, whether it is sent canonically or not', async () => {
    const payload = '{"b":{"d":[1,"ü"],"e":null},"c":0.1}'
    const canonical = await server.post(path, undefined, { raw: `{"tasks":[{"type":"a","payload":${payload}}]}` })
    const other = await server.post(path, undefined, { raw: `{"tasks":[{"type":"a","payload":{"c":0.10,"b":{"e":null,"d":[1,"\\u00fc"]}}}]}` })
    const [first, second] = [canonical.body.results[0], other.body.results[0]]
    expect(second).toMatchObject({ id: first.id, duplicate: true })
    const { body } = await server.get(`${path}/${first.id}`)
    expect(body).toMatchObject({ payload: JSON.parse(payload), idempotencyKey: contentKey('a', payload) })
  })

  test('errors are reported as with the parser', async () => {
    const misspelt = await server.post(path, undefined, { raw: '{"tasks":[{"type":"a","payload":{"a":1}},{"typ":"b","payload":{"a":2}}]}' })
    expect(misspelt.body).toMatchObject({ code: 'invalid', errors: [{ path: 'tasks[1].type' }, { path: 'tasks[1].typ' }] })
    const poisoned = await server.post(path, undefined, { raw: '{"tasks":[{"type":"a","payload":{"__proto__":{"x":1}}}]}' })
    expect(poisoned).toMatchObject({ status: 400, body: { errors: [{ message: expect.stringContaining('__proto__') }] } })
    const large = await server.post(path, undefined, { raw: `{"tasks":[{"type":"a","payload":"${'x'.repeat(300_000)}"}]}` })
    expect(large).toMatchObject({ status: 413, body: { code: 'too-large' } })
  })
})
