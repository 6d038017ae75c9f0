/** Answers whose parts grow with the number of types, agents and failures have a largest size, and say how much is left out. */
import { createClient } from '@daybook/adapters/client'
import { expect, onTestFinished, test } from 'vitest'
import { adminToken, type Body, startTestServer, type TestServer } from './support.js'

const q = '/api/queues/q'
const start = async (): Promise<TestServer> => {
  const server = await startTestServer({ limits: { pageMax: 2 } })
  onTestFinished(() => server.stop())
  await server.call('PATCH', `${q}/settings`, { capacity: { maxConcurrentAgents: 1_000 }, breakers: { defaults: { failureThreshold: 3 } } })
  return server
}

/** So many dead letters of a type. */
const fail = async ({ post }: TestServer, type: string, count: number, agentId = 'w'): Promise<void> => {
  for (let i = 0; i < count; i++) expect((await post(`${q}/tasks`, { id: `${type}${i}`, type, payload: i, maxRetries: 0 })).status).toBe(201)
  for (let i = 0; i < count; i++) {
    const { body } = await post(`${q}/claims`, { agentId, types: [type] })
    const [{ task, lease }] = body.claims
    expect((await post(`${q}/tasks/${task.id}/fail`, { agentId, token: lease.token, error: `${type} broke`, retryable: false })).status).toBe(200)
  }
}
const typesOf = (patterns: ReadonlyArray<Body>): ReadonlyArray<string> => patterns.map(({ type }) => type)

test('LK-11: failure patterns come page by page, the most frequent first; the client has them all', async () => {
  const server = await start()
  for (const [type, count] of [['a', 1], ['b', 3], ['c', 2], ['d', 1], ['e', 1]] as const) await fail(server, type, count)
  const page = async (query: string): Promise<Body> => (await server.get(`${q}/dead-letters/patterns${query}`)).body
  const first = await page('')
  expect([typesOf(first.patterns), first.total]).toEqual([['b', 'c'], 5])
  const second = await page(`?cursor=${first.nextCursor}`)
  const third = await page(`?cursor=${second.nextCursor}&limit=1`)
  expect(second.patterns.length + third.patterns.length).toBe(3)
  expect([...typesOf(second.patterns), ...typesOf(third.patterns)].sort()).toEqual(['a', 'd', 'e'])
  expect(third.nextCursor).toBeNull()
  expect(await page('?cursor=9')).toMatchObject({ patterns: [], total: 5, nextCursor: null })
  expect(await page('?type=c')).toMatchObject({ patterns: [{ type: 'c', count: 2 }], total: 1, nextCursor: null })
  expect((await server.get(`${q}/dead-letters/patterns?limit=3`)).status).toBe(400)

  const client = createClient({ url: server.http.url, token: adminToken, queue: 'q' })
  onTestFinished(() => client.close())
  expect(typesOf(await client.deadLetters.patterns())).toEqual([...typesOf(first.patterns), ...typesOf(second.patterns), ...typesOf(third.patterns)])
  expect(typesOf(await client.deadLetters.patterns({ limit: 3 }))).toEqual([...typesOf(first.patterns), ...typesOf(second.patterns.slice(0, 1))])
  expect(typesOf(await client.at({ revision: await revisionOf(server) }).deadLetters.patterns({ limit: 1 }))).toEqual(['b'])
})

const revisionOf = async ({ get }: TestServer): Promise<number> => (await get(`${q}/depth`)).revision as number

test('EV-06: a state shows some breakers, first those that are not closed, and some agents, and says how many there are', async () => {
  const server = await start()
  for (const [type, count] of [['a', 1], ['b', 1], ['c', 3]] as const) await fail(server, type, count)
  for (const agentId of ['x', 'y', 'z']) await server.post(`${q}/agents`, { agentId })
  const { body } = await server.get(`${q}/state`)
  expect([Object.keys(body.breakers), body.breakers.c.state, body.breakersTotal]).toEqual([['c', 'a'], 'open', 3])
  expect([body.agents.map(({ agentId }: Body) => agentId), body.agentsTotal]).toEqual([['x', 'y'], 3])
  expect(Object.keys((await server.get(`${q}/breakers`)).body.breakers)).toHaveLength(3)
})

test('EV-06: a difference shows some breakers with their last events, and says how many there are', async () => {
  const server = await startTestServer({ limits: { pageMax: 2 } })
  onTestFinished(() => server.stop())
  await server.call('PATCH', `${q}/settings`, { breakers: { defaults: { failureThreshold: 1_000 } } })
  await fail(server, 'a', 103)
  await fail(server, 'b', 1)
  await fail(server, 'c', 1)
  const { body } = await server.get(`${q}/diff`)
  expect([body.breakers.map(({ type, eventsTotal }: Body) => [type, eventsTotal]), body.breakersTotal]).toEqual([[['a', 103], ['b', 1]], 3])
  const [{ events }] = body.breakers
  expect(events).toHaveLength(100)
  // The last event about `a` is that of its last failure.
  const last = (await server.get(`${q}/tasks/a102/history`)).body.events.at(-1)
  expect(events.at(-1)).toMatchObject({ revision: last.revision, type: last.type })
})
