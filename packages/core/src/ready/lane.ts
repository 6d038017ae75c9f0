/** Ready tasks of one group, or of one tenant's groups, whose order never changes: see `policy.ts`. */
import { SortedList } from '../structures/sorted-list.js'
import type { TaskRecord } from '../records/records.js'
import { byPriorityThenAge } from './policy.js'

/** What all lanes with the same order share. */
export interface LaneKind {
  readonly id: number
  readonly keyOf: (task: TaskRecord) => number
}

export class Lane extends SortedList<TaskRecord> implements LaneKind {
  readonly id: number

  constructor({ id, keyOf }: LaneKind) {
    super(keyOf, byPriorityThenAge)
    this.id = id
  }

  /** The order of this lane, and of all lanes with its id. */
  isFirst(a: TaskRecord, b: TaskRecord): boolean {
    const [keyOfA, keyOfB] = [this.keyOf(a), this.keyOf(b)]
    return keyOfA < keyOfB || (keyOfA === keyOfB && byPriorityThenAge(a, b) < 0)
  }
}
