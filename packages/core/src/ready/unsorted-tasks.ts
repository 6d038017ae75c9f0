/**
 * The ready tasks while their order is put aside, for one question about one instant (see `ReadyIndex.putAside`). Each task is ranked by itself, and
 * the tasks of a tenant are put in a heap when its turn comes. That takes a fraction of the time of putting all tasks in order, and only the tasks
 * that come first need records. But the next question has to do it again.
 */
import { isTakeable } from '../limits/section.js'
import type { Group, GroupKind } from '../records/group.js'
import type { TaskRecord, TenantShare } from '../records/records.js'
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
  /** The open groups that the claim matches: each is at the start of its kind plus its place, so that a task's group is found without a map of groups. */
  private readonly groups: Array<Group | undefined> = []
  private readonly starts = new Map<GroupKind, number>()
  /** The tasks of each tenant, as indexes in the columns below. */
  private readonly byShare = new Map<TenantShare, Array<number>>()
  /** Of each task its number, its group as an index, and what orders it. Columns, because a million objects take longer to collect than to compare. */
  private readonly numbers: Float64Array
  private readonly groupIndexes: Int32Array
  private readonly ranks: Float64Array
  private readonly scores: Float64Array
  private readonly priorities: Float64Array
  private readonly times: Float64Array
  private count = 0

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
      const start = this.startOf(group.kind)
      if (!isTakeable(group) || !shape.matches(group)) continue
      this.groups[start + group.place] = group
      if (!this.byShare.has(group.share)) this.byShare.set(group.share, [])
      tasks += group.ready
    }
    this.numbers = new Float64Array(tasks)
    this.groupIndexes = new Int32Array(tasks)
    this.ranks = new Float64Array(tasks)
    this.scores = new Float64Array(tasks)
    this.priorities = new Float64Array(tasks)
    this.times = new Float64Array(tasks)
    all.each((task) => this.add(task))
  }

  /** The tenant's tasks, best first, as indexes: see {@link recordAt} and {@link groupAt}. */
  heapOf(share: TenantShare): Heap<number> {
    const heap = new Heap<number>((a, b) => this.compare(a, b) < 0)
    for (const index of this.byShare.get(share) ?? []) heap.add(index)
    return heap
  }

  /** Makes the record if the task is a row. */
  recordAt(index: number): TaskRecord {
    return this.all.get(this.numbers[index] as number)
  }

  groupAt(index: number): Group {
    return this.groups[this.groupIndexes[index] as number] as Group
  }

  /** Adds a task, unless the claim does not match its group. */
  private add(task: UnsortedTask): void {
    const { kind, place, share } = task.group
    const at = this.startOf(kind) + place
    if (this.groups[at] === undefined) return
    const index = this.count++
    this.byShare.get(share)?.push(index)
    this.numbers[index] = task.number
    this.groupIndexes[index] = at
    this.ranks[index] = this.policy.rank(task, this.at)
    this.scores[index] = this.policy.scoreAt(task, this.at)
    this.priorities[index] = task.priority
    this.times[index] = task.enqueuedAt
  }

  private startOf(kind: GroupKind): number {
    const known = this.starts.get(kind)
    if (known !== undefined) return known
    const start = this.groups.length
    this.starts.set(kind, start)
    for (let i = 0; i < kind.ready.length; i++) this.groups.push(undefined)
    return start
  }

  /** The order of `byStanding` (`policy.ts`). */
  private compare(a: number, b: number): number {
    const { ranks, scores, priorities, times, numbers } = this
    return by(ranks, b, a) || by(scores, b, a) || by(priorities, b, a) || by(times, a, b) || by(numbers, a, b)
  }
}

const by = (column: Float64Array, a: number, b: number): number => (column[a] as number) - (column[b] as number)
