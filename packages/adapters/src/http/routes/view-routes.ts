/** The queries about a queue. Each is answered from a view of the present or of a past moment. */
import { readers } from './access.js'
import { DiffAnswer, EventsAnswer, HistoryAnswer } from '../answers/log.js'
import { QueueStatusAnswer } from '../answers/normative.js'
import { AgentsAnswer, BreakersAnswer, DepthAnswer, QueueAnswer, SettingsAnswer, StateAnswer } from '../answers/queue.js'
import { ApprovalAnswer, ApprovalsAnswer, PatternsAnswer, RedriveAnswer } from '../answers/reviews.js'
import { ExplanationAnswer, ResultAnswer, TaskAnswer, TasksAnswer } from '../answers/tasks.js'
import * as agents from '../handle/agents.js'
import * as approvals from '../handle/approvals.js'
import * as deadLetters from '../handle/dead-letters.js'
import { diff } from '../handle/diff.js'
import { explain } from '../handle/explain.js'
import * as log from '../handle/log.js'
import * as normative from '../handle/normative.js'
import * as queue from '../handle/queue.js'
import { result } from '../handle/result.js'
import { state } from '../handle/state.js'
import * as tasks from '../handle/tasks.js'
import type { HttpLimits } from '../limits.js'
import * as q from '../query.js'
import { parameters, type Route, spanRoute, viewRoute } from './route.js'

export const viewRoutes = (limits: HttpLimits): ReadonlyArray<Route> => {
  const of = '/api/queues/{queue}'
  const view = parameters(q.MomentQuery)
  const { pageMax } = limits
  return [
    viewRoute({
      path: of, who: readers, tenants: 'own', unused: 'empty',
      tag: 'queues', summary: 'A summary of the queue.',
      description: 'A summary of the queue: tasks by status, and whether it is paused. To a token for tenants: of its own tasks, and of a pause only that there is one.',
      query: view, answers: { 200: QueueAnswer }, handle: queue.showQueue,
    }),
    viewRoute({
      path: `${of}/state`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'log', summary: 'The whole queue at one moment.',
      description: 'The whole queue at one moment: counts, breakers, agents, and the tasks that match all filters.',
      query: parameters(q.tasksQuery(pageMax)), answers: { 200: StateAnswer }, handle: state,
    }),
    spanRoute({
      path: `${of}/diff`, who: readers, tenants: 'refused',
      tag: 'log', summary: 'What differs between two moments.',
      description: 'What differs between two moments, each a revision or a time: tasks and breakers, and the events that changed them. By default, from before the first event to now.',
      query: parameters(q.diffQuery(pageMax)), answers: { 200: DiffAnswer }, handle: diff,
    }),
    viewRoute({
      path: `${of}/tasks`, who: readers, tenants: 'own', unused: 'empty',
      tag: 'tasks', summary: 'Tasks that match all filters, by status, priority and number.',
      query: parameters(q.tasksQuery(pageMax)), answers: { 200: TasksAnswer }, handle: tasks.getTasks,
    }),
    viewRoute({
      path: `${of}/tasks/{id}`, who: readers, tenants: 'task',
      tag: 'tasks', summary: 'A task with its payload and result.',
      query: view, answers: { 200: TaskAnswer }, handle: tasks.getTask,
    }),
    viewRoute({
      path: `${of}/tasks/{id}/explain`, who: readers, tenants: 'task',
      tag: 'tasks', summary: 'Why a task is not running.',
      description: 'Why a task is not running: all reasons, what would change each, its position in the order of claims, and its score. For an agent that asks for everything, or for a claim with the parameters of the query.',
      query: parameters(q.ExplainQuery), answers: { 200: ExplanationAnswer }, handle: explain,
    }),
    viewRoute({
      path: `${of}/tasks/{id}/result`, who: ['producer', ...readers], tenants: 'task',
      tag: 'tasks', summary: 'The result of a task, waited for if asked to.',
      description: 'The result of a task. Waits up to `wait` seconds until it is completed, cancelled, discarded or a dead letter; then `status` says which, otherwise where it stands.',
      query: parameters(q.resultQuery(limits.claimWaitSecondsMax)), answers: { 200: ResultAnswer }, handle: result,
    }),
    viewRoute({
      path: `${of}/tasks/{id}/history`, who: readers, tenants: 'task', unused: 'empty',
      tag: 'log', summary: 'The events of a task, oldest first.',
      description: 'The events of a task, oldest first: all of them, or the newest 8 MiB. If its retention is over, the log is searched, 100,000 events at a time. To continue with what is older, send `next` as `before`.',
      query: parameters(q.HistoryQuery), answers: { 200: HistoryAnswer }, handle: log.history,
    }),
    viewRoute({
      path: `${of}/agents`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'agents', summary: 'The agents of a queue.',
      description: 'Registered agents and those that hold tasks: what each can take, and the tasks it holds.',
      query: view, answers: { 200: AgentsAnswer }, handle: agents.agents,
    }),
    viewRoute({
      path: `${of}/dead-letters`, who: readers, tenants: 'own', unused: 'empty',
      tag: 'dead letters', summary: 'Dead letters, with error, attempts and failure signature.',
      query: parameters(q.deadLettersQuery(pageMax)), answers: { 200: TasksAnswer }, handle: tasks.getDeadLetters,
    }),
    viewRoute({
      path: `${of}/dead-letters/patterns`, who: readers, tenants: 'own', unused: 'empty',
      tag: 'dead letters', summary: 'Dead letters grouped by failure signature, most frequent first.',
      description: 'Dead letters grouped by failure signature, most frequent first. Without `limit`, a page has up to 1,000.',
      query: parameters(q.patternsQuery(pageMax)), answers: { 200: PatternsAnswer }, handle: deadLetters.patterns,
    }),
    viewRoute({
      path: `${of}/approvals`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'approvals', summary: 'What waits for a guardian, the oldest first.',
      description: 'What waits for a guardian, the oldest first: discoveries about other tickets, halted chains of fixes, dead letters in such chains.',
      query: view, answers: { 200: ApprovalsAnswer }, handle: approvals.approvals,
    }),
    viewRoute({
      path: `${of}/approvals/{id}`, who: readers, tenants: 'refused',
      tag: 'approvals', summary: 'What waits for a guardian, with its chain of tasks.',
      description: 'What waits, with the contents of its tasks, the tasks of its chain, and their failures.',
      query: view, answers: { 200: ApprovalAnswer }, handle: approvals.approval,
    }),
    viewRoute({
      path: `${of}/dead-letters/redrive`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'dead letters', summary: 'The last redrive (`perMinute`), under way or stopped.',
      query: view, answers: { 200: RedriveAnswer }, handle: deadLetters.redrive,
    }),
    viewRoute({
      path: `${of}/breakers`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'breakers', summary: 'The breaker of each task type that has ever failed.',
      query: view, answers: { 200: BreakersAnswer }, handle: queue.breakers,
    }),
    viewRoute({
      path: `${of}/settings`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'settings', summary: 'All settings of the queue.',
      query: view, answers: { 200: SettingsAnswer }, handle: queue.settings,
    }),
    viewRoute({
      path: `${of}/depth`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'queues', summary: 'The number of tasks by status.',
      description: 'Number of tasks by status; pending tasks also by priority, type, phase and tenant.',
      query: view, answers: { 200: DepthAnswer }, handle: queue.depth,
    }),
    viewRoute({
      path: `${of}/events`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'log', summary: 'The log of the queue.',
      description: 'The log: a page of JSON, or, with `Accept: application/x-ndjson`, all of it with one event per line.',
      query: parameters(q.eventsQuery(pageMax)), answers: { 200: EventsAnswer }, lines: true, handle: log.events,
    }),
    viewRoute({
      path: '/api/queue_status', who: readers, tenants: 'refused', unused: 'empty',
      tag: 'capacity', summary: 'The capacity of a queue, and the tasks that wait for an agent.',
      description: 'The capacity of a queue, and the tasks that are ready and wait for an agent.',
      query: parameters(q.QueueStatusQuery), answers: { 200: QueueStatusAnswer }, handle: normative.queueStatus,
    }),
  ]
}
