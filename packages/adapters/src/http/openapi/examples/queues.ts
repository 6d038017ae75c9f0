import { claimed, completed, enqueued, type Examples, post, queue } from './example.js'

const of = '/api/queues/{queue}'
const limit = { method: 'PUT', path: `${queue}/limits/smtp`, body: { concurrency: 5 } }
const nightly = { name: 'nightly', cron: '0 2 * * *', timeZone: 'Europe/Berlin', task: { type: 'ops-backup', priority: 'HIGH', payload: { target: 'db1' } } }
const scheduled = post(`${queue}/schedules`, { ...nightly, paused: true })
const rows = { id: 'upload-7', description: 'Prices of January', tasks: [{ id: 'row-1', type: 'import-row', payload: { row: 1 } }, { id: 'row-2', type: 'import-row', payload: { row: 2 } }], callback: { type: 'mail', payload: { to: 'ada@example.org' } } }
const made = post(`${queue}/batches`, rows)
const period = 'from=2026-01-05&to=2026-01-07&bucket=day&zone=Europe/Berlin'

export const queueExamples: Examples = {
  'GET /api/queues': [{ title: 'One queue', path: '/api/queues', before: [enqueued()], alone: true }],
  [`GET ${of}`]: [{ title: 'One task waits', path: queue, before: [enqueued()] }],
  [`DELETE ${of}`]: [
    { title: 'An empty queue', path: `${queue}?reason=the%20project%20is%20over`, before: [enqueued(), post(`${queue}/tasks/fix-login/cancel`, { reason: 'the project is over' })] },
  ],
  [`GET ${of}/depth`]: [{ title: 'One task waits', path: `${queue}/depth`, before: [enqueued('fix-login', { phase: 'IMPLEMENTATION', tenant: 'acme' })] }],
  [`GET ${of}/settings`]: [{ title: 'The defaults', path: `${queue}/settings`, before: [enqueued()] }],
  [`PATCH ${of}/settings`]: [
    {
      title: 'Some of them',
      path: `${queue}/settings`,
      body: { decisionReport: 'optional', capacity: { maxConcurrentAgents: 50 }, breakers: { overrides: { 'ops-security': { failureThreshold: 3 } } } },
    },
  ],
  [`POST ${of}/pause`]: [{ title: 'For maintenance', path: `${queue}/pause`, body: { reason: 'maintenance until noon' }, before: [enqueued()] }],
  [`POST ${of}/resume`]: [{ title: 'After maintenance', path: `${queue}/resume`, body: { reason: 'done' }, before: [enqueued(), post(`${queue}/pause`, { reason: 'maintenance' })] }],
  [`GET ${of}/limits`]: [{ title: 'One limit', path: `${queue}/limits`, before: [limit] }],
  [`GET ${of}/limits/{key}`]: [{ title: 'Of a concurrency key', path: `${queue}/limits/smtp`, before: [limit] }],
  [`PUT ${of}/limits/{key}`]: [
    { title: 'Of a concurrency key', path: `${queue}/limits/smtp`, body: { concurrency: 5, rate: { starts: 100, perSeconds: 60 } } },
    { title: 'Of a type', path: `${queue}/limits/type:eng-backend`, body: { concurrency: 2 } },
  ],
  [`DELETE ${of}/limits/{key}`]: [{ title: 'Of a concurrency key', path: `${queue}/limits/smtp`, before: [limit] }],
  [`GET ${of}/schedules`]: [{ title: 'One that is paused', path: `${queue}/schedules`, before: [scheduled] }],
  [`POST ${of}/schedules`]: [
    { title: 'Every night', path: `${queue}/schedules`, body: nightly },
    { title: 'Every hour', path: `${queue}/schedules`, body: { name: 'hourly', every: 3_600, overlap: 'skip', missed: 'once', task: { type: 'ops-check' } } },
  ],
  [`GET ${of}/schedules/{name}`]: [{ title: 'One that is paused', path: `${queue}/schedules/nightly`, before: [scheduled] }],
  [`PATCH ${of}/schedules/{name}`]: [{ title: 'Pause it', path: `${queue}/schedules/nightly`, body: { paused: true }, before: [post(`${queue}/schedules`, nightly)] }],
  [`DELETE ${of}/schedules/{name}`]: [{ title: 'Remove it', path: `${queue}/schedules/nightly`, before: [scheduled] }],
  [`POST ${of}/batches`]: [
    { title: 'Two tasks and a callback', path: `${queue}/batches`, body: rows },
    { title: 'One that is filled later', path: `${queue}/batches`, body: { id: 'upload-8', open: true, on: 'settled', callback: { type: 'mail', priority: 'LOW' } } },
  ],
  [`GET ${of}/batches`]: [{ title: 'One batch', path: `${queue}/batches?state=closed&limit=20`, before: [made] }],
  [`GET ${of}/batches/{batch}`]: [
    { title: 'One task is open', path: `${queue}/batches/upload-7`, before: [made, claimed(), completed('row-1')] },
  ],
  [`POST ${of}/batches/{batch}/close`]: [{ title: 'One without tasks', path: `${queue}/batches/upload-8/close`, body: {}, before: [post(`${queue}/batches`, { id: 'upload-8', open: true })] }],
  [`POST ${of}/batches/{batch}/cancel`]: [{ title: 'With its open tasks', path: `${queue}/batches/upload-7/cancel`, body: { reason: 'the wrong file' }, before: [made] }],
  [`GET ${of}/alerts`]: [{ title: 'Nothing needs people', path: `${queue}/alerts`, before: [enqueued()] }],
  [`GET ${of}/reports/{report}`]: [
    { title: 'As JSON', path: `${queue}/reports/throughput?${period}&atLeast=0`, before: [enqueued()] },
    { title: 'As CSV', path: `${queue}/reports/throughput?${period}&by=type&top=5&format=csv&atLeast=0`, before: [enqueued()] },
  ],
  [`GET ${of}/read-models`]: [{ title: 'They have caught up', path: `${queue}/read-models?atLeast=0`, before: [enqueued()] }],
  [`GET ${of}/events`]: [
    { title: 'A page', path: `${queue}/events?from=0&limit=10&type=TaskEnqueued`, before: [enqueued()] },
    { title: 'A line for each event', path: `${queue}/events?task=fix-login`, headers: { accept: 'application/x-ndjson' }, before: [enqueued(), claimed()] },
  ],
  [`GET ${of}/tasks/{id}/history`]: [{ title: 'Of a completed task', path: `${queue}/tasks/fix-login/history`, before: [enqueued(), claimed(), completed()] }],
  [`GET ${of}/state`]: [
    { title: 'As it was', path: `${queue}/state?revision=0&status=pending&limit=1`, before: [enqueued(), claimed()] },
  ],
  [`GET ${of}/diff`]: [{ title: 'Between two revisions', path: `${queue}/diff?from=0&to=1&limit=10`, before: [enqueued(), claimed()] }],
  [`GET ${of}/verify`]: [{ title: 'All is well', path: `${queue}/verify`, before: [enqueued()] }],
}
