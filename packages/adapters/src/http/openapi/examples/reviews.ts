import { claimed, completed, deadLetter, enqueued, type Examples, post, queue, review } from './example.js'

const of = '/api/queues/{queue}'
const filter = { type: 'eng-*' }
const until = '2100-01-01T09:00:00.000Z'
/** A discovery about another ticket waits for a guardian. */
const proposed = [
  enqueued('fix-login', { ticketId: 'T-1' }),
  claimed(),
  completed('fix-login', { discoveries: [{ type: 'optimization_opportunity', details: 'one query for each row', ticketId: 'T-2' }] }),
  { method: 'GET', path: `${queue}/approvals`, keep: { approval: 'approvals.0.id' } },
]
const redrive = post(`${queue}/dead-letters/retry`, { ...review, filter: { type: 'ops-*' }, perMinute: 30 })
const twoDeadLetters = [...deadLetter(), enqueued('ops', { type: 'ops-backup', payload: 2 }), claimed(), post(`${queue}/tasks/ops/fail`, { agentId: 'builder-1', token: 2, error: 'no space left', retryable: false })]

export const reviewExamples: Examples = {
  [`GET ${of}/dead-letters`]: [{ title: 'Of a type', path: `${queue}/dead-letters?type=eng-*&limit=20`, before: deadLetter() }],
  [`GET ${of}/dead-letters/patterns`]: [{ title: 'One failure', path: `${queue}/dead-letters/patterns`, before: deadLetter() }],
  [`POST ${of}/dead-letters/{id}/retry`]: [
    { title: 'As it was', path: `${queue}/dead-letters/fix-login/retry`, body: review, before: deadLetter() },
    { title: 'With another payload', path: `${queue}/dead-letters/fix-login/retry`, body: { ...review, payload: { goal: 'fix the login', host: 'db2' } }, before: deadLetter() },
  ],
  [`POST ${of}/dead-letters/retry`]: [
    { title: 'All at once', path: `${queue}/dead-letters/retry`, body: { ...review, filter }, before: deadLetter() },
    { title: 'So many a minute', path: `${queue}/dead-letters/retry`, body: { ...review, filter, perMinute: 30 }, before: deadLetter() },
    { title: 'Only count', path: `${queue}/dead-letters/retry`, body: { ...review, filter, perMinute: 30, dryRun: true }, before: deadLetter() },
  ],
  [`GET ${of}/dead-letters/redrive`]: [{ title: 'There was none', path: `${queue}/dead-letters/redrive`, before: [enqueued()] }],
  [`DELETE ${of}/dead-letters/redrive`]: [{ title: 'Stop', path: `${queue}/dead-letters/redrive?reason=the%20host%20is%20down%20again`, before: [...twoDeadLetters, redrive] }],
  [`POST ${of}/dead-letters/{id}/discard`]: [{ title: 'Give up', path: `${queue}/dead-letters/fix-login/discard`, body: { ...review, reason: 'nobody needs it' }, before: deadLetter() }],
  [`POST ${of}/dead-letters/discard`]: [{ title: 'Of one failure', path: `${queue}/dead-letters/discard`, body: { ...review, reason: 'nobody needs them', filter }, before: deadLetter() }],
  [`POST ${of}/dead-letters/{id}/snooze`]: [{ title: 'Until the morning', path: `${queue}/dead-letters/fix-login/snooze`, body: { ...review, until }, before: deadLetter() }],
  [`POST ${of}/dead-letters/snooze`]: [{ title: 'Of a type', path: `${queue}/dead-letters/snooze`, body: { ...review, filter, until }, before: deadLetter() }],
  [`POST ${of}/dead-letters/{id}/escalate`]: [{ title: 'A person has to decide', path: `${queue}/dead-letters/fix-login/escalate`, body: { ...review, reason: 'is the data lost?' }, before: deadLetter() }],
  [`POST ${of}/dead-letters/escalate`]: [{ title: 'Of a type', path: `${queue}/dead-letters/escalate`, body: { ...review, filter, reason: 'is the data lost?' }, before: deadLetter() }],
  [`GET ${of}/approvals`]: [{ title: 'A task about another ticket', path: `${queue}/approvals`, before: proposed }],
  [`GET ${of}/approvals/{id}`]: [{ title: 'A task about another ticket', path: `${queue}/approvals/{{approval}}`, before: proposed }],
  [`POST ${of}/approvals/{id}/approve`]: [{ title: 'Yes', path: `${queue}/approvals/{{approval}}/approve`, body: { reason: 'both tickets are ours' }, before: proposed }],
  [`POST ${of}/approvals/{id}/refuse`]: [{ title: 'No', path: `${queue}/approvals/{{approval}}/refuse`, body: { reason: 'not ours' }, before: proposed }],
  [`GET ${of}/breakers`]: [{ title: 'One failure so far', path: `${queue}/breakers`, before: deadLetter() }],
  [`POST ${of}/breakers/{type}/open`]: [{ title: 'Stop a type', path: `${queue}/breakers/eng-backend/open`, body: { reason: 'the build host is being moved' }, before: [enqueued()] }],
  [`POST ${of}/breakers/{type}/close`]: [
    { title: 'Let it run again', path: `${queue}/breakers/eng-backend/close`, body: { reason: 'the host is there' }, before: [enqueued(), post(`${queue}/breakers/eng-backend/open`, { reason: 'maintenance' })] },
  ],
}
