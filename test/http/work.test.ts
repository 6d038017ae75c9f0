/** Claims, heartbeats and outcomes over real sockets. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/queue.js'
import { adminToken, type Body, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const queueOf = async (...tasks: ReadonlyArray<Body>): Promise<string> => {
  const q = `/api/queues/w${++count}`
  await server.post(`${q}/tasks`, { tasks: tasks.map((task, i) => ({ type: 't', idempotencyKey: `k${i}`, ...task })) })
  return q
}
const claimOne = async (q: string, agentId = 'w1'): Promise<Body> => (await server.post(`${q}/claims`, { agentId })).body.claims[0]
const engineOf = (q: string) => {
  const engine = server.daybook.queue(q.slice('/api/queues/'.length))
  if (engine === undefined) throw new Error(`no queue ${q}`)
  return engine
}

describe('LK-06: claims', () => {
  test('give the task with its content and a lease', async () => {
    const q = await queueOf({ id: 'a', payload: { n: 1 }, description: 'd', metadata: { m: 1 }, priority: 9, ticketId: 'T', phase: 'TESTING', tenant: 'x', timeout: 60, deadlineAt: '2990-01-01T00:00:00Z' })
    const sentAt = Date.now()
    const claim = await claimOne(q)
    expect(claim.task).toMatchObject({ id: 'a', number: 1, type: 't', priority: 9, status: 'in-progress', payload: { n: 1 }, description: 'd', metadata: { m: 1 }, ticketId: 'T', phase: 'TESTING', tenant: 'x', timeout: 60, attempts: 0, attempt: 1, attemptsMax: 3, idempotencyKey: 'k0', dependencies: [], claimedBy: 'w1', deadlineAt: '2990-01-01T00:00:00.000Z' })
    expect(claim.attempt).toBe(1)
    expect((await server.get(`${q}/tasks/a`)).body).toMatchObject({ attempt: 1, attemptsMax: 3, createdAt: claim.task.createdAt })
    expect(claim.lease.token).toBe(1)
    expect(Date.parse(claim.lease.expiresAt) - sentAt).toBeGreaterThan(59_000)
    expect(claim).not.toHaveProperty('checkpoint')
  })

  test('give an imported task with the result that came with it', async () => {
    const q = await queueOf()
    await server.post(`${q}/imports`, { tasks: [{ id: 'a', type: 't', status: 'pending', result: { output: 'half done' } }] })
    expect((await claimOne(q)).task).toMatchObject({ id: 'a', result: { output: 'half done' } })
  })

  test('LK-08: last as long as asked for, but no longer than the task allows; a heartbeat extends them by as much', async () => {
    for (const [leaseSeconds, timeout, seconds] of [[15, 60, 15], [12.25, 60, 12.25], [90, 60, 60], [undefined, 60, 60]] as const) {
      const q = await queueOf({ id: 'a', timeout })
      const { lease } = (await server.post(`${q}/claims`, { agentId: 'w', ...(leaseSeconds === undefined ? {} : { leaseSeconds }) })).body.claims[0]
      expect(lease.seconds).toBe(seconds)
      await server.post(`${q}/tasks/a/heartbeat`, { agentId: 'w', token: lease.token })
      const { events } = (await server.get(`${q}/tasks/a/history`)).body
      const granted = events.filter(({ type }: Body) => type === 'Claimed' || type === 'LeaseExtended')
      expect(granted.map(({ at, data }: Body) => Date.parse(data.expiresAt) - Date.parse(at))).toEqual([seconds * 1_000, seconds * 1_000])
    }
  })

  test('LK-07: say how long the claim had waited when the lease began; a lease measured from the sending is never too long', async () => {
    for (const waitMs of [0, 300]) {
      const q = await queueOf({ id: 'first' })
      await claimOne(q)
      const sentAt = Date.now()
      const waiting = server.post(`${q}/claims`, { agentId: 'w2', wait: 30 })
      await until(() => engineOf(q).status().waitingClaims === 1)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      await server.post(`${q}/tasks`, { id: 'second', type: 't' })
      const { waitedSeconds } = (await waiting).body.claims[0].lease
      const { events } = (await server.get(`${q}/tasks/second/history`)).body
      const grantedAt = Date.parse(events.find(({ type }: Body) => type === 'Claimed').at)
      // Times in the log are whole milliseconds, and so is `sentAt`.
      expect(sentAt + waitedSeconds * 1_000).toBeLessThanOrEqual(grantedAt + 1)
      // A timer may fire a millisecond early.
      expect(waitedSeconds * 1_000).toBeGreaterThanOrEqual(waitMs - 2)
    }
  })

  test('are filtered by type, phase, skills and tenant, highest priority first', async () => {
    const q = await queueOf(
      { id: 'low', type: 'eng-a', priority: 2 }, { id: 'high', type: 'eng-b', priority: 9 }, { id: 'ops', type: 'ops', priority: 10 },
      { id: 'skilled', type: 'eng-c', priority: 10, requires: { skills: ['ts', 'sql'] } },
    )
    const ids = async (body: Body): Promise<ReadonlyArray<string>> => (await server.post(`${q}/claims`, { agentId: 'w', ...body })).body.claims.map(({ task }: Body) => task.id)
    expect(await ids({ types: ['nothing'] })).toEqual([])
    expect(await ids({ types: ['eng-*'], max: 10 })).toEqual(['high', 'low'])
    expect(await ids({ skills: ['ts'], max: 10, tenant: 'other' })).toEqual([])
    expect(await ids({ skills: ['sql', 'ts'], max: 10 })).toEqual(['ops', 'skilled'].sort((a) => (a === 'ops' ? -1 : 1)))
  })

  test('TQM-ASSIGN-003: a waiting claim is answered as soon as there is a task', async () => {
    const q = await queueOf({ id: 'first' })
    await claimOne(q)
    const waiting = server.post(`${q}/claims`, { agentId: 'w2', wait: 30 })
    await until(() => engineOf(q).status().waitingClaims === 1)
    await server.post(`${q}/tasks`, { id: 'second', type: 't' })
    const { body } = await waiting
    expect(body.claims[0].task.id).toBe('second')
  })

  test('an empty queue answers at once, or at the end of the wait', async () => {
    const q = await queueOf({ id: 'only' })
    await claimOne(q)
    expect((await server.post(`${q}/claims`, { agentId: 'w' })).body).toEqual({ claims: [] })
    const startedAt = Date.now()
    expect((await server.post(`${q}/claims`, { agentId: 'w', wait: 0.4 })).body).toEqual({ claims: [] })
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(380)
  })

  test('a client that disconnects while it waits gets no task', async () => {
    const q = await queueOf({ id: 'only' })
    await claimOne(q)
    const body = JSON.stringify({ agentId: 'gone', wait: 30 })
    const socket = connect(server.http.port, '127.0.0.1')
    socket.write(`POST ${q}/claims HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    await until(() => engineOf(q).status().waitingClaims === 1)
    socket.destroy()
    await until(() => engineOf(q).status().waitingClaims === 0)
    await server.post(`${q}/tasks`, { id: 'next', type: 't' })
    expect((await claimOne(q, 'here')).task.id).toBe('next')
  })
})

describe('LK-02, LK-07, LK-08: one outcome at a time', () => {
  test('complete: completed with a report, incomplete without one; the same completion twice is no error', async () => {
    const q = await queueOf({ id: 'a' })
    const { lease: { token } } = await claimOne(q)
    const complete = (result: Body) => server.post(`${q}/tasks/a/complete`, { agentId: 'w1', token, result })
    const { status, body } = await complete({ output: 1 })
    expect({ status, ...body }).toEqual({ status: 'incomplete', spawned: [], detail: expect.stringContaining('complete the task again with result.decisionReport') as string })
    expect((await complete(report)).body).toEqual({ status: 'completed', spawned: [] })
    const { revision } = await complete(report)
    expect(revision).toBe((await complete(report)).revision)
    expect((await server.get(`${q}/tasks/a`)).body.result).toEqual(report)
  })

  test('what was handed in without a report is kept when the report comes: also after heartbeats and a second attempt without one, and in a batch of outcomes', async () => {
    const q = await queueOf({ id: 'a' })
    const { lease: { token } } = await claimOne(q)
    const complete = (result: Body) => server.post(`${q}/tasks/a/complete`, { agentId: 'w1', token, result })
    const discoveries = [{ type: 'security_issue', details: 'a key in the log' }]
    await complete({ output: 1, metrics: { durationMs: 5 }, discoveries })
    for (let i = 0; i < 3; i++) await server.post(`${q}/tasks/a/heartbeat`, { agentId: 'w1', token, progress: i / 3 })
    await complete({ output: 2 })
    const { body } = await server.post(`${q}/outcomes`, { outcomes: [{ kind: 'complete', taskId: 'a', agentId: 'w1', token, result: { decisionReport: 'r' } }] })
    expect(body.results).toEqual([{ status: 'completed', spawned: [expect.any(String)] }])
    expect((await server.get(`${q}/tasks/a`)).body.result).toEqual({ output: 2, metrics: { durationMs: 5 }, discoveries, decisionReport: 'r' })
    expect((await server.get(`${q}/tasks/${body.results[0].spawned[0]}`)).body.description).toBe('security_issue: a key in the log')
  })

  test('the next attempt begins without what an earlier one handed in', async () => {
    const q = await queueOf({ id: 'a', backoffSeconds: 0 }, { id: 'b', priority: 1 })
    const first = await claimOne(q)
    // Another task is incomplete all the time.
    const other = await claimOne(q)
    await server.post(`${q}/tasks/b/complete`, { agentId: 'w1', token: other.lease.token, result: { output: 'other' } })
    await server.post(`${q}/tasks/a/complete`, { agentId: 'w1', token: first.lease.token, result: { output: 'first' } })
    await server.post(`${q}/tasks/a/fail`, { agentId: 'w1', token: first.lease.token, error: 'no report' })
    const { lease: { token } } = await claimOne(q, 'w2')
    await server.post(`${q}/tasks/a/complete`, { agentId: 'w2', token, result: { decisionReport: 'r' } })
    expect((await server.get(`${q}/tasks/a`)).body.result).toEqual({ decisionReport: 'r' })
  })

  test('heartbeat extends the lease and keeps a checkpoint for the next attempt', async () => {
    const q = await queueOf({ id: 'a', timeout: 60, maxRetries: 3, backoffSeconds: 0 })
    const { lease } = await claimOne(q)
    await until(() => Date.now() > Date.parse(lease.expiresAt) - 60_000)
    const beat = await server.post(`${q}/tasks/%231/heartbeat`, { agentId: 'w1', token: lease.token, progress: 0.5, checkpoint: { step: 3 } })
    expect(beat.body.lease.token).toBe(lease.token)
    expect(Date.parse(beat.body.lease.expiresAt)).toBeGreaterThan(Date.parse(lease.expiresAt))
    await server.post(`${q}/tasks/a/fail`, { agentId: 'w1', token: lease.token, error: 'x' })
    const next = await claimOne(q, 'w2')
    expect(next).toMatchObject({ checkpoint: { step: 3 }, attempt: 2, task: { attempts: 1, retries: 1, attempt: 2, attemptsMax: 3 } })
  })

  test('progress and checkpoint are shown with the task, alone and in lists; a new attempt begins without progress', async () => {
    const q = await queueOf({ id: 'a', backoffSeconds: 0 })
    const { lease } = await claimOne(q)
    const beat = (said: Body) => server.post(`${q}/tasks/a/heartbeat`, { agentId: 'w1', token: lease.token, ...said })
    const views = async (): Promise<ReadonlyArray<Body>> => {
      // Only the answer about a single task has its reasons.
      const { reasons: _, ...alone } = (await server.get(`${q}/tasks/a`)).body
      expect((await server.get(`${q}/tasks?q=a`)).body.tasks.find(({ id }: Body) => id === 'a')).toEqual(alone)
      return [alone.progress, alone.checkpoint]
    }
    expect(await views()).toEqual([undefined, undefined])
    await beat({ progress: '3 of 8', checkpoint: { 'a "key"': [3, null] } })
    expect(await views()).toEqual(['3 of 8', { 'a "key"': [3, null] }])
    await beat({ progress: null })
    await beat({})
    expect(await views()).toEqual([null, { 'a "key"': [3, null] }])
    await server.post(`${q}/tasks/a/fail`, { agentId: 'w1', token: lease.token, error: 'x', checkpoint: 4 })
    expect(await views()).toEqual([null, 4])
    await claimOne(q)
    expect(await views()).toEqual([undefined, 4])
    await server.post(`${q}/tasks`, { id: 'b', type: 't' })
    expect((await server.get(`${q}/tasks/b`)).body).not.toHaveProperty('progress')
  })

  test('LK-09: fail: a text or an object; retried later, or a dead letter', async () => {
    const q = await queueOf({ id: 'a', maxRetries: 2, backoffSeconds: 30 }, { id: 'b' })
    const { lease } = await claimOne(q)
    const sentAt = Date.now()
    const failed = await server.post(`${q}/tasks/a/fail`, { agentId: 'w1', token: lease.token, error: { message: 'ECONNRESET', code: 'E1', stack: 's'.repeat(50_000) } })
    expect(failed.body.status).toBe('scheduled')
    expect(Date.parse(failed.body.availableAt) - sentAt).toBeGreaterThan(25_000)
    const other = await claimOne(q)
    const dead = await server.post(`${q}/tasks/b/fail`, { agentId: 'w1', token: other.lease.token, error: 'bad request', retryable: false })
    expect(dead.body).toEqual({ status: 'dead-letter' })
    expect((await server.get(`${q}/tasks/b`)).body).toMatchObject({ lastError: 'bad request', deadLetter: { reason: 'not-retryable' } })
    const { body } = await server.get(`${q}/tasks/a/history`)
    expect(body.events[2].data.error.stack).toHaveLength(16_000)
  })

  test('GB-04: release: the task goes back, and this agent does not get it again', async () => {
    const q = await queueOf({ id: 'a' })
    const { lease } = await claimOne(q)
    expect((await server.post(`${q}/tasks/a/release`, { agentId: 'w1', token: lease.token, reason: 'not mine' })).body).toEqual({ status: 'pending' })
    expect(await claimOne(q)).toBeUndefined()
    expect((await claimOne(q, 'w2')).task.id).toBe('a')
  })

  test('GB-04: released by an agent that is stopping: no attempt is counted, and the agent may claim it again', async () => {
    const q = await queueOf({ id: 'a' }, { id: 'b' })
    const a = await claimOne(q)
    expect((await server.post(`${q}/tasks/a/release`, { agentId: 'w1', token: a.lease.token, reason: 'bye', stopping: true })).body).toEqual({ status: 'pending' })
    expect((await server.get(`${q}/tasks/a`)).body).toMatchObject({ claimants: [], attempts: 0 })
    const again = await claimOne(q)
    expect(again.task.id).toBe('a')
    const outcome = { kind: 'release', taskId: 'a', agentId: 'w1', token: again.lease.token, reason: 'bye' }
    await server.post(`${q}/outcomes`, { outcomes: [{ ...outcome, stopping: true }] })
    expect((await server.get(`${q}/tasks/a`)).body).toMatchObject({ claimants: [], attempts: 0 })
    // `stopping: false` is the same as no `stopping`.
    const third = await claimOne(q)
    await server.post(`${q}/tasks/a/release`, { agentId: 'w1', token: third.lease.token, reason: 'not mine', stopping: false })
    expect((await server.get(`${q}/tasks/a`)).body).toMatchObject({ claimants: ['w1'], attempts: 1 })
  })

  test('GB-03: an agent that has lost the lease is refused, and changes nothing', async () => {
    const q = await queueOf({ id: 'a' })
    const { lease: { token } } = await claimOne(q)
    const before = await server.eventCount(q.slice(12))
    const verbs: Readonly<Record<string, Body>> = { heartbeat: {}, complete: { result: report }, fail: { error: 'x' }, release: { reason: 'x' }, park: { callbackKey: 'k', timeoutSeconds: 1 } }
    for (const [verb, body] of Object.entries(verbs)) {
      for (const stale of [{ agentId: 'w1', token: token + 1 }, { agentId: 'other', token }]) {
        expect(await server.post(`${q}/tasks/a/${verb}`, { ...body, ...stale }), verb).toMatchObject({ status: 409, body: { code: 'lease-lost' } })
      }
      expect(await server.post(`${q}/tasks/unknown/${verb}`, { ...body, agentId: 'w1', token }), verb).toMatchObject({ status: 404, body: { code: 'not-found' } })
    }
    expect(await server.eventCount(q.slice(12))).toBe(before)
    await server.post(`${q}/tasks/a/cancel`, { reason: 'enough' })
    expect((await server.post(`${q}/tasks/a/heartbeat`, { agentId: 'w1', token })).body.detail).toMatch(/^cancelled/)
  })
})

describe('many outcomes at once', () => {
  test('each has its own result, in order: an invalid one does not block the others', async () => {
    const q = await queueOf({ id: 'a' }, { id: 'b' }, { id: 'c', backoffSeconds: 0 }, { id: 'd' }, { id: 'e' })
    const { body } = await server.post(`${q}/claims`, { agentId: 'w', max: 5 })
    const tokens = Object.fromEntries(body.claims.map(({ task, lease }: Body) => [task.id, lease.token]))
    const of = (taskId: string) => ({ taskId, agentId: 'w', token: tokens[taskId] })
    const { status, body: { results }, revision } = await server.post(`${q}/outcomes`, {
      outcomes: [
        { kind: 'complete', ...of('a'), result: report },
        { kind: 'complete', ...of('b'), token: 999, result: report },
        { kind: 'fail', ...of('c'), error: 'x' },
        { kind: 'release', ...of('d'), reason: 'r' },
        { kind: 'heartbeat', ...of('e') },
        { kind: 'finish', ...of('e') },
        { kind: 'complete', ...of('e'), result: { success: 'yes' } },
        'nonsense',
        { kind: 'fail', ...of('e'), taskId: 'unknown', error: 'x' },
      ],
    })
    expect(status).toBe(200)
    expect(results).toMatchObject([
      { status: 'completed', spawned: [] },
      { status: 409, code: 'lease-lost' },
      { status: 'pending' },
      { status: 'pending' },
      { lease: { token: tokens.e } },
      { status: 400, code: 'invalid', errors: [{ path: 'outcomes[5].kind' }] },
      { status: 400, code: 'invalid', errors: [{ path: 'outcomes[6].result.success' }] },
      { status: 400, code: 'invalid', errors: [{ path: 'outcomes[7].kind' }] },
      { status: 404, code: 'not-found' },
    ])
    expect(revision).toBe((await server.eventCount(q.slice(12))) - 1)
  })

  test('one whose kind is a list of any depth, or a very long text, does not block the others either', async () => {
    const q = await queueOf({ id: 'a' })
    const { body } = await server.post(`${q}/claims`, { agentId: 'w' })
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const good = JSON.stringify({ kind: 'complete', taskId: 'a', agentId: 'w', token: body.claims[0].lease.token, result: report })
    const answer = await server.post(`${q}/outcomes`, undefined, { raw: `{"outcomes":[{"kind":${deep}},{"kind":"${'x'.repeat(100_000)}"},${good}]}` })
    expect(answer).toMatchObject({ status: 200, body: { results: [{ status: 400, errors: [{ path: 'outcomes[0].kind', message: expect.stringMatching(/^is not a text: /) }] }, { status: 400 }, { status: 'completed' }] } })
    expect(answer.text.length).toBeLessThan(2_000)
  })

  test('500 tasks are claimed and completed', async () => {
    const q = await queueOf(...Array.from({ length: 500 }, (_, i) => ({ payload: { i, text: 'é"\\' } })))
    const { body } = await server.post(`${q}/claims`, { agentId: 'w', max: 500 })
    expect(body.claims.map(({ task }: Body) => task.payload.i)).toEqual(Array.from({ length: 500 }, (_, i) => i))
    const outcomes = body.claims.map(({ task, lease }: Body) => ({ kind: 'complete', taskId: task.id, token: lease.token, agentId: 'w', result: report }))
    const { body: { results } } = await server.post(`${q}/outcomes`, { outcomes })
    expect(results).toEqual(Array.from({ length: 500 }, () => ({ status: 'completed', spawned: [] })))
    expect((await server.get(`${q}/depth`)).body).toMatchObject({ total: 500, byStatus: { completed: 500, pending: 0 } })
  })
})
