/** Capacity and the normative endpoints over HTTP (TQM §11). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Body, startTestServer, type TestServer } from './support.js'

let server: TestServer
let count = 0
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const report = { decisionReport: 'done' }

/** A queue in which two agents may work, and do. */
const busy = async () => {
  const name = `c${++count}`
  const q = `/api/queues/${name}`
  await server.call('PATCH', `${q}/settings`, { capacity: { maxConcurrentAgents: 2 } })
  const tasks = [['a', 5], ['b', 5], ['high', 8], ['low', 1], ['urgent', 10]].map(([id, priority]) => ({ id, priority, type: 't', idempotencyKey: `${id}` }))
  await server.post(`${q}/tasks`, { tasks: tasks.slice(0, 2) })
  const claim = async (agentId: string, more: Body = {}) => (await server.post(`${q}/claims`, { agentId, ...more })).body
  const [ann, bob] = [await claim('ann'), await claim('bob')]
  await server.post(`${q}/tasks`, { tasks: tasks.slice(2) })
  const complete = (id: string, agentId: string, { claims }: Body) => server.post(`${q}/tasks/${id}/complete`, { agentId, token: claims[0].lease.token, result: report })
  const status = async () => (await server.get(`/api/queue_status?queue=${name}`)).body
  return { name, q, claim, ann, bob, complete, status }
}

describe('TQM §11: the normative endpoints', () => {
  test('another queue in the body than in the query is refused: neither is passed over', async () => {
    for (const queue of ['one', 'other']) await server.post(`/api/queues/${queue}/tasks`, { id: 'same', type: 't' })
    expect(await server.post('/api/cancel_queued_task?queue=one', { task_id: 'same', queue: 'other' })).toMatchObject({ status: 400, body: { errors: [{ path: 'queue' }] } })
    expect((await server.post('/api/cancel_queued_task?queue=one', { task_id: 'same', queue: 'one' })).status).toBe(200)
    expect((await server.get('/api/queues/other/tasks/same')).body.status).toBe('pending')
  })

  test('TQM-CAP-001, TQM-CAP-002: queue_status, at capacity and under', async () => {
    const { q, claim, ann, complete, status } = await busy()
    expect(await status()).toEqual({
      active_agents: 2, max_concurrent_agents: 2, at_capacity: true, queued_tasks: ['urgent', 'high', 'low'], queued_depth: 3,
      queued_by_priority: { CRITICAL: 1, HIGH: 1, MEDIUM: 0, LOW: 1 }, oldest_wait_seconds: expect.any(Number), critical_backlog_seconds: expect.any(Number),
    })
    expect((await server.get(`${q}/tasks?status=queued`)).body.tasks.map(({ id }: Body) => id)).toEqual(['urgent', 'high', 'low'])
    const low = (await server.get(`${q}/tasks/low`)).body
    expect(low).toMatchObject({ status: 'queued', queuePosition: 3, reasons: [{ code: 'capacity' }] })
    expect(low.queuedAt).toBe(low.createdAt)
    expect((await server.get(`${q}/tasks/a`)).body).not.toHaveProperty('queuePosition')
    expect((await server.get(`${q}/depth`)).body).toMatchObject({ byStatus: { pending: 0, queued: 3, 'in-progress': 2 } })
    expect(await claim('cy')).toEqual({ claims: [], reason: { code: 'capacity', message: expect.stringMatching(/^at capacity: 2 of 2 agents/), change: expect.stringContaining('raise capacity.maxConcurrentAgents') } })
    const { text } = await server.get('/metrics')
    expect(text).toContain(`daybook_active_agents{queue="${q.slice('/api/queues/'.length)}"} 2`)
    await complete('a', 'ann', ann)
    expect(await status()).toMatchObject({ active_agents: 1, at_capacity: false, queued_depth: 3 })
    expect((await claim('cy')).claims).toMatchObject([{ task: { id: 'urgent' } }])
    expect((await server.get('/api/queue_status')).body).toMatchObject({ active_agents: 0, max_concurrent_agents: 10, queued_tasks: [] })
  })

  test('TQM-BUMP-001 to -003: bump_task_priority: next, beyond capacity, audited, bounded', async () => {
    const { name, q, claim, status } = await busy()
    const bump = (task_id: string, more: Body = {}) => server.post('/api/bump_task_priority', { task_id, reason: 'the customer waits', queue: name, ...more })
    expect((await bump('low')).body).toEqual({ task_id: 'low', agent_id: null, over_capacity: false, active_agents: 2, max_concurrent_agents: 2 })
    expect((await status()).queued_tasks).toEqual(['low', 'urgent', 'high'])
    expect((await server.get(`${q}/tasks/low`)).body).toMatchObject({ status: 'queued', priorityBoosted: true })
    expect((await server.get(`${q}/tasks/urgent`)).body).toMatchObject({ status: 'queued', queuePosition: 2 })
    expect((await claim('cy')).claims).toMatchObject([{ task: { id: 'low' } }])
    expect(await status()).toMatchObject({ active_agents: 3, at_capacity: true })
    expect(await bump('high')).toMatchObject({ status: 409, body: { code: 'capacity-exceeded' } })
    expect(await bump('low')).toMatchObject({ status: 409, body: { code: 'wrong-state' } })
    const { events } = (await server.get(`${q}/tasks/low/history`)).body
    expect(events[1]).toMatchObject({ type: 'TaskBumped', actor: expect.any(String), data: { reason: 'the customer waits', activeAgents: 2, maxConcurrentAgents: 2, isOverCapacity: true } })
    await server.call('PATCH', `${q}/settings`, { capacity: { bumpAndStart: false } })
    expect(await bump('high')).toMatchObject({ status: 409, body: { code: 'disabled' } })
    expect((await bump('high', { reason: '' })).status).toBe(400)
    expect((await bump('high', { queue: 'nowhere' })).status).toBe(404)
  })

  test('TQM-BUMP-002: an agent that waits gets the bumped task at once, and is named', async () => {
    const { name, q, claim } = await busy()
    const waiting = claim('cy', { wait: 20 })
    for (let waits = 0; waits < 1; ) waits = Number(/daybook_waiting_claims\{queue="c\d+"\} 1/.test((await server.get('/metrics')).text))
    expect((await server.post('/api/bump_task_priority?queue=' + name, { task_id: 'low', reason: 'now' })).body).toEqual({
      task_id: 'low', agent_id: 'cy', over_capacity: true, active_agents: 3, max_concurrent_agents: 2,
    })
    expect((await waiting).claims).toMatchObject([{ task: { id: 'low' } }])
    expect((await server.post(`${q}/tasks/low/bump`, { reason: 'again' })).status).toBe(409)
  })

  test('TQM-API: cancel_queued_task, terminate_agent', async () => {
    const { name, status } = await busy()
    expect(await server.post('/api/cancel_queued_task', { queue: name, task_id: 'high' })).toMatchObject({ status: 200, body: { task_id: 'high', status: 'CANCELLED', cancelled: ['high'] } })
    // A task that is named by its number is answered by its id, as by the other endpoints.
    const { number } = (await server.get(`/api/queues/${name}/tasks/urgent`)).body
    await server.post(`/api/queues/${name}/tasks`, { id: 'after', type: 't', dependencies: ['urgent'] })
    expect(await server.post('/api/cancel_queued_task', { queue: name, task_id: `#${number}` })).toMatchObject({ status: 200, body: { task_id: 'urgent', cancelled: ['urgent', 'after'] } })
    expect(await server.post('/api/terminate_agent', { queue: name, agent_id: 'ann', reason: 'it hangs' })).toMatchObject({ status: 202, body: { agent_id: 'ann', terminated: true, reassigned_tasks: ['a'] } })
    expect(await status()).toMatchObject({ active_agents: 1, queued_tasks: ['a', 'low'] })
    expect((await server.post('/api/terminate_agent', { queue: name, agent_id: 'nobody', reason: 'r' })).status).toBe(404)
    expect((await server.post('/api/cancel_queued_task', { queue: name })).status).toBe(400)
  })

  test('TQM-API: restart_task: a finished task and a dead letter, as new tasks with the same content; the old ones keep their history', async () => {
    const { name, q, ann, complete } = await busy()
    const given = { id: 'done', type: 'eng', priority: 7, payload: { n: [1] }, description: 'why', metadata: { m: 1 }, ticketId: 'T-1', tenant: 'acme', requires: { skills: ['go'] }, timeout: 77 }
    await complete('a', 'ann', ann)
    await server.post(`${q}/tasks`, given)
    expect(await server.post('/api/restart_task', { queue: name, task_id: 'done', reason: 'r' })).toMatchObject({ status: 409, body: { code: 'wrong-state' } })
    const [claim] = (await server.post(`${q}/claims`, { agentId: 'ann', types: ['eng'], skills: ['go'] })).body.claims
    await server.post(`${q}/tasks/done/complete`, { agentId: 'ann', token: claim.lease.token, result: report })
    const { status, body } = await server.post('/api/restart_task', { queue: name, task_id: 'done', reason: 'the report was lost' })
    expect({ status, body }).toEqual({ status: 200, body: { original_task_id: 'done', new_task_id: expect.any(String), queued: true } })
    const { id: _, ...fields } = given
    expect((await server.get(`${q}/tasks/${body.new_task_id}`)).body).toMatchObject({ ...fields, restartOf: 'done', restartReason: 'the report was lost', attempts: 0, status: 'pending' })
    expect((await server.get(`${q}/tasks/done`)).body).toMatchObject({ status: 'completed', result: report })
    const again = await server.post(`${q}/tasks/done/restart`, { reason: 'once more' })
    expect(again).toMatchObject({ status: 201, body: { restartOf: 'done', status: 'pending' } })
    expect(again.body.id).not.toBe(body.new_task_id)
    // A dead letter stays one.
    const [dead] = (await server.post(`${q}/claims`, { agentId: 'ann', types: ['t'] })).body.claims
    await server.post(`${q}/tasks/${dead.task.id}/fail`, { agentId: 'ann', token: dead.lease.token, error: 'no', retryable: false })
    expect((await server.post(`${q}/tasks/${dead.task.id}/restart`, { reason: 'r' })).status).toBe(201)
    expect((await server.get(`${q}/tasks/${dead.task.id}`)).body.status).toBe('dead-letter')
    expect((await server.post(`${q}/tasks/nobody/restart`, { reason: 'r' })).status).toBe(404)
  })

  test('a request to restart that is sent again restarts once; an imported task is restarted without its result', async () => {
    const q = `/api/queues/c${++count}`
    await server.post(`${q}/imports`, { tasks: [{ id: 'old', type: 't', payload: 1, status: 'completed', result: report }] })
    const headers = { 'daybook-request-id': '01890f3a-27b1-7c7d-8abc-000000000001' }
    const both = [await server.call('POST', `${q}/tasks/old/restart`, { reason: 'r' }, { headers }), await server.call('POST', `${q}/tasks/old/restart`, { reason: 'r' }, { headers })]
    expect(new Set(both.map(({ body }) => body.id)).size).toBe(1)
    expect((await server.get(`${q}/tasks`)).body.tasks).toHaveLength(2)
    expect((await server.get(`${q}/tasks/${both[0]?.body.id}`)).body).toMatchObject({ payload: 1, restartOf: 'old' })
  })

  test('POST …/bump says who works on it', async () => {
    const { q } = await busy()
    expect((await server.post(`${q}/tasks/low/bump`, { reason: 'now' })).body).toEqual({ id: 'low', status: 'queued', agentId: null, overCapacity: false, activeAgents: 2, maxConcurrentAgents: 2 })
  })
})
