/** Reads a log, event by event, into a {@link Recording} of a period. */
import {
  beginReplay, type Command, type DataOf, endReplay, type EventOf, evolve, initial, isUnreadable, patchSettings, type QueueEvent, type QueueState, type Settings,
  settingsDefault, skip, type Unreadable,
} from '@daybook/core'
import { Presence } from './presence.js'
import type { Arrivals, Attempt, Held, Input, RecordedTask, Recording } from './recording.js'

type Writable<T> = { -readonly [K in keyof T]: T[K] }
interface Task extends Writable<Omit<RecordedTask, 'before' | 'attempts'>> {
  before: RecordedTask['before']
  attempts: Array<Writable<Attempt>>
  isBegun: boolean
  now: NonNullable<RecordedTask['before']>['now']
  held: Writable<Held> | undefined
  parkedAt: number
}

export class Recorder {
  private state: QueueState
  private settings: Settings = settingsDefault
  private from = Number.POSITIVE_INFINITY
  /** Unfinished tasks by id. */
  private readonly open = new Map<string, Task>()
  private readonly tasks: Array<Task> = []
  private readonly agents = new Map<string, Presence>()
  private readonly inputs: Array<Input | Arrivals> = []
  /** Tasks arrived together if no other event is between them: nobody could claim one before the others were there. */
  private arriving: { readonly at: number; readonly tasks: Array<number> } | undefined
  private readonly snoozed = new Map<string, number>()
  private readonly left = new Map<string, number>()
  private readonly events: Array<QueueEvent> = []

  constructor(queue: string) {
    this.state = beginReplay(initial(queue))
  }

  private get isInPeriod(): boolean {
    return this.from !== Number.POSITIVE_INFINITY
  }

  /** Begins the period, before the next event. */
  begin(from: number): void {
    this.state = endReplay(this.state)
    this.from = from
    for (const agent of this.agents.values()) agent.begin(from)
    for (const task of this.open.values()) {
      const { isBegun, now, held } = task
      task.before = { isBegun, now, held: held === undefined ? undefined : { ...held } }
      task.attempts = []
      this.tasks.push(task)
    }
  }

  /** The next event of the log. `type`: as recorded. */
  take(event: QueueEvent | Unreadable, type: string): void {
    if (isUnreadable(event)) {
      if (this.isInPeriod) this.leave(`events of ${type} that this version cannot read`)
      else this.state = skip(this.state, type, event)
      return
    }
    if (event.type !== 'TaskEnqueued' || event.at !== this.arriving?.at) this.arriving = undefined
    if (this.isInPeriod) this.events.push(event)
    else this.state = evolve(this.state, event)
    this.note(event)
  }

  /** `until`: the first millisecond after the period. */
  end(until: number): Recording {
    for (const task of this.open.values()) if (task.held !== undefined) task.attempts.push({ ms: until - task.held.claimedAt, end: { type: 'unknown' }, random: 0 })
    return {
      from: this.from,
      until,
      start: this.state,
      settings: this.settings,
      events: this.events,
      tasks: this.tasks,
      agents: [...this.agents.values()].flatMap((agent) => agent.recorded(until) ?? []),
      inputs: this.inputs,
      left: Object.fromEntries([...this.left].sort()),
    }
  }

  // --------------------------------------------------------------------------------------------- events

  private note(event: QueueEvent): void {
    const { at } = event
    switch (event.type) {
      case 'TaskEnqueued':
        return this.arrived(event.data, at)
      case 'TaskImported':
        return this.imported(event.data, at)
      case 'AgentRegistered':
        return this.agentOf(event.data.agent).registers(at, event.data, this.from)
      case 'AgentTerminated':
        return this.agentOf(event.data.agent).terminated(at)
      case 'QueueConfigured':
        this.settings = patchSettings(this.settings, event.data.patch)
        return this.input(at, { type: 'Configure', patch: event.data.patch })
      case 'LimitSet': {
        const { limit: key, ...limit } = event.data
        return this.input(at, { type: 'SetLimit', key, ...limit })
      }
      case 'LimitRemoved':
        return this.input(at, { type: 'RemoveLimit', key: event.data.limit })
      case 'QueuePaused':
        return this.input(at, { type: 'Pause', reason: event.data.reason })
      case 'QueueResumed':
        return this.input(at, { type: 'Resume', reason: event.data.reason })
      case 'BreakerOpened':
        return event.data.cause === 'manual' ? this.input(at, { type: 'OpenBreaker', taskType: event.data.taskType, reason: event.data.reason ?? '' }) : undefined
      case 'BreakerClosed':
        return event.data.cause === 'manual' ? this.input(at, { type: 'CloseBreaker', taskType: event.data.taskType, reason: event.data.reason ?? '' }) : undefined
      case 'RedriveStarted':
        return this.input(at, { type: 'Redrive', ...event.data })
      case 'RedriveStopped':
        return event.data.cause === 'by-hand' ? this.input(at, { type: 'StopRedrive', reviewer: event.data.reviewer ?? '', reason: event.data.reason ?? '' }) : undefined
      case 'RedriveAdvanced':
        return this.wasRedriven(event.data.task)
      case 'QueueDeleted':
        // What comes later begins with the settings of a new queue. The model does not delete it, so in the period its settings go on.
        if (!this.isInPeriod) this.settings = settingsDefault
        else this.leave(event.type)
        return
      case 'ScheduleSet':
      case 'ScheduleRemoved':
        if (this.isInPeriod) this.leave(event.type)
        return
      default: {
        const task = 'task' in event.data ? this.open.get(event.data.task) : undefined
        if (task !== undefined) this.ofTask(task, event)
      }
    }
  }

  private arrived(facts: DataOf<'TaskEnqueued'>, at: number): void {
    const { defaults } = this.settings
    const parent = facts.generation !== undefined && facts.parentTaskId !== undefined && this.open.get(facts.parentTaskId)?.held !== undefined ? facts.parentTaskId : undefined
    const task: Task = {
      facts, at, parent,
      defaults: (['timeout', 'maxRetries', 'backoffSeconds'] as const).filter((name) => facts[name] === defaults[name]),
      before: undefined, attempts: [], isBegun: false, now: (facts.availableAt ?? 0) > at ? 'delayed' : 'ready', held: undefined, parkedAt: 0,
    }
    this.open.set(facts.task, task)
    if (!this.isInPeriod) return
    this.tasks.push(task)
    if (parent !== undefined) return
    const index = this.tasks.length - 1
    if (this.arriving === undefined) this.inputs.push((this.arriving = { at, tasks: [index] }))
    else this.arriving.tasks.push(index)
  }

  private imported(facts: DataOf<'TaskImported'>, at: number): void {
    const { status, createdAt, retries } = facts
    this.input(at, { type: 'Import', tasks: [{ ...preparedOf(facts, []), status, createdAt, retries }] })
    // Nothing can happen to the others any more.
    if (status !== 'dead-letter') return
    const task: Task = { facts, at, parent: undefined, defaults: [], before: undefined, attempts: [], isBegun: true, now: 'dead', held: undefined, parkedAt: 0 }
    this.open.set(facts.task, task)
    if (this.isInPeriod) this.tasks.push(task)
  }

  private ofTask(task: Task, event: QueueEvent): void {
    const { at } = event
    const { task: id } = task.facts
    switch (event.type) {
      case 'Claimed': {
        const { agent, token, expiresAt } = event.data
        task.held = { agent, token, claimedAt: at, expiresAt, leaseMs: expiresAt - at }
        task.isBegun = true
        task.now = 'running'
        return this.agentOf(agent).claimed(at, task.facts, this.from)
      }
      case 'LeaseExtended':
        if (task.held !== undefined) task.held.expiresAt = event.data.expiresAt
        return this.agentOf(event.data.agent).heard(at, this.from)
      case 'Released':
        // No agent had the task.
        if (event.data.undelivered === true) return this.letGo(task, at, false)
        return this.ended(task, at, { type: 'released', reason: event.data.reason })
      case 'ClaimReturned':
        return this.ended(task, at, { type: 'returned', reason: event.data.reason })
      case 'ClaimRevoked':
        return this.ended(task, at, { type: 'returned', reason: event.data.reason }, false)
      case 'ClaimExpired':
        return this.ended(task, at, { type: 'silent', cause: event.data.cause }, false, event.data.cause === 'lease-expired')
      case 'Failed':
        return this.ended(task, at, { type: 'failed', error: event.data.error, retryable: event.data.retryable })
      case 'RateLimited': {
        const { base, max, jitter } = this.settings.rateLimit
        this.ended(task, at, { type: 'failed', error: event.data.error, retryable: true })
        return this.delayed(task, event.data.availableAt - at, base, { maxBackoffSeconds: max, jitter })
      }
      case 'RetryScheduled':
        return this.delayed(task, event.data.availableAt - at, task.facts.backoffSeconds, this.settings.defaults)
      case 'TaskDue':
        task.now = 'ready'
        return
      case 'TaskParked': {
        const { callbackKey, until, onTimeout } = event.data
        this.ended(task, at, { type: 'parked', park: { callbackKey, timeoutSeconds: (until - at) / 1_000, onTimeout }, callbackAfterMs: undefined })
        task.now = 'delayed'
        task.parkedAt = at
        return
      }
      case 'CallbackReceived': {
        const last = task.attempts[task.attempts.length - 1]
        if (last?.end.type === 'parked') last.end = { ...last.end, callbackAfterMs: at - task.parkedAt }
        else this.input(at, { type: 'Callback', callbackKey: event.data.callbackKey, content: '{}' })
        task.now = 'ready'
        return
      }
      case 'ParkTimedOut':
        task.now = 'ready'
        return
      case 'Completed':
        this.ended(task, at, { type: 'completed' })
        this.open.delete(id)
        return
      case 'Cancelled':
        if (task.held === undefined) this.input(at, { type: 'Cancel', task: id, reason: event.data.reason })
        else this.ended(task, at, { type: 'cancelled', reason: event.data.reason }, false)
        this.open.delete(id)
        return
      case 'DeadLettered':
        task.now = 'dead'
        return
      case 'Requeued':
        task.now = 'ready'
        if ((this.snoozed.get(id) ?? Number.POSITIVE_INFINITY) <= at) this.snoozed.delete(id)
        else this.input(at, { type: 'Retry', ...event.data })
        return
      case 'Discarded':
        this.open.delete(id)
        return this.input(at, { type: 'Discard', ...event.data })
      case 'Snoozed':
        this.snoozed.set(id, event.data.until)
        return this.input(at, { type: 'Snooze', ...event.data })
      case 'Escalated':
        return this.input(at, { type: 'Escalate', ...event.data })
      case 'TaskBumped':
        return this.input(at, { type: 'Bump', task: id, reason: event.data.reason })
      case 'TaskAmended': {
        const { reason, priority, deadlineAt, availableAt } = event.data
        if (!this.isInPeriod) return amendBefore(task, event)
        return this.input(at, { type: 'AmendTask', task: id, reason, ...(priority === undefined ? {} : { priority }), ...(deadlineAt === undefined ? {} : { deadlineAt }), ...(availableAt === undefined ? {} : { availableAt }) })
      }
    }
  }

  /** The current attempt has ended. */
  private ended(task: Task, at: number, end: Attempt['end'], wasHeard = true, isSilent = false): void {
    const { held } = task
    if (held === undefined) return
    task.attempts.push({ ms: at - held.claimedAt, end, random: 0 })
    this.letGo(task, at, wasHeard, isSilent)
  }

  private letGo(task: Task, at: number, wasHeard: boolean, isSilent = false): void {
    if (task.held === undefined) return
    const agent = this.agentOf(task.held.agent)
    if (isSilent) agent.fellSilent(at, this.from)
    else agent.ended(at, wasHeard, this.from)
    task.held = undefined
    task.now = 'ready'
  }

  private delayed(task: Task, ms: number, backoffSeconds: number, rules: Pick<Settings['defaults'], 'maxBackoffSeconds' | 'jitter'>): void {
    task.now = 'delayed'
    const last = task.attempts[task.attempts.length - 1]
    if (last !== undefined) last.random = jitterOf(ms, backoffSeconds, rules)
  }

  private input(at: number, command: Command): void {
    if (this.isInPeriod) this.inputs.push({ at, command })
  }

  /** The queue sent the task back by itself, so the last input is removed. */
  private wasRedriven(task: string): void {
    const last = this.inputs[this.inputs.length - 1]
    if (last !== undefined && 'command' in last && last.command.type === 'Retry' && last.command.task === task) this.inputs.pop()
  }

  private agentOf(name: string): Presence {
    let agent = this.agents.get(name)
    if (agent === undefined) this.agents.set(name, (agent = new Presence(name)))
    return agent
  }

  private leave(reason: string): void {
    this.left.set(reason, (this.left.get(reason) ?? 0) + 1)
  }
}

/** The period begins with the task as it is then. */
const amendBefore = (task: Task, { at, data: { priority, deadlineAt, availableAt } }: EventOf<'TaskAmended'>): void => {
  const { deadlineAt: former, ...facts } = task.facts
  const deadline = deadlineAt === undefined ? former : (deadlineAt ?? undefined)
  task.facts = {
    ...facts,
    ...(priority === undefined ? {} : { priority }),
    ...(deadline === undefined ? {} : { deadlineAt: deadline }),
    ...(availableAt === undefined ? {} : { availableAt: availableAt ?? at }),
  }
  if (availableAt !== undefined) task.now = availableAt === null ? 'ready' : 'delayed'
}

/** The random number from which `retryDelayMs` computes this delay. */
const jitterOf = (ms: number, baseSeconds: number, { maxBackoffSeconds, jitter }: Pick<Settings['defaults'], 'maxBackoffSeconds' | 'jitter'>): number => {
  const seconds = ms / 1_000
  if (jitter === 0 || baseSeconds <= 0 || seconds <= 0) return 0
  const doublings = Math.max(0, Math.floor(Math.log2(seconds / baseSeconds) + 1e-9))
  const plain = Math.min(baseSeconds * 2 ** doublings, maxBackoffSeconds)
  return Math.min(1 - Number.EPSILON, Math.max(0, (seconds / plain - 1) / jitter))
}

/** A task as it is enqueued again. Every arrival of the log is a task of its own, so nothing is a duplicate. It is in no batch: callbacks are arrivals, too. */
export const preparedOf = ({ task, type, number, idempotencyKey, rootTaskId, generation, restartOf, restartReason, batchId, callbackOf, ...facts }: DataOf<'TaskEnqueued'>, defaults: RecordedTask['defaults']) => {
  const given: Partial<typeof facts> = { ...facts }
  for (const name of defaults) delete given[name]
  return { ...given, id: task, type, idempotencyKey, content: '{}', deduplicate: 'off' as const }
}
