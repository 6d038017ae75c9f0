/**
 * Codecs of request bodies, derived from the core's codecs. There are two differences. Times are ISO 8601. Payload and result are checked only once,
 * later, when they are made canonical.
 */
import {
  abilities,
  AgentId,
  DeadLetterFilter,
  Dependencies,
  Failure,
  hasAnyOf,
  importedCodecs,
  integer,
  Json,
  JsonObject,
  Name,
  NewTask,
  ParkRequest,
  PositiveSeconds,
  Priority,
  PriorityName,
  QueueName,
  Result,
  Text,
  TaskRef,
  type TimeField,
  timeFields,
  Token,
  UnicodeText,
} from '@daybook/core'
import * as t from 'io-ts'
import { millisecondsOf, Time } from '../../iso-time.js'
import { isObject } from '../../is-object.js'

/** Accepts any value for JSON members. They are checked when they are made canonical, which reports the exact path. */
const checkedLater = <P extends t.Props>(props: P): { [K in keyof P]: t.Type<t.TypeOf<P[K]>> } =>
  Object.fromEntries(
    Object.entries(props).map(([key, codec]) => [
      key,
      (codec as t.Mixed) === Json ? AnyJson : (codec as t.Mixed) === JsonObject ? AnyObject : codec,
    ]),
  ) as { [K in keyof P]: t.Type<t.TypeOf<P[K]>> }

export const AnyJson = new t.UnknownType()
export const AnyObject = new t.Type<Record<string, unknown>>(
  'JSON object',
  isObject,
  (value, context) => (isObject(value) ? t.success(value) : t.failure(value, context)),
  t.identity,
)

const [needed, optional] = NewTask.types
const times = Object.fromEntries(timeFields.map((name) => [name, Time])) as Readonly<Record<TimeField, typeof Time>>

export const TaskBody = t.intersection([needed, t.partial({ ...checkedLater(optional.props), ...times })], 'NewTask')
export type TaskBody = t.TypeOf<typeof TaskBody>

const hasTime = hasAnyOf(timeFields)

export const newTaskOf = (body: TaskBody): NewTask => {
  // Most tasks have no time. The body belongs to this request alone, so it need not be copied.
  if (!hasTime(body)) return body as TaskBody & NewTask
  const given = timeFields.flatMap((name) => (body[name] === undefined ? [] : [[name, millisecondsOf(body[name])]]))
  return { ...body, ...Object.fromEntries(given) }
}

export const ResultBody = t.partial(checkedLater(Result.props), 'Result')

const { deduplicate: _, ...importable } = optional.props
const importedStatus = t.keyof({ pending: null, completed: null, cancelled: null, 'dead-letter': null }, 'status')
export const ImportBody = t.intersection(
  [
    needed,
    t.partial({
      // An import recognises duplicates always, so `deduplicate` does not apply.
      ...checkedLater(importable),
      ...times,
      status: importedStatus,
      createdAt: Time,
      completedAt: Time,
      result: ResultBody,
      lastError: UnicodeText,
      retries: integer(0, 1_000_000),
      ...importedCodecs,
    }),
  ],
  'ImportedTask',
)
export type ImportBody = t.TypeOf<typeof ImportBody>

const asked = { ...abilities, tenant: Name }

export const RegisterBody = t.intersection(
  [t.type({ agentId: AgentId }), t.partial({ ...asked, maxTasks: integer(1, 1_000_000), ttlSeconds: PositiveSeconds })],
  'Registration',
)
export type RegisterBody = t.TypeOf<typeof RegisterBody>

export const ClaimBody = t.intersection(
  [
    t.type({ agentId: AgentId }),
    t.partial({
      ...asked,
      max: integer(1, 1_000),
      wait: t.number,
      leaseSeconds: PositiveSeconds,
    }),
  ],
  'ClaimRequest',
)
export type ClaimBody = t.TypeOf<typeof ClaimBody>

const holder = t.type({ agentId: AgentId, token: Token })
const FailureBody = t.union([UnicodeText, Failure], 'text, or object with a message')

export const HeartbeatBody = t.intersection([holder, t.partial({ progress: Json, checkpoint: Json })], 'Heartbeat')
export type HeartbeatBody = t.TypeOf<typeof HeartbeatBody>
export const CompleteBody = t.intersection([holder, t.type({ result: ResultBody })], 'Completion')
export type CompleteBody = t.TypeOf<typeof CompleteBody>
export const FailBody = t.intersection(
  [holder, t.type({ error: FailureBody }), t.partial({ retryable: t.boolean, checkpoint: Json })],
  'Failure report',
)
export type FailBody = t.TypeOf<typeof FailBody>
export const ReleaseBody = t.intersection([holder, t.type({ reason: Text }), t.partial({ stopping: t.boolean })], 'Release')
export type ReleaseBody = t.TypeOf<typeof ReleaseBody>

export const ParkBody = t.intersection([holder, ParkRequest], 'Parking')
export type ParkBody = t.TypeOf<typeof ParkBody>
/** The payload is checked when it is made canonical. */
export const CallbackBody = t.partial({ payload: AnyJson }, 'Callback')
export type CallbackBody = t.TypeOf<typeof CallbackBody>

const about = <K extends string>(kind: K) => t.type({ taskId: TaskRef, kind: t.literal(kind) })

export const outcomeBodies = {
  heartbeat: t.intersection([about('heartbeat'), HeartbeatBody]),
  complete: t.intersection([about('complete'), CompleteBody]),
  fail: t.intersection([about('fail'), FailBody]),
  release: t.intersection([about('release'), ReleaseBody]),
  park: t.intersection([about('park'), ParkBody]),
} as const
export type OutcomeBody = t.TypeOf<(typeof outcomeBodies)[keyof typeof outcomeBodies]>

export const ReasonBody = t.type({ reason: Text }, 'Given reason')
export type ReasonBody = t.TypeOf<typeof ReasonBody>
/** `dependencies`: further ones, such as restarts of those that the old task had. */
export const RestartBody = t.intersection([t.type({ reason: Text }), t.partial({ dependencies: Dependencies })], 'Given reason of a restart')
export type RestartBody = t.TypeOf<typeof RestartBody>
const timeOrNone = t.union([Time, t.null])
/** A time of `null` is removed. */
export const AmendBody = t.intersection(
  [t.type({ reason: Text }), t.partial({ priority: t.union([Priority, PriorityName]), payload: AnyJson, deadlineAt: timeOrNone, availableAt: timeOrNone })],
  'Amendment',
)
export type AmendBody = t.TypeOf<typeof AmendBody>
export const OptionalReasonBody = t.partial({ reason: Text }, 'Optional reason')
export type OptionalReasonBody = t.TypeOf<typeof OptionalReasonBody>

const NonEmpty = t.refinement(Text, (text) => text.trim() !== '', 'text of 1 to 4000 characters')
export const ReviewBody = t.type({ reviewer: NonEmpty, reason: NonEmpty }, 'Review')
export type ReviewBody = t.TypeOf<typeof ReviewBody>
/** With a payload, the dead letter gets it. It is checked when it is made canonical. */
export const RetryBody = t.intersection([ReviewBody, t.partial({ payload: AnyJson })], 'Retry')
export type RetryBody = t.TypeOf<typeof RetryBody>
export const BulkReviewBody = t.intersection([ReviewBody, t.type({ filter: DeadLetterFilter })], 'Review of many')
export type BulkReviewBody = t.TypeOf<typeof BulkReviewBody>
export const BulkRetryBody = t.intersection([BulkReviewBody, t.partial({ perMinute: integer(1, 60_000), dryRun: t.boolean })], 'Retry of many')
export type BulkRetryBody = t.TypeOf<typeof BulkRetryBody>
export const SnoozeBody = t.intersection([ReviewBody, t.type({ until: Time })], 'Snooze')
export type SnoozeBody = t.TypeOf<typeof SnoozeBody>
export const BulkSnoozeBody = t.intersection([BulkReviewBody, t.type({ until: Time })], 'Snooze of many')
export type BulkSnoozeBody = t.TypeOf<typeof BulkSnoozeBody>

// The normative endpoints (TQM §11). The queue may also be named in the query.
const inQueue = { queue: QueueName }
export const QueueQuery = t.partial(inQueue, 'Queue')
export const BumpBody = t.intersection([t.type({ task_id: TaskRef, reason: NonEmpty }), t.partial(inQueue)], 'Bump')
export type BumpBody = t.TypeOf<typeof BumpBody>
export const CancelQueuedBody = t.intersection([t.type({ task_id: TaskRef }), t.partial({ ...inQueue, reason: Text })], 'Cancel queued')
export type CancelQueuedBody = t.TypeOf<typeof CancelQueuedBody>
export const TerminateBody = t.intersection([t.type({ agent_id: AgentId, reason: NonEmpty }), t.partial(inQueue)], 'Terminate')
export type TerminateBody = t.TypeOf<typeof TerminateBody>
