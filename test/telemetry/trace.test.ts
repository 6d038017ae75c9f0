/** The point of this file: what a producer begins is one trace, through the task, to the worker and what it discovers, as a real collector receives it. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/client'
import { createWorker, httpSource } from '@daybook/client/worker'
import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { run, type Server, startServer } from '../cli/program.js'
import { patienceMs } from '../support/in-time.js'
import { type ReceivedSpan, type Receiver, startReceiver } from './receiver.js'

const parent = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' }
const traceparent = `00-${parent.trace}-${parent.span}-01`
const token = 'the-token-of-the-telemetry-test'

let receiver: Receiver
let server: Server
let client: DaybookClient
let provider: NodeTracerProvider
let otel: Record<string, string>
beforeAll(async () => {
  receiver = await startReceiver()
  otel = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_METRIC_EXPORT_INTERVAL: '200' }
  server = await startServer([], { DAYBOOK_TOKEN: token, ...otel })
  client = createClient({ url: server.url, token, queue: 'traced' })
  provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` }))] })
  provider.register()
  await client.settings.patch({ discoveries: { security_issue: { type: 'security' } }, defaults: { backoffSeconds: 0 }, decisionReport: 'optional' })
})
afterAll(async () => {
  for (const api of [trace, context, propagation]) api.disable()
  await client.close()
  await server.stop()
  await provider.shutdown()
  await receiver.close()
  server.remove()
})

const inSpan = <A>(name: string, work: () => Promise<A>): Promise<A> =>
  trace.getTracer('test').startActiveSpan(name, { kind: SpanKind.PRODUCER }, (span) => work().finally(() => span.end()))

/** The first span for which it holds, as soon as the collector has it. */
const received = (what: string, holds: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> =>
  vi.waitFor(() => {
    const found = receiver.spans.find(holds)
    if (found === undefined) throw new Error(`no span came: ${what}`)
    return found
  }, { timeout: patienceMs, interval: 20 })

const taskOf = async (id: string) => (await client.task(id)) as { readonly traceparent?: string }

/** Works until the task is settled. */
const workOn = async (types: ReadonlyArray<string>, handler: Parameters<typeof createWorker>[0]['handler'], until: () => Promise<boolean>): Promise<void> => {
  const worker = createWorker({ source: httpSource(client), agentId: 'w', types, handler })
  worker.start()
  await vi.waitFor(async () => expect(await until()).toBe(true), { timeout: patienceMs, interval: 20 })
  await worker.stop()
}
const isCompleted = (id: string) => async () => (await client.task(id)).status === 'completed'

describe('one trace', () => {
  test('producer → request and append of the server → handler of the worker, linked to the producer', async () => {
    await inSpan('checkout', () => client.enqueue({ id: 'mail-1', type: 'mail', payload: 1 }))
    await workOn(['mail'], async () => ({ output: await inSpan('smtp', async () => 'sent') }), isCompleted('mail-1'))
    const checkout = await received('of the producer', ({ name }) => name === 'checkout')
    const ofTrace = (name: string) => received(name, (span) => span.name === name && span.traceId === checkout.traceId)
    const request = await ofTrace('POST /api/queues/{queue}/tasks')
    expect(request).toMatchObject({ service: 'daybook', kind: 'server', parentId: checkout.spanId, isError: false })
    expect(request.attributes).toMatchObject({ 'http.response.status_code': 200, 'daybook.queue': 'traced' })
    const append = await ofTrace('append')
    expect(append).toMatchObject({ service: 'daybook', parentId: request.spanId, attributes: { 'db.collection.name': 'taskqueue-traced' } })
    const process = await ofTrace('process mail')
    expect(process).toMatchObject({ kind: 'consumer', parentId: checkout.spanId, links: [{ traceId: checkout.traceId, spanId: checkout.spanId }] })
    expect(process.attributes).toMatchObject({ 'messaging.system': 'daybook', 'messaging.operation.name': 'process', 'messaging.destination.name': 'mail', 'messaging.message.id': 'mail-1' })
    expect(await ofTrace('smtp')).toMatchObject({ parentId: process.spanId })
  })

  test('tasks that are gathered into one request stay each in its own trace', async () => {
    const ids = ['g-1', 'g-2', 'g-3']
    await Promise.all(ids.map((id) => inSpan(`make ${id}`, () => client.enqueue({ id, type: 'gathered', payload: id }))))
    for (const id of ids) {
      const { traceId, spanId } = await received(id, ({ name }) => name === `make ${id}`)
      expect((await taskOf(id)).traceparent).toBe(`00-${traceId}-${spanId}-01`)
    }
  })

  test('a retry, what it discovers, what its handler enqueues and a restart are in it, and a failed attempt is an error', async () => {
    await inSpan('order', () => client.enqueue({ id: 'flaky', type: 'flaky', payload: 2 }))
    let attempts = 0
    await workOn(['flaky'], async () => {
      if (++attempts === 1) throw new TypeError('not yet')
      await client.enqueue({ id: 'follow-up', type: 'later', payload: 3 })
      return { output: 1, discoveries: [{ type: 'security_issue', details: 'a hole' }] }
    }, isCompleted('flaky'))
    const order = await received('of the producer', ({ name }) => name === 'order')
    const spans = await Promise.all([1, 2].map((attempt) => received(`attempt ${attempt}`, (span) => span.name === 'process flaky' && span.attributes['daybook.task.attempt'] === attempt)))
    expect(spans.map(({ traceId, isError }) => [traceId, isError])).toEqual([[order.traceId, true], [order.traceId, false]])
    expect(spans[0]!.attributes['error.type']).toBe('TypeError')
    const spawned = (await client.tasks({ type: 'security' })).tasks.find(({ parentTaskId }) => parentTaskId === 'flaky')
    expect(spawned?.traceparent).toContain(order.traceId)
    expect((await taskOf('follow-up')).traceparent).toBe(`00-${order.traceId}-${spans[1]!.spanId}-01`)
    const { id } = await client.restart('flaky', 'once more')
    expect((await taskOf(id)).traceparent).toContain(order.traceId)
  })

  test('what has no text and is thrown is an error of its span, and of its task as without traces', async () => {
    await client.enqueue({ id: 'odd', type: 'odd', payload: 4, maxRetries: 1 })
    await workOn(['odd'], () => Promise.reject(Object.create(null)), async () => (await client.task('odd')).status === 'dead-letter')
    expect((await client.task('odd')).lastError).toBe('the handler threw something that has no text')
    expect(await received('of the handler', ({ name }) => name === 'process odd')).toMatchObject({ isError: true, attributes: { 'error.type': '_OTHER' } })
  })

  test('a program gets TRACEPARENT: the span that daybook work has made for it, or that of the task', async () => {
    const file = join(server.dir, 'trace.cjs')
    writeFileSync(file, `console.log(JSON.stringify({ output: process.env.TRACEPARENT ?? 'none' }))`)
    const work = (env: Record<string, string>) => run(['work', '--queue', 'traced', '--types', 'prog', '--until-empty', '--', globalThis.process.execPath, file], { ...server.env, ...env })
    const outputOf = async (id: string) => (await client.result(id)).result?.output
    await client.enqueue({ id: 'p-1', type: 'prog', payload: 1, traceparent })
    await work(otel)
    const span = await received('of daybook work', ({ name }) => name === 'process prog')
    expect(span).toMatchObject({ service: 'daybook-work', traceId: parent.trace, links: [{ spanId: parent.span }] })
    expect(await outputOf('p-1')).toBe(`00-${parent.trace}-${span.spanId}-01`)
    await client.enqueueAll([{ id: 'p-2', type: 'prog', payload: 2, traceparent }])
    await work({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })
    expect(await outputOf('p-2')).toBe(traceparent)
  })
})

describe('the header traceparent', () => {
  const enqueue = async (path: string, body: object, header: string) => {
    const answer = await fetch(`${server.url}/api/queues/raw/${path}`, {
      method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', traceparent: header }, body: JSON.stringify(body),
    })
    expect(answer.status).toBeLessThan(300)
    return answer
  }
  const stored = async (id: string) => (await client.in('raw').task(id)).traceparent

  test('is kept with each task of the request that names no other, in the log and in views', async () => {
    const own = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`
    await enqueue('tasks', { id: 'one', type: 'x' }, traceparent)
    await enqueue('tasks', { tasks: [{ id: 'all-1', type: 'x', payload: 1 }, { id: 'all-2', type: 'x', payload: 2, traceparent: own }] }, traceparent)
    await enqueue('tasks', { atomic: false, tasks: [{ id: 'each-1', type: 'x', payload: 3 }, { id: 'each-2', type: 'x', payload: 4, traceparent: own }] }, traceparent)
    for (const id of ['one', 'all-1', 'each-1']) expect([id, await stored(id)]).toEqual([id, traceparent])
    for (const id of ['all-2', 'each-2']) expect([id, await stored(id)]).toEqual([id, own])
    const [{ data } = { data: {} }] = await client.in('raw').history('one')
    expect(data).toMatchObject({ traceparent })
  })

  test.each([
    ['nonsense', 'hello'],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${parent.span}-01`],
    ['a span of zeros', `00-${parent.trace}-${'0'.repeat(16)}-01`],
    ['version ff', `ff-${parent.trace}-${parent.span}-01`],
    ['upper case', traceparent.toUpperCase()],
    ['more than version 00 has', `${traceparent}-more`],
  ])('%s begins a new trace, and is no error', async (name, header) => {
    const id = `bad ${name}`
    await enqueue('tasks', { id, type: 'x', payload: name }, header)
    const made = await stored(id)
    expect(made).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(made).not.toContain(parent.trace)
    await received('of the request', ({ traceId }) => traceId === made!.slice(3, 35))
  })

  test('of a later version is read as far as it is known', async () => {
    await enqueue('tasks', { id: 'later', type: 'x', payload: 'later' }, `01-${parent.trace}-${parent.span}-03-more`)
    expect(await stored('later')).toBe(traceparent)
  })
})

test('metrics come over OTLP under the names of /metrics, with their values', async () => {
  const wait = await vi.waitFor(() => {
    const found = receiver.metrics.filter(({ name }) => name === 'daybook_queue_wait_seconds').at(-1)
    if (found?.points.some(({ value }) => value > 0) !== true) throw new Error('no waits have come yet')
    return found
  }, { timeout: patienceMs, interval: 50 })
  expect(wait).toMatchObject({ kind: 'histogram', unit: 's' })
  for (const { value, buckets } of wait.points) expect(buckets.reduce((sum, each) => sum + each, 0)).toBe(value)
  const text = await (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
  const here = new Set([...text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram)$/gm)].map(([, name = '', type = '']) => `${name} ${type === 'counter' ? 'sum' : type}`))
  // A metric without values in this server is not sent.
  const sent = new Set(receiver.metrics.map(({ name, kind }) => `${name} ${kind}`))
  expect([...sent].filter((each) => !here.has(each))).toEqual([])
  expect(sent.size).toBeGreaterThan(40)
  const enqueued = receiver.metrics.filter(({ name }) => name === 'daybook_enqueued_total').at(-1)
  expect(enqueued?.points.find(({ attributes }) => attributes['queue'] === 'traced')?.value).toBeGreaterThan(3)
})

test('an append is found by its requests, whatever characters their correlation id has and however many have the same', async () => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = (path: string, body: object, correlationId: string, signal?: AbortSignal) =>
    fetch(`${server.url}/api/queues/shared-id/${path}`, { method: 'POST', headers: { ...headers, 'x-correlation-id': correlationId }, body: JSON.stringify(body), ...(signal === undefined ? {} : { signal }) })
  await post('tasks', { type: 'first', payload: 1 }, 'a"b\\c')
  const request = await received('of the first', ({ attributes }) => attributes['daybook.correlation_id'] === 'a"b\\c')
  await received('of its append', ({ name, parentId }) => name === 'append' && parentId === request.spanId)
  // Two claims of one job wait, and the second goes away.
  const waitingClaims = (count: number) => vi.waitFor(async () => {
    expect(await (await fetch(`${server.url}/metrics`, { headers })).text()).toContain(`daybook_waiting_claims{queue="shared-id"} ${count}\n`)
  }, { timeout: patienceMs, interval: 20 })
  const claim = { agentId: 'one', types: ['second'], wait: 60 }
  const stays = post('claims', claim, 'one-job')
  await waitingClaims(1)
  const leave = new AbortController()
  const leaves = post('claims', { ...claim, agentId: 'two' }, 'one-job', leave.signal)
  await waitingClaims(2)
  leave.abort()
  await expect(leaves).rejects.toThrow()
  await received('of who left', ({ attributes }) => attributes['daybook.correlation_id'] === 'one-job')
  await post('tasks', { type: 'second', payload: 2 }, 'the-task')
  expect(((await (await stays).json()) as { readonly claims: ReadonlyArray<unknown> }).claims).toHaveLength(1)
  const stayed = await received('of who stayed', ({ attributes }) => attributes['daybook.correlation_id'] === 'one-job' && attributes['daybook.gone'] === undefined)
  await received('of the append for both', ({ name, links }) => name === 'append' && links.some(({ spanId }) => spanId === stayed.spanId))
})

test('a server that sends metrics and no traces enqueues as without telemetry', async () => {
  const silent = await startServer(['--store', 'memory:'], { DAYBOOK_TOKEN: token, ...otel, OTEL_TRACES_EXPORTER: 'none' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const enqueue = (id: string, more: object) => fetch(`${silent.url}/api/queues/silent/tasks`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ id, type: 'silent', payload: id }) })
  const traceparentOf = async (id: string) => ((await (await fetch(`${silent.url}/api/queues/silent/tasks/${id}`, { headers })).json()) as { readonly traceparent?: string }).traceparent
  try {
    expect((await enqueue('plain', {})).status).toBe(201)
    expect((await enqueue('traced', { traceparent })).status).toBe(201)
    expect([await traceparentOf('plain'), await traceparentOf('traced')]).toEqual([undefined, traceparent])
    expect(receiver.spans.filter(({ attributes }) => attributes['daybook.queue'] === 'silent')).toEqual([])
  } finally {
    await silent.stop()
    silent.remove()
  }
})

test('the span of a caller that went away says so, and has no status of an answer that there was not', async () => {
  const leave = new AbortController()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-correlation-id': 'who-leaves' }
  const left = fetch(`${server.url}/api/queues/traced/claims`, { method: 'POST', headers, body: JSON.stringify({ agentId: 'w', types: ['nobody-enqueues'], wait: 60 }), signal: leave.signal })
  await vi.waitFor(async () => {
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
    expect(text).toContain('daybook_waiting_claims{queue="traced"} 1\n')
  }, { timeout: patienceMs, interval: 20 })
  leave.abort()
  await expect(left).rejects.toThrow()
  const span = await received('of who left', ({ attributes }) => attributes['daybook.correlation_id'] === 'who-leaves')
  expect(span).toMatchObject({ name: 'POST /api/queues/{queue}/claims', isError: false, attributes: { 'daybook.gone': 1 } })
  expect(span.attributes).not.toHaveProperty(['http.response.status_code'])
})

describe('the SDK', () => {
  const sdkLoaded = async (env: Record<string, string>): Promise<boolean> => {
    const preload = join(server.dir, 'loaded.cjs')
    writeFileSync(preload, "process.on('exit', () => console.error(Object.keys(require.cache).filter((file) => /opentelemetry.*sdk-/.test(file)).length + ' files of the SDK'))")
    const one = await startServer(['--store', 'memory:'], { DAYBOOK_TOKEN: token, NODE_OPTIONS: `--require ${preload}`, ...env })
    const { err } = await one.stop()
    one.remove()
    return Number(/(\d+) files of the SDK/.exec(err)?.[1]) > 0
  }

  test('is loaded by a server only if there is an endpoint', async () => {
    expect(await sdkLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBe(false)
    expect(await sdkLoaded(otel)).toBe(true)
  })
})

test('probes and /metrics have no span: they come every few seconds', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics', '/api/me']) expect((await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  await received('of the last', ({ name }) => name === 'GET /api/me')
  expect(receiver.spans.map(({ name }) => name).filter((name) => /healthz|readyz|metrics/.test(name))).toEqual([])
})

test('a collector that does not take what it is sent is named once in the log, and once when it does again', async () => {
  const answered = { 400: 0, 200: 0 }
  let status: 400 | 200 = 400
  const collector = createServer((request, response) => {
    request.resume().on('end', () => {
      answered[status]++
      response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const one = await startServer(['--store', 'memory:'], { DAYBOOK_TOKEN: token, ...otel, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`, OTEL_METRICS_EXPORTER: 'none' })
  const askUntil = (holds: () => boolean): Promise<void> =>
    vi.waitFor(async () => {
      await fetch(`${one.url}/api/queues`, { headers: { authorization: `Bearer ${token}` } })
      expect(holds()).toBe(true)
    }, { timeout: patienceMs, interval: 50 })
  await askUntil(() => answered[400] >= 3)
  status = 200
  await askUntil(() => answered[200] >= 3)
  const { err } = await one.stop()
  one.remove()
  collector.close()
  const told = err.split('\n').filter((line) => line.includes('collector of telemetry'))
  expect(told).toEqual([expect.stringContaining('does not take traces, which are lost until it does'), expect.stringContaining('takes traces again')])
})
