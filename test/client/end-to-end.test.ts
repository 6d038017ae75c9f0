import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { type RealQueue, startRealQueue } from '../worker/real-queue.js'

let queue: RealQueue
let client: DaybookClient
let serial = 0
const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)
/** A client on a new queue for each test. */
const fresh = async (): Promise<DaybookClient> => {
  const own = client.in(`q${serial++}`)
  await own.settings.patch({ decisionReport: 'optional', defaults: { backoffSeconds: 0, maxRetries: 0 } })
  return own
}

beforeAll(async () => {
  queue = await startRealQueue()
  client = queue.client
})
afterAll(() => queue.stop())

test('LK-05 each gathered enqueue has its own result: new, duplicate, refused', async () => {
  const own = await fresh()
  const calls = [...numbers(300), ...numbers(300)].map((n) => own.enqueue({ type: 'mail', payload: { n }, priority: n === 42 ? 11 : 5 }))
  const answers = await Promise.allSettled(calls)
  const ids = new Map<number, string>()
  answers.forEach((answer, i) => {
    const n = i % 300
    if (n === 42) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'invalid', errors: [{ path: expect.stringMatching(/^priority/) }] } })
    } else {
      expect(answer).toMatchObject({ status: 'fulfilled', value: { duplicate: i >= 300, status: 'pending' } })
      const { id, revision } = (answer as PromiseFulfilledResult<{ id: string; revision: number }>).value
      expect(revision).toBeGreaterThan(0)
      expect(ids.get(n) ?? id).toBe(id)
      ids.set(n, id)
    }
  })
  expect(new Set(ids.values()).size).toBe(299)
  expect((await own.depth()).byStatus.pending).toBe(299)
})

test('a task from end to end: enqueued, claimed, kept, completed, read back', async () => {
  const own = await fresh()
  const deadlineAt = new Date('2030-01-02T03:04:05.678Z')
  const { id, number } = await own.enqueue({ type: 'eng-api', payload: { goal: 'x' }, ticketId: 'T-1', phase: 'TESTING', deadlineAt, requires: { skills: ['ts'] } })
  expect(await own.claim({ agentId: 'a', types: ['ops-*'] })).toEqual([])
  const [claim] = await own.claim({ agentId: 'a', types: ['eng-*'], skills: ['ts'], max: 5, wait: 1 })
  expect(claim).toMatchObject({ task: { id, number, payload: { goal: 'x' }, deadlineAt: deadlineAt.toISOString() } })
  const { token } = claim!.lease
  const { lease } = await own.heartbeat(id, { agentId: 'a', token, progress: 0.5, checkpoint: { step: 1 } })
  expect(lease.token).toBe(token)
  expect(await own.complete(id, { agentId: 'a', token, result: { output: 'done' } })).toMatchObject({ status: 'completed' })
  await expect(own.complete(id, { agentId: 'a', token: token + 1, result: {} })).rejects.toMatchObject({ status: 409 })
  expect(await own.task(`#${number}`)).toMatchObject({ id, status: 'completed', claimedBy: 'a', result: { output: 'done' }, ticketId: 'T-1', requires: { skills: ['ts'] } })
  expect((await own.history(id)).map(({ type }) => type)).toEqual(['TaskEnqueued', 'Claimed', 'LeaseExtended', 'Completed'])
  expect((await own.tasks({ status: ['completed', 'pending'], ticketId: 'T-1', q: 'api', priority: '1-10' })).tasks.map((task) => task.id)).toEqual([id])
})

test('LK-07 concurrent claims get different tasks; a waiting one is served by an enqueue', async () => {
  const own = await fresh()
  await own.settings.patch({ capacity: { maxConcurrentAgents: 26 } })
  await own.enqueueAll(numbers(50).map((n) => ({ type: 'x', payload: n })))
  const claims = (await Promise.all(numbers(25).map((n) => own.claim({ agentId: `a${n}`, max: 2, wait: 30 })))).flat()
  expect(new Set(claims.map(({ task }) => task.id)).size).toBe(50)
  const waiting = own.claim({ agentId: 'late', wait: 30 })
  const { id } = await own.enqueue({ type: 'x', payload: 'late' })
  expect((await waiting).map(({ task }) => task.id)).toEqual([id])
})

test('an aborted claim takes nothing', async () => {
  const own = await fresh()
  const stop = new AbortController()
  const waiting = own.claim({ agentId: 'a', wait: 30 }, { signal: stop.signal })
  setTimeout(() => stop.abort(), 100)
  await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
  const { id } = await own.enqueue({ type: 'x' })
  expect((await own.claim({ agentId: 'b', wait: 30 })).map(({ task }) => task.id)).toEqual([id])
})

test('bulk: all or none, each on its own, and outcomes', async () => {
  const own = await fresh()
  const bad = [{ type: 'x', id: 'b', dependencies: ['a'] }, { type: 'x', id: 'a', payload: 1, dependencies: ['nowhere'] }]
  await expect(own.enqueueAll(bad)).rejects.toMatchObject({ code: 'unknown-dependency', status: 422 })
  const each = await own.enqueueAll([...numbers(2_400).map((n) => ({ type: 'y', payload: n })), bad[1]!], { atomic: false })
  expect(each.results.filter(({ ok }) => ok).length).toBe(2_400)
  expect(each.results.at(-1)).toMatchObject({ ok: false, error: { code: 'unknown-dependency' } })
  const claims = await own.claim({ agentId: 'a', max: 1_000 })
  expect(claims.length).toBe(1_000)
  const answers = await own.outcomes(claims.map(({ task, lease }, i) => ({ kind: 'complete', taskId: task.id, agentId: 'a', token: lease.token - (i === 7 ? 1 : 0), result: {} })))
  answers.forEach((answer, i) => expect(answer.ok).toBe(i !== 7))
  expect(answers[7]).toMatchObject({ error: { code: 'lease-lost' } })
  let listed = 0
  for await (const task of own.eachTask({ status: 'completed', limit: 400 })) listed += task.status === 'completed' ? 1 : 0
  expect(listed).toBe(999)
})

test('dead letters, breakers, agents, settings, pause: the operator’s commands', async () => {
  const own = await fresh()
  const review = { reviewer: 'me', reason: 'looked into' }
  const ids = (await own.enqueueAll(numbers(4).map((n) => ({ type: 'x', payload: n })))).results.map(({ id }) => id)
  const failAll = async (): Promise<void> => {
    for (const { task, lease } of await own.claim({ agentId: 'a', max: 10 })) {
      await own.fail(task.id, { agentId: 'a', token: lease.token, error: { message: 'no route', code: 'E' }, retryable: false })
    }
  }
  await failAll()
  expect((await own.deadLetters.list({ error: 'route' })).tasks.map((task) => task.id).sort()).toEqual([...ids].sort())
  expect(await own.deadLetters.patterns()).toMatchObject([{ type: 'x', count: 4, sample: 'no route' }])
  expect(await own.deadLetters.retry(ids[0]!, review)).toEqual({ retried: [ids[0]] })
  expect(await own.deadLetters.discard(ids[1]!, review)).toMatchObject({ discarded: [ids[1]] })
  expect((await own.deadLetters.retryAll({ type: 'x' }, review)).retried.length).toBe(2)
  await failAll()
  expect((await own.deadLetters.discardAll({ type: 'x' }, review)).discarded.length).toBe(3)

  await own.breakers.open('y', 'it burns')
  await own.enqueue({ type: 'y' })
  expect(await own.breakers.list()).toMatchObject({ y: { state: 'open', reason: 'it burns' } })
  expect(await own.claim({ agentId: 'a' })).toEqual([])
  await own.breakers.close('y', 'it is out')
  await own.pause('lunch')
  expect(await own.claim({ agentId: 'a', types: ['y'] })).toEqual([])
  await own.resume('back')
  const [held] = await own.claim({ agentId: 'a', types: ['y'] })
  expect(await own.agents.list()).toMatchObject([{ agentId: 'a', status: 'working', tasks: [held!.task.id] }])
  expect(await own.agents.register({ agentId: 'b', skills: ['go'], ttlSeconds: 60 })).toMatchObject({ agentId: 'b' })
  expect(await own.agents.list()).toMatchObject([{ agentId: 'a' }, { agentId: 'b', status: 'idle', skills: ['go'] }])
  await own.agents.register({ agentId: 'a', maxTasks: 1 })
  const reasons: Array<unknown> = []
  expect(await own.claim({ agentId: 'a', types: ['y'] }, { onNothing: (reason) => reasons.push(reason?.code) })).toEqual([])
  expect(reasons).toEqual([undefined])
  expect(await own.agents.terminate('a', 'it hangs')).toMatchObject({ terminated: true, reassignedTasks: [held!.task.id] })
  await expect(own.heartbeat(held!.task.id, { agentId: 'a', token: held!.lease.token })).rejects.toMatchObject({ code: 'lease-lost' })
  expect(await own.settings.patch({ retentionSeconds: 60 })).toMatchObject({ retentionSeconds: 60, decisionReport: 'optional' })
  expect((await own.settings.get()).retentionSeconds).toBe(60)
  await expect(own.settings.patch({ retention: 60 } as object)).rejects.toMatchObject({ code: 'invalid' })
  const { id } = await own.enqueue({ type: 'z' })
  const { id: dependent } = await own.enqueue({ type: 'z', payload: 2, dependencies: [id] })
  expect(new Set((await own.cancel(id, 'enough')).cancelled)).toEqual(new Set([id, dependent]))
})

test('imports, the log, the list of queues', async () => {
  const own = await fresh()
  const createdAt = new Date('2024-01-02T03:04:05.000Z')
  const { results } = await own.importTasks([
    { type: 'x', id: 'M1-001', status: 'completed', createdAt, completedAt: createdAt, result: { output: 1 } },
    { type: 'x', payload: 2, createdAt },
  ])
  expect(results.map(({ status }) => status)).toEqual(['completed', 'pending'])
  expect(await own.task('M1-001')).toMatchObject({ createdAt: createdAt.toISOString(), result: { output: 1 } })
  await own.enqueueAll(numbers(1_000).map((n) => ({ type: 'y', payload: n })))
  const page = await own.events({ from: 0, limit: 10 })
  expect(page.events.length).toBe(10)
  expect(page.next).toBe(10)
  let revision = 0
  for await (const event of own.eachEvent()) expect(event.revision).toBe(revision++)
  expect(revision).toBe(page.revision + 1)
  expect((await client.queues()).find(({ name }) => name === own.queue)).toMatchObject({ total: 1_002 })
  expect(await client.health()).toEqual({ status: 'ok' })
  expect((await client.ready()).status).toBe('ready')
})

test('a wrong token is refused, a queue that was never used is empty', async () => {
  const stranger = createClient({ url: queue.url, token: 'dbk_wrong', retryForMs: 0 })
  await expect(stranger.enqueue({ type: 'x' })).rejects.toMatchObject({ code: 'unauthorized', status: 401 })
  await stranger.close()
  const unused = client.in('nowhere')
  expect(await unused.depth()).toMatchObject({ total: 0, byStatus: { pending: 0 }, oldestPendingAt: null, revision: -1 })
  expect(await unused.tasks()).toEqual({ tasks: [], nextCursor: null, revision: -1 })
  expect(await unused.claim({ agentId: 'early' })).toEqual([])
  await expect(unused.task('x')).rejects.toMatchObject({ code: 'not-found', status: 404 })
})
