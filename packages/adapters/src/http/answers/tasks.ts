/** Answers about tasks. */
import { amendableFields, OnTimeout, Status } from '@daybook/core'
import * as t from 'io-ts'
import { Time } from '../../iso-time.js'
import { AnyJson } from '../json/wire.js'
import { attempt, Callback, content, ids, keys, orNull, ProblemAnswer, Reason, revision, shown } from './parts.js'

const ScorePart = t.type({ value: t.number, weight: t.number, points: t.number }, 'ScorePart')
const ScoreParts = t.type(
  {
    priority: ScorePart,
    age: ScorePart,
    deadline: ScorePart,
    blockers: ScorePart,
    retries: ScorePart,
    boost: t.number,
    isStarved: t.boolean,
    floor: orNull(t.number),
  },
  'ScoreParts',
)

/** `error`: the last error of a task that is not completed. */
export const ResultAnswer = t.intersection([t.type({ status: Status }), t.partial({ result: AnyJson, error: t.string })], 'Result of a task')
/** `position`: 1 for the task that is served next. `null` if the task is not runnable, or beyond 10,000; in that case there is `positionAtLeast`. */
export const ExplanationAnswer = t.intersection(
  [
    t.type({
      status: Status,
      runnable: t.boolean,
      reasons: t.readonlyArray(Reason),
      position: orNull(t.number),
      score: orNull(t.number),
      scoreParts: orNull(ScoreParts),
    }),
    t.partial({ positionAtLeast: t.number }),
  ],
  'Explanation',
)

export const TaskAnswer = t.intersection(
  [
    t.type({
      id: t.string,
      /** `#42` can be used wherever an id can. */
      number: t.number,
      type: t.string,
      priority: t.number,
      status: Status,
      dependencies: ids,
      timeout: t.number,
      maxRetries: t.number,
      backoffSeconds: t.number,
      idempotencyKey: t.string,
      retries: t.number,
      attempts: t.number,
      ...attempt,
      claimants: ids,
      /** The agent that holds or completed the task. */
      claimedBy: orNull(t.string),
      claimedAt: orNull(Time),
      currentClaimant: orNull(t.string),
      createdAt: Time,
      completedAt: orNull(Time),
      lastError: orNull(t.string),
    }),
    t.partial({
      ...content,
      ...shown,
      /** The last progress that was reported in the last claim. */
      progress: AnyJson,
      /** The last checkpoint, from which the next attempt can continue. */
      checkpoint: AnyJson,
      result: AnyJson,
      requires: t.type({ skills: ids }),
      /** The task was bumped: it is served before all others, or is being worked on. */
      priorityBoosted: t.literal(true),
      availableAt: Time,
      leaseExpiresAt: Time,
      /** What a waiting task waits for. */
      parked: t.type({ callbackKey: t.string, until: Time, onTimeout: OnTimeout }),
      callback: Callback,
      finishedAt: Time,
      /** How often the task met a rate limit, which is no failure. */
      rateLimits: t.number,
      signature: t.string,
      deadLetter: t.intersection([
        t.type({ at: Time, reason: t.string }),
        t.partial({
          snoozedUntil: Time,
          escalated: t.type({ at: Time, reviewer: t.string, reason: t.string }),
          /** How many tasks cannot run before it is finished. Missing if there are none. */
          holdsUp: t.type({ dependents: t.number, inLine: t.number }),
        }),
      ]),
      /** When the content was erased, by whom and why. Only in the answer about a single task. */
      erased: t.intersection([t.type({ at: Time, reason: t.string }), t.partial({ actor: t.string })]),
      /** Only of a `queued` task: when it was enqueued, and its place as in `queued_tasks`; `null` beyond 1,000. Only in the answer about a single task. */
      queuedAt: Time,
      queuePosition: orNull(t.number),
      /** Only in the answer about a single task. */
      reasons: t.readonlyArray(Reason),
    }),
  ],
  'Task',
)

const enqueued = { id: t.string, number: t.number, status: Status, duplicate: t.boolean }
/** Only of a duplicate: what it has in common with the first task. If that task is finished: until when it blocks duplicates. */
const duplicate = t.partial({ duplicateBy: keys(['id', 'key', 'content']), until: Time })
export const EnqueuedOfMany = t.intersection([t.type(enqueued), duplicate], 'Enqueued')
const EnqueuedAnswer = t.intersection([t.type({ ...enqueued, ...revision }), duplicate], 'Enqueued one')
export const EnqueuedAllAnswer = t.type({ results: t.readonlyArray(EnqueuedOfMany), ...revision }, 'Enqueued all')
/** Status 200: the task existed before. With `atomic: false`: a result or problem for each task. */
export const EnqueuedEachAnswer = t.union([
  EnqueuedAnswer,
  t.type({ results: t.readonlyArray(t.union([EnqueuedOfMany, ProblemAnswer])), ...revision }, 'Enqueued each'),
])

export const EnqueuedOneOrAllAnswer = t.union([EnqueuedAnswer, EnqueuedAllAnswer])
export const TasksAnswer = t.type(
  { tasks: t.readonlyArray(TaskAnswer), nextCursor: orNull(t.string), ...revision },
  'Page of tasks',
)
/** `changed`: the fields whose values have changed; empty if all had the wanted values already. */
export const AmendedAnswer = t.type({ id: t.string, status: Status, changed: t.readonlyArray(keys(amendableFields)), ...revision }, 'Amended')
export const CancelledAnswer = t.type({ cancelled: ids }, 'Cancelled')
export const CancelledAllAnswer = t.type({ count: t.number, cancelled: ids, nextCursor: orNull(t.string), ...revision }, 'Cancelled all')
export const RestartedAnswer = t.type({ id: t.string, number: t.number, restartOf: t.string, status: Status }, 'Restarted')
const bumpedNow = { activeAgents: t.number, maxConcurrentAgents: t.number }
/** `agentId`: the agent that works on the task; `null` until an agent takes it. */
export const BumpedAnswer = t.type({ id: t.string, status: Status, agentId: orNull(t.string), overCapacity: t.boolean, ...bumpedNow }, 'Bumped')
export const ErasedAnswer = t.type({ id: t.string, erased: t.literal(true), revision: t.number }, 'Erased')
