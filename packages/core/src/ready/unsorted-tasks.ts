/**
 * The ready tasks while their order is put aside, for one question about one instant (see `ReadyIndex.putAside`). Each task is ranked by itself, and
 * the tasks of a tenant are put in a heap when its turn comes. That takes a fraction of the time of putting all tasks in order, and only the tasks
 * that come first need records. But the next question has to do it again.
 */
import { isTakeable } from '../limits/section.js'
import type { Group } from '../records/group.js'
import type { TaskRecord } from '../records/records.js'
import { Heap } from '../structures/heap.js'
import type { ClaimShape } from './claim-shape.js'
import type { Policy } from './policy.js'
import type { Scored } from './score.js'

/** What the order needs of a ready task. It may be its record, or be read from its row. */
export type UnsortedTask = Scored & Pick<TaskRecord, 'number' | 'group'>

/** All ready tasks of the state. */
export interface AllReady {
  /** By number. */
  readonly records: () => ReadonlyArray<TaskRecord>
  /** Visits each, in any order. Makes no records. */
  readonly each: (visit: (task: UnsortedTask) => void) => void
  readonly get: (number: number) => TaskRecord
}

export class UnsortedTasks {
  /** The tasks of each open group that the claim matches, as indexes in the columns below. */
  private readonly byGroup = new Map<Group, Array<number>>()
  /** Of each task its group, its number, and what orders it. Columns, because a million objects take longer to collect than to compare. */
  private readonly groups: Array<Group> = []
  private readonly numbers: Float64Array
  private readonly ranks: Float64Array
  private readonly scores: Float64Array
  private readonly priorities: Float64Array
  private readonly times: Float64Array

  /** `groups`: those with ready tasks. `shape`: that of the claim. */
  constructor(
    private readonly all: AllReady,
    groups: Iterable<Group>,
    shape: ClaimShape,
    private readonly policy: Policy,
    private readonly at: number,
  ) {
    let tasks = 0
    for (const group of groups) {
      if (!isTakeable(group) || !shape.matches(group)) continue
      this.byGroup.set(group, [])
      tasks += group.ready
    }
    this.numbers = new Float64Array(tasks)
    this.ranks = new Float64Array(tasks)
    this.scores = new Float64Array(tasks)
    this.priorities = new Float64Array(tasks)
    this.times = new Float64Array(tasks)
    all.each((task) => this.add(task))
  }

  /** The tasks of these groups, best first, as indexes: see {@link recordAt} and {@link groupAt}. */
  heapOf(groups: Iterable<Group>): Heap<number> {
    const heap = new Heap<number>((a, b) => this.compare(a, b) < 0)
    for (const group of groups) for (const index of this.byGroup.get(group) ?? []) heap.add(index)
    return heap
  }

  /** Makes the record if the task is a row. */
  recordAt(index: number): TaskRecord {
    return this.all.get(this.numbers[index] as number)
  }

  groupAt(index: number): Group {
    return this.groups[index] as Group
  }

  /** Adds a task, unless the claim takes none of its group. */
  private add(task: UnsortedTask): void {
    const ofGroup = this.byGroup.get(task.group)
    if (ofGroup === undefined) return
    const index = this.groups.push(task.group) - 1
    ofGroup.push(index)
    this.numbers[index] = task.number
    this.ranks[index] = this.policy.rank(task, this.at)
    this.scores[index] = this.policy.scoreAt(task, this.at)
    this.priorities[index] = task.priority
    this.times[index] = task.enqueuedAt
  }

  /** The order of `byStanding` (`policy.ts`). */
  private compare(a: number, b: number): number {
    const { ranks, scores, priorities, times, numbers } = this
    return by(ranks, b, a) || by(scores, b, a) || by(priorities, b, a) || by(times, a, b) || by(numbers, a, b)
  }
}

const by = (column: Float64Array, a: number, b: number): number => (column[a] as number) - (column[b] as number)
