/** The commands of a queue. A command is data. A decision depends only on the state, the command and its envelope, so it can be repeated exactly. */
import * as t from 'io-ts'
import { abilities } from './abilities.js'
import { listOf } from './list.js'
import { BatchEnd } from './batch-end.js'
import { ContentText } from '../text/content-text.js'
import { Json } from '../text/json.js'
import {
  AgentId,
  BatchId,
  Count,
  Instant,
  InstantOrNone,
  integer,
  LimitKey,
  Name,
  PositiveSeconds,
  Priority,
  TaskId,
  TaskRef,
  TaskType,
  Text,
  Token,
  TypePattern,
} from './scalars.js'
import { Interval, MissedRuns, OverlappingRuns, ScheduleName } from './schedule.js'
import { Concurrency, Rate } from './limit.js'
import { SettingsPatch } from './settings.js'
import { Dependencies, KeptFailure, ParkRequest, Phase, Status } from './task.js'
import { importedCodecs, preparedCodecs, ScheduledTask } from './task-fields.js'

/** A task that is ready for the decision: its id, key and content text are determined, its defaults are not. */
export const PreparedTask = t.intersection(
  [
    t.type({
      id: TaskId,
      type: TaskType,
      idempotencyKey: Name,
      /** JSON text of `{payload?, description?, metadata?}`. */
      content: ContentText,
    }),
    t.partial({
      /** The producer gave no id, so the id does not identify the task. */
      isMadeId: t.literal(true),
      /** The producer gave no key: it is the hash of type and payload. */
      isContentKey: t.literal(true),
      priority: Priority,
      ...preparedCodecs,
    }),
  ],
  'prepared task',
)
export type PreparedTask = t.TypeOf<typeof PreparedTask>

export const ImportedTask = t.intersection(
  [
    PreparedTask,
    t.type({ status: t.keyof({ pending: null, completed: null, cancelled: null, 'dead-letter': null }) }),
    t.partial({ createdAt: Instant, finishedAt: Instant, retries: Count, lastError: Text, ...importedCodecs }),
  ],
  'imported task',
)
export type ImportedTask = t.TypeOf<typeof ImportedTask>

/** Selects the dead letters that match all given parts. */
export const DeadLetterFilter = t.exact(
  t.partial({ type: TypePattern, signature: Text, error: Text, /** `escalated` and `snoozed`: whether the dead letter must have that mark, or must not. */ escalated: t.boolean, snoozed: t.boolean }),
  'dead letter filter',
)
export type DeadLetterFilter = t.TypeOf<typeof DeadLetterFilter>

/** Selects the tasks that match all given parts, for lists and bulk commands. */
export const TaskFilter = t.exact(
  t.partial({
    statuses: listOf(Status),
    type: TypePattern,
    phase: Phase,
    priorityMin: Priority,
    priorityMax: Priority,
    ticketId: Name,
    tenant: Name,
    batchId: BatchId,
    /** The agent that holds or completed the task. */
    agent: Name,
    /** Part of the id, type, ticket or last error, in any case. */
    text: Name,
    /** Enqueued at or after `createdAfter`, and before `createdBefore`. */
    createdAfter: Instant,
    createdBefore: Instant,
    /** Blocked by this task, perhaps among others. */
    waitsFor: TaskId,
    /** Failed with exactly this signature; empty for tasks that have none. */
    signature: t.string,
    /** Part of the last error, in any case. */
    error: t.string,
    /** Only of dead letters: whether a reviewer has escalated them, and whether they are to be sent back later. */
    escalated: t.boolean,
    snoozed: t.boolean,
  }),
  'task filter',
)
export type TaskFilter = t.TypeOf<typeof TaskFilter>

const held = { task: TaskRef, agent: AgentId, token: Token }
const review = t.intersection([
  t.type({ reviewer: Text, reason: Text }),
  t.partial({ task: TaskRef, filter: DeadLetterFilter }),
])
/** The fields of a schedule besides its name and its task. */
export const scheduleFields = {
  cron: Name,
  every: Interval,
  timeZone: Name,
  missed: MissedRuns,
  overlap: OverlappingRuns,
  paused: t.boolean,
}
const newContent = { content: ContentText, contentRevision: Count }
const tag = <T extends string>(type: T) => t.type({ type: t.literal(type) })
/** The codec of a command with these fields; those of `optional` may be left out. */
const command = <T extends string, R extends t.Props, O extends t.Props>(type: T, required: R, optional: O) => t.intersection([tag(type), t.type(required), t.partial(optional)])

const registered = {
  ...abilities,
  tenant: Name,
  maxTasks: integer(1, 1_000_000),
}
/** What a completion found, prepared for spawning. Secrets are removed from the contents. */
export const Findings = t.intersection(
  [
    t.type({
      discoveries: listOf(
        t.intersection([t.type({ kind: Name, content: ContentText }), t.partial({ priority: Priority, ticketId: Name })], 'finding'),
      ),
      /** Number of discoveries that were not understood. */
      left: Count,
    }),
    t.partial({ validation: t.type({ error: Text, fix: ContentText, check: ContentText }) }),
  ],
  'findings',
)
export type Findings = t.TypeOf<typeof Findings>

const decided = { approval: Name, reason: Text }

export const commandCodecs = {
  /** Enqueues all of the tasks or none. */
  Enqueue: t.intersection([tag('Enqueue'), t.type({ tasks: listOf(PreparedTask) })]),
  Import: t.intersection([tag('Import'), t.type({ tasks: listOf(ImportedTask) })]),
  Claim: command('Claim', { agent: AgentId, max: integer(1, 1_000) }, {
    ...abilities,
    tenant: Name,
    /** Length of the leases without a heartbeat, in seconds. Default and maximum: the task's `timeout`. */
    leaseSeconds: PositiveSeconds,
  }),
  Heartbeat: command('Heartbeat', held, { progress: Json, checkpoint: Json }),
  Complete: command('Complete', { ...held, /** JSON text of the result. */ content: ContentText, hasReport: t.boolean }, { found: Findings }),
  Fail: command('Fail', { ...held, error: KeptFailure, retryable: t.boolean }, { checkpoint: Json }),
  /** `undelivered`: the claim never reached the agent. `stopping`: the agent stops, and does not refuse the task. */
  Release: command('Release', { ...held, reason: Text }, { undelivered: t.literal(true), stopping: t.literal(true) }),
  /** Ends the claim without an attempt. The task then waits for a callback. */
  Park: t.intersection([tag('Park'), t.type(held), ParkRequest]),
  /** Makes the task that waits for this key ready again. `content`: `{payload?}`, for its next claims. */
  Callback: t.intersection([tag('Callback'), t.type({ callbackKey: Name, content: ContentText })]),
  Cancel: t.intersection([tag('Cancel'), t.type({ task: TaskRef, reason: Text })]),
  /**
   * Cancels all matching tasks that can be cancelled, and their dependents. One command makes at most `max` events, or cancels one task with its
   * dependents. `after` is the cursor from the reply to the previous command.
   */
  CancelAll: command('CancelAll', { filter: TaskFilter, reason: Text }, { after: t.string, max: integer(1, 1_000) }),
  /** Sends one dead letter, or all that match the filter, back to the queue. A single one may get a new payload: see `AmendTask`. */
  Retry: t.intersection([tag('Retry'), review, t.partial(newContent)]),
  Discard: t.intersection([tag('Discard'), review]),
  /** A guardian approves. `contents`: those of the approval's tasks, which the engine reads from the log. */
  Approve: command('Approve', decided, { contents: listOf(ContentText) }),
  Refuse: t.intersection([tag('Refuse'), t.type(decided)]),
  /** Sends the dead letters back at `until`, unless a reviewer decides otherwise before. */
  Snooze: t.intersection([tag('Snooze'), review, t.type({ until: Instant })]),
  /** Marks the dead letters: a person has to decide. */
  Escalate: t.intersection([tag('Escalate'), review]),
  /** Sends all matching dead letters back to the queue, `perMinute` a minute. */
  Redrive: t.intersection([
    tag('Redrive'),
    t.type({ filter: DeadLetterFilter, perMinute: integer(1, 60_000), reviewer: Text, reason: Text }),
  ]),
  StopRedrive: t.intersection([tag('StopRedrive'), t.type({ reviewer: Text, reason: Text })]),
  OpenBreaker: t.intersection([tag('OpenBreaker'), t.type({ taskType: TaskType, reason: Text })]),
  CloseBreaker: t.intersection([tag('CloseBreaker'), t.type({ taskType: TaskType, reason: Text })]),
  /**
   * What an agent can take, and how many tasks at once. The registration ends `ttlSeconds` (default: 600) after the agent was last heard of.
   * Registering the same again makes no event, unless more than half of that time is over.
   */
  RegisterAgent: command('RegisterAgent', { agent: AgentId }, { ...registered, ttlSeconds: PositiveSeconds }),
  /**
   * Runs a finished task or a dead letter again, as a new task `id` with the same content, which the caller reads from the log. `dependencies`: what it
   * waits for besides the dependencies of the old one.
   */
  Restart: command('Restart', { task: TaskRef, id: TaskId, reason: Text, content: ContentText }, { dependencies: Dependencies }),
  /**
   * Changes a task that nobody holds. A time of `null` is removed. `content`: the complete content with the new payload. `contentRevision`: the
   * revision of the content from which the new one was made, or with which it was compared. The command is refused unless that content is the newest.
   */
  AmendTask: command('AmendTask', { task: TaskRef, reason: Text }, { priority: Priority, deadlineAt: InstantOrNone, availableAt: InstantOrNone, ...newContent }),
  /** Erases the content of a finished task. `outlived`: the task still has an encryption key, so it may be one that the queue no longer knows. */
  Erase: command('Erase', { task: TaskRef, reason: Text }, { outlived: t.literal(true) }),
  /** Puts a ready task before all others, and lets it start beyond capacity. */
  Bump: t.intersection([tag('Bump'), t.type({ task: TaskRef, reason: Text })]),
  TerminateAgent: t.intersection([tag('TerminateAgent'), t.type({ agent: AgentId, reason: Text })]),
  Configure: t.intersection([tag('Configure'), t.type({ patch: SettingsPatch })]),
  /** Without `every` a `cron` is needed. Defaults: time zone UTC, `missed: once`, `overlap: allow`. */
  CreateSchedule: command('CreateSchedule', { name: ScheduleName, task: ScheduledTask }, scheduleFields),
  /** Fields that are not given stay as they are. */
  ChangeSchedule: command('ChangeSchedule', { name: ScheduleName }, { ...scheduleFields, task: ScheduledTask }),
  RemoveSchedule: t.intersection([tag('RemoveSchedule'), t.type({ name: ScheduleName })]),
  /**
   * Makes a batch, with these tasks and all or none of them; with `open`, others may follow. Default: `on: finished`. The same again has no event, so that a
   * request can be repeated.
   */
  CreateBatch: command('CreateBatch', { id: BatchId, tasks: listOf(PreparedTask) }, { tenant: Name, description: Text, callback: ScheduledTask, on: BatchEnd, open: t.literal(true) }),
  CloseBatch: t.intersection([tag('CloseBatch'), t.type({ id: BatchId })]),
  /**
   * Closes a batch and cancels its open tasks and their dependents: at most `max` events, or one task with its dependents. The same again goes on. Its callback is not
   * enqueued, unless `runsCallback` is given the first time.
   */
  CancelBatch: command('CancelBatch', { id: BatchId, reason: Text }, { runsCallback: t.literal(true), max: integer(1, 1_000) }),
  /** Replaces the limit with this key. At least one of `concurrency` and `rate` is needed. */
  SetLimit: command('SetLimit', { key: LimitKey }, { concurrency: Concurrency, rate: Rate }),
  RemoveLimit: t.intersection([tag('RemoveLimit'), t.type({ key: LimitKey })]),
  Pause: t.intersection([tag('Pause'), t.type({ reason: Text })]),
  Resume: t.intersection([tag('Resume'), t.type({ reason: Text })]),
  /** Deletes the queue, which must have no unfinished tasks. Its next event creates it again. */
  DeleteQueue: t.intersection([tag('DeleteQueue'), t.type({ reason: Text })]),
  /**
   * Time has passed: end leases and delays, turn breakers half-open. The engine's timer issues it. `leasesUntil`: leases that end later are not
   * ended, because reports of their agents may still wait to be decided. Default: the time of the tick. `alerts`: also raise and clear alerts.
   */
  Tick: t.intersection([tag('Tick'), t.partial({ leasesUntil: Instant, alerts: t.literal(true) })]),
} as const

export type CommandType = keyof typeof commandCodecs
export type CommandOf<T extends CommandType> = t.TypeOf<(typeof commandCodecs)[T]>
export type Command = { readonly [T in CommandType]: CommandOf<T> }[CommandType]

/** The inputs of a command from outside the core. */
export interface Envelope {
  /** Milliseconds since 1970; never before the state's last event. */
  readonly at: Instant
  /** Randomness for the jitter of retries, in [0, 1). */
  readonly random: number
}
