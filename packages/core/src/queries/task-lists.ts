/** Lists of tasks, one page at a time. Returned tasks are copies. */
import { shownStatus } from '../state/capacity.js'
import type { TaskFilter } from '../model/commands.js'
import { timeOf } from './query.js'
import { QueueState } from '../state/queue-state.js'
import { knownAt } from '../state/retention.js'
import { firstRankOf, rankOf, type TaskRecord } from '../state/state.js'
import type { Tables } from '../state/tables.js'
import { type Status, statuses } from '../model/task.js'
import { search } from './task-search.js'
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

/** The same, one at a time, as records. */
export const tasksMatching = function* (tables: Tables, filter: TaskFilter, after: string | undefined, at: number): Generator<TaskRecord, void> {
  const wanted = filter.statuses ?? statuses
  const start = after === undefined ? undefined : parseCursor(after)
  for (let s = 0; s < statuses.length; s++) {
    const status = statuses[s] as Status
    if (!wanted.includes(shownStatus(tables, status)) || (start !== undefined && s < start.status)) continue
    const from = start !== undefined && s === start.status ? start.rank : -1
    for (const task of search(tables, filter, status, from)) if (knownAt(tables, task, at) !== undefined) yield task
  }
}

/** The cursor of a page that begins after this task. */
export const cursorAfter = ({ status, priority, number }: TaskView): string =>
  // A queued task is kept as pending, and may be shown as pending on the next page.
  `${statuses.indexOf(status === 'queued' ? 'pending' : status)}.${(firstRankOf(priority) + number).toString(36)}`

/** The cursor of a page that begins with this task. */
export const cursorAt = (task: TaskRecord): string => `${statuses.indexOf(task.status)}.${(rankOf(task) - 1).toString(36)}`

/** The cursor of a page that begins after this rank of a status. */
export const cursorBeyond = (status: Status, rank: number): string => `${statuses.indexOf(status)}.${rank.toString(36)}`

const parseCursor = (cursor: string): { readonly status: number; readonly rank: number } | undefined => {
  const [status, rank] = cursor.split('.')
  const parsed = { status: Number(status), rank: Number.parseInt(rank ?? '', 36) }
  return Number.isInteger(parsed.status) && Number.isSafeInteger(parsed.rank) ? parsed : undefined
}

export const isCursor = (text: string): boolean => parseCursor(text) !== undefined
