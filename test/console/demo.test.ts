/** CON-3: the demo that the console makes through the API has what every page is to show. */
import { makeDemo, type Send } from '@daybook/console/internal'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../http/support.js'

let server: TestServer
const paths: Array<string> = []
const send: Send = async (method, path, body) => {
  paths.push(path)
  const { status, body: answer, text } = await server.call(method, path, body)
  if (status >= 400) throw new Error(`${method} ${path}: ${text}`)
  return answer as unknown
}

beforeAll(async () => {
  server = await startTestServer()
  await makeDemo({ send, now: Date.now() })
})
afterAll(() => server.stop())

test('CON-3: tasks in every status that needs somebody, two kinds of dead letters, an open breaker, agents at work', async () => {
  const q = '/api/queues/demo'
  const { byStatus } = (await server.get(q)).body
  for (const status of ['pending', 'in-progress', 'blocked', 'scheduled', 'waiting', 'dead-letter', 'completed']) expect(byStatus[status], status).toBeGreaterThan(0)
  expect((await server.get(`${q}/dead-letters/patterns`)).body.patterns).toHaveLength(2)
  expect((await server.get(`${q}/breakers`)).body.breakers['mail-receipt']).toMatchObject({ state: 'open', failures: 5 })
  const { agents } = (await server.get(`${q}/agents`)).body
  expect(agents.map(({ agentId }: { agentId: string }) => agentId).sort()).toEqual(['ada', 'grace', 'linus', 'postman'])
  expect(agents.filter(({ status }: { status: string }) => status === 'working').length).toBeGreaterThan(1)
})

test('CON-3: it touches no other queue, and can be made once more', async () => {
  expect(paths.every((path) => path.startsWith('/api/queues/demo/'))).toBe(true)
  const before = (await server.get('/api/queues/demo')).body.total
  await makeDemo({ send, now: Date.now() + 1 })
  expect((await server.get('/api/queues/demo')).body.total).toBe(before * 2)
  expect((await server.get('/api/queues')).body.queues.map(({ name }: { name: string }) => name)).toEqual(['demo'])
})
