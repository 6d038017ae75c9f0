/** Tokens that an admin makes: their limits, their actor in the log, and that they end at once. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { isRight, right } from 'fp-ts/lib/Either.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openTokens, type Tokens, tokenStream } from '@daybook/adapters/auth'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { inTime } from '../support/in-time.js'
import { until } from '../support/queue.js'
import { adminToken, type Answer, type Body, startTestServer, type TestServer } from './support.js'

let server: TestServer
let tokens: Tokens
let store: EventStore
beforeAll(async () => {
  store = openMemoryStore()
  tokens = openTokens({ dir: 'memory', adminToken, store }).tokens
  server = await startTestServer({ tokens }, store)
})
afterAll(async () => {
  await server.stop()
  await tokens.close()
})

const make = async (name: string, given: object): Promise<Body> => {
  const answer = await server.post('/api/tokens', { name, ...given })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const listed = async (name: string): Promise<Body> => (await server.get('/api/tokens')).body.tokens.filter((each: Body) => each.name === name)
const recorded = async (): Promise<ReadonlyArray<{ readonly type: string; readonly data: Body; readonly metadata: Body }>> => {
  const events = []
  for await (const page of store.read(tokenStream)) events.push(...page)
  return events.map(({ type, data, metadata }) => ({ type, data: JSON.parse(data), metadata: JSON.parse(metadata) }))
}

test('SEC-2: a token is shown once; the log and the list have its name, and the log its hash', async () => {
  const made = await make('ci', { roles: ['producer', 'worker'], queues: ['build'], expiresAt: '2999-01-01T00:00:00.000Z' })
  expect(made).toMatchObject({ name: 'ci', roles: ['producer', 'worker'], queues: ['build'], status: 'valid', createdBy: 'admin', lastUsedAt: null })
  expect(made.token).toMatch(/^dbk_[A-Za-z0-9_-]{43}$/)
  const list = await server.get('/api/tokens')
  expect(list.text).not.toContain(made.token)
  expect(list.body.tokens[0]).toMatchObject({ id: 'admin', name: 'admin', roles: ['admin'] })
  const events = await recorded()
  expect(JSON.stringify(events)).not.toContain(made.token)
  expect(events.at(-1)).toMatchObject({ type: 'TokenCreated', data: { token: made.id, name: 'ci' }, metadata: { actor: 'admin' } })
})

test('SEC-2: an Idempotency-Key does not keep a token in memory', async () => {
  const keyed = { headers: { 'idempotency-key': 'make-one' } }
  expect((await server.post('/api/tokens', { name: 'keyed', roles: ['worker'] }, keyed)).status).toBe(201)
  expect(await server.post('/api/tokens', { name: 'keyed', roles: ['worker'] }, keyed)).toMatchObject({ status: 409, body: { code: 'conflict' } })
})

test('SEC-3: the log has the name of the token as the actor, and the list when it was used', async () => {
  const { token } = await make('night-shift', { roles: ['producer'] })
  await server.post('/api/queues/named/tasks', { id: 'a', type: 't' }, as(token))
  expect((await server.get('/api/queues/named/tasks/a/history')).body.events[0].actor).toBe('night-shift')
  const [{ lastUsedAt }] = await listed('night-shift')
  expect(Date.parse(lastUsedAt)).toBeGreaterThan(Date.now() - 60_000)
})

test('SEC-3: when tokens were used is still known after a restart, and may be lost', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-uses-'))
  try {
    const first = openTokens({ dir, adminToken, now: () => 1_000_000 }).tokens
    expect(isRight(first.check(adminToken))).toBe(true)
    await first.close()
    expect(readFileSync(join(dir, 'token-uses.json'), 'utf8')).not.toContain(adminToken)
    const second = openTokens({ dir, adminToken }).tokens
    expect(second.adminUsedAt()).toBe(1_000_000)
    await second.close()
    writeFileSync(join(dir, 'token-uses.json'), '{')
    const third = openTokens({ dir, adminToken }).tokens
    expect(third.adminUsedAt()).toBeUndefined()
    await third.close()
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('SEC-4: a producer cancels what it enqueued, and nothing else', async () => {
  const [ours, others] = [await make('ours', { roles: ['producer'] }), await make('others', { roles: ['producer'] })]
  const q = '/api/queues/own'
  await server.post(`${q}/tasks`, { id: 'a', type: 't', payload: 1 }, as(ours.token))
  await server.post(`${q}/tasks`, { id: 'b', type: 't', payload: 2 }, as(ours.token))
  const cancel = (id: string, token: string): Promise<Answer> => server.post(`${q}/tasks/${encodeURIComponent(id)}/cancel`, { reason: 'r' }, as(token))
  expect(await cancel('a', others.token)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  expect(await cancel('nobody', others.token)).toMatchObject({ status: 404 })
  expect(await cancel('#1', ours.token)).toMatchObject({ status: 200, body: { cancelled: ['a'] } })
  const operator = await make('operator-of-own', { roles: ['operator'] })
  expect(await cancel('b', operator.token)).toMatchObject({ status: 200, body: { cancelled: ['b'] } })
})

describe('SEC-5: a token that is revoked', () => {
  test('is refused at once, and says who revoked it and why', async () => {
    const { id, token } = await make('short', { roles: ['auditor'] })
    expect((await server.get('/api/queues', as(token))).status).toBe(200)
    expect(await server.call('DELETE', `/api/tokens/${id}?reason=left`)).toMatchObject({ status: 200, body: { status: 'revoked', revoked: { by: 'admin', reason: 'left' } } })
    expect(await server.get('/api/queues', as(token))).toMatchObject({ status: 401, body: { code: 'unauthorized', detail: expect.stringContaining('revoked') } })
    const count = (await recorded()).length
    expect((await server.call('DELETE', `/api/tokens/${id}`)).body.revoked.reason).toBe('left')
    expect((await recorded()).length).toBe(count)
    // Its name is free again.
    await make('short', { roles: ['auditor'] })
  })

  test('ends what it waits for: a claim, a result, a WebSocket', async () => {
    const { id, token } = await make('waiting', { roles: ['worker', 'auditor'] })
    await server.post('/api/queues/waits/tasks', { id: 'blocked', type: 'other' })
    const claim = server.post('/api/queues/waits/claims', { agentId: 'w', types: ['t'], wait: 60 }, as(token))
    const result = server.get('/api/queues/waits/tasks/blocked/result?wait=60', as(token))
    const socket = new WebSocket(`${server.http.url.replace('http', 'ws')}/api/ws?queue=waits`, { headers: as(token).headers })
    const closed = new Promise<number>((resolve) => socket.on('close', resolve))
    await new Promise((resolve) => socket.on('open', resolve))
    await until(() => (server.daybook.queue('waits')?.status().waitingClaims ?? 0) === 1 && (server.daybook.queue('waits')?.status().settledWaits ?? 0) === 1)
    await server.call('DELETE', `/api/tokens/${id}`)
    expect((await inTime('the claim', claim)).body.claims ?? []).toEqual([])
    expect((await inTime('the result', result)).status).toBe(401)
    expect(await inTime('the WebSocket', closed)).toBe(4001)
    await server.post('/api/queues/waits/tasks', { id: 'free', type: 't' })
    expect((await server.get('/api/queues/waits/tasks/free')).body.status).toBe('pending')
  })

  test('ends a stream of the log that it is reading', async () => {
    const { id, token } = await make('reading', { roles: ['auditor'] })
    const payload = 'x'.repeat(20_000)
    for (let i = 0; i < 20; i++) await server.post('/api/queues/long/tasks', { tasks: Array.from({ length: 100 }, (_, n) => ({ id: `${i}-${n}`, type: 't', payload: `${i}-${n}-${payload}` })) })
    const response = await fetch(`${server.http.url}/api/queues/long/events`, { headers: { ...as(token).headers, accept: 'application/x-ndjson' } })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await server.call('DELETE', `/api/tokens/${id}`)
    const rest = async (): Promise<void> => {
      while (!(await reader.read()).done);
    }
    await expect(inTime('the end of the stream', rest())).rejects.toThrow('terminated')
  })

  test('is refused by every server on the store', async () => {
    const other = openTokens({ dir: 'memory', adminToken: 'another', store }).tokens
    const { id, token } = await make('everywhere', { roles: ['worker'] })
    await until(() => isRight(other.check(token)))
    await server.call('DELETE', `/api/tokens/${id}`)
    await until(() => !isRight(other.check(token)))
    expect(other.check(token)).toMatchObject({ left: 'revoked' })
    await other.close()
  })

  test('is refused after a restart', async () => {
    const { id, token } = await make('again', { roles: ['worker'] })
    await server.call('DELETE', `/api/tokens/${id}`)
    const restarted = openTokens({ dir: 'memory', adminToken, store }).tokens
    await restarted.ready
    expect(restarted.check(token)).toMatchObject({ left: 'revoked' })
    await restarted.close()
  })
})

test('SEC-5: a token that is revoked while its body comes does nothing', async () => {
  const { id, token } = await make('slow-sender', { roles: ['producer'] })
  const body = JSON.stringify({ id: 'late', type: 't' })
  const asked = request(`${server.http.url}/api/queues/late/tasks`, { method: 'POST', headers: { ...as(token).headers, 'content-type': 'application/json', 'content-length': String(body.length) } })
  const status = new Promise<number>((resolve, reject) => asked.on('response', (response) => resolve(response.statusCode ?? 0)).on('error', reject))
  asked.write(body.slice(0, 5))
  // The token counts as used once its request's headers were judged.
  for (let used = false; !used; ) used = (await listed('slow-sender')).some(({ lastUsedAt }: Body) => lastUsedAt !== null)
  await server.call('DELETE', `/api/tokens/${id}`)
  asked.end(body.slice(5))
  expect(await inTime('the answer', status)).toBe(401)
  expect(server.daybook.queue('late')).toBeUndefined()
})

test('SEC-5: a token that expires while it waits ends its wait', async () => {
  const { token } = await make('brief', { roles: ['worker'], expiresAt: new Date(Date.now() + 3_000).toISOString() })
  const claim = server.post('/api/queues/brief/claims', { agentId: 'w', wait: 60 }, as(token))
  await inTime('the claim', claim)
  await until(() => !isRight(tokens.check(token)))
  expect(tokens.check(token)).toMatchObject({ left: 'expired' })
})

test('two servers that make a token of one name: one of them does', async () => {
  const other = openTokens({ dir: 'memory', adminToken: 'another', store }).tokens
  const made = await Promise.all([tokens, other].map((each) => each.create({ name: 'twice', roles: ['worker'] }, { actor: 'admin' })))
  expect(made.filter(isRight)).toHaveLength(1)
  expect(made.find((each) => !isRight(each))).toMatchObject({ left: { code: 'conflict' } })
  await other.close()
})

test('at most 1,000 tokens are valid, and 1,000 that have ended are remembered', async () => {
  let clock = 1_000_000
  const own = openTokens({ dir: 'memory', adminToken, now: () => clock }).tokens
  const create = (name: string, expiresAt?: number) => own.create({ name, roles: ['worker'], ...(expiresAt === undefined ? {} : { expiresAt }) }, { actor: 'admin' })
  const [first] = [await create('first')]
  for (let n = 0; n < 999; n++) await create(`brief-${n}`, clock + 1_000)
  expect(await create('too-many')).toMatchObject({ left: { code: 'conflict', detail: expect.stringContaining('1000 tokens are valid') as string } })
  clock += 1_000
  for (let n = 0; n < 999; n++) await create(`later-${n}`, clock + 1_000)
  clock += 1_000
  for (let n = 0; n < 5; n++) await create(`last-${n}`)
  const names = own.list().map(({ name }) => name)
  expect(names).toHaveLength(2_000)
  // The oldest ended tokens are forgotten, but no valid token.
  expect(names.slice(0, 2)).toEqual(['first', 'brief-4'])
  expect(isRight(first) && isRight(own.check(first.right.token))).toBe(true)
  await own.close()
})

test('SEC-6: what a newer server says of a token is not ignored', async () => {
  const own = openMemoryStore()
  const here = openTokens({ dir: 'memory', adminToken, store: own }).tokens
  const create = async (name: string) => {
    const done = await here.create({ name, roles: ['worker'] }, { actor: 'admin' })
    if (!isRight(done)) throw new Error(done.left.detail)
    return done.right
  }
  const append = (type: string, data: object) => own.append(tokenStream, [{ id: crypto.randomUUID(), type, data: JSON.stringify(data), metadata: '{"schemaVersion":1,"at":"2026-01-01T00:00:00.000Z","actor":"admin"}' }], 'any')()
  const [limited, free] = [await create('limited'), await create('free')]
  await append('TokenLimited', { token: limited.made.id, to: 'something' })
  await until(() => !isRight(here.check(limited.token)))
  expect(here.check(limited.token)).toMatchObject({ left: 'unread' })
  expect(isRight(here.check(free.token))).toBe(true)
  // A token with a limit that this server does not know is not accepted here.
  await append('TokenCreated', { token: 'x', name: 'x', roles: ['worker'], sha256: '0'.repeat(64), onlyOn: 'sundays' })
  await append('AllLimited', {})
  await until(() => !isRight(here.check(free.token)))
  expect(here.problem()?.reason).toContain('update this server')
  expect(isRight(here.check(adminToken))).toBe(true)
  expect(here.list().map(({ name }) => name)).toEqual(['limited', 'free'])
  await here.close()
})

test.each<readonly [string, object]>([
  ['a name of the server', { name: 'admin', roles: ['worker'] }],
  ['a name with a space', { name: 'a b', roles: ['worker'] }],
  ['no role', { name: 'x', roles: [] }],
  ['an unknown role', { name: 'x', roles: ['root'] }],
  ['a role twice', { name: 'x', roles: ['worker', 'worker'] }],
  ['no queue', { name: 'x', roles: ['worker'], queues: [] }],
  ['an admin of one queue', { name: 'x', roles: ['admin'], queues: ['a'] }],
  ['a time that is over', { name: 'x', roles: ['worker'], expiresAt: '2020-01-01T00:00:00.000Z' }],
  ['an unknown limit', { name: 'x', roles: ['worker'], types: ['a'] }],
  ['a tenant that no isolated queue has', { name: 'x', roles: ['worker'], tenants: ['Acme Inc'] }],
  ['an admin of a tenant', { name: 'x', roles: ['admin'], tenants: ['acme'] }],
])('a token is refused with %s', async (_, body) => {
  const before = (await recorded()).length
  expect(await server.post('/api/tokens', body)).toMatchObject({ status: 400, body: { code: 'invalid' } })
  expect((await recorded()).length).toBe(before)
})

test('the admin token is replaced, and not revoked; an unknown one is not found', async () => {
  expect(await server.call('DELETE', '/api/tokens/admin')).toMatchObject({ status: 409, body: { code: 'wrong-state' } })
  expect(await server.call('DELETE', '/api/tokens/nobody')).toMatchObject({ status: 404 })
})

test('a WebSocket shows the queues of its token, to those who may read', async () => {
  const statusOf = (token: string, queue: string): Promise<number> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${server.http.url.replace('http', 'ws')}/api/ws?queue=${queue}`, { headers: as(token).headers })
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
      socket.on('open', () => {
        socket.close()
        resolve(101)
      })
      socket.on('error', () => undefined)
    })
  const { token } = await make('watcher', { roles: ['auditor'], queues: ['seen'] })
  const producer = await make('no-watcher', { roles: ['producer', 'worker'] })
  expect(await statusOf(token, 'seen')).toBe(101)
  expect(await statusOf(token, 'unseen')).toBe(403)
  expect(await statusOf(producer.token, 'seen')).toBe(403)
})

test('a request whose caller left before it was looked at leaves nothing on its token', async () => {
  const { token } = await make('leaver', { roles: ['auditor'] })
  const checked = tokens.check(token)
  if (!isRight(checked)) throw new Error('the token is not valid')
  const grant = checked.right as { -readonly [K in keyof typeof checked.right]: (typeof checked.right)[K] }
  const { onEnd } = grant
  const waits = { begun: 0, over: 0 }
  grant.onEnd = (ended) => {
    waits.begun++
    const forget = onEnd(ended)
    return () => {
      waits.over++
      forget()
    }
  }
  await server.post('/api/queues/left/tasks', { type: 't', payload: 1 })
  const socket = connect(server.http.port, '127.0.0.1')
  socket.write(`GET /api/queues/left/tasks?atLeast=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  await until(() => listedUse('leaver'))
  // The socket closes once the server has seen its end.
  socket.resume().end()
  await once(socket, 'close')
  await server.post('/api/queues/left/tasks', { type: 't', payload: 2 })
  await until(() => waits.begun > 0)
  expect(waits.over).toBe(waits.begun)
})

test('lines about a past moment whose token ends before they are sent are let go', async () => {
  const lines = Readable.from(['{}\n'])
  const own = openTokens({ dir: 'memory', adminToken }).tokens
  const past = { ask: async () => {
    for (const { id } of own.list()) await own.revoke(id, undefined, { actor: 'admin' })
    return right({ status: 200, text: lines, type: 'application/x-ndjson' })
  }, close: async () => undefined }
  const other = await startTestServer({ tokens: own, past })
  const { body: { token } } = await other.post('/api/tokens', { name: 'brief', roles: ['auditor'] })
  await other.post('/api/queues/q/tasks', { type: 't' })
  expect((await other.get('/api/queues/q/events?revision=0', { headers: { ...as(token).headers, accept: 'application/x-ndjson' } })).status).toBe(401)
  expect(lines.destroyed).toBe(true)
  await other.stop()
  await own.close()
})

/** Whether the token of this name was used since it was made. */
const listedUse = (name: string): boolean => tokens.list().some((each) => each.name === name && each.lastUsedAt !== undefined)
