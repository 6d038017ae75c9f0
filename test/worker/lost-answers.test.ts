/** A worker over HTTP whose answers get lost: an outcome that was accepted must not be refused when it is sent again, and a lease must not end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { createWorker, httpSource, type TaskWorker, type WorkerEvent } from '@daybook/adapters/worker'
import { until } from './memory-source.js'
import { type RealQueue, startRealQueue } from './real-queue.js'

let queue: RealQueue
let proxy: Server
let client: DaybookClient
let worker: TaskWorker
/** Whether the answer to this request is lost. */
let isLost: (url: string, body: string) => boolean
/** Whether this request hangs: it is neither passed on nor answered. */
let hangs: (url: string, body: string) => boolean

beforeEach(async () => {
  queue = await startRealQueue()
  isLost = () => false
  hangs = () => false
  proxy = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  client = createClient({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, token: queue.token })
})
afterEach(async () => {
  await worker.stop({ graceMs: 0 })
  await client.close()
  proxy.closeAllConnections()
  proxy.close()
  await queue.stop()
})

const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { url = '', method = 'GET', headers } = request
  const body = Buffer.concat(chunks).toString()
  if (hangs(url, body)) return
  const { host: _, 'content-length': __, connection: ___, 'transfer-encoding': ____, ...rest } = headers
  const answer = await fetch(`${queue.url}${url}`, { method, headers: rest as Record<string, string>, ...(body === '' ? {} : { body }) }).catch(() => undefined)
  const text = await answer?.text()
  if (answer === undefined || isLost(url, body)) return void response.destroy()
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text)
}

test('LK-07 outcomes of all kinds, of which each first answer is lost, are accepted once and not refused', async () => {
  const events: Array<WorkerEvent> = []
  const seen = new Set<string>()
  isLost = (url, body) => url.endsWith('/outcomes') && !seen.has(body) && (seen.add(body), true)
  await queue.client.enqueueAll(Array.from({ length: 30 }, (_, n) => ({ id: `t${n}`, type: 'x', payload: n, maxRetries: 1 })))
  worker = createWorker({
    source: httpSource(client),
    concurrency: 30,
    prefetchMax: 0,
    onEvent: (event) => events.push(event),
    handler: ({ number }, { release }) => {
      if (number % 3 === 0) throw new Error('no')
      return number % 3 === 1 ? release('not mine') : undefined
    },
  })
  worker.start()
  await until(() => worker.stats().unsettled === 0 && worker.stats().claimed === 30 && worker.stats().running === 0, 'all is handed in')
  expect(worker.stats()).toMatchObject({ completed: 10, failed: 10, released: 10, lost: 0 })
  expect(events.filter(({ type }) => type === 'outcome-refused' || type === 'outcome-given-up')).toEqual([])
  expect(seen.size).toBeGreaterThan(0)
  const types = (await Promise.all(['t0', 't1', 't2'].map((id) => queue.client.history(id)))).map((history) => history.map(({ type }) => type).filter((type) => type !== 'TaskEnqueued' && type !== 'Claimed'))
  expect(types).toEqual([['Released'], ['Completed'], ['Failed', 'DeadLettered']])
})

test('GB-07 a heartbeat on a connection that hangs is sent again before the lease ends', async () => {
  let hanging = 0
  hangs = (url, body) => url.endsWith('/outcomes') && body.includes('"heartbeat"') && hanging++ === 0
  await queue.client.enqueue({ id: 't', type: 'x' })
  worker = createWorker({
    source: httpSource(client),
    leaseSeconds: 6,
    handler: async (_, { lease, signal }) => {
      const { expiresAt } = lease
      await until(() => signal.aborted || Date.now() > expiresAt.getTime() + 500, 'the first lease would have ended')
    },
  })
  worker.start()
  await until(() => worker.stats().completed + worker.stats().lost === 1, 'the task is over')
  expect(worker.stats()).toMatchObject({ completed: 1, lost: 0 })
  expect(hanging).toBeGreaterThan(1)
})
