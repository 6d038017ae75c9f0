/** The read model of tasks: one row for each task, and what happened to it. */
import { bandOf, type EventOf, expiryMessage, isFinal, keptError, parkTimeoutMessage, type QueueEvent, type Status } from '@daybook/core'
import type { LoggedEvent } from '../projection.js'
import { Agents } from './agents.js'
import { BatchRows } from './batch-rows.js'
import { contentIn } from './content.js'
import { Kinds } from './kinds.js'
import { Levels } from './levels.js'
import { DeadLetters } from './dead-letters.js'
import { newTask } from './new-task.js'
import type { Feed, TableProjection, Written } from './rows.js'
import { Backlogs } from './backlogs.js'
import { type CountColumn, countColumns } from './happenings.js'
import { Rollups } from './rollups.js'
import { type AttemptRow, type TaskRow, taskRows, type TaskRows, taskTables, type TotalsRow } from './task-tables.js'
import { Waiting } from './waiting.js'

type Claim = { readonly task: string; readonly agent: string; readonly token: number }

/** How a claim ended without success, and what is kept of that. */
interface Ending {
  readonly outcome: string
  readonly count: CountColumn
  readonly ofAgent?: 'failed' | 'expired' | 'released'
  readonly attempts?: 0 | 1
  readonly retries?: 0 | 1
  readonly error?: string
  readonly signature?: string
  /** Shown with the attempt, but not kept as the task's last error. */
  readonly note?: string
  readonly availableAt?: number
}

class TaskFeed implements Feed {
  private readonly rows: TaskRows
  private readonly levels: Levels
  private readonly waiting: Waiting
  private readonly agents: Agents
  private readonly rollups: Rollups
  private readonly backlogs: Backlogs
  private readonly deadLetters: DeadLetters
  private readonly totals: BatchRows<TotalsRow>
  private readonly kinds = new Kinds()
  /** Tasks whose words changed in this batch. */
  private readonly reworded = new Set<TaskRow>()
  /** Attempts that began or ended in this batch, by token. An attempt that did both is one row. */
  private readonly attempted = new Map<number, AttemptRow>()

  constructor(private readonly written: Written) {
    const { queue } = written
    const rows = taskRows(written)
    this.rows = rows
    this.levels = new Levels(queue, rows.depth, rows.depthByMinute)
    this.waiting = new Waiting(queue, rows)
    this.agents = new Agents(queue, rows.agents)
    this.rollups = new Rollups(queue, rows.rollups, rows.failureRollups)
    this.backlogs = new Backlogs(queue, rows)
    this.deadLetters = new DeadLetters(rows)
    this.totals = new BatchRows(queue, rows.totals, (type) => newTotals(queue, type))
  }

  fold(logged: LoggedEvent): void {
    const { event } = logged
    this.levels.passTime(event.at)
    switch (event.type) {
      case 'TaskEnqueued':
        return this.enqueued(logged, event)
      case 'TaskImported':
        return this.imported(logged, event)
      case 'AgentRegistered':
        return this.agents.registered(event)
      case 'AgentTerminated':
        return this.agents.terminated(event)
      case 'QueueConfigured':
        return this.backlogs.configured(logged.revision, event)
      case 'QueueDeleted':
        return this.backlogs.deleted(logged.revision, event.at)
      case 'ScheduleRan':
        return
      default:
        if ('task' in event.data) this.onTask(logged, event, event.data.task)
    }
  }

  settle(): void {
    this.levels.settle()
    this.rollups.settle()
    this.agents.settle()
    this.backlogs.settle()
    this.totals.settle()
    this.kinds.settle()
    for (const { key, description, last_error } of this.reworded) this.written.words.put(key, description ?? '', last_error ?? '')
    this.reworded.clear()
    this.attempted.clear()
  }

  private enqueued(logged: LoggedEvent, { at, data }: EventOf<'TaskEnqueued'>): void {
    const task = newTask(this.written, logged, data, at)
    this.waiting.arrived(task, data.dependencies ?? noIds)
    rest(task, data.availableAt ?? 0, at)
    this.arrived(task, 'enqueued', at)
  }

  private imported(logged: LoggedEvent, { at, data }: EventOf<'TaskImported'>): void {
    const { status, createdAt, finishedAt, retries, lastError } = data
    const task = newTask(this.written, logged, data, createdAt)
    task.status = status
    task.retries = retries
    if (isFinal(status)) task.finished_at = Math.max(finishedAt ?? at, at)
    if (lastError !== undefined) task.last_error = keptError(lastError)
    this.waiting.arrived(task, data.dependencies ?? noIds)
    if (status === 'dead-letter') this.deadLetters.died(task, logged.revision, at, 'imported')
    this.arrived(task, 'imported', at)
  }

  private arrived(task: TaskRow, count: CountColumn, at: number): void {
    this.rows.tasks.put(task)
    this.moved(task, '', '', at)
    this.add(task, count, at)
    if (task.deadline_at !== null && !isFinal(task.status as Status)) this.rollups.due(this.kinds.of(task), task.deadline_at, 1)
    if (task.description !== null || task.last_error !== null) this.reworded.add(task)
  }

  /** Handles an event about a known task whose status it fits. Other events occur only in damaged or foreign logs. */
  private onTask(logged: LoggedEvent, event: QueueEvent, id: string): void {
    const { rows } = this
    const task = rows.tasks.get(this.written.queue, id)
    if (task === undefined) return
    const { status, band } = task
    if (!this.change(task, logged, event)) return
    task.last_revision = logged.revision
    rows.tasks.put(task)
    this.moved(task, status, band, event.at)
  }

  /** Applies the event. Returns whether it fits the task. */
  private change(task: TaskRow, logged: LoggedEvent, event: QueueEvent): boolean {
    const { at } = event
    switch (event.type) {
      case 'TaskDue':
        if (task.status !== 'scheduled') return false
        rest(task, 0, at)
        return true
      case 'RetryScheduled':
        if (task.status !== 'pending') return false
        task.status = 'scheduled'
        task.due_at = event.data.availableAt
        this.add(task, 'retried', at)
        return true
      case 'TaskAmended':
        return this.amended(task, logged, event)
      case 'TaskBumped':
      case 'TaskErased':
      case 'RedriveAdvanced':
        return true
      case 'Claimed':
        return this.claimed(task, event)
      case 'LeaseExtended':
        if (!isHeldBy(task, event.data)) return false
        task.lease_expires_at = event.data.expiresAt
        this.agents.seen(event.data.agent, at)
        return true
      case 'MarkedIncomplete':
        if (!isHeldBy(task, event.data)) return false
        task.status = 'incomplete'
        this.agents.seen(event.data.agent, at)
        this.add(task, 'incomplete', at)
        return true
      case 'Completed':
        return this.completed(task, event)
      case 'Released':
        return this.ended(task, event, { outcome: 'released', count: 'released', ofAgent: 'released', attempts: event.data.undelivered === true ? 0 : 1, note: event.data.reason })
      case 'ClaimReturned':
        return this.ended(task, event, { outcome: 'returned', count: 'returned', note: event.data.reason })
      case 'ClaimRevoked':
        return this.ended(task, event, { outcome: 'revoked', count: 'revoked', note: event.data.reason }, false)
      case 'ClaimExpired': {
        const { cause, signature } = event.data
        return this.ended(task, event, { outcome: cause, count: 'expired', ofAgent: 'expired', attempts: 1, retries: 1, error: expiryMessage[cause], signature }, false)
      }
      case 'Failed': {
        const { error, signature } = event.data
        return this.ended(task, event, { outcome: 'failed', count: 'failed', ofAgent: 'failed', attempts: 1, retries: 1, error: keptError(error.message), signature })
      }
      case 'RateLimited': {
        const { error, availableAt } = event.data
        return this.ended(task, event, { outcome: 'rate-limited', count: 'rate_limited', error: keptError(error.message), availableAt })
      }
      case 'TaskParked':
        if (!this.ended(task, event, { outcome: 'parked', count: 'parked' })) return false
        task.status = 'waiting'
        task.due_at = event.data.until
        return true
      case 'CallbackReceived':
        if (task.status !== 'waiting') return false
        rest(task, 0, at)
        this.add(task, 'called_back', at)
        return true
      case 'ParkTimedOut':
        if (task.status !== 'waiting') return false
        rest(task, 0, at)
        this.add(task, 'timed_out', at)
        if (event.data.onTimeout === 'fail') this.noteFailure(task, at, 1, 1, parkTimeoutMessage, event.data.signature)
        return true
      case 'DeadLettered':
        if (task.status !== 'pending') return false
        task.status = 'dead-letter'
        task.due_at = null
        this.deadLetters.died(task, logged.revision, at, event.data.reason)
        this.add(task, 'dead_lettered', at)
        return true
      case 'Requeued':
      case 'Discarded':
      case 'Snoozed':
      case 'Escalated':
        return this.reviewed(task, logged.revision, event)
      case 'SnoozeLapsed':
        if (task.status !== 'dead-letter') return false
        task.due_at = null
        return true
      case 'Cancelled':
        return this.cancelled(task, event)
      default:
        return false
    }
  }

  private amended(task: TaskRow, logged: LoggedEvent, { at, data }: EventOf<'TaskAmended'>): boolean {
    const { priority, deadlineAt, availableAt, formerContentRevision } = data
    if (isHeld(task) || isFinal(task.status as Status)) return false
    if (priority !== undefined) {
      task.priority = priority
      task.band = bandOf(priority)
    }
    if (deadlineAt !== undefined) {
      if (task.deadline_at !== null) this.rollups.due(this.kinds.of(task), task.deadline_at, -1)
      if (deadlineAt !== null) this.rollups.due(this.kinds.of(task), deadlineAt, 1)
      task.deadline_at = deadlineAt
    }
    if (availableAt !== undefined) {
      task.available_at = availableAt
      if (task.status === 'pending' || task.status === 'scheduled') rest(task, availableAt ?? 0, at)
    }
    if (formerContentRevision !== undefined) {
      task.description = contentIn(logged, 'description') ?? null
      this.reworded.add(task)
    }
    return true
  }

  private claimed(task: TaskRow, { at, data }: EventOf<'Claimed'>): boolean {
    if (task.status !== 'pending') return false
    const { agent, token, expiresAt } = data
    task.status = 'in-progress'
    task.claimed_at = at
    task.first_claimed_at ??= at
    task.claimed_by = agent
    task.token = token
    task.lease_expires_at = expiresAt
    task.claims++
    this.noteAttempt(task, null, null, null)
    this.agents.claimed(agent, at, task.id)
    const totals = this.totalsOf(task)
    totals.claimed++
    totals.waits++
    totals.wait_ms += at - task.ready_at
    this.rollups.claimed(this.kinds.of(task), task, at, at - task.ready_at)
    return true
  }

  private completed(task: TaskRow, { at, data }: EventOf<'Completed'>): boolean {
    if (!isHeldBy(task, data)) return false
    this.noteAttempt(task, at, 'completed', null)
    this.agents.ended(data.agent, at, true, 'completed')
    this.countRun(task, 'completed', at)
    if (task.deadline_at !== null && at <= task.deadline_at) this.rollups.met(this.kinds.of(task), task.deadline_at)
    this.finish(task, 'completed', at)
    for (const dependent of this.waiting.dependentsOf(task)) this.unblock(dependent, at)
    return true
  }

  private cancelled(task: TaskRow, { at, data }: EventOf<'Cancelled'>): boolean {
    if (isFinal(task.status as Status)) return false
    if (isHeld(task)) {
      this.noteAttempt(task, at, 'cancelled', data.reason)
      if (task.claimed_by !== null) this.agents.ended(task.claimed_by, at, false, undefined)
      this.countRun(task, 'cancelled', at)
    } else this.add(task, 'cancelled', at)
    this.deadLetters.decided(task, at, 'cancelled', null, data.reason)
    if (task.deadline_at !== null && at <= task.deadline_at) this.rollups.due(this.kinds.of(task), task.deadline_at, -1)
    task.missing = 0
    this.finish(task, 'cancelled', at)
    return true
  }

  /** Ends a claim without success. */
  private ended(task: TaskRow, { at, data }: { readonly at: number; readonly data: Claim }, ending: Ending, wasHeard = true): boolean {
    if (!isHeldBy(task, data)) return false
    const { outcome, count, ofAgent, attempts = 0, retries = 0, error, signature, note, availableAt = 0 } = ending
    this.noteAttempt(task, at, outcome, error ?? note ?? null)
    this.agents.ended(data.agent, at, wasHeard, ofAgent)
    this.countRun(task, count, at)
    task.lease_expires_at = null
    rest(task, availableAt, at)
    this.noteFailure(task, at, attempts, retries, error, signature)
    return true
  }

  private noteFailure(task: TaskRow, at: number, attempts: 0 | 1, retries: 0 | 1, error: string | undefined, signature: string | undefined): void {
    task.attempts += attempts
    task.retries += retries
    if (signature !== undefined) {
      task.signature = signature
      this.rollups.failed(this.kinds.of(task), task, signature, error ?? '', at)
    }
    if (error === undefined || error === task.last_error) return
    task.last_error = error
    this.reworded.add(task)
  }

  private finish(task: TaskRow, status: 'completed' | 'cancelled' | 'discarded', at: number): void {
    task.status = status
    task.finished_at = at
    task.lease_expires_at = null
    task.due_at = null
    const next = this.waiting.leave(task)
    if (next !== undefined) this.unblock(next, at)
  }

  /** The task waits for one thing less. */
  private unblock(task: TaskRow, at: number): void {
    task.missing--
    const { status } = task
    if (status === 'blocked') rest(task, task.available_at ?? 0, at)
    this.rows.tasks.put(task)
    this.moved(task, status, task.band, at)
  }

  private reviewed(task: TaskRow, revision: number, event: EventOf<'Requeued'> | EventOf<'Discarded'> | EventOf<'Snoozed'> | EventOf<'Escalated'>): boolean {
    if (task.status !== 'dead-letter') return false
    const { at, data } = event
    const { reviewer, reason } = data
    const until = event.type === 'Snoozed' ? event.data.until : null
    const verdict = verdicts[event.type]
    this.deadLetters.reviewed(task, { revision, at, verdict, reviewer, reason, until })
    if (event.type === 'Snoozed') task.due_at = until
    if (event.type === 'Requeued') {
      this.deadLetters.decided(task, at, verdict, reviewer, reason)
      task.retries = 0
      task.attempts = 0
      rest(task, 0, at)
      this.add(task, 'requeued', at)
    }
    if (event.type === 'Discarded') {
      this.deadLetters.decided(task, at, verdict, reviewer, reason)
      task.missing = 0
      this.finish(task, 'discarded', at)
      this.add(task, 'discarded', at)
    }
    return true
  }

  private noteAttempt(task: TaskRow, endedAt: number | null, outcome: string | null, error: string | null): void {
    const { key, token, claimed_by, claimed_at } = task
    if (token === null || claimed_by === null || claimed_at === null) return
    let attempt = this.attempted.get(token)
    if (attempt?.task_key !== key) {
      attempt = { task_key: key, token, agent: claimed_by, claimed_at, ended_at: null, outcome: null, error: null }
      this.attempted.set(token, attempt)
      this.rows.attempts.put(attempt)
    }
    attempt.ended_at = endedAt
    attempt.outcome = outcome
    attempt.error = error
  }

  private countRun(task: TaskRow, count: CountColumn, at: number): void {
    const totals = this.totalsOf(task)
    totals[count]++
    totals.runs++
    const ran = at - (task.claimed_at ?? at)
    totals.run_ms += ran
    this.rollups.ended(this.kinds.of(task), task, count, at, ran)
  }

  private add(task: TaskRow, count: CountColumn, at: number): void {
    this.totalsOf(task)[count]++
    this.rollups.count(this.kinds.of(task), task, count, at)
  }

  /** The task has changed its status or band. `status` and `band`: the former ones; `''` for none. */
  private moved(task: TaskRow, status: string, band: string, at: number): void {
    this.levels.moved(this.kinds.of(task), task, status, band)
    this.backlogs.moved(task, status, at)
  }

  private totalsOf({ type }: TaskRow): TotalsRow {
    return this.totals.of(type)
  }
}

const verdicts = { Requeued: 'retried', Discarded: 'discarded', Snoozed: 'snoozed', Escalated: 'escalated' } as const
const noIds: ReadonlyArray<string> = []

const newTotals = (queue: string, type: string): TotalsRow => ({ queue, type, ...(Object.fromEntries(countColumns.map((name) => [name, 0])) as Record<CountColumn, number>), waits: 0, wait_ms: 0, runs: 0, run_ms: 0 })

const isHeld = ({ status }: TaskRow): boolean => status === 'in-progress' || status === 'incomplete'
const isHeldBy = (task: TaskRow, { token }: Claim): boolean => isHeld(task) && task.token === token

/** The status of a task that nobody holds: blocked, scheduled or pending. */
const rest = (task: TaskRow, availableAt: number, at: number): void => {
  const wasReady = task.status === 'pending'
  task.due_at = null
  if (task.missing > 0) task.status = 'blocked'
  else if (availableAt > at) {
    task.status = 'scheduled'
    task.due_at = availableAt
  } else {
    task.status = 'pending'
    if (!wasReady) task.ready_at = at
  }
}

export const taskReadModel: TableProjection = {
  name: 'tasks',
  version: 2,
  about: 'Tasks, attempts, dead letters, agents, depth, totals, and what reports are made of.',
  tables: taskTables,
  hasWords: true,
  feed: (written) => new TaskFeed(written),
}
