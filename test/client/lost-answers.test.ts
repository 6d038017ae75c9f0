/** An enqueue whose answer is lost is sent again: nothing is enqueued twice, whatever `deduplicate` is, even if the server restarts. */
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, type DaybookClient, type NewTask } from '@daybook/adapters/client'
import { openMemoryStore } from '@daybook/adapters/memory'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminToken, startTestServer, type TestServer } from '../http/support.js'

const store = () => {
  const memory = openMemoryStore()
  // Not closed: the next server continues with it.
  return { ...memory, close: () => Promise.resolve() }
}

let server: TestServer
let proxy: Server
let client: DaybookClient
/** Runs before the answer that is lost. */
let meanwhile: () => Promise<void>
let lost: number

/** A proxy that loses the first answer to each enqueue. */
const losing = (): Server => {
  const seen = new Set<string>()
  return createServer((asked, response) => {
    const chunks: Array<Buffer> = []
    asked.on('data', (chunk: Buffer) => chunks.push(chunk))
    asked.on('end', () => {
      const body = Buffer.concat(chunks)
      const onward = request(`${server.http.url}${asked.url ?? ''}`, { method: asked.method, headers: asked.headers }, (answer: IncomingMessage) => {
        const parts: Array<Buffer> = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () => {
          const key = `${asked.url} ${body.toString()}`
          const isFirst = asked.url?.endsWith('/tasks') === true && !seen.has(key)
          seen.add(key)
          if (!isFirst) return void response.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(parts))
          lost++
          void meanwhile().then(() => response.destroy())
        })
      })
      onward.end(body)
    })
  })
}

beforeEach(async () => {
  server = await startTestServer({}, store())
  proxy = losing()
  lost = 0
  meanwhile = () => Promise.resolve()
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  client = createClient({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, token: adminToken })
})
afterEach(async () => {
  await client.close()
  await new Promise((resolve) => proxy.close(resolve))
  await server.stop()
})

const tasks = (count: number): ReadonlyArray<NewTask> => Array.from({ length: count }, (_, n) => ({ type: 'mail', payload: n % 2 }))
const ways: ReadonlyArray<readonly [string, (tasks: ReadonlyArray<NewTask>) => Promise<unknown>]> = [
  ['single calls', (all) => Promise.all(all.map((task) => client.enqueue(task)))],
  ['a call of its own', (all) => Promise.all(all.map((task, n) => client.enqueue({ ...task, payload: n }, { retryForMs: 20_000 })))],
  ['all or none', (all) => client.enqueueAll(all)],
  ['each for itself', (all) => client.enqueueAll(all, { atomic: false })],
]

test.each(ways)('deduplicate off, %s: a lost answer enqueues nothing twice', async (_, enqueue) => {
  await client.settings.patch({ deduplicate: 'off' })
  await enqueue(tasks(6))
  expect(lost).toBeGreaterThan(0)
  expect((await client.depth()).total).toBe(6)
})

test('deduplicate off: nor if the server restarts in between', async () => {
  await client.settings.patch({ deduplicate: 'off' })
  meanwhile = async () => {
    meanwhile = () => Promise.resolve()
    const { store: kept } = server
    await server.stop()
    server = await startTestServer({}, kept)
  }
  const answers = await Promise.all(tasks(3).map((task) => client.enqueue(task)))
  expect(answers.map(({ duplicateBy }) => duplicateBy)).toEqual(['id', 'id', 'id'])
  expect(lost).toBeGreaterThan(0)
  expect((await client.depth()).total).toBe(3)
})
