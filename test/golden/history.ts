/** A short history with every type of event, both with all its fields and with as few as possible. */
import { approvalsOf, type CommandOf, type Findings, type QueueEvent } from '@daybook/core'
import { Queue, start, task } from '../core/queue.js'

const review = { reviewer: 'rev', reason: 'looked at it' }
const content = '{"payload":{"action":"build","target":"api"},"description":"Build the API","metadata":{"source":"plan"}}'

/** Tasks with equal content and equal keys, enqueued under each setting of `deduplicate`. */
export const everyDeduplicate = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  const same = (id: string, isKeyed: boolean) => ({ ...task(id), idempotencyKey: isKeyed ? 'nightly' : 'a1'.repeat(32), ...(isKeyed ? {} : { isContentKey: true as const }) })
  for (const deduplicate of ['off', 'key', 'content'] as const) {
    q.configure({ deduplicate })
    q.enqueue(same(`${deduplicate}-1`, false), same(`${deduplicate}-2`, true), same(`${deduplicate}-3`, true))
  }
  return q.log
}

/** Tasks that wait for a callback, or after a rate limit. */
export const everyWait = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  q.enqueue(...['p', 'q', 'r'].map((id) => task(id, { maxRetries: 1 })))
  const park = (id: string, more: object): void => {
    const { token } = q.claim()
    q.do({ type: 'Park', task: id, agent: 'ann', token, callbackKey: `approve ${id}`, timeoutSeconds: 60, ...more })
  }
  park('p', { checkpoint: { built: true } })
  q.do({ type: 'Callback', callbackKey: 'approve p', content: '{"payload":{"approved":true}}' })
  park('p', { onTimeout: 'requeue' })
  q.wait(60)
  q.complete('p', q.claim().token)
  park('q', {})
  q.wait(60)
  park('r', { onTimeout: 'requeue' })
  // A rate limit with all that may be said, and one with as little as possible.
  q.enqueue(task('s'), task('t', { type: 'other' }))
  const limited = (id: string, more: object, error: object): void => {
    const { token } = q.claim('bob', { types: [id === 's' ? 'work' : 'other'] })
    q.do({ type: 'Fail', task: id, agent: 'bob', token, error: { message: '429 too many requests', ...error }, retryable: true, ...more })
    q.wait(90)
  }
  limited('s', { checkpoint: { page: 3 } }, { code: 'rate_limited', retryAfter: 90, stack: 'at call' })
  limited('t', {}, {})
  return q.log
}

/** Alerts that are raised, and cleared. */
export const everyAlert = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  q.enqueue(task('a', { maxRetries: 1 })).kill('a')
  q.do({ type: 'Tick', alerts: true })
  q.do({ type: 'Discard', task: 'a', ...review })
  q.do({ type: 'Tick', alerts: true })
  return q.log
}

/** A schedule with every field and one with few, that run, wait, and are skipped. */
export const everySchedule = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  const every = { type: 'report', payload: { of: 'day' }, description: 'The report', metadata: { source: 'plan' }, timeout: 30, maxRetries: 1, backoffSeconds: 5, ticketId: 'T-1', phase: 'TESTING' as const, tenant: 'acme', requires: { skills: ['sql'] }, parentTaskId: 'M1-001', priority: 'HIGH' as const }
  q.do({ type: 'CreateSchedule', name: 'nightly', cron: '0 2 * * *', timeZone: 'Europe/Berlin', missed: 'all', overlap: 'queue', task: every })
  q.do({ type: 'CreateSchedule', name: 'poll', every: 3_600, missed: 'skip', task: { type: 'poll' } })
  q.wait(3 * 86_400)
  q.do({ type: 'ChangeSchedule', name: 'poll', paused: true })
  q.do({ type: 'RemoveSchedule', name: 'poll' })
  return q.log
}

/** Reviews of dead letters, and redrives. */
export const everyReview = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  q.configure({ breakers: { defaults: { failureThreshold: 3, halfOpenAfter: 60 } } })
  q.enqueue(...['a', 'b'].map((id) => task(id)), ...['u', 'v', 'w', 'x'].map((id) => task(id, { type: 'other' })))
  q.kill('a')
  q.kill('b')
  for (const id of ['u', 'v']) q.kill(id, 'other')
  q.do({ type: 'Escalate', task: 'a', ...review })
  for (const id of ['a', 'b']) q.do({ type: 'Snooze', task: id, ...review, until: q.at + 5_000 })
  q.enqueue(task('again', { idempotencyKey: 'key of b' }))
  q.wait(5)
  q.do({ type: 'Redrive', filter: { type: 'other', signature: 'none', error: 'boom', escalated: false, snoozed: false }, perMinute: 60, ...review })
  q.wait(1)
  q.do({ type: 'Redrive', filter: {}, perMinute: 60, ...review })
  q.do({ type: 'StopRedrive', ...review })
  q.do({ type: 'Redrive', filter: { type: 'other' }, perMinute: 60, ...review })
  q.wait(1)
  q.do({ type: 'OpenBreaker', taskType: 'other', reason: 'by hand' })
  q.wait(1)
  return q.log
}

export const everyEvent = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  q.configure({ maxAttempts: 2 })
  q.do({ type: 'DeleteQueue', reason: 'a slip of the pen' })
  q.configure({
    policy: 'priority',
    decisionReport: 'required',
    retentionSeconds: 86_400,
    maxAttempts: 3,
    defaults: { timeout: 600, maxRetries: 3, backoffSeconds: 60, maxBackoffSeconds: 3_600, jitter: 0.1 },
    assignment: { maxQueueScanBatch: 200 },
    breakers: {
      defaults: { failureThreshold: 2, cooldownSeconds: 300, halfOpenAfter: 60, countOn: 'dead-letter' },
      overrides: { 'eng-web': { failureThreshold: 9, cooldownSeconds: 60, halfOpenAfter: 5, countOn: 'attempt' }, 'eng-old': null },
    },
  }).configure({ maxAttempts: 3, rateLimit: { maxPerTask: 0 } }).configure({ maxAttempts: 4 })
  q.enqueue(task('M1-001'))
  q.enqueue({
    ...task('M1-002'),
    content,
    type: 'eng-web',
    priority: 8,
    dependencies: ['M1-001'],
    timeout: 30,
    maxRetries: 2,
    backoffSeconds: 1,
    availableAt: start + 1_000,
    deadlineAt: start + 90_000,
    ticketId: 'T-1',
    phase: 'IMPLEMENTATION',
    tenant: 'acme',
    skills: ['go', 'sql'],
    parentTaskId: 'M1-001',
  })
  q.do({
    type: 'Import',
    tasks: [
      { ...task('old-1'), status: 'completed' },
      {
        ...task('old-2'),
        content,
        type: 'eng-web',
        priority: 3,
        dependencies: ['old-1'],
        availableAt: start,
        deadlineAt: start + 1,
        ticketId: 'T-1',
        phase: 'TESTING',
        tenant: 'acme',
        skills: ['go'],
        parentTaskId: 'old-1',
        status: 'dead-letter',
        createdAt: start - 9_000,
        finishedAt: start - 1_000,
        retries: 3,
        lastError: 'ENOENT /tmp/7',
      },
    ],
  })
  // Incomplete, then complete, with heartbeats.
  let { token } = q.claim()
  const held = { task: 'M1-001', agent: 'ann' }
  q.do({ type: 'Heartbeat', ...held, token })
  q.do({ type: 'Heartbeat', ...held, token, progress: { done: 3 }, checkpoint: { page: 3 } })
  q.complete('M1-001', token, false)
  q.complete('M1-001', token)
  q.wait(1)
  // A release, a failure, an expiry.
  const web = { agent: 'bob', tenant: 'acme', skills: ['go', 'sql'] }
  token = q.claim('ann', web).token
  q.giveBack('M1-002', token, 'bob')
  token = q.claim('cy', { ...web, agent: 'cy' }).token
  const error = { message: 'ENOENT /tmp/7', code: 'ENOENT', retryAfter: 7, stack: 'at build' }
  q.do({ type: 'Fail', task: 'M1-002', agent: 'cy', token, error, retryable: true, checkpoint: { page: 4 } })
  q.wait(2)
  q.claim('dot', { ...web, agent: 'dot' })
  q.wait(30)
  // The breaker: by threshold, by its probe, by hand.
  q.enqueue(...['a', 'b', 'c', 'd', 'e'].map((id) => task(id)))
  q.kill('a')
  q.kill('b')
  q.wait(60)
  q.kill('c')
  q.wait(60)
  q.complete('d', q.claim().token)
  q.do({ type: 'OpenBreaker', taskType: 'work', reason: 'by hand' })
  q.do({ type: 'CloseBreaker', taskType: 'work', reason: 'by hand' })
  // Reviews, a terminated agent, a cancel with its cascade, a pause.
  q.do({ type: 'Retry', task: 'a', ...review })
  q.do({ type: 'Discard', task: 'b', ...review })
  q.claim('ann')
  q.do({ type: 'TerminateAgent', agent: 'ann', reason: 'gone' })
  q.enqueue(task('f', { dependencies: ['e'] }))
  q.do({ type: 'Cancel', task: 'e', reason: 'not needed' })
  q.do({ type: 'Pause', reason: 'lunch' })
  q.do({ type: 'Resume', reason: 'back' })
  // A lease shorter than the task's timeout, with a heartbeat; an agent that stops.
  q.enqueue(task('g', { type: 'short', timeout: 600 }))
  token = q.claim('ann', { types: ['short'], leaseSeconds: 60 }).token
  q.at += 20_000
  q.do({ type: 'Heartbeat', task: 'g', agent: 'ann', token })
  q.do({ type: 'Release', task: 'g', agent: 'ann', token, reason: 'the worker stopped', stopping: true })
  // A bump, and agents that register.
  q.enqueue(task('bumped')).do({ type: 'Bump', task: 'bumped', reason: 'the customer waits' })
  q.do({ type: 'RegisterAgent', agent: 'bob' })
  q.do({ type: 'RegisterAgent', agent: 'ann', types: ['eng-*'], phases: ['TESTING'], skills: ['go'], tenant: 'acme', maxTasks: 3, ttlSeconds: 60 })
  return q.log
}

/** What completions find: spawned, proposed to a guardian, halted, decided on; with all fields and without. */
export const everyLoop = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  const finding = { kind: 'security_issue', content: '{"payload":1}' }
  const invalid = { error: 'two tests fail', fix: '{"payload":"fix"}', check: '{"payload":"check"}' }
  const complete = (agent: string, types: ReadonlyArray<string>, found: Findings | undefined, more: object = {}): void => {
    const { ids: [id = ''], token: lease } = q.claim(agent, { types, ...more })
    q.do({ type: 'Complete', task: id, agent, token: lease, content: '{}', hasReport: true, ...(found === undefined ? {} : { found }) })
  }
  const approval = (): string => approvalsOf(q.state)[0]?.id ?? ''
  q.configure({
    loops: { repeatSignatureLimit: 2, maxRounds: 5, maxGenerations: 4, maxSpawned: 50 },
    discoveries: { flaky_test: { type: 'flaky', phase: 'TESTING', priority: 'LOW', skills: ['vitest'] }, rumour: null },
  })
  q.enqueue(task('h', { type: 'found', ticketId: 'T-1', phase: 'VALIDATION', tenant: 'acme', skills: ['go'] }), task('i', { type: 'bare' }))
  complete('ann', ['found'], { discoveries: [finding, { ...finding, kind: 'flaky_test', ticketId: 'T-2', priority: 3 }], left: 0, validation: invalid }, { skills: ['go'] })
  q.do({ type: 'Approve', approval: approval(), reason: 'worth it', contents: ['{"payload":1}'] })
  complete('ann', ['found'], undefined, { skills: ['go'], phases: ['IMPLEMENTATION'] })
  complete('ann', ['found'], { discoveries: [], left: 0, validation: invalid }, { skills: ['go'], phases: ['VALIDATION'] })
  q.do({ type: 'Approve', approval: approval(), reason: 'the test was wrong', contents: ['{"payload":"fix"}', '{"payload":"check"}'] })
  const fix = q.claim('ann', { types: ['found'], skills: ['go'], phases: ['IMPLEMENTATION'] })
  q.fail(fix.ids[0] ?? '', fix.token, false)
  q.do({ type: 'Refuse', approval: approval(), reason: 'no use' })
  complete('ann', ['bare'], { discoveries: [{ ...finding, ticketId: 'T-2' }], left: 0 })
  return q.log
}

/** A task that is changed in each way, and a dead letter that is sent back with another payload. */
export const everyAmendment = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  const amend = (id: string, more: Partial<CommandOf<'AmendTask'>>): void => void q.do({ type: 'AmendTask', task: id, reason: 'a slip', ...more })
  q.enqueue(task('a', { priority: 3, deadlineAt: start + 90_000 }), task('b', { availableAt: start + 60_000 }), task('c'))
  amend('a', { priority: 8, deadlineAt: start + 60_000, availableAt: start + 30_000, content: '{"payload":2}' })
  amend('a', { priority: 9 })
  amend('a', { deadlineAt: null })
  amend('b', { availableAt: null })
  q.kill('b')
  q.do({ type: 'Retry', task: 'b', reviewer: 'rev', reason: 'the path was wrong', content: '{"payload":{"path":"/tmp"}}' })
  q.wait(30)
  q.claim()
  return q.log
}

/** Finished tasks of an erasable queue that are erased. */
export const everyErasure = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  q.configure({ erasable: true })
  q.enqueue(task('a'), task('b'))
  q.complete('a', q.claim().token)
  q.do({ type: 'Cancel', task: 'b', reason: 'no' })
  for (const id of ['a', 'b']) q.do({ type: 'Erase', task: id, reason: 'Article 17' })
  q.do({ type: 'Erase', task: 'of-last-year', reason: 'Article 17', outlived: true })
  return q.log
}

/** Batches with every field and with few: made with their tasks, filled, closed and cancelled, and finished with and without a callback. */
export const everyBatch = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  const callback = { type: 'report', payload: { of: 'import' }, description: 'The report', metadata: { source: 'plan' }, timeout: 30, maxRetries: 1, backoffSeconds: 5, ticketId: 'T-1', phase: 'TESTING' as const, tenant: 'acme', requires: { skills: ['sql'] }, parentTaskId: 'M1-001', priority: 'HIGH' as const }
  q.do({ type: 'CreateBatch', id: 'import', tenant: 'acme', description: 'The import of January', on: 'settled', callback, tasks: [task('a', { tenant: 'acme' })] })
  q.complete('a', q.claim().token)
  q.do({ type: 'CreateBatch', id: 'later', open: true, tasks: [] })
  q.enqueue(task('b', { batchId: 'later' }), task('c', { batchId: 'later' }))
  q.do({ type: 'CloseBatch', id: 'later' })
  q.kill('b')
  q.complete('c', q.claim().token)
  q.do({ type: 'Discard', task: 'b', ...review })
  for (const [id, more] of [['x', { runsCallback: true as const }], ['y', {}]] as const) {
    q.do({ type: 'CreateBatch', id, callback: { type: 'clean-up' }, tasks: [task(`of ${id}`)] })
    q.do({ type: 'CancelBatch', id, reason: 'the wrong file', ...more })
  }
  return q.log
}

/** Limits, and what they count. */
export const everyLimit = (): ReadonlyArray<QueueEvent> => {
  const q = new Queue()
  q.do({ type: 'SetLimit', key: 'db', concurrency: 2, rate: { starts: 1, perSeconds: 60 } })
  q.do({ type: 'SetLimit', key: 'type:work', concurrency: 5 })
  q.enqueue(task('a', { concurrencyKey: 'db', orderingKey: 'cart' }), task('b', { concurrencyKey: 'db', orderingKey: 'cart' }), task('c', { concurrencyKey: 'mail', concurrencyLimit: 1 }))
  q.claim('ann', { max: 9 })
  q.wait(60)
  q.do({ type: 'RemoveLimit', key: 'type:work' })
  return q.log
}
