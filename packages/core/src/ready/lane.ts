/** Ready tasks of one group, or of one tenant's groups, whose order never changes: see `policy.ts`. */
import { SortedList } from '../structures/sorted-list.js'
import type { TaskRecord } from '../records/records.js'
import { byPriorityThenAge } from './policy.js'

export class Lane extends SortedList<TaskRecord> {
  /** Lanes with the same id have the same order. */
  constructor(
    readonly id: number,
    keyOf: (task: TaskRecord) => number,
  ) {
    super(keyOf, byPriorityThenAge)
  }

  /** The order of this lane, and of all lanes with its id. */
  isFirst(a: TaskRecord, b: TaskRecord): boolean {
    const [keyOfA, keyOfB] = [this.keyOf(a), this.keyOf(b)]
    return keyOfA < keyOfB || (keyOfA === keyOfB && byPriorityThenAge(a, b) < 0)
  }
}
