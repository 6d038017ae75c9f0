/** EV-06: the differences between two moments, and the events that caused them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countCalls } from '../support/count-calls.js'
import { type Body, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ limits: { scanEventsMax: 60 } })
})
afterAll(() => server.stop())

let count = 0
const freshQueue = (): string => `/api/queues/diff${++count}`
const typesOf = (events: ReadonlyArray<Body>): ReadonlyArray<string> => events.map(({ type }) => type)

const claim = async (q: string, agentId = 'w'): Promise<Body> => (await server.post(`${q}/claims`, { agentId })).body.claims[0]

test('EV-06: tasks that differ, with the members that do, and the events that did it', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 'mail', payload: 1 }, { id: 'b', type: 'mail', payload: 2 }] })
  const { lease } = await claim(q)
  await server.post(`${q}/tasks/a/complete`, { agentId: 'w', token: lease.token, result: report }, { headers: { 'x-correlation-id': 'run-7' } })
  await server.post(`${q}/tasks`, { id: 'c', type: 'mail', payload: 3 })
  const { body, revision } = await server.get(`${q}/diff?from=1&to=4`)
  expect(revision).toBe(4)
  expect(body).toMatchObject({ from: { revision: 1 }, to: { revision: 4 }, nextCursor: null, breakers: [], revision: 4 })
  expect(body.tasks.map(({ id }: Body) => id)).toEqual(['a', 'c'])
  const [a, c] = body.tasks
  expect(a).toMatchObject({ number: 1, type: 'mail', before: { status: 'pending', result: null }, after: { status: 'completed', result: { output: { done: true } } } })
  expect(a.before).not.toHaveProperty('payload')
  expect(a.events).toMatchObject([{ revision: 2, type: 'Claimed' }, { revision: 3, type: 'Completed', actor: expect.any(String), correlationId: 'run-7' }])
  expect(c).toMatchObject({ before: null, after: { id: 'c', status: 'pending', payload: 3 }, events: [{ revision: 4, type: 'TaskEnqueued' }] })
  expect((await server.get(`${q}/diff?from=4&to=4`)).body).toMatchObject({ tasks: [], breakers: [] })
})

test('EV-06: what ends as it began is not there, nor is what was not touched', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 't', payload: 1 }, { id: 'b', type: 't', payload: 2 }] })
  await server.call('PATCH', `${q}/tasks/a`, { priority: 9, reason: 'urgent' })
  await server.call('PATCH', `${q}/tasks/a`, { priority: 5, reason: 'not so urgent' })
  expect((await server.get(`${q}/diff?from=1&to=2`)).body.tasks).toMatchObject([{ id: 'a', before: { priority: 5 }, after: { priority: 9 } }])
  expect((await server.get(`${q}/diff?from=1&to=3`)).body.tasks).toEqual([])
})

test('EV-06: a dead letter does not differ because other tasks wait for it', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { id: 'a', type: 't', payload: 1 })
  const { lease } = await claim(q)
  await server.post(`${q}/tasks/a/fail`, { agentId: 'w', token: lease.token, error: 'boom', retryable: false })
  const { revision } = await server.get(`${q}/tasks/a`)
  await server.call('PATCH', `${q}/tasks/a`, { priority: 9, reason: 'urgent' })
  await server.post(`${q}/tasks`, { id: 'b', type: 't', payload: 2, dependencies: ['a'] })
  await server.call('PATCH', `${q}/tasks/a`, { priority: 5, reason: 'not so urgent' })
  expect((await server.get(`${q}/tasks/a`)).body.deadLetter).toMatchObject({ holdsUp: { dependents: 1, inLine: 0 } })
  expect((await server.get(`${q}/diff?from=${revision}`)).body.tasks.map(({ id }: Body) => id)).toEqual(['b'])
})

test('EV-06: a task that an event about another one made ready is named with that event', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 't', payload: 1 }, { id: 'b', type: 't', payload: 2, dependencies: ['a'] }, { id: 'c', type: 't', payload: 3, orderingKey: 'k' }, { id: 'd', type: 't', payload: 4, orderingKey: 'k' }] })
  const first = await claim(q)
  expect(first.task.id).toBe('a')
  const before = (await server.get(q)).body.revision
  await server.post(`${q}/tasks/a/complete`, { agentId: 'w', token: first.lease.token, result: report })
  expect((await server.get(`${q}/diff?from=${before}`)).body.tasks).toMatchObject([
    { id: 'a' },
    { id: 'b', before: { status: 'blocked' }, after: { status: 'pending' }, events: [{ type: 'Completed' }] },
  ])
  await server.post(`${q}/tasks/c/cancel`, { reason: 'not needed' })
  expect((await server.get(`${q}/diff?from=${before + 1}`)).body.tasks).toMatchObject([
    { id: 'c', after: { status: 'cancelled' } },
    { id: 'd', before: { status: 'blocked' }, after: { status: 'pending' }, events: [{ type: 'Cancelled' }] },
  ])
})

test('EV-06: breakers that differ, with the events that moved them', async () => {
  const q = freshQueue()
  await server.call('PATCH', `${q}/settings`, { breakers: { defaults: { failureThreshold: 2, countOn: 'attempt' } } })
  await server.post(`${q}/tasks`, { tasks: [1, 2].map((payload) => ({ id: `f${payload}`, type: 'mail', payload, maxRetries: 1 })) })
  const before = (await server.get(q)).body.revision
  for (const task of ['f1', 'f2']) {
    const { lease } = await claim(q)
    await server.post(`${q}/tasks/${task}/fail`, { agentId: 'w', token: lease.token, error: 'no' })
  }
  await server.post(`${q}/breakers/other/open`, { reason: 'down' })
  const { breakers } = (await server.get(`${q}/diff?from=${before}`)).body
  expect(breakers).toMatchObject([
    { type: 'mail', before: null, after: { state: 'open' } },
    { type: 'other', before: null, after: { state: 'open', reason: 'down' }, events: [{ type: 'BreakerOpened' }] },
  ])
  expect(typesOf(breakers[0].events)).toContain('BreakerOpened')
  expect(typesOf(breakers[0].events)).not.toContain('Claimed')
})

test('from and to are revisions or times; from the beginning to now if left out; not backwards, and not too far', async () => {
  const q = freshQueue()
  expect(await server.get(`${q}/diff`)).toMatchObject({ status: 200, body: { from: { revision: -1, at: null }, to: { revision: -1, at: null }, tasks: [], breakers: [] } })
  await server.post(`${q}/tasks`, { id: 'a', type: 't', payload: 1 })
  await new Promise((resolve) => setTimeout(resolve, 3))
  await server.post(`${q}/tasks`, { id: 'b', type: 't', payload: 2 })
  const [{ at }] = (await server.get(`${q}/events`)).body.events
  const ids = async (query: string): Promise<ReadonlyArray<string>> => (await server.get(`${q}/diff${query}`)).body.tasks.map(({ id }: Body) => id)
  expect(await ids('')).toEqual(['a', 'b'])
  expect(await ids(`?from=${at}`)).toEqual(['b'])
  expect(await ids(`?to=${at}`)).toEqual(['a'])
  expect(await server.get(`${q}/diff?from=1&to=0`)).toMatchObject({ status: 400, body: { errors: [{ path: 'query.to' }] }, revision: 1 })
  expect(await server.get(`${q}/diff?from=9`)).toMatchObject({ status: 404 })
  expect(await server.get(`${q}/diff?from=soon`)).toMatchObject({ status: 400, body: { errors: [{ path: 'query.from' }] } })
  await server.post(`${q}/tasks`, { tasks: Array.from({ length: 60 }, (_, i) => ({ type: 't', payload: `more ${i}` })) })
  expect(await server.get(`${q}/diff?from=0`)).toMatchObject({ status: 400, body: { errors: [{ path: 'query.to', message: expect.stringContaining('at most 60') }] } })
})

test('pages lead through all tasks that differ', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { tasks: Array.from({ length: 25 }, (_, i) => ({ id: `p${i}`, type: 't', payload: i })) })
  const seen: Array<string> = []
  for (let cursor = ''; ; ) {
    const { body } = await server.get(`${q}/diff?to=24&limit=10${cursor}`)
    expect(body.tasks.length).toBeLessThanOrEqual(10)
    seen.push(...body.tasks.map(({ id }: Body) => id))
    if (body.nextCursor === null) break
    cursor = `&cursor=${body.nextCursor}`
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `p${i}`))
})

/** Number of function calls of a comparison of the last 40 events with the state before. */
const callsOfDiff = async (q: string): Promise<number> => {
  const { revision } = (await server.get(q)).body
  const ask = async (): Promise<void> => expect((await server.get(`${q}/diff?from=${revision - 40}&limit=1`)).status).toBe(200) as void
  // The first one folds the log up to there, and the second one finds everything loaded. Something else may run at the same time, so the least of three
  // counts.
  await ask()
  await ask()
  return Math.min(await countCalls(ask), await countCalls(ask), await countCalls(ask))
}

test('EV-06: the cost of a comparison does not depend on how many breakers there are', async () => {
  const calls = async (breakers: number): Promise<number> => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { type: 't', payload: 'first' })
    for (let i = 0; i < breakers; i++) await server.post(`${q}/breakers/type-${i}/open`, { reason: 'down' })
    for (let i = 0; i < 40; i++) await server.post(`${q}/agents`, { agentId: `a${i}` })
    return callsOfDiff(q)
  }
  const [few, many] = [await calls(2), await calls(300)]
  expect(many / few).toBeLessThan(3)
})

test('EV-06: an event that ends no task costs the same, however many tasks wait for the task', async () => {
  // As many events in both queues, because a comparison folds some that come before its own.
  const calls = async (dependencies: ReadonlyArray<string>): Promise<number> => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { id: 'hub', type: 't', payload: 0 })
    for (let from = 0; from < 2_700; from += 900) {
      await server.post(`${q}/tasks`, { tasks: Array.from({ length: 900 }, (_, i) => ({ type: 't', payload: from + i + 1, dependencies })) })
    }
    for (let i = 0; i < 40; i++) await server.call('PATCH', `${q}/tasks/hub`, { priority: 1 + (i % 9), reason: 'again' })
    return callsOfDiff(q)
  }
  const [none, many] = [await calls([]), await calls(['hub'])]
  expect(many / none).toBeLessThan(2)
})
