/** `explain` over HTTP: for anyone, and for a certain claim. */
import { createClient } from '@daybook/adapters/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminToken, type Body, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const freshQueue = (): string => `/api/queues/q${++count}`
const codes = ({ reasons }: Body): ReadonlyArray<string> => reasons.map(({ code }: Body) => code)

test('EV-10: every reason with what would change it, and when it ends by itself', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 'eng' }, { id: 'b', type: 'eng', payload: 2, dependencies: ['a'], availableAt: '2030-01-01T00:00:00.000Z', requires: { skills: ['sql'] } }] })
  await server.post(`${q}/pause`, { reason: 'lunch' })
  const { status, body, revision } = await server.get(`${q}/tasks/b/explain`)
  expect([status, revision]).toEqual([200, 2])
  expect(body).toMatchObject({ status: 'blocked', runnable: false, position: null, score: expect.any(Number), scoreParts: { priority: { value: 0.5, weight: 0.45, points: 0.225 }, boost: 1, isStarved: false, floor: null } })
  expect(body.reasons).toEqual([
    { code: 'blocked', message: 'it waits for a (pending)', change: 'the completion of a', blockedBy: [{ id: 'a', status: 'pending' }] },
    { code: 'scheduled', message: 'its time has not come', change: 'time, or amend the task with an earlier availableAt', until: '2030-01-01T00:00:00.000Z' },
    { code: 'queue-paused', message: 'the queue is paused: lunch', change: 'resume the queue' },
    { code: 'skills-required', message: 'only an agent with these skills may take it: sql', change: 'claim with the skill sql' },
  ])
  expect((await server.get(`${q}/tasks/b`)).body.reasons).toEqual(body.reasons)
  expect(await server.get(`${q}/tasks/nobody/explain`)).toMatchObject({ status: 404, body: { code: 'not-found' } })
  expect(await server.get(`${freshQueue()}/tasks/a/explain`)).toMatchObject({ status: 404 })
})

test('EV-10: what would change it names the request: that of each limit, or the callback', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { tasks: [1, 2].map((n) => ({ id: `t${n}`, type: 'mail', payload: n, concurrencyKey: 'a/b' })) })
  for (const key of ['a%2Fb', 'type%3Amail']) await server.call('PUT', `${q}/limits/${key}`, { concurrency: 1 })
  const { lease } = (await server.post(`${q}/claims`, { agentId: 'ann' })).body.claims[0]
  const changes = async (id: string): Promise<ReadonlyArray<string>> => (await server.get(`${q}/tasks/${id}/explain`)).body.reasons.map(({ change }: Body) => change)
  expect(await changes('t2')).toEqual(['the end of a lease of each, or higher limits: PUT …/limits/a%2Fb and PUT …/limits/type%3Amail'])
  await server.post(`${q}/tasks/t1/park`, { agentId: 'ann', token: lease.token, callbackKey: 'is it/ok', timeoutSeconds: 60 })
  expect(await changes('t1')).toEqual(['the callback: POST …/callbacks/is%20it%2Fok'])
  await server.call('DELETE', `${q}/limits/a%2Fb`)
  await server.call('PUT', `${q}/limits/type%3Amail`, { rate: { starts: 1, perSeconds: 3_600 } })
  await server.post(`${q}/tasks`, { tasks: [{ id: 't3', type: 'mail', payload: 3 }] })
  await server.post(`${q}/claims`, { agentId: 'ann' })
  expect(await changes('t3')).toEqual(['time, or a higher rate: PUT …/limits/type%3Amail'])
})

test('EV-10: for a claim: each parameter is judged as in that claim', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { tasks: [{ id: 'first', type: 'ops', priority: 9 }, { id: 'a', type: 'eng-api', phase: 'TESTING', tenant: 'acme', requires: { skills: ['go', 'sql'] } }] })
  const explained = async (query: string): Promise<Body> => (await server.get(`${q}/tasks/%232/explain${query}`)).body
  expect(await explained('')).toMatchObject({ runnable: true, position: 2 })
  const exact = 'agentId=ann&types=ops-*,eng-*&phases=TESTING&skills=go,sql&tenant=acme'
  expect(await explained(`?${exact}`)).toMatchObject({ runnable: true, position: 1, reasons: [{ code: 'ready' }] })
  for (const [changed, code] of [
    ['types=ops-*,eng-*|types=ops-*', 'type-not-claimed'],
    ['phases=TESTING|phases=ANALYSIS', 'phase-not-claimed'],
    ['tenant=acme|tenant=zen', 'tenant-not-claimed'],
    ['skills=go,sql|skills=go', 'skills-required'],
    ['skills=go,sql|skills=', 'skills-required'],
  ] as const) {
    const [from = '', to = ''] = changed.split('|')
    const body = await explained(`?${exact.replace(from, to)}`)
    expect([code, codes(body), body.runnable, body.position]).toEqual([code, [code], false, null])
  }
  const { lease } = (await server.post(`${q}/claims`, { agentId: 'ann', types: ['eng-*'], skills: ['go', 'sql'] })).body.claims[0]
  expect(codes(await explained(''))).toEqual(['held'])
  await server.post(`${q}/tasks/a/release`, { agentId: 'ann', token: lease.token, reason: 'r' })
  expect(codes(await explained(`?${exact}`))).toEqual(['agents-barred'])
  expect(await server.get(`${q}/tasks/a/explain?phases=LUNCH&skill=go`)).toMatchObject({ status: 400, body: { code: 'invalid' } })
})

test('EV-10: the client asks for both', async () => {
  const client = createClient({ url: server.http.url, token: adminToken, queue: `q${++count}` })
  await client.enqueue({ id: 'a', type: 'eng', requires: { skills: ['sql'] } })
  expect(await client.explain('a')).toMatchObject({ runnable: true, position: 1, reasons: [{ code: 'ready' }, { code: 'skills-required' }] })
  expect(await client.explain('a', { agentId: 'ann', types: ['eng', 'ops'], skills: [] })).toMatchObject({ runnable: false, reasons: [{ code: 'skills-required', change: 'claim with the skill sql' }] })
  await client.close()
})
