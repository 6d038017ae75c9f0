/** The point of this file: whoever enqueues a task can wait for its result, whatever happens to the server meanwhile. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openEmbedded } from '@daybook/adapters/embedded'
import { serve } from '@daybook/adapters/serve'
import { createClient, type DaybookClient, DaybookError, TaskNotCompleted } from '@daybook/client'
import { createTestQueue } from '@daybook/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../cli/program.js'
import { inTime, patienceMs } from '../support/in-time.js'
import { type RealQueue, startRealQueue } from '../worker/real-queue.js'

let queue: RealQueue
let serial = 0
const opened: Array<() => unknown> = []
beforeAll(async () => {
  queue = await startRealQueue()
})
afterAll(() => queue.stop())
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

const fresh = async (): Promise<DaybookClient> => {
  const own = queue.client.in(`handles-${serial++}`)
  await own.settings.patch({ decisionReport: 'optional', defaults: { maxRetries: 1 } })
  return own
}
const claimed = async (client: DaybookClient) => {
  const [claim] = await client.claim({ agentId: 'w', wait: 30 })
  if (claim === undefined) throw new Error('there is no task to claim')
  return { id: claim.task.id, holder: { agentId: 'w', token: claim.lease.token } }
}
const complete = async (client: DaybookClient, output: string): Promise<void> => {
  const { id, holder } = await claimed(client)
  await client.complete(id, { ...holder, result: { output, decisionReport: { decision: 'as asked' } } })
}
const errorOf = async (promise: Promise<unknown>): Promise<unknown> => inTime('a rejection', promise.then(() => 'no error', (error: unknown) => error))
/** Until somebody waits for the result at the server, however many do. */
const isWaitedFor = async (name: string, waits = 1): Promise<void> => {
  for (const end = Date.now() + patienceMs; queue.daybook.queue(name)?.status().settledWaits !== waits; ) {
    if (Date.now() > end) throw new Error(`not ${waits} tasks of ${name} are waited for`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('what enqueueing answers', () => {
  test('is what it was, and prints so: a handle adds nothing that is seen', async () => {
    const client = await fresh()
    const sent = await client.enqueue({ id: 'a', type: 'x' })
    expect(Object.keys(sent).sort()).toEqual(['duplicate', 'id', 'number', 'revision', 'status'])
    expect(JSON.parse(JSON.stringify(sent))).toEqual({ id: 'a', number: 1, status: 'pending', duplicate: false, revision: sent.revision })
    expect(await client.enqueue({ id: 'a', type: 'x' }, {})).toMatchObject({ id: 'a', duplicate: true, duplicateBy: 'id' })
    expect(sent.queue).toBe(client.queue)
  })

  test('waits for the result: of a new task, of a duplicate, and of one that is named by its id', async () => {
    const client = await fresh()
    const handles = [await client.enqueue({ id: 'a', type: 'x' }), await client.enqueue({ id: 'a', type: 'x' }), client.handle('a')]
    const results = handles.map(({ result }) => result())
    expect(await handles[2]!.statusNow()).toBe('pending')
    await isWaitedFor(client.queue)
    await complete(client, 'done')
    for (const result of results) expect(await inTime('a result', result)).toEqual({ output: 'done', decisionReport: { decision: 'as asked' } })
    expect(await handles[0]!.statusNow()).toBe('completed')
    expect((await handles[0]!.result()).output).toBe('done')
  })

  test.each([true, false])('in bulk, with atomic %s: handles in the order of the tasks', async (atomic) => {
    const client = await fresh()
    const tasks = ['a', 'b', 'c'].map((id) => ({ id, type: 'x', payload: id, priority: id === 'c' ? 9 : 5 }))
    const handles = atomic
      ? (await client.enqueueAll(tasks)).results
      : (await client.enqueueAll(tasks, { atomic: false })).results.map((each) => (each.ok ? each.value : undefined))
    expect(handles.map((handle) => handle?.id)).toEqual(['a', 'b', 'c'])
    for (let i = 0; i < 3; i++) {
      const { id, holder } = await claimed(client)
      await client.complete(id, { ...holder, result: { output: `of ${id}` } })
    }
    expect(await Promise.all(handles.map(async (handle) => (await handle!.result()).output))).toEqual(['of a', 'of b', 'of c'])
  })

  test('in bulk, a task that is refused has no handle', async () => {
    const client = await fresh()
    const { results } = await client.enqueueAll([{ type: '' }, { type: 'x' }], { atomic: false })
    expect(results[0]).toMatchObject({ ok: false, error: { code: 'invalid' } })
    expect(results[1]?.ok === true && (await results[1].value.statusNow())).toBe('pending')
  })

  test('a token that may only enqueue can wait, too', async () => {
    const client = await fresh()
    const { token } = await queue.client.tokens.create({ name: `producer-${client.queue}`, roles: ['producer'] })
    const producer = createClient({ url: queue.url, token, queue: client.queue })
    opened.push(() => producer.close())
    const sent = await producer.enqueue({ type: 'x' })
    const result = sent.result()
    expect(await sent.statusNow()).toBe('pending')
    await complete(client, 'done')
    expect((await inTime('the result', result)).output).toBe('done')
  })
})

describe('a task without a result', () => {
  test('that is a dead letter: the error has its last error, and says where to look', async () => {
    const client = await fresh()
    const sent = await client.enqueue({ id: "it's a", type: 'x' })
    const { id, holder } = await claimed(client)
    const waiting = errorOf(sent.result())
    await isWaitedFor(client.queue)
    await client.fail(id, { ...holder, error: 'no route', retryable: false })
    const error = await waiting
    expect(error).toBeInstanceOf(TaskNotCompleted)
    expect(error).toBeInstanceOf(DaybookError)
    const command = `daybook show 'it'\\''s a' --queue ${client.queue}`
    const url = `${queue.url}/q/${client.queue}/tasks/it's%20a`
    expect(error).toMatchObject({ name: 'TaskNotCompleted', code: 'not-completed', taskId: id, taskStatus: 'dead-letter', lastError: 'no route', command, url })
    expect((error as Error).message).toBe(`task it's a is a dead letter: no route (${command}, or ${url})`)

    await client.deadLetters.retry(id, { reviewer: 'ann', reason: 'the route is back' })
    const again = sent.result()
    await complete(client, 'arrived')
    expect((await inTime('the result', again)).output).toBe('arrived')
  })

  test.each(['cancelled', 'discarded'] as const)('that is %s', async (status) => {
    const client = await fresh()
    const sent = await client.enqueue({ id: 'a', type: 'x' })
    if (status === 'discarded') {
      const { holder } = await claimed(client)
      await client.fail('a', { ...holder, error: 'no route', retryable: false })
      await client.deadLetters.discard('a', { reviewer: 'ann', reason: 'not needed' })
    } else await client.cancel('a', 'not needed')
    expect(await errorOf(sent.result())).toMatchObject({ code: 'not-completed', taskStatus: status, message: expect.stringContaining(`task a is ${status}`) })
  })

  test('that the queue does not know', async () => {
    expect(await errorOf((await fresh()).handle('none').result())).toMatchObject({ code: 'not-found' })
  })
})

describe('a wait ends', () => {
  test('when its time is over, and says where the task stands', async () => {
    const client = await fresh()
    const sent = await client.enqueue({ id: 'a', type: 'x' })
    expect(await errorOf(sent.result({ timeoutMs: 30 }))).toMatchObject({ code: 'timeout', message: 'task a is not finished after 30 ms: it is pending' })
    await isWaitedFor(client.queue, 0)
    await claimed(client)
    expect(await errorOf(sent.result({ timeoutMs: 0 }))).toMatchObject({ code: 'timeout', message: expect.stringContaining('in-progress') })
  })

  test('as given up by the caller, also while no server can be reached', async () => {
    const away = createClient({ url: 'http://127.0.0.1:9', queue: 'q', token: 'x', retryForMs: 60_000 })
    try {
      const stop = new AbortController()
      const waiting = errorOf(away.enqueue({ type: 'x' }, { signal: stop.signal }))
      await new Promise((resolve) => setTimeout(resolve, 50))
      stop.abort('no longer')
      expect(await waiting).toMatchObject({ code: 'aborted', cause: 'no longer' })
    } finally {
      await away.close()
    }
  })

  test('when its caller gives up, at the server too', async () => {
    const client = await fresh()
    const sent = await client.enqueue({ type: 'x' })
    const stop = new AbortController()
    const waiting = errorOf(sent.result({ signal: stop.signal }))
    await isWaitedFor(client.queue)
    stop.abort('no longer')
    expect(await waiting).toMatchObject({ code: 'aborted', cause: 'no longer' })
    await isWaitedFor(client.queue, 0)
    expect(await errorOf(sent.result({ signal: stop.signal }))).toMatchObject({ code: 'aborted' })
  })

  test('with the client', async () => {
    const client = createClient({ url: queue.url, token: queue.token, queue: (await fresh()).queue })
    const sent = await client.enqueue({ type: 'x' })
    const waiting = errorOf(sent.result())
    await isWaitedFor(client.queue)
    await client.close()
    expect(await waiting).toMatchObject({ code: 'closed' })
  })
})

/** A server that answers the questions about results as it is told. */
const answering = async (answer: (asked: number) => object | 'nothing') => {
  const seen: Array<URL> = []
  const http = createServer((request, response) => {
    seen.push(new URL(request.url ?? '', 'http://here'))
    const body = answer(seen.length)
    if (body !== 'nothing') response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  opened.push(() => new Promise((resolve) => (http.close(resolve), http.closeAllConnections())))
  const client = createClient({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` })
  opened.push(() => client.close())
  return { client, seen }
}

test('a wait that is longer than a request asks again, and not in a hurry if the server does not wait', async () => {
  const { client, seen } = await answering((asked) => (asked < 4 ? { status: 'in-progress' } : { status: 'completed', result: { output: 1 } }))
  const began = performance.now()
  expect(await inTime('the result', client.handle('a').result())).toEqual({ output: 1 })
  expect(seen.map(({ searchParams }) => searchParams.get('wait'))).toEqual(['20', '20', '20', '20'])
  expect(performance.now() - began).toBeGreaterThan(290)
})

test('a server that is silent keeps nobody beyond the time that was given', async () => {
  const { client, seen } = await answering(() => 'nothing')
  // Long enough for the question to arrive on a busy machine.
  expect(await errorOf(client.handle('a').result({ timeoutMs: 2_000 }))).toMatchObject({ code: 'timeout', message: 'task a is not finished after 2000 ms' })
  expect(Number(seen[0]!.searchParams.get('wait'))).toBeLessThanOrEqual(2)
})

describe('while servers come and go', () => {
  const token = 'a-token-of-the-tests-of-handles'
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'daybook-handles-'))
    opened.push(() => rmSync(made, { recursive: true, force: true }))
    return made
  }

  test('INV-9: a server that is killed and started again does not end a wait', async () => {
    const data = folder()
    let server: ChildProcess | undefined
    const start = async (port: string): Promise<string> => {
      server = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'serve', '--port', port, '--data', data], { env: { ...process.env, DAYBOOK_TOKEN: token }, stdio: ['ignore', 'pipe', 'inherit'] })
      for await (const line of createInterface({ input: server.stdout! })) {
        const url = /http:\/\/[\w.:]+/.exec(line)?.[0]
        if (url !== undefined) return url
      }
      throw new Error('the server ended before it said where it is')
    }
    const kill = async (): Promise<void> => {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
    opened.push(kill)
    const url = await start('0')
    // A busy machine takes its time to start a server.
    const client = createClient({ url, token, retryForMs: 600_000 })
    opened.push(() => client.close())
    await client.settings.patch({ decisionReport: 'optional' })
    const sent = await client.enqueue({ type: 'x' })
    const result = sent.result()
    result.catch(() => undefined)
    expect(await sent.statusNow()).toBe('pending')
    await kill()
    await start(new URL(url).port)
    await complete(client, 'after the kill')
    expect((await inTime('the result', result)).output).toBe('after the kill')
  })

  test('another server of the store takes over, and the wait goes on there', async () => {
    const data = folder()
    const store = { kind: 'sqlite' as const, file: join(data, 'log.db'), sharing: 'shared' as const }
    const start = (name: string) => serve({ host: '127.0.0.1', port: 0, dataDir: join(data, name), store, auth: 'tokens', token, checkpoints: 'off', readModels: 'off' })
    const [one, two] = [await start('one'), await start('two')]
    opened.push(() => Promise.all([one.close(), two.close()]))
    const client = createClient({ urls: [one.url, two.url], token })
    opened.push(() => client.close())
    await client.settings.patch({ decisionReport: 'optional' })
    const sent = await client.enqueue({ type: 'x' })
    const result = sent.result()
    result.catch(() => undefined)
    await one.close()
    await complete(client, 'from the other one')
    expect((await inTime('the result', result)).output).toBe('from the other one')
  })

  test('servers that stay away longer than retryForMs end it', async () => {
    const lone = await startRealQueue()
    const sent = await lone.client.enqueue({ type: 'x' })
    await lone.stop()
    const client = createClient({ url: lone.url, token })
    opened.push(() => client.close())
    expect(await errorOf(client.handle(sent.id).result({ retryForMs: 20, timeoutMs: patienceMs }))).toMatchObject({ code: 'unreachable' })
  })
})

test('a queue inside a program gives the same handles', async () => {
  const client = await openEmbedded({ settings: { decisionReport: 'optional' } })
  opened.push(() => client.close())
  const sent = await client.enqueue({ id: 'a', type: 'x' })
  const result = sent.result()
  await complete(client, 'here')
  expect((await inTime('the result', result)).output).toBe('here')
  const other = await client.enqueue({ id: 'b', type: 'other' })
  await client.cancel('b', 'not needed')
  expect(await errorOf(other.result())).toMatchObject({ url: undefined, message: 'task b is cancelled (daybook show b --queue default)' })
})

test('so does a test queue, and its clock need not move', async () => {
  const kit = await createTestQueue({ settings: { decisionReport: 'optional' } })
  opened.push(() => kit.close())
  const sent = await kit.client.enqueue({ type: 'x' })
  const result = sent.result()
  await kit.drain(() => ({ output: 'drained' }))
  expect((await inTime('the result', result)).output).toBe('drained')
})
