/** Invalid input is refused with the path of each wrong field, and nothing is appended (INV-16). */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { adminToken, type Answer, type Body, rawRequest, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
const q = '/api/queues/bad'
let token = 0
beforeAll(async () => {
  server = await startTestServer()
  await server.post(`${q}/tasks`, { tasks: [{ id: 'held', type: 't', payload: 1, maxRetries: 9 }, { id: 'free', type: 't', payload: 2 }] })
  token = (await server.post(`${q}/claims`, { agentId: 'w' })).body.claims[0].lease.token
})
afterAll(() => server.stop())

let before = 0
beforeEach(async () => {
  before = await server.eventCount('bad')
})
afterEach(async () => {
  expect(await server.eventCount('bad'), 'something was appended').toBe(before)
})

/** The paths of the errors, without the enclosing paths that a union also reports. */
const paths = ({ body }: Answer): ReadonlyArray<string> => {
  const all: ReadonlyArray<string> = body.errors.map(({ path }: Body) => path)
  return all.filter((path) => !all.some((other) => other.startsWith(`${path}.`)))
}
const valid = { type: 't', payload: { some: 'thing' } }

test('teeth: the event count that proves that nothing is appended does change with an append', async () => {
  const q2 = '/api/queues/counted'
  await server.post(`${q2}/tasks`, valid)
  expect(await server.eventCount('counted')).toBe(1)
})

test('a body of a request that has none is refused, because what it says, such as a reason, would be lost', async () => {
  await server.post(`${q}/agents`, { agentId: 'idle' })
  before = await server.eventCount('bad')
  const refused = await server.call('DELETE', `${q}/agents/idle`, { reason: 'it is broken' })
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid' } })
  expect(paths(refused)).toEqual(['reason'])
  expect(paths(await server.call('DELETE', `${q}/agents/idle`, ['it is broken']))).toEqual(['(body)'])
  expect(await server.eventCount('bad')).toBe(before)
  // Some clients send it with every request.
  expect((await server.call('DELETE', `${q}/agents/idle?reason=broken`, {})).status).toBe(200)
  before = await server.eventCount('bad')
})

describe('JSON', () => {
  test.each([
    ['{"type": "t",}', 'line 1, column 14 (offset 13)'],
    ['{"type": "t"', 'ends too soon, at line 1, column 13 (offset 12)'],
    ['', 'is required'],
    ['{\n  "type": t }', 'line 2, column 11 (offset 12)'],
    ['{"type":"t","priority":NaN}', 'offset 23'],
    ['{"type":"t","priority":01}', 'offset 24'],
    ["{'type':'t'}", 'offset 1'],
    ['{"type":"a\nb"}', 'offset 10'],
    ['{"type":"\\x"}', 'offset 10'],
    ['{} {}', 'offset 3'],
    ['[1,]', 'offset 3'],
    ['tru', 'offset 0'],
  ])('malformed %j: 400 with the place', async (raw, place) => {
    const answer = await server.post(`${q}/tasks`, undefined, { raw })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } })
    expect(answer.body.detail).toContain(place)
  })

  test('a key __proto__ is refused at any depth and in any spelling', async () => {
    for (const raw of [
      '{"type":"t","__proto__":{"priority":1}}',
      '{"type":"t","payload":{"deep":[{"__proto__":1}]}}',
      '{"type":"t","payload":{"\\u005f_proto__":1}}',
      '{"type":"t","payload":{"constructor":{"prototype":{"x":1}}}}',
    ]) {
      expect(await server.post(`${q}/tasks`, undefined, { raw }), raw).toMatchObject({ status: 400, body: { code: 'invalid' } })
    }
    expect(({} as Body).x).toBeUndefined()
  })

  test('bytes that are not UTF-8 are refused', async () => {
    const raw = Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
    expect(await server.post(`${q}/tasks`, undefined, { raw })).toMatchObject({ status: 400, body: { code: 'invalid', detail: 'the body is not UTF-8' } })
  })

  test('nesting of 100,000 levels is refused', async () => {
    const raw = (field: string) => `{"type":"t","${field}":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(await server.post(`${q}/tasks`, undefined, { raw: raw('payload') })).toMatchObject({ status: 400, body: { code: 'invalid' } })
    expect(await server.post(`${q}/tasks`, undefined, { raw: raw('priority') })).toMatchObject({ status: 400, body: { code: 'invalid' } })
    expect(await server.post(`${q}/tasks`, undefined, { raw: raw('unknown') })).toMatchObject({ status: 400, body: { code: 'invalid' } })
  })

  test('another content type, or compressed JSON: 415', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-type': 'application/x-www-form-urlencoded' }, { 'content-encoding': 'gzip' }]) {
      expect(await server.post(`${q}/tasks`, undefined, { raw: '{"type":"t"}', headers })).toMatchObject({ status: 415, body: { code: 'unsupported-media-type' } })
    }
  })
})

describe('every wrong field is named', () => {
  const wrongs: ReadonlyArray<readonly [string, Body, ReadonlyArray<string>]> = [
    ['no task at all', null, ['(body)']],
    ['a list', [], ['(body)']],
    ['a number', 5, ['(body)']],
    ['nothing in it', {}, ['type']],
    ['type', { type: 5 }, ['type']],
    ['type with *', { type: 'eng-*' }, ['type']],
    ['empty type', { type: '' }, ['type']],
    ['several', { type: 7, priority: 'urgent', dependencies: 'a', payload: 1 }, ['type', 'dependencies', 'priority']],
    ['misspelt', { ...valid, prioritty: 1 }, ['prioritty']],
    ['misspelt inside', { ...valid, requires: { skill: ['a'] } }, ['requires.skill']],
    ['a member of a list', { ...valid, dependencies: ['a', 5] }, ['dependencies[1]']],
    ['priority 0', { ...valid, priority: 0 }, ['priority']],
    ['priority 11', { ...valid, priority: 11 }, ['priority']],
    ['priority 5.5', { ...valid, priority: 5.5 }, ['priority']],
    ['timeout 0', { ...valid, timeout: 0 }, ['timeout']],
    ['timeout of 11 years', { ...valid, timeout: 11 * 366 * 86_400 }, ['timeout']],
    ['maxRetries', { ...valid, maxRetries: -1 }, ['maxRetries']],
    ['backoffSeconds', { ...valid, backoffSeconds: '60' }, ['backoffSeconds']],
    ['metadata as a list', { ...valid, metadata: [] }, ['metadata']],
    ['description over 4,000 characters', { ...valid, description: 'x'.repeat(4_001) }, ['description']],
    ['257 dependencies', { ...valid, dependencies: Array.from({ length: 257 }, (_, i) => `d${i}`) }, ['dependencies']],
    ['id with #', { ...valid, id: '#1' }, ['id']],
    ['id with a line break', { ...valid, id: 'a\nb' }, ['id']],
    ['id of 129', { ...valid, id: 'x'.repeat(129) }, ['id']],
    ['phase', { ...valid, phase: 'testing' }, ['phase']],
    ['in a list', { tasks: [valid, { type: 't', priority: 99 }, { typ: 't' }] }, ['tasks[1].priority', 'tasks[2].type', 'tasks[2].typ']],
    ['unknown in a list', { tasks: [valid, { ...valid, prio: 1 }] }, ['tasks[1].prio']],
    ['beside the list', { tasks: [valid], atomicc: true }, ['atomicc']],
    ['the list', { tasks: {} }, ['tasks']],
    ['atomic', { tasks: [valid], atomic: 'no' }, ['atomic']],
    ['1,001 tasks', { tasks: Array.from({ length: 1_001 }, () => valid) }, ['tasks']],
  ]
  test.each(wrongs)('enqueue: %s', async (_, body, expected) => {
    const answer = await server.post(`${q}/tasks`, body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } })
    expect(paths(answer)).toEqual(expected)
  })

  const times = ['120', '2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2026-01-01', '2026-01-01T00:00:00', '2026-01-01 00:00:00Z', '1969-12-31T23:59:59Z', '+10000-01-01T00:00:00Z', 'now', '', 1782900000000, null]
  test.each(times)('an invalid time: %j', async (availableAt) => {
    const answer = await server.post(`${q}/tasks`, { ...valid, availableAt })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } })
    expect(paths(answer)).toEqual(['availableAt'])
  })

  test('of very many, the first hundred: otherwise an answer would be thirty times as long as its request', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1]))
    const answer = await server.post(`${q}/tasks`, { ...valid, ...wrong })
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^k0: .*\(and 4999 more\)$/) as string } })
    expect(paths(answer)).toEqual(Object.keys(wrong).slice(0, 100))
  })

  const names = (length: number): ReadonlyArray<string> => Array.from({ length }, (_, i) => `n${i}`)
  test.each([
    ['/claims', 'types', { agentId: 'w', types: names(1_001) }],
    ['/agents', 'skills', { agentId: 'w', skills: names(1_001) }],
    ['/tasks', 'requires.skills', { ...valid, requires: { skills: names(257) } }],
    ['/schedules', 'task.requires.skills', { name: 's', every: 3_600, task: { type: 't', requires: { skills: names(257) } } }],
  ])('a list that the queue would keep in memory is too long: %s, %s', async (path, field, body) => {
    const answer = await server.post(`${q}${path}`, body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } })
    expect(paths(answer)).toEqual([field])
  })

  // The rest is not looked at: half a million of them kept the server busy for a minute.
  test.each([
    ['POST', '/tasks/cancel', { reason: 'x', filter: { status: Array.from({ length: 5_000 }, () => 1) } }, 'filter.status[0]'],
    ['PATCH', '/settings', { discoveries: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1])) }, 'discoveries.k0'],
    ['PATCH', '/settings', { assignment: { tenants: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 'x'])) } }, 'assignment.tenants.k0'],
    ['PATCH', '/settings', { breakers: { overrides: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1])) } }, 'breakers.overrides.k0'],
  ] as const)('of very many in a list or dictionary, the first hundred: %s %s', async (method, path, body, first) => {
    const answer = await server.call(method, `${q}${path}`, body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } })
    expect(answer.body.detail).toMatch(/ \(and 99 more\)$/)
    expect(paths(answer)).toHaveLength(100)
    expect(paths(answer)[0]).toBe(first)
  })

  test('a number too large for a double is refused with its path', async () => {
    for (const [raw, path] of [['{"type":"t","payload":{"a":[1e999]}}', 'payload.a[0]'], ['{"type":"t","priority":1e999}', 'priority'], ['{"tasks":[{"type":"t","metadata":{"m":-1e999}}]}', 'tasks[0].metadata.m']] as const) {
      const answer = await server.post(`${q}/tasks`, undefined, { raw })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } })
      expect(paths(answer)).toEqual([path])
    }
  })

  const others: ReadonlyArray<readonly [string, string, Body, ReadonlyArray<string>]> = [
    ['POST', '/claims', { agentId: '', max: 0, wait: 61, types: ['a*b'], phases: ['X'], skills: 'ts' }, ['agentId', 'types[0]', 'phases[0]', 'skills', 'max', 'wait']],
    ['POST', '/claims', { agentId: 'w', max: 1_001 }, ['max']],
    ['POST', '/claims', { agentId: 'w', leaseSeconds: 0 }, ['leaseSeconds']],
    ['POST', '/claims', { agentId: 'w', leaseSeconds: '60' }, ['leaseSeconds']],
    ['POST', '/claims', { agent: 'w' }, ['agentId', 'agent']],
    ['POST', '/tasks/held/heartbeat', { agentId: 'w', token: '1' }, ['token']],
    ['POST', '/tasks/held/complete', { agentId: 'w', token: 1 }, ['result']],
    ['POST', '/tasks/held/complete', { agentId: 'w', token: 1, result: { errors: 'x', metrics: [] } }, ['result.errors', 'result.metrics']],
    ['POST', '/tasks/held/complete', { agentId: 'w', token: 1, result: { sucess: true } }, ['result.sucess']],
    ['POST', '/tasks/held/fail', { agentId: 'w', token: 1 }, ['error']],
    ['POST', '/tasks/held/fail', { agentId: 'w', token: 1, error: { code: 'E' } }, ['error.message']],
    ['POST', '/tasks/held/release', { agentId: 'w', token: 0, reason: 'x' }, ['token']],
    ['POST', '/tasks/held/release', { agentId: 'w', token: 1, reason: 'x', stopping: 'yes' }, ['stopping']],
    ['POST', '/tasks/free/cancel', {}, ['reason']],
    ['POST', '/outcomes', { outcomes: 'x' }, ['outcomes']],
    ['POST', '/outcomes', {}, ['outcomes']],
    ['POST', '/dead-letters/x/retry', { reviewer: '', reason: ' ' }, ['reviewer', 'reason']],
    ['POST', '/dead-letters/discard', { reviewer: 'a', reason: 'b' }, ['filter']],
    ['POST', '/dead-letters/discard', { reviewer: 'a', reason: 'b', filter: { typ: 't' } }, ['filter.typ']],
    ['POST', '/breakers/t/open', {}, ['reason']],
    ['POST', '/breakers/a%2Ab/open', { reason: 'x' }, ['type']],
    ['PATCH', '/settings', { polcy: 'priority' }, ['polcy']],
    ['PATCH', '/settings', { policy: 'random', defaults: { jitter: 2, x: 1 } }, ['policy', 'defaults.jitter', 'defaults.x']],
    ['PATCH', '/settings', { breakers: { overrides: { t: { failureThreshold: 0 } } } }, ['breakers.overrides.t.failureThreshold']],
    ['POST', '/pause', { reason: 5 }, ['reason']],
    ['POST', '/imports', { tasks: [{ type: 't', status: 'running', completedAt: 'x', retries: -1 }] }, ['tasks[0].status', 'tasks[0].completedAt', 'tasks[0].retries']],
    ['GET', '/tasks?status=pending,done&limit=0&cursor=x&priority=11&colour=red', undefined, ['query.status', 'query.priority', 'query.limit', 'query.cursor', 'query.colour']],
    ['GET', '/tasks?colour=red', undefined, ['query.colour']],
    ['GET', '/tasks?limit=1001', undefined, ['query.limit']],
    ['GET', '/tasks?limit=1&limit=2', undefined, ['query.limit']],
    ['GET', '/tasks?phase=none', undefined, ['query.phase']],
    ['GET', '/events?from=-1', undefined, ['query.from']],
    ['GET', '/depth?atLeast=soon', undefined, ['query.atLeast']],
    ['DELETE', `/agents/w?reason=${'x'.repeat(5_000)}`, undefined, ['query.reason']],
    ['DELETE', `/agents/w?reason=${'x'.repeat(4_001)}`, undefined, ['query.reason']],
    ['DELETE', `/agents/${'w'.repeat(129)}`, undefined, ['agent']],
    ['POST', '/tasks/free/cancel', { reason: '\ud800' }, ['reason']],
    ['POST', `/tasks/${'x'.repeat(129)}/cancel`, { reason: 'x' }, ['task']],
    ['POST', '/tasks/held/heartbeat', { agentId: 'w', token: 1, checkpoint: { a: [2 ** 53] } }, ['checkpoint.a[0]']],
    ['POST', '/tasks/held/heartbeat', { agentId: 'w', token: 1, progress: { a: '\udc00' } }, ['progress.a']],
    ['POST', '/tasks/held/fail', { agentId: 'w', token: 1, error: { message: 'a\ud800b' } }, ['error.message']],
    ['POST', '/tasks/held/complete', { agentId: 'w', token: 1, result: { output: { a: [-(2 ** 53)] } } }, ['result.output.a[0]']],
    ['PATCH', '/settings', { breakers: { overrides: { 'a*': { failureThreshold: 1 } } } }, ['breakers.overrides.a*']],
  ]
  test.each(others)('%s %s %j', async (method, path, body, expected) => {
    const answer = await server.call(method, q + path, body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } })
    expect(paths(answer)).toEqual(expected)
  })
})

describe('a request that contradicts the state of the queue', () => {
  test.each([
    ['unknown dependency', { ...valid, dependencies: ['nobody'] }, 422, 'unknown-dependency'],
    ['a cycle', { tasks: [{ id: 'x', type: 't', payload: 3, dependencies: ['y'] }, { id: 'y', type: 't', payload: 4, dependencies: ['x'] }] }, 422, 'dependency-cycle'],
    ['itself', { id: 'x', type: 't', dependencies: ['x'] }, 422, 'dependency-cycle'],
    ['an id that is taken, with other content', { id: 'held', type: 't', payload: 'other' }, 409, 'conflict'],
    ['the same id twice', { tasks: [{ id: 'x', type: 't', payload: 3 }, { id: 'x', type: 't', payload: 4 }] }, 409, 'conflict'],
    ['one wrong among many', { tasks: [valid, { ...valid, id: 'held', payload: 'other' }] }, 409, 'conflict'],
  ])('%s', async (_, body, status, code) => {
    expect(await server.post(`${q}/tasks`, body)).toMatchObject({ status, body: { code }, revision: before - 1 })
  })

  test('a task or a command of a queue that was never used: 404, with advice', async () => {
    for (const [method, path, body] of [
      ['GET', '/tasks/x'], ['GET', '/tasks/x/history'], ['POST', '/outcomes', { outcomes: [] }], ['POST', '/pause'], ['DELETE', '/agents/a'],
    ] as const) {
      const answer = await server.call(method, `/api/queues/nowhere${path}`, body)
      expect(answer, path).toMatchObject({ status: 404, body: { code: 'not-found' } })
      expect(answer.body.detail).toContain('first task')
    }
    expect((await server.get('/api/queues')).body.queues.map(({ name }: Body) => name)).not.toContain('nowhere')
  })

  test('a refused enqueue creates no queue', async () => {
    await server.post('/api/queues/unborn/tasks', { type: 5 })
    await server.post('/api/queues/unborn/tasks', { ...valid, dependencies: ['nobody'] })
    expect((await server.get('/api/queues/unborn/depth')).revision).toBe(-1)
    expect((await server.get('/api/queues')).body.queues.map(({ name }: Body) => name)).not.toContain('unborn')
  })

  test('an invalid queue name is refused', async () => {
    for (const name of ['a%2Fb', '-a', 'x'.repeat(65), '%C3%A9', '__proto__']) {
      expect((await server.post(`/api/queues/${name}/tasks`, valid)).status, name).toBe(400)
      expect((await server.get(`/api/queues/${name}/depth`)).status, name).toBe(404)
    }
  })

  test('an unknown task, dead letter or agent: 404; one in the wrong state: 409', async () => {
    const review = { reviewer: 'r', reason: 'x' }
    for (const [method, path, body, status] of [
      ['GET', '/tasks/nobody', undefined, 404], ['GET', '/tasks/%2399', undefined, 404], ['GET', '/tasks/nobody/history', undefined, 404],
      ['GET', '/tasks/__proto__', undefined, 404], ['GET', '/tasks/constructor', undefined, 404], ['GET', '/events?task=%2399', undefined, 404],
      ['POST', '/tasks/nobody/cancel', { reason: 'x' }, 404], ['POST', '/dead-letters/nobody/retry', review, 404], ['POST', '/dead-letters/free/retry', review, 409],
      ['POST', '/dead-letters/free/discard', review, 409], ['DELETE', '/agents/nobody', undefined, 404], ['POST', '/breakers/t/close', { reason: 'x' }, 409],
    ] as const) {
      expect((await server.call(method, q + path, body)).status, `${method} ${path}`).toBe(status)
    }
  })
})

describe('too large', () => {
  test('a task over 256 KiB, a result and a checkpoint likewise: 413', async () => {
    const large = 'x'.repeat(256 * 1024)
    expect(await server.post(`${q}/tasks`, { ...valid, payload: large })).toMatchObject({ status: 413, body: { code: 'too-large' } })
    expect(await server.post(`${q}/tasks`, { tasks: [valid, { ...valid, payload: '漢'.repeat(90_000) }] })).toMatchObject({ status: 413, body: { code: 'too-large', detail: expect.stringContaining('tasks[1]') } })
    expect(await server.post(`${q}/tasks/held/complete`, { agentId: 'w', token, result: { ...report, output: large } })).toMatchObject({ status: 413 })
    expect(await server.post(`${q}/tasks/held/heartbeat`, { agentId: 'w', token, checkpoint: large })).toMatchObject({ status: 413 })
    expect(await server.post(`${q}/tasks/held/fail`, { agentId: 'w', token, error: 'x', checkpoint: large })).toMatchObject({ status: 413 })
  })

  test('a content with more parts than fit in it: 413, before it is parsed; many parts of many tasks are taken', async () => {
    // Parsed, each of these would be small enough: of members with one name the last one counts.
    const members = `{${'"":1,'.repeat(100_000)}"":1}`
    const raw = (payload: string): string => `{"type":"t","id":"crowded","payload":${payload}}`
    for (const payload of [members, `{"a":[${members}]}`]) {
      expect(await server.post(`${q}/tasks`, undefined, { raw: raw(payload) })).toMatchObject({ status: 413, body: { code: 'too-large', detail: expect.stringContaining('so many parts') } })
    }
    // Commas and brackets within texts are no parts.
    const taken = '/api/queues/crowded'
    expect(await server.post(`${taken}/tasks`, undefined, { raw: raw(`["${',[{'.repeat(60_000)}\\"${','.repeat(70_000)}"]${' '.repeat(100_000)}`) })).toMatchObject({ status: 201 })
    const many = Array.from({ length: 500 }, (_, i) => ({ type: 't', payload: { i, list: Array.from({ length: 1_000 }, () => 1) } }))
    expect(await server.post(`${taken}/tasks`, { tasks: many })).toMatchObject({ status: 201 })
  })

  test('a body over 4 MiB: 413, with and without Content-Length', async () => {
    const raw = JSON.stringify({ ...valid, payload: 'x'.repeat(4 * 2 ** 20) })
    expect(await server.post(`${q}/tasks`, undefined, { raw })).toMatchObject({ status: 413, body: { code: 'too-large', detail: expect.stringMatching(/over 4194304 bytes: .* in several requests, 1000 in each .* 262144 bytes/) } })
    const head = `POST ${q}/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\n`
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const answer = await rawRequest(server.http.port, [`${head}Transfer-Encoding: chunked\r\n\r\n`, ...Array.from({ length: 65 }, () => chunk), '0\r\n\r\n'])
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('a body over 4 MiB: 413, also for a client that reads no answer before it has sent all', async () => {
    const raw = JSON.stringify({ ...valid, payload: 'x'.repeat(32 * 2 ** 20) })
    const socket = connect(server.http.port, '127.0.0.1')
    const sent = new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.write(`POST ${q}/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nContent-Length: ${raw.length}\r\n\r\n${raw}`, () => resolve())
    })
    await inTime('the end of the sending', sent)
    const [answer] = (await inTime('the answer', once(socket, 'data'))) as [Buffer]
    socket.destroy()
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('a body that is too large and takes too long to arrive: 413, because the client would send it again after a 408', async () => {
    const patient = await startTestServer({ limits: { requestTimeoutMs: 12_000, bodyBytesMax: 1_000 } })
    const socket = connect(patient.http.port, '127.0.0.1').on('error', () => undefined)
    const answered = once(socket, 'data') as Promise<[Buffer]>
    socket.write(`POST ${q}/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`)
    const sending = setInterval(() => socket.write(`800\r\n${'x'.repeat(0x800)}\r\n`), 50)
    try {
      const [answer] = await inTime('the answer', answered)
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /)
    } finally {
      clearInterval(sending)
      socket.destroy()
      await patient.stop()
    }
  })

  test('headers over 16 KiB: 431', async () => {
    const answer = await rawRequest(server.http.port, [`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`])
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(answer).toContain('application/problem+json')
  })
})

describe('an incomplete body', () => {
  const head = (length: number): string =>
    `POST ${q}/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

  test('of a client that stops sending: 408, and the connection is closed', async () => {
    const impatient = await startTestServer({ limits: { requestTimeoutMs: 600 } })
    try {
      const answer = await rawRequest(impatient.http.port, [head(1_000), '{"type":"t","payl'])
      expect(answer).toMatch(/^HTTP\/1\.1 408 /)
      expect(answer).toContain('"code":"timeout"')
    } finally {
      await impatient.stop()
    }
  })

  test('of a client that ends the connection: 400 or no answer, never a task', async () => {
    // What was sent so far is a complete task.
    const answer = await rawRequest(server.http.port, [head(1_000), '{"type":"t"}'], { endAfter: true })
    expect(answer === '' || /^HTTP\/1\.1 400 /.test(answer)).toBe(true)
  })

  test('of a client whose connection is reset: the server goes on', async () => {
    const socket = connect(server.http.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`${head(1_000)}{"type":"t"`)
    await new Promise((resolve) => setTimeout(resolve, 30))
    socket.resetAndDestroy()
    expect((await server.get('/healthz')).status).toBe(200)
  })

  test('bytes that are not HTTP: 400', async () => {
    expect(await rawRequest(server.http.port, ['HELLO\r\n\r\n'])).toMatch(/^HTTP\/1\.1 400 /)
  })
})

test('after all of this, a valid request is still accepted', async () => {
  expect((await server.post('/api/queues/fine/tasks', valid)).status).toBe(201)
})
