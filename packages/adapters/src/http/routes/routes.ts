/** The table of all routes, with schemas, roles and summaries. Serving and documents use it. */
import { SettingsPatch } from '@daybook/core'
import type * as E from 'fp-ts/lib/Either.js'
import { readers, type Who } from './access.js'
import { alertRoutes } from './alert-routes.js'
import { CallbackAnswer, ClaimsAnswer, CompletedAnswer, FailedAnswer, HeartbeatAnswer, MemoriesAnswer, OutcomesAnswer, ReleasedAnswer } from '../answers/claims.js'
import { VerifyAnswer } from '../answers/log.js'
import { BumpedPriorityAnswer, CancelledQueuedAnswer, RestartedNowAnswer, TerminatedNowAnswer } from '../answers/normative.js'
import { BreakerAnswer, HealthAnswer, PausedAnswer, QueueDeletedAnswer, QueuesAnswer, ReadModelsAnswer, ReadyAnswer, RegisteredAnswer, ReportAnswer, SettingsAnswer, TerminatedAnswer } from '../answers/queue.js'
import { ApprovedAnswer, DiscardedAnswer, EscalatedAnswer, RedriveAnswer, RefusedAnswer, RetriedAnswer, SnoozedAnswer } from '../answers/reviews.js'
import { AmendedAnswer, BumpedAnswer, CancelledAllAnswer, CancelledAnswer, EnqueuedAllAnswer, EnqueuedEachAnswer, EnqueuedOneOrAllAnswer, ErasedAnswer, RestartedAnswer } from '../answers/tasks.js'
import * as agents from '../handle/agents.js'
import { eraseTask } from '../handle/erase.js'
import { amendTask } from '../handle/amend.js'
import * as approvals from '../handle/approvals.js'
import * as deadLetters from '../handle/dead-letters.js'
import * as health from '../handle/health.js'
import { memories } from '../handle/memories.js'
import { readModelsOf } from '../handle/read-models.js'
import { report } from '../handle/reports.js'
import * as normative from '../handle/normative.js'
import * as queue from '../handle/queue.js'
import * as tasks from '../handle/tasks.js'
import * as work from '../handle/work.js'
import type { Tokens } from '../../auth/index.js'
import type { Verifications } from '../../chain/index.js'
import { verifyOf } from '../handle/verify.js'
import type { MemoryService } from '../../memory-bank/index.js'
import type { ReadModels } from '../../read-models/index.js'
import { limitRoutes } from './limit-routes.js'
import { batchRoutes } from './batch-routes.js'
import type { HttpLimits } from '../limits.js'
import * as q from '../query.js'
import type { Problem } from '../problem.js'
import { type Call, type Handled, input, parameters, queueRoute, type Route, serverRoute } from './route.js'
import { scheduleRoutes } from './schedule-routes.js'
import { viewRoutes } from './view-routes.js'
import { tokenRoutes } from './token-routes.js'
import * as w from '../json/wire.js'

export interface Served {
  /** The memory of earlier tasks; `undefined` if there is none. */
  readonly memory: MemoryService | undefined
  /** The read models, or why there are none. */
  readonly readModels: () => E.Either<Problem, ReadModels>
  readonly verifications: Verifications
  readonly limits: HttpLimits
  readonly tokens: Tokens | 'off'
  readonly readiness: health.Readiness
  readonly metrics: (call: Call) => Promise<Handled>
  readonly metricsWho: Who
  readonly openApi: (call: Call) => Promise<Handled>
}

export const routesOf = ({ limits, memory, readModels, verifications, tokens, readiness, metrics, metricsWho, openApi }: Served): ReadonlyArray<Route> => {
  const of = '/api/queues/{queue}'
  return [
    serverRoute({
      method: 'GET', path: '/api/queues', who: readers, tenants: 'own', shows: 'own queues',
      tag: 'queues', summary: 'All queues, with their depth by status.',
      description: 'All queues, with their depth by status, and under `refused` those that cannot be read now. If none can be read, the request is refused. To a token for tenants: the isolated queues, with the depth of its own tasks, and of a pause only that there is one.',
      answers: { 200: QueuesAnswer }, handle: queue.listQueues,
    }),

    queueRoute({
      method: 'DELETE', path: of, who: ['operator'], tenants: 'refused',
      tag: 'queues', summary: 'Deletes a queue without unfinished tasks.',
      description: 'Deletes a queue without unfinished tasks. Its log stays; its next task creates it again.',
      refusals: ['wrong-state'],
      query: parameters(q.reasonQuery), answers: { 200: QueueDeletedAnswer }, handle: queue.deleteQueue,
    }),

    // ------------------------------------------------------------------------------------- tasks
    queueRoute({
      method: 'POST', path: `${of}/tasks`, who: ['producer'], tenants: 'own', unused: 'opened',
      tag: 'tasks', summary: 'Enqueues one task, or many.',
      description: 'Enqueues one task or many: all or none, or, with `atomic: false`, each on its own. A duplicate gets the id of the first task.',
      refusals: ['conflict', 'unknown-dependency', 'dependency-cycle', 'not-found', 'wrong-state'],
      body: tasks.enqueueInput, answers: { 200: EnqueuedEachAnswer, 201: EnqueuedOneOrAllAnswer }, handle: tasks.enqueue,
    }),
    queueRoute({
      method: 'PATCH', path: `${of}/tasks/{id}`, who: ['operator'], tenants: 'task',
      tag: 'tasks', summary: 'Changes a task that nobody holds.',
      description: 'Changes the priority, the payload or a time of a task that nobody holds; `null` takes a time away. The former values stay in the history. A dead letter stays one.',
      refusals: ['wrong-state', 'conflict'],
      body: input(w.AmendBody), answers: { 200: AmendedAnswer }, handle: amendTask,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/cancel`, who: ['producer', 'operator'], tenants: 'task',
      tag: 'tasks', summary: 'Cancels a task and all tasks that depend on it.',
      description: 'Cancels a task and all tasks that depend on it. A producer that is no operator can cancel what it enqueued itself.',
      refusals: ['wrong-state'],
      body: input(w.ReasonBody), answers: { 200: CancelledAnswer }, handle: tasks.cancelTask,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/restart`, who: ['operator'], tenants: 'refused',
      tag: 'tasks', summary: 'Does a finished task or a dead letter once more.',
      description: 'Does a finished task or a dead letter once more, as a new task with the same content and fields. The old one keeps its status and its history. With `dependencies` the new one waits for these, too: of several tasks that are restarted, each names the restarts of what it waited for.',
      refusals: ['wrong-state', 'unknown-dependency'],
      body: input(w.RestartBody), answers: { 201: RestartedAnswer }, handle: normative.restart,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/erase`, who: ['admin'], tenants: 'refused',
      tag: 'tasks', summary: 'Erases what a finished task contained.',
      description: 'Throws away the key of a finished task in an erasable queue: nobody can read what it contained any more. The facts and the chain of hashes stay.',
      refusals: ['wrong-state', 'disabled'],
      body: input(w.ReasonBody), answers: { 200: ErasedAnswer }, handle: eraseTask,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/bump`, who: ['operator'], tenants: 'refused',
      tag: 'tasks', summary: 'Puts a ready task before all others.',
      description: 'Puts a ready task before all others, and lets it start beyond capacity. `agentId` is the agent that waited for a task and got it at once.',
      refusals: ['wrong-state', 'disabled', 'capacity-exceeded'],
      body: input(w.ReasonBody), answers: { 200: BumpedAnswer }, handle: normative.bumpTask,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/cancel`, who: ['operator'], tenants: 'own',
      tag: 'tasks', summary: 'Cancels all matching tasks and the tasks that depend on them.',
      description: 'Cancels all matching tasks and the tasks that depend on them, about 1,000 per request, all or none in each. To continue, send `nextCursor` as `cursor`. `dryRun` only lists what matches.',
      body: input(q.CancelAllBody), answers: { 200: CancelledAllAnswer }, handle: tasks.cancelMany,
    }),
    queueRoute({
      method: 'POST', path: `${of}/imports`, who: ['operator'], tenants: 'refused', unused: 'opened',
      tag: 'tasks', summary: 'Imports tasks from another queue with their status.',
      description: 'Imports tasks from another queue with their status. Tasks that are already known are skipped.',
      refusals: ['conflict', 'unknown-dependency', 'dependency-cycle'],
      body: input(tasks.ImportsBody), answers: { 201: EnqueuedAllAnswer }, handle: tasks.importTasks,
    }),

    // -------------------------------------------------------------------------------------- work
    queueRoute({
      method: 'POST', path: `${of}/claims`, who: ['worker'], tenants: 'own', unused: 'opened',
      tag: 'work', summary: 'Leases tasks to an agent.',
      description: 'Leases tasks to an agent, and waits for tasks if asked to. Empty if there are none; `reason` says why, if tasks are ready that match. Without a heartbeat, a lease lasts for the task\'s `timeout`, or for `leaseSeconds` if that is shorter.',
      body: input(work.claimBody(limits)), answers: { 200: ClaimsAnswer }, handle: work.claim(memory),
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/heartbeat`, who: ['worker'], tenants: 'task',
      tag: 'work', summary: 'Extends a lease, and may record progress and a checkpoint.',
      refusals: ['not-found', 'lease-lost'],
      body: input(w.HeartbeatBody), answers: { 200: HeartbeatAnswer }, handle: work.heartbeat,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/complete`, who: ['worker'], tenants: 'task',
      tag: 'work', summary: 'Completes a task with its result.',
      description: 'Completes a task with its result. If the decision report that the queue requires is missing, the task becomes `incomplete` and keeps its lease.',
      refusals: ['not-found', 'lease-lost'],
      body: input(w.CompleteBody), answers: { 200: CompletedAnswer }, handle: work.complete,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/fail`, who: ['worker'], tenants: 'task',
      tag: 'work', summary: 'Reports a failed attempt.',
      description: 'Reports a failed attempt: the task is retried, or becomes a dead letter.',
      refusals: ['not-found', 'lease-lost'],
      body: input(w.FailBody), answers: { 200: FailedAnswer }, handle: work.fail,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/release`, who: ['worker'], tenants: 'task',
      tag: 'work', summary: 'Gives a task back unfinished.',
      description: 'Gives a task back unfinished. This counts as an attempt, and this agent will not get the task again; with `stopping`, neither is so.',
      refusals: ['not-found', 'lease-lost'],
      body: input(w.ReleaseBody), answers: { 200: ReleasedAnswer }, handle: work.release,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/park`, who: ['worker'], tenants: 'task',
      tag: 'work', summary: 'Parks a task until a callback comes.',
      description: 'Parks a task until a callback with this key comes, for at most `timeoutSeconds`. The lease ends, and no attempt is counted. Without a callback the attempt has failed, or, with `onTimeout: requeue`, the task is ready again.',
      refusals: ['not-found', 'lease-lost'],
      body: input(w.ParkBody), answers: { 200: ReleasedAnswer }, handle: work.park,
    }),
    queueRoute({
      method: 'POST', path: `${of}/callbacks/{key}`, who: ['producer', 'operator'], tenants: 'own',
      tag: 'work', summary: 'Makes the task that waits for this key ready again.',
      description: 'Makes the task that waits for this key ready again. Its next claim gets the payload. A repetition changes nothing and gets the same answer.',
      body: input(w.CallbackBody, { mayBeAbsent: true }), answers: { 200: CallbackAnswer }, handle: work.callback,
    }),
    queueRoute({
      method: 'POST', path: `${of}/outcomes`, who: ['worker'], tenants: 'own',
      tag: 'work', summary: 'Reports the outcomes of many tasks.',
      description: 'Heartbeats, completions, failures, releases and parkings of many tasks, each accepted or refused on its own.',
      body: work.outcomesInput, answers: { 200: OutcomesAnswer }, handle: work.outcomes,
    }),
    queueRoute({
      method: 'POST', path: `${of}/agents`, who: ['worker'], tenants: 'own',
      tag: 'agents', summary: 'Registers what an agent can take.',
      description: 'Registers what an agent can take: its claims take over what they leave out. The registration ends `ttlSeconds` (600) after the agent was last heard of: it registered, claimed, or reported.',
      body: input(w.RegisterBody), answers: { 200: RegisteredAnswer }, handle: agents.registerAgent,
    }),
    queueRoute({
      method: 'DELETE', path: `${of}/agents/{agentId}`, who: ['operator'], tenants: 'refused',
      tag: 'agents', summary: 'Terminates an agent.',
      description: 'Terminates an agent: its registration ends, it loses its leases, and its tasks go back to the queue. This counts neither as an attempt nor as a failure.',
      query: parameters(q.reasonQuery), answers: { 200: TerminatedAnswer }, handle: agents.terminateAgent,
    }),

    // ------------------------------------------------------------------------------ dead letters
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/{id}/retry`, who: ['operator'], tenants: 'task',
      tag: 'dead letters', summary: 'Sends a dead letter back to the queue.',
      description: 'Sends a dead letter back to the queue and resets its retries; with `payload` it gets another one.',
      refusals: ['wrong-state'],
      body: input(w.RetryBody), answers: { 200: RetriedAnswer }, handle: deadLetters.retryOne,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/{id}/discard`, who: ['operator'], tenants: 'task',
      tag: 'dead letters', summary: 'Discards a dead letter and cancels the tasks that depend on it.',
      refusals: ['wrong-state'],
      body: input(w.ReviewBody), answers: { 200: DiscardedAnswer }, handle: deadLetters.discardOne,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/retry`, who: ['operator'], tenants: 'refused',
      tag: 'dead letters', summary: 'Sends all matching dead letters back to the queue.',
      description: 'Sends all matching dead letters back to the queue, at most 1,000 per request; with `perMinute` all of them, so many a minute, until none is left or a breaker opens. `dryRun` only counts.',
      body: input(w.BulkRetryBody), answers: { 200: RetriedAnswer }, handle: deadLetters.retryMany,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/discard`, who: ['operator'], tenants: 'refused',
      tag: 'dead letters', summary: 'Discards all matching dead letters.',
      description: 'Discards all matching dead letters, at most 1,000 per request.',
      body: input(w.BulkReviewBody), answers: { 200: DiscardedAnswer }, handle: deadLetters.discardMany,
    }),

    queueRoute({
      method: 'GET', path: `${of}/memories`, who: readers, tenants: 'refused', unused: 'empty', revision: 'none',
      tag: 'log', summary: 'What is remembered of earlier tasks.',
      description: 'What is remembered of completions with discoveries or errors: of a ticket, and what fits the words of `q` best; without both, the newest.',
      query: parameters(q.MemoriesQuery), answers: { 200: MemoriesAnswer }, handle: memories(memory),
    }),

    queueRoute({
      method: 'GET', path: `${of}/read-models`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'reports', summary: 'How far the tables of `views.db` are.',
      description: 'How far the tables of `views.db` are: the revision that they show, and how many events they are behind. With `atLeast` it waits until they show that revision.',
      refusals: ['disabled'],
      query: parameters(q.AtLeastQuery), answers: { 200: ReadModelsAnswer }, handle: readModelsOf(readModels),
    }),

    queueRoute({
      method: 'GET', path: `${of}/verify`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'log', summary: 'Verifies the hashes of the whole log.',
      description: 'Reads the whole log and verifies its hashes. `ok: false` with the first event that is not what was appended. `begins`: the first event that has a hash; `unsealed`: events after the last that has one; `sealedLater`: events that had none until a later append.',
      answers: { 200: VerifyAnswer }, handle: verifyOf(verifications),
    }),

    queueRoute({
      method: 'GET', path: `${of}/reports/{report}`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'reports', summary: 'A report of a period.',
      description: 'A report of a period, by bucket and group, from the read models: summary, throughput, latency, retries, deadlines, failures, breakers or fairness. As JSON, or with `format` as CSV or SVG. It shows the revision that the read models have reached; with `atLeast` it waits for that revision.',
      refusals: ['disabled'],
      query: parameters(q.ReportQuery), answers: { 200: ReportAnswer }, also: ['text/csv', 'image/svg+xml'], handle: report(readModels),
    }),

    // --------------------------------------------------------------------------------- guardian
    queueRoute({
      method: 'POST', path: `${of}/approvals/{id}/approve`, who: ['guardian'], tenants: 'refused',
      tag: 'approvals', summary: 'Approves what waits for a guardian.',
      description: 'Enqueues the tasks that wait, or sends the dead letter back. A halted chain is counted from zero again.',
      refusals: ['conflict', 'unknown-dependency', 'wrong-state'],
      body: input(w.ReasonBody), answers: { 200: ApprovedAnswer }, handle: approvals.approve,
    }),
    queueRoute({
      method: 'POST', path: `${of}/approvals/{id}/refuse`, who: ['guardian'], tenants: 'refused',
      tag: 'approvals', summary: 'Refuses what waits for a guardian.',
      description: 'Decides against what waits: nothing is enqueued. A dead letter stays one.',
      body: input(w.ReasonBody), answers: { 200: RefusedAnswer }, handle: approvals.refuse,
    }),

    // ---------------------------------------------------------------- later, or at a steady rate
    queueRoute({
      method: 'DELETE', path: `${of}/dead-letters/redrive`, who: ['operator'], tenants: 'refused',
      tag: 'dead letters', summary: 'Stops the redrive that is under way.',
      query: parameters(q.reasonQuery), answers: { 200: RedriveAnswer }, handle: deadLetters.stopRedrive,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/{id}/snooze`, who: ['operator'], tenants: 'task',
      tag: 'dead letters', summary: 'Sends a dead letter back later.',
      description: 'Sends a dead letter back at `until`, unless it is reviewed otherwise before.',
      refusals: ['wrong-state'],
      body: input(w.SnoozeBody), answers: { 200: SnoozedAnswer }, handle: deadLetters.snoozeOne,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/snooze`, who: ['operator'], tenants: 'refused',
      tag: 'dead letters', summary: 'Sends all matching dead letters back later.',
      description: 'Sends all matching dead letters back at `until`, at most 1,000 per request. The same request again goes on with the next ones.',
      body: input(w.BulkSnoozeBody), answers: { 200: SnoozedAnswer }, handle: deadLetters.snoozeMany,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/{id}/escalate`, who: ['operator', 'guardian'], tenants: 'task',
      tag: 'dead letters', summary: 'Marks a dead letter: a person has to decide.',
      refusals: ['wrong-state'],
      body: input(w.ReviewBody), answers: { 200: EscalatedAnswer }, handle: deadLetters.escalateOne,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/escalate`, who: ['operator', 'guardian'], tenants: 'refused',
      tag: 'dead letters', summary: 'Marks all matching dead letters: a person has to decide.',
      description: 'Marks all matching dead letters, at most 1,000 per request. The same request again goes on with the next ones.',
      body: input(w.BulkReviewBody), answers: { 200: EscalatedAnswer }, handle: deadLetters.escalateMany,
    }),

    // ------------------------------------------------------------- breakers, settings, the queue
    queueRoute({
      method: 'POST', path: `${of}/breakers/{type}/open`, who: ['operator'], tenants: 'refused',
      tag: 'breakers', summary: 'Opens the breaker of a type by hand.',
      description: 'Opens the breaker of a type by hand: no task of the type is claimed until the breaker is closed by hand.',
      body: input(w.ReasonBody), answers: { 200: BreakerAnswer }, handle: queue.openBreaker,
    }),
    queueRoute({
      method: 'POST', path: `${of}/breakers/{type}/close`, who: ['operator'], tenants: 'refused',
      tag: 'breakers', summary: 'Closes the breaker of a type.',
      description: 'Closes the breaker of a type: its tasks can be claimed again.',
      refusals: ['wrong-state'],
      body: input(w.ReasonBody), answers: { 200: BreakerAnswer }, handle: queue.closeBreaker,
    }),
    queueRoute({
      method: 'PATCH', path: `${of}/settings`, who: ['operator'], tenants: 'refused', unused: 'opened',
      tag: 'settings', summary: 'Changes some or all settings.',
      description: 'Changes some or all settings. Whether tenants are isolated can be changed only while the queue is empty.',
      refusals: ['disabled', 'wrong-state'],
      body: input(SettingsPatch), answers: { 200: SettingsAnswer }, handle: queue.configure,
    }),
    queueRoute({
      method: 'POST', path: `${of}/pause`, who: ['operator'], tenants: 'refused',
      tag: 'settings', summary: 'Pauses the queue.',
      description: 'Pauses the queue: no task is claimed until it is resumed. Leased tasks may be finished.',
      body: input(w.OptionalReasonBody, { mayBeAbsent: true }), answers: { 200: PausedAnswer }, handle: queue.pause,
    }),
    queueRoute({
      method: 'POST', path: `${of}/resume`, who: ['operator'], tenants: 'refused',
      tag: 'settings', summary: 'Resumes the queue.',
      body: input(w.OptionalReasonBody, { mayBeAbsent: true }), answers: { 200: PausedAnswer }, handle: queue.resume,
    }),

    ...viewRoutes(limits),
    ...limitRoutes(of),
    ...scheduleRoutes(of),
    ...batchRoutes(of, limits),
    ...alertRoutes(of),
    ...tokenRoutes(tokens),

    // ------------------------------------------------------- the normative endpoints (TQM §11)
    queueRoute({
      method: 'POST', path: '/api/bump_task_priority', who: ['operator'], tenants: 'refused',
      tag: 'capacity', summary: 'Puts a ready task before all others.',
      description: 'Puts a ready task before all others, and lets it start beyond capacity.',
      refusals: ['wrong-state', 'disabled', 'capacity-exceeded'],
      query: parameters(w.QueueQuery), body: input(w.BumpBody), answers: { 200: BumpedPriorityAnswer }, handle: normative.bumpTaskPriority,
    }),
    queueRoute({
      method: 'POST', path: '/api/cancel_queued_task', who: ['operator'], tenants: 'refused',
      tag: 'capacity', summary: 'Cancels a task and all tasks that depend on it.',
      refusals: ['wrong-state'],
      query: parameters(w.QueueQuery), body: input(w.CancelQueuedBody), answers: { 200: CancelledQueuedAnswer }, handle: normative.cancelQueuedTask,
    }),
    queueRoute({
      method: 'POST', path: '/api/restart_task', who: ['operator'], tenants: 'refused',
      tag: 'capacity', summary: 'Does a finished task or a dead letter once more.',
      description: 'Does a finished task or a dead letter once more, as a new task. `queued`: it is ready and waits for an agent.',
      refusals: ['wrong-state'],
      query: parameters(w.QueueQuery), body: input(w.BumpBody), answers: { 200: RestartedNowAnswer }, handle: normative.restartTaskNow,
    }),
    queueRoute({
      method: 'POST', path: '/api/terminate_agent', who: ['operator'], tenants: 'refused',
      tag: 'capacity', summary: 'Terminates an agent.',
      description: 'Terminates an agent: its registration ends, and its tasks go back to the queue.',
      query: parameters(w.QueueQuery), body: input(w.TerminateBody), answers: { 202: TerminatedNowAnswer }, handle: normative.terminateAgentNow,
    }),

    // ------------------------------------------------------------------------------- the server
    serverRoute({
      method: 'GET', path: '/healthz', who: 'anyone', tenants: 'open', shows: 'no queue',
      tag: 'server', summary: 'Whether the server is running.',
      answers: { 200: HealthAnswer }, handle: health.alive,
    }),
    serverRoute({
      method: 'GET', path: '/readyz', who: 'anyone', tenants: 'open', shows: 'no queue',
      tag: 'server', summary: 'Whether the server takes commands.',
      description: 'Whether the server takes commands. While it reads the log, 503 says how far it is.',
      refusals: ['unavailable'],
      answers: { 200: ReadyAnswer }, handle: health.readiness(readiness),
    }),
    serverRoute({
      method: 'GET', path: '/metrics', who: metricsWho, tenants: 'refused', shows: 'all queues',
      tag: 'server', summary: 'Prometheus metrics.',
      answers: { 200: 'text/plain' }, handle: metrics,
    }),
    serverRoute({
      method: 'GET', path: '/api/openapi.json', who: 'anyone', tenants: 'open', shows: 'no queue',
      tag: 'server', summary: 'This OpenAPI document.',
      answers: { 200: w.AnyObject }, handle: openApi,
    }),
  ]
}
