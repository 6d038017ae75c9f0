/** The point of this file: a relay, a database and a server that are killed, each at the worst moments, and every committed row is one task all the same. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient, type DaybookClient } from '@daybook/client'
import { createOutbox, type Outbox, type Relay, type RelayEvent, type RelayOptions } from '@daybook/client/outbox'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../cli/program.js'
import { inTime, patienceMs } from '../support/in-time.js'
import { goesWithout, postgresql } from '../support/needs.js'
import { Postgres } from '../support/postgres.js'
import { type RealQueue, startRealQueue } from '../worker/real-queue.js'

const withoutPostgres = goesWithout(postgresql)
let postgres: Postgres
let queue: RealQueue
let pool: pg.Pool
const opened: Array<() => unknown> = []
beforeAll(async () => {
  if (withoutPostgres) return
  postgres = await Postgres.start()
  // Each relay keeps a connection.
  pool = postgres.pool({ max: 40 })
  queue = await startRealQueue()
})
afterAll(async () => {
  if (withoutPostgres) return
  await queue.stop()
  await postgres.stop()
})
afterEach(async () => {
  // At once: each may wait for its time to pass.
  await Promise.all(opened.splice(0).map((close) => close()))
})

let serial = 0
const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)
/** An outbox with this many rows, whose payloads are their places. */
const filled = async (rows: number): Promise<{ outbox: Outbox; client: DaybookClient; table: string }> => {
  const table = `crash_${++serial}`
  const outbox = createOutbox({ table, queue: `of-${table}` })
  await pool.query(outbox.migration())
  await outbox.enqueueAll(pool, numbers(rows).map((n) => ({ type: 'x', payload: n })))
  return { outbox, client: queue.client.in(outbox.queue), table }
}
const relayOf = (outbox: Outbox, options: Partial<RelayOptions> = {}): Relay => {
  const relay = outbox.relay({ database: pool, client: queue.client, pollMs: 50, ...options })
  relay.start()
  opened.push(() => inTime('the stop of the relay', relay.stop({ graceMs: 2 * patienceMs })))
  return relay
}
const until = async (what: string, isSo: () => Promise<boolean> | boolean): Promise<void> => {
  for (const end = Date.now() + patienceMs; !(await isSo()); ) {
    if (Date.now() > end) throw new Error(`not within ${patienceMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
const isEmpty = (outbox: Outbox): Promise<void> => until('an empty outbox', async () => (await outbox.backlog(pool)).waiting === 0)
const payloads = async (client: DaybookClient): Promise<ReadonlyArray<unknown>> => {
  const tasks: Array<{ readonly number: number; readonly payload: unknown }> = []
  for await (const task of client.eachTask({ limit: 1_000 })) tasks.push(task)
  return tasks.sort((a, b) => a.number - b.number).map(({ payload }) => payload)
}
/** Runs a relay in a process that ends at the step. Batches have ten rows. */
const dieAt = async (step: string, table: string): Promise<NodeJS.Signals | null> => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./relay-child.mjs', import.meta.url))], {
    env: { ...process.env, DATABASE_URL: postgres.url, DAYBOOK_URL: queue.url, DAYBOOK_TOKEN: queue.token, DIES: step, BATCH_MAX: '10', OUTBOX_TABLE: table },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  opened.push(() => child.kill('SIGKILL'))
  const [, signal] = (await inTime(`the end of a relay that dies ${step}`, once(child, 'exit'))) as [number | null, NodeJS.Signals | null]
  return signal
}

describe.skipIf(withoutPostgres)('a relay that is killed', () => {
  const steps = ['before-begin 1', 'before-lock 2', 'after-take 1', 'before-send 2', 'during-send 1', 'after-send 1', 'after-send 3', 'after-remove 1', 'before-commit 2', 'after-commit 1']

  test(`at any of ${steps.length} steps leaves rows of which each is one task, in order`, async () => {
    const tried = await Promise.allSettled(
      steps.map(async (step) => {
        const { outbox, client, table } = await filled(25)
        expect(await dieAt(step, table), step).toBe('SIGKILL')
        const relay = relayOf(outbox)
        await isEmpty(outbox)
        expect(await payloads(client), step).toEqual(numbers(25))
        expect(relay.stats().refused, step).toBe(0)
      }),
    )
    // When all have ended: a relay that is started later would never be stopped.
    for (const one of tried) if (one.status === 'rejected') throw one.reason
  })

  test('between sending and marking: what it sent may be done, dead or cancelled by then, and is not enqueued again', async () => {
    const { outbox, client, table } = await filled(25)
    await client.settings.patch({ decisionReport: 'optional', capacity: { maxConcurrentAgents: 25 } })
    expect(await dieAt('after-send 1', table)).toBe('SIGKILL')
    expect((await outbox.backlog(pool)).waiting).toBe(25)
    const claims = await client.claim({ agentId: 'w', max: 6 })
    for (const [i, { task, lease }] of claims.entries()) {
      const holder = { agentId: 'w', token: lease.token }
      if (i < 2) await client.complete(task.id, { ...holder, result: {} })
      else if (i < 4) await client.fail(task.id, { ...holder, error: 'no route', retryable: false })
      else await client.cancel(task.id, 'not needed')
    }
    await client.deadLetters.discard(claims[2]!.task.id, { reviewer: 'ann', reason: 'not needed' })
    const relay = relayOf(outbox)
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(numbers(25))
    await until('the counts', () => relay.stats().moved === 25)
    expect(relay.stats()).toMatchObject({ duplicates: 10, refused: 0 })
  })
})

describe.skipIf(withoutPostgres)('a database that is killed', () => {
  test('after rows were sent, before they are marked: it recovers, and they are not enqueued again', async () => {
    const { outbox, client } = await filled(25)
    let kills = 0
    const failures: Array<RelayEvent> = []
    const deadly = (own: DaybookClient): DaybookClient => ({
      ...own,
      in: (name) => deadly(own.in(name)),
      enqueueAll: (async (...given: Parameters<DaybookClient['enqueueAll']>) => {
        const answer = await own.enqueueAll(...given)
        if (++kills <= 2) await postgres.kill()
        return answer
      }) as DaybookClient['enqueueAll'],
    })
    const relay = relayOf(outbox, { client: deadly(queue.client), batchMax: 10, onEvent: (event) => void (event.type === 'failed' && failures.push(event)) })
    for (const times of [1, 2]) {
      await until('a failure', () => kills === times && failures.some(({ type }) => type === 'failed'))
      failures.length = 0
      await postgres.restart()
    }
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(numbers(25))
    await until('the counts', () => relay.stats().moved === 25)
    expect(relay.stats()).toMatchObject({ duplicates: 10, refused: 0 })
  })

  test('while nothing happens: the relay connects again, and is told of rows as before', async () => {
    const { outbox, client } = await filled(1)
    const relay = relayOf(outbox, { pollMs: 3_600_000 })
    await isEmpty(outbox)
    await postgres.kill()
    await postgres.restart()
    await outbox.enqueue(pool, { type: 'x', payload: 1 })
    await isEmpty(outbox)
    await until('the counts', () => relay.stats().moved === 2)
    await outbox.enqueue(pool, { type: 'x', payload: 2 })
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(numbers(3))
  })
})

describe.skipIf(withoutPostgres)('a server that is killed', () => {
  test('in the middle of the rows: they wait for it, and each is one task, in order', async () => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-outbox-'))
    opened.push(() => rmSync(data, { recursive: true, force: true }))
    const token = 'a-token-of-the-outbox-tests'
    let server: ChildProcess | undefined
    const start = async (port: string): Promise<string> => {
      server = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'serve', '--port', port, '--data', data], { env: { ...process.env, DAYBOOK_TOKEN: token }, stdio: ['ignore', 'pipe', 'inherit'] })
      for await (const line of createInterface({ input: server.stdout! })) {
        const url = /http:\/\/[\w.:]+/.exec(line)?.[0]
        if (url !== undefined) return url
      }
      throw new Error('the server ended before it said where it is')
    }
    opened.push(() => server?.kill('SIGKILL'))
    const url = await start('0')
    const client = createClient({ url, token })
    opened.push(() => client.close())
    const { outbox } = await filled(300)
    const events: Array<RelayEvent> = []
    const onEvent = (event: RelayEvent): void => {
      events.push(event)
      if (events.length === 3) server?.kill('SIGKILL')
    }
    const relay = relayOf(outbox, { client, batchMax: 20, backoffMsMax: 100, onEvent })
    await until('a server that is missed', () => events.some(({ type }) => type === 'failed'))
    expect(events.find(({ type }) => type === 'failed')).toMatchObject({ queue: outbox.queue, error: { code: 'unreachable' } })
    // Until it has ended, its log is locked.
    if (server!.signalCode === null) await inTime('the end of the server', once(server!, 'exit'))
    await start(new URL(url).port)
    await isEmpty(outbox)
    expect(await payloads(client.in(outbox.queue))).toEqual(numbers(300))
    expect(relay.stats().refused).toBe(0)
  })
})
