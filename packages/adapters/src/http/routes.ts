/** THE table: every route with its schemas, its role and what it is for. Served and documented from here. */
import { SettingsPatch } from '@daybook/core'
import * as a from './answers.js'
import * as deadLetters from './handle/dead-letters.js'
import * as health from './handle/health.js'
import * as log from './handle/log.js'
import * as queue from './handle/queue.js'
import * as tasks from './handle/tasks.js'
import * as work from './handle/work.js'
import type { HttpLimits } from './limits.js'
import * as q from './query.js'
import { type Call, type Handled, input, queueRoute, type Role, type Route, serverRoute } from './route.js'
import * as w from './wire.js'

export interface Served {
  readonly limits: HttpLimits
  readonly readiness: health.Readiness
  readonly metrics: (call: Call) => Promise<Handled>
  readonly metricsRole: Role
  readonly openApi: (call: Call) => Promise<Handled>
}

export const routesOf = ({ limits, readiness, metrics, metricsRole, openApi }: Served): ReadonlyArray<Route> => {
  const of = '/api/queues/{queue}'
  const view = input(q.AtLeastQuery, { root: 'query' })
  const pageMax = limits.pageMax
  return [
    serverRoute({
      method: 'GET', path: '/api/queues', role: 'auditor', summary: 'All queues, with their depth by status.',
      answers: { 200: a.QueuesAnswer }, handle: queue.listQueues,
    }),

    queueRoute({
      method: 'GET', path: of, role: 'auditor', unused: 'empty', summary: 'The queue in a line: how many tasks by status, and whether it is paused.',
      query: view, answers: { 200: a.QueueAnswer }, handle: queue.showQueue,
    }),
    queueRoute({
      method: 'DELETE', path: of, role: 'operator', summary: 'Forgets a queue in which nothing is unfinished. Its log stays; its next task begins it anew.',
      query: input(q.reasonQuery, { root: 'query' }), answers: { 200: a.QueueDeletedAnswer }, handle: queue.deleteQueue,
    }),

    // ------------------------------------------------------------------------------------- tasks
    queueRoute({
      method: 'POST', path: `${of}/tasks`, role: 'producer', unused: 'opened',
      summary: 'Enqueues one task, or many: all or none, or with `atomic: false` each for itself. A duplicate gets the id of the first.',
      body: tasks.enqueueInput, answers: { 200: a.EnqueuedEachAnswer, 201: a.EnqueuedOneOrAllAnswer }, handle: tasks.enqueue,
    }),
    queueRoute({
      method: 'GET', path: `${of}/tasks`, role: 'auditor', unused: 'empty', summary: 'Tasks that match all filters; pending ones in the order in which they would be claimed.',
      query: input(q.tasksQuery(pageMax), { root: 'query' }), answers: { 200: a.TasksAnswer }, handle: tasks.getTasks,
    }),
    queueRoute({
      method: 'GET', path: `${of}/tasks/{id}`, role: 'auditor', summary: 'A task with its payload and result.',
      query: view, answers: { 200: a.TaskAnswer }, handle: tasks.getTask,
    }),
    queueRoute({
      method: 'GET', path: `${of}/tasks/{id}/history`, role: 'auditor', unused: 'empty', summary: 'All events about a task, oldest first. One whose retention is over is searched in the log, 100,000 events at a time: `before` = `next` goes on.',
      query: input(q.HistoryQuery, { root: 'query' }), answers: { 200: a.HistoryAnswer }, handle: log.history,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/cancel`, role: 'producer', summary: 'Cancels a task, and all that depend on it.',
      body: input(w.ReasonBody), answers: { 200: a.CancelledAnswer }, handle: tasks.cancelTask,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/cancel`, role: 'operator',
      summary: 'Cancels all tasks that match, and all that depend on them, about 1,000 at a time, each time all or none; `nextCursor` goes on. `dryRun` tells what matches.',
      body: input(q.CancelAllBody), answers: { 200: a.CancelledAllAnswer }, handle: tasks.cancelMany,
    }),
    queueRoute({
      method: 'POST', path: `${of}/imports`, role: 'operator', unused: 'opened',
      summary: 'Takes tasks over from elsewhere as they stand there; those that are known already are passed over.',
      body: input(tasks.ImportsBody), answers: { 201: a.EnqueuedAllAnswer }, handle: tasks.importTasks,
    }),

    // -------------------------------------------------------------------------------------- work
    queueRoute({
      method: 'POST', path: `${of}/claims`, role: 'worker', unused: 'opened', summary: 'Leases tasks to an agent; waits for some if asked to. Empty when there is none. A lease lasts for the task\'s `timeout` without a heartbeat, or for `leaseSeconds` where that is shorter.',
      body: input(work.claimBody(limits)), answers: { 200: a.ClaimsAnswer }, handle: work.claim,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/heartbeat`, role: 'worker', summary: 'Extends a lease, and may leave progress and a checkpoint.',
      body: input(w.HeartbeatBody), answers: { 200: a.HeartbeatAnswer }, handle: work.heartbeat,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/complete`, role: 'worker',
      summary: 'Hands in a result. Without the decision report that the queue requires, the task is `incomplete` and the lease runs on.',
      body: input(w.CompleteBody), answers: { 200: a.CompletedAnswer }, handle: work.complete,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/fail`, role: 'worker', summary: 'Reports a failed attempt: the task is retried, or becomes a dead letter.',
      body: input(w.FailBody), answers: { 200: a.FailedAnswer }, handle: work.fail,
    }),
    queueRoute({
      method: 'POST', path: `${of}/tasks/{id}/release`, role: 'worker', summary: 'Gives a task back unfinished: an attempt, and this agent will not get it again. With `stopping` it is neither.',
      body: input(w.ReleaseBody), answers: { 200: a.ReleasedAnswer }, handle: work.release,
    }),
    queueRoute({
      method: 'POST', path: `${of}/outcomes`, role: 'worker', summary: 'Heartbeats, completions, failures and releases of many tasks; each stands for itself.',
      body: work.outcomesInput, answers: { 200: a.OutcomesAnswer }, handle: work.outcomes,
    }),
    queueRoute({
      method: 'GET', path: `${of}/agents`, role: 'auditor', unused: 'empty', summary: 'Agents with a live lease, and the tasks they hold.',
      query: view, answers: { 200: a.AgentsAnswer }, handle: queue.agents,
    }),
    queueRoute({
      method: 'DELETE', path: `${of}/agents/{agentId}`, role: 'operator', summary: 'Ends an agent: its leases are lost, and its tasks go back to the queue. That is no attempt of theirs, and no failure.',
      query: input(q.reasonQuery, { root: 'query' }), answers: { 200: a.TerminatedAnswer }, handle: queue.terminateAgent,
    }),

    // ------------------------------------------------------------------------------ dead letters
    queueRoute({
      method: 'GET', path: `${of}/dead-letters`, role: 'auditor', unused: 'empty', summary: 'Dead letters, with error, attempts and failure signature.',
      query: input(q.deadLettersQuery(pageMax), { root: 'query' }), answers: { 200: a.TasksAnswer }, handle: tasks.getDeadLetters,
    }),
    queueRoute({
      method: 'GET', path: `${of}/dead-letters/patterns`, role: 'auditor', unused: 'empty', summary: 'Dead letters grouped by what went wrong, most frequent first.',
      query: input(q.patternsQuery, { root: 'query' }), answers: { 200: a.PatternsAnswer }, handle: deadLetters.patterns,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/{id}/retry`, role: 'operator', summary: 'Sends a dead letter back to the queue, its retries reset.',
      body: input(w.ReviewBody), answers: { 200: a.RetriedAnswer }, handle: deadLetters.retryOne,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/{id}/discard`, role: 'operator', summary: 'Throws a dead letter away, and cancels what depends on it.',
      body: input(w.ReviewBody), answers: { 200: a.DiscardedAnswer }, handle: deadLetters.discardOne,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/retry`, role: 'operator', summary: 'Sends all dead letters that match back, at most 1,000 at a time.',
      body: input(w.BulkReviewBody), answers: { 200: a.RetriedAnswer }, handle: deadLetters.retryMany,
    }),
    queueRoute({
      method: 'POST', path: `${of}/dead-letters/discard`, role: 'operator', summary: 'Throws all dead letters that match away, at most 1,000 at a time.',
      body: input(w.BulkReviewBody), answers: { 200: a.DiscardedAnswer }, handle: deadLetters.discardMany,
    }),

    // ------------------------------------------------------------- breakers, settings, the queue
    queueRoute({
      method: 'GET', path: `${of}/breakers`, role: 'auditor', unused: 'empty', summary: 'The breaker of each task type that has ever failed.',
      query: view, answers: { 200: a.BreakersAnswer }, handle: queue.breakers,
    }),
    queueRoute({
      method: 'POST', path: `${of}/breakers/{type}/open`, role: 'operator', summary: 'Stops handing out a type until its breaker is closed by hand.',
      body: input(w.ReasonBody), answers: { 200: a.BreakerAnswer }, handle: queue.openBreaker,
    }),
    queueRoute({
      method: 'POST', path: `${of}/breakers/{type}/close`, role: 'operator', summary: 'Hands a type out again.',
      body: input(w.ReasonBody), answers: { 200: a.BreakerAnswer }, handle: queue.closeBreaker,
    }),
    queueRoute({
      method: 'GET', path: `${of}/settings`, role: 'auditor', unused: 'empty', summary: 'Every setting of the queue.',
      query: view, answers: { 200: a.SettingsAnswer }, handle: queue.settings,
    }),
    queueRoute({
      method: 'PATCH', path: `${of}/settings`, role: 'operator', unused: 'opened', summary: 'Changes any part of the settings.',
      body: input(SettingsPatch), answers: { 200: a.SettingsAnswer }, handle: queue.configure,
    }),
    queueRoute({
      method: 'POST', path: `${of}/pause`, role: 'operator', summary: 'Hands nothing out until the queue is resumed. What is leased may be finished.',
      body: input(w.OptionalReasonBody, { mayBeAbsent: true }), answers: { 200: a.PausedAnswer }, handle: queue.pause,
    }),
    queueRoute({
      method: 'POST', path: `${of}/resume`, role: 'operator', summary: 'Hands tasks out again.',
      body: input(w.OptionalReasonBody, { mayBeAbsent: true }), answers: { 200: a.PausedAnswer }, handle: queue.resume,
    }),
    queueRoute({
      method: 'GET', path: `${of}/depth`, role: 'auditor', unused: 'empty', summary: 'How many tasks, by status; pending ones by band, type, phase and tenant.',
      query: view, answers: { 200: a.DepthAnswer }, handle: queue.depth,
    }),
    queueRoute({
      method: 'GET', path: `${of}/events`, role: 'auditor', unused: 'empty',
      summary: 'The log. A page of JSON, or with `Accept: application/x-ndjson` all of it, one event a line.',
      query: input(q.eventsQuery(pageMax), { root: 'query' }), answers: { 200: a.EventsAnswer }, lines: true, handle: log.events,
    }),

    // ------------------------------------------------------------------------------- the server
    serverRoute({
      method: 'GET', path: '/healthz', role: 'anyone', summary: 'Whether the server runs at all.',
      answers: { 200: a.HealthAnswer }, handle: health.alive,
    }),
    serverRoute({
      method: 'GET', path: '/readyz', role: 'anyone', summary: 'Whether the server takes work; 503 says what is being read, and how far.',
      answers: { 200: a.ReadyAnswer }, handle: health.readiness(readiness),
    }),
    serverRoute({
      method: 'GET', path: '/metrics', role: metricsRole, summary: 'Prometheus metrics.',
      answers: { 200: 'text/plain' }, handle: metrics,
    }),
    serverRoute({
      method: 'GET', path: '/api/openapi.json', role: 'anyone', summary: 'This contract.',
      answers: { 200: w.AnyObject }, handle: openApi,
    }),
  ]
}
