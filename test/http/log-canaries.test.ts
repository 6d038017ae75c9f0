/**
 * What callers send is in no line of the server's log: tokens, payloads, descriptions, results, values of queries and headers, ids. Each route is asked in
 * several ways with marked words, by a server that logs every request, and all that it writes is read.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:net'
import type { requestFields } from '@daybook/adapters/http'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../worker/memory-source.js'
import type { Body } from './support.js'

const token = 'dbk_canary-admin-token'
/** Every secret has this in it. */
const mark = 'canary'
const written: Array<string> = []
const dir = mkdtempSync(join(tmpdir(), 'daybook-canaries-'))
let server: RunningServer
let paths: Body

beforeAll(async () => {
  server = await serve(
    { host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'log.db'), sharing: 'exclusive' }, auth: 'tokens', token, logRequests: 'all' },
    { warn: (message) => written.push(message), log: { write: (line: string) => void written.push(line) } },
  )
  paths = ((await (await fetch(`${server.url}/api/openapi.json`)).json()) as Body).paths
})
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

interface Asked {
  readonly headers?: Record<string, string>
  readonly body?: string
}
const ask = async (method: string, path: string, { headers = {}, body }: Asked = {}): Promise<{ readonly status: number; readonly body: Body }> => {
  const response = await fetch(`${server.url}${path}`, { method, headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers }, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  return { status: response.status, body: /json(;|$)/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text }
}
const post = (path: string, body: object): Promise<{ readonly status: number; readonly body: Body }> => ask('POST', path, { body: JSON.stringify(body) })

test('none of what is sent to any route is in a line, and each answer has one', async () => {
  const statuses: Array<number> = []
  for (const [path, item] of Object.entries<Body>(paths)) {
    if (path === '/api/ws') continue
    for (const method of Object.keys(item).map((name) => name.toUpperCase())) {
      const filled = path.replace('{queue}', 'q').replace(/\{\w+\}/g, 'canary-id')
      const query = '?canary=canary&atLeast=canary&cursor=canary&type=canary'
      const hasBody = ['POST', 'PATCH', 'PUT'].includes(method)
      const bodies = hasBody ? ['{"payload":"canary","description":"canary","result":{"output":"canary"},"reason":"canary","canary":"canary"}', '{"canary": canary'] : [undefined]
      for (const body of bodies) {
        const given = body === undefined ? {} : { body }
        const headers = { cookie: 'canary=canary', 'x-api-key': 'canary', 'idempotency-key': 'canary', 'user-agent': 'canary', referer: 'http://canary/' }
        statuses.push((await ask(method, `${filled}${query}`, { ...given, headers })).status)
        for (const authorization of ['Bearer dbk_canary-of-a-stranger', 'Basic canary', 'canary']) statuses.push((await ask(method, `${filled}${query}`, { ...given, headers: { ...headers, authorization } })).status)
      }
    }
  }
  expect(statuses.length).toBeGreaterThan(300)
  // A line is written when the connection is done with the answer.
  await until(() => requestLines().length >= statuses.length, `${statuses.length} lines`)
  expect(leaks()).toEqual([])
})

test('neither is what stands where a queue is named, and can be none', async () => {
  const before = requestLines().length
  await ask('GET', '/api/queues/a%20pasted%20canary/tasks')
  await until(() => requestLines().length > before, 'its line')
  expect(leaks()).toEqual([])
})

test('neither is what tasks contain, whatever becomes of them', async () => {
  const tasks = '/api/queues/fleet/tasks'
  const content = { type: 't', payload: { secret: 'canary' }, description: 'canary', metadata: { note: 'canary' }, ticketId: 'canary' }
  const seen: Array<unknown> = []
  const say = async (path: string, body: object): Promise<Body> => {
    const answer = await post(path, body)
    if (answer.status >= 300) seen.push([path, answer.body])
    return answer.body
  }
  /** Claims one task, and tells who holds it by which lease. */
  const held = async (id: string): Promise<{ readonly agentId: string; readonly token: number }> => {
    const { claims } = await say('/api/queues/fleet/claims', { agentId: `canary-agent-${id}`, max: 1 })
    return { agentId: `canary-agent-${id}`, token: claims[0].lease.token }
  }
  await say(tasks, { id: 'canary-1', ...content })
  await say(`${tasks}/canary-1/complete`, { ...(await held('1')), result: { output: 'canary', decisionReport: 'canary' } })
  await say(tasks, { tasks: [{ id: 'canary-2', ...content, payload: 'canary-2' }, { id: 'canary-3', ...content, payload: 'canary-3', dependencies: ['canary-2'] }] })
  await say(`${tasks}/canary-2/fail`, { ...(await held('2')), error: { message: 'canary', code: 'canary' }, retryable: false })
  await say('/api/queues/fleet/dead-letters/canary-2/retry', { reviewer: 'canary', reason: 'canary', payload: { again: 'canary' } })
  await say(`${tasks}/canary-2/park`, { ...(await held('3')), callbackKey: 'canary-key', timeoutSeconds: 60 })
  await say('/api/queues/fleet/callbacks/canary-key', { payload: { answer: 'canary' } })
  await say('/api/queues/fleet/pause', { reason: 'canary' })
  expect(seen).toEqual([])
  // What is too large, what is no JSON, what is no HTTP, and a handshake with the token in a protocol's name.
  await ask('POST', tasks, { body: JSON.stringify({ ...content, payload: 'canary'.repeat(100_000) }) })
  await ask('POST', tasks, { body: 'canary'.repeat(1_000_000) }).catch(() => undefined)
  await raw('canary canary\r\nAuthorization: canary\r\n\r\n')
  await raw('GET /%zz-canary HTTP/1.1\r\nHost: canary\r\nAuthorization: Bearer dbk_canary\r\nConnection: close\r\n\r\n')
  await ask('GET', `/canary/${'canary'.repeat(500)}?canary`)
  await new Promise<void>((resolve) => new WebSocket(`${server.url.replace('http', 'ws')}/api/ws?queue=fleet&canary=canary`, ['daybook', 'bearer.dbk_canary']).on('unexpected-response', () => resolve()).on('error', () => resolve()))
  expect(leaks()).toEqual([])
  const lines = requestLines()
  expect(lines.length).toBeGreaterThan(300)
  const told = new Set(lines.flatMap((line) => Object.keys(line)))
  for (const field of ['method', 'route', 'status', 'ms', 'correlationId', 'code', 'queue', 'actor', 'remote'] as const satisfies ReadonlyArray<(typeof requestFields)[number]>) expect(told).toContain(field)
})

test('teeth: a mark in a line is found', () => {
  written.push('{"level":30,"msg":"request","route":"/api/queues/q/tasks/canary-id"}')
  expect(leaks().length).toBe(1)
  written.pop()
})

/** Lines with a mark. */
const leaks = (): ReadonlyArray<string> => written.filter((line) => line.includes(mark))
const requestLines = (): ReadonlyArray<Record<string, unknown>> => written.filter((line) => line.includes('"msg":"request"')).map((line) => JSON.parse(line) as Record<string, unknown>)

const raw = (text: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(text))
    socket.on('error', () => undefined).on('close', () => resolve())
    socket.resume()
  })
