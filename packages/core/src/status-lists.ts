/** All tasks of the queue by phase, status and priority, each list by number. */
import { SortedList } from './sorted-list.js'
import { type ListsByStatus, rankOf, type TaskRecord } from './state.js'
import { type Phase, phases, statuses } from './task.js'

const byNumber = (a: TaskRecord, b: TaskRecord): number => a.number - b.number

export const newStatusLists = (): ReadonlyMap<Phase | undefined, ListsByStatus> => new Map([undefined, ...phases].map((phase) => [phase, newLists()]))

const newLists = (): ListsByStatus => {
  // The index is the priority: 1 to 10.
  const byPriority = (): ReadonlyArray<SortedList<TaskRecord>> => Array.from({ length: 11 }, () => new SortedList(rankOf, byNumber))
  return Object.fromEntries(statuses.map((status) => [status, byPriority()])) as ListsByStatus
}

/** The list in which this task is. */
export const listOf = ({ group, status, priority }: TaskRecord): SortedList<TaskRecord> => group.byStatus[status][priority] as SortedList<TaskRecord>
