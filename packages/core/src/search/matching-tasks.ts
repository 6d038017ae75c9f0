/** Tasks that match a filter, from a cursor on. */
import { shownStatus } from '../state/capacity.js'
import type { TaskFilter } from '../model/commands.js'
import { knownAt } from '../state/retention.js'
import { rankOf, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { type Status, statuses } from '../model/task.js'
import { search } from './task-search.js'

/**
 * The matching tasks by status in the order of {@link statuses}, then by priority, then by number. `at`: finished tasks that are not known then are left
 * out. A page that begins among ready tasks goes on with them, whether they are shown as `pending` or as `queued` by now.
 */
export const tasksMatching = function* (tables: Tables, filter: TaskFilter, after: string | undefined, at: number): Generator<TaskRecord, void> {
  const wanted = filter.statuses ?? statuses
  const start = after === undefined ? undefined : parseCursor(after)
  for (let s = 0; s < statuses.length; s++) {
    const status = statuses[s] as Status
    const isWanted = wanted.includes(shownStatus(tables, status)) || (s === start?.status && status === 'pending' && wanted.some((each) => each === 'pending' || each === 'queued'))
    if (!isWanted || (start !== undefined && s < start.status)) continue
    const from = start !== undefined && s === start.status ? start.rank : -1
    for (const task of search(tables, filter, status, from)) if (knownAt(tables, task, at) !== undefined) yield task
  }
}

/** The cursor of a page that begins after this task. */
export const cursorAfter = ({ status, priority, number }: Pick<TaskRecord, 'status' | 'priority' | 'number'>): string =>
  // A queued task is kept as pending, and may be shown as pending on the next page.
  cursorBeyond(status === 'queued' ? 'pending' : status, rankOf({ priority, number }))

/** The cursor of a page that begins with this task. */
export const cursorAt = (task: TaskRecord): string => cursorBeyond(task.status, rankOf(task) - 1)

/** The cursor of a page that begins after this rank of a status. */
export const cursorBeyond = (status: Status, rank: number): string => `${statuses.indexOf(status)}.${rank.toString(36)}`

const parseCursor = (cursor: string): { readonly status: number; readonly rank: number } | undefined => {
  const [status, rank] = cursor.split('.')
  const parsed = { status: Number(status), rank: Number.parseInt(rank ?? '', 36) }
  return Number.isInteger(parsed.status) && Number.isSafeInteger(parsed.rank) ? parsed : undefined
}

export const isCursor = (text: string): boolean => parseCursor(text) !== undefined
