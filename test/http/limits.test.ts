/** Limits and ordering keys over the real server, by the client and on the command line. */
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { adminToken, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const result = { decisionReport: 'done' }
const clientOf = (queue: string): DaybookClient => createClient({ url: server.http.url, token: adminToken, queue })
const claim = (client: DaybookClient, max: number, wait = 0) => client.claim({ agentId: 'ann', max, wait })
const finish = (client: DaybookClient, { task, lease }: Awaited<ReturnType<typeof claim>>[number]) => client.complete(task.id, { agentId: 'ann', token: lease.token, result })

test('INV-23: a limit is set, shown, listed, replaced and removed', async () => {
  const q = '/api/queues/routes'
  expect(await server.call('PUT', `${q}/limits/type%3Asend`, { concurrency: 2, rate: { starts: 5, perSeconds: 60 } })).toMatchObject({
    status: 200, body: { key: 'type:send', concurrency: 2, rate: { starts: 5, perSeconds: 60 }, live: 0 },
  })
  expect(await server.call('PUT', `${q}/limits/tenant%3A*`, { concurrency: 1 })).toMatchObject({ status: 200, body: { key: 'tenant:*', concurrency: 1 } })
  expect((await server.get(`${q}/limits`)).body).toEqual({
    limits: [{ key: 'tenant:*', concurrency: 1 }, { key: 'type:send', concurrency: 2, rate: { starts: 5, perSeconds: 60 }, live: 0 }], revision: 1,
  })
  expect(await server.call('PUT', `${q}/limits/type%3Asend`, { concurrency: 3 })).toMatchObject({ status: 200, body: { key: 'type:send', concurrency: 3, live: 0 } })
  expect((await server.get(`${q}/limits/type%3Asend`)).body).toEqual({ key: 'type:send', concurrency: 3, live: 0 })
  expect(await server.call('DELETE', `${q}/limits/type%3Asend`)).toMatchObject({ status: 200, body: { key: 'type:send', removed: true } })
  for (const method of ['GET', 'DELETE'] as const) expect(await server.call(method, `${q}/limits/type%3Asend`)).toMatchObject({ status: 404, body: { detail: 'queue routes has no limit type:send' } })
})

test.each([
  ['db', {}, 'concurrency'],
  ['db', { concurrency: -1 }, 'concurrency'],
  ['db', { rate: { starts: 0, perSeconds: 1 } }, 'rate.starts'],
  ['db', { rate: { starts: 1 } }, 'rate.perSeconds'],
  ['db', { concurrency: 1, burst: 2 }, 'burst'],
  ['type:eng-*', { concurrency: 1 }, 'key'],
])('INV-23: a wrong limit says what is wrong: %s %j', async (key, body, path) => {
  const answer = await server.call('PUT', `/api/queues/wrong/limits/${encodeURIComponent(key)}`, body)
  expect([answer.status, answer.body.code, answer.body.errors[0].path]).toEqual([400, 'invalid', path])
})

test('INV-23: keys that look like other limits are refused', async () => {
  const answer = await server.post('/api/queues/wrong/tasks', { type: 'a', concurrencyKey: 'type:a' })
  expect([answer.status, answer.body.errors[0].path]).toEqual([400, 'concurrencyKey'])
})

test('INV-23: claims that wait get the next task when a lease ends, a limit is raised, and a rate admits it', async () => {
  const client = clientOf('waiting')
  await client.limits.set('db', { concurrency: 1 })
  await client.enqueueAll(Array.from({ length: 5 }, (_, i) => ({ id: `t${i + 1}`, type: 'work', payload: i, concurrencyKey: 'db' })))
  const [first] = await claim(client, 9)
  const second = claim(client, 9, 30)
  await finish(client, first!)
  expect((await second).map(({ task }) => task.id)).toEqual(['t2'])
  const third = claim(client, 9, 30)
  await client.limits.set('db', { concurrency: 2 })
  expect((await third).map(({ task }) => task.id)).toEqual(['t3'])
  expect(await client.limits.get('db')).toEqual({ key: 'db', concurrency: 2, live: 2 })
  await client.limits.set('db', { rate: { starts: 1, perSeconds: 0.5 } })
  const times: Array<number> = []
  for (const id of ['t4', 't5']) {
    const [claimed] = await claim(client, 9, 30)
    expect(claimed?.task.id).toBe(id)
    times.push(Date.parse(String((await client.task(id)).claimedAt)))
  }
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(500)
  await client.close()
})

test('INV-23: tasks of an ordering key come one after the other', async () => {
  const client = clientOf('lines')
  await client.enqueueAll([{ id: 'a', type: 'work', payload: 1, orderingKey: 'cart' }, { id: 'b', type: 'work', payload: 2, orderingKey: 'cart', priority: 10 }])
  const [first, ...rest] = await claim(client, 9)
  expect([first?.task.id, rest]).toEqual(['a', []])
  expect(await client.explain('b')).toMatchObject({ status: 'blocked', reasons: [{ code: 'ordering', blockedBy: [{ id: 'a', status: 'in-progress' }] }] })
  const next = claim(client, 9, 30)
  await finish(client, first!)
  expect((await next).map(({ task }) => [task.id, task.orderingKey])).toEqual([['b', 'cart']])
  await client.close()
})

test('INV-23: limits on the command line', async () => {
  const cli = (...args: ReadonlyArray<string>) => runHere([...args, '--url', server.http.url, '--token', adminToken, '--queue', 'cli'])
  expect(await cli('limits', 'list')).toMatchObject({ code: 0, out: 'no limits\n' })
  expect(await cli('limits', 'set', 'type:send-mail', '--concurrency', '5', '--rate', '100/m')).toMatchObject({ code: 0, out: 'type:send-mail: 5 at once, 100 in 60 s\n' })
  expect(await cli('limits', 'set', 'db', '--rate', '3/10s', '--json')).toMatchObject({ code: 0, out: '{"key":"db","rate":{"starts":3,"perSeconds":10},"live":0}\n' })
  const { out } = await cli('limits')
  expect(out).toMatch(/LIMIT +AT ONCE +LIVE +STARTS/)
  expect(out).toMatch(/type:send-mail +5 +0 +100 in 60 s/)
  expect(await cli('enqueue', 'send-mail', '--concurrency-key', 'smtp', '--concurrency-limit', '2', '--ordering-key', 'customer-7', '--id', 'm')).toMatchObject({ code: 0 })
  expect((await cli('show', 'm')).out).toMatch(/concurrency +smtp\n[^]*ordering +customer-7/)
  expect(JSON.parse((await cli('limits', 'list', '--json')).out)).toMatchObject({ limits: [{ key: 'db' }, { key: 'smtp', concurrency: 2 }, { key: 'type:send-mail' }] })
  expect(await cli('limits', 'remove', 'smtp')).toMatchObject({ code: 0, out: 'smtp: no limit\n' })
  expect((await cli('limits', 'set', 'db')).code).toBe(2)
  expect((await cli('limits', 'set', 'db', '--rate', 'fast')).err).toContain('100/m')
})
