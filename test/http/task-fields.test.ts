/**
 * Every optional field of the table, given when a task is enqueued or imported, arrives in all places where it belongs. A new field only needs a row
 * in the table and a value here. Without the value this file does not compile, because the client's type follows from the table.
 */
import { type ClaimedTask, createClient, type DaybookClient, type NewTask, type TaskView } from '@daybook/adapters/client'
import { engineSource, type WorkTask } from '@daybook/adapters/worker'
import { decodeEvent, evolve, fork, givenFields, initial, isTimeField, isUnreadable, listTasks, type ShownField, shownFields, taskFields } from '@daybook/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminToken, startTestServer, type TestServer } from './support.js'

type Given = Required<Omit<NewTask, 'id' | 'type' | 'priority' | 'idempotencyKey'>>
const values: Given = {
  payload: { n: 1 },
  description: 'why',
  metadata: { team: 'a' },
  deduplicate: 'off',
  timeout: 7,
  maxRunSeconds: 600.5,
  maxRetries: 5,
  backoffSeconds: 9,
  dependencies: ['first'],
  availableAt: '2990-01-01T00:00:00.000Z',
  deadlineAt: '2990-01-02T00:00:00.000Z',
  ticketId: 'T-1',
  phase: 'TESTING',
  tenant: 'acme',
  requires: { skills: ['ts'] },
  parentTaskId: 'first',
  discovery: 'security_issue',
  concurrencyKey: 'db',
  concurrencyLimit: 100,
  orderingKey: 'cart-1',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  batchId: 'b-1',
}
/** Compiles only if the types of all these answers have the fields. */
const shownIn = (task: ClaimedTask | TaskView | WorkTask): ReadonlyArray<unknown> => shownFields.map((name) => task[name])

const names = Object.keys(values) as ReadonlyArray<keyof Given>
const isShown = (name: string): name is ShownField => shownFields.some((each) => each === name)
const isInClaims = (name: string): boolean => isShown(name) || ['payload', 'description', 'metadata', 'timeout', 'maxRetries'].includes(name)
/** The value in the event's data. */
const recorded = (name: keyof Given): unknown => (isTimeField(name) ? Date.parse(values[name] as string) : name === 'requires' ? values.requires?.skills : values[name])
const nameInEvent = (name: keyof Given): string => (name === 'requires' ? 'skills' : name)

let server: TestServer
let client: DaybookClient
beforeAll(async () => {
  server = await startTestServer()
  client = createClient({ url: server.http.url, token: adminToken, queue: 'q' })
  await client.enqueue({ id: 'first', type: 'first' })
  await client.batches.create({ id: 'b-1', open: true })
  const [claim] = await client.claim({ agentId: 'a', types: ['first'] })
  await client.complete('first', { agentId: 'a', token: claim!.lease.token, result: { decisionReport: 'done' } })
})
afterAll(async () => {
  await client.close()
  await server.stop()
})

/** The task's event as it was recorded. */
const eventOf = async (id: string) => {
  const { events } = await client.events({ task: id, limit: 1 })
  return events[0]!
}

/** The tasks of the queue after a replay of its events and a snapshot. */
const afterSnapshot = async () => {
  let state = initial('q')
  for await (const { type, schemaVersion, at, data } of client.eachEvent()) {
    const { content: _, ...facts } = data
    const event = decodeEvent(type as 'TaskEnqueued', schemaVersion ?? 1, Date.parse(at), facts)
    if (isUnreadable(event)) throw new Error(`${type} cannot be read`)
    state = evolve(state, event)
  }
  return listTasks(fork(state), {}, 1_000).tasks
}

test('every field of the table has a value here', () => {
  expect(names.map(nameInEvent).sort()).toEqual([...givenFields].sort())
})

describe.each(names)('%s', (name) => {
  const id = `with-${name}`
  const sent = { id, type: id, [name]: values[name], ...(name === 'concurrencyLimit' ? { concurrencyKey: 'db' } : {}) }

  test('is in the event, the task, the list and the snapshot', async () => {
    await client.enqueue(sent)
    const { data } = await eventOf(id)
    const { kept } = taskFields[nameInEvent(name) as keyof typeof taskFields]
    const within = kept === 'log' ? data.content : data
    if (kept === 'command') expect(data).not.toHaveProperty(name)
    else expect(within).toMatchObject({ [nameInEvent(name)]: recorded(name) })
    if (kept === 'command') return
    expect((await server.get(`/api/queues/q/tasks/${id}`)).body).toMatchObject({ [name]: values[name] })
    expect((await client.tasks({ type: id })).tasks).toMatchObject([{ id, [name]: values[name] }])
    if (kept === 'log') return
    expect((await afterSnapshot()).find((task) => task.id === id)).toMatchObject({ [nameInEvent(name)]: recorded(name) })
  })

  test.skipIf(name === 'availableAt')('is in the claim, over HTTP and in the process', async () => {
    const request = { agentId: 'a', types: [id], skills: ['ts'] }
    const { body } = await server.post('/api/queues/q/claims', request)
    const { task, lease } = body.claims[0]
    if (isInClaims(name)) expect(task).toMatchObject({ [name]: values[name] })
    await client.release(id, { agentId: 'a', token: lease.token, reason: 'for the next', stopping: true })
    const engine = await server.daybook.open('q')
    const [work] = await engineSource(engine).claim({ ...request, max: 1, waitMs: 0, leaseSeconds: 60 }, new AbortController().signal)
    expect(work!.task.id).toBe(id)
    if (isShown(name)) expect(work!.task).toMatchObject({ [name]: values[name] })
    if (isShown(name)) expect(JSON.parse(JSON.stringify(work!.task))).toMatchObject({ [name]: values[name] })
  })

  // A batch is another queue's.
  test.skipIf(name === 'deduplicate' || name === 'concurrencyLimit' || name === 'batchId')('can be imported', async () => {
    await client.importTasks([{ ...sent, id: `old-${name}`, status: 'pending' }])
    expect(await client.task(`old-${name}`)).toMatchObject({ [name]: values[name] })
  })
})

test('a task can have all of them, or none', async () => {
  const { availableAt: _, ...atOnce } = values
  // No other task stands before it in its line.
  for (const id of ['with-orderingKey', 'old-orderingKey']) await client.cancel(id, 'done')
  await client.enqueueAll([{ ...atOnce, id: 'all', type: 'both' }, { id: 'bare', type: 'both', dependencies: [], requires: { skills: [] } }])
  const claims = await client.claim({ agentId: 'a', types: ['both'], skills: ['ts'], max: 2 })
  // Only the queue sets some of the fields.
  const all = shownFields.map((name) => (values as Partial<Record<string, unknown>>)[name])
  const none = shownFields.map(() => undefined)
  // Tasks without a tenant come first.
  expect(claims.map(({ task }) => shownIn(task))).toEqual([none, all])
  expect(shownIn(await client.task('all'))).toEqual(all)
  expect(shownIn(await client.task('bare'))).toEqual(none)
  for (const name of [...shownFields, 'skills', 'dependencies', 'availableAt']) expect((await eventOf('bare')).data).not.toHaveProperty(name)
})
