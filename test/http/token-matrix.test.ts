/**
 * SEC-1: who may call what. Every route of the table × every role × every state of a token × the queue that it is limited to; each cell is a request.
 * test/docs compares the roles of a route with docs/tokens.md; this file compares the server with its own table.
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

/** `own`: limited to the queue of the request. `other`: limited to another queue. */
type Binding = 'unbound' | 'own' | 'other'
const bindings: ReadonlyArray<Binding> = ['unbound', 'own', 'other']
const keyOf = (role: Role, state: State, binding: Binding): string => `${role}-${state}-${binding}`
const queuesOf = { unbound: {}, own: { queues: ['mine'] }, other: { queues: ['theirs'] } }

beforeAll(async () => {
  const cells = roles.flatMap((role) => states.flatMap((state) => bindings.map((binding) => ({ role, state, binding })))).filter(({ role, binding }) => role !== 'admin' || binding === 'unbound')
  ;({ server, operations, made, stop } = await startMatrix(cells.map(({ role, state, binding }) => ({ name: keyOf(role, state, binding), roles: [role], state, ...queuesOf[binding] }))))
  for (const queue of ['mine', 'theirs']) await server.post(`/api/queues/${queue}/tasks`, { id: `of-${queue}`, type: 't' })
})
afterAll(() => stop())

/** About the queue `mine`. Named things do not exist, and most bodies are missing: an admitted caller gets 400 or 404, and nothing changes. */
const request = async (method: string, path: string, authorization: string): Promise<{ readonly status: number; readonly text: string }> => {
  const inPath = path.replace('{queue}', 'mine').replace(/\{\w+\}/g, 'none')
  const response = await fetch(`${server.http.url}${inPath}${path in named ? '?queue=mine' : ''}`, {
    method,
    headers: { ...(authorization === '' ? {} : { authorization }), ...(method === 'POST' ? { 'content-type': 'application/json' } : {}) },
    ...(method === 'POST' ? { body: JSON.stringify(named[path] ?? { nonsense: true }) } : {}),
  })
  return { status: response.status, text: await response.text() }
}

/** The routes that name their queue beside the path, with their bodies. */
const named: Readonly<Record<string, object>> = {
  '/api/queue_status': {},
  '/api/bump_task_priority': { task_id: 'none', reason: 'r' },
  '/api/cancel_queued_task': { task_id: 'none', reason: 'r' },
  '/api/restart_task': { task_id: 'none', reason: 'r' },
  '/api/terminate_agent': { agent_id: 'none', reason: 'r' },
}

/** The same as a WebSocket. */
const watch = (token: string | undefined): Promise<number> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${server.http.url.replace('http', 'ws')}/api/ws?queue=mine`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
    const done = (status: number): void => {
      resolve(status)
      socket.terminate()
    }
    socket.on('unexpected-response', (_, response) => done(response.statusCode ?? 0)).on('open', () => done(101)).on('error', () => undefined)
  })

/** Routes of the server and not of one queue: their answer to a token that is limited to some queues. */
const ofServer: Readonly<Record<string, 'refused' | 'cut'>> = { '/metrics': 'refused', '/api/queues': 'cut', '/api/me': 'cut', '/api/tokens': 'refused', '/api/tokens/{id}': 'refused' }
const isOpen = (allowed: ReadonlyArray<string>): boolean => allowed.includes('anyone')

const admits = (path: string, allowed: ReadonlyArray<string>, role: Role, binding: Binding): boolean => {
  if (isOpen(allowed)) return true
  if (!allowed.includes(role)) return false
  if (binding === 'unbound') return true
  const server = ofServer[path]
  return server === undefined ? binding === 'own' : server === 'cut'
}

const expected = (path: string, allowed: ReadonlyArray<string>, role: Role, state: State, binding: Binding): 'in' | 401 | 403 => {
  if (isOpen(allowed)) return 'in'
  if (state !== 'valid') return 401
  return admits(path, allowed, role, binding) ? 'in' : 403
}

const seen = (status: number): 'in' | 401 | 403 => (status === 401 || status === 403 ? status : 'in')

test('SEC-1: every cell of route × role × state × queue is as the table of routes says', async () => {
  const wrong: Array<string> = []
  let cells = 0
  const cell = async ({ method, path, roles: allowed }: Operation, role: Role, state: State, binding: Binding): Promise<void> => {
    const token = made.get(keyOf(role, state, binding))
    if (token === undefined) return
    const where = `${method} ${path} as ${keyOf(role, state, binding)}`
    const want = expected(path, allowed, role, state, binding)
    const { status, text } = await request(method, path, `Bearer ${token}`)
    cells++
    if (seen(status) !== want) wrong.push(`${where}: ${status} instead of ${want}`)
    if (binding === 'other' && text.includes('of-mine')) wrong.push(`${where} tells a task`)
    if (status >= 500) wrong.push(`${where}: ${status} ${text}`)
  }
  // The cells of one route at a time, concurrently.
  for (const operation of operations) await Promise.all(roles.flatMap((role) => states.flatMap((state) => bindings.map((binding) => cell(operation, role, state, binding)))))
  expect(wrong).toEqual([])
  expect(operations.length).toBeGreaterThan(60)
  expect(cells).toBe(operations.length * (5 * 9 + 3))
})

test('SEC-1: every cell of role × state × queue of the WebSocket', async () => {
  const readers = ['operator', 'guardian', 'auditor', 'admin']
  const wrong: Array<string> = []
  for (const role of roles) {
    for (const state of states) {
      for (const binding of bindings) {
        const token = made.get(keyOf(role, state, binding))
        if (token === undefined) continue
        const want = expected('/api/ws', readers, role, state, binding)
        const status = await watch(token)
        if (status !== (want === 'in' ? 101 : want)) wrong.push(`${keyOf(role, state, binding)}: ${status} instead of ${want}`)
      }
    }
  }
  expect(wrong).toEqual([])
  for (const token of [undefined, 'wrong']) expect(await watch(token)).toBe(401)
})

test('SEC-1: without a token, or with what is none, nothing but the open routes answers', async () => {
  const wrong: Array<string> = []
  for (const { method, path, roles: allowed } of operations) {
    for (const authorization of ['', 'Bearer', 'Bearer wrong', `Basic ${adminToken}`, adminToken, `Bearer ${adminToken}x`, `Bearer ${adminToken} x`]) {
      const { status } = await request(method, path, authorization)
      if (seen(status) !== (isOpen(allowed) ? 'in' : 401)) wrong.push(`${method} ${path} with ${authorization}: ${status}`)
    }
  }
  expect(wrong).toEqual([])
})

test('SEC-1: a list of queues has those of the token, and a body cannot name another queue', async () => {
  const as = (role: Role, binding: Binding) => ({ headers: { authorization: `Bearer ${made.get(keyOf(role, 'valid', binding))}` } })
  const names = async (binding: Binding) => (await server.get('/api/queues', as('auditor', binding))).body.queues.map(({ name }: Body) => name)
  expect(await names('unbound')).toEqual(['mine', 'theirs'])
  expect(await names('own')).toEqual(['mine'])
  expect(await names('other')).toEqual(['theirs'])
  const bump = { task_id: 'of-mine', reason: 'r' }
  for (const [path, body] of [['/api/bump_task_priority', { ...bump, queue: 'mine' }], ['/api/bump_task_priority?queue=mine', bump], ['/api/bump_task_priority', bump]] as const) {
    expect(await server.post(path, body, as('operator', 'other')), path).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  }
  expect(await server.get('/api/queue_status?queue=mine', as('auditor', 'other'))).toMatchObject({ status: 403 })
  expect(await server.get('/api/queue_status?queue=mine', as('auditor', 'own'))).toMatchObject({ status: 200 })
  // The answer is the same whether the queue exists or not.
  const [there, nowhere] = [await server.get('/api/queues/mine', as('auditor', 'other')), await server.get('/api/queues/nowhere', as('auditor', 'other'))]
  expect({ ...nowhere.body, correlationId: '' }).toEqual({ ...there.body, correlationId: '' })
})
