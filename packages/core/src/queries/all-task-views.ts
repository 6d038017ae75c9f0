/** The views of all tasks of a queue. */
import { QueueState } from '../fold/queue-state.js'
import { isFinal } from '../model/task.js'
import type { TaskRecord } from '../records/records.js'
import { isAtCapacity } from '../state/capacity.js'
import { forgottenAt } from '../state/retention.js'
import { TaskWalk } from '../state/task-walk.js'
import { timeOf } from './query.js'
import { type TaskView, viewOf } from './task-view.js'

/** The views of all tasks that are known at one time, as they are now, in small steps. */
export interface TaskViews {
  readonly revision: number
  /** The next views, of at least `tasksMin` tasks except at the end; `undefined` if there are no more. */
  readonly next: (tasksMin: number) => ReadonlyArray<TaskView> | undefined
  /** Must be called only if the views are not taken to their end. */
  readonly end: () => void
}

export const walkTasks = (state: QueueState, at = timeOf(state)): TaskViews => {
  const tables = QueueState.tablesOf(state)
  const walk = new TaskWalk(tables)
  const { revision, settings } = tables.head
  const isFull = isAtCapacity(tables)
  const until = forgottenAt(tables, at)
  const isKnown = (task: TaskRecord): boolean => !isFinal(task.status) || task.finishedAt > until
  return {
    revision,
    next: (tasksMin) => {
      const tasks = walk.next(tasksMin)
      return tasks.length === 0 && walk.isOver ? undefined : tasks.filter(isKnown).map((task) => viewOf(task, settings, isFull && task.status === 'pending' ? 'queued' : task.status))
    },
    end: () => walk.end(),
  }
}
