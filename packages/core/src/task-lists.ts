/** Lists of tasks, a page at a time. What is returned is a copy. */
import { shownStatus } from './capacity.js'
import type { TaskFilter } from './commands.js'
import type { Group } from './group.js'
import { matchesType } from './type-pattern.js'
import { Heap } from './heap.js'
import { timeOf } from './query.js'
import { QueueState } from './queue-state.js'
import { readyIn } from './ready/group-tasks.js'
import { knownAt } from './retention.js'
import { firstRankOf, rankOf, type TaskRecord } from './state.js'
import type { TaskCursor } from './status-lists.js'
import type { Tables } from './tables.js'
import { type Status, statuses } from './task.js'
import { holderOf, shownOf, type TaskView } from './task-view.js'

export interface TaskPage {
  readonly tasks: ReadonlyArray<TaskView>
  /** Where the next page starts; `undefined` at the end. */
  readonly next: string | undefined
}

/**
 * Tasks by status in the order of {@link statuses}, then by priority, then by number.
 *
 * Cost: O(log n) to find the page and O(1) per task on it. Filters by phase, priority, ticket, agent and, for dead
 * letters, by signature use indexes. So do those by type and tenant for pending tasks, if at most 10,000 match: these are
 * sorted for each page. All other filters scan tasks that do not match.
 *
 * Finished tasks are listed if they are known at `at`. Default: the state's own time.
 * A `limit` below 1 counts as 1.
 */
export const listTasks = (state: QueueState, filter: TaskFilter, limit: number, after?: string, at = timeOf(state)): TaskPage => {
  const tables = QueueState.tablesOf(state)
  // The cursor of the next page is made from a task, so a page has at least one.
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
    for (const task of walk(tables, filter, status, from)) if (matches(task, filter) && knownAt(tables, task, at) !== undefined) yield task
  }
}

/** The cursor of a page that begins after this task. */
export const cursorAfter = ({ status, priority, number }: TaskView): string =>
  // A task that is queued is kept as pending, and may be shown as pending on the next page.
  `${statuses.indexOf(status === 'queued' ? 'pending' : status)}.${(firstRankOf(priority) + number).toString(36)}`

/** The cursor of a page that begins with this task. */
export const cursorAt = (task: TaskRecord): string => `${statuses.indexOf(task.status)}.${(rankOf(task) - 1).toString(36)}`

/** The cursor of a page that begins beyond this rank of a status. */
export const cursorBeyond = (status: Status, rank: number): string => `${statuses.indexOf(status)}.${rank.toString(36)}`

const parseCursor = (cursor: string): { readonly status: number; readonly rank: number } | undefined => {
  const [status, rank] = cursor.split('.')
  const parsed = { status: Number(status), rank: Number.parseInt(rank ?? '', 36) }
  return Number.isInteger(parsed.status) && Number.isSafeInteger(parsed.rank) ? parsed : undefined
}

export const isCursor = (text: string): boolean => parseCursor(text) !== undefined

const matches = (task: TaskRecord, filter: TaskFilter): boolean => {
  const { priorityMin = 1, priorityMax = 10, ticketId, agent, text, signature, error } = filter
  if (task.priority < priorityMin || task.priority > priorityMax) return false
  if (ticketId !== undefined && task.extras.ticketId !== ticketId) return false
  if (agent !== undefined && holderOf(task)?.agent !== agent) return false
  if (signature !== undefined && task.extras.signature !== signature) return false
  if (error !== undefined && task.extras.lastError?.toLowerCase().includes(error.toLowerCase()) !== true) return false
  if (filter.escalated !== undefined && filter.escalated !== (task.extras.escalated !== undefined)) return false
  if (filter.snoozed !== undefined && filter.snoozed !== (task.extras.snooze !== undefined)) return false
  if (text === undefined) return true
  const needle = text.toLowerCase()
  return [task.id, task.group.type, task.extras.ticketId, task.extras.lastError].some(
    (part) => part?.toLowerCase().includes(needle) === true,
  )
}

/** The tasks of one status whose rank is beyond `from`, over all groups that fit, by rank. */
const walk = function* (tables: Tables, filter: TaskFilter, status: Status, from: number): Generator<TaskRecord> {
  const few = fewOf(tables, filter, status)
  if (few !== undefined) {
    const found = [...few].filter((task) => task.status === status && rankOf(task) > from && fits(filter, task.group))
    yield* found.sort((a, b) => rankOf(a) - rankOf(b))
    return
  }
  // The highest priority comes first, so ranks between these two bounds are those of the priorities asked for.
  const lowest = Math.max(from, firstRankOf(filter.priorityMax ?? 10) - 1)
  const beyond = firstRankOf((filter.priorityMin ?? 1) - 1)
  const cursors = listsOf(tables, filter, status).map((list) => list.seek(lowest + 1))
  const heads = new Heap<TaskCursor>((a, b) => rankOf(a.item as TaskRecord) < rankOf(b.item as TaskRecord))
  for (const cursor of cursors) if (cursor.item !== undefined) heads.add(cursor)
  for (let head = heads.first; head !== undefined; head = heads.first) {
    const task = head.item as TaskRecord
    if (rankOf(task) >= beyond) return
    head.advance()
    if (head.item === undefined) heads.removeFirst()
    else heads.sinkFirst()
    if (fits(filter, task.group)) yield task
  }
}
const noTasks: ReadonlyArray<TaskRecord> = []

/** The lists whose tasks may match: of the dead letters with this signature, or of the phases. */
const listsOf = (tables: Tables, filter: TaskFilter, status: Status): ReadonlyArray<{ readonly seek: (rank: number) => TaskCursor }> => {
  if (status === 'dead-letter' && filter.signature !== undefined) {
    return [...tables.deadLetters.entries(filter.signature)].map(({ byRank }) => byRank)
  }
  return [...tables.lists].flatMap(([phase, byStatus]) => (filter.phase === undefined || filter.phase === phase ? byStatus[status].filter(({ size }) => size > 0) : []))
}

/** More ready tasks of a type or tenant than this are found by a scan, because sorting them would take longer. */
const fewMax = 10_000

/** The tasks that may match, in no particular order, if an index knows them to be few. */
const fewOf = (tables: Tables, filter: TaskFilter, status: Status): Iterable<TaskRecord> | undefined => {
  const { ticketId, agent, type, tenant } = filter
  if (ticketId !== undefined) return [...(tables.byTicket.get(ticketId) ?? [])].flatMap((number) => tables.byNumber.get(number) ?? [])
  if (agent !== undefined && (status === 'in-progress' || status === 'incomplete')) return tables.leases.get(agent) ?? noTasks
  if (status !== 'pending' || (type === undefined && tenant === undefined) || !tables.ready.isOrdered) return undefined
  const groups = [...tables.ready.groupsWithTasks()].filter((group) => fits(filter, group))
  const count = groups.reduce((sum, { ready }) => sum + ready, 0)
  return count > fewMax ? undefined : groups.flatMap((group) => readyIn(group))
}

const fits = (filter: TaskFilter, group: Group): boolean =>
  (filter.type === undefined || matchesType(filter.type, group.type)) &&
  (filter.phase === undefined || filter.phase === group.phase) &&
  (filter.tenant === undefined || filter.tenant === group.tenant)
