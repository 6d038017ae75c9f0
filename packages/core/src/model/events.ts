/**
 * The events of a queue's log. An event's data has everything that the fold needs. Its metadata says who caused it, and why. A published (type,
 * version) keeps its codec for ever. A change of shape is a new version, with an upcaster from the previous version (see `upcast.ts`).
 *
 * Recorded texts and JSON are accepted whatever their size. New ones are checked in commands, so a stricter limit makes no log unreadable.
 */
import * as t from 'io-ts'
import { AlertKind } from './alert-kind.js'
import { BatchEnd } from './batch-end.js'
import { AgentId, BatchId, Count, Instant, InstantOrNone, integer, LimitKey, Name, oneOf, Priority, RecordedText as Text, TaskId, TaskType, Token } from './scalars.js'
import { RecordedJson as Json } from '../text/json.js'
import { Concurrency, Rate } from './limit.js'
import { SettingsPatch } from './settings.js'
import { OnTimeout, Phase, RecordedFailure as Failure } from './task.js'
import { PlannedTask, RecordedScheduledTask, TaskFacts } from './task-fields.js'
import { Interval, MissedRuns, OverlappingRuns, ScheduleName, SkipReason } from './schedule.js'

/** The codec of data with these members; those of `optional` may be missing. */
const data = <R extends t.Props, O extends t.Props>(required: R, optional: O) => t.intersection([t.type(required), t.partial(optional)])
const Names = t.readonlyArray(t.string)
const lease = { task: TaskId, agent: AgentId, token: Token }
const due = { name: ScheduleName, dueAt: Instant }
const review = { task: TaskId, reviewer: Text, reason: Text }
const RecordedFilter = t.exact(t.partial({ type: Text, signature: Text, error: Text, escalated: t.boolean, snoozed: t.boolean }))

/**
 * Why an attempt ended without a report of the agent. `ran-too-long`: after the task's `maxRunSeconds`, whatever its heartbeats. `agent-terminated`
 * occurs only in old logs: see `ClaimRevoked`.
 */
export const expiryCauses = ['lease-expired', 'report-missing', 'agent-terminated', 'ran-too-long'] as const
export type ExpiryCause = (typeof expiryCauses)[number]
const ExpiryCause = oneOf(expiryCauses)

export const deadLetterReasons = ['retries-exhausted', 'attempts-exhausted', 'not-retryable', 'imported'] as const
export type DeadLetterReason = (typeof deadLetterReasons)[number]
const DeadLetterReason = oneOf(deadLetterReasons)

/** What a guardian decides on: the approval's id, the task that caused it, the first task of that task's chain, and the tasks to spawn. */
const approval = { approval: Name, parent: TaskId, root: TaskId, tasks: t.readonlyArray(PlannedTask) }
export const proposalCauses = ['other-ticket', 'too-many-generations'] as const
export type ProposalCause = (typeof proposalCauses)[number]
const ProposalCause = oneOf(proposalCauses)
export const haltCauses = ['signature-repeated', 'rounds-exhausted', ...deadLetterReasons] as const
export type HaltCause = (typeof haltCauses)[number]
const HaltCause = oneOf(haltCauses)

const ImportedStatus = t.keyof({ completed: null, cancelled: null, 'dead-letter': null })

/** Current version of each event's data: type → codec. */
export const eventCodecs = {
  /** A task was enqueued. The same event holds its content (payload, description, metadata), which the fold does not read. */
  TaskEnqueued: TaskFacts,
  /** A task that was already finished in another system was imported with its status. */
  TaskImported: t.intersection([
    TaskFacts,
    t.type({ status: ImportedStatus, createdAt: Instant, retries: Count }),
    t.partial({ finishedAt: Instant, lastError: Text }),
  ]),
  /**
   * A task that nobody holds was changed. Each new value comes with the former one; `null` means no time. With `formerContentRevision` the payload
   * was changed: the same event holds the content from now on, and the event of that revision held it before.
   */
  TaskAmended: data({ task: TaskId, reason: Text }, {
    priority: Priority,
    formerPriority: Priority,
    deadlineAt: InstantOrNone,
    formerDeadlineAt: InstantOrNone,
    availableAt: InstantOrNone,
    formerAvailableAt: InstantOrNone,
    formerContentRevision: Count,
  }),
  /** A delay (retry or `availableAt`) is over. */
  TaskDue: t.type({ task: TaskId }),
  Claimed: data({ ...lease, expiresAt: Instant }, { probe: t.literal(true) }),
  LeaseExtended: data({ ...lease, expiresAt: Instant }, { progress: Json, checkpoint: Json }),
  /**
   * The agent refused the task: this counts as an attempt, and the agent is barred from the task (GB-04). With `undelivered`, the claim did not reach
   * the agent and the server took it back: no attempt, no bar.
   */
  Released: data({ ...lease, reason: Text }, { undelivered: t.literal(true) }),
  /** The agent gave the task back because it stops: no attempt, no bar. */
  ClaimReturned: t.type({ ...lease, reason: Text }),
  ClaimExpired: t.type({ ...lease, cause: ExpiryCause, signature: t.string }),
  /** An operator terminated the agent, which ended its claim: no attempt, no retry, no failure. */
  ClaimRevoked: t.type({ ...lease, reason: Text }),
  Failed: data({ ...lease, error: Failure, retryable: t.boolean, signature: t.string }, { checkpoint: Json }),
  RetryScheduled: t.type({ task: TaskId, availableAt: Instant }),
  /**
   * The agent met a rate limit: no attempt, no retry, no failure of the type. The task is tried again at `availableAt`, and the agent gets no task
   * until then. `count`: the task's rate limits so far, this one included.
   */
  RateLimited: data({ ...lease, error: Failure, availableAt: Instant, count: Count }, { checkpoint: Json }),
  /** Other agents get no task of this type until `until`, because `agent` met a rate limit. */
  SlowdownSignalled: t.type({ taskType: TaskType, until: Instant, agent: AgentId }),
  SlowdownEnded: t.type({ taskType: TaskType }),
  /** The agent gets tasks again: the wait after its rate limit is over. */
  AgentResumed: t.type({ agent: AgentId }),
  /** The agent waits for something outside: its lease ended without an attempt, and the task waits for the callback with this key. */
  TaskParked: data({ ...lease, callbackKey: Name, until: Instant, onTimeout: OnTimeout }, { checkpoint: Json }),
  /** The callback of a parked task came: the task is ready. The same event holds its payload, which the fold does not read. */
  CallbackReceived: t.type({ task: TaskId, callbackKey: Name }),
  /** No callback came in time. With `fail` this is a failed attempt, with `requeue` the task is ready again. */
  ParkTimedOut: t.type({ task: TaskId, callbackKey: Name, onTimeout: OnTimeout, signature: t.string }),
  /** Completed without the required decision report; the lease continues (LK-02). */
  MarkedIncomplete: t.type(lease),
  Completed: t.type(lease),
  DeadLettered: t.type({ task: TaskId, reason: DeadLetterReason }),
  /** A reviewer sent a dead letter back, its retries and attempts reset. */
  Requeued: t.type(review),
  /** A reviewer wants the dead letter to be sent back at `until`. It stays a dead letter until then. */
  Snoozed: t.type({ ...review, until: Instant }),
  /** The snooze has ended without effect: its time has come and another task has the idempotency key, or a reviewer escalates it. It stays a dead letter. */
  SnoozeLapsed: t.type({ task: TaskId }),
  /** A reviewer wants a person to decide. The task stays a dead letter. */
  Escalated: t.type(review),
  /** The dead letters that match at this moment are sent back one after the other, `perMinute` a minute. */
  RedriveStarted: t.type({ filter: RecordedFilter, perMinute: integer(1, 60_000), reviewer: Text, reason: Text }),
  /** The redrive has sent this task back with the event before this one. The next is due at `nextAt`. */
  RedriveAdvanced: t.type({ task: TaskId, nextAt: Instant }),
  RedriveStopped: data({ cause: t.keyof({ 'nothing-left': null, 'breaker-opened': null, 'by-hand': null }) }, { taskType: TaskType, reviewer: Text, reason: Text }),
  /** A reviewer discarded a dead letter: final. */
  Discarded: t.type(review),
  /** A result says that validation failed: another round of this chain (TQM-VF-001). */
  ValidationFailed: t.type({ parent: TaskId, root: TaskId, signature: t.string, error: Text }),
  /** A discovery needs a guardian's approval before it becomes a task (TQM-BR-003). The event's content holds the contents of the tasks. */
  SpawnProposed: t.type({ ...approval, cause: ProposalCause }),
  /**
   * A chain of fixes goes on only if a guardian releases it. A release enqueues the tasks that are held back, or sends the dead letter `parent` back
   * (TQM-VF-002, TQM-VF-003).
   */
  LoopHalted: t.type({ ...approval, cause: HaltCause, rounds: Count, signature: t.string, error: Text }),
  SpawnApproved: t.type({ approval: Name, reason: Text }),
  SpawnRefused: t.type({ approval: Name, reason: Text }),
  /** The chain's rounds and failures are counted from zero again. */
  GuardianReleased: t.type({ approval: Name, root: TaskId, reason: Text }),
  /** `agent` and `token`: the lease that ends with it, if the task was held. */
  Cancelled: data({ task: TaskId, reason: Text }, { agent: AgentId, token: Token }),
  /** The content of a finished task is gone: its encryption key is deleted after this event (EV-07). The queue may no longer know the task. */
  TaskErased: t.type({ task: TaskId, reason: Text }),
  BreakerOpened: data({ taskType: TaskType, cause: t.keyof({ threshold: null, 'probe-failed': null, manual: null }) }, { reason: Text }),
  BreakerHalfOpened: t.type({ taskType: TaskType }),
  BreakerClosed: data({ taskType: TaskType, cause: t.keyof({ 'probe-succeeded': null, manual: null }) }, { reason: Text }),
  /** A schedule was set or changed. It has either `cron` or `every` (seconds). Without `nextAt` it is never due. */
  ScheduleSet: data({
    name: ScheduleName,
    timeZone: t.string,
    missed: MissedRuns,
    overlap: OverlappingRuns,
    paused: t.boolean,
    /** The task that each run enqueues. */
    template: RecordedScheduledTask,
  }, { cron: t.string, every: Interval, nextAt: Instant }),
  ScheduleRemoved: t.type({ name: ScheduleName }),
  /** A schedule was due at `dueAt`: the next event enqueues its task. It is due next at `nextAt`; without `nextAt`, never. */
  ScheduleRan: data({ ...due, task: TaskId }, { nextAt: Instant }),
  /** A schedule was due at `dueAt` and enqueued nothing. With `since`, this is true of all instants from `since` on. */
  ScheduleSkipped: data({ ...due, why: SkipReason }, { since: Instant, nextAt: Instant }),
  /** A schedule was due at `dueAt`. It will run when its previous run has ended. */
  ScheduleHeld: data(due, { nextAt: Instant }),
  /**
   * A batch was created. It counts the tasks that are enqueued with its id from now on. `callback`: the task that is enqueued when the batch is finished.
   * `on`: whether dead letters hold the batch (`finished`) or not (`settled`).
   */
  BatchCreated: data({ batch: BatchId, on: BatchEnd }, { description: Text, tenant: t.string, callback: RecordedScheduledTask }),
  /** The batch takes in no more tasks, except those that its own tasks add. */
  BatchClosed: t.type({ batch: BatchId }),
  /** The batch is closed and its open tasks are cancelled. Its callback is enqueued only with `runsCallback`. */
  BatchCancelled: data({ batch: BatchId, reason: Text }, { runsCallback: t.literal(true) }),
  /** The closed batch waits for nothing more. The counts say how its tasks ended. `callback`: the task that the next event enqueues. */
  BatchFinished: data({ batch: BatchId, tasks: Count, completed: Count, cancelled: Count, discarded: Count, deadLetters: Count }, { callback: TaskId }),
  /**
   * A ready task was put before all others, and may start beyond capacity. It keeps its place until its claim has ended. The event has the number of
   * agents that were working, and whether the task exceeds the limit if it starts at once.
   */
  TaskBumped: t.type({ task: TaskId, reason: Text, activeAgents: Count, maxConcurrentAgents: Count, isOverCapacity: t.boolean }),
  /** What the agent can take. `endsAt`: the end of the registration, unless the agent is heard of again. */
  AgentRegistered: data({ agent: AgentId, endsAt: Instant }, { types: Names, phases: t.readonlyArray(Phase), skills: Names, tenant: t.string, maxTasks: Count }),
  /** A condition of the queue began. `message` says it for people. */
  AlertRaised: t.type({ key: t.string, kind: AlertKind, message: Text }),
  AlertCleared: t.type({ key: t.string }),
  /**
   * How many tasks with this concurrency key, or of this type or tenant (`type:TYPE`, `tenant:TENANT`), may run at once, and how often they may
   * start.
   */
  LimitSet: data({ limit: LimitKey }, { concurrency: Concurrency, rate: Rate }),
  LimitRemoved: t.type({ limit: LimitKey }),
  /** A rate whose starts were used up admits starts again. `limit`: the key that is counted, never a default such as `type:*`. */
  LimitOpened: t.type({ limit: LimitKey }),
  /** An operator terminated the agent: its registration ends, and so do its claims (`ClaimRevoked`). */
  AgentTerminated: t.type({ agent: AgentId, reason: Text }),
  QueueConfigured: t.type({ patch: SettingsPatch }),
  QueuePaused: t.type({ reason: Text }),
  QueueResumed: t.type({ reason: Text }),
  /** The queue was deleted: its finished tasks, settings and breakers are forgotten. Numbers and tokens continue; its next event creates it again. */
  QueueDeleted: t.type({ reason: Text }),
} as const

export type EventType = keyof typeof eventCodecs
export const eventTypes = Object.keys(eventCodecs) as ReadonlyArray<EventType>
const known: ReadonlySet<string> = new Set(eventTypes)
export const isEventType = (type: string): type is EventType => known.has(type)

export type DataOf<T extends EventType> = t.TypeOf<(typeof eventCodecs)[T]>

/**
 * An event as the fold sees it. `at` is the queue's time in milliseconds and never decreases along a stream
 * (INV-14). `content` is a JSON text that the fold does not read: the content of a task, or its result.
 */
export type QueueEvent = {
  readonly [T in EventType]: { readonly type: T; readonly at: Instant; readonly data: DataOf<T>; readonly content?: string }
}[EventType]

export type EventOf<T extends EventType> = Extract<QueueEvent, { type: T }>
