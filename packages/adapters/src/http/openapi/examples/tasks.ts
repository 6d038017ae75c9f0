import { claimed, completed, enqueued, type Examples, post, queue } from './example.js'

const of = '/api/queues/{queue}'

export const taskExamples: Examples = {
  [`POST ${of}/tasks`]: [
    {
      title: 'One task',
      path: `${queue}/tasks`,
      body: { id: 'fix-login', type: 'eng-backend', priority: 'HIGH', payload: { goal: 'fix the login' }, description: 'Fix the login', ticketId: 'T-1', requires: { skills: ['typescript'] } },
    },
    { title: 'A duplicate', path: `${queue}/tasks`, body: { type: 'eng-backend', payload: { goal: 'fix the login' } }, before: [enqueued()] },
    {
      title: 'Many tasks, all or none',
      path: `${queue}/tasks`,
      body: { tasks: [{ id: 'build', type: 'ci-build', payload: { commit: '4f2a91c' } }, { id: 'test', type: 'ci-test', dependencies: ['build'], payload: { commit: '4f2a91c' } }] },
    },
    {
      title: 'Many tasks, each on its own',
      path: `${queue}/tasks`,
      body: { atomic: false, tasks: [{ id: 'build', type: 'ci-build' }, { id: 'deploy', type: 'ci-deploy', dependencies: ['sign'] }] },
    },
  ],
  [`GET ${of}/tasks`]: [
    { title: 'The most urgent tasks of a type', path: `${queue}/tasks?status=pending,scheduled&type=eng-*&priority=HIGH-CRITICAL&limit=20`, before: [enqueued('fix-login', { priority: 8 })] },
  ],
  [`GET ${of}/tasks/{id}`]: [{ title: 'A task that waits', path: `${queue}/tasks/fix-login`, before: [enqueued()] }],
  [`PATCH ${of}/tasks/{id}`]: [{ title: 'Another priority', path: `${queue}/tasks/fix-login`, body: { priority: 'CRITICAL', reason: 'customers cannot log in' }, before: [enqueued()] }],
  [`POST ${of}/tasks/{id}/cancel`]: [
    { title: 'With what depends on it', path: `${queue}/tasks/build/cancel`, body: { reason: 'the branch is gone' }, before: [enqueued('build'), enqueued('test', { payload: 2, dependencies: ['build'] })] },
  ],
  [`POST ${of}/tasks/{id}/restart`]: [{ title: 'A completed task', path: `${queue}/tasks/fix-login/restart`, body: { reason: 'the fix was lost' }, before: [enqueued(), claimed(), completed()] }],
  [`POST ${of}/tasks/{id}/erase`]: [
    {
      title: 'A finished task of an erasable queue',
      path: `${queue}/tasks/fix-login/erase`,
      body: { reason: 'request 2026-118' },
      before: [{ method: 'PATCH', path: `${queue}/settings`, body: { erasable: true } }, enqueued(), claimed(), completed()],
    },
  ],
  [`POST ${of}/tasks/{id}/bump`]: [{ title: 'A ready task', path: `${queue}/tasks/fix-login/bump`, body: { reason: 'the release waits for it' }, before: [enqueued()] }],
  [`POST ${of}/tasks/cancel`]: [
    { title: 'All tasks of a ticket', path: `${queue}/tasks/cancel`, body: { filter: { ticketId: 'T-1' }, reason: 'the ticket was closed' }, before: [enqueued('fix-login', { ticketId: 'T-1' })] },
    { title: 'Only look', path: `${queue}/tasks/cancel`, body: { filter: { type: 'eng-*', priority: 5 }, reason: 'no longer needed', dryRun: true }, before: [enqueued()] },
  ],
  [`POST ${of}/imports`]: [
    {
      title: 'A finished task and one that waits',
      path: `${queue}/imports`,
      body: {
        tasks: [
          { id: 'old-1', type: 'eng-backend', status: 'completed', createdAt: '2026-01-05T09:00:00.000Z', completedAt: '2026-01-05T10:00:00.000Z', result: { output: 'done' } },
          { id: 'old-2', type: 'eng-backend', priority: 3, payload: { goal: 'tidy up' } },
        ],
      },
    },
  ],
  [`GET ${of}/tasks/{id}/explain`]: [
    { title: 'A task that waits for another', path: `${queue}/tasks/test/explain`, before: [enqueued('build'), enqueued('test', { payload: 2, dependencies: ['build'] })] },
    { title: 'For a claim', path: `${queue}/tasks/fix-login/explain?agentId=builder-1&types=docs-*&skills=typescript`, before: [enqueued()] },
  ],
  [`GET ${of}/tasks/{id}/result`]: [
    { title: 'Of a completed task', path: `${queue}/tasks/fix-login/result?wait=30`, before: [enqueued(), claimed(), completed()] },
    { title: 'Of a task that is not finished', path: `${queue}/tasks/fix-login/result`, before: [enqueued()] },
  ],
  'POST /api/bump_task_priority': [{ title: 'A ready task', path: '/api/bump_task_priority', body: { queue: 'builds', task_id: 'fix-login', reason: 'the release waits for it' }, before: [enqueued()] }],
  'POST /api/cancel_queued_task': [{ title: 'A task', path: '/api/cancel_queued_task', body: { queue: 'builds', task_id: 'fix-login', reason: 'the branch is gone' }, before: [enqueued()] }],
  'POST /api/restart_task': [
    { title: 'A completed task', path: '/api/restart_task?queue=builds', body: { task_id: 'fix-login', reason: 'the fix was lost' }, before: [enqueued(), claimed(), completed()] },
  ],
  'POST /api/terminate_agent': [{ title: 'An agent that hangs', path: '/api/terminate_agent', body: { queue: 'builds', agent_id: 'builder-1', reason: 'it hangs' }, before: [enqueued(), claimed()] }],
  'GET /api/queue_status': [{ title: 'One task waits', path: '/api/queue_status?queue=builds', before: [enqueued()] }],
  [`POST ${of}/callbacks/{key}`]: [
    {
      title: 'A person has approved',
      path: `${queue}/callbacks/approve-fix-login`,
      body: { payload: { approved: true } },
      before: [enqueued(), claimed(), post(`${queue}/tasks/fix-login/park`, { agentId: 'builder-1', token: 1, callbackKey: 'approve-fix-login', timeoutSeconds: 86_400 })],
    },
  ],
}
