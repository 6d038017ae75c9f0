/** The queue's capacity, and what waits for it (TQM-CAP, TQM §11). */
import { activeAgents, isAtCapacity, shownStatus } from '../state/capacity.js'
import { findTask } from '../decide/lookup.js'
import { depthOf, timeOf } from './query.js'
import { QueueState } from '../fold/queue-state.js'
import { inOrder } from '../ready/policy.js'
import { isBumped, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { type Band, bandOf } from '../model/task.js'
import { tasksMatching } from '../search/matching-tasks.js'

/** The largest number of ids in {@link CapacityView.queued}. */
const queuedShown = 1_000

export interface CapacityView {
  /** Number of agents that hold a task. */
  readonly activeAgents: number
  readonly maxConcurrentAgents: number
  readonly isAtCapacity: boolean
  /** Ids of the first ready tasks: bumped ones first, then by priority and number. At most {@link queuedShown}. */
  readonly queued: ReadonlyArray<string>
  readonly queuedCount: number
  readonly byPriority: Readonly<Record<Band, number>>
  /** When the oldest ready task was enqueued, and the oldest of band CRITICAL. Milliseconds since 1970. */
  readonly oldestAt: number | undefined
  readonly oldestCriticalAt: number | undefined
}

/** The first ready tasks: bumped ones first, then by priority and number. Cost: O(1) for each. */
const queuedIn = (tables: Tables, at: number): ReadonlyArray<TaskRecord> => {
  const queued = [...inOrder(tables.ready.policy, tables.ready.bumped, at)]
  for (const task of tasksMatching(tables, { statuses: ['pending', 'queued'] }, undefined, at)) {
    if (queued.length >= queuedShown) break
    if (!isBumped(task)) queued.push(task)
  }
  return queued
}

/** The place of a task that is ready and waits for capacity (TQM-DM-001). */
export interface QueuedPlace {
  /** When it was enqueued, in milliseconds since 1970. */
  readonly queuedAt: number
  /** Its place among the waiting tasks in the order of {@link CapacityView}: 1 for the first; `null` if it is not listed there. */
  readonly queuePosition: number | null
}

/** The place of a task that is shown as `queued`; `undefined` for any other task. By id, or by number as `#42`. */
export const queuedPlaceOf = (state: QueueState, id: string, at = timeOf(state)): QueuedPlace | undefined => {
  const tables = QueueState.tablesOf(state)
  const task = findTask(tables, id, at)
  if (task === undefined || shownStatus(tables, task.status) !== 'queued') return undefined
  return { queuedAt: task.enqueuedAt, queuePosition: queuedIn(tables, at).indexOf(task) + 1 || null }
}

/** The queue's capacity at `at` (default: the state's own time). Cost: O(groups with ready tasks), and O(1) for each id shown. */
export const capacityOf = (state: QueueState, at = timeOf(state)): CapacityView => {
  const tables = QueueState.tablesOf(state)
  const { byPriority, oldestPendingAt } = depthOf(state, at)
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
    queued: queuedIn(tables, at).map(({ id }) => id),
    queuedCount: tables.counts.pending,
    byPriority,
    oldestAt: oldestPendingAt,
    oldestCriticalAt,
  }
}
