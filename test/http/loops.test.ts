/** Discoveries, validation loops and the guardian over a real server, with the client, explain and the log. */
import { createClient, type DaybookClient, type Result } from '@daybook/adapters/client'
import { engineSource } from '@daybook/adapters/worker'
import { importFiles, importTarget, readQueueFile } from '@daybook/adapters/import'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminToken, startTestServer, type TestServer } from './support.js'

let server: TestServer
let client: DaybookClient
let queues = 0
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(async () => {
  await client.close()
  await server.stop()
})
/** A queue of its own with one task, and its path. */
const queueWith = async (more: object = {}): Promise<string> => {
  client = createClient({ url: server.http.url, token: adminToken, queue: `q${++queues}` })
  await client.enqueue({
    id: 'p', type: 'eng-api', phase: 'VALIDATION', ticketId: 'T-1', description: 'Validate the login, password=hunter2-x', payload: { module: 'login', apiKey: 'k-123' },
    metadata: { team: 'web', token: 'abc', nested: { authorization: 'Bearer abc123xyz', note: 'keep' } }, ...more,
  })
  return `/api/queues/q${queues}`
}
/** Completes the next task. */
const finish = async (result: Result) => {
  const [claim] = await client.claim({ agentId: 'ann' })
  const said = { agentId: 'ann', token: claim!.lease.token, result: { decisionReport: 'looked at it', ...result } }
  return { id: claim!.task.id, said, answer: await client.complete(claim!.task.id, said) }
}
const invalid: Result = { validationFailed: true, errors: ['two tests fail'] }

test('TQM-BR-001, TQM-BR-002: what an agent discovers is enqueued by its completion, with the metadata of the parent and without its secrets', async () => {
  const path = await queueWith()
  const { answer, said } = await finish({
    discoveries: [
      { type: 'security_issue', details: 'the key sk-ant-api03-abcDEF123456789012345 is in the repository', severity: 'HIGH', suggested_action: 'rotate it', metadata: {} },
      { type: 'DiscoveryType.REQUIRES_CLARIFICATION', details: 'which users?', severity: 'low', suggestedAction: 'ask' },
      { kind: 'optimization opportunity', description: 'cache it' },
      { type: 'rumour', details: 'x' }, 'a plain text', 7, null, ['x'], {},
    ],
  })
  expect(answer).toMatchObject({ status: 'completed', spawned: { length: 3 }, left: 6 })
  const [issue, question, idea] = await Promise.all(answer.spawned!.map((id) => client.task(id)))
  expect(issue).toMatchObject({
    type: 'eng-api', phase: 'ANALYSIS', priority: 10, ticketId: 'T-1', parentTaskId: 'p', discovery: 'security_issue',
    description: 'security_issue: the key [redacted] is in the repository',
    metadata: { team: 'web', token: '[redacted]', nested: { authorization: '[redacted]', note: 'keep' } },
    payload: {
      discovery: { type: 'security_issue', severity: 'HIGH', suggested_action: 'rotate it' },
      parent: { description: 'Validate the login, password=[redacted]', payload: { module: 'login', apiKey: '[redacted]' } },
    },
  })
  expect(question).toMatchObject({ phase: 'REQUIREMENTS', priority: 3, discovery: 'requires_clarification' })
  expect(idea).toMatchObject({ phase: 'ANALYSIS', priority: 5, discovery: 'optimization_opportunity' })
  // One append. The result itself is kept as it was given. A repeated report spawns nothing and gets the same answer.
  const { body } = await server.get(`${path}/events`)
  expect(body.events.map(({ type }: { type: string }) => type)).toEqual(['TaskEnqueued', 'Claimed', 'TaskEnqueued', 'TaskEnqueued', 'TaskEnqueued', 'Completed'])
  expect(new Set(body.events.slice(2).map(({ correlationId }: { correlationId: string }) => correlationId)).size).toBe(1)
  expect((await client.task('p')).result?.discoveries).toHaveLength(9)
  expect(await client.complete('p', said)).toMatchObject({ status: 'completed', spawned: answer.spawned!, left: 6 })
  expect((await client.tasks()).tasks).toHaveLength(4)
})

test('TQM-DM-002: a result as the reference model of the requirements prints it is understood', async () => {
  const path = await queueWith()
  const { body: { claims: [{ lease }] } } = await server.post(`${path}/claims`, { agentId: 'ann' })
  const answer = await server.post(`${path}/tasks/p/complete`, {
    agentId: 'ann', token: lease.token,
    result: { success: false, output: null, discoveries: [], validation_failed: true, errors: ['no build'], metrics: { duration_ms: 3 }, decisionReport: 'x' },
  })
  expect(answer.status).toBe(200)
  expect(answer.body.spawned).toHaveLength(2)
})

test('TQM-BR-003: a discovery about another ticket waits for a guardian; approved, it becomes a task of that ticket', async () => {
  const path = await queueWith()
  const { answer } = await finish({ discoveries: [{ type: 'security_issue', details: 'the same hole', ticketId: 'T-2' }, { type: 'security_issue', details: 'x', ticket_id: 'T-1' }] })
  expect(answer).toMatchObject({ spawned: { length: 1 }, approvals: { length: 1 } })
  const [id = ''] = answer.approvals!
  expect(await client.approvals.list()).toMatchObject([{ id, kind: 'spawn', cause: 'other-ticket', parent: 'p', tasks: [{ ticketId: 'T-2', discovery: 'security_issue' }] }])
  expect(await client.approvals.get(id)).toMatchObject({ tasks: [{ description: 'security_issue: the same hole', metadata: { team: 'web' } }], chain: [{ id: 'p' }, {}] })
  expect((await client.explain('p')).reasons[0]?.message).toContain(id)
  const { spawned } = await client.approvals.approve(id, 'worth it')
  expect(await client.task(spawned[0]!)).toMatchObject({ ticketId: 'T-2', parentTaskId: 'p', description: 'security_issue: the same hole', status: 'pending' })
  await expect(client.approvals.approve(id, 'again')).rejects.toMatchObject({ code: 'not-found' })
  expect((await server.get(`${path}/approvals/${id}`)).status).toBe(404)
  expect((await server.get(`${path}/approvals`)).body.approvals).toEqual([])
})

test('TQM-BR-003: refused, it becomes nothing', async () => {
  await queueWith()
  const { answer } = await finish({ discoveries: [{ type: 'security_issue', details: 'x', ticketId: 'T-2' }] })
  await client.approvals.refuse(answer.approvals![0]!, 'not ours')
  expect(await client.approvals.list()).toEqual([])
  expect((await client.tasks()).tasks).toHaveLength(1)
})

test('TQM-VF-001 to TQM-VF-003: fix, re-check, and a halt at the third equal failure, until a guardian releases it', async () => {
  await queueWith()
  const first = await finish(invalid)
  const [fix, check] = await Promise.all(first.answer.spawned!.map((id) => client.task(id)))
  expect(fix).toMatchObject({ priority: 8, phase: 'IMPLEMENTATION', parentTaskId: 'p', discovery: 'validation_failed', description: 'Fix what validation found: two tests fail' })
  expect(check).toMatchObject({ phase: 'VALIDATION', parentTaskId: 'p', status: 'blocked', dependencies: [fix!.id], metadata: { team: 'web' } })
  await finish({})
  await finish(invalid)
  await finish({})
  const { answer, id } = await finish(invalid)
  expect(answer).toMatchObject({ status: 'completed', spawned: [], approvals: { length: 1 } })
  const approval = await client.approvals.get(answer.approvals![0]!)
  expect(approval).toMatchObject({ kind: 'loop', cause: 'signature-repeated', parent: id, root: 'p', rounds: 3, error: 'two tests fail', tasks: [{ phase: 'IMPLEMENTATION' }, { phase: 'VALIDATION' }] })
  expect(approval.chain).toHaveLength(5)
  expect(await client.claim({ agentId: 'ann' })).toEqual([])
  const { spawned } = await client.approvals.approve(approval.id, 'the test was wrong')
  expect(spawned).toHaveLength(2)
  expect((await finish({})).id).toBe(spawned[0])
  expect((await finish({})).id).toBe(spawned[1])
})

test('TQM-VF-002: a fix that is given up waits for a guardian, with the chain; approved, it is sent back', async () => {
  await queueWith({ maxRetries: 1 })
  const { answer } = await finish(invalid)
  const [claim] = await client.claim({ agentId: 'ann' })
  await client.fail(claim!.task.id, { agentId: 'ann', token: claim!.lease.token, error: 'no idea' })
  const [waiting] = await client.approvals.list()
  expect(waiting).toMatchObject({ kind: 'dead-letter', cause: 'retries-exhausted', parent: answer.spawned![0], error: 'no idea', tasks: [] })
  expect(await client.approvals.approve(waiting!.id, 'again')).toMatchObject({ retried: [claim!.task.id] })
  expect((await client.task(claim!.task.id)).status).toBe('pending')
})

test('the worker in the process spawns as well, and settings say what becomes of a kind', async () => {
  await queueWith()
  await client.settings.patch({ discoveries: { flaky_test: { type: 'qa', phase: 'TESTING', priority: 'LOW' } }, loops: { maxSpawned: 1 } })
  const engine = await server.daybook.open(`q${queues}`)
  const source = engineSource(engine)
  const [work] = await source.claim({ agentId: 'bob', max: 1, waitMs: 0, leaseSeconds: 60 }, new AbortController().signal)
  const result = { decisionReport: 'x', discoveries: [{ type: 'flaky_test', details: 'login' }, { type: 'flaky_test', details: 'logout' }] }
  await source.settle([{ kind: 'complete', taskId: 'p', agentId: 'bob', token: work!.token, result }], 'once')
  expect((await client.tasks({ type: 'qa' })).tasks).toMatchObject([{ phase: 'TESTING', priority: 3, discovery: 'flaky_test', parentTaskId: 'p' }])
})

test('completions in bulk, with and without findings, are answered in order', async () => {
  const path = await queueWith()
  await client.enqueue({ id: 'other', type: 'eng-api' })
  const { body: { claims } } = await server.post(`${path}/claims`, { agentId: 'ann', max: 2 })
  const outcomes = claims.map(({ task, lease }: { task: { id: string }; lease: { token: number } }) => ({
    kind: 'complete', taskId: task.id, agentId: 'ann', token: lease.token, result: { decisionReport: 'x', ...(task.id === 'p' ? { discoveries: [{ type: 'security_issue', details: 'x' }] } : {}) },
  }))
  const { body } = await server.post(`${path}/outcomes`, { outcomes })
  expect(body.results.map(({ spawned }: { spawned: ReadonlyArray<string> }) => spawned.length)).toEqual(claims.map(({ task }: { task: { id: string } }) => (task.id === 'p' ? 1 : 0)))
})

test('EV-09, TQM-BR-002: a spawned task that is exported and imported elsewhere keeps its place in its chain', async () => {
  await queueWith()
  const discovery = { type: 'security_issue', details: 'a hole' }
  const { answer } = await finish({ discoveries: [discovery] })
  const [child = ''] = answer.spawned ?? []
  const shown = await client.task(child)
  expect(shown).toMatchObject({ rootTaskId: 'p', generation: 1, parentTaskId: 'p' })
  client = client.in(`q${++queues}`)
  expect(await importFiles([readQueueFile(JSON.stringify({ tasks: [shown] }), 'pending.json')], importTarget(client))).toMatchObject({ took: 1 })
  expect(await client.task(child)).toMatchObject({ rootTaskId: 'p', generation: 1, status: 'pending' })
  const next = await finish({ discoveries: [discovery] })
  expect(await client.task(next.answer.spawned?.[0] ?? '')).toMatchObject({ rootTaskId: 'p', generation: 2, parentTaskId: child })
  await client.importTasks([{ id: 'late', type: 't', status: 'dead-letter', rootTaskId: 'p', generation: 7 }])
  expect(await client.task('late')).toMatchObject({ rootTaskId: 'p', generation: 7, status: 'dead-letter' })
  await expect(client.enqueue({ type: 't', generation: 3 } as never)).rejects.toMatchObject({ code: 'invalid' })
})

test('LK-11, TQM-BR-002: what is spawned of an amended task gets its newest payload', async () => {
  await queueWith()
  await client.amend('p', { payload: { module: 'billing' } }, 'the wrong module')
  const { answer } = await finish({ discoveries: [{ type: 'security_issue', details: 'a hole' }] })
  expect((await client.task(answer.spawned?.[0] ?? '')).payload).toMatchObject({ parent: { payload: { module: 'billing' } } })
})
