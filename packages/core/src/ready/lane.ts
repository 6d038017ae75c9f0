/** Ready tasks of one group whose order never changes: see `policy.ts`. */
import { SortedList } from '../sorted-list.js'
import type { TaskRecord } from '../state.js'
import { byPriorityThenAge } from './policy.js'

export class Lane extends SortedList<TaskRecord> {
  constructor(
    readonly id: number,
    key: (task: TaskRecord) => number,
  ) {
    super(key, byPriorityThenAge)
  }
}
