/** TQM-WS: a queue's messages over WebSockets: complete, in order, resumable. */
import { createServer, type Socket, connect } from 'node:net'
import { createClient, type WatchMessage } from '@daybook/adapters/client'
import { createDaybook } from '@daybook/adapters/engine'
import type { HttpServerOptions } from '@daybook/adapters/http'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type EventStore, StoreError } from '@daybook/adapters/store'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { inTime } from '../support/in-time.js'
import { pagesPerTurn } from '../support/per-turn.js'
import { until } from '../support/queue.js'
import { below, randomOf } from '../support/random.js'
import { seeds } from '../support/seed.js'
import { adminToken, rawRequest, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  const store = openMemoryStore()
  server = await startTestServer({ daybook: createDaybook({ store, alerts: true }) }, store)
})
afterAll(() => server.stop())

let count = 0
const fresh = (): string => `w${++count}`
const address = (path: string): string => `${server.http.url.replace('http', 'ws')}${path}`
const authorized = { headers: { authorization: `Bearer ${adminToken}` } }

/** A client that collects what it gets. */
const open = (path: string, protocols: ReadonlyArray<string> = [], options: object = authorized) => {
  const socket = new WebSocket(address(path), [...protocols], options)
  const messages: Array<WatchMessage> = []
  let code: number | undefined
  let status: number | undefined
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as WatchMessage))
  socket.on('close', (closed: number) => (code = closed))
  socket.on('error', () => undefined)
  socket.on('unexpected-response', (_, response) => {
    status = response.statusCode
    response.resume()
    socket.terminate()
  })
  return { socket, messages, code: () => code, status: () => status, opened: () => until(() => socket.readyState === socket.OPEN) }
}
const work = async (queue: string, id: string): Promise<void> => {
  await server.post(`/api/queues/${queue}/tasks`, { id, type: 'mail', payload: id, description: `do ${id}` })
  const { body: { claims: [{ lease }] } } = await server.post(`/api/queues/${queue}/claims`, { agentId: 'ann' })
  await server.post(`/api/queues/${queue}/tasks/${id}/complete`, { agentId: 'ann', token: lease.token, result: { ...report, output: 'sent' } })
}

describe('TQM-WS: the messages', () => {
  test('of a task: its place is looked up once for all clients', async () => {
    const queue = fresh()
    await server.post(`/api/queues/${queue}/tasks`, { type: 'mail' })
    const clients = Array.from({ length: 20 }, () => open(`/api/ws?queue=${queue}`))
    for (const client of clients) await client.opened()
    const engine = server.daybook.queue(queue)
    if (engine === undefined) throw new Error('the queue is not open')
    const read = vi.spyOn(engine, 'read')
    await server.post(`/api/queues/${queue}/tasks`, { type: 'mail', payload: 2 })
    await until(() => clients.every(({ messages }) => messages.length === 2))
    expect(read.mock.calls.length).toBe(1)
    expect(clients.map(({ messages }) => messages[1]?.payload.queue_position)).toEqual(clients.map(() => 2))
    read.mockRestore()
    for (const { socket } of clients) socket.close()
  })

  test('of a task that is completed, as it happens', async () => {
    const queue = fresh()
    const client = open(`/api/ws?queue=${queue}`)
    await client.opened()
    await work(queue, 'a')
    await until(() => client.messages.length === 5)
    expect(client.messages.map(({ event, revision, payload }) => [revision, event, payload])).toEqual([
      [0, 'task_created', { task_id: 'a', description: 'do a' }],
      [0, 'task_queued', { task_id: 'a', description: 'do a', queue_position: expect.toSatisfy((place) => place === 1 || place === null) as number, slots_available: expect.toSatisfy((slots) => slots === 10 || slots === 9) as number }],
      [1, 'agent_status_changed', { agent_id: 'ann', status: 'working', task_id: 'a' }],
      [2, 'task_completed', { task_id: 'a', agent_id: 'ann', status: 'COMPLETED', summary: 'sent' }],
      [2, 'agent_status_changed', { agent_id: 'ann', status: 'idle', task_id: 'a' }],
    ])
    for (const { timestamp } of client.messages) expect(new Date(timestamp).toISOString()).toBe(timestamp)
    client.socket.close()
  })

  test('a long description is not cut in the middle of a character, which strict readers of JSON refuse', async () => {
    const queue = fresh()
    await server.post(`/api/queues/${queue}/tasks`, { type: 'mail', description: `${'a'.repeat(998)}😀😀😀` })
    const { socket, messages } = open(`/api/ws?queue=${queue}&from=0`)
    await until(() => messages.length === 2)
    for (const { payload } of messages) expect(payload.description).toBe(`${'a'.repeat(998)}…`)
    socket.close()
  })

  test('TQM-CAP-002: a queued task has its place, and tells how many agents may still start; a client that catches up is told neither', async () => {
    const queue = fresh()
    const of = `/api/queues/${queue}`
    await server.call('PATCH', `${of}/settings`, { capacity: { maxConcurrentAgents: 2 } })
    await server.post(`${of}/tasks`, { tasks: ['a', 'b', 'c'].map((id) => ({ id, type: 'mail', payload: id })) })
    const client = open(`/api/ws?queue=${queue}`)
    await client.opened()
    const queued = () => client.messages.filter(({ event }) => event === 'task_queued').map(({ payload: { queue_position: place, slots_available: slots } }) => [place, slots])
    const enqueue = async (id: string) => {
      const before = queued().length
      await server.post(`${of}/tasks`, { id, type: 'mail', payload: id, description: '' })
      await until(() => queued().length > before)
    }
    await enqueue('d')
    await server.post(`${of}/claims`, { agentId: 'ann' })
    await enqueue('e')
    await server.post(`${of}/claims`, { agentId: 'bob' })
    await enqueue('f')
    // One agent more than capacity allows: a bumped task.
    await server.post('/api/bump_task_priority', { queue, task_id: 'd', reason: 'now' })
    await server.post(`${of}/claims`, { agentId: 'eve' })
    await enqueue('g')
    expect(queued()).toEqual([[4, 2], [4, 1], [4, 0], [4, 0]])
    await server.post(`${of}/tasks`, { tasks: Array.from({ length: 20 }, (_, i) => ({ type: 'mail', payload: `many ${i}` })) })
    const late = open(`/api/ws?queue=${queue}&from=0`)
    await until(() => late.messages.filter(({ event }) => event === 'task_queued').length === 27)
    expect(new Set(late.messages.filter(({ event }) => event === 'task_queued').map(({ payload }) => `${String(payload['queue_position'])} ${String(payload['slots_available'])}`))).toEqual(new Set(['null null']))
    client.socket.close()
    late.socket.close()
  })

  test('of agents and of a bumped task: they follow from AgentRegistered, TaskBumped, TaskParked, AgentTerminated', async () => {
    const queue = fresh()
    const of = `/api/queues/${queue}`
    await server.post(`${of}/tasks`, { tasks: [{ id: 'a', type: 'mail', payload: 1 }, { id: 'b', type: 'mail', payload: 2 }] })
    await server.post(`${of}/agents`, { agentId: 'ann', types: ['mail'] })
    await server.post('/api/bump_task_priority', { queue, task_id: 'b', reason: 'the customer waits' })
    const { body: { claims: [{ task, lease }] } } = await server.post(`${of}/claims`, { agentId: 'ann' })
    expect(task.id).toBe('b')
    await server.post(`${of}/tasks/b/park`, { agentId: 'ann', token: lease.token, callbackKey: 'k', timeoutSeconds: 60 })
    await server.post(`${of}/claims`, { agentId: 'ann' })
    await server.post('/api/terminate_agent', { queue, agent_id: 'ann', reason: 'enough' })
    const all = open(`/api/ws?queue=${queue}&from=0`)
    await until(() => all.messages.some(({ event }) => event === 'lease_lost'))
    await until(() => all.messages.some(({ payload }) => payload['status'] === 'terminated'))
    const { body: { events } } = await server.get(`${of}/events?limit=100`)
    const typeAt = (revision: number): string => events.find((each: { revision: number }) => each.revision === revision).type
    expect(all.messages.filter(({ event }) => !event.startsWith('task_created') && event !== 'task_queued').map(({ revision, event, payload }) => [typeAt(revision), event, payload])).toEqual([
      ['AgentRegistered', 'agent_created', { agent_id: 'ann', task_id: null }],
      ['TaskBumped', 'task_priority_bumped', { task_id: 'b', agent_id: null }],
      ['Claimed', 'agent_status_changed', { agent_id: 'ann', status: 'working', task_id: 'b' }],
      ['TaskParked', 'agent_status_changed', { agent_id: 'ann', status: 'waiting', task_id: 'b' }],
      ['Claimed', 'agent_status_changed', { agent_id: 'ann', status: 'working', task_id: 'a' }],
      ['AgentTerminated', 'agent_status_changed', { agent_id: 'ann', status: 'terminated', task_id: null }],
      ['ClaimRevoked', 'lease_lost', { task_id: 'a', agent_id: 'ann', cause: 'agent-terminated' }],
    ])
    all.socket.close()
  })

  test('of a cancelled task that was held: its agent has lost the lease, and is idle', async () => {
    const queue = fresh()
    const of = `/api/queues/${queue}`
    await server.post(`${of}/tasks`, { tasks: [{ id: 'a', type: 'mail' }] })
    await server.post(`${of}/claims`, { agentId: 'ann' })
    await server.post(`${of}/tasks/a/cancel`, { reason: 'stop' })
    const all = open(`/api/ws?queue=${queue}&from=0`)
    await until(() => all.messages.some(({ payload }) => payload['status'] === 'idle'))
    expect(all.messages.slice(-3).map(({ event, payload }) => [event, payload])).toEqual([
      ['lease_lost', { task_id: 'a', agent_id: 'ann', cause: 'cancelled' }],
      ['task_completed', { task_id: 'a', agent_id: 'ann', status: 'CANCELLED', summary: 'stop' }],
      ['agent_status_changed', { agent_id: 'ann', status: 'idle', task_id: 'a' }],
    ])
    all.socket.close()
  })

  test('of a failed task, a cancelled one, a breaker and an alert; again from any revision', async () => {
    const queue = fresh()
    const of = `/api/queues/${queue}`
    await server.post(`${of}/tasks`, { tasks: [{ id: 'a', type: 'mail', maxRetries: 1 }, { id: 'b', type: 'other' }] })
    const { body: { claims: [{ lease }] } } = await server.post(`${of}/claims`, { agentId: 'ann', types: ['mail'] })
    await server.post(`${of}/tasks/a/fail`, { agentId: 'ann', token: lease.token, error: 'no luck' })
    await server.post(`${of}/tasks/b/cancel`, { reason: 'not needed' })
    await server.post(`${of}/breakers/mail/open`, { reason: 'down' })
    const all = open(`/api/ws?queue=${queue}&from=0`)
    await until(() => all.messages.some(({ event }) => event === 'breaker_changed') && all.messages.filter(({ event }) => event === 'alert_raised').length === 2)
    const said = all.messages.map(({ event, payload }) => [event, payload])
    expect(said).toContainEqual(['task_completed', { task_id: 'a', agent_id: 'ann', status: 'FAILED', summary: 'retries-exhausted' }])
    expect(said).toContainEqual(['task_completed', { task_id: 'b', agent_id: null, status: 'CANCELLED', summary: 'not needed' }])
    expect(said).toContainEqual(['breaker_changed', { task_type: 'mail', state: 'open', cause: 'manual', reason: 'down' }])
    expect(said).toContainEqual(['alert_raised', expect.objectContaining({ key: 'dead-letters:mail', kind: 'dead-letters' })])
    // A client that begins at the dead letter also gets the agent of the failed task.
    const dead = all.messages.find(({ payload }) => payload['status'] === 'FAILED')!
    const later = open(`/api/ws?queue=${queue}&from=${dead.revision}`)
    await until(() => later.messages.length === all.messages.filter(({ revision }) => revision >= dead.revision).length)
    expect(later.messages).toEqual(all.messages.filter(({ revision }) => revision >= dead.revision))
    all.socket.close()
    later.socket.close()
  })
})

describe('who may connect', () => {
  const own = (): string => new URL(server.http.url).origin
  test('a token in the header, or in the subprotocol', async () => {
    for (const client of [open('/api/ws'), open('/api/ws', [`bearer.${adminToken}`], {}), open('/api/ws', ['daybook', `bearer.${adminToken}`], { headers: { origin: own() } })]) {
      await client.opened()
      expect(['', 'daybook', `bearer.${adminToken}`]).toContain(client.socket.protocol)
      client.socket.close()
    }
  })
  test('a token that is percent-encoded, because a subprotocol cannot have all its characters', async () => {
    const encoded = [...adminToken].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
    const client = open('/api/ws', ['daybook', `bearer.${encoded}`], { headers: { origin: own() } })
    await client.opened()
    expect(client.socket.protocol).toBe('daybook')
    client.socket.close()
  })
  test.each<[string, string, object, number]>([
    ['no token', '/api/ws', {}, 401],
    ['a wrong token', '/api/ws', { headers: { authorization: 'Bearer no' } }, 401],
    ['a page from elsewhere', '/api/ws', { headers: { ...authorized.headers, origin: 'https://evil.example' } }, 403],
    ['another path', '/api/other', authorized, 404],
    ['an invalid queue', '/api/ws?queue=a%20b', authorized, 400],
    ['an invalid revision', '/api/ws?from=-1', authorized, 400],
    ['an unknown parameter', '/api/ws?queue=a&form=0', authorized, 400],
    ['a parameter that is given twice', '/api/ws?queue=a&queue=b', authorized, 400],
    ['a revision that the log does not lead to', '/api/ws?queue=nothing-yet&from=1', authorized, 400],
  ])('%s is refused', async (_, path, options, status) => {
    const client = open(path, [], options)
    await until(() => client.status() !== undefined)
    expect(client.status()).toBe(status)
  })

  test('a refusal is the one of the contract, with the correlation id that the log has', async () => {
    const contract = (await server.get('/api/openapi.json')).body
    const { responses } = contract.paths['/api/ws'].get
    const responseOf = (status: number) => contract.components.responses[responses[status].$ref.split('/').pop()]
    const refused = await new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve) => {
      const socket = new WebSocket(address('/api/ws?queue=q'), [], { headers: { 'x-correlation-id': 'look-here' } })
      socket.on('error', () => undefined)
      socket.on('unexpected-response', (_, response) => {
        let text = ''
        response.on('data', (part: Buffer) => (text += part.toString())).on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      })
    })
    expect(refused).toMatchObject({ status: 401, headers: { 'x-correlation-id': 'look-here' } })
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'unauthorized', correlationId: 'look-here' })
    expect(Object.keys(responseOf(401).headers).filter((name) => name !== 'X-Daybook-Revision' && !(name.toLowerCase() in refused.headers))).toEqual([])
    // Without the headers of an upgrade.
    const plain = await fetch(`${server.http.url}/api/ws`, authorized)
    expect(plain.status).toBe(404)
    expect(responseOf(404).content['application/problem+json'].schema.allOf[1].properties.code.enum).toEqual(['not-found'])
  })

  /** The answer to a request for a WebSocket with these headers. */
  const answerTo = (token: string, headers: ReadonlyArray<string>): Promise<string> =>
    rawRequest(server.http.port, [['GET /api/ws?queue=q HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', `Authorization: Bearer ${token}`, ...headers, '', ''].join('\r\n')])

  test('Retry-After of a refusal has whole seconds, as that of any other answer', async () => {
    const { body } = await server.post('/api/tokens', { name: fresh(), roles: ['auditor'], rate: { perSecond: 0.3, burst: 1 } })
    await server.get('/api/me', { headers: { authorization: `Bearer ${body.token}` } })
    expect(await answerTo(body.token, [])).toMatch(/^HTTP\/1\.1 429 [^]*\r\nretry-after: [34]\r\n[^]*"retryAfterSeconds":3\.\d+/)
  })

  test('a handshake of another version is refused with a problem, and told which version there is', async () => {
    const answer = await answerTo(adminToken, ['Sec-WebSocket-Version: 12', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'X-Correlation-Id: an-old-client'])
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\r\ncontent-type: application\/problem\+json; charset=utf-8\r\n/)
    expect(answer).toContain('\r\nsec-websocket-version: 13\r\n')
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'invalid', correlationId: 'an-old-client' })
  })

  test('a refused client that keeps its side of the connection open is disconnected', async () => {
    const socket = connect({ port: server.http.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.resume()
    const failed = new Promise<string>((resolve) => socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code))))
    socket.write('GET /api/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await new Promise((resolve) => socket.once('end', resolve))
    // Writing fails once the server has no such connection any more.
    const writing = setInterval(() => socket.write('x'), 10)
    const code = await inTime('the end of the connection', failed).finally(() => clearInterval(writing))
    expect(['ECONNRESET', 'EPIPE']).toContain(code)
    socket.destroy()
  })

  // A client library would not send such a target. An exception at it would end the process, before any token is checked.
  test('a target that is no URL is refused', async () => {
    for (const target of ['//', '///', '//[', '/\\', '//a:99999/', 'http://[']) {
      const socket = connect(server.http.port, '127.0.0.1')
      const answer = new Promise<string>((resolve) => {
        socket.once('data', (data) => resolve(String(data)))
        socket.once('close', () => resolve('closed without an answer'))
        socket.setTimeout(10_000, () => socket.destroy())
      })
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
      expect(await answer, target).toMatch(/^HTTP\/1\.1 404 /)
      socket.destroy()
    }
  })
})

test('a client that cannot keep up is closed with 4008, comes back from its last revision, and gets everything in order', async () => {
  // Here, a client that has not made room at once is too slow.
  const strict = await startTestServer({ webSockets: { bufferBytesMax: 10_000, slowMs: 0 } })
  const tasks = Array.from({ length: 1_000 }, (_, i) => ({ type: 'mail', payload: i, description: 'x'.repeat(900) }))
  for (let i = 0; i < 20; i++) await strict.post('/api/queues/q/tasks', { tasks: tasks.map((task) => ({ ...task, payload: [i, task.payload] })) })
  const revisions: Array<number> = []
  const codes: Array<number> = []
  while (revisions.at(-1) !== 19_999) {
    expect(codes.length, 'connections').toBeLessThan(20_000)
    expect(revisions.at(-1) ?? -1, 'no gap').toBe(revisions.length - 1)
    const from = (revisions.at(-1) ?? -1) + 1
    const socket = new WebSocket(`${strict.http.url.replace('http', 'ws')}/api/ws?queue=q&from=${from}`, authorized)
    await new Promise<void>((resolve) => {
      socket.on('close', (code: number) => {
        codes.push(code)
        resolve()
      })
      socket.on('message', (data: Buffer) => {
        const { event, revision } = JSON.parse(data.toString()) as WatchMessage
        if (event !== 'task_queued') return
        revisions.push(revision)
        // Reads nothing for a while, until it has been closed for that once.
        if (revision % 1_000 === 500 && !codes.includes(4008)) {
          socket.pause()
          setTimeout(() => socket.resume(), 300)
        }
        // A gap, or the end.
        if (revision !== revisions.length - 1 || revision === 19_999) socket.terminate()
      })
    })
  }
  expect(revisions).toEqual(Array.from({ length: 20_000 }, (_, i) => i))
  expect(codes).toContain(4008)
  await strict.stop()
})

/** A proxy that can cut all connections. */
const proxy = async (port: number) => {
  const sockets = new Set<Socket>()
  const listener = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [a, b] of [[near, far], [far, near]] as const) {
      sockets.add(a)
      a.on('error', () => undefined)
      a.on('close', () => b.destroy())
      a.pipe(b)
    }
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(listener.address() as { port: number }).port}`,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: () => new Promise<void>((resolve) => {
      sockets.forEach((socket) => socket.destroy())
      listener.close(() => resolve())
    }),
  }
}

test('TQM-WS: client.watch() with cuts at random places yields every message once, in order', async () => {
  for (const seed of seeds(3)) {
    const random = randomOf(seed)
    const queue = fresh()
    const between = await proxy(server.http.port)
    const client = createClient({ url: between.url, token: adminToken, queue })
    const ended = new AbortController()
    const got: Array<WatchMessage> = []
    const watching = (async () => {
      for await (const message of client.watch({ from: 0, signal: ended.signal })) {
        got.push(message)
        if (random() < 0.02) between.cut()
      }
    })()
    for (let i = 0; i < 60; i++) {
      await work(queue, `t${i}`)
      if (below(random, 5) === 0) between.cut()
    }
    const whole = open(`/api/ws?queue=${queue}&from=0`)
    await until(() => whole.messages.length === 300)
    await until(() => got.length >= 300)
    ended.abort()
    await watching
    const bare = (messages: ReadonlyArray<WatchMessage>) => messages.map(({ event, revision, payload: { task_id: task, agent_id: agent, status } }) => ({ event, revision, task, agent, status }))
    expect(bare(got), `seed ${seed}`).toEqual(bare(whole.messages))
    whole.socket.close()
    await client.close()
    await between.close()
  }
})

test('TQM-WS: a client whose log was exchanged for an older one is told so', async () => {
  const queue = fresh()
  await work(queue, 'a')
  const client = createClient({ url: server.http.url, token: adminToken, queue })
  await expect(client.watch({ from: 4 }).next()).rejects.toMatchObject({ code: 'invalid', detail: expect.stringContaining('ends at revision 2') })
  const ended = new AbortController()
  const watching = client.watch({ from: 3, signal: ended.signal }).next()
  await work(queue, 'b')
  expect((await watching).value).toMatchObject({ revision: 3, event: 'task_created' })
  ended.abort()
  await client.close()
})

test('client.watch() rejects what will not get better, and ends with its signal', async () => {
  const client = createClient({ url: server.http.url, token: 'wrong' })
  await expect(client.watch().next()).rejects.toMatchObject({ code: 'unauthorized' })
  await client.close()
  const right = createClient({ url: server.http.url, token: adminToken, queue: fresh() })
  const ended = new AbortController()
  const next = right.watch({ signal: ended.signal }).next()
  setTimeout(() => ended.abort(), 50)
  expect(await next).toEqual({ done: true, value: undefined })
  await right.close()
})

test('a server that stops closes its WebSockets with 1001', async () => {
  const own = await startTestServer()
  const socket = new WebSocket(`${own.http.url.replace('http', 'ws')}/api/ws`, authorized)
  let code: number | undefined
  socket.on('close', (closed: number) => (code = closed))
  await until(() => socket.readyState === socket.OPEN)
  await own.stop()
  await until(() => code !== undefined)
  expect(code).toBe(1001)
})

test('of many clients that are behind, each turn of the event loop reads one page for one, and all get everything', async () => {
  const counted = pagesPerTurn(openMemoryStore())
  const { http, post, stop } = await startTestServer({}, counted.store)
  onTestFinished(() => stop())
  for (let i = 0; i < 3; i++) await post('/api/queues/q/tasks', { tasks: Array.from({ length: 1_000 }, (_, each) => ({ type: 'mail', payload: { i, each } })) })
  const { pages, most } = await counted.during(async () => {
    const clients = Array.from({ length: 8 }, () => {
      const socket = new WebSocket(`${http.url.replace('http', 'ws')}/api/ws?queue=q&from=0`, authorized)
      onTestFinished(() => socket.terminate())
      let revision = -1
      socket.on('message', (data: Buffer) => (revision = (JSON.parse(data.toString()) as WatchMessage).revision))
      return { revision: () => revision }
    })
    await until(() => clients.every(({ revision }) => revision() === 2_999))
  })
  expect(pages).toBeGreaterThan(8 * 10)
  expect(most).toBe(1)
})

test('TQM-WS: an event that cannot be read does not keep the messages of others from its clients', async () => {
  const store = openMemoryStore()
  const metadata = JSON.stringify({ schemaVersion: 1, at: '2026-01-01T00:00:00.000Z', actor: 'another program' })
  const written = ['no JSON', '{"no":"task"}', '{"task":"a"}'].map((data, i) => ({ id: `00000000-0000-4000-8000-00000000000${i}`, type: 'TaskEnqueued', data, metadata }))
  await store.append('taskqueue-odd', written, 'no_stream')()
  const odd = await startTestServer({ daybook: createDaybook({ store }) }, store)
  onTestFinished(() => odd.stop())
  const socket = new WebSocket(`${odd.http.url.replace('http', 'ws')}/api/ws?queue=odd&from=0`, authorized)
  const first = await inTime('a message', new Promise<string>((resolve, reject) => {
    socket.on('message', (data: Buffer) => resolve(data.toString()))
    socket.on('close', (code, reason) => reject(new Error(`${code} ${reason.toString()}`)))
  }))
  expect(JSON.parse(first)).toMatchObject({ event: 'task_created', payload: { description: '' } })
  socket.terminate()
})

test('a WebSocket that is asked for just before the server stops is refused, instead of being served by a server that has stopped', async () => {
  const store = openMemoryStore()
  const daybook = createDaybook({ store })
  let [asked, go] = [(): void => undefined, (): void => undefined]
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const mayGo = new Promise<void>((resolve) => (go = resolve))
  const visit: typeof daybook.visit = (name) => (asked(), mayGo.then(() => daybook.visit(name)))
  const slow = await startTestServer({ daybook: Object.create(daybook, { visit: { value: visit } }) as typeof daybook }, store)
  const socket = new WebSocket(`${slow.http.url.replace('http', 'ws')}/api/ws`, authorized)
  const status = new Promise<number | undefined>((resolve) => {
    socket.on('unexpected-response', (_, response) => (resolve(response.statusCode), response.resume()))
    socket.on('open', () => resolve(101))
  })
  socket.on('error', () => undefined)
  await inTime('the request', isAsked)
  const stopped = slow.stop()
  go()
  expect(await inTime('the answer', status)).toBe(503)
  socket.terminate()
  await inTime('the stop', stopped)
})

test('a client whose log cannot be read is closed with 1011, and the log of the server says why', async () => {
  const inner = openMemoryStore()
  const logged: Array<unknown> = []
  const logger = Object.assign(Object.fromEntries(['fatal', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => [level, () => undefined])), {
    level: 'error',
    error: (fields: unknown, text: string) => logged.push([text, fields]),
    child: () => logger,
  }) as unknown as NonNullable<HttpServerOptions['logger']>
  // eslint-disable-next-line require-yield -- it fails before its first page
  const read: EventStore['read'] = async function* () {
    throw new StoreError('damaged', 'Events 0 to 1 of taskqueue-q are damaged.')
  }
  let isDamaged = false
  const broken = await startTestServer({ logger }, { ...inner, read: (...asked) => (isDamaged ? read(...asked) : inner.read(...asked)) })
  await broken.post('/api/queues/q/tasks', { type: 'mail' })
  isDamaged = true
  const socket = new WebSocket(`${broken.http.url.replace('http', 'ws')}/api/ws?queue=q&from=0`, { headers: { ...authorized.headers, 'x-correlation-id': 'look-here' } })
  const code = await inTime('the end of the socket', new Promise((resolve) => socket.once('close', resolve)))
  expect(code).toBe(1011)
  expect(logged).toEqual([['the messages of a queue broke off', { err: expect.objectContaining({ code: 'damaged' }) as unknown, queue: 'q', correlationId: 'look-here' }]])
  await broken.stop()
})
