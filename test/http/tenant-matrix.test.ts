/**
 * TEN-2: what a token for a tenant may do. Every route of the table × every role × every state of the token × its queue and tenant; each cell is a
 * request. The table says which routes are limited to tenants; tenant-answers.test.ts checks that they are.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Role, roles } from '@daybook/adapters/auth'
import { type Operation, startMatrix, type State, states } from './matrix.js'
import { adminToken, type Body, type TestServer } from './support.js'

let server: TestServer
let operations: ReadonlyArray<Operation>
let made: ReadonlyMap<string, string>
let stop: () => Promise<void>

/** `mine` is isolated, `shared` is not. A token is for the queue of the request, for another, or for all. */
const queuesOf = { all: {}, own: { queues: ['mine', 'shared', 'nowhere'] }, other: { queues: ['theirs'] } }
const tenantsOf = { own: ['acme'], other: ['globex'], both: ['acme', 'globex'] }
interface Cell {
  readonly role: Role
  readonly state: State
  readonly queue: keyof typeof queuesOf
  readonly tenant: keyof typeof tenantsOf
}
const cells: ReadonlyArray<Cell> = roles
  .filter((role) => role !== 'admin')
  .flatMap((role) => states.flatMap((state) => (['all', 'own', 'other'] as const).flatMap((queue) => (['own', 'other'] as const).map((tenant) => ({ role, state, queue, tenant })))))
/** A token for several tenants. */
const both: Cell = { role: 'auditor', state: 'valid', queue: 'own', tenant: 'both' }
const keyOf = ({ role, state, queue, tenant }: Cell): string => `${role}-${state}-${queue}-${tenant}`

beforeAll(async () => {
  ;({ server, operations, made, stop } = await startMatrix(
    [...cells, both].map((cell) => ({ name: keyOf(cell), roles: [cell.role], state: cell.state, tenants: tenantsOf[cell.tenant], ...queuesOf[cell.queue] })),
  ))
  await server.call('PATCH', '/api/queues/mine/settings', { tenants: 'isolated' })
  await server.post('/api/queues/mine/tasks', { id: 'acme:secret', type: 't', tenant: 'acme' })
  await server.post('/api/queues/shared/tasks', { id: 'acme:secret', type: 't', tenant: 'acme' })
})
afterAll(() => stop())

/** Most bodies are invalid: an admitted caller gets 400, and nothing changes. */
const request = async (queue: string, { method, path }: Operation, token: string): Promise<{ readonly status: number; readonly text: string }> => {
  const inPath = path.replace('{queue}', queue).replace('{id}', 'acme:secret').replace(/\{\w+\}/g, 'none')
  const response = await fetch(`${server.http.url}${inPath}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(method === 'POST' ? { 'content-type': 'application/json' } : {}) },
    ...(method === 'POST' ? { body: '{"nonsense":true}' } : {}),
  })
  return { status: response.status, text: await response.text() }
}

type Seen = 'in' | 401 | 403
const expected = ({ path, roles: allowed, forTenants }: Operation, { role, state, queue }: Cell): Seen => {
  if (allowed.includes('anyone')) return 'in'
  if (state !== 'valid') return 401
  if (!allowed.includes(role) || forTenants === 'refused') return 403
  return queue !== 'other' || !path.includes('{queue}') ? 'in' : 403
}
const seen = (status: number): Seen => (status === 401 || status === 403 ? status : 'in')

test('TEN-2: every cell of route × role × state × queue × tenant is as the table of routes says', async () => {
  const before = [await server.eventCount('mine'), await server.eventCount('shared')]
  const wrong: Array<string> = []
  let count = 0
  for (const operation of operations) {
    const one = async (cell: Cell): Promise<void> => {
      const where = `${operation.method} ${operation.path} as ${keyOf(cell)}`
      const { status, text } = await request('mine', operation, made.get(keyOf(cell)) ?? '')
      count++
      if (seen(status) !== expected(operation, cell)) wrong.push(`${where}: ${status} instead of ${expected(operation, cell)}`)
      if (status >= 500) wrong.push(`${where}: ${status} ${text}`)
      // A refusal repeats the id that was sent, and nothing else of the task.
      if (status < 300 && cell.tenant === 'other' && text.includes('secret')) wrong.push(`${where} tells a task`)
    }
    await Promise.all(cells.map(one))
  }
  expect(wrong).toEqual([])
  expect(operations.length).toBeGreaterThan(60)
  expect(count).toBe(operations.length * 5 * 3 * 3 * 2)
  // Every kind is there, so none of these expectations is empty.
  expect(new Set(operations.map(({ forTenants }) => forTenants))).toEqual(new Set(['refused', 'task', 'own', 'open']))
  expect([await server.eventCount('mine'), await server.eventCount('shared')]).toEqual(before)
}, 600_000)

test('TEN-2: a queue that is not isolated is refused whatever is asked, as one that does not exist', async () => {
  const wrong: Array<string> = []
  const withBody: Readonly<Record<string, object>> = { '/api/queues/{queue}/claims': { agentId: 'acme:w' }, '/api/queues/{queue}/agents': { agentId: 'acme:w' }, '/api/queues/{queue}/tasks': { type: 't' }, '/api/queues/{queue}/tasks/cancel': { filter: {}, reason: 'r' }, '/api/queues/{queue}/outcomes': { outcomes: [] }, '/api/queues/{queue}/batches': {}, '/api/queues/{queue}/batches/{batch}/cancel': { reason: 'r' } }
  for (const operation of operations) {
    const { method, path, forTenants, roles: allowed } = operation
    if (method === 'HEAD' || forTenants === 'open' || !path.includes('{queue}')) continue
    const role = roles.find((each) => each !== 'admin' && allowed.includes(each))
    if (role === undefined) continue
    const token = made.get(keyOf({ role, state: 'valid', queue: 'own', tenant: 'own' })) ?? ''
    const said = async (queue: string): Promise<string> => {
      const body = method === 'GET' || method === 'DELETE' ? undefined : (withBody[path] ?? bodies[path.replace('/api/queues/{queue}', '')])
      const { status, text } = await server.call(method, path.replace('{queue}', queue).replace('{id}', 'acme:secret').replace(/\{\w+\}/g, 'none'), body, { headers: { authorization: `Bearer ${token}` } })
      return `${status} ${text.replace(/"correlationId":"[^"]*"/, '').replaceAll(queue, 'QUEUE')}`
    }
    const [shared, nowhere] = [await said('shared'), await said('nowhere')]
    if (!shared.startsWith('403')) wrong.push(`${method} ${path}: ${shared}`)
    if (shared !== nowhere) wrong.push(`${method} ${path}: ${shared} but ${nowhere}`)
  }
  expect(wrong).toEqual([])
  expect(await server.eventCount('nowhere')).toBe(0)
})

const holder = { agentId: 'acme:w', token: 1 }
const review = { reviewer: 'ada', reason: 'r' }
/** Bodies that are valid, so that the answer is not about them. */
const bodies: Readonly<Record<string, object>> = {
  '/tasks/{id}': { reason: 'r', priority: 3 },
  '/tasks/{id}/cancel': { reason: 'r' },
  '/tasks/{id}/heartbeat': holder,
  '/tasks/{id}/complete': { ...holder, result: { success: true } },
  '/tasks/{id}/fail': { ...holder, error: 'e' },
  '/tasks/{id}/release': { ...holder, reason: 'r' },
  '/tasks/{id}/park': { ...holder, callbackKey: 'k', timeoutSeconds: 1 },
  '/dead-letters/{id}/retry': review,
  '/dead-letters/{id}/discard': review,
  '/dead-letters/{id}/snooze': { ...review, until: '2999-01-01T00:00:00.000Z' },
  '/dead-letters/{id}/escalate': review,
}

test('TEN-3: what names one task answers for that of another tenant as for none, to the byte', async () => {
  const wrong: Array<string> = []
  const found = (await server.get('/api/queues/mine/tasks/acme:secret')).body.number
  const before = await server.eventCount('mine')
  let compared = 0
  let told = 0
  for (const { method, path, forTenants, roles: allowed } of operations) {
    if (forTenants !== 'task' || method === 'HEAD') continue
    const short = path.replace('/api/queues/{queue}', '')
    expect(method === 'GET' || bodies[short] !== undefined, `${method} ${path} has a body here`).toBe(true)
    const ask = async (id: string, token: string): Promise<string> => {
      const { status, text, headers } = await server.call(method, path.replace('{queue}', 'mine').replace('{id}', encodeURIComponent(id)), method === 'GET' ? undefined : bodies[short], { headers: { authorization: `Bearer ${token}` } })
      const fields = [...headers].filter(([name]) => !['date', 'x-correlation-id', 'content-length'].includes(name))
      return JSON.stringify([status, text.replace(/"correlationId":"[^"]*"/, ''), fields]).replaceAll(id, 'ID')
    }
    for (const role of roles) {
      if (role === 'admin' || !allowed.includes(role)) continue
      const token = made.get(keyOf({ role, state: 'valid', queue: 'own', tenant: 'other' })) ?? ''
      for (const [there, nowhere] of [['acme:secret', 'acme:absent'], [`#${found}`, '#9']] as const) {
        const [one, other] = [await ask(there, token), await ask(nowhere, token)]
        compared++
        if (one !== other) wrong.push(`${method} ${path} as ${role}: ${one} but ${other}`)
        if (!one.startsWith('[404')) wrong.push(`${method} ${path} as ${role}: ${one}`)
      }
    }
    // Teeth: a caller who may see the task gets different answers, so the comparison could fail.
    if (method === 'GET' && (await ask('acme:secret', adminToken)) !== (await ask('acme:absent', adminToken))) told++
  }
  expect(wrong).toEqual([])
  expect(compared).toBeGreaterThan(30)
  expect(told).toBe(4)
  expect(await server.eventCount('mine')).toBe(before)
})

test('TEN-2: past moments, other tenants and WebSockets are refused', async () => {
  const as = (role: Role, tenant: Cell['tenant'] = 'own') => ({ headers: { authorization: `Bearer ${made.get(keyOf({ role, state: 'valid', queue: 'own', tenant }))}` } })
  for (const query of ['revision=0', 'at=2026-01-01T00:00:00.000Z', 'tenant=globex']) expect(await server.get(`/api/queues/mine/tasks?${query}`, as('auditor')), query).toMatchObject({ status: 403 })
  expect(await server.post('/api/queues/mine/tasks', { type: 't', tenant: 'globex' }, as('producer'))).toMatchObject({ status: 403 })
  expect((await server.post('/api/queues/mine/tasks', { tasks: [{ type: 't', tenant: 'globex' }], atomic: false }, as('producer'))).body.results).toMatchObject([{ status: 403 }])
  for (const id of ['globex:x', 'x']) expect(await server.post('/api/queues/mine/tasks', { id, type: 't' }, as('producer')), id).toMatchObject({ status: 400, body: { errors: [{ path: 'id' }] } })
  expect(await server.post('/api/queues/mine/claims', { agentId: 'acme:w', tenant: 'globex' }, as('worker'))).toMatchObject({ status: 403 })
  expect(await server.post('/api/queues/mine/claims', { agentId: 'globex:w' }, as('worker'))).toMatchObject({ status: 400 })
  expect(await server.post('/api/queues/mine/tasks/cancel', { filter: { tenant: 'globex' }, reason: 'r' }, as('operator'))).toMatchObject({ status: 403 })
  // A token for several tenants must say which one.
  expect(await server.get('/api/queues/mine/tasks', as('auditor', 'both'))).toMatchObject({ status: 400 })
  expect((await server.get('/api/queues/mine/tasks?tenant=acme', as('auditor', 'both'))).body.tasks).toHaveLength(1)
  const status = await new Promise<number>((resolve) => {
    const socket = new WebSocket(`${server.http.url.replace('http', 'ws')}/api/ws?queue=mine`, as('auditor'))
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0)).on('open', () => resolve(101)).on('error', () => undefined)
  })
  expect(status).toBe(403)
})

test('TEN-5: why a task waits for what tenants share is told without a word of the others', async () => {
  const as = (tenant: Cell['tenant'], role: Role) => ({ headers: { authorization: `Bearer ${made.get(keyOf({ role, state: 'valid', queue: 'all', tenant }))}` } })
  const queue = '/api/queues/waits'
  await server.call('PATCH', `${queue}/settings`, { tenants: 'isolated', breakers: { defaults: { failureThreshold: 1 } } })
  for (const id of ['globex:bad', 'globex:next']) await server.post(`${queue}/tasks`, { id, type: 'mail' }, as('other', 'producer'))
  const [{ lease }] = (await server.post(`${queue}/claims`, { agentId: 'globex:w' }, as('other', 'worker'))).body.claims
  await server.post(`${queue}/tasks/globex:bad/fail`, { agentId: 'globex:w', token: lease.token, error: 'a secret', retryable: false }, as('other', 'worker'))
  await server.post(`${queue}/tasks`, { id: 'acme:mine', type: 'mail' }, as('own', 'producer'))
  const told = [await server.get(`${queue}/tasks/acme:mine/explain`, as('own', 'auditor')), await server.get(`${queue}/tasks/acme:mine`, as('own', 'auditor'))]
  for (const { text, body } of told) {
    expect(body.reasons).toEqual([{ code: 'breaker-open', message: 'it waits for something that the tenants of this queue share', change: 'time, or whoever runs the queue' }])
    expect(text).not.toMatch(/globex|secret|queuePosition/)
  }
  // Teeth: an operator of the queue is told more, including the turns of tenants.
  expect((await server.get(`${queue}/tasks/acme:mine/explain`)).body.reasons[0].message).toContain('threshold')
  await server.post(`${queue}/breakers/mail/close`, { reason: 'r' })
  const turns = async (given?: { readonly headers: Record<string, string> }) => (await server.get(`${queue}/tasks/acme:mine/explain`, given)).body
  expect([(await turns()).reasons.map(({ code }: Body) => code), (await turns()).position]).toEqual([expect.arrayContaining(['ready']), expect.any(Number)])
  expect(await turns(as('own', 'auditor'))).toMatchObject({ runnable: true, position: null, reasons: [{ code: 'ready' }] })
})
