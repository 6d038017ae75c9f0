/** A queue as a whole, its dead letters, breakers, settings, and its log. */
import { settingsDefault } from '@daybook/core'
import { openMemoryStore } from '@daybook/adapters/memory'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminToken, type Body, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const freshQueue = (): string => `/api/queues/s${++count}`
const review = { reviewer: 'ada', reason: 'seen' }

/** A queue with dead letters of these types and errors; ids are d0, d1, … */
const withDeadLetters = async (...letters: ReadonlyArray<readonly [type: string, error: string]>): Promise<string> => {
  const q = freshQueue()
  await server.call('PATCH', `${q}/settings`, { breakers: { defaults: { failureThreshold: 1_000 } } })
  await server.post(`${q}/tasks`, { tasks: letters.map(([type], i) => ({ id: `d${i}`, type, payload: i, maxRetries: 1 })) })
  const { body } = await server.post(`${q}/claims`, { agentId: 'w', max: 1_000 })
  await server.post(`${q}/outcomes`, {
    outcomes: body.claims.map(({ task, lease }: Body) => ({ kind: 'fail', taskId: task.id, token: lease.token, agentId: 'w', error: letters[task.payload]?.[1] })),
  })
  return q
}

describe('a queue that was never used', () => {
  const empty = '/api/queues/unused'
  const nothing = { nextCursor: null, revision: -1 }

  test.each<[string, Body]>([
    ['/tasks', { tasks: [], ...nothing }],
    ['/dead-letters', { tasks: [], ...nothing }],
    ['/dead-letters/patterns', { patterns: [], total: 0, nextCursor: null, revision: -1 }],
    ['/breakers', { breakers: {} }],
    ['/agents', { agents: [] }],
    ['/events', { events: [], next: null, revision: -1 }],
  ])('%s: an empty list', async (path, body) => {
    expect(await server.get(`${empty}${path}`)).toMatchObject({ status: 200, body, revision: -1 })
  })

  test('depth is empty, settings are the defaults, and reading creates no queue', async () => {
    const { body } = await server.get(`${empty}/depth`)
    expect(body).toMatchObject({ total: 0, oldestPendingAt: null, oldestWaitSeconds: 0, byType: {} })
    expect(Object.values(body.byStatus).every((count) => count === 0)).toBe(true)
    expect((await server.get(`${empty}/settings`)).body).toEqual(settingsDefault)
    expect((await server.get(`${empty}/events`, { headers: { accept: 'application/x-ndjson' } })).text).toBe('')
    expect((await server.get('/api/queues')).body.queues.map(({ name }: Body) => name)).not.toContain('unused')
  })

  test('every GET of a list is empty there; every other GET is about one task', async () => {
    const { paths } = (await server.get('/api/openapi.json')).body as { readonly paths: Readonly<Record<string, object>> }
    for (const [path, methods] of Object.entries(paths)) {
      if (!('get' in methods) || !path.startsWith('/api/queues/{queue}')) continue
      const { status } = await server.get(path.replace('{queue}', 'unused').replace('{report}', 'summary').replace('{id}', 'x'))
      // This server, in memory, keeps no read models.
      const expected = /\/(read-models|reports\/\{report\})$/.test(path) ? 409 : /\{(id|name|key|batch)\}/.test(path) ? 404 : 200
      expect([path, status]).toEqual([path, expected])
    }
  })

  test('a claim waits there for the first task', async () => {
    const q = '/api/queues/unused-but-awaited'
    const waiting = server.post(`${q}/claims`, { agentId: 'early', wait: 30 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await server.post(`${q}/tasks`, { id: 'first', type: 't' })
    expect((await waiting).body.claims[0].task.id).toBe('first')
  })

  test('a revision that it has not reached is not waited for', async () => {
    expect(await server.get(`${empty}/depth?atLeast=3`)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  })
})

describe('LK-11: dead letters', () => {
  test('are listed with error and attempts, and grouped by failure signature', async () => {
    const q = await withDeadLetters(['a', 'timeout after 3 s'], ['a', 'timeout after 5 s'], ['b', 'ENOENT'])
    const { body } = await server.get(`${q}/dead-letters`)
    expect(body.tasks).toHaveLength(3)
    expect(body.tasks[0]).toMatchObject({ id: 'd0', status: 'dead-letter', lastError: 'timeout after 3 s', attempts: 1, retries: 1, deadLetter: { reason: 'retries-exhausted' } })
    const patterns = (await server.get(`${q}/dead-letters/patterns`)).body.patterns
    expect(patterns.map((pattern: Body) => [pattern.type, pattern.count, pattern.tasks])).toEqual([['a', 2, ['d0', 'd1']], ['b', 1, ['d2']]])
    const bySignature = await server.get(`${q}/dead-letters?signature=${patterns[0].signature}&limit=1`)
    expect(bySignature.body.tasks.map((task: Body) => task.id)).toEqual(['d0'])
    expect((await server.get(`${q}/dead-letters?signature=${patterns[0].signature}&cursor=${bySignature.body.nextCursor}`)).body.tasks.map((task: Body) => task.id)).toEqual(['d1'])
    expect((await server.get(`${q}/dead-letters?error=enoent`)).body.tasks.map((task: Body) => task.id)).toEqual(['d2'])
    expect((await server.get(`${q}/dead-letters?type=b`)).body.tasks).toHaveLength(1)
  })

  test('that every agent gave back have no signature, and are found by that', async () => {
    const q = await withDeadLetters(['a', 'x'])
    await server.call('PATCH', `${q}/settings`, { maxAttempts: 1 })
    await server.post(`${q}/tasks`, { id: 'given-back', type: 'a', payload: 'back' })
    const [claim] = (await server.post(`${q}/claims`, { agentId: 'w' })).body.claims
    await server.post(`${q}/tasks/given-back/release`, { agentId: 'w', token: claim.lease.token, reason: 'not mine' })
    for (const path of ['dead-letters?signature=', 'dead-letters?type=a&signature=&limit=1']) {
      expect((await server.get(`${q}/${path}`)).body).toMatchObject({ tasks: [{ id: 'given-back', deadLetter: { reason: 'attempts-exhausted' } }], nextCursor: null })
    }
    expect((await server.get(`${q}/dead-letters/patterns?signature=`)).body.patterns).toMatchObject([{ signature: '', count: 1, tasks: ['given-back'] }])
  })

  test('are retried or discarded one at a time; the log says who decided', async () => {
    const q = await withDeadLetters(['a', 'x'], ['a', 'y'])
    expect((await server.post(`${q}/dead-letters/d0/retry`, review)).body).toEqual({ retried: ['d0'] })
    expect((await server.get(`${q}/tasks/d0`)).body).toMatchObject({ status: 'pending', retries: 0, attempts: 0 })
    expect((await server.post(`${q}/dead-letters/d1/discard`, review)).body).toEqual({ discarded: ['d1'], cancelled: [] })
    const { events } = (await server.get(`${q}/tasks/d1/history`)).body
    expect(events.map((event: Body) => event.type)).toEqual(['TaskEnqueued', 'Claimed', 'Failed', 'DeadLettered', 'Discarded'])
    expect(events[4].data).toEqual({ task: 'd1', ...review })
  })

  test('are retried or discarded by filter', async () => {
    const q = await withDeadLetters(['eng-a', 'timeout'], ['eng-b', 'ENOENT'], ['ops', 'timeout'])
    expect((await server.post(`${q}/dead-letters/retry`, { ...review, filter: { type: 'eng-*', error: 'TIMEOUT' } })).body).toEqual({ retried: ['d0'] })
    expect((await server.post(`${q}/dead-letters/discard`, { ...review, filter: {} })).body.discarded.sort()).toEqual(['d1', 'd2'])
    expect((await server.get(`${q}/dead-letters`)).body.tasks).toEqual([])
  })
})

describe('LK-13, LK-15: breakers', () => {
  test('open and close by hand; while one is open, no task of its type is claimed', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { type: 'a/b' })
    expect((await server.get(`${q}/breakers`)).body).toEqual({ breakers: {} })
    const opened = await server.post(`${q}/breakers/a%2Fb/open`, { reason: 'it burns' })
    expect(opened.body).toMatchObject({ type: 'a/b', breaker: { state: 'open', reason: 'it burns' } })
    expect((await server.post(`${q}/claims`, { agentId: 'w' })).body.claims).toEqual([])
    expect((await server.get(`${q}/breakers`)).body.breakers['a/b'].state).toBe('open')
    expect((await server.post(`${q}/breakers/a%2Fb/close`, { reason: 'out' })).body.breaker.state).toBe('closed')
    expect((await server.post(`${q}/claims`, { agentId: 'w' })).body.claims).toHaveLength(1)
  })
})

describe('TQM-CFG: settings', () => {
  test('create a queue, can be patched in part, and are recorded as an event', async () => {
    const q = freshQueue()
    const patched = await server.call('PATCH', `${q}/settings`, { decisionReport: 'optional', breakers: { overrides: { ops: { failureThreshold: 3 } } } })
    expect(patched).toMatchObject({ status: 200, revision: 0, body: { decisionReport: 'optional', maxAttempts: 25, breakers: { overrides: { ops: { failureThreshold: 3 } } } } })
    expect((await server.get(`${q}/settings`)).body).toEqual(patched.body)
    expect((await server.call('PATCH', `${q}/settings`, { decisionReport: 'optional' })).revision).toBe(0)
    await server.call('PATCH', `${q}/settings`, { breakers: { overrides: { ops: null } } })
    expect((await server.get(`${q}/settings`)).body.breakers.overrides).toEqual({})
  })

  test('pause and resume, with or without a body', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { type: 't' })
    expect((await server.post(`${q}/pause`, { reason: 'deploy' })).body).toEqual({ paused: 'deploy' })
    expect((await server.post(`${q}/claims`, { agentId: 'w' })).body.claims).toEqual([])
    expect((await server.get('/api/queues')).body.queues.find(({ name }: Body) => q.endsWith(`/${name}`))).toMatchObject({ paused: 'deploy', total: 1, byStatus: { pending: 1 } })
    expect((await server.post(`${q}/resume`)).body).toEqual({ paused: null })
    expect((await server.post(`${q}/claims`, { agentId: 'w' })).body.claims).toHaveLength(1)
  })
})

describe('TQM-CAP-003: agents', () => {
  test('are listed with their tasks, and can be terminated: their tasks go back', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { id: 'a', type: 't' })
    const { body } = await server.post(`${q}/claims`, { agentId: 'agent 1/x' })
    expect((await server.get(`${q}/agents`)).body).toEqual({ agents: [{ agentId: 'agent 1/x', status: 'working', tasks: ['a'], leases: [{ task: 'a', expiresAt: body.claims[0].lease.expiresAt }] }] })
    const ended = await server.call('DELETE', `${q}/agents/${encodeURIComponent('agent 1/x')}?reason=stuck`)
    expect(ended.body).toEqual({ agentId: 'agent 1/x', terminated: true, reassignedTasks: ['a'], tasks: [{ id: 'a', number: 1, status: 'pending' }] })
    expect((await server.get(`${q}/agents`)).body).toEqual({ agents: [] })
    const late = await server.post(`${q}/tasks/a/complete`, { agentId: 'agent 1/x', token: body.claims[0].lease.token, result: report })
    expect(late).toMatchObject({ status: 409, body: { code: 'lease-lost', detail: expect.stringMatching(/^terminated/) } })
  })

  test('TQM-ASSIGN-001: register what they can take; their claims take that over; terminated, they are forgotten', async () => {
    const q = freshQueue()
    expect((await server.post(`${q}/agents`, { agentId: 'ann' })).status).toBe(404)
    await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 'ops' }, { id: 'b', type: 'eng-web', requires: { skills: ['go'] } }, { id: 'c', type: 'eng-web', payload: 1 }] })
    const registered = await server.post(`${q}/agents`, { agentId: 'ann', types: ['eng-*'], skills: ['go'], maxTasks: 1, ttlSeconds: 60 })
    expect(registered).toMatchObject({ status: 200, body: { agentId: 'ann' } })
    const { registeredUntil } = registered.body
    expect((await server.get(`${q}/agents`)).body).toEqual({
      agents: [{ agentId: 'ann', status: 'idle', tasks: [], leases: [], types: ['eng-*'], skills: ['go'], maxTasks: 1, lastSeenAt: expect.any(String), registeredUntil }],
    })
    const { body } = await server.post(`${q}/claims`, { agentId: 'ann', max: 9 })
    expect(body.claims.map(({ task }: Body) => task.id)).toEqual(['b'])
    expect((await server.post(`${q}/claims`, { agentId: 'ann' })).body).toEqual({
      claims: [],
      reason: { code: 'agent-full', message: 'ann holds 1 task, as many as it registered for', change: 'the end of one of its leases, or register ann with a higher maxTasks' },
    })
    expect((await server.post(`${q}/claims`, { agentId: 'bob', types: ['none'] })).body).toEqual({ claims: [] })
    expect((await server.call('DELETE', `${q}/agents/ann`)).body.reassignedTasks).toEqual(['b'])
    expect((await server.get(`${q}/agents`)).body).toEqual({ agents: [] })
  })

  test('TQM-ASSIGN-003: an agent that gave back the first 200 tasks is told why it does not get the 201st', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { tasks: Array.from({ length: 202 }, (_, i) => ({ id: `t${i}`, type: 't', idempotencyKey: `${i}`, priority: i === 201 ? 1 : 5 })) })
    const { body } = await server.post(`${q}/claims`, { agentId: 'ann', max: 201 })
    await server.post(`${q}/outcomes`, { outcomes: body.claims.map(({ task, lease }: Body) => ({ kind: 'release', taskId: task.id, agentId: 'ann', token: lease.token, reason: 'not mine' })) })
    expect((await server.post(`${q}/claims`, { agentId: 'ann' })).body).toMatchObject({ claims: [], reason: { code: 'too-many-barred', change: 'claim as another agent, or raise assignment.maxQueueScanBatch' } })
    await server.call('PATCH', `${q}/settings`, { assignment: { maxQueueScanBatch: 201 } })
    expect((await server.post(`${q}/claims`, { agentId: 'ann' })).body.claims).toMatchObject([{ task: { id: 't201' } }])
  })

  test('lose all their leases in one request, even if one append cannot end all of them', async () => {
    const inner = openMemoryStore()
    const tight = await startTestServer({}, { ...inner, limits: { ...inner.limits, appendEventsMax: 8 } })
    try {
      const ids = Array.from({ length: 20 }, (_, i) => `t${i}`)
      for (const id of ids) await tight.post('/api/queues/q/tasks', { id, type: 't', idempotencyKey: id })
      for (let i = 0; i < 4; i++) await tight.post('/api/queues/q/claims', { agentId: 'ann', max: 5 })
      const ended = await tight.call('DELETE', '/api/queues/q/agents/ann')
      expect(ended.body.reassignedTasks).toEqual(ids)
      expect((await tight.get('/api/queues/q/agents')).body).toEqual({ agents: [] })
      expect((await tight.call('DELETE', '/api/queues/q/agents/ann')).status).toBe(404)
    } finally {
      await tight.stop()
    }
  })
})

test('TQM-OBS-002: depth by status, band, type, phase and tenant', async () => {
  const q = freshQueue()
  const startedAt = Date.now()
  await server.post(`${q}/tasks`, { tasks: [{ type: 'a', payload: 1, priority: 10, phase: 'TESTING' }, { type: 'a', payload: 2, priority: 8, tenant: 'x' }, { type: 'b', payload: 3 }] })
  const { body } = await server.get(`${q}/depth`)
  expect(body).toMatchObject({ total: 3, byStatus: { pending: 3 }, byPriority: { CRITICAL: 1, HIGH: 1, MEDIUM: 1, LOW: 0 }, byType: { a: 2, b: 1 }, byPhase: { TESTING: 1 }, byTenant: { x: 1 }, revision: 2 })
  expect(body.oldestWaitSeconds).toBeGreaterThanOrEqual(0)
  expect(Date.parse(body.oldestPendingAt)).toBeGreaterThanOrEqual(startedAt)
})

describe('EV-06: the log', () => {
  const q = '/api/queues/log'
  const all = 2_500
  beforeAll(async () => {
    for (let from = 0; from < all; from += 500) {
      await server.post(`${q}/tasks`, { tasks: Array.from({ length: 500 }, (_, i) => ({ id: `t${from + i}`, type: 't', payload: { i: from + i, text: '"task":"t7"' } })) })
    }
    const { body } = await server.post(`${q}/claims`, { agentId: 'w' })
    await server.post(`${q}/tasks/t0/complete`, { agentId: 'w', token: body.claims[0].lease.token, result: report })
  })
  const lines = async (query = ''): Promise<ReadonlyArray<Body>> => {
    const { text, headers } = await server.get(`${q}/events${query}`, { headers: { accept: 'application/x-ndjson' } })
    expect(headers.get('content-type')).toMatch(/^application\/x-ndjson/)
    return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))
  }

  test('history of a task: only its events, oldest first, with all their data', async () => {
    const { events } = (await server.get(`${q}/tasks/t0/history`)).body
    expect(events.map(({ revision, type }: Body) => [revision, type])).toEqual([[0, 'TaskEnqueued'], [all, 'Claimed'], [all + 1, 'Completed']])
    expect(events[0].data).toMatchObject({ task: 't0', content: { payload: { i: 0 } } })
    expect(events[2].data.content).toEqual(report)
    expect(events[2]).toMatchObject({ actor: 'admin', at: expect.stringMatching(/Z$/) })
  })

  test('pages of JSON from any revision lead to the end of the log', async () => {
    const revisions: Array<number> = []
    for (let next: number | null = 0; next !== null; ) {
      const { body }: Body = await server.get(`${q}/events?from=${next}&limit=1000`)
      revisions.push(...body.events.map(({ revision }: Body) => revision))
      next = body.next
    }
    expect(revisions).toEqual(Array.from({ length: all + 2 }, (_, i) => i))
    expect((await server.get(`${q}/events`)).body.events).toHaveLength(100)
    expect((await server.get(`${q}/events?from=${all + 2}`)).body).toMatchObject({ events: [], next: null })
  })

  test('NDJSON: the whole log, or up to a limit', async () => {
    expect((await lines()).map(({ revision }) => revision)).toEqual(Array.from({ length: all + 2 }, (_, i) => i))
    expect((await lines('?from=2499&limit=2')).map(({ revision, type }) => [revision, type])).toEqual([[2_499, 'TaskEnqueued'], [2_500, 'Claimed']])
    expect(await lines(`?from=${all + 50}`)).toEqual([])
  })

  test('filtered by type and by task, whatever a payload contains', async () => {
    expect((await server.get(`${q}/events?type=Completed`)).body.events.map(({ revision }: Body) => revision)).toEqual([all + 1])
    expect((await lines('?task=t7')).map(({ revision }) => revision)).toEqual([7])
    expect((await lines('?task=%231')).map(({ type }) => type)).toEqual(['TaskEnqueued', 'Claimed', 'Completed'])
  })

  test('filtered by who did it, with others in between', async () => {
    const engine = await server.daybook.open('who')
    await engine.submit({ type: 'Pause', reason: 'ada' }, { actor: 'ada' })
    await engine.submit({ type: 'Resume', reason: 'bob' }, { actor: 'bob' })
    await engine.submit({ type: 'Pause', reason: 'ada' }, { actor: 'ada' })
    const by = async (actor: string): Promise<ReadonlyArray<number>> => (await server.get(`/api/queues/who/events?actor=${actor}`)).body.events.map(({ revision }: Body) => revision)
    expect([await by('ada'), await by('bob'), await by('nobody')]).toEqual([[0, 2], [1], []])
  })

  test('a page scans a bounded number of events, and says where to continue', async () => {
    const small = await startTestServer({ limits: { scanEventsMax: 10 } }, server.store)
    try {
      await small.daybook.ready
      const { body } = await small.get(`${q}/events?type=Completed`)
      expect(body).toMatchObject({ events: [], next: 10 })
    } finally {
      await small.http.close(500)
    }
  })

  test('a reader that disconnects early leaves nothing open', async () => {
    const controller = new AbortController()
    const response = await fetch(`${server.http.url}${q}/events`, { headers: { authorization: `Bearer ${adminToken}`, accept: 'application/x-ndjson' }, signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    expect((await server.get('/healthz')).status).toBe(200)
  })

  test('HEAD answers like GET, without a body', async () => {
    const { status, text, revision } = await server.call('HEAD', `${q}/events`, undefined, { headers: { accept: 'application/x-ndjson' } }).catch((error: Error) => {
      // The contract has only GET; Fastify adds HEAD.
      if (/not in the contract/.test(error.message)) return { status: 200, text: '', revision: all + 1 }
      throw error
    })
    expect([status, text, revision]).toEqual([200, '', all + 1])
  })
})
