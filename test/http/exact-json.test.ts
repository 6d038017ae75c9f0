/**
 * JSON that has the same meaning for every reader (RFC 8785, RFC 7493). Numbers that would be rounded and lone surrogates are refused with their
 * path, at every entrance. Accepted values come back as they were sent.
 */
import { readQueueFile } from '@daybook/adapters/import'
import { inexactNumbers, pathOf } from '@daybook/adapters/http'
import { openMemoryStore } from '@daybook/adapters/memory'
import { canonicalJson, type Json, NotJson } from '@daybook/core'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { run, runHere } from '../cli/program.js'
import { runs } from '../properties/settings.js'
import { adminToken, type Body, startTestServer, type TestServer } from './support.js'

// ------------------------------------------------------------------ numbers as texts

const numberText = fc.oneof(
  fc.constantFrom('0', '-0', '0.0', '1e0', '9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993', '1e400', '-1e400', '1e-400', '0e999', '1180591620717411303424', '5e-324', '0.1000000000000000055'),
  fc.tuple(fc.stringMatching(/^-?(0|[1-9]\d{0,22})$/), fc.stringMatching(/^(\.\d{1,22})?([eE][+-]?\d{1,3})?$/)).map((parts) => parts.join('')),
)
/** All significant digits and the power of ten, exactly: computed from the text without `Number`. */
const decimal = (text: string): readonly [digits: string, exponent: number] => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  return digits === '' ? ['', 0] : [sign + digits, Number(exponent) - fraction.length + all.length - digits.length]
}
const isWhole = (text: string): boolean => /^-?\d+$/.test(text)

test('a whole number is accepted if and only if it is within ±(2^53 − 1), and then it is exact', () => {
  fc.assert(
    fc.property(numberText.filter(isWhole), (text) => {
      const isSafe = BigInt(text) <= BigInt(Number.MAX_SAFE_INTEGER) && BigInt(text) >= -BigInt(Number.MAX_SAFE_INTEGER)
      expect(inexactNumbers(text).length, text).toBe(isSafe ? 0 : 1)
      if (isSafe) expect(BigInt(Number(text))).toBe(BigInt(text))
    }),
    runs(3_000),
  )
})

test('any other number is accepted if it has at most 17 digits and is neither too large nor rounded to 0', () => {
  let [taken, refused] = [0, 0]
  fc.assert(
    fc.property(numberText.filter((text) => !isWhole(text)), (text) => {
      const [digits] = decimal(text)
      const value = Number(text)
      const isTaken = digits.replace('-', '').length <= 17 && Number.isFinite(value) && (value !== 0 || digits === '')
      expect(inexactNumbers(text).length, text).toBe(isTaken ? 0 : 1)
      if (!isTaken) return void refused++
      taken++
      // Up to 15 digits are exact.
      if (digits.replace('-', '').length <= 15 && Math.abs(value) > 1e-300) expect(decimal(`${value}`), text).toEqual(decimal(text))
    }),
    runs(3_000),
  )
  expect(Math.min(taken, refused)).toBeGreaterThan(200)
})

test('each refused number is reported with its path in the document', () => {
  const leaf = fc.oneof(fc.constantFrom('@9007199254740993', '@1e400', '@0.1234567890123456789'), fc.constantFrom<Json>(1, 'a', '9007199254740993', '"', '\\', '{[:,]}', true, null, 1.5))
  const key = fc.constantFrom('a', 'b', 'c d', '1', '"', '\\', ':', '{', '9007199254740993')
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true })),
  })).value as fc.Arbitrary<Json>
  const placesIn = (value: Json, path: string): ReadonlyArray<string> => {
    if (typeof value === 'string') return value.startsWith('@') ? [path] : []
    if (Array.isArray(value)) return value.flatMap((item, i) => placesIn(item as Json, `${path}[${i}]`))
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([name, member]) => placesIn(member as Json, path === '' ? name : `${path}.${name}`))
  }
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent).replace(/"@([^"]*)"/g, '$1')
      expect(inexactNumbers(text).map(({ steps }) => pathOf(steps))).toEqual(placesIn(value, ''))
    }),
    runs(1_000),
  )
})

test('values are checked like texts: an integer that shares its double with another is refused, a fraction is accepted', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const isInteger = Number.isInteger(value) && Math.abs(value) < 1e21
      const isTaken = !isInteger || Number.isSafeInteger(value)
      if (isTaken) expect(Number(canonicalJson({ value }).slice(9, -1))).toBe(value + 0)
      else expect(() => canonicalJson({ value })).toThrow(NotJson)
    }),
    runs(2_000),
  )
})

// ------------------------------------------------------------------ the entrances

describe('over HTTP', () => {
  let server: TestServer
  const q = '/api/queues/exact'
  let token = 0
  beforeAll(async () => {
    server = await startTestServer()
    await server.post(`${q}/tasks`, { id: 'held', type: 't', payload: 'held' })
    token = (await server.post(`${q}/claims`, { agentId: 'w' })).body.claims[0].lease.token
  })
  afterAll(() => server.stop())
  let before = 0
  beforeEach(async () => {
    before = await server.eventCount('exact')
  })

  const values: ReadonlyArray<readonly [value: string, within: string]> = [
    ['9007199254740993', ''],
    ['{"a":[0,9007199254740992]}', '.a[1]'],
    ['[-9007199254740993]', '[0]'],
    ['100000000000000000000', ''],
    ['1180591620717411303424', ''],
    ['{"a":1e400}', '.a'],
    ['{"a":1e-400}', '.a'],
    ['0.1000000000000000055', ''],
    ['1234567890123456.78', ''],
    ['"\\ud800"', ''],
    ['{"a":["\\udc00x"]}', '.a[0]'],
    ['{"a":{"\\ud83d":1}}', '.a.\ufffd'],
  ]
  const entrances: ReadonlyArray<readonly [entrance: string, path: string, body: (value: string) => string, place: string]> = [
    ['a task', '/tasks', (value) => `{"type":"t","payload":${value}}`, 'payload'],
    ['tasks', '/tasks', (value) => `{"tasks":[{"type":"t","payload":1},{"type":"t","payload":${value}}]}`, 'tasks[1].payload'],
    ['tasks, with white space', '/tasks', (value) => `{"tasks": [{"type":"t","payload":${value}}]}`, 'tasks[0].payload'],
    ['metadata', '/tasks', (value) => `{"tasks":[{"metadata":{"m":${value}},"type":"t"}]}`, 'tasks[0].metadata.m'],
    ['an import', '/imports', (value) => `{"tasks":[{"type":"t","payload":${value}}]}`, 'tasks[0].payload'],
    ['a result', '/tasks/held/complete', (value) => `{"agentId":"w","token":TOKEN,"result":{"decisionReport":"d","output":${value}}}`, 'result.output'],
    ['a metric', '/tasks/held/complete', (value) => `{"agentId":"w","token":TOKEN,"result":{"decisionReport":"d","metrics":{"m":${value}}}}`, 'result.metrics.m'],
    ['a checkpoint', '/tasks/held/heartbeat', (value) => `{"agentId":"w","token":TOKEN,"checkpoint":${value}}`, 'checkpoint'],
    ['progress', '/tasks/held/heartbeat', (value) => `{"agentId":"w","token":TOKEN,"progress":${value}}`, 'progress'],
    ['a failure', '/tasks/held/fail', (value) => `{"agentId":"w","token":TOKEN,"error":"e","checkpoint":${value}}`, 'checkpoint'],
  ]
  test('many such numbers deep within lists are refused like others: a path is written for those alone that the answer names', async () => {
    // With a path for each, this takes ten minutes and more memory than there is.
    const numbers = Array<string>(60_000).fill('9007199254740993').join()
    const answer = await server.post(`${q}/tasks`, undefined, { raw: `{"type":"t","payload":${'['.repeat(4_000)}${numbers}${']'.repeat(4_000)}}` })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } })
  })

  test('a text with such a number that is not JSON is refused as one', async () => {
    for (const raw of ['{"\\q":9007199254740993}', '{9007199254740993', '{"a":{"b\n":[9007199254740993']) {
      expect(await server.post(`${q}/tasks`, undefined, { raw }), raw).toMatchObject({ status: 400, body: { code: 'invalid', detail: expect.stringContaining('not JSON') as string } })
    }
  })

  test.each(entrances)('%s', async (_, path, body, place) => {
    for (const [value, within] of values) {
      const answer = await server.post(q + path, undefined, { raw: body(value).replace('TOKEN', String(token)) })
      expect(answer, value).toMatchObject({ status: 400, body: { code: 'invalid' } })
      expect(answer.body.errors.map(({ path: at }: Body) => at), value).toEqual([place + within])
    }
    expect(await server.eventCount('exact')).toBe(before)
  })

  test('with `atomic: false`, and among outcomes, the others are accepted', async () => {
    const tasks = await server.post(`${q}/tasks`, undefined, { raw: '{"atomic":false,"tasks":[{"type":"t","payload":"\\udc00"},{"type":"t","payload":"fine"},{"type":"t","payload":9007199254740993}]}' })
    expect(tasks.body.results).toMatchObject([{ code: 'invalid', errors: [{ path: 'tasks[0].payload' }] }, { status: 'pending' }, { code: 'invalid', errors: [{ path: 'tasks[2].payload' }] }])
    const outcomes = await server.post(`${q}/outcomes`, { outcomes: [{ kind: 'heartbeat', taskId: 'held', agentId: 'w', token, progress: { a: 2 ** 53 } }, { kind: 'heartbeat', taskId: 'held', agentId: 'w', token }] })
    expect(outcomes.body.results).toMatchObject([{ code: 'invalid', errors: [{ path: 'outcomes[0].progress.a' }] }, { lease: { token } }])
  })

  test('an accepted number comes back as the same number, and two different numbers make two tasks', async () => {
    const numbers = ['9007199254740991', '-9007199254740991', '9007199254740990', '0.1', '0.30000000000000004', '1e+21', '6.02214076e+23', '1.7976931348623157e+308', '5e-324', '-1.5']
    const ids = new Set<string>()
    for (const space of ['', ' ']) {
      for (const number of numbers) {
        const { body, status } = await server.post(`${q}/tasks`, undefined, { raw: `{"tasks":[{"type":"exact","payload":${space}{"n":${number}}}]}` })
        expect(status, number).toBe(201)
        ids.add(body.results[0].id)
        expect((await server.get(`${q}/tasks/${body.results[0].id}`)).text).toContain(`"payload":{"n":${number}}`)
      }
    }
    expect(ids.size).toBe(numbers.length)
  })
})

test('older logs contain lone surrogates: a page of them can be read by every parser', async () => {
  const store = openMemoryStore()
  const facts = (number: number, task: string): string =>
    `{"task":"${task}","number":${number},"type":"t","priority":5,"idempotencyKey":"${task}","timeout":60,"maxRetries":3,"backoffSeconds":1`
  const data = [
    `${facts(1, 'a')},"content":{"payload":"x\\ud800y","description":"\\\\ud800 \\ud83d\\ude00 \\uDC00"}}`,
    `${facts(2, 'b')},"content":{"payload":"\ud83d"}}`,
  ]
  await store.append('taskqueue-q', data.map((each, i) => ({ id: `00000000-0000-4000-8000-00000000000${i}`, type: 'TaskEnqueued', data: each, metadata: '{"schemaVersion":1,"at":"2026-01-05T09:00:00.000Z"}' })), 'no_stream')()
  const server = await startTestServer({}, store)
  try {
    await server.daybook.ready
    const isUnicode = (value: unknown): boolean =>
      typeof value === 'string' ? value.isWellFormed() : typeof value !== 'object' || value === null || Object.values(value).every(isUnicode)
    for (const path of ['/tasks', '/events', '/tasks/a', '/tasks/a/history']) {
      const { body, status } = await server.get(`/api/queues/q${path}`)
      expect(status).toBe(200)
      expect(isUnicode(body), path).toBe(true)
    }
    const { text } = await server.get('/api/queues/q/events', { headers: { accept: 'application/x-ndjson' } })
    for (const line of text.trim().split('\n')) expect(isUnicode(JSON.parse(line)), line).toBe(true)
    expect((await server.get('/api/queues/q/tasks/a')).body).toMatchObject({ payload: 'x\ufffdy', description: '\\ud800 😀 \ufffd' })
  } finally {
    await server.stop()
  }
})

describe('on the command line', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.stop())
  const env = (): Record<string, string> => ({ DAYBOOK_URL: server.http.url, DAYBOOK_TOKEN: adminToken, DAYBOOK_QUEUE: 'cli' })

  test.each([
    [['enqueue', 't', '--payload', '{"id":9007199254740993}'], '', 'id: 9007199254740993 is more than'],
    [['enqueue', 't', '--payload', '9007199254740993'], '', '9007199254740993 is more than'],
    [['enqueue', 't', '--metadata', '{"a":[1e400]}'], '', '--metadata: a[0]: 1e400 is more than'],
    [['enqueue', '--file', '-'], '[{"type":"t"},{"type":"t","payload":0.1000000000000000055}]', '[1].payload: 0.1000000000000000055'],
    [['enqueue', '--file', '-'], '{"type":"t"}\n{"type":"t","payload":9007199254740993}\n', 'line 2'],
    [['enqueue', 't', '--payload', '{"a":"\\ud800"}'], '', 'payload.a'],
  ] as const)('%j is refused with the path', async (args, input, said) => {
    const { code, out, err } = await run([...args], env(), input)
    expect(code).not.toBe(0)
    expect(out + err).toContain(said)
  })

  test('`list --json` prints JSON for every parser, whatever was sent', async () => {
    const raws = ['"\\ud800"', '"a\\udc00"', '{"\\ud83d":1}', '"\\ud83d\\ude00"', '"😀"', '9007199254740993', '"\\u0000\\u2028"']
    for (const raw of raws) await server.post('/api/queues/cli/tasks', undefined, { raw: `{"type":"t","payload":${raw}}` })
    const { code, out } = await runHere(['list', '--json', '--all'], env())
    expect(code).toBe(0)
    expect(out).not.toMatch(/\\ud[89a-f]../i)
    expect(out.isWellFormed()).toBe(true)
    expect((JSON.parse(out) as { tasks: ReadonlyArray<unknown> }).tasks.length).toBe(2)
  })
})

test('EV-09: in an imported file, only the tasks whose numbers would be rounded are refused', () => {
  const file = readQueueFile('{"tasks":[{"id":"a","type":"t"},{"id":9007199254740993,"type":"t"},{"id":"c","type":"t","payload":{"n":0.1000000000000000055}},{"id":"d","type":"t","payload":"9007199254740993"}]}', 'pending.json')
  expect(file.found.map(({ task }) => task.id)).toEqual(['a', 'd'])
  expect(file.refused.map(({ task, why }) => `${task} ${why.split(' is ')[0]}`)).toEqual(['#2 id: 9007199254740993', 'c payload.n: 0.1000000000000000055'])
})
