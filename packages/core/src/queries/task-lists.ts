/** Lists of tasks, one page at a time. Returned tasks are copies. */
import type { TaskFilter } from '../model/commands.js'
import { timeOf } from './query.js'
import { QueueState } from '../fold/queue-state.js'
import { cursorAfter, tasksMatching } from '../search/matching-tasks.js'
import { shownOf, type TaskView } from './task-view.js'

export interface TaskPage {
  readonly tasks: ReadonlyArray<TaskView>
  /** The cursor of the next page; `undefined` at the end. */
  readonly next: string | undefined
}

/**
 * Lists tasks by status in the order of {@link statuses}, then by priority, then by number.
 *
 * Cost: O(log n) to find the page. Then O(1) for each task on the page, and for each that was looked at and did not match: see `task-search.ts`.
 *
 * Finished tasks are listed if they are known at `at`. Default: the state's own time. A `limit` below 1 counts as 1.
 */
export const listTasks = (state: QueueState, filter: TaskFilter, limit: number, after?: string, at = timeOf(state)): TaskPage => {
  const tables = QueueState.tablesOf(state)
  // The cursor of the next page is made from a task, so a page has at least one task.
  const limitOrOne = Math.max(1, limit)
  const tasks: Array<TaskView> = []
  for (const task of tasksMatching(tables, filter, after, at)) {
    if (tasks.length >= limitOrOne) return { tasks, next: cursorAfter(tasks[tasks.length - 1] as TaskView) }
    tasks.push(shownOf(tables, task))
  }
  return { tasks, next: undefined }
}
