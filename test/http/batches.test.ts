/** Batches over HTTP: made, filled, closed, cancelled; what is told of them to whom. */
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { adminToken, startTestServer, type TestServer } from './support.js'

let server: TestServer
let client: DaybookClient
let count = 0
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())
beforeEach(async () => {
  client = createClient({ url: server.http.url, token: adminToken, queue: `q${++count}` })
  await client.settings.patch({ decisionReport: 'optional' })
  return () => client.close()
})

const row = (n: number) => ({ type: 'row', payload: { n } })
const callback = { type: 'mail', payload: { to: 'ada@example.org' } }
const work = async (types = ['row']): Promise<void> => {
  for (const { task, lease } of await client.claim({ agentId: 'w', types, max: 100 })) await client.complete(task.id, { agentId: 'w', token: lease.token, result: { output: 1 } })
}
const as = async (name: string, roles: ReadonlyArray<'producer' | 'worker' | 'operator' | 'auditor'>, tenants?: ReadonlyArray<string>): Promise<DaybookClient> => {
  const { token } = await client.tokens.create({ name: `${name}-${count}`, roles, ...(tenants === undefined ? {} : { tenants }) })
  return createClient({ url: server.http.url, token, queue: client.queue })
}
const codeOf = (failing: Promise<unknown>): Promise<string> => failing.then(() => 'done', (error: { code: string }) => error.code)

test('a batch that is made with its tasks is finished with the last of them, and the claim of its callback has the counts', async () => {
  const { batch, results } = await client.batches.create({ description: 'Prices', tasks: [row(1), row(2), row(2)], callback })
  expect(results.map(({ duplicate }) => duplicate)).toEqual([false, false, true])
  expect(batch).toMatchObject({ state: 'closed', description: 'Prices', tasks: 2, open: 2, progress: 0, callback, reasons: [{ code: 'tasks-open', tasks: [results[0]!.id, results[1]!.id] }] })
  expect(await client.task(results[0]!.id)).toMatchObject({ batchId: batch.id })
  await work()
  expect(await client.batches.get(batch.id)).toMatchObject({ state: 'finished', completed: 2, progress: 1, reasons: [], callbackTask: `${batch.id}.callback` })
  const [claim] = await client.claim({ agentId: 'm', types: ['mail'] })
  expect(claim!.task).toMatchObject({ id: `${batch.id}.callback`, callbackOf: batch.id, payload: callback.payload, metadata: { batch: { id: batch.id, description: 'Prices', tasks: 2, completed: 2, deadLetters: 0 } } })
  const { events } = await client.events({ type: 'BatchFinished' })
  expect(events).toMatchObject([{ data: { batch: batch.id, callback: `${batch.id}.callback`, completed: 2 } }])
})

test('one that is filled later takes in tasks until it is closed, and what its own tasks add after that', async () => {
  await client.batches.create({ id: 'b', open: true, callback })
  await client.enqueueAll([{ ...row(1), batchId: 'b' }, { ...row(2), batchId: 'b' }])
  expect(await client.batches.close('b')).toMatchObject({ state: 'closed', tasks: 2 })
  expect(await codeOf(client.enqueue({ ...row(3), batchId: 'b' }))).toBe('wrong-state')
  expect(await codeOf(client.enqueue({ ...row(3), batchId: 'none' }))).toBe('not-found')
  const [claim] = await client.claim({ agentId: 'w', types: ['row'] })
  await client.enqueue({ ...row(3), batchId: 'b', parentTaskId: claim!.task.id })
  await client.complete(claim!.task.id, { agentId: 'w', token: claim!.lease.token, result: {} })
  expect(await client.batches.get('b')).toMatchObject({ tasks: 3, open: 2, completed: 1, progress: 0.333 })
  expect((await client.tasks({ batchId: 'b', status: 'pending' })).tasks).toHaveLength(2)
})

test('a batch that is finished waits for none of its tasks, not even for a dead letter that is sent back', async () => {
  await client.batches.create({ id: 'ended', on: 'settled', tasks: [{ type: 'fails', maxRetries: 0 }] })
  const [claim] = await client.claim({ agentId: 'w', types: ['fails'] })
  await client.fail(claim!.task.id, { agentId: 'w', token: claim!.lease.token, error: 'x' })
  await client.deadLetters.retry(claim!.task.id, { reviewer: 'r', reason: 'x' })
  expect(await client.batches.get('ended')).toMatchObject({ state: 'finished', open: 1, deadLetters: 0, progress: 1, reasons: [] })
})

test('equal content is compared within the batch alone, and a request can be repeated', async () => {
  const yesterday = { id: 'monday', tasks: [row(1)], callback }
  await client.batches.create(yesterday)
  await work()
  expect((await client.batches.create({ ...yesterday, id: 'tuesday' })).results).toMatchObject([{ duplicate: false }])
  expect((await client.batches.create({ ...yesterday, id: 'tuesday' })).results).toMatchObject([{ duplicate: true }])
  expect(await client.batches.get('tuesday')).toMatchObject({ state: 'closed', tasks: 1 })
  // A key of its own counts everywhere: the batch would not wait for the task that has it.
  await client.enqueue({ type: 'row', idempotencyKey: 'k' })
  expect(await codeOf(client.batches.create({ id: 'wednesday', tasks: [{ type: 'row', idempotencyKey: 'k' }] }))).toBe('conflict')
  expect(await codeOf(client.batches.get('wednesday'))).toBe('not-found')
})

test('all or none: a task that is refused leaves neither batch nor tasks', async () => {
  expect(await codeOf(client.batches.create({ id: 'b', tasks: [row(1), { ...row(2), dependencies: ['none'] }] }))).toBe('unknown-dependency')
  expect(await codeOf(client.batches.create({ id: 'b', tasks: [{ ...row(1), batchId: 'c' }] }))).toBe('invalid')
  expect(await codeOf(client.batches.get('b'))).toBe('not-found')
  expect((await client.depth()).total).toBe(0)
})

test('batches are listed page by page, and as they were', async () => {
  for (const id of ['a', 'b', 'c']) await client.batches.create({ id, ...(id === 'b' ? {} : { open: true }) })
  const first = await client.batches.list({ limit: 2 })
  expect(first.batches.map(({ id }) => id)).toEqual(['c', 'b'])
  expect(await client.batches.list({ limit: 2, cursor: first.nextCursor! })).toMatchObject({ batches: [{ id: 'a' }], nextCursor: null })
  expect((await client.batches.list({ state: 'finished' })).batches.map(({ id }) => id)).toEqual(['b'])
  const { events } = await client.events({ type: 'BatchFinished' })
  expect(await client.at({ revision: events[0]!.revision - 1 }).batches.get('b')).toMatchObject({ state: 'closed' })
  expect((await client.at({ revision: 1 }).batches.list()).batches.map(({ id }) => id)).toEqual(['a'])
})

test('a batch is cancelled as a whole, however large it is, and its callback stays away unless it is wanted', async () => {
  for (const [id, runsCallback] of [['b', false], ['c', true]] as const) {
    await client.batches.create({ id, open: true, callback })
    for (let i = 0; i < 3; i++) await client.enqueueAll(Array.from({ length: 800 }, (_, n) => ({ ...row(i * 800 + n), batchId: id })))
    expect(await client.batches.cancel(id, 'the wrong file', { runsCallback })).toMatchObject({ cancelled: 2_400, batch: { state: 'finished', cancelled: 2_400, cancelReason: 'the wrong file' } })
    expect(await client.batches.cancel(id, 'again')).toMatchObject({ cancelled: 0 })
  }
  expect((await client.tasks({ type: 'mail' })).tasks.map(({ id }) => id)).toEqual(['c.callback'])
})

describe('who may do what', () => {
  test('a producer closes and cancels what it made itself, and a worker may look', async () => {
    const [one, other, worker, operator] = await Promise.all([as('one', ['producer']), as('other', ['producer']), as('worker', ['worker']), as('operator', ['operator'])])
    await one.batches.create({ id: 'b', open: true, tasks: [row(1)] })
    expect(await codeOf(other.batches.close('b'))).toBe('forbidden')
    expect(await codeOf(other.batches.cancel('b', 'no'))).toBe('forbidden')
    expect(await one.batches.close('b')).toMatchObject({ state: 'closed' })
    expect(await worker.batches.get('b')).toMatchObject({ open: 1 })
    expect(await codeOf(worker.batches.list())).toBe('forbidden')
    expect(await operator.batches.cancel('b', 'no')).toMatchObject({ cancelled: 1 })
    await Promise.all([one, other, worker, operator].map((each) => each.close()))
  })

  test('TEN-3: a batch of another tenant is one that does not exist, whoever names it', async () => {
    await client.settings.patch({ tenants: 'isolated' })
    const [acme, zen] = await Promise.all([as('acme', ['producer', 'operator'], ['acme']), as('zen', ['producer', 'operator'], ['zen'])])
    const { batch } = await acme.batches.create({ tasks: [row(1)], callback, open: true })
    expect(batch).toMatchObject({ id: expect.stringMatching(/^acme:/) as string, tenant: 'acme', callback: { tenant: 'acme' } })
    expect(await codeOf(acme.batches.create({ id: 'zen:b' }))).toBe('invalid')
    expect(await codeOf(acme.batches.create({ tenant: 'zen' }))).toBe('forbidden')
    const told = async (does: (id: string) => Promise<unknown>): Promise<readonly [string, string]> => {
      const say = (id: string): Promise<string> => does(id).then(() => 'done', ({ code, detail }: { code: string; detail: string }) => `${code} ${detail}`.replaceAll(id, 'ID'))
      return [await say(batch.id), await say('acme:none')]
    }
    for (const does of [zen.batches.get, zen.batches.close, (id: string) => zen.batches.cancel(id, 'no'), (batchId: string) => zen.enqueue({ id: `zen:${batchId}`, ...row(1), batchId }, {})]) {
      const [there, nowhere] = await told(does)
      expect(there).toBe(nowhere)
      expect(there).toMatch(/^not-found/)
    }
    expect((await zen.batches.list()).batches).toEqual([])
    expect((await acme.batches.list()).batches).toHaveLength(1)
    // Teeth: its own tenant is told.
    expect(await acme.batches.get(batch.id)).toMatchObject({ tasks: 1 })
    await Promise.all([acme, zen].map((each) => each.close()))
  })
})
