/** The normative endpoints (TQM §11), with the names of the requirements. */
import { activeAgentsOf, capacityOf, headOf, type QueueState, taskOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { type Caller, type QueueEngine, restartTask } from '../../engine/index.js'
import { secondsSince } from '../../iso-time.js'
import { type Problem, problemOf } from '../problem.js'
import { type Handled, type QueueCall, replyWith, type ViewCall } from '../routes/route.js'
import type { BumpBody, CancelQueuedBody, ReasonBody, RestartBody, TerminateBody } from '../json/wire.js'
import { terminate } from './agents.js'

export const queueStatus = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read((state, at) => ({ at, capacity: capacityOf(state, at) })), ({ at, capacity }) =>
    JSON.stringify({
      active_agents: capacity.activeAgents,
      max_concurrent_agents: capacity.maxConcurrentAgents,
      at_capacity: capacity.isAtCapacity,
      queued_tasks: capacity.queued,
      queued_depth: capacity.queuedCount,
      queued_by_priority: capacity.byPriority,
      oldest_wait_seconds: secondsSince(capacity.oldestAt, at),
      critical_backlog_seconds: secondsSince(capacity.oldestCriticalAt, at),
    }),
  )

interface Bumped {
  readonly id: string
  readonly status: string
  /** The agent that works on the task; `null` until an agent takes it. */
  readonly agentId: string | null
  readonly activeAgents: number
  readonly maxConcurrentAgents: number
}

/** Bumps a task. A waiting claim that may take it gets it in the same append. */
const bumped = async (queue: QueueEngine, task: string, reason: string, caller: Caller): Promise<E.Either<Problem, Bumped & { readonly revision: number }>> => {
  const done = await queue.submit({ type: 'Bump', task, reason }, caller)
  if (E.isLeft(done)) return E.left(problemOf(done.left))
  const read = await queue.read((state: QueueState, at) => ({
    view: taskOf(state, task, at),
    activeAgents: activeAgentsOf(state).size,
    maxConcurrentAgents: headOf(state).settings.capacity.maxConcurrentAgents,
  }))
  if (E.isLeft(read)) return E.left(problemOf(read.left))
  const { value: { view, ...capacity }, revision } = read.right
  return E.right({ id: view?.id ?? task, status: view?.status ?? 'completed', agentId: view?.claimedBy ?? null, ...capacity, revision })
}

export const bumpTask = async ({ queue, params, body, caller }: QueueCall<ReasonBody>): Promise<Handled> => {
  const done = await bumped(queue, params.id ?? '', body.reason, caller)
  if (E.isLeft(done)) return done
  const { revision, ...answer } = done.right
  return E.right({ status: 200, text: JSON.stringify({ ...answer, overCapacity: answer.activeAgents > answer.maxConcurrentAgents }), revision })
}

export const bumpTaskPriority = async ({ queue, body, caller }: QueueCall<BumpBody>): Promise<Handled> => {
  const done = await bumped(queue, body.task_id, body.reason, caller)
  if (E.isLeft(done)) return done
  const { id, agentId, activeAgents, maxConcurrentAgents, revision } = done.right
  const text = JSON.stringify({
    task_id: id,
    agent_id: agentId,
    over_capacity: activeAgents > maxConcurrentAgents,
    active_agents: activeAgents,
    max_concurrent_agents: maxConcurrentAgents,
  })
  return E.right({ status: 200, text, revision })
}

export const cancelQueuedTask = async ({ queue, body, caller }: QueueCall<CancelQueuedBody>): Promise<Handled> => {
  const { task_id: task, reason = 'cancelled by an operator' } = body
  return replyWith(await queue.submit({ type: 'Cancel', task, reason }, caller), ({ cancelled }) =>
    // The task comes first, then those that depend on it. It may have been named by its number.
    JSON.stringify({ task_id: cancelled[0] ?? task, status: 'CANCELLED', cancelled }),
  )
}

export const restart = async ({ queue, params, body: { reason, dependencies }, caller, requestId: id }: QueueCall<RestartBody>): Promise<Handled> =>
  replyWith(await restartTask(queue, params.id ?? '', reason, caller, { id, dependencies }), (restarted) => JSON.stringify(restarted), 201)

export const restartTaskNow = async ({ queue, body, caller, requestId }: QueueCall<BumpBody>): Promise<Handled> =>
  replyWith(await restartTask(queue, body.task_id, body.reason, caller, { id: requestId }), ({ id, restartOf, status }) =>
    JSON.stringify({ original_task_id: restartOf, new_task_id: id, queued: status === 'pending' || status === 'queued' }),
  )

export const terminateAgentNow = async ({ queue, body, caller }: QueueCall<TerminateBody>): Promise<Handled> => {
  const { agent_id: agent, reason } = body
  const ended = await terminate(queue, agent, reason, caller)
  if (E.isLeft(ended)) return ended
  const { tasks, revision } = ended.right
  return E.right({ status: 202, text: JSON.stringify({ agent_id: agent, terminated: true, reassigned_tasks: tasks.map(({ id }) => id) }), revision })
}
