/** The point of this file: a queue in the program answers as a server does, so that code which works with one works with the other. */
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaybook } from '@daybook/adapters/engine'
import { openEmbedded } from '@daybook/adapters/embedded'
import { startHttpServer } from '@daybook/adapters/http'
import { openMemoryStore } from '@daybook/adapters/memory'
import { serve } from '@daybook/adapters/serve'
import { createClient, type DaybookClient, DaybookError } from '@daybook/client'
import { createWorker, httpSource } from '@daybook/client/worker'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { inTime } from '../support/in-time.js'

let scratch: string
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'daybook-embedded-'))
})
afterAll(() => rm(scratch, { recursive: true, force: true }))

const over = {
  http: async (): Promise<{ client: DaybookClient; close: () => Promise<void> }> => {
    const daybook = createDaybook({ store: openMemoryStore() })
    await daybook.ready
    const http = await startHttpServer({ daybook, tokens: 'off', port: 0 })
    const client = createClient({ url: http.url })
    return { client, close: async () => void (await client.close(), await http.close(), await daybook.close()) }
  },
  memory: async () => {
    const client = await openEmbedded()
    return { client, close: client.close }
  },
  sqlite: async () => {
    const client = await openEmbedded({ dataDir: join(scratch, 'parity') })
    return { client, close: client.close }
  },
}

/** What a call was answered, as data. */
const said = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof DaybookError)) throw error
    const { code, detail, status, errors, retryAfterSeconds } = error
    return { code, detail, status, errors, retryAfterSeconds }
  }
}

/** Without what is different each time: times, hashes, and the name of the caller. */
const stable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      /^(actor|correlationId|expiresAt|hash|waitedSeconds|oldestWaitSeconds|score|scoreParts|stack)$/.test(key) ? undefined : typeof member === 'string' ? member.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME') : member,
    ),
  )

const collected = async <T>(items: AsyncIterable<T>, max: number): Promise<ReadonlyArray<T>> => {
  const all: Array<T> = []
  for await (const item of items) if (all.push(item) >= max) break
  return all
}

/** Calls of every kind, accepted and refused, one after the other. */
const scenario = async (client: DaybookClient): Promise<ReadonlyArray<unknown>> => {
  const odd = JSON.parse('{"__proto__": {"admin": true}}') as object
  const claim = { agentId: 'a-1', types: ['eng-*'], leaseSeconds: 60 }
  const calls: ReadonlyArray<() => Promise<unknown>> = [
    () => client.tasks(),
    () => client.depth(),
    () => client.enqueue({ id: 't-1', type: 'eng-one', payload: { n: 1.5, text: 'ü' } }),
    () => client.enqueue({ id: 't-2', type: 'eng-two', payload: { n: 1.5, text: 'ü' }, dependencies: ['t-1'] }, {}),
    () => client.enqueue({ id: 't-1', type: 'eng-one', payload: { n: 1.5, text: 'ü' } }),
    () => client.enqueue({ id: 't-1', type: 'eng-other' }, {}),
    () => client.enqueue({ type: '' }),
    () => client.enqueue({ type: 'eng-odd', payload: { deep: [odd] } } as never, {}),
    () => client.enqueue({ type: 'eng-odd', payload: { constructor: { prototype: 1 } } } as never, {}),
    () => client.enqueue({ type: 'eng-huge', payload: 'x'.repeat(300_000) }),
    () => client.enqueueAll([{ id: 'b-1', type: 'ops' }, { id: 'b-2', type: 'ops', payload: 2, dependencies: ['missing'] }]),
    () => client.enqueueAll([{ id: 'b-1', type: 'ops' }, { id: 'b-2', type: 'ops', payload: 2, dependencies: ['missing'] }], { atomic: false }),
    () => client.task('t-1'),
    () => client.task('#2'),
    () => client.task('no/such%task'),
    () => client.in('other').task('t-1'),
    () => client.in('bad name').enqueue({ type: 'x' }, {}),
    () => client.settings.patch({ decisionReport: 'optional' }),
    () => client.settings.patch({ nonsense: 1 } as never),
    () => client.claim(claim),
    () => client.claim({ ...claim, max: 0 }),
    () => client.heartbeat('t-1', { agentId: 'a-1', token: 1, progress: 'half' }),
    () => client.heartbeat('t-1', { agentId: 'a-1', token: 9 }),
    () => client.complete('t-1', { agentId: 'a-1', token: 1, result: { output: 'done' } }),
    () => client.result('t-1'),
    () => client.result('t-2', { wait: 0 }),
    () => client.claim(claim),
    () => client.fail('t-2', { agentId: 'a-1', token: 2, error: 'no', retryable: false }),
    () => client.deadLetters.list(),
    () => client.deadLetters.patterns(),
    () => client.deadLetters.retry('t-2', { reviewer: 'ann', reason: 'again' }),
    () => client.cancel('t-2', 'not needed'),
    () => client.cancelAll({ type: 'ops' }, 'none', { dryRun: true }),
    () => client.history('t-1'),
    () => client.explain('b-1'),
    () => client.at({ revision: 1 }).task('t-1'),
    () => client.diff({ from: 1, to: 3 }),
    () => client.state({ status: 'completed' }),
    () => client.events({ from: 0, limit: 2 }),
    () => collected(client.eachEvent({ from: 0 }), 5),
    () => collected(client.eachTask({ limit: 1 }), 3),
    () => collected(client.watch({ from: 0 }), 4),
    () => client.schedules.create('nightly', { cron: '0 2 * * *', task: { type: 'ops' } }),
    () => client.schedules.get('weekly'),
    () => client.batches.create({ id: 'bt', tasks: [{ id: 'bt-1', type: 'row' }], callback: { type: 'mail' } }),
    () => client.batches.create({ id: 'bt', tasks: [], on: 'settled' }),
    () => client.batches.get('bt'),
    () => client.batches.close('none'),
    () => client.batches.cancel('bt', 'not needed'),
    () => client.batches.list(),
    () => client.limits.set('smtp', { concurrency: 2 }),
    () => client.limits.list(),
    () => client.breakers.list(),
    () => client.agents.list(),
    () => client.pause('lunch'),
    () => client.claim(claim),
    () => client.summary(),
    () => client.report('throughput'),
    () => client.tokens.list(),
    () => client.verify(),
    () => client.deleteQueue('over'),
    () => client.queues(),
    () => client.health(),
  ]
  const answers: Array<unknown> = []
  for (const call of calls) answers.push(stable({ call: String(call), answer: await inTime(String(call), said(call())) }))
  return answers
}

describe('the same calls', () => {
  const answers = new Map<string, ReadonlyArray<unknown>>()
  beforeAll(async () => {
    for (const [name, open] of Object.entries(over)) {
      const { client, close } = await open()
      answers.set(name, await scenario(client))
      await close()
    }
  })

  test.each(['memory', 'sqlite'])('are answered by a queue in this process (%s) as by a server', (name) => {
    expect(answers.get(name)).toEqual(answers.get('http'))
  })

  test('teeth: most of them are accepted, and some refused in ways of their own', () => {
    const codes = (answers.get('http') ?? []).map((each) => (each as { answer?: { code?: string } }).answer?.code)
    expect(codes.filter((code) => code === undefined).length).toBeGreaterThan(35)
    expect(new Set(codes.filter((code) => code !== undefined))).toEqual(new Set(['not-found', 'conflict', 'invalid', 'too-large', 'unknown-dependency', 'lease-lost', 'disabled', 'wrong-state']))
  })
})

test('settings that do not exist, or have wrong values, are refused with those that do', async () => {
  const open = (settings: object) => openEmbedded({ settings })
  await expect(open({ decisionreport: 'optional' })).rejects.toMatchObject({ code: 'invalid', detail: expect.stringMatching(/^settings: decisionreport is not a field here; known: .*decisionReport/) })
  await expect(open({ decisionReport: 'sometimes' })).rejects.toMatchObject({ code: 'invalid', detail: expect.stringContaining('settings: decisionReport must be ') })
})

test('a worker of the client works on it, with the source that it has for a server', async () => {
  const client = await openEmbedded({ settings: { decisionReport: 'optional' } })
  const { results } = await client.enqueueAll(Array.from({ length: 50 }, (_, n) => ({ type: 'double', payload: n })))
  const worker = createWorker<number>({ source: httpSource(client), handler: ({ payload }) => ({ output: payload * 2 }) })
  worker.start()
  await inTime('a drained queue', worker.drained())
  await worker.stop()
  expect((await client.result(results[7]?.id ?? '')).result).toEqual({ output: 14 })
  await client.close()
})

test('what was enqueued is there when the folder is opened again, here or by a server, and its events name the program', async () => {
  const dataDir = join(scratch, 'kept')
  const first = await openEmbedded({ dataDir, name: 'my-service' })
  await first.enqueue({ id: 'kept', type: 'mail' })
  await first.close()

  const second = await openEmbedded({ dataDir })
  expect((await second.task('kept')).status).toBe('pending')
  await expect(openEmbedded({ dataDir })).rejects.toThrow(/open/)
  await second.close()

  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off' })
  const client = createClient({ url: server.url })
  expect((await client.history('kept')).map(({ actor }) => actor)).toEqual(['my-service'])
  await client.close()
  await server.close()
})

test('events that were moved to the archive of the folder are still there', async () => {
  const dataDir = join(scratch, 'archived')
  const first = await openEmbedded({ dataDir })
  for (const id of ['old', 'new']) await first.enqueue({ id, type: 'mail', payload: id })
  await first.close()
  expect(await runHere(['archive', '--data', dataDir, '--before', '2'])).toMatchObject({ code: 0 })

  const second = await openEmbedded({ dataDir })
  const claims = await second.claim({ agentId: 'ann', types: ['mail'], max: 2 })
  expect(claims.map(({ task: { payload } }) => payload)).toEqual(['old', 'new'])
  expect(await second.history('old')).toHaveLength(2)
  await second.close()
})

test('EV-07: a folder whose file of keys is gone opens with a warning, and without one otherwise', async () => {
  const dataDir = join(scratch, 'without-keys')
  const said: Array<string> = []
  const open = () => openEmbedded({ dataDir, warn: (text) => said.push(text) })
  const first = await open()
  await first.settings.patch({ erasable: true })
  await first.enqueue({ type: 'letter', payload: 'xanthippe' })
  await first.close()
  await (await open()).close()
  expect(said).toEqual([])

  for (const end of ['', '-wal', '-shm']) await rm(join(dataDir, `daybook.sqlite.keys${end}`), { force: true })
  await (await open()).close()
  expect(said).toEqual([expect.stringContaining(`queue default is erasable, and the file with the keys of its tasks, ${join(dataDir, 'daybook.sqlite.keys')}, is not there`)])
})

test('EV-07: erasable tasks are readable for a server with this folder, also if an earlier version kept their keys elsewhere', async () => {
  const dataDir = join(scratch, 'erasable')
  const [now, before] = [join(dataDir, 'daybook.sqlite.keys'), join(dataDir, 'keys.db')]
  const first = await openEmbedded({ dataDir })
  await first.settings.patch({ erasable: true })
  await first.enqueue({ id: 'old', type: 'letter', payload: 'xanthippe' })
  await first.close()
  await rename(now, before)
  const second = await openEmbedded({ dataDir })
  await second.enqueue({ id: 'new', type: 'letter', payload: 'socrates' })
  expect((await second.claim({ agentId: 'ann', types: ['letter'], max: 1 })).map(({ task: { payload } }) => payload)).toEqual(['xanthippe'])
  await second.close()
  expect(existsSync(before)).toBe(false)

  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off' })
  const client = createClient({ url: server.url })
  expect((await client.claim({ agentId: 'bob', types: ['letter'], max: 1 })).map(({ task: { payload } }) => payload)).toEqual(['socrates'])
  await client.close()
  await server.close()
})

test('two programs share a folder', async () => {
  const dataDir = join(scratch, 'shared')
  const one = await openEmbedded({ dataDir, shared: true })
  const other = await openEmbedded({ dataDir, shared: true })
  const { revision } = await one.enqueue({ id: 'common', type: 'mail' })
  expect((await other.task('common', { atLeast: revision })).id).toBe('common')
  await Promise.all([one.close(), other.close()])
})

describe.each(Object.keys(over) as ReadonlyArray<keyof typeof over>)('a stream of the log, over %s,', (kind) => {
  const readUntil = async (end: (client: DaybookClient, caller: AbortController) => unknown): Promise<unknown> => {
    const { client, close } = await over[kind]()
    const log = client.in('streamed')
    const caller = new AbortController()
    let chunks = 0
    try {
      for (let i = 0; i < 4; i++) await log.enqueueAll(Array.from({ length: 1_000 }, (_, n) => ({ type: 'x', payload: [i, n, 'x'.repeat(300)], deduplicate: 'off' as const })))
      for await (const _ of log.eventLines({}, { signal: caller.signal })) if (++chunks === 1) end(client, caller)
      return 'it was read to its end'
    } catch (error) {
      return { chunks, code: (error as DaybookError).code }
    } finally {
      await inTime('the end', close())
    }
  }

  test('is broken off by its signal', async () => {
    expect(await readUntil((_, caller) => caller.abort())).toEqual({ chunks: 1, code: 'aborted' })
  })

  test('is broken off by the end of the client', async () => {
    expect(await readUntil((client) => void client.close())).toEqual({ chunks: 1, code: kind === 'http' ? 'unreachable' : 'closed' })
  })
})

describe('a claim that waits', () => {
  test('gets a task as soon as there is one', async () => {
    const client = await openEmbedded()
    const claiming = client.claim({ agentId: 'a', wait: 60 })
    await client.enqueue({ id: 't', type: 'mail' })
    expect((await inTime('the claim', claiming)).map(({ task }) => task.id)).toEqual(['t'])
    await client.close()
  })

  test('ends at its signal, and the next task goes to another', async () => {
    const client = await openEmbedded()
    const gone = new AbortController()
    const claiming = client.claim({ agentId: 'a', wait: 60 }, { signal: gone.signal })
    const refused = expect(claiming).rejects.toMatchObject({ code: 'aborted' })
    await client.depth()
    gone.abort()
    await refused
    await client.enqueue({ id: 't', type: 'mail' })
    expect((await client.claim({ agentId: 'b' })).map(({ task }) => task.id)).toEqual(['t'])
    await client.close()
  })

  test('whose caller has given up before the answer is there holds no task', async () => {
    const client = await openEmbedded()
    await client.enqueue({ id: 't', type: 'mail' })
    const gone = new AbortController()
    const claiming = client.claim({ agentId: 'a' }, { signal: gone.signal })
    gone.abort()
    await expect(claiming).rejects.toMatchObject({ code: 'aborted' })
    expect((await inTime('the task', client.claim({ agentId: 'b', wait: 20 }))).map(({ task }) => task.id)).toEqual(['t'])
    await client.close()
  })

  test('and a watch is over at once if its signal is aborted before', async () => {
    const client = await openEmbedded()
    expect(await inTime('the end of the watch', collected(client.watch({ signal: AbortSignal.abort() }), 1))).toEqual([])
    await inTime('the end', client.close())
  })

  test.each([
    ['a queue that has no name', 'a b', 'end', 'queue: must be a'],
    ['a negative revision', 'q', -1, 'from: must be a revision, or end'],
    ['a revision that is no number', 'q', Number.NaN, 'from: must be a revision, or end'],
  ] as const)('and a watch are refused, and do not wait for ever: %s', async (_, queue, from, detail) => {
    const client = await openEmbedded()
    const watching = collected(client.in(queue).watch({ from }), 1)
    await expect(inTime('the refusal', watching)).rejects.toMatchObject({ code: 'invalid', detail: expect.stringContaining(detail) })
    await client.close()
  })

  test('and a watch end when the client is closed, and later calls are refused', async () => {
    const client = await openEmbedded()
    const claiming = client.claim({ agentId: 'a', wait: 60 })
    const watching = collected(client.watch(), 1)
    const refused = expect(claiming).rejects.toMatchObject({ code: 'closed' })
    await inTime('the end', client.close())
    await refused
    expect(await inTime('the end of the watch', watching)).toEqual([])
    await expect(client.enqueue({ type: 'mail' })).rejects.toMatchObject({ code: 'closed' })
    await expect(client.depth()).rejects.toMatchObject({ code: 'closed' })
    await expect(collected(client.watch(), 1)).rejects.toMatchObject({ code: 'closed' })
  })
})
