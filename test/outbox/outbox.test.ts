/** The point of this file: what a transaction commits is in the queue once and in order, and what it rolls back never is; with one relay, with several, and whatever is refused. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openEmbedded } from '@daybook/adapters/embedded'
import { createClient, type DaybookClient, taskType } from '@daybook/client'
import { type Connection, createOutbox, type Outbox, type Relay, type RelayEvent, type RelayOptions, type Sql } from '@daybook/client/outbox'
import * as t from 'io-ts'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
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
  pool = postgres.pool()
  queue = await startRealQueue()
})
afterAll(async () => {
  if (withoutPostgres) return
  await queue.stop()
  await postgres.stop()
})
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

let serial = 0
/** An outbox with a table of its own, and a queue of its own. */
const fresh = async (migrated: { readonly notify?: boolean } = {}): Promise<{ outbox: Outbox; client: DaybookClient; table: string }> => {
  const table = `outbox_${++serial}`
  const outbox = createOutbox({ table, queue: `of-${table}` })
  await pool.query(outbox.migration(migrated))
  return { outbox, client: queue.client.in(outbox.queue), table }
}
const relayOf = (outbox: Outbox, options: Partial<RelayOptions> = {}): { relay: Relay; events: Array<RelayEvent> } => {
  const events: Array<RelayEvent> = []
  const relay = outbox.relay({ database: pool, client: queue.client, pollMs: 50, onEvent: (event) => void events.push(event), ...options })
  relay.start()
  opened.push(() => inTime('the stop of the relay', relay.stop({ graceMs: 2 * patienceMs })))
  return { relay, events }
}
/** Runs `work` in a transaction. */
const inTransaction = async <A>(work: (tx: pg.PoolClient) => Promise<A>, end: 'COMMIT' | 'ROLLBACK' = 'COMMIT'): Promise<A> => {
  const tx = await pool.connect()
  try {
    await tx.query('BEGIN')
    const done = await work(tx)
    await tx.query(end)
    return done
  } finally {
    tx.release()
  }
}
const until = async (what: string, isSo: () => Promise<boolean> | boolean): Promise<void> => {
  for (const end = Date.now() + patienceMs; !(await isSo()); ) {
    if (Date.now() > end) throw new Error(`not within ${patienceMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
const isEmpty = (outbox: Outbox): Promise<void> => until('an empty outbox', async () => (await outbox.backlog(pool)).waiting === 0)
/** Payloads of all tasks, in the order in which they came into the queue. */
const payloads = async (client: DaybookClient): Promise<ReadonlyArray<unknown>> => {
  const tasks: Array<{ readonly number: number; readonly payload: unknown }> = []
  for await (const task of client.eachTask({ limit: 1_000 })) tasks.push(task)
  return tasks.sort((a, b) => a.number - b.number).map(({ payload }) => payload)
}
type Send = (own: DaybookClient, ...batch: Parameters<DaybookClient['enqueueAll']>) => Promise<unknown>
/** The client, whose batches are sent by `send` in all queues. */
const sendingBy = (client: DaybookClient, send: Send): DaybookClient => ({
  ...client,
  in: (name) => sendingBy(client.in(name), send),
  enqueueAll: ((...batch: Parameters<DaybookClient['enqueueAll']>) => send(client, ...batch)) as DaybookClient['enqueueAll'],
})
const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => 'no error', (error: unknown) => error)
/** A client that holds its batches back until `goOn`. */
const holding = (): { readonly slow: DaybookClient; readonly isSending: Promise<void>; readonly goOn: () => void } => {
  let sends = (): void => undefined
  let goOn = (): void => undefined
  const isSending = new Promise<void>((resolve) => (sends = resolve))
  const gate = new Promise<void>((resolve) => (goOn = resolve))
  const slow = sendingBy(queue.client, async (own, ...batch) => {
    sends()
    await gate
    return own.enqueueAll(...batch)
  })
  return { slow, isSending, goOn }
}

describe.skipIf(withoutPostgres)('a transaction', () => {
  test('that is committed yields its tasks once, in order; one that is rolled back yields none', async () => {
    const { outbox, client } = await fresh()
    relayOf(outbox)
    await inTransaction((tx) => outbox.enqueueAll(tx, numbers(2_500).map((n) => ({ type: 'x', payload: n }))))
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 'rolled back' }), 'ROLLBACK')
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 'last' }))
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual([...numbers(2_500), 'last'])
  })

  test('that is committed late is not passed over, though its rows have lower numbers', async () => {
    const { outbox, client } = await fresh()
    relayOf(outbox)
    await inTransaction(async (slow) => {
      await outbox.enqueue(slow, { type: 'x', payload: 'began first' })
      await inTransaction((quick) => outbox.enqueue(quick, { type: 'x', payload: 'committed first' }))
      await until('the first task', async () => (await payloads(client).catch(() => [])).length === 1)
    })
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(['committed first', 'began first'])
  })

  test('refuses a payload that is no JSON, as the client does, and writes nothing in its place', async () => {
    const { outbox } = await fresh()
    for (const payload of [NaN, { map: new Map([[1, 2]]) }, { run: () => 1 }]) {
      expect(await failure(outbox.enqueue(pool, { type: 'x', payload: payload as never }))).toMatchObject({ code: 'invalid' })
    }
    expect(await outbox.backlog(pool)).toMatchObject({ waiting: 0 })
  })

  test('is told the id of its task, whose result can be waited for', async () => {
    const { outbox, client } = await fresh()
    await client.settings.patch({ decisionReport: 'optional' })
    relayOf(outbox)
    const made = await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 1 }))
    const given = await inTransaction((tx) => outbox.enqueue(tx, { id: 'mine', type: 'x', payload: 1 }))
    expect(given).toEqual({ id: 'mine' })
    await isEmpty(outbox)
    for (const { id } of [made, given]) {
      const [claim] = await client.claim({ agentId: 'w', wait: 30 })
      expect(claim!.task.id).toBe(id)
      await client.complete(id, { agentId: 'w', token: claim!.lease.token, result: { output: 'done' } })
      expect((await client.handle(id).result()).output).toBe('done')
    }
  })

  test('enqueues declared types, and what is not one of the type is not written', async () => {
    const { outbox, client } = await fresh()
    const invoice = taskType('invoice', { payload: t.type({ order: t.number }) })
    await inTransaction((tx) => outbox.enqueue(tx, invoice, { order: 7 }, { priority: 'HIGH' }))
    // @ts-expect-error: an order is a number
    const wrong = inTransaction((tx) => outbox.enqueue(tx, invoice, { order: 'seven' }))
    expect(await failure(wrong)).toMatchObject({ code: 'invalid', errors: [{ path: 'payload.order' }] })
    expect(await outbox.backlog(pool)).toMatchObject({ waiting: 1 })
    relayOf(outbox)
    await isEmpty(outbox)
    expect((await client.tasks()).tasks).toMatchObject([{ type: 'invoice', payload: { order: 7 }, priority: 8 }])
  })

  test('of equal content twice is two tasks; of an equal key, one', async () => {
    const { outbox, client } = await fresh()
    const tasks = [{ type: 'x', payload: 1 }, { type: 'x', payload: 1 }, { type: 'x', payload: 2, idempotencyKey: 'k' }, { type: 'x', payload: 3, idempotencyKey: 'k' }]
    await inTransaction((tx) => outbox.enqueueAll(tx, tasks))
    const { relay } = relayOf(outbox)
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual([1, 1, 2])
    await until('the counts', () => relay.stats().moved === 4)
    expect(relay.stats()).toMatchObject({ duplicates: 1, refused: 0 })
  })

  test('of rows that were written by SQL alone', async () => {
    const { outbox, client, table } = await fresh()
    relayOf(outbox)
    await pool.query(`INSERT INTO ${table} (queue, task) SELECT $1, json_build_object('type', 'x', 'payload', n) FROM generate_series(1, 3) AS n`, [outbox.queue])
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual([1, 2, 3])
  })
})

describe.skipIf(withoutPostgres)('the table', () => {
  test('is made again without a loss, and may be in a schema', async () => {
    await pool.query('CREATE SCHEMA IF NOT EXISTS app')
    const outbox = createOutbox({ table: `app.outbox_${++serial}`, queue: 'of-app' })
    await pool.query(outbox.migration())
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x' }))
    await pool.query(outbox.migration())
    expect(await outbox.backlog(pool)).toMatchObject({ waiting: 1, refused: 0 })
    relayOf(outbox, { pollMs: 3_600_000 })
    await isEmpty(outbox)
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 'told' }))
    await isEmpty(outbox)
  })

  test.each(['outbox; DROP TABLE users', 'Outbox', '"outbox"', 'a.b.c', ''])('may not be called %s', (table) => {
    expect(() => createOutbox({ table })).toThrow(RangeError)
  })

  test('tells how much waits, and since when', async () => {
    const { outbox, table } = await fresh()
    expect(await outbox.backlog(pool)).toEqual({ waiting: 0, refused: 0, oldestSeconds: 0 })
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x' }))
    await pool.query(`UPDATE ${table} SET created_at = now() - interval '90 s'`)
    const { oldestSeconds } = await outbox.backlog(pool)
    expect(oldestSeconds).toBeGreaterThanOrEqual(90)
    expect(oldestSeconds).toBeLessThan(90 + patienceMs / 1_000)
  })

  test('is used with texts as parameters alone, so that any library will do', async () => {
    const { outbox, client } = await fresh()
    const values: Array<unknown> = []
    const sql: Sql = { query: (text, given = []) => (values.push(...given), pool.query(text, given)) }
    await outbox.enqueue(sql, { type: 'x', payload: { n: 1 }, availableAt: new Date(0) })
    const database = { connect: async () => { const own = await pool.connect(); return { query: (text: string, given: Array<string> = []) => (values.push(...given), own.query(text, given)), release: () => own.release(true) } } }
    const { relay } = relayOf(outbox, { database })
    await isEmpty(outbox)
    await relay.stop()
    expect(await payloads(client)).toEqual([{ n: 1 }])
    expect(values.length).toBeGreaterThan(5)
    expect(values.filter((value) => typeof value !== 'string')).toEqual([])
  })
})

describe.skipIf(withoutPostgres)('a relay', () => {
  test('is told of rows, and needs no polling', async () => {
    const { outbox, client } = await fresh()
    const { relay } = relayOf(outbox, { pollMs: 3_600_000 })
    await until('the first look', () => relay.stats().leads)
    for (const n of numbers(3)) {
      await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: n }))
      await isEmpty(outbox)
    }
    expect(await payloads(client)).toEqual([0, 1, 2])
  })

  test('polls where there are no notifications', async () => {
    const { outbox, client } = await fresh({ notify: false })
    const { relay } = relayOf(outbox, { listen: false })
    await until('the first look', () => relay.stats().leads)
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 'polled' }))
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(['polled'])
  })

  test('is one of several that works: rows are moved once, in order; when it stops, another goes on', async () => {
    const { outbox, client } = await fresh()
    let sending = 0
    let sendingMax = 0
    const counting = sendingBy(queue.client, (own, ...batch) => {
      sendingMax = Math.max(sendingMax, ++sending)
      return own.enqueueAll(...batch).finally(() => sending--)
    })
    const relays = numbers(3).map(() => relayOf(outbox, { batchMax: 7, client: counting }).relay)
    const insert = async (from: number): Promise<void> => {
      for (const n of numbers(100)) await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: from + n }))
    }
    await inTransaction((tx) => outbox.enqueueAll(tx, numbers(100).map((n) => ({ type: 'x', payload: n }))))
    await isEmpty(outbox)
    const moved = (): number => relays.reduce((sum, relay) => sum + relay.stats().moved, 0)
    await until('the counts', () => moved() === 100)
    // Between two batches of one, another may have taken the lock, so `leads` may be true of several: it is what each saw last.
    await until('a relay that leads', () => relays.some((relay) => relay.stats().leads))
    await relays.find((relay) => relay.stats().leads)!.stop()
    await insert(100)
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(numbers(200))
    await until('the counts', () => moved() === 200)
    expect(relays.reduce((sum, relay) => sum + relay.stats().duplicates, 0)).toBe(0)
    expect(sendingMax).toBe(1)
  })

  test('shares the lock of its table with a relay that has another name for it: neither overtakes the other', async () => {
    const { outbox, client, table } = await fresh()
    const same = createOutbox({ table: `public.${table}`, queue: outbox.queue })
    await inTransaction((tx) => outbox.enqueueAll(tx, numbers(20).map((n) => ({ type: 'x', payload: n }))))
    const { slow, isSending, goOn } = holding()
    relayOf(outbox, { batchMax: 5, client: slow })
    opened.push(goOn)
    await inTime('the first batch', isSending)
    let looks = 0
    const counting = async (): Promise<Connection> => {
      const own = await pool.connect()
      return { query: (text, values) => own.query(text, values).finally(() => (looks += text === 'COMMIT' ? 1 : 0)), release: (isBroken) => own.release(isBroken) }
    }
    relayOf(same, { database: { connect: counting } })
    await until('a look of the other relay', () => looks > 0)
    goOn()
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(numbers(20))
  })

  test('does not wait for the relay of another table, which has the same name in another schema', async () => {
    const inSchema = async (schema: string): Promise<{ readonly of: pg.Pool; readonly outbox: Outbox }> => {
      await pool.query(`CREATE SCHEMA ${schema}`)
      const of = postgres.pool({ options: `-c search_path=${schema}` })
      const outbox = createOutbox({ table: 'alike', queue: `of-${schema}` })
      await of.query(outbox.migration())
      await outbox.enqueue(of as Sql, { type: 'x' })
      return { of, outbox }
    }
    const [one, two] = [await inSchema('one'), await inSchema('two')]
    const { slow, isSending, goOn } = holding()
    relayOf(one.outbox, { database: one.of, client: slow })
    opened.push(goOn)
    await inTime('the first batch', isSending)
    relayOf(two.outbox, { database: two.of })
    await until('the row of the other schema', async () => (await two.outbox.backlog(two.of as Sql)).waiting === 0)
    goOn()
  })

  test('leaves a row alone that somebody else has locked, and takes it later', async () => {
    const { outbox, client, table } = await fresh()
    await inTransaction((tx) => outbox.enqueueAll(tx, [{ type: 'x', payload: 'locked' }, { type: 'x', payload: 'free' }]))
    await inTransaction(async (tx) => {
      await tx.query(`SELECT FROM ${table} WHERE task->>'payload' = 'locked' FOR UPDATE`)
      relayOf(outbox)
      await until('the free row', async () => (await outbox.backlog(pool)).waiting === 1)
    })
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(['free', 'locked'])
  })

  test('sets aside what a queue refuses, with the problem, and moves the others in order; corrected and sent back, it is moved, too', async () => {
    const { outbox, client, table } = await fresh()
    await client.enqueue({ id: 'taken', type: 'x', payload: 'first' })
    const bad = [{ type: 'x', priority: 11 }, { id: 'taken', type: 'x', payload: 'other' }, { type: 'x', dependencies: ['nowhere'] }, { type: 'x', payload: 'x'.repeat(300_000) }] as const
    const tasks = numbers(40).flatMap((n) => [{ type: 'x', payload: n }, ...(n % 10 === 3 ? [bad[(n - 3) / 10]!] : [])])
    await inTransaction((tx) => outbox.enqueueAll(tx, tasks))
    await pool.query(`INSERT INTO ${table} (queue, task) VALUES ($1, '7'), ($1, 'null'), ($1, '[]')`, [outbox.queue])
    const { relay, events } = relayOf(outbox)
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(['first', ...numbers(40)])
    const { rows } = await pool.query(`SELECT problem FROM ${table} ORDER BY number`)
    expect(rows.map(({ problem }) => problem.code)).toEqual(['invalid', 'conflict', 'unknown-dependency', 'too-large', 'invalid', 'invalid', 'invalid'])
    expect(rows[0].problem.errors).toMatchObject([{ path: expect.stringContaining('priority') }])
    expect(await outbox.backlog(pool)).toEqual({ waiting: 0, refused: 7, oldestSeconds: 0 })
    await until('the counts', () => relay.stats().refused === 7)
    expect(events.filter(({ type }) => type === 'refused')).toHaveLength(7)
    expect(events.filter(({ type }) => type === 'failed')).toEqual([])

    await pool.query(`UPDATE ${table} SET problem = NULL, refused_at = NULL, task = jsonb_set(task::jsonb, '{priority}', '9') WHERE problem->>'code' = 'invalid' AND json_typeof(task) = 'object'`)
    await until('the corrected row', async () => (await outbox.backlog(pool)).refused === 6)
    await isEmpty(outbox)
    expect((await client.tasks({ priority: 9 })).tasks).toHaveLength(1)
  })

  test('sets aside a row that cannot be in its batch, also when only the row knows the id that it would have, and one that JavaScript cannot read; the rows after them are moved', async () => {
    const { outbox, client, table } = await fresh()
    await client.enqueue({ type: 'x', payload: 'first', idempotencyKey: 'shared' })
    await client.batches.create({ id: 'open', open: true, callback: { type: 'done' } })
    await inTransaction((tx) => outbox.enqueueAll(tx, [{ type: 'x', payload: 'lost', batchId: 'open', idempotencyKey: 'shared' }, { type: 'x', batchId: 'nowhere' }]))
    await pool.query(`INSERT INTO ${table} (queue, task) VALUES ($1, '{"type":"x","payload":1e400}')`, [outbox.queue])
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 'after' }))
    relayOf(outbox)
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(['first', 'after'])
    const { rows } = await pool.query(`SELECT problem FROM ${table} ORDER BY number`)
    expect(rows.map(({ problem }) => problem.code)).toEqual(['conflict', 'not-found', 'invalid'])
  })

  test('sets nothing aside that a proxy has refused: it says nothing of the rows', async () => {
    const { outbox, client, table } = await fresh()
    const proxy = createServer((_, response) => response.writeHead(400, { 'content-type': 'text/html' }).end('<h1>The plain HTTP request was sent to HTTPS port</h1>'))
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const wrong = createClient({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` })
    opened.push(() => wrong.close().then(() => proxy.close()))
    await inTransaction((tx) => outbox.enqueueAll(tx, numbers(3).map((n) => ({ type: 'x', payload: n }))))
    const { relay, events } = relayOf(outbox, { client: wrong })
    await until('the first failure or refusal', () => events.length > 0)
    await inTime('the stop of the relay', relay.stop())
    expect(events.map(({ type }) => type)).not.toContain('refused')
    expect(await outbox.backlog(pool)).toMatchObject({ waiting: 3, refused: 0 })
    relayOf(outbox)
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(numbers(3))
    expect((await pool.query(`SELECT problem FROM ${table}`)).rows).toEqual([])
  })

  test('stops at a queue that its token is not for, sets nothing aside, and moves the rows of others meanwhile', async () => {
    const { outbox, client } = await fresh()
    const { id, token } = await queue.client.tokens.create({ name: `relay-${outbox.queue}`, roles: ['producer'], queues: [outbox.queue] })
    const limited = createClient({ url: queue.url, token })
    opened.push(() => limited.close())
    const elsewhere = outbox.in(`${outbox.queue}-other`)
    await inTransaction(async (tx) => {
      await elsewhere.enqueueAll(tx, numbers(20).map((n) => ({ type: 'x', payload: n })))
      await outbox.enqueueAll(tx, numbers(20).map((n) => ({ type: 'x', payload: n })))
    })
    const first = relayOf(outbox, { client: limited, batchMax: 5 })
    await until('the rows of its queue', async () => (await outbox.backlog(pool)).waiting === 20)
    expect(await payloads(client)).toEqual(numbers(20))
    expect(first.events.find(({ type }) => type === 'failed')).toMatchObject({ queue: elsewhere.queue, error: { code: 'forbidden' }, retryInMs: expect.any(Number) })

    await queue.client.tokens.revoke(id, 'for the test')
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 20 }))
    await until('a refusal of the token', () => first.events.some((event) => event.type === 'failed' && (event.error as { code?: string }).code === 'unauthorized'))
    expect(await outbox.backlog(pool)).toMatchObject({ waiting: 21, refused: 0 })
    await first.relay.stop()
    relayOf(outbox)
    await isEmpty(outbox)
    expect(await payloads(client)).toEqual(numbers(21))
    expect(await payloads(queue.client.in(elsewhere.queue))).toEqual(numbers(20))
  })

  test('that is stopped finishes its batch; one that may not wait gives it up, and the rows stay', async () => {
    const { outbox, client } = await fresh()
    let arrived = (): void => undefined
    let go = (): void => undefined
    const gate = { arrived: new Promise<void>((resolve) => (arrived = resolve)), open: new Promise<void>((resolve) => (go = resolve)) }
    /** Enqueues when the gate is open, or the signal aborts. */
    const held = sendingBy(queue.client, async (own, tasks, options) => {
      arrived()
      await Promise.race([gate.open, new Promise((resolve) => options!.signal!.addEventListener('abort', resolve))])
      return own.enqueueAll(tasks, options)
    })
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 1 }))
    const hasty = relayOf(outbox, { client: held })
    await inTime('the batch', gate.arrived)
    await inTime('the stop', hasty.relay.stop({ graceMs: 0 }))
    expect(hasty.relay.stats()).toMatchObject({ state: 'stopped', moved: 0 })
    expect((await outbox.backlog(pool)).waiting).toBe(1)
    expect(hasty.events).toEqual([])

    gate.arrived = new Promise<void>((resolve) => (arrived = resolve))
    const patient = relayOf(outbox, { client: held })
    await inTime('the batch', gate.arrived)
    const stopped = patient.relay.stop()
    go()
    await inTime('the stop', stopped)
    expect(patient.relay.stats()).toMatchObject({ state: 'stopped', moved: 1 })
    expect((await outbox.backlog(pool)).waiting).toBe(0)
    expect(await payloads(client)).toEqual([1])
    expect(() => patient.relay.start()).toThrow('this relay is stopped')
  })

  test('that is stopped while it looks does not go to sleep', async () => {
    const { outbox } = await fresh()
    let stopped: Promise<void> | undefined
    const database = {
      connect: async () => {
        const own = await pool.connect()
        const query: Sql['query'] = async (text, values) => {
          const answer = await own.query(text, values)
          if (text === 'COMMIT') stopped ??= relay.stop({ graceMs: 2 * patienceMs })
          return answer
        }
        return { query, release: () => own.release(true) }
      },
    }
    const { relay } = relayOf(outbox, { database, pollMs: 3_600_000 })
    await until('the first look', () => stopped !== undefined)
    await inTime('the stop', stopped!)
  })

  test.each(['batchMax', 'pollMs', 'backoffMsMax'])('refuses a %s out of its range', async (option) => {
    const { outbox } = await fresh()
    expect(() => outbox.relay({ database: pool, client: queue.client, [option]: 0 })).toThrow(RangeError)
  })

  test('moves rows into a queue inside the program, too', async () => {
    const { outbox } = await fresh()
    const embedded = await openEmbedded()
    opened.push(() => embedded.close())
    relayOf(outbox, { client: embedded })
    await inTransaction((tx) => outbox.enqueue(tx, { type: 'x', payload: 'here' }))
    await isEmpty(outbox)
    expect(await payloads(embedded.in(outbox.queue))).toEqual(['here'])
  })
})
