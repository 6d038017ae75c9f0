/** The tables about tasks. */
import { happenings } from './happenings.js'
import { backlogSpans, failureRollups, rollups, rollupTables, tenantBacklog, tenantWeights } from './rollup-tables.js'
import type { Written } from './rows.js'
import { integer, maybe, type RowOf, table, text } from './table.js'

const key = integer('names the task in this file; joins with the other tables')
const ofTask = { task_key: integer('`tasks.key`') }
const queue = text('the queue')

/** Fields of a task that never change. */
const unread = ['number', 'ticket_id', 'batch_id', 'skills', 'concurrency_key', 'parent_task_id', 'root_task_id', 'restart_of', 'timeout', 'max_retries', 'enqueued_at', 'enqueued_by', 'enqueued_revision'] as const

export const tasks = table({
  name: 'tasks',
  about: 'Every task that ever was, with its newest state. Finished tasks stay, also beyond the retention of the queue.',
  columns: {
    key,
    queue,
    number: integer('1, 2, 3 … in its queue'),
    id: text('the id'),
    type: text('the type'),
    status: text('scheduled, waiting, blocked, pending, in-progress, incomplete, completed, dead-letter, cancelled or discarded'),
    priority: integer('10 is the highest, 1 the lowest'),
    band: text('of its priority: CRITICAL, HIGH, MEDIUM or LOW'),
    phase: maybe.text('the phase'),
    tenant: maybe.text('on whose account it is'),
    ticket_id: maybe.text('the ticket that it belongs to'),
    batch_id: maybe.text('the batch that it is in'),
    description: maybe.text('what is to be done, in words'),
    skills: maybe.text('the skills that an agent must have, as a JSON list'),
    concurrency_key: maybe.text('tasks with the same key share a limit'),
    ordering_key: maybe.text('tasks with the same key run one after the other'),
    parent_task_id: maybe.text('the id of the task that it is a part of'),
    root_task_id: maybe.text('the id of the first task of its chain'),
    discovery: maybe.text('the kind of discovery that it is about'),
    restart_of: maybe.text('the id of the task that was restarted as this one'),
    timeout: integer('seconds that a lease lasts without a heartbeat'),
    max_retries: integer('failures after which it is a dead letter'),
    deadline_at: maybe.integer('by when it should be done'),
    available_at: maybe.integer('before which it is not to be started'),
    enqueued_at: integer('when it was enqueued'),
    enqueued_by: maybe.text('who enqueued it'),
    ready_at: integer('when it last became ready; before the first time, when it was enqueued'),
    due_at: maybe.integer('of a scheduled task: when it becomes ready; of a waiting one: until when it waits; of a dead letter: when it is sent back'),
    first_claimed_at: maybe.integer('when it was claimed for the first time'),
    claimed_at: maybe.integer('when its last claim began'),
    claimed_by: maybe.text('the agent of its last claim'),
    token: maybe.integer('the token of its last claim'),
    lease_expires_at: maybe.integer('of a held task: when the lease ends'),
    finished_at: maybe.integer('when it was completed, cancelled or discarded'),
    claims: integer('how often it was claimed'),
    attempts: integer('claims that ended without success since the last requeue'),
    retries: integer('failures since the last requeue'),
    last_error: maybe.text('the last error, its first 1,000 characters'),
    signature: maybe.text('the signature of the last failure: the same for failures that are alike'),
    dead_letter_revision: maybe.integer('of a dead letter: `dead_letters.revision`'),
    enqueued_revision: integer('the revision of the event that brought it'),
    last_revision: integer('the revision of the last event about it'),
    missing: integer('what it waits for: dependencies that are not completed, and a task before it in its line'),
    dependents: integer('dependencies of other tasks on this one'),
    before_in_line: maybe.text('the id of the unfinished task before it with the same ordering key'),
    after_in_line: maybe.text('the id of the task after it'),
  },
  key: ['key'],
  foundBy: ['queue', 'id'],
  fixed: ['key', 'queue', 'id', 'type', 'phase', 'tenant', 'ordering_key', 'discovery', ...unread],
  unread,
  finishedBy: 'finished_at',
  indexes: [
    { name: 'tasks_by_id', on: 'id', isForFold: true },
    { name: 'tasks_unfinished', on: 'queue, status', where: 'finished_at IS NULL' },
    { name: 'tasks_finished', on: 'queue, finished_at', where: 'finished_at IS NOT NULL' },
  ],
})
export type TaskRow = RowOf<typeof tasks>

export const dependencies = table({
  name: 'dependencies',
  about: 'Which task depends on which.',
  columns: {
    depends_on: integer('`tasks.key` of the task that must be completed first'),
    place: integer('1, 2, 3 … among those that depend on it'),
    ...ofTask,
    task_id: text('the id of the task that depends on it'),
  },
  key: ['depends_on', 'place'],
})

export const lines = table({
  name: 'lines',
  about: 'The last task of each line: of the tasks with the same ordering key.',
  columns: { queue, ordering_key: text('the key'), last_task_id: maybe.text('the id of the newest unfinished task; NULL if the line is empty') },
  key: ['queue', 'ordering_key'],
})

export const attempts = table({
  name: 'attempts',
  about: 'Every claim of every task.',
  columns: {
    ...ofTask,
    token: integer('the token of the claim; later claims have larger ones'),
    agent: text('the agent'),
    claimed_at: integer('when it began'),
    ended_at: maybe.integer('when it ended; NULL while it goes on'),
    outcome: maybe.text('completed, failed, released, returned, rate-limited, parked, revoked, cancelled, or why the lease ended: lease-expired, report-missing, ran-too-long'),
    error: maybe.text('the error, its first 1,000 characters, or the reason'),
  },
  key: ['task_key', 'token'],
  fixed: ['task_key', 'token', 'agent', 'claimed_at'],
  isWriteOnly: true,
})
export type AttemptRow = RowOf<typeof attempts>

export const deadLetters = table({
  name: 'dead_letters',
  about: 'Every time that a task became a dead letter, and what was decided.',
  columns: {
    ...ofTask,
    revision: integer('the revision of the event'),
    queue,
    type: text('the type of the task'),
    died_at: integer('when'),
    reason: text('retries-exhausted, attempts-exhausted, not-retryable or imported'),
    signature: maybe.text('the signature of the failure'),
    error: maybe.text('the error, its first 1,000 characters'),
    verdict: maybe.text('retried, discarded or cancelled; NULL while nothing is decided'),
    decided_at: maybe.integer('when that was decided'),
    reviewer: maybe.text('who decided'),
    note: maybe.text('the reason that the reviewer gave'),
  },
  key: ['task_key', 'revision'],
  fixed: ['task_key', 'revision', 'queue', 'type', 'died_at', 'reason', 'signature', 'error'],
  indexes: [{ name: 'dead_letters_by_signature', on: 'queue, signature' }],
})

export const reviews = table({
  name: 'reviews',
  about: 'Every decision of a reviewer about a dead letter, in order.',
  columns: {
    queue,
    revision: integer('the revision of the event'),
    ...ofTask,
    at: integer('when'),
    verdict: text('retried, discarded, snoozed or escalated'),
    reviewer: text('who'),
    reason: text('why'),
    until: maybe.integer('of a snooze: when it is sent back'),
    signature: maybe.text('the signature of the failure'),
    error: maybe.text('the last error'),
  },
  key: ['queue', 'revision'],
  isWriteOnly: true,
})

/** The statuses that are counted, by the name of their column. */
export type LevelColumn = 'pending' | 'scheduled' | 'waiting' | 'blocked' | 'in_progress' | 'dead_letter'

const combination = {
  type: text('the type'),
  tenant: text("the tenant; '' for none"),
  band: text('CRITICAL, HIGH, MEDIUM or LOW'),
  phase: text("the phase; '' for none"),
}
const levels = {
  pending: integer('ready to be claimed'),
  scheduled: integer('waiting for their time'),
  waiting: integer('waiting for a callback'),
  blocked: integer('waiting for other tasks'),
  in_progress: integer('held by an agent'),
  dead_letter: integer('dead letters'),
}

export const depth = table({
  name: 'depth',
  about: 'How many unfinished tasks there are now, by type, tenant, priority band and phase.',
  columns: { queue, ...combination, ...levels },
  key: ['queue', 'type', 'tenant', 'band', 'phase'],
})
export type DepthRow = RowOf<typeof depth>

export const depthByMinute = table({
  name: 'depth_by_minute',
  about: 'The same at the end of each minute in which it changed.',
  columns: { queue, minute: integer('when the minute began'), ...combination, ...levels },
  key: ['queue', 'minute', 'type', 'tenant', 'band', 'phase'],
  isWriteOnly: true,
})

const times = {
  waits: integer('claims whose wait is in `wait_ms`'),
  wait_ms: integer('sum of the milliseconds from when a task became ready to its claim'),
  runs: integer('claims whose time is in `run_ms`'),
  run_ms: integer('sum of the milliseconds from a claim to its end'),
}
export const totals = table({
  name: 'totals',
  about: 'What has happened since the queue began, by task type.',
  columns: { queue, type: text('the type'), ...happenings, ...times },
  key: ['queue', 'type'],
})
export type TotalsRow = RowOf<typeof totals>

export const agents = table({
  name: 'agents',
  about: 'Every agent that registered or claimed something.',
  columns: {
    queue,
    agent: text('its id'),
    first_seen_at: integer('when it was heard of first'),
    last_seen_at: integer('when it was heard of last'),
    registered_at: maybe.integer('when it registered last'),
    registered_until: maybe.integer('when that registration ends unless it is heard of again'),
    types: maybe.text('the types that it registered for, as a JSON list'),
    phases: maybe.text('the phases, as a JSON list'),
    skills: maybe.text('its skills, as a JSON list'),
    tenant: maybe.text('the tenant that it works for'),
    max_tasks: maybe.integer('how many tasks it takes at the same time'),
    terminated_at: maybe.integer('when an operator terminated it last'),
    holds: integer('tasks that it holds'),
    claims: integer('claims so far'),
    completed: integer('of these, completed'),
    failed: integer('failed'),
    expired: integer('ended by themselves'),
    released: integer('refused by it'),
    last_task_id: maybe.text('the id of the task that it claimed last'),
  },
  key: ['queue', 'agent'],
})
export type AgentRow = RowOf<typeof agents>

export const taskTables = [tasks, dependencies, lines, attempts, deadLetters, reviews, depth, depthByMinute, totals, agents, ...rollupTables]

/** The rows of these tables. */
export const taskRows = ({ rows }: Written) => ({
  tasks: rows(tasks),
  dependencies: rows(dependencies),
  lines: rows(lines),
  attempts: rows(attempts),
  deadLetters: rows(deadLetters),
  reviews: rows(reviews),
  depth: rows(depth),
  depthByMinute: rows(depthByMinute),
  totals: rows(totals),
  agents: rows(agents),
  rollups: rows(rollups),
  failureRollups: rows(failureRollups),
  tenantBacklog: rows(tenantBacklog),
  backlogSpans: rows(backlogSpans),
  tenantWeights: rows(tenantWeights),
})
export type TaskRows = ReturnType<typeof taskRows>
