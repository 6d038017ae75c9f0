/** A client that knows several servers of one store goes on with the next when one stops or fails. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, DaybookError } from '@daybook/client'
import { createWorker, httpSource, type WorkerEvent } from '@daybook/client/worker'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { inTime } from '../support/in-time.js'

const token = 'a-token-of-the-failover-tests'
const opened: Array<() => unknown> = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

/** A server that gives one answer to all, or cuts the connection. */
const server = async (answer: { readonly status: number; readonly body: object } | 'cut') => {
  const seen: Array<string> = []
  const http = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (answer === 'cut') return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  opened.push(() => new Promise((resolve) => (http.close(resolve), http.closeAllConnections())))
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen }
}
const nobody = async (): Promise<string> => {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  await new Promise((resolve) => http.close(resolve))
  return `http://127.0.0.1:${port}`
}
const clientOf = (...urls: ReadonlyArray<string>) => {
  const client = createClient({ urls, token, retryForMs: 0 })
  opened.push(() => client.close())
  return client
}
const refusal = (code: string, status = 503) => ({ status, body: { type: `urn:daybook:problem:${code}`, title: code, status, code, detail: code } })
const good = { status: 200, body: { depth: 1 } }

describe('a request goes to the next server', () => {
  test('if this one cannot be reached; later ones go there at once', async () => {
    const other = await server(good)
    const client = clientOf(await nobody(), other.url)
    expect(await client.depth()).toEqual(good.body)
    expect(await client.claim({ agentId: 'a' }).catch((error: unknown) => error)).not.toBeInstanceOf(DaybookError)
    expect(other.seen).toHaveLength(2)
  })

  test('if a stream gets no answer from this one', async () => {
    const [cut, other] = [await server('cut'), await server({ status: 200, body: { revision: 7 } })]
    const client = clientOf(await nobody(), cut.url, other.url)
    expect(await client.eachEvent().next()).toEqual({ done: false, value: { revision: 7 } })
    await expect(clientOf(await nobody(), cut.url).eachEvent().next()).rejects.toMatchObject({ code: 'unreachable' })
  })

  test.each(['unavailable', 'read-only', 'clock'])('if this one refuses it as %s, even one that may not be repeated', async (code) => {
    const [one, other] = [await server(refusal(code)), await server({ status: 200, body: { cancelled: ['a'] } })]
    expect(await clientOf(one.url, other.url).cancel('a', 'why')).toEqual({ cancelled: ['a'] })
    expect([one.seen.length, other.seen.length]).toEqual([1, 1])
  })

  test('if this one refuses a stream, as a stopping server does', async () => {
    const [one, other] = [await server(refusal('unavailable')), await server({ status: 200, body: { revision: 7 } })]
    expect(await clientOf(one.url, other.url).eachEvent().next()).toEqual({ done: false, value: { revision: 7 } })
    await expect(clientOf(one.url, one.url).eachEvent().next()).rejects.toMatchObject({ code: 'unavailable', detail: 'unavailable' })
    const full = await server(refusal('overloaded'))
    await expect(clientOf(full.url, other.url).eachEvent().next()).rejects.toMatchObject({ code: 'overloaded' })
  })

  test('in a circle, once each', async () => {
    const all = [await server(refusal('unavailable')), await server(refusal('unavailable'))]
    await expect(clientOf(...all.map(({ url }) => url)).depth()).rejects.toMatchObject({ code: 'unavailable' })
    expect(all.map(({ seen }) => seen.length)).toEqual([1, 1])
  })
})

describe('a request stays with its server', () => {
  test.each([['outcome-unknown', 503], ['conflict', 409], ['overloaded', 503]])('if the answer is %s', async (code, status) => {
    const [one, other] = [await server(refusal(code, status)), await server(good)]
    await expect(clientOf(one.url, other.url).cancel('a', 'why')).rejects.toMatchObject({ code })
    expect(other.seen).toEqual([])
  })

  test('if its answer is lost: it may have been done. The next request goes to the next server', async () => {
    const [one, other] = [await server('cut'), await server({ status: 200, body: { cancelled: [] } })]
    const client = clientOf(one.url, other.url)
    await expect(client.cancel('a', 'why')).rejects.toMatchObject({ code: 'unreachable' })
    expect(other.seen).toEqual([])
    expect(await client.cancel('b', 'why')).toEqual({ cancelled: [] })
  })
})

test('a stream that the caller gives up is no reason to leave a server', async () => {
  const first = createServer((request, response) => {
    if (!request.url!.includes('/events')) response.writeHead(200, { 'content-type': 'application/json' }).end('{"total":1}')
  })
  await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve))
  opened.push(() => new Promise((resolve) => (first.close(resolve), first.closeAllConnections())))
  const second = await server({ status: 200, body: { total: 2 } })
  const client = clientOf(`http://127.0.0.1:${(first.address() as AddressInfo).port}`, second.url)
  const leaving = new AbortController()
  const reading = client.eachEvent({}, { signal: leaving.signal }).next()
  await new Promise((resolve) => first.once('request', resolve))
  leaving.abort()
  await expect(inTime('the end of the stream', reading)).rejects.toMatchObject({ code: 'aborted' })
  expect(await client.depth()).toEqual({ total: 1 })
})

test('a watch ends at once when its signal aborts, also in the pause before it connects again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  opened.push(() => vi.useRealTimers())
  const client = clientOf(await nobody())
  const leaving = new AbortController()
  const next = client.watch({ signal: leaving.signal }).next()
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
  leaving.abort()
  expect(await inTime('the end of the watch', next)).toEqual({ done: true, value: undefined })
})

test('a watch connects again after a message that is no JSON, and after an answer that breaks off', async () => {
  const http = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  let connections = 0
  http.on('upgrade', (request, socket, head) => {
    connections++
    if (connections === 1) return void socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 100\r\n\r\n{"code":"unav')
    sockets.handleUpgrade(request, socket, head, (ws) => ws.send(connections === 2 ? '{"event": "cut of' : JSON.stringify({ event: 'task.enqueued', revision: 7, timestamp: '', payload: {} })))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  opened.push(() => new Promise((resolve) => (http.close(resolve), http.closeAllConnections(), sockets.clients.forEach((ws) => ws.terminate()))))
  const client = clientOf(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
  const leaving = new AbortController()
  const next = client.watch({ from: 7, signal: leaving.signal }).next()
  expect(await inTime('the message of the third connection', next)).toMatchObject({ value: { revision: 7 } })
  leaving.abort()
  expect(connections).toBe(3)
})

test('two servers on one store are rolled one after the other under load: no call fails, and no task is lost', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-roll-'))
  opened.push(() => rmSync(dir, { recursive: true, force: true }))
  const store = { kind: 'sqlite' as const, file: join(dir, 'log.db'), sharing: 'shared' as const }
  const servers = new Map<string, RunningServer>()
  const start = async (name: string, port = 0): Promise<number> => {
    const running = await serve({ host: '127.0.0.1', port, dataDir: join(dir, name), store, auth: 'tokens', token, checkpoints: 'off', readModels: 'off' })
    servers.set(name, running)
    return Number(new URL(running.url).port)
  }
  opened.push(async () => {
    for (const running of servers.values()) await running.close()
  })
  const ports = { a: await start('a'), b: await start('b') }
  const client = createClient({ urls: Object.values(ports).map((port) => `http://127.0.0.1:${port}`), token, queue: 'rolled' })
  opened.push(() => client.close())
  await client.settings.patch({ decisionReport: 'optional', capacity: { maxConcurrentAgents: 10 } })

  const events: Array<WorkerEvent> = []
  const runs = new Map<string, number>()
  const worker = createWorker({
    source: httpSource(client), agentId: 'w', types: ['x'], concurrency: 4, onEvent: (event) => void events.push(event),
    handler: async ({ id }) => void runs.set(id, (runs.get(id) ?? 0) + 1),
  })
  worker.start()
  opened.push(() => worker.stop())
  const made: Array<string> = []
  let isOver = false
  /** The first call that fails ends it. */
  const load = (async () => {
    while (!isOver) {
      const id = `t-${made.length}`
      await client.enqueue({ id, type: 'x', payload: id })
      made.push(id)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const more = async (count: number): Promise<void> => {
    const enough = made.length + count
    while (made.length < enough) await Promise.race([load, new Promise((resolve) => setTimeout(resolve, 10))])
  }
  for (const name of ['a', 'b'] as const) {
    await inTime('load before the roll', more(20))
    await servers.get(name)!.close()
    await inTime('load on the other server', more(20))
    await start(name, ports[name])
  }
  await inTime('load after the roll', more(20))
  isOver = true
  await load
  await inTime('the end of the work', worker.drained())
  expect(made.filter((id) => runs.get(id) === undefined)).toEqual([])
  expect([...runs.values()].filter((times) => times !== 1)).toEqual([])
  expect((await client.tasks({ status: ['completed'], limit: 1_000 })).tasks.length).toBe(made.length)
  // A request on an idle connection may meet its end, as the server closes it. The worker sends claims and outcomes again, and has lost nothing.
  const isSentAgain = (event: WorkerEvent): boolean => event.type === 'settle-failed' || (event.type === 'claim-failed' && !event.fatal)
  expect(events.filter((event) => event.type !== 'outcome-accepted' && !isSentAgain(event))).toEqual([])
})
