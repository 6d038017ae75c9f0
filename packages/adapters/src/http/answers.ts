/** The server's answers as codecs. OpenAPI is made from them, and the tests check real answers against them. */
import { amendableFields, DeadLetterFilter, haltCauses, OnTimeout, Phase, PriorityName, proposalCauses, Settings, type ShownField, shownFields, Status, taskFields } from '@daybook/core'
import * as t from 'io-ts'
import { described } from './json-schema.js'
import { problemCodes } from './problem.js'
import { Time } from './time.js'
import { AnyJson, AnyObject } from './wire.js'

const keys = <K extends string>(names: ReadonlyArray<K>): t.Type<K> =>
  t.keyof(Object.fromEntries(names.map((name) => [name, null])) as Record<K, null>)
const ids = t.readonlyArray(t.string)
const orNull = <C extends t.Mixed>(codec: C) => t.union([codec, t.null])
const revision = { revision: t.number }

export const ProblemAnswer = t.intersection(
  [
    t.type({ type: t.string, title: t.string, status: t.number, code: keys(problemCodes), detail: t.string }),
    t.partial({
      errors: t.readonlyArray(t.type({ path: t.string, message: t.string })),
      retryAfterSeconds: t.number,
      correlationId: t.string,
    }),
  ],
  'Problem',
)

/** `withheld`: why the rest is not shown, of a task in an erasable queue. */
const content = { payload: AnyJson, description: t.string, metadata: AnyObject, withheld: t.keyof({ erased: null, 'key-missing': null, damaged: null }) }
/** `attempt`: the attempt under way or the last one, 0 before the first. `attemptsMax`: the attempt whose failure makes a dead letter. */
const attempt = { attempt: t.number, attemptsMax: t.number }
/** The fields that are shown as they were given. Their ranges are those of requests, and are not repeated here. */
const shown = Object.fromEntries(
  shownFields.map((name) => {
    const { codec, isTime = false }: { readonly codec: t.Mixed; readonly isTime?: boolean } = taskFields[name]
    return [name, isTime ? Time : codec instanceof t.RefinementType ? (codec.type as t.Mixed) : codec]
  }),
) as Readonly<Record<ShownField, t.Mixed>>

/** Why a task is not running, and what would change that. */
const Reason = t.intersection(
  [t.type({ code: t.string, message: t.string, change: t.string }), t.partial({ until: Time, blockedBy: t.readonlyArray(t.type({ id: t.string, status: Status })) })],
  'Reason',
)

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
/** `error`: the last one of a task that is not completed. */
export const ResultAnswer = t.intersection([t.type({ status: Status }), t.partial({ result: AnyJson, error: t.string })], 'Result of a task')

/** `position`: 1 for the task that is served next; `null` if it is not runnable, or beyond 10,000: then `positionAtLeast`. */
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

/** The callback for which the task was parked last. */
const Callback = t.type({ key: t.string, payload: AnyJson, at: Time }, 'Received callback')

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
      /** Who holds the task, or completed it. */
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
      /** The last progress that the holder reported, of the last claim only. */
      progress: AnyJson,
      /** The next holder can continue from here. */
      checkpoint: AnyJson,
      result: AnyJson,
      requires: t.type({ skills: ids }),
      /** It was bumped: it is served before all others, or is being worked on. */
      priorityBoosted: t.literal(true),
      availableAt: Time,
      leaseExpiresAt: Time,
      /** What a waiting task waits for. */
      parked: t.type({ callbackKey: t.string, until: Time, onTimeout: OnTimeout }),
      callback: Callback,
      finishedAt: Time,
      /** How often it met a rate limit, which is no failure. */
      rateLimits: t.number,
      signature: t.string,
      deadLetter: t.intersection([
        t.type({ at: Time, reason: t.string }),
        t.partial({ snoozedUntil: Time, escalated: t.type({ at: Time, reviewer: t.string, reason: t.string }) }),
      ]),
      /** When its content was erased, by whom and why. Only in the answer about a single task. */
      erased: t.intersection([t.type({ at: Time, reason: t.string }), t.partial({ actor: t.string })]),
      /** Of a `queued` task, since when it has been in the queue, and its place as in `queued_tasks`, `null` beyond 1,000. Only in the answer about a single task. */
      queuedAt: Time,
      queuePosition: orNull(t.number),
      /** Only in the answer about a single task. */
      reasons: t.readonlyArray(Reason),
    }),
  ],
  'Task',
)

const ClaimedTask = t.intersection(
  [
    t.type({
      id: t.string,
      number: t.number,
      type: t.string,
      priority: t.number,
      status: t.literal('in-progress'),
      dependencies: ids,
      timeout: t.number,
      maxRetries: t.number,
      retries: t.number,
      attempts: t.number,
      ...attempt,
      idempotencyKey: t.string,
      claimedBy: t.string,
      createdAt: Time,
    }),
    t.partial({ ...content, ...shown }),
  ],
  'ClaimedTask',
)

export const LeaseAnswer = t.type({ token: t.number, expiresAt: Time }, 'Lease')
/** An agent that does not trust its clock measures the lease from when it sent the claim: it ends `waitedSeconds` + `seconds` later. */
const ClaimedLease = t.type({ token: t.number, expiresAt: Time, seconds: t.number, waitedSeconds: t.number }, 'ClaimedLease')
/** `reason`: why there are no claims, although tasks are ready that match. */
/** What is remembered of an earlier task. An outside memory may add members, or leave some out. */
const Memory = t.intersection(
  [
    t.type({}),
    t.partial({
      id: t.string,
      queue: t.string,
      task: t.string,
      type: t.string,
      phase: t.string,
      ticketId: t.string,
      at: t.string,
      goal: t.string,
      summary: t.string,
      files: ids,
      discoveries: t.readonlyArray(AnyJson),
      errors: ids,
    }),
  ],
  'Memory',
)
export const ReadModelsAnswer = t.intersection(
  [t.type({ revision: t.number, behind: t.number }), t.partial({ building: t.type({ projections: t.readonlyArray(t.string), done: t.number, of: t.number }) })],
  'ReadModels',
)

const EventSpan = t.type({ from: t.number, to: t.number })
export const VerifyAnswer = t.intersection(
  [
    t.type({ ok: t.boolean, events: t.number, head: t.type({ revision: t.number, hash: orNull(t.string) }), begins: orNull(t.number) }),
    t.partial({
      checkpoint: t.type({ size: t.number, signer: t.string, count: t.number }),
      unsealed: EventSpan,
      broken: t.intersection([
        t.type({ kind: keys(['altered', 'missing', 'inserted', 'reordered', 're-signed', 'cut', 'rewritten']), revision: t.number, reason: t.string }),
        t.partial({ to: t.number }),
      ]),
    }),
  ],
  'Verdict',
)

export const ReportAnswer = t.intersection(
  [
    t.type({
      report: t.string, queue: t.string, revision: t.number, from: t.string, to: t.string, zone: t.string,
      rows: t.readonlyArray(t.record(t.string, t.union([t.string, t.number, t.null]))),
    }),
    t.partial({ behind: t.number, bucket: t.string, by: t.string, relativeError: t.number }),
  ],
  'Report',
)

export const MemoriesAnswer = t.type({ memories: t.readonlyArray(Memory) }, 'Memories')

export const ClaimsAnswer = t.intersection(
  [
    t.type({
      claims: t.readonlyArray(
        t.intersection([t.type({ task: ClaimedTask, lease: ClaimedLease, attempt: t.number }), t.partial({ checkpoint: AnyJson, callback: Callback, memories: t.readonlyArray(Memory) })], 'Claim'),
      ),
    }),
    /** `memoriesMissing`: why there may be more memories than are told. */
    t.partial({ reason: Reason, memoriesMissing: t.string }),
  ],
  'Claims',
)

const enqueued = { id: t.string, number: t.number, status: Status, duplicate: t.boolean }
/** Of a duplicate: what it has in common with the first task, and, if that is finished, until when it blocks duplicates. */
const duplicate = t.partial({ duplicateBy: keys(['id', 'key', 'content']), until: Time })
const Enqueued = t.intersection([t.type(enqueued), duplicate], 'Enqueued')
export const EnqueuedAnswer = t.intersection([t.type({ ...enqueued, ...revision }), duplicate], 'Enqueued one')
export const EnqueuedAllAnswer = t.type({ results: t.readonlyArray(Enqueued), ...revision }, 'Enqueued all')
/** Status 200: the task was there before; or, with `atomic: false`, a result or problem for each task. */
export const EnqueuedEachAnswer = t.union([
  EnqueuedAnswer,
  t.type({ results: t.readonlyArray(t.union([Enqueued, ProblemAnswer])), ...revision }, 'Enqueued each'),
])
export const EnqueuedOneOrAllAnswer = t.union([EnqueuedAnswer, EnqueuedAllAnswer])
export const TasksAnswer = t.type(
  { tasks: t.readonlyArray(TaskAnswer), nextCursor: orNull(t.string), ...revision },
  'Page of tasks',
)

/** Programs that fold or check the log need the data unchanged, so times are not converted. */
const RecordedData = described(new t.UnknownType(), {
  description: 'the data as recorded in the log, in version schemaVersion; its times are milliseconds since 1970',
})

/** For people: times are ISO 8601. */
const ShownData = described(new t.UnknownType(), { description: 'the data of the event, in version schemaVersion; its times are ISO 8601' })

const event = { revision: t.number, type: t.string, schemaVersion: t.number, at: t.string }
const cause = t.partial({ needs: t.string, actor: t.string, correlationId: t.string })
export const EventAnswer = t.intersection([t.type({ ...event, data: RecordedData }), cause], 'Event')
export const HistoryAnswer = t.type(
  {
    events: t.readonlyArray(t.intersection([t.type({ ...event, data: ShownData }), cause], 'History event')),
    /** Where to continue the search for a task that is no longer in memory; `null` when the search is over. */
    next: orNull(t.number),
  },
  'History',
)
export const EventsAnswer = t.type(
  { events: t.readonlyArray(EventAnswer), next: orNull(t.number), ...revision },
  'Page of events',
)

export const HeartbeatAnswer = t.type({ lease: LeaseAnswer }, 'Extended')
/** `spawned`: tasks that its discoveries became; `approvals`: what waits for a guardian; `left`: number of discoveries of which nothing became. */
export const CompletedAnswer = t.intersection([t.type({ status: Status, spawned: ids }), t.partial({ approvals: ids, left: t.number })], 'Completed')
export const FailedAnswer = t.intersection([t.type({ status: Status }), t.partial({ availableAt: Time })], 'Failed')
export const ReleasedAnswer = t.type({ status: Status }, 'Released')
export const CallbackAnswer = t.type({ task: t.string, status: Status }, 'Callback taken')
export const OutcomesAnswer = t.type(
  {
    results: t.readonlyArray(
      t.union([HeartbeatAnswer, CompletedAnswer, FailedAnswer, ReleasedAnswer, ProblemAnswer], 'Outcome result'),
    ),
  },
  'Outcome results',
)
/** `changed`: the fields that have another value now; empty if all were so already. */
export const AmendedAnswer = t.type({ id: t.string, status: Status, changed: t.readonlyArray(keys(amendableFields)), ...revision }, 'Amended')
export const CancelledAnswer = t.type({ cancelled: ids }, 'Cancelled')
export const CancelledAllAnswer = t.type({ count: t.number, cancelled: ids, nextCursor: orNull(t.string), ...revision }, 'Cancelled all')

/** Dead letters that are sent back one after the other. `nextAt` is `null` when it has stopped. */
const Redrive = t.intersection(
  [
    t.type({ filter: DeadLetterFilter, perMinute: t.number, reviewer: t.string, reason: t.string, startedAt: Time, retried: t.number, nextAt: orNull(Time) }),
    t.partial({ stopped: t.intersection([t.type({ at: Time, cause: keys(['nothing-left', 'breaker-opened', 'by-hand']) }), t.partial({ taskType: t.string })]) }),
  ],
  'Redrive',
)
export const RedriveAnswer = t.type({ redrive: orNull(Redrive) }, 'Last redrive')
export const RetriedAnswer = t.intersection([t.type({ retried: ids }), t.partial({ count: t.number, redrive: Redrive })], 'Retried')
export const SnoozedAnswer = t.type({ snoozed: ids }, 'Snoozed')
export const EscalatedAnswer = t.type({ escalated: ids }, 'Escalated')
export const DiscardedAnswer = t.type({ discarded: ids, cancelled: ids }, 'Discarded')
export const PatternsAnswer = t.type(
  {
    patterns: t.readonlyArray(
      t.type(
        { signature: t.string, type: t.string, count: t.number, sample: t.string, firstAt: Time, lastAt: Time, tasks: ids },
        'FailurePattern',
      ),
    ),
    ...revision,
  },
  'Failure patterns',
)

/** A task that is enqueued if a guardian approves. */
const WaitingTask = t.intersection(
  [
    t.type({ id: t.string, type: t.string, priority: t.number, timeout: t.number, maxRetries: t.number, backoffSeconds: t.number }),
    t.partial({ ...content, ...shown, dependencies: ids, requires: t.type({ skills: ids }) }),
  ],
  'Waiting task',
)
/** `parent`: the task that caused it. `root`: the first task of its chain. */
const approval = {
  id: t.string,
  kind: keys(['spawn', 'loop', 'dead-letter']),
  cause: keys([...proposalCauses, ...haltCauses]),
  parent: t.string,
  root: t.string,
  at: Time,
  tasks: t.readonlyArray(WaitingTask),
}
const halted = t.partial({ rounds: t.number, error: t.string, signature: t.string })
export const ApprovalsAnswer = t.type({ approvals: t.readonlyArray(t.intersection([t.type(approval), halted], 'Approval')), ...revision }, 'Approvals')
const InChain = t.intersection(
  [
    t.type({ id: t.string, number: t.number, type: t.string, status: Status, createdAt: Time, lastError: orNull(t.string) }),
    t.partial({ phase: Phase, discovery: t.string, parentTaskId: t.string }),
  ],
  'Task of a chain',
)
export const ApprovalAnswer = t.intersection(
  [t.type({ ...approval, chain: t.readonlyArray(InChain), signatures: t.record(t.string, t.number), ...revision }), halted],
  'Approval with its chain',
)
export const ApprovedAnswer = t.type({ approved: t.literal(true), spawned: ids, retried: ids }, 'Approved')
export const RefusedAnswer = t.type({ refused: t.literal(true) }, 'Refused')

const Breaker = t.intersection(
  [
    t.type({ state: keys(['closed', 'open', 'half-open']), failures: t.number }),
    t.partial({ lastFailure: Time, openedAt: Time, halfOpenAt: Time, probe: t.string, reason: t.string }),
  ],
  'Breaker',
)
export const BreakersAnswer = t.type({ breakers: t.record(t.string, Breaker) }, 'Breakers')
export const BreakerAnswer = t.type({ type: t.string, breaker: Breaker }, 'One breaker')

const Agent = t.intersection(
  [
    t.type({ agentId: t.string, status: keys(['idle', 'working']), tasks: ids, leases: t.readonlyArray(t.type({ task: t.string, expiresAt: Time })) }),
    t.partial({ types: ids, phases: ids, skills: ids, tenant: t.string, maxTasks: t.number, /** Of a registered agent. */ lastSeenAt: Time, registeredUntil: Time }),
  ],
  'Agent',
)
export const AgentsAnswer = t.type({ agents: t.readonlyArray(Agent) }, 'Agents')
export const RegisteredAnswer = t.type({ agentId: t.string, registeredUntil: Time }, 'Registered agent')
export const TerminatedAnswer = t.type(
  {
    agentId: t.string,
    terminated: t.literal(true),
    reassignedTasks: ids,
    /** The same tasks with their new status. */
    tasks: t.readonlyArray(t.type({ id: t.string, number: t.number, status: Status }, 'Task taken back')),
  },
  'Terminated agent',
)

export const SettingsAnswer = Settings
export const PausedAnswer = t.type({ paused: orNull(t.string) }, 'Paused')

const counts = t.record(t.string, t.number)
const depth = {
  total: t.number,
  byStatus: t.record(Status, t.number),
  byPriority: t.record(PriorityName, t.number),
  byType: counts,
  byPhase: counts,
  byTenant: counts,
  oldestPendingAt: orNull(Time),
  oldestWaitSeconds: t.number,
}
export const DepthAnswer = t.type({ ...depth, ...revision }, 'Depth')
/** `at`: the moment that it shows, for which ages are counted. */
export const StateAnswer = t.type(
  {
    ...revision,
    at: Time,
    paused: orNull(t.string),
    counts: t.type(depth, 'Counts'),
    breakers: t.record(t.string, Breaker),
    agents: t.readonlyArray(Agent),
    tasks: t.readonlyArray(TaskAnswer),
    nextCursor: orNull(t.string),
  },
  'State',
)

export const QueueAnswer = t.type(
  { name: t.string, ...revision, /** The reason given for the pause. */ paused: orNull(t.string), total: t.number, byStatus: t.record(Status, t.number) },
  'Queue',
)
export const QueuesAnswer = t.type({ queues: t.readonlyArray(QueueAnswer) }, 'Queues')
export const QueueDeletedAnswer = t.type({ name: t.string, deleted: t.literal(true), ...revision }, 'Deleted queue')

export const HealthAnswer = t.type({ status: t.literal('ok') }, 'Alive')
/** The optional lists are absent when empty. What they name does not stop the server from taking commands for other queues. */
export const ReadyAnswer = t.intersection(
  [
    t.type({ status: t.literal('ready'), queues: t.number }),
    t.partial({
      refused: t.readonlyArray(t.type({ queue: t.string, reason: t.string })),
      readOnly: t.readonlyArray(t.type({ queue: t.string, reason: t.string })),
      /** Queues whose time is ahead of this server's clock by more than a second. */
      ahead: t.readonlyArray(t.type({ queue: t.string, seconds: t.number })),
      degraded: t.readonlyArray(t.intersection([t.type({ part: t.string, reason: t.string, since: Time }), t.partial({ queue: t.string })])),
    }),
  ],
  'Ready',
)

export const RestartedAnswer = t.type({ id: t.string, number: t.number, restartOf: t.string, status: Status }, 'Restarted')
const bumpedNow = { activeAgents: t.number, maxConcurrentAgents: t.number }
/** `agentId`: who works on it, `null` until an agent takes it. */
export const BumpedAnswer = t.type({ id: t.string, status: Status, agentId: orNull(t.string), overCapacity: t.boolean, ...bumpedNow }, 'Bumped')

export const ErasedAnswer = t.type({ id: t.string, erased: t.literal(true), revision: t.number }, 'Erased')

// ------------------------------------------------------------------- the normative endpoints (TQM §11)

/** `queued_tasks`: the first 1,000 tasks that are ready, bumped ones first. */
export const QueueStatusAnswer = t.type(
  {
    active_agents: t.number,
    max_concurrent_agents: t.number,
    at_capacity: t.boolean,
    queued_tasks: ids,
    queued_depth: t.number,
    queued_by_priority: t.record(PriorityName, t.number),
    oldest_wait_seconds: t.number,
    critical_backlog_seconds: t.number,
  },
  'Queue status',
)
export const BumpedPriorityAnswer = t.type(
  { task_id: t.string, agent_id: orNull(t.string), over_capacity: t.boolean, active_agents: t.number, max_concurrent_agents: t.number },
  'Bumped priority',
)
export const CancelledQueuedAnswer = t.type({ task_id: t.string, status: t.literal('CANCELLED'), cancelled: ids }, 'Cancelled queued task')
export const RestartedNowAnswer = t.type({ original_task_id: t.string, new_task_id: t.string, queued: t.boolean }, 'Restarted now')
export const TerminatedNowAnswer = t.type({ agent_id: t.string, terminated: t.literal(true), reassigned_tasks: ids }, 'Terminated now')

const EventReference = t.intersection([t.type({ revision: t.number, type: t.string, at: Time }), t.partial({ actor: t.string, correlationId: t.string })], 'Event reference')
/** `at`: `null` before the first event. */
const AtMoment = t.type({ revision: t.number, at: orNull(Time) }, 'Moment')
const Members = orNull(t.record(t.string, t.unknown))
/** `before` and `after` have the members that differ; `null` where the task was not there. */
export const DiffAnswer = t.type(
  {
    from: AtMoment,
    to: AtMoment,
    tasks: t.readonlyArray(t.type({ id: t.string, number: t.number, type: t.string, before: Members, after: Members, events: t.readonlyArray(EventReference) })),
    nextCursor: orNull(t.string),
    breakers: t.readonlyArray(t.type({ type: t.string, before: orNull(Breaker), after: orNull(Breaker), events: t.readonlyArray(EventReference) })),
    ...revision,
  },
  'Difference',
)
