/** Ready tasks of one group, or of a tenant's groups, whose order never changes: see `policy.ts`. */
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

  /** The order of this lane, and of all lanes with its id. */
  isFirst(a: TaskRecord, b: TaskRecord): boolean {
    const [keyOfA, keyOfB] = [this.keyOf(a), this.keyOf(b)]
    return keyOfA < keyOfB || (keyOfA === keyOfB && byPriorityThenAge(a, b) < 0)
  }
}
