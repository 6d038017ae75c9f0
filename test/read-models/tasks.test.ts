/** What the tables show of some short lives. */
import type { QueueEvent } from '@daybook/core'
import { expect, test } from 'vitest'
import { openViews, queue, recorded, rowsOf } from './views.js'

const enqueued = (number: number, at: number, more: object = {}, content = '{}'): QueueEvent => ({
  type: 'TaskEnqueued', at, content,
  data: { task: `t${number}`, number, type: 'dev', priority: 5, idempotencyKey: `k${number}`, timeout: 60, maxRetries: 3, backoffSeconds: 1, ...more },
})
const lease = (number: number, token: number) => ({ task: `t${number}`, agent: 'bob', token })
const claimed = (number: number, token: number, at: number): QueueEvent => ({ type: 'Claimed', at, data: { ...lease(number, token), expiresAt: at + 60_000 } })
const completed = (number: number, token: number, at: number): QueueEvent => ({ type: 'Completed', at, data: lease(number, token), content: '{}' })
const failed = (number: number, token: number, at: number, message: string): QueueEvent => ({ type: 'Failed', at, data: { ...lease(number, token), error: { message }, retryable: true, signature: `s-${message}` } })

/** Runs queries after these events, taken in two batches if `cut` is given. */
const after = (events: ReadonlyArray<QueueEvent>, cut = 0) => {
  const views = openViews()
  const log = recorded(events)
  if (cut > 0) views.current.take(queue, log.slice(0, cut))
  views.current.take(queue, log.slice(cut))
  return <R>(sql: string): ReadonlyArray<R> => rowsOf<R>(views, sql)
}

test('EV-04: a wait begins when the task becomes ready: after its dependency, its delay, its retry; a run ends with its claim', () => {
  const query = after([
    enqueued(1, 1_000),
    enqueued(2, 1_000, { dependencies: ['t1'] }),
    enqueued(3, 1_000, { availableAt: 9_000 }),
    claimed(1, 1, 3_000),
    completed(1, 1, 5_000),
    claimed(2, 2, 7_000),
    failed(2, 2, 8_000, 'no'),
    { type: 'RetryScheduled', at: 8_000, data: { task: 't2', availableAt: 20_000 } },
    { type: 'TaskDue', at: 9_500, data: { task: 't3' } },
    // An amendment of a ready task is no new wait.
    { type: 'TaskAmended', at: 9_600, data: { task: 't3', reason: '', availableAt: null, formerAvailableAt: 9_000 } },
    claimed(3, 3, 10_000),
    { type: 'TaskDue', at: 20_000, data: { task: 't2' } },
    claimed(2, 4, 21_000),
  ])
  expect(query('SELECT id, ready_at, first_claimed_at, claimed_at, claims FROM tasks ORDER BY number')).toEqual([
    { id: 't1', ready_at: 1_000, first_claimed_at: 3_000, claimed_at: 3_000, claims: 1 },
    { id: 't2', ready_at: 20_000, first_claimed_at: 7_000, claimed_at: 21_000, claims: 2 },
    { id: 't3', ready_at: 9_500, first_claimed_at: 10_000, claimed_at: 10_000, claims: 1 },
  ])
  expect(query('SELECT claimed, waits, wait_ms, runs, run_ms FROM totals')).toEqual([{ claimed: 4, waits: 4, wait_ms: 2_000 + 2_000 + 500 + 1_000, runs: 2, run_ms: 2_000 + 1_000 }])
  expect(query('SELECT tasks.id, attempts.token, agent, attempts.claimed_at, ended_at, outcome, error FROM attempts JOIN tasks ON key = task_key ORDER BY attempts.token')).toEqual([
    { id: 't1', token: 1, agent: 'bob', claimed_at: 3_000, ended_at: 5_000, outcome: 'completed', error: null },
    { id: 't2', token: 2, agent: 'bob', claimed_at: 7_000, ended_at: 8_000, outcome: 'failed', error: 'no' },
    { id: 't3', token: 3, agent: 'bob', claimed_at: 10_000, ended_at: null, outcome: null, error: null },
    { id: 't2', token: 4, agent: 'bob', claimed_at: 21_000, ended_at: null, outcome: null, error: null },
  ])
})

test('EV-04: an attempt that begins in one batch and ends in the next has ended', () => {
  const query = after([enqueued(1, 1_000), claimed(1, 1, 2_000), completed(1, 1, 3_000)], 2)
  expect(query('SELECT token, agent, claimed_at, ended_at, outcome FROM attempts')).toEqual([{ token: 1, agent: 'bob', claimed_at: 2_000, ended_at: 3_000, outcome: 'completed' }])
})

test('EV-04: a task that ends in the batch in which its id is given to another one has ended', () => {
  const query = after([
    enqueued(1, 1_000),
    { type: 'Cancelled', at: 2_000, data: { task: 't1', reason: 'no' } },
    enqueued(2, 3_000, { task: 't1' }),
  ], 1)
  expect(query('SELECT number, status, finished_at FROM tasks ORDER BY number')).toEqual([{ number: 1, status: 'cancelled', finished_at: 2_000 }, { number: 2, status: 'pending', finished_at: null }])
})

test('EV-04: words are found in descriptions and errors, as they are now', () => {
  const query = after([
    enqueued(1, 1_000, {}, '{"payload":{"description":"not this one"},"description":"Paint the fence"}'),
    enqueued(2, 1_000, {}, '{"payload":"a \\"description\\": too"}'),
    enqueued(3, 1_000, {}, '{"description":"Sweep the yard"}'),
    claimed(1, 1, 2_000),
    failed(1, 1, 3_000, 'the brush broke'),
    claimed(1, 2, 4_000),
    failed(1, 2, 5_000, 'the ladder slipped'),
    { type: 'TaskAmended', at: 6_000, data: { task: 't3', reason: '', formerContentRevision: 2 }, content: '{"description":"Rake the leaves"}' },
  ], 6)
  const found = (words: string) => query<{ readonly id: string }>(`SELECT id FROM search JOIN tasks ON key = search.rowid WHERE search MATCH '${words}' ORDER BY number`).map(({ id }) => id)
  expect(['fences', 'ladder', 'brush', 'this', 'too', 'sweep', 'raking'].map(found)).toEqual([['t1'], ['t1'], [], [], [], [], ['t3']])
  expect(query('SELECT description, last_error, signature FROM tasks ORDER BY number')).toEqual([
    { description: 'Paint the fence', last_error: 'the ladder slipped', signature: 's-the ladder slipped' },
    { description: null, last_error: null, signature: null },
    { description: 'Rake the leaves', last_error: null, signature: null },
  ])
})

test('EV-04: when a task in the middle of a line leaves it, those after it still wait for the first', () => {
  const cancelled = (number: number, at: number): QueueEvent => ({ type: 'Cancelled', at, data: { task: `t${number}`, reason: '' } })
  const line = [1, 2, 3, 4].map((number) => enqueued(number, 1_000, { orderingKey: 'plot-7' }))
  const statuses = (...more: ReadonlyArray<QueueEvent>) => after([...line, ...more], 5)<{ readonly status: string }>('SELECT status FROM tasks ORDER BY number').map(({ status }) => status)
  expect(statuses(cancelled(2, 2_000))).toEqual(['pending', 'cancelled', 'blocked', 'blocked'])
  expect(statuses(cancelled(2, 2_000), cancelled(1, 3_000))).toEqual(['cancelled', 'cancelled', 'pending', 'blocked'])
  expect(statuses(cancelled(4, 2_000), cancelled(1, 3_000), enqueued(5, 4_000, { orderingKey: 'plot-7' }))).toEqual(['cancelled', 'pending', 'blocked', 'cancelled', 'blocked'])
  expect(statuses(cancelled(2, 2_000), cancelled(1, 3_000), claimed(3, 1, 4_000), completed(3, 1, 5_000), cancelled(4, 6_000), enqueued(5, 7_000, { orderingKey: 'plot-7' }))).toEqual(['cancelled', 'cancelled', 'completed', 'cancelled', 'pending'])
})

test('EV-04: an id that is given again, after its task was forgotten, is another task', () => {
  const query = after([
    enqueued(1, 1_000, { task: 'daily' }), { type: 'Claimed', at: 2_000, data: { task: 'daily', agent: 'bob', token: 1, expiresAt: 9_000 } }, { type: 'Completed', at: 3_000, data: { task: 'daily', agent: 'bob', token: 1 }, content: '{}' },
    enqueued(2, 900_000_000, { task: 'daily' }), { type: 'Cancelled', at: 900_001_000, data: { task: 'daily', reason: '' } },
  ])
  expect(query('SELECT number, id, status, finished_at FROM tasks ORDER BY number')).toEqual([
    { number: 1, id: 'daily', status: 'completed', finished_at: 3_000 },
    { number: 2, id: 'daily', status: 'cancelled', finished_at: 900_001_000 },
  ])
})

test('EV-04: depth by minute is what it was at the end of each minute', () => {
  const minute = 1_700_000_040_000
  const query = after([
    enqueued(1, minute, { tenant: 'acme', phase: 'TESTING', priority: 10 }), enqueued(2, minute + 1, { tenant: 'acme', phase: 'TESTING', priority: 10 }), enqueued(3, minute + 2),
    claimed(1, 1, minute + 59_999),
    completed(1, 1, minute + 130_000),
  ])
  expect(query('SELECT minute, type, tenant, band, phase, pending, in_progress FROM depth_by_minute ORDER BY minute, tenant')).toEqual([
    { minute, type: 'dev', tenant: '', band: 'MEDIUM', phase: '', pending: 1, in_progress: 0 },
    { minute, type: 'dev', tenant: 'acme', band: 'CRITICAL', phase: 'TESTING', pending: 1, in_progress: 1 },
    { minute: minute + 120_000, type: 'dev', tenant: 'acme', band: 'CRITICAL', phase: 'TESTING', pending: 1, in_progress: 0 },
  ])
  expect(query("SELECT minute, count FROM event_counts WHERE event = 'TaskEnqueued'")).toEqual([{ minute, count: 3 }])
})

test('EV-04: agents are shown with what they registered for, and what they did', () => {
  const query = after([
    { type: 'AgentRegistered', at: 500, data: { agent: 'bob', endsAt: 60_500, types: ['dev'], skills: ['git'], maxTasks: 2 } },
    enqueued(1, 1_000), claimed(1, 1, 2_000), failed(1, 1, 3_000, 'no'), claimed(1, 2, 4_000),
    { type: 'ClaimExpired', at: 64_000, data: { ...lease(1, 2), cause: 'lease-expired', signature: 's' } },
    { type: 'AgentTerminated', at: 70_000, data: { agent: 'bob', reason: '' } },
  ])
  expect(query('SELECT * FROM agents')).toEqual([
    {
      queue, agent: 'bob', first_seen_at: 500, last_seen_at: 4_000, registered_at: 500, registered_until: null, types: '["dev"]', phases: null, skills: '["git"]', tenant: null, max_tasks: 2,
      terminated_at: 70_000, holds: 0, claims: 2, completed: 0, failed: 1, expired: 1, released: 0, last_task_id: 't1',
    },
  ])
})

test('EV-04: the tasks of all queues have keys of their own, however many queues were before', () => {
  const views = openViews()
  const insert = views.db.prepare('INSERT INTO queues (number, queue) VALUES (?, ?)')
  const numbers = [1, 2, 8_191, 8_192, 8_193, 16_384, 2_000_000]
  const events = recorded([1, 2, 3, 4].map((number) => enqueued(number, 1_000)))
  for (const number of numbers) {
    insert.run(number, `queue ${number}`)
    views.current.take(`queue ${number}`, events)
  }
  const keys = rowsOf<{ readonly key: number; readonly number: number }>(views, 'SELECT key, number FROM tasks ORDER BY rowid')
  expect(new Set(keys.map(({ key }) => key)).size).toBe(4 * numbers.length)
  expect(keys.every(({ key }) => Number.isSafeInteger(key))).toBe(true)
  // Files of earlier versions have these.
  expect(rowsOf(views, "SELECT key FROM tasks WHERE queue = 'queue 8191' ORDER BY number")).toEqual([1, 2, 3, 4].map((number) => ({ key: 8_191 * 2 ** 40 + number })))
  views.close()
})
