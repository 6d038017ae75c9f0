import { agentId, claimed, completed, enqueued, type Examples, holder, post, queue } from './example.js'

const of = '/api/queues/{queue}'
const held = [enqueued(), claimed()]

export const workExamples: Examples = {
  [`POST ${of}/claims`]: [
    {
      title: 'A task is ready',
      path: `${queue}/claims`,
      body: { agentId, types: ['eng-*'], skills: ['typescript'], max: 5, wait: 30, leaseSeconds: 60 },
      before: [enqueued('fix-login', { requires: { skills: ['typescript'] } })],
    },
    { title: 'There is nothing to do', path: `${queue}/claims`, body: { agentId } },
  ],
  [`POST ${of}/tasks/{id}/heartbeat`]: [
    { title: 'With progress and a checkpoint', path: `${queue}/tasks/fix-login/heartbeat`, body: { ...holder, progress: { percent: 40 }, checkpoint: { built: '4f2a91c' } }, before: held },
  ],
  [`POST ${of}/tasks/{id}/complete`]: [
    {
      title: 'With a report and a discovery',
      path: `${queue}/tasks/fix-login/complete`,
      body: {
        ...holder,
        result: {
          output: { commit: '4f2a91c' },
          decisionReport: 'the session cookie had no expiry',
          discoveries: [{ type: 'security_issue', details: 'the cookie is never rotated', severity: 'HIGH' }],
        },
      },
      before: held,
    },
  ],
  [`POST ${of}/tasks/{id}/fail`]: [
    { title: 'It is tried again', path: `${queue}/tasks/fix-login/fail`, body: { ...holder, error: { message: 'connection refused', code: 'ECONNREFUSED' } }, before: held },
    { title: 'It cannot succeed', path: `${queue}/tasks/fix-login/fail`, body: { ...holder, error: 'the repository does not exist', retryable: false }, before: held },
    { title: 'A service limits its requests', path: `${queue}/tasks/fix-login/fail`, body: { ...holder, error: { message: 'too many requests', code: '429', retryAfter: 120 } }, before: held },
  ],
  [`POST ${of}/tasks/{id}/release`]: [{ title: 'The agent stops', path: `${queue}/tasks/fix-login/release`, body: { ...holder, reason: 'the machine is shut down', stopping: true }, before: held }],
  [`POST ${of}/tasks/{id}/park`]: [
    {
      title: 'Until a person approves',
      path: `${queue}/tasks/fix-login/park`,
      body: { ...holder, callbackKey: 'approve-fix-login', timeoutSeconds: 86_400, onTimeout: 'requeue', checkpoint: { built: '4f2a91c' } },
      before: held,
    },
  ],
  [`POST ${of}/outcomes`]: [
    {
      title: 'Two reports, one of them too late',
      path: `${queue}/outcomes`,
      body: {
        outcomes: [
          { taskId: 'fix-login', kind: 'complete', ...holder, result: { decisionReport: 'the session cookie had no expiry' } },
          { taskId: 'fix-login', kind: 'heartbeat', agentId: 'builder-2', token: 7 },
        ],
      },
      before: held,
    },
  ],
  [`POST ${of}/agents`]: [{ title: 'A builder', path: `${queue}/agents`, body: { agentId, types: ['eng-*', 'ci-*'], skills: ['typescript'], maxTasks: 4, ttlSeconds: 600 }, before: [enqueued()] }],
  [`GET ${of}/agents`]: [{ title: 'One at work', path: `${queue}/agents`, before: [enqueued(), post(`${queue}/agents`, { agentId, types: ['eng-*'], maxTasks: 4 }), claimed()] }],
  [`DELETE ${of}/agents/{agentId}`]: [{ title: 'One that hangs', path: `${queue}/agents/builder-1?reason=it%20hangs`, before: held }],
  [`GET ${of}/memories`]: [
    {
      title: 'Of a ticket',
      path: `${queue}/memories?ticketId=T-1&q=login%20cookie&limit=5`,
      before: [enqueued('fix-login', { ticketId: 'T-1' }), claimed(), completed('fix-login', { discoveries: [{ type: 'note', details: 'the cookie is never rotated' }] })],
    },
  ],
}
