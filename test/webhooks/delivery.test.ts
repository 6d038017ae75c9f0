/** EV-08: alerts by webhook: signed, each at least once and under the same id, over failures and restarts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaybook } from '@daybook/adapters/engine'
import { fileCheckpoints } from '@daybook/adapters/files'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { startWebhooks, type Tuning, type WebhookOptions, readSecret } from '@daybook/adapters/webhooks'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startTestServer, type TestServer } from '../http/support.js'
import { inTime } from '../support/in-time.js'
import { until } from '../support/queue.js'
import { type Received, secret, secretOf, TestReceiver, verify } from './receiver.js'

const opened: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})
const receiverOf = async (port = 0): Promise<TestReceiver> => {
  const receiver = await TestReceiver.start(port)
  opened.push(() => receiver.stop())
  return receiver
}
const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-webhooks-'))
  opened.push(async () => rmSync(dir, { recursive: true, force: true }))
  return dir
}
const webhook = ({ url }: { readonly url: string }, more: Partial<WebhookOptions> = {}): WebhookOptions => ({
  name: 'one', url, secrets: [readSecret(secret)!], timeoutMs: 20_000, allowPrivateAddresses: true, ...more,
})
/** In milliseconds. */
const year = 365 * 86_400_000
const quick: Tuning = { retryMs: { first: 5, most: 20 } }

interface Running {
  readonly server: TestServer
  readonly warnings: ReadonlyArray<string>
  /** Opens and closes the breaker of a type, which raises and clears an alert. */
  readonly raise: (type: string, queue?: string) => Promise<void>
  readonly clear: (type: string, queue?: string) => Promise<void>
  readonly stop: () => Promise<void>
}
const start = async (webhooks: ReadonlyArray<WebhookOptions>, { store = openMemoryStore(), dir = folder(), tuning = quick }: { store?: EventStore; dir?: string; tuning?: Tuning } = {}): Promise<Running> => {
  const warnings: Array<string> = []
  const daybook = createDaybook({ store: { ...store, close: () => Promise.resolve() }, alerts: true, clock: () => Date.now() })
  const hooks = await startWebhooks({
    daybook, webhooks, tuning, checkpoints: (queue) => fileCheckpoints(join(dir, 'queues', queue)), known: fileCheckpoints(dir), warn: (text) => warnings.push(text),
  })
  const server = await startTestServer({ daybook, webhooks: hooks.status }, store)
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= hooks.close().then(() => server.stop()))
  opened.push(stop)
  const breaker = (verb: string) => async (type: string, queue = 'q'): Promise<void> => {
    // The queue comes into being by its first task.
    await server.post(`/api/queues/${queue}/tasks`, { id: 'first', type: 'idle' })
    expect((await server.post(`/api/queues/${queue}/breakers/${type}/${verb}`, { reason: 'by hand' })).status).toBe(200)
    await until(async () => (await server.get(`/api/queues/${queue}/alerts`)).body.alerts.some(({ key }: { key: string }) => key === `breaker-open:${type}`) === (verb === 'open'))
  }
  return { server, warnings, raise: breaker('open'), clear: breaker('close'), stop }
}

const metric = async ({ server }: Running, name: string): Promise<number> => {
  const line = (await server.get('/metrics')).text.split('\n').find((each) => each.startsWith(`daybook_webhook_${name}`))
  return Number(line?.split(' ')[1])
}

describe('EV-08: an alert is sent', () => {
  test('when it is raised and when it is cleared, once each, in order, signed with each secret', async () => {
    const receiver = await receiverOf()
    const running = await start([webhook(receiver, { secrets: [secret, secretOf('the next one')].map((text) => readSecret(text)!) })])
    const before = Math.floor(Date.now() / 1_000)
    await running.raise('mail')
    await running.clear('mail')
    await running.raise('other', 'r')
    await until(() => receiver.received.length === 3)
    const ofMail = receiver.received.filter(({ body }) => body.data.key.endsWith('mail'))
    expect(receiver.keys.filter((key) => key.includes('mail'))).toEqual(['+breaker-open:mail', '-breaker-open:mail'])
    const { body: { events } } = await running.server.get('/api/queues/q/events')
    const raised = events.find(({ type }: { type: string }) => type === 'AlertRaised')
    const [first] = ofMail as [Received]
    expect(first.body).toEqual({
      type: 'alert.raised', timestamp: raised.at, data: { queue: 'q', key: 'breaker-open:mail', kind: 'breaker-open', message: expect.stringContaining('by hand'), revision: raised.revision },
    })
    expect(ofMail[1]?.body).toMatchObject({ type: 'alert.cleared', data: { queue: 'q', key: 'breaker-open:mail', kind: 'breaker-open' } })
    expect(first.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect(new Set(receiver.ids).size).toBe(3)
    for (const each of receiver.received) {
      verify(each)
      verify(each, secretOf('the next one'))
      expect(() => verify(each, secretOf('another'))).toThrow()
      expect(() => verify({ ...each, text: `${each.text} ` })).toThrow()
      expect(Number(each.headers['webhook-timestamp'])).toBeGreaterThanOrEqual(before)
    }
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="delivered"}')) === 3)
    expect([await metric(running, 'waiting_messages'), await metric(running, 'oldest_waiting_seconds'), await metric(running, 'failing')]).toEqual([0, 0, 0])
    expect(running.warnings).toEqual([])
  })

  test('to those who want its kind and its queue', async () => {
    const [all, kinds, queues] = [await receiverOf(), await receiverOf(), await receiverOf()]
    const running = await start([webhook(all), webhook(kinds, { name: 'kinds', kinds: ['dead-letters'] }), webhook(queues, { name: 'queues', queues: ['r'] })])
    await running.raise('mail')
    await running.raise('mail', 'r')
    const { server } = running
    await server.post('/api/queues/s/tasks', { id: 'a', type: 'x', maxRetries: 1 })
    const { body: { claims: [{ lease }] } } = await server.post('/api/queues/s/claims', { agentId: 'w' })
    await server.post('/api/queues/s/tasks/a/fail', { agentId: 'w', token: lease.token, error: 'no luck' })
    await until(() => all.received.length === 3 && kinds.received.length === 1 && queues.received.length === 1)
    expect(kinds.keys).toEqual(['+dead-letters:x'])
    expect(queues.received[0]?.body.data).toMatchObject({ queue: 'r', key: 'breaker-open:mail' })
  })

  test('what it does not want does not wait, neither when it is raised nor when it is found in the log', async () => {
    const [receiver, store, dir] = [await receiverOf(), openMemoryStore(), folder()]
    receiver.answer = (_, response) => void response.writeHead(503).end()
    const wanted = webhook(receiver, { kinds: ['dead-letters'] })
    const deadLetter = async ({ server }: Running): Promise<void> => {
      await server.post('/api/queues/q/tasks', { id: 'a', type: 'x', maxRetries: 1 })
      const { body: { claims: [{ lease }] } } = await server.post('/api/queues/q/claims', { agentId: 'w', types: ['x'] })
      await server.post('/api/queues/q/tasks/a/fail', { agentId: 'w', token: lease.token, error: 'no luck' })
      await until(async () => (await server.get('/api/queues/q/alerts')).body.alerts.some(({ kind }: { kind: string }) => kind === 'dead-letters'))
    }
    const first = await start([wanted], { store, dir })
    await first.raise('a')
    await deadLetter(first)
    await first.raise('b')
    await first.raise('c')
    await until(async () => (await metric(first, 'messages_total{webhook="one",outcome="failed"}')) > 0)
    expect(await metric(first, 'waiting_messages{webhook="one"}')).toBe(1)
    await first.stop()
    const second = await start([wanted], { store, dir })
    await until(async () => (await metric(second, 'messages_total{webhook="one",outcome="failed"}')) > 0)
    expect(await metric(second, 'waiting_messages{webhook="one"}')).toBe(1)
  })
})

describe('EV-08: a receiver that fails', () => {
  test('gets each message again until it takes it, under the same id and with the same body, and the next ones after it', async () => {
    const receiver = await receiverOf()
    const answers = [503, 404, 500, 204]
    receiver.answer = (_, response) => void response.writeHead(answers.shift() ?? 204).end()
    const running = await start([webhook(receiver)])
    await running.raise('a')
    await running.clear('a')
    await until(() => receiver.received.length === 5)
    expect(receiver.keys).toEqual([...Array<string>(4).fill('+breaker-open:a'), '-breaker-open:a'])
    expect(new Set(receiver.ids.slice(0, 4)).size).toBe(1)
    expect(new Set(receiver.received.slice(0, 4).map(({ text }) => text)).size).toBe(1)
    receiver.received.forEach((each) => verify(each))
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="delivered"}')) === 2)
    expect(await metric(running, 'messages_total{webhook="one",outcome="failed"}')).toBe(3)
    expect(running.warnings).toEqual(['webhook one: it answers 503: it is tried again', 'webhook one: it answers 404: it is tried again', 'webhook one: it answers 500: it is tried again', 'webhook one: works again'])
  })

  test('is shown while it fails, and delays no other', async () => {
    const [down, works] = [await receiverOf(), await receiverOf()]
    down.answer = () => undefined
    const running = await start([webhook(down, { timeoutMs: 50 }), webhook(works, { name: 'two' })])
    for (const type of ['a', 'b', 'c']) await running.raise(type)
    await until(() => works.received.length === 3)
    await until(async () => (await running.server.get('/readyz')).body.degraded !== undefined)
    expect((await running.server.get('/readyz')).body.degraded).toEqual([{ part: 'webhook one', reason: 'no answer within 0.05 s', since: expect.stringMatching(/Z$/) }])
    expect(await metric(running, 'waiting_messages{webhook="one"}')).toBe(3)
    expect(await metric(running, 'oldest_waiting_seconds{webhook="one"}')).toBeGreaterThan(0)
    expect(await metric(running, 'failing{webhook="one"}')).toBe(1)
    expect(await metric(running, 'waiting_messages{webhook="two"}')).toBe(0)
    expect(new Set(down.keys)).toEqual(new Set(['+breaker-open:a']))
    down.answer = (_, response) => void response.writeHead(200).end('thanks')
    await until(async () => (await running.server.get('/readyz')).body.degraded === undefined && (await metric(running, 'waiting_messages{webhook="one"}')) === 0)
    expect([...new Set(down.keys)]).toEqual(['+breaker-open:a', '+breaker-open:b', '+breaker-open:c'])
  })

  test('an answer without end does no harm', async () => {
    const receiver = await receiverOf()
    receiver.answer = (_, response) => {
      response.writeHead(200)
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    const running = await start([webhook(receiver)])
    await running.raise('a')
    await running.clear('a')
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="delivered"}')) === 2)
    expect(receiver.keys).toEqual(['+breaker-open:a', '-breaker-open:a'])
  })

  test('an answer that drips without end keeps the next message back for a moment only, and it is sent once', async () => {
    const receiver = await receiverOf()
    receiver.answer = (_, response) => {
      const isFirst = receiver.received.length === 1
      // The second answer comes late, but within the time limit. The limit is so long that without the end of the first answer it would not come in time.
      setTimeout(() => response.writeHead(200), isFirst ? 0 : 500)
      const drip = setInterval(() => void response.write('x'), isFirst ? 50 : 600)
      response.on('close', () => clearInterval(drip))
    }
    const running = await start([webhook(receiver, { timeoutMs: 60_000 })])
    await running.raise('a')
    await running.clear('a')
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="delivered"}')) === 2)
    expect([receiver.keys, await metric(running, 'messages_total{webhook="one",outcome="failed"}')]).toEqual([['+breaker-open:a', '-breaker-open:a'], 0])
  })

  test('a redirect is not followed', async () => {
    const [receiver, elsewhere] = [await receiverOf(), await receiverOf()]
    receiver.answer = (_, response) => void response.writeHead(307, { location: elsewhere.url }).end()
    const running = await start([webhook(receiver)])
    await running.raise('a')
    await until(() => receiver.received.length >= 3)
    expect(running.warnings).toEqual(['webhook one: it answers 307, and redirects are not followed: it is tried again'])
    expect(elsewhere.connections).toBe(0)
  })

  test('410: it gets nothing more until the server starts again', async () => {
    const dir = folder()
    const store = openMemoryStore()
    const receiver = await receiverOf()
    receiver.answer = (_, response) => void response.writeHead(410).end()
    const running = await start([webhook(receiver)], { dir, store })
    for (const type of ['a', 'b']) await running.raise(type)
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="dropped"}')) === 2)
    expect(receiver.received).toHaveLength(1)
    expect(running.warnings[0]).toBe('webhook one: it answers 410: it wants no more messages, and gets none until the server starts again')
    expect((await running.server.get('/readyz')).body.degraded).toHaveLength(1)
    await running.stop()
    receiver.answer = (_, response) => void response.writeHead(204).end()
    const again = await start([webhook(receiver)], { dir, store })
    await again.raise('c')
    await until(() => receiver.received.length === 2)
    expect(receiver.keys).toEqual(['+breaker-open:a', '+breaker-open:c'])
  })

  test('a message that it refuses is dropped after five tries, and said in the log; the next one is sent', async () => {
    const receiver = await receiverOf()
    receiver.answer = ({ body }, response) => void response.writeHead(body.data.key.endsWith(':bad') ? 422 : 204).end()
    const running = await start([webhook(receiver)])
    await running.raise('bad')
    await running.raise('good')
    await until(() => receiver.keys.includes('+breaker-open:good'))
    expect(receiver.keys).toEqual([...Array<string>(5).fill('+breaker-open:bad'), '+breaker-open:good'])
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="delivered"}')) === 1)
    expect(await metric(running, 'messages_total{webhook="one",outcome="dropped"}')).toBe(1)
    expect(running.warnings[1]).toBe(`webhook one: message ${receiver.ids[0]} of queue q is dropped: it answers 422: ${receiver.received[0]?.text}`)
  })

  test('messages that are too old are dropped, after one try that failed', async () => {
    const receiver = await receiverOf()
    receiver.answer = (_, response) => void response.writeHead(500).end()
    const running = await start([webhook(receiver)], { tuning: { ...quick, ageMaxMs: -3_600_000 } })
    for (const type of ['a', 'b', 'c']) await running.raise(type)
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="dropped"}')) === 3)
    expect(receiver.keys).toEqual(['+breaker-open:a'])
  })
})

test('EV-08: a clock that has jumped ahead makes no message too old, and no signature wrong', async () => {
  const receiver = await receiverOf()
  receiver.answer = (_, response) => void response.writeHead(503).end()
  const running = await start([webhook(receiver)])
  await running.raise('a')
  await until(() => receiver.received.length > 0)
  const { now } = Date
  vi.spyOn(Date, 'now').mockImplementation(() => now() + year)
  const tries = receiver.received.length
  await until(() => receiver.received.length > tries + 3)
  receiver.answer = (_, response) => void response.writeHead(204).end()
  await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="delivered"}')) === 1)
  vi.restoreAllMocks()
  verify(receiver.received.at(-1)!)
  expect(new Set(receiver.keys)).toEqual(new Set(['+breaker-open:a']))
})

describe('EV-08: restarts', () => {
  test('a receiver that became known while the clock was ahead is told of alerts when the clock is right', async () => {
    const receiver = await receiverOf()
    const dir = folder()
    await fileCheckpoints(dir).save({ projection: 'receivers', version: 1, revision: 0, state: JSON.stringify({ one: Date.now() + year }) })
    const running = await start([webhook(receiver)], { dir })
    await running.raise('a')
    await until(() => receiver.received.length === 1)
    expect(receiver.keys).toEqual(['+breaker-open:a'])
  })

  test('nothing is lost while the receiver is down and the server starts again; nothing that was delivered is sent again', async () => {
    const dir = folder()
    const store = openMemoryStore()
    const first = await receiverOf()
    const running = await start([webhook(first)], { dir, store })
    await running.raise('a')
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="delivered"}')) === 1)
    await first.stop()
    await running.raise('b')
    await until(async () => (await metric(running, 'failing')) === 1)
    await running.raise('in another queue', 'r')
    await running.stop()
    // A server that sends none.
    const without = await start([], { store })
    await without.clear('a')
    await without.raise('in a new queue', 's')
    await without.stop()
    const again = await start([webhook(first)], { dir, store })
    await again.clear('b')
    await until(async () => (await metric(again, 'failing')) === 1)
    const second = await receiverOf(first.port)
    await until(() => second.received.length >= 5)
    await until(async () => (await metric(again, 'waiting_messages')) === 0)
    expect(first.keys).toEqual(['+breaker-open:a'])
    expect(second.received.filter(({ body }) => body.data.queue === 'q').map(({ body }) => `${body.type} ${body.data.key}`)).toEqual(['alert.raised breaker-open:b', 'alert.cleared breaker-open:a', 'alert.cleared breaker-open:b'])
    expect(second.received.filter(({ body }) => body.data.queue !== 'q').map(({ body }) => body.data.queue).sort()).toEqual(['r', 's'])
  })

  test('a message that was delivered and is not in a checkpoint is sent again under the same id, and no other is', async () => {
    const store = openMemoryStore()
    const receiver = await receiverOf()
    const dir = folder()
    const without = await start([], { store })
    await without.raise('long ago')
    await without.stop()
    const running = await start([webhook(receiver)], { dir, store })
    await running.raise('a')
    await until(async () => (await metric(running, 'messages_total{webhook="one",outcome="delivered"}')) === 1)
    await running.stop()
    // As if it had been killed before the first checkpoint of the queue.
    const crashed = folder()
    await fileCheckpoints(crashed).save((await fileCheckpoints(dir).load('receivers'))!)
    const again = await start([webhook(receiver)], { dir: crashed, store })
    await until(() => receiver.received.length === 2)
    await again.raise('b')
    await until(() => receiver.received.length === 3)
    expect(receiver.ids[1]).toBe(receiver.ids[0])
    expect(receiver.received[1]?.text).toBe(receiver.received[0]?.text)
    expect(receiver.keys).toEqual(['+breaker-open:a', '+breaker-open:a', '+breaker-open:b'])
  })

  test('a receiver that is new is told of what happens from then on; so is one that was removed and comes back', async () => {
    const dir = folder()
    const store = openMemoryStore()
    const [one, two] = [await receiverOf(), await receiverOf()]
    const first = await start([webhook(one)], { dir, store })
    // A message whose answer has not arrived yet would be sent again.
    const isDelivered = (by: Running, name: string) => until(async () => (await metric(by, `messages_total{webhook="${name}",outcome="delivered"}`)) === 1)
    await first.raise('a')
    await isDelivered(first, 'one')
    await first.stop()
    const second = await start([webhook(two, { name: 'two' })], { dir, store })
    await second.raise('b')
    await isDelivered(second, 'two')
    await second.stop()
    const third = await start([webhook(one), webhook(two, { name: 'two' })], { dir, store })
    await third.raise('c')
    await until(() => one.received.length === 2 && two.received.length === 2)
    expect([one.keys, two.keys]).toEqual([['+breaker-open:a', '+breaker-open:c'], ['+breaker-open:b', '+breaker-open:c']])
  })

  test('two servers that have the same webhook send each message under the same id', async () => {
    const store = openMemoryStore({ isShared: true })
    const receiver = await receiverOf()
    const [one, two] = [await start([webhook(receiver)], { store }), await start([webhook(receiver)], { store })]
    await one.raise('a')
    await until(async () => (await two.server.get('/api/queues/q/alerts')).body.alerts.length === 1)
    await two.clear('a')
    await until(() => receiver.received.length === 4)
    expect(new Set(receiver.ids).size).toBe(2)
    expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(2)
  })

  test('a server stops while a receiver does not answer', async () => {
    const receiver = await receiverOf()
    receiver.answer = () => undefined
    const running = await start([webhook(receiver, { timeoutMs: 600_000 })])
    await running.raise('a')
    await until(() => receiver.received.length === 1)
    await inTime('the end of the webhooks', running.stop())
  })
})

test('nothing secret is in the log, the metrics, /readyz and the settings', async () => {
  const receiver = await receiverOf()
  const running = await start([webhook(receiver, { allowPrivateAddresses: false }), webhook(receiver, { name: 'two' })])
  receiver.answer = (_, response) => void response.writeHead(400).end()
  await running.raise('a')
  await until(async () => (await metric(running, 'messages_total{webhook="two",outcome="dropped"}')) === 1)
  await until(() => running.warnings.some((text) => text.includes('loopback')))
  const said = [...running.warnings, ...(await Promise.all(['/readyz', '/metrics', '/api/queues/q/settings', '/api/openapi.json'].map(async (path) => (await running.server.get(path)).text)))].join('\n')
  expect(said).not.toMatch(/whsec|path-that-is-secret/)
  expect(said).not.toContain(secret.slice('whsec_'.length))
})
