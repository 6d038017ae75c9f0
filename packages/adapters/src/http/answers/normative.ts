/** Answers of the normative endpoints (TQM §11). */
import { PriorityName } from '@daybook/core'
import * as t from 'io-ts'
import { ids, orNull } from './parts.js'

/** `queued_tasks`: the first 1,000 ready tasks, bumped ones first. */
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
