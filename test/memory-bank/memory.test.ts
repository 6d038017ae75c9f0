/** Memories over a real server: what is kept, what comes with claims, and a memory that cannot be reached (TQM-MEM-001, TQM-MEM-002). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createClient, type DaybookClient, type Result } from '@daybook/adapters/client'
import { fileCheckpoints } from '@daybook/adapters/files'
import { createDaybook } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type MemoryBank, type MemoryService, openHttpBank, openSqliteBank, startMemory } from '@daybook/adapters/memory-bank'
import type { EventStore } from '@daybook/adapters/store'
import { createWorker, engineSource, httpSource } from '@daybook/adapters/worker'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { adminToken, startTestServer, type TestServer } from '../http/support.js'
import { inTime, patienceMs } from '../support/in-time.js'
import { BankServer } from './bank-server.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const until = { timeout: 30_000, interval: 10 }
/** Long enough that a memory that works always answers in time. */
const patient = 20_000

const opened: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})
const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-memory-'))
  opened.push(async () => rmSync(dir, { recursive: true, force: true }))
  return dir
}
const bankServer = async (): Promise<BankServer> => {
  const bank = await BankServer.start()
  opened.push(() => bank.stop())
  return bank
}

interface Running {
  readonly server: TestServer
  readonly client: DaybookClient
  readonly memory: MemoryService
  readonly stop: () => Promise<void>
}
const start = async (bank: MemoryBank, dir: string, { store = openMemoryStore(), recallMs = patient }: { store?: EventStore; recallMs?: number } = {}): Promise<Running> => {
  const daybook = createDaybook({ store: { ...store, close: () => Promise.resolve() } })
  const memory = startMemory({ daybook, bank, recallMs, limit: 5, retryMs: { first: 5, most: 20 }, checkpoints: (queue) => fileCheckpoints(join(dir, 'memory', queue)) })
  const server = await startTestServer({ daybook, memory }, store)
  const client = createClient({ url: server.http.url, token: adminToken, queue: 'q' })
  let isStopped = false
  const stop = async (): Promise<void> => {
    if (isStopped) return
    isStopped = true
    await client.close()
    await memory.close()
    await server.stop()
  }
  opened.push(stop)
  return { server, client, memory, stop }
}

let tasks = 0
/** Enqueues a task, claims it and completes it. Returns the claim. */
const work = async (client: DaybookClient, task: object, result: Result = {}) => {
  const type = `w${++tasks}`
  await client.enqueue({ type, payload: tasks, ...task })
  const [claim] = await client.claim({ agentId: 'ann', types: [type] })
  await client.complete(claim!.task.id, { agentId: 'ann', token: claim!.lease.token, result: { decisionReport: 'x', ...result } })
  return claim!
}
/** Waits until everything so far is remembered. */
const remembered = (client: DaybookClient, count: number) => vi.waitFor(async () => expect(await client.memories({ limit: 100 })).toHaveLength(count), until)
const found = (details: string): Result => ({ discoveries: [{ type: 'rumour', details }] })

describe('the embedded memory', () => {
  test('TQM-MEM-001, TQM-MEM-002: completions with discoveries or errors are remembered, and come with later tasks of the ticket or about the same', async () => {
    const dir = folder()
    const { client, server } = await start(openSqliteBank(join(dir, 'memory.db')), dir)
    await work(client, { id: 'first', ticketId: 'T-1', description: 'Repair the login form' }, { ...found('the session cookie is never rotated'), output: { summary: 'repaired', files: ['src/login.ts'] } })
    await work(client, { id: 'second', description: 'Speed up the invoice export' }, { errors: ['one test was skipped'] })
    await work(client, { id: 'plain', ticketId: 'T-1', description: 'Repair the login form' }, { output: 'nothing special' })
    await remembered(client, 2)
    const ofTicket = await work(client, { ticketId: 'T-1' })
    expect(ofTicket.memories).toMatchObject([
      { task: 'first', ticketId: 'T-1', goal: 'Repair the login form', summary: 'repaired', files: ['src/login.ts'], discoveries: [{ details: 'the session cookie is never rotated' }] },
    ])
    const about = await work(client, { description: 'The export of invoices fails' })
    expect(about.memories).toMatchObject([{ task: 'second', goal: 'Speed up the invoice export', errors: ['one test was skipped'] }])
    expect((await work(client, { description: 'Something "else" AND (NOT ever) near*' })).memories).toBeUndefined()
    expect((await work(client, {})).memories).toBeUndefined()
    const other = client.in('other')
    await other.enqueue({ type: 'x', ticketId: 'T-1' })
    expect((await other.claim({ agentId: 'ann' }))[0]?.memories).toBeUndefined()
    expect(await client.memories({ q: 'cookies' })).toMatchObject([{ task: 'first' }])
    expect((await server.get('/readyz')).body).not.toHaveProperty('degraded')
  })

  test('TEN-1: in a queue whose tenants are isolated, no memories come with claims: they may be of another tenant', async () => {
    const dir = folder()
    const { client, server } = await start(openSqliteBank(join(dir, 'memory.db')), dir)
    const ofBoth = async (tenants: object): Promise<unknown> => {
      const queue = client.in(`of ${JSON.stringify(tenants).length}`.replaceAll(' ', '-'))
      await server.call('PATCH', `/api/queues/${queue.queue}/settings`, tenants)
      await work(queue, { id: 'globex:first', tenant: 'globex', ticketId: 'T-1' }, found('the cookie is never rotated'))
      await remembered(queue, 1)
      return (await work(queue, { id: 'acme:second', tenant: 'acme', ticketId: 'T-1' })).memories
    }
    expect(await ofBoth({})).toHaveLength(1)
    expect(await ofBoth({ tenants: 'isolated' })).toBeUndefined()
  })

  test('TQM-MEM-001, LK-11: the goal is that of the newest payload', async () => {
    const dir = folder()
    const { client } = await start(openSqliteBank(join(dir, 'memory.db')), dir)
    await client.enqueue({ id: 'a', type: 'x', payload: { goal: 'repair the lock' } })
    await client.amend('a', { payload: { goal: 'repair the login' } }, 'a slip')
    await client.amend('a', { priority: 9 }, 'it is urgent')
    const [claim] = await client.claim({ agentId: 'ann' })
    await client.complete('a', { agentId: 'ann', token: claim!.lease.token, result: { decisionReport: 'x', ...found('y') } })
    await remembered(client, 1)
    expect(await client.memories()).toMatchObject([{ task: 'a', goal: 'repair the login' }])
  })

  describe('many searches', () => {
    const bankWithSearches = async (signal: AbortSignal) => {
      const bank = openSqliteBank(join(folder(), 'memory.db'))
      opened.push(() => bank.close())
      const memory = { queue: 'q', task: 'first', type: 'eng', at: '2026-01-31T00:00:00.000Z', errors: ['the login failed'] }
      await bank.remember([{ ...memory, id: 'q:1' }])
      const searches = bank.recall('q', Array.from({ length: 20_000 }, () => ({ description: 'Repair the login', limit: 5 })), signal)
      const ended = searches.then(() => 'answered', (error: Error) => error.message)
      return { bank, ended, memory }
    }

    test('are not done for somebody who gave up', async () => {
      const controller = new AbortController()
      const { ended } = await bankWithSearches(controller.signal)
      controller.abort(new Error('gave up'))
      expect(await ended).toBe('gave up')
    })

    test('keep neither what is to be remembered waiting nor the end', async () => {
      const { bank, ended, memory } = await bankWithSearches(new AbortController().signal)
      let isEnded = false
      void ended.then(() => (isEnded = true))
      await bank.remember([{ ...memory, id: 'q:2' }])
      expect(isEnded).toBe(false)
      await bank.close()
      expect(await ended).toBe('the memory is closed')
    })
  })

  test('TQM-MEM-001: nothing secret is remembered', async () => {
    const dir = folder()
    const { client } = await start(openSqliteBank(join(dir, 'memory.db')), dir)
    await work(client, { id: 'leaky', ticketId: 'T-1', payload: { goal: 'use password=hunter2-x' } }, { discoveries: [{ type: 'x', details: 'Bearer abc123xyz', apiKey: 'k-1' }], errors: ['token=abc123'], output: 'see postgres://app:pw1@db/x' })
    await remembered(client, 1)
    const [memory] = await client.memories()
    expect(memory).toMatchObject({ task: 'leaky', goal: 'use password=[redacted]', discoveries: [{ details: 'Bearer [redacted]', apiKey: '[redacted]' }], errors: ['token=[redacted]'] })
    expect(JSON.stringify(memory)).not.toMatch(/hunter2|abc123|k-1|pw1/)
  })

  test('a restart remembers what the last server did not, and nothing twice; a memory that was removed is filled again from the log', async () => {
    const dir = folder()
    const store = openMemoryStore()
    const file = join(dir, 'memory.db')
    const first = await start(openSqliteBank(file), dir, { store })
    await work(first.client, { id: 'a', ticketId: 'T-1' }, found('x'))
    await remembered(first.client, 1)
    await first.stop()
    const without = await startTestServer({}, { ...store, close: () => Promise.resolve() })
    const client = createClient({ url: without.http.url, token: adminToken, queue: 'q' })
    await work(client, { id: 'b', ticketId: 'T-1' }, found('y'))
    await client.close()
    await without.stop()
    const second = await start(openSqliteBank(file), dir, { store })
    await remembered(second.client, 2)
    await second.stop()
    for (const name of ['memory.db', 'memory.db-wal', 'memory.db-shm']) rmSync(join(dir, name), { force: true })
    const third = await start(openSqliteBank(file), dir, { store })
    await remembered(third.client, 2)
    expect((await third.client.memories()).map(({ task }) => task).sort()).toEqual(['a', 'b'])
  })

  test('TQM-MEM-002: in the process of the server, too, and it is told why there may be more', async () => {
    const dir = folder()
    const { client, server, memory } = await start(openSqliteBank(join(dir, 'memory.db')), dir)
    await work(client, { id: 'first', ticketId: 'T-1' }, found('x'))
    await remembered(client, 1)
    await client.enqueueAll([{ id: 'next', type: 'next', ticketId: 'T-1' }, { id: 'last', type: 'last', ticketId: 'T-1' }])
    const engine = await server.daybook.open('q')
    const claimBy = async (recall: Pick<typeof memory, 'recallFor'> | undefined, type: string) =>
      (await engineSource(engine, undefined, recall).claim({ agentId: 'w', types: [type], max: 1, waitMs: 0, leaseSeconds: 60 }, new AbortController().signal))[0]
    expect(await claimBy(memory, 'next')).toMatchObject({ task: { id: 'next' }, memories: [{ task: 'first' }], memoriesMissing: undefined })
    const away = { recallFor: () => Promise.resolve({ memories: [], missing: 'it is away' }) }
    expect(await claimBy(away, 'last')).toMatchObject({ task: { id: 'last' }, memories: undefined, memoriesMissing: 'it is away' })
  })

  test('a file that is damaged is told as such, with what to do', async () => {
    const file = join(folder(), 'memory.db')
    writeFileSync(file, 'no database '.repeat(1_000))
    const bank = openSqliteBank(file)
    await expect(bank.identity()).rejects.toThrow(`the memory ${file} cannot be used: it is damaged (file is not a database): move it away, and everything is remembered again from the log`)
    await bank.close()
  })

  test('the handler of a worker has the memories', async () => {
    const dir = folder()
    const { client } = await start(openSqliteBank(join(dir, 'memory.db')), dir)
    await work(client, { id: 'first', ticketId: 'T-1' }, found('x'))
    await remembered(client, 1)
    await client.enqueue({ id: 'next', type: 'next', ticketId: 'T-1' })
    let seen: unknown
    const worker = createWorker({ source: httpSource(client), agentId: 'w', types: ['next'], handler: (_, { memories }) => {
      seen = memories
      return { decisionReport: 'x' }
    } })
    worker.start()
    await vi.waitFor(() => expect(seen).toMatchObject([{ task: 'first' }]), until)
    await worker.stop()
  })
})

describe('a memory behind HTTP', () => {
  test('TQM-MEM-001, TQM-MEM-002: it gets each completion once, with its token, and its memories come with claims', async () => {
    const bank = await bankServer()
    const { client } = await start(openHttpBank({ url: bank.url, token: 'secret-of-the-bank', timeoutMs: 5_000 }), folder())
    await work(client, { id: 'a', ticketId: 'T-1', description: 'd' }, found('x'))
    await vi.waitFor(() => expect([...bank.kept.keys()]).toEqual(['q:a:1']), until)
    expect((await work(client, { ticketId: 'T-1' })).memories).toMatchObject([{ task: 'a', goal: 'd' }])
    expect(new Set(bank.asked.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer secret-of-the-bank']))
  })

  test('TQM-MEM-002: one that hangs delays no claim beyond its budget, and then none at all; what happens meanwhile is remembered later', async () => {
    const bank = await bankServer()
    const { client, server, memory } = await start(openHttpBank({ url: bank.url, timeoutMs: 50 }), folder(), { recallMs: 20 })
    bank.mode = 'hangs'
    await client.enqueueAll(Array.from({ length: 20 }, (_, i) => ({ id: `t${i}`, type: 'x', ticketId: 'T-1', payload: i })))
    const claim = async () => (await server.post('/api/queues/q/claims', { agentId: 'ann', types: ['x'] })).body
    // The memory never answers, so each of these answers came without it.
    const first = await claim()
    expect(first).toMatchObject({ claims: [{ task: { id: 't0' } }], memoriesMissing: 'the memory did not answer within 20 ms' })
    const later = []
    for (let i = 0; i < 19; i++) later.push(await claim())
    expect(later.every(({ claims }) => claims.length === 1)).toBe(true)
    expect(later.filter(({ memoriesMissing }) => memoriesMissing === 'the memory did not answer lately').length).toBeGreaterThan(0)
    // Asked again after a second, and then after two: not with each claim.
    expect(bank.recalls()).toBeLessThan(20)
    await client.complete('t0', { agentId: 'ann', token: first.claims[0].lease.token, result: { decisionReport: 'x', ...found('y') } })
    await vi.waitFor(() => expect(memory.status()[0]?.problem).toBeDefined(), until)
    expect((await server.get('/readyz')).body).toMatchObject({ status: 'ready', degraded: [{ part: 'memory', queue: 'q' }] })
    bank.mode = 'works'
    await vi.waitFor(() => expect([...bank.kept.keys()]).toEqual([`q:t0:${first.claims[0].lease.token}`]), until)
    await vi.waitFor(() => expect(memory.status()[0]?.problem).toBeUndefined(), until)
  })

  test('TQM-MEM-001: one that fails and comes back has lost nothing', async () => {
    const bank = await bankServer()
    const { client, memory } = await start(openHttpBank({ url: bank.url, timeoutMs: 5_000 }), folder())
    bank.mode = 'fails'
    for (let i = 0; i < 5; i++) expect((await work(client, { id: `t${i}`, ticketId: 'T-1' }, found(String(i)))).task.id).toBe(`t${i}`)
    await vi.waitFor(() => expect(memory.status()[0]?.problem?.reason).toContain('503'), until)
    expect(bank.kept.size).toBe(0)
    bank.mode = 'works'
    await vi.waitFor(() => expect([...bank.kept.values()].map(({ task }) => task)).toEqual(['t0', 't1', 't2', 't3', 't4']), until)
  })

  test('TQM-MEM-001: a server that stops while the memory is away gives it everything after its next start', async () => {
    const bank = await bankServer()
    const dir = folder()
    const store = openMemoryStore()
    const first = await start(openHttpBank({ url: bank.url, timeoutMs: 5_000 }), dir, { store })
    await work(first.client, { id: 'a' }, found('x'))
    await vi.waitFor(() => expect(bank.kept.size).toBe(1), until)
    bank.mode = 'hangs'
    await work(first.client, { id: 'b' }, found('x'))
    // The bank has the request and never answers. If it got it later, it would keep `b` without the second server.
    await vi.waitFor(() => expect(JSON.stringify(bank.asked)).toContain('"task":"b"'), until)
    await first.stop()
    bank.mode = 'works'
    const asked = bank.asked.length
    await start(openHttpBank({ url: bank.url, timeoutMs: 5_000 }), dir, { store })
    await vi.waitFor(() => expect([...bank.kept.values()].map(({ task }) => task)).toEqual(['a', 'b']), until)
    // From the checkpoint: what was remembered is not sent again.
    expect(JSON.stringify(bank.asked.slice(asked))).not.toContain('"task":"a"')
  })

  test.each([
    // The time limit is beyond the patience of the test: only the length ends it.
    ['that is too long', 'x'.repeat(1_000_000), 2 * patienceMs, 'more than 16777216 bytes'],
    ['that drips', 'x', 1_000, 'timeout'],
  ])('an answer without end, %s, is broken off, also after a garbage collection', async (_, part, timeoutMs, why) => {
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(200)
      const more = setInterval(() => void (response.writableNeedDrain || response.write(part)), 5)
      response.on('drain', () => void response.write(part))
      response.on('close', () => clearInterval(more)).on('error', () => undefined)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // Before the time limit of the one that drips. For ever, they would take all the time of a busy machine.
    const collections = [300, 600, 900].map((ms) => setTimeout(collectGarbage, ms))
    opened.push(async () => {
      for (const each of collections) clearTimeout(each)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    const bank = openHttpBank({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs })
    const remembering = bank.remember([{ id: 'q:1', queue: 'q', task: 'a', type: 'x', at: '2026-01-31T00:00:00.000Z' }])
    expect(await inTime('the end of the answer', remembering.then(() => 'kept', (error: Error) => error.message))).toContain(why)
  })

  test('one memory that is refused for good does not keep the others out', async () => {
    const bank = await bankServer()
    const { client } = await start(openHttpBank({ url: bank.url, timeoutMs: 5_000 }), folder())
    bank.mode = 'fails'
    for (let i = 0; i < 3; i++) await work(client, { id: `t${i}` }, found(String(i)))
    bank.refused = 'q:t1:2'
    bank.mode = 'refuses'
    await vi.waitFor(() => expect([...bank.kept.values()].map(({ task }) => task)).toEqual(['t0', 't2']), until)
  })
})
