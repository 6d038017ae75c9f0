/** Enqueueing, reading, cancelling and importing tasks over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Body, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const freshQueue = (): string => `/api/queues/q${++count}`

describe('LK-05: enqueue', () => {
  test('one task: 201 with id, number, status and revision; its duplicate: 200 with the first id', async () => {
    const q = freshQueue()
    const first = await server.post(`${q}/tasks`, { type: 'build', payload: { target: 'x' } })
    expect(first).toMatchObject({ status: 201, revision: 0, body: { number: 1, status: 'pending', duplicate: false, revision: 0 } })
    expect(first.body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    const again = await server.post(`${q}/tasks`, { type: 'build', payload: { target: 'x' } })
    expect(again).toMatchObject({ status: 200, body: { id: first.body.id, number: 1, duplicate: true, revision: 0 } })
  })

  test('many: results in the order of the request, whatever the order of their dependencies', async () => {
    const q = freshQueue()
    const made = await server.post(`${q}/tasks`, {
      tasks: [{ id: 'b', type: 't', payload: 2, dependencies: ['a'] }, { id: 'a', type: 't', payload: 1 }, { type: 't', payload: 1 }],
    })
    expect(made.status).toBe(201)
    expect(made.body.results.map((each: Body) => [each.id, each.status, each.duplicate])).toEqual([
      ['b', 'blocked', false], ['a', 'pending', false], ['a', 'pending', true],
    ])
  })

  test('atomic: false: each task has its own result or problem, in order', async () => {
    const q = freshQueue()
    const made = await server.post(`${q}/tasks`, {
      atomic: false,
      tasks: [{ id: 'a', type: 't' }, { type: '' }, { id: 'a', type: 'other' }, { id: 'b', type: 't', payload: 1, dependencies: ['a'] }, { type: 't', payload: null }],
    })
    expect(made.status).toBe(200)
    expect(made.body.results).toMatchObject([
      { id: 'a', duplicate: false },
      { status: 400, code: 'invalid', errors: [{ path: 'tasks[1].type' }] },
      { status: 409, code: 'conflict' },
      { id: 'b', status: 'blocked' },
      // A missing payload is the same as null.
      { id: 'a', duplicate: true },
    ])
    expect(await server.eventCount(q.slice(12))).toBe(2)
  })

  test('a refusal says by its place which task it is about, if the task was sent without an id', async () => {
    const q = freshQueue()
    const lost = { type: 'lost', dependencies: ['nope'] }
    const words = `it depends on nope, which is not in queue ${q.slice(12)}: enqueue it first, or before it in the same request`
    expect(await server.post(`${q}/tasks`, lost)).toMatchObject({ status: 422, body: { detail: words } })
    expect(await server.post(`${q}/tasks`, { tasks: [{ type: 't' }, lost] })).toMatchObject({ status: 422, body: { detail: `tasks[1]: ${words}` } })
    expect((await server.post(`${q}/tasks`, { tasks: [{ type: 't' }, lost], atomic: false })).body.results[1]).toMatchObject({ status: 422, detail: `tasks[1]: ${words}` })
    expect(await server.post(`${q}/batches`, { tasks: [{ type: 'u' }, lost] })).toMatchObject({ status: 422, body: { detail: `tasks[1]: ${words}` } })
    expect((await server.post(`${q}/tasks`, { tasks: [{ ...lost, id: 'own' }] })).body.detail).toMatch(/^own depends on nope/)
  })

  test('a duplicate is reported with the first task, what it has in common, and until when; for one, for many and in an import', async () => {
    const q = freshQueue()
    await server.call('PATCH', `${q}/settings`, { decisionReport: 'optional', retentionSeconds: 3_600 })
    await server.post(`${q}/tasks`, { id: 'nightly', type: 'ops-backup' })
    expect((await server.post(`${q}/tasks`, { type: 'ops-backup' })).body).toEqual({ id: 'nightly', number: 1, status: 'pending', duplicate: true, duplicateBy: 'content', revision: 1 })
    const { lease } = (await server.post(`${q}/claims`, { agentId: 'w' })).body.claims[0]
    await server.post(`${q}/tasks/nightly/complete`, { agentId: 'w', token: lease.token, result: {} })
    const { finishedAt } = (await server.get(`${q}/tasks/nightly`)).body
    const until = new Date(Date.parse(finishedAt) + 3_600_000).toISOString()
    const told = { id: 'nightly', number: 1, status: 'completed', duplicate: true, until }
    expect(await server.post(`${q}/tasks`, { type: 'ops-backup' })).toMatchObject({ status: 200, body: { ...told, duplicateBy: 'content' } })
    const many = [{ type: 'ops-backup' }, { id: 'nightly', type: 'ops-backup' }]
    const both = [{ ...told, duplicateBy: 'content' }, { ...told, duplicateBy: 'id' }]
    expect((await server.post(`${q}/tasks`, { tasks: many })).body.results).toEqual(both)
    expect((await server.post(`${q}/tasks`, { tasks: many, atomic: false })).body.results).toEqual(both)
    expect((await server.post(`${q}/imports`, { tasks: many })).body.results).toEqual(both)
  })

  test('deduplicate: set for a task, and for the queue', async () => {
    const q = freshQueue()
    const duplicates = async (...tasks: ReadonlyArray<Body>): Promise<ReadonlyArray<boolean>> =>
      (await server.post(`${q}/tasks`, { tasks })).body.results.map(({ duplicate }: Body) => duplicate)
    const off = { type: 't', deduplicate: 'off' }
    expect(await duplicates({ type: 't' }, { type: 't' }, off, off)).toEqual([false, true, false, false])
    expect((await server.post(`${q}/tasks`, { id: 'x', type: 't' })).body).toMatchObject({ code: 'conflict', detail: expect.stringContaining('(#1)') as string })
    expect((await server.call('PATCH', `${q}/settings`, { deduplicate: 'key' })).body).toMatchObject({ deduplicate: 'key' })
    expect(await duplicates({ type: 't' }, { id: 'x', type: 't' }, { type: 't', idempotencyKey: 'k' }, { type: 'u', idempotencyKey: 'k' })).toEqual([false, false, false, true])
    expect(await server.post(`${q}/tasks`, { type: 't', deduplicate: 'never' })).toMatchObject({ status: 400, body: { errors: [{ path: 'deduplicate' }] } })
  })

  test('a request that is sent again with its Daybook-Request-Id enqueues nothing twice, whatever deduplicate says', async () => {
    const q = freshQueue()
    await server.call('PATCH', `${q}/settings`, { deduplicate: 'off' })
    const same = { headers: { 'Daybook-Request-Id': '01990000-0000-7000-8000-00000000abcd' } }
    const tasks = [{ type: 't' }, { type: 't', idempotencyKey: 'k' }, { id: 'own', type: 't' }]
    const first = (await server.post(`${q}/tasks`, { tasks }, same)).body.results
    expect(first.map(({ id, duplicate }: Body) => [id, duplicate])).toEqual([
      ['01990000-0000-7000-8000-000000000000', false], ['01990000-0000-7000-8000-000000000001', false], ['own', false],
    ])
    const again = (await server.post(`${q}/tasks`, { tasks, atomic: false }, same)).body.results
    expect(again.map(({ id, duplicate }: Body) => [id, duplicate])).toEqual(first.map(({ id }: Body) => [id, true]))
    expect((await server.post(`${q}/tasks`, tasks[0], same)).body).toMatchObject({ id: first[0].id, duplicate: true })
    expect((await server.get(`${q}/depth`)).body.total).toBe(3)
    // Another task with the same request id is not dropped silently.
    expect((await server.post(`${q}/tasks`, { type: 'other' }, same)).body.code).toBe('conflict')
    expect(await server.post(`${q}/tasks`, { type: 't' }, { headers: { 'Daybook-Request-Id': 'nightly' } })).toMatchObject({ status: 400, body: { errors: [{ path: 'Daybook-Request-Id' }] } })
  })

  test('a time is sent with its zone, and comes back in UTC', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { id: 'later', type: 't', availableAt: '2990-07-01T12:00:00+02:00', deadlineAt: '2990-07-02T00:00Z' })
    const { body } = await server.get(`${q}/tasks/later`)
    expect(body).toMatchObject({ status: 'scheduled', availableAt: '2990-07-01T10:00:00.000Z', deadlineAt: '2990-07-02T00:00:00.000Z' })
  })
})

describe('LK-01, GB-01: a task', () => {
  test('TQM-DM-001: has the fields of both schemas and its content as it was sent; it is found by id and by number', async () => {
    const q = freshQueue()
    const payload = { action: 'build', params: { 'quoted "key"': ['é', '\u2028', '\ud83d\ude00'] }, context: null }
    const sent = { id: 'é/ü 100% #?"\\', type: 'eng-backend', priority: 'HIGH', payload, description: 'why', metadata: { team: 'a' }, ticketId: 'T-1', phase: 'TESTING', tenant: 'acme', requires: { skills: ['ts'] }, timeout: 5, maxRetries: 7, backoffSeconds: 1.5, idempotencyKey: 'k', parentTaskId: 'p' }
    await server.post(`${q}/tasks`, sent)
    const byId = await server.get(`${q}/tasks/${encodeURIComponent(sent.id)}`)
    expect(byId.body).toMatchObject({ ...sent, priority: 8, number: 1, status: 'pending', dependencies: [], retries: 0, attempts: 0, claimants: [], claimedBy: null, claimedAt: null, completedAt: null, lastError: null })
    expect((await server.get(`${q}/tasks/%231`)).body).toEqual(byId.body)
  })

  test('an id of 128 characters beyond ASCII can be used in a path', async () => {
    const q = freshQueue()
    const id = '漢'.repeat(128)
    await server.post(`${q}/tasks`, { id, type: 't' })
    expect((await server.get(`${q}/tasks/${encodeURIComponent(id)}`)).body.id).toBe(id)
  })

  test('TQM-DM-002: carries its result once it is completed', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { id: 'a', type: 't', payload: { n: 1 } })
    const { body } = await server.post(`${q}/claims`, { agentId: 'w' })
    const { token } = body.claims[0].lease
    expect((await server.get(`${q}/tasks/a`)).body).toMatchObject({ status: 'in-progress', claimedBy: 'w', currentClaimant: 'w' })
    await server.post(`${q}/tasks/a/complete`, { agentId: 'w', token, result: report })
    const done = (await server.get(`${q}/tasks/a`)).body
    expect(done).toMatchObject({ status: 'completed', payload: { n: 1 }, result: report, claimedBy: 'w', currentClaimant: null })
    expect(done.completedAt).toBe(done.finishedAt)
  })
})

describe('lists', () => {
  const q = '/api/queues/list'
  beforeAll(async () => {
    const task = (id: string, priority: number, more = {}) => ({ id, type: 'eng-a', priority, idempotencyKey: id, ...more })
    await server.post(`${q}/tasks`, {
      tasks: [
        task('low', 1, { ticketId: 'T-1' }), task('high', 9, { phase: 'TESTING', tenant: 'acme' }), task('mid', 5, { type: 'ops' }),
        task('mid2', 5), task('waits', 7, { dependencies: ['low'] }),
      ],
    })
    await server.post(`${q}/claims`, { agentId: 'w1', types: ['ops'] })
  })
  const ids = async (query: string): Promise<ReadonlyArray<string>> => (await server.get(`${q}/tasks?${query}`)).body.tasks.map((task: Body) => task.id)

  test.each([
    ['status=pending', ['high', 'mid2', 'low']],
    ['status=pending,blocked', ['waits', 'high', 'mid2', 'low']],
    ['status=in-progress', ['mid']],
    ['type=eng-*&status=pending', ['high', 'mid2', 'low']],
    ['type=ops', ['mid']],
    ['phase=TESTING', ['high']],
    ['tenant=acme', ['high']],
    ['ticketId=T-1', ['low']],
    ['agent=w1', ['mid']],
    ['priority=9', ['high']],
    ['priority=HIGH', []],
    ['priority=1-4', ['low']],
    ['priority=MEDIUM-HIGH', ['waits', 'mid2', 'mid']],
    ['q=MID', ['mid2', 'mid']],
    ['priority=5&type=ops', ['mid']],
    ['createdAfter=2020-01-01T00:00:00.000Z&status=pending', ['high', 'mid2', 'low']],
    ['waitsFor=low', ['waits']],
    ['waitsFor=low&status=pending', []],
    ['waitsFor=mid', []],
    ['waitsFor=nobody', []],
    ['createdBefore=2020-01-01T00:00:00.000Z', []],
  ])('TQM-DM-003: ?%s', async (query, expected) => {
    expect(await ids(query)).toEqual(expected)
  })

  test('pages have no gaps and no repeats, and the last has no cursor', async () => {
    const seen: Array<string> = []
    let cursor: string | null = ''
    do {
      const { body }: Body = await server.get(`${q}/tasks?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(body.tasks.length).toBeLessThanOrEqual(2)
      seen.push(...body.tasks.map((task: Body) => task.id))
      cursor = body.nextCursor
    } while (cursor !== null)
    expect(seen).toEqual(await ids(''))
    expect(new Set(seen).size).toBe(5)
  })

  test('a page of large tasks ends early, and its cursor continues', async () => {
    const small = await startTestServer({ limits: { pageBytesMax: 2_000 } })
    try {
      await small.post('/api/queues/q/tasks', { tasks: [1, 2, 3].map((n) => ({ id: `t${n}`, type: 't', payload: `${n}${'x'.repeat(1_200)}` })) })
      const first = await small.get('/api/queues/q/tasks')
      expect(first.body.tasks.map((task: Body) => task.id)).toEqual(['t1'])
      const second = await small.get(`/api/queues/q/tasks?cursor=${first.body.nextCursor}`)
      expect(second.body.tasks.map((task: Body) => task.id)).toEqual(['t2'])
    } finally {
      await small.stop()
    }
  })
})

describe('LK-12: cancel', () => {
  test('also cancels the dependents', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 't', payload: 1 }, { id: 'b', type: 't', payload: 2, dependencies: ['a'] }, { id: 'c', type: 't', payload: 3, dependencies: ['b'] }] })
    expect((await server.post(`${q}/tasks/a/cancel`, { reason: 'not needed' })).body).toEqual({ cancelled: ['a', 'b', 'c'] })
    expect((await server.get(`${q}/tasks/c`)).body.status).toBe('cancelled')
  })
})

describe('EV-09: imports', () => {
  test('tasks are imported with their status; those already known are skipped', async () => {
    const q = freshQueue()
    const tasks = [
      { id: 'M1-001', type: 't', payload: 1 },
      { id: 'M1-002', type: 't', payload: 2, status: 'completed', createdAt: '2026-01-02T03:04:05Z', completedAt: '2026-01-02T04:00:00Z', result: report, dependencies: ['M1-001'] },
      { id: 'M1-003', type: 't', payload: 3, status: 'dead-letter', lastError: 'ENOENT', retries: 3 },
    ]
    const { status, body } = await server.post(`${q}/imports`, { tasks })
    expect(status).toBe(201)
    expect(body.results.map((each: Body) => each.status)).toEqual(['pending', 'completed', 'dead-letter'])
    expect((await server.get(`${q}/tasks/M1-002`)).body).toMatchObject({ status: 'completed', createdAt: '2026-01-02T03:04:05.000Z', completedAt: '2026-01-02T04:00:00.000Z', result: report, payload: 2 })
    expect((await server.get(`${q}/tasks/M1-003`)).body).toMatchObject({ lastError: 'ENOENT', retries: 3, deadLetter: { reason: 'imported' } })
    const again = await server.post(`${q}/imports`, { tasks: tasks.map((task) => ({ ...task, payload: 'changed' })) })
    expect(again.body.results.every((each: Body) => each.duplicate)).toBe(true)
    expect(await server.eventCount(q.slice(12))).toBe(3)
  })
})
