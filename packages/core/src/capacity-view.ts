/** The queue's capacity, and what waits for it (TQM-CAP, TQM §11). */
import { activeAgents, isAtCapacity, isBumped } from './capacity.js'
import { depthOf, timeOf } from './query.js'
import { QueueState } from './queue-state.js'
import { inOrder } from './ready/policy.js'
import { type Band, bandOf } from './task.js'
import { tasksMatching } from './task-lists.js'

/** Ids that are listed at most. */
export const queuedShown = 1_000

export interface CapacityView {
  /** Agents that hold a task. */
  readonly activeAgents: number
  readonly maxConcurrentAgents: number
  readonly isAtCapacity: boolean
  /** The first ready tasks, bumped ones first, then by priority and number: {@link queuedShown} at most. */
  readonly queued: ReadonlyArray<string>
  readonly queuedCount: number
  readonly byPriority: Readonly<Record<Band, number>>
  /** When the oldest ready task, and the oldest one of band CRITICAL, was enqueued. Milliseconds since 1970. */
  readonly oldestAt: number | undefined
  readonly oldestCriticalAt: number | undefined
}

/** Cost: O(groups with ready tasks), and O(1) for each id shown. */
export const capacityOf = (state: QueueState, at = timeOf(state)): CapacityView => {
  const tables = QueueState.tablesOf(state)
  const { byPriority, oldestPendingAt } = depthOf(state, at)
  const queued = inOrder(tables.ready.policy, tables.ready.bumped, at).map(({ id }) => id)
  for (const task of tasksMatching(tables, { statuses: ['pending', 'queued'] }, undefined, at)) {
    if (queued.length >= queuedShown) break
    if (!isBumped(task)) queued.push(task.id)
  }
  let oldestCriticalAt: number | undefined
  for (const { pending } of tables.lists.values()) {
    for (let priority = 1; priority < pending.length; priority++) {
      const first = pending[priority]?.first()
      if (bandOf(priority) === 'CRITICAL' && first !== undefined) oldestCriticalAt = Math.min(first.enqueuedAt, oldestCriticalAt ?? first.enqueuedAt)
    }
  }
  return {
    activeAgents: activeAgents(tables),
    maxConcurrentAgents: tables.head.settings.capacity.maxConcurrentAgents,
    isAtCapacity: isAtCapacity(tables),
    queued,
    queuedCount: tables.counts.pending,
    byPriority,
    oldestAt: oldestPendingAt,
    oldestCriticalAt,
  }
}
