/** Queries about a past moment (EV-06, EV-10): any GET about a queue, with `revision` or `at`. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@daybook/adapters/serve'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Body, report, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0
const freshQueue = (): string => `/api/queues/past${++count}`

/** Waits until the queue's clock is at a later millisecond than the last event. */
const aMoment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 3))

test('EV-06: every GET about a queue takes revision and at, but for what is kept elsewhere, and what has two moments', async () => {
  const { paths } = (await server.get('/api/openapi.json')).body
  const without = Object.entries<Body>(paths)
    .filter(([path, { get }]) => get !== undefined && (path.includes('{queue}') || get.parameters.some(({ name }: Body) => name === 'queue')))
    .filter(([, { get }]) => !['revision', 'at', 'atLeast'].every((wanted) => get.parameters.some(({ name }: Body) => name === wanted)))
    .map(([path]) => path)
  expect(without).toEqual(['/api/queues/{queue}/memories', '/api/queues/{queue}/read-models', '/api/queues/{queue}/verify', '/api/queues/{queue}/reports/{report}', '/api/queues/{queue}/diff', '/api/ws'])
})

describe('which moment', () => {
  test('both at once, a time that is not past, and a revision that is none are refused', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { id: 'a', type: 't' })
    expect(await server.get(`${q}/depth?revision=0&at=2026-01-01T00:00:00Z`)).toMatchObject({ status: 400, body: { code: 'invalid', errors: [{ path: 'query.at' }] } })
    expect(await server.get(`${q}/depth?at=2999-01-01T00:00:00Z`)).toMatchObject({ status: 400, body: { errors: [{ path: 'query.at' }] } })
    expect(await server.get(`${q}/depth?at=yesterday`)).toMatchObject({ status: 400, body: { errors: [{ path: 'query.at' }] } })
    expect(await server.get(`${q}/depth?revision=1`)).toMatchObject({ status: 404, body: { code: 'not-found', detail: expect.stringContaining('its last is 0') }, revision: 0 })
    expect(await server.get(`${q}/depth?revision=-1`)).toMatchObject({ status: 400, body: { errors: [{ path: 'query.revision' }] } })
    expect(await server.get('/api/queues/never/depth?revision=0')).toMatchObject({ status: 404, body: { detail: expect.stringContaining('it has no events') } })
  })

  test('a time means the last event at or before it; before the first event the queue is as one that was never used', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { id: 'a', type: 't' })
    await aMoment()
    await server.post(`${q}/tasks`, { id: 'b', type: 't', payload: 2 })
    await aMoment()
    await server.post(`${q}/tasks`, { id: 'c', type: 't', payload: 3 })
    await aMoment()
    const times: ReadonlyArray<string> = (await server.get(`${q}/events`)).body.events.map(({ at }: Body) => at)
    expect(times).toHaveLength(3)
    for (const [revision, at] of times.entries()) {
      expect(await server.get(`${q}/depth?at=${at}`)).toMatchObject({ revision, body: { total: revision + 1 } })
      const before = new Date(Date.parse(at) - 1).toISOString()
      expect(await server.get(`${q}/depth?at=${before}`)).toMatchObject({ status: 200, revision: revision - 1, body: { total: revision } })
    }
    const before = new Date(Date.parse(times[0] as string) - 1).toISOString()
    expect(await server.get(`${q}/tasks/a?at=${before}`)).toMatchObject({ status: 404, revision: -1, body: { detail: expect.stringContaining('a queue is created by') } })
    expect(await server.get(`${q}/tasks/b?revision=0`)).toMatchObject({ status: 404, revision: 0 })
  })

  test('ages are those of then', async () => {
    const q = freshQueue()
    await server.post(`${q}/tasks`, { id: 'a', type: 't' })
    await aMoment()
    const [{ at }] = (await server.get(`${q}/events`)).body.events
    await aMoment()
    const later = new Date(Date.parse(at) + 2).toISOString()
    expect((await server.get(`${q}/depth?revision=0`)).body.oldestWaitSeconds).toBe(0)
    expect((await server.get(`${q}/depth?at=${later}`)).body.oldestWaitSeconds).toBe(0.002)
    expect((await server.get(`${q}/state?at=${later}`)).body).toMatchObject({ at: later, counts: { oldestWaitSeconds: 0.002 } })
  })
})

test('EV-06: state shows the whole queue at one moment', async () => {
  const q = freshQueue()
  await server.call('PATCH', `${q}/settings`, { breakers: { defaults: { failureThreshold: 1 } } })
  await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 'mail', payload: { to: 'ann' }, maxRetries: 1 }, { id: 'b', type: 'report' }] })
  const { claims: [claim] } = (await server.post(`${q}/claims`, { agentId: 'w', types: ['mail'] })).body
  const then = (await server.get(`${q}/state`)).body
  expect(then).toMatchObject({
    paused: null, breakers: {}, counts: { total: 2, byStatus: { pending: 1, 'in-progress': 1 } },
    agents: [{ agentId: 'w', status: 'working', tasks: ['a'] }], tasks: [{ id: 'b' }, { id: 'a', payload: { to: 'ann' } }], nextCursor: null,
  })
  await server.post(`${q}/tasks/a/fail`, { agentId: 'w', token: claim.lease.token, error: 'no such mailbox' })
  await server.post(`${q}/pause`, { reason: 'what is this?' })
  expect((await server.get(`${q}/state?status=dead-letter`)).body).toMatchObject({ paused: 'what is this?', breakers: { mail: { state: 'open' } }, agents: [], tasks: [{ id: 'a', lastError: 'no such mailbox' }] })
  expect((await server.get(`${q}/state?revision=${then.revision}`)).body).toEqual({ ...then, at: expect.any(String), counts: { ...then.counts, oldestWaitSeconds: expect.any(Number) } })
  expect((await server.get(`${q}/state?revision=${then.revision}&status=pending`)).body.tasks).toMatchObject([{ id: 'b' }])
})

test('EV-10: explain says why a task was not running then', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { tasks: [{ id: 'a', type: 't' }, { id: 'b', type: 't', payload: 2, dependencies: ['a'] }] })
  const then = await server.get(`${q}/tasks/b/explain`)
  expect(then.body).toMatchObject({ status: 'blocked', runnable: false, reasons: [{ code: 'blocked' }] })
  const { claims: [claim] } = (await server.post(`${q}/claims`, { agentId: 'w' })).body
  await server.post(`${q}/tasks/a/complete`, { agentId: 'w', token: claim.lease.token, result: report })
  expect((await server.get(`${q}/tasks/b/explain`)).body).toMatchObject({ status: 'pending', runnable: true, position: 1 })
  const now = await server.get(`${q}/tasks/b/explain?revision=${then.revision}`)
  expect(now.body.reasons).toEqual(then.body.reasons)
  expect(now.revision).toBe(then.revision)
})

test('a result is not waited for in the past', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { id: 'a', type: 't' })
  expect((await server.get(`${q}/tasks/a/result?revision=0&wait=60`)).body).toEqual({ status: 'pending' })
})

test('a queue that was deleted is asked for what it was', async () => {
  const q = freshQueue()
  await server.post(`${q}/tasks`, { id: 'a', type: 't' })
  await server.post(`${q}/tasks/a/cancel`, { reason: 'not needed' })
  const { revision } = await server.call('DELETE', `${q}?reason=unused`)
  expect((await server.get(`${q}/tasks/a`)).status).toBe(404)
  expect((await server.get(`${q}/tasks/a?revision=0`)).body).toMatchObject({ id: 'a', status: 'pending' })
  expect(await server.get(`${q}/tasks/a?revision=${revision}`)).toMatchObject({ status: 404, body: { detail: expect.stringContaining('was deleted (unused)') } })
})

describe('over a store on disk, on a thread of its own', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-past-'))
  const start = () => serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off' })
  const q = '/api/queues/q'
  /** Queries whose answer does not depend on the clock, so that they can be compared by revision. */
  const questions = ['/tasks', '/tasks/t1', '/tasks/t1/history', '/tasks/t2/result', '/dead-letters', '/dead-letters/patterns', '/breakers', '/agents', '/settings', '/events?from=2', '/limits', '/alerts', '/schedules', '/approvals', '']

  const taken = new Map<string, string>()
  const take = async (url: string): Promise<void> => {
    for (const question of questions) {
      const answer = await fetch(`${url}${q}${question}`)
      const revision = Number(answer.headers.get('x-daybook-revision'))
      taken.set(`${question}${question.includes('?') ? '&' : '?'}revision=${revision}`, await answer.text())
    }
    await aMoment()
    const state = await (await fetch(`${url}${q}/state`)).text()
    const { at } = JSON.parse(state) as { readonly at: string }
    taken.set(`/state?at=${at}`, state)
    await aMoment()
  }
  const compare = async (url: string): Promise<void> => {
    for (const [question, then] of taken) {
      const answer = await fetch(`${url}${q}${question}`)
      const text = await answer.text()
      const same = (body: string): unknown => ({ ...(JSON.parse(body) as object), correlationId: undefined })
      if (answer.status === 404) expect([question, same(text)]).toEqual([question, same(then)])
      else expect([question, text]).toEqual([question, then])
    }
  }
  const post = async (url: string, path: string, body: unknown): Promise<Body> =>
    (await fetch(`${url}${q}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json()

  test('EV-06, INV-26: answers taken down during a run are given again, byte for byte, over restarts', async () => {
    for (let run = 0; run < 4; run++) {
      const { url, close } = await start()
      try {
        if (run > 0) await compare(url)
        await post(url, '/tasks', { tasks: [{ id: `t${run}`, type: 'mail', payload: { run }, maxRetries: 1 }, { id: `u${run}`, type: 'report', payload: run, dependencies: [`t${run}`] }] })
        await take(url)
        const { claims: [claim] } = await post(url, '/claims', { agentId: `w${run}` })
        await take(url)
        const settled = { agentId: `w${run}`, token: claim.lease.token }
        if (run % 2 === 0) await post(url, `/tasks/${claim.task.id}/fail`, { ...settled, error: `error ${run}` })
        else await post(url, `/tasks/${claim.task.id}/complete`, { ...settled, result: report })
        await take(url)
        await compare(url)
      } finally {
        await close()
      }
    }
    expect(taken.size).toBeGreaterThan(100)
  })

  test('a stream of lines ends at the revision', async () => {
    const { url, close } = await start()
    try {
      for (const revision of [0, 3]) {
        const lines = await (await fetch(`${url}${q}/events?revision=${revision}`, { headers: { accept: 'application/x-ndjson' } })).text()
        expect(lines.trim().split('\n').map((line) => (JSON.parse(line) as Body).revision)).toEqual(Array.from({ length: revision + 1 }, (_, i) => i))
      }
    } finally {
      await close()
    }
  })
})
