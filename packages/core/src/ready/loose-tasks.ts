/**
 * The ready tasks while their order is put aside, for one question about one instant (see `ReadyIndex.putAside`). Each task is ranked by itself, and
 * the tasks of a tenant are put in a heap when its turn comes. That takes a fraction of the time of putting all tasks in order, and only the tasks
 * that come first need records. But the next question has to do it again.
 */
import type { Group, GroupKind } from '../state/group.js'
import type { TaskRecord, TenantShare } from '../state/state.js'
import { Heap } from '../structures/heap.js'
import type { ClaimShape } from './claim-shape.js'
import type { Policy } from './policy.js'
import type { Scored } from './score.js'

/** What the order needs of a ready task. It may be its record, or be read from its row. */
export type LooseTask = Scored & Pick<TaskRecord, 'number' | 'group'>

export class LooseTasks {
  /** Of each task. Numbers in arrays: a million objects would take longer to collect than to compare. */
  private readonly groups: Array<Group> = []
  private readonly numbers: Array<number> = []
  private readonly ranks: Array<number> = []
  private readonly scores: Array<number> = []
  private readonly priorities: Array<number> = []
  private readonly ages: Array<number> = []
  /** The indexes of each tenant's tasks in these arrays. */
  private readonly byShare = new Map<TenantShare, Array<number>>()
  /** The list of its tenant, for each group that the claim matches. A map of groups would be slower: it is looked up for each task. */
  private readonly lists: Array<Array<number> | undefined> = []
  /** Where the groups of each kind begin in {@link lists}. */
  private readonly from = new Map<GroupKind, number>()

  /** `groups`: those with ready tasks. */
  constructor(
    groups: Iterable<Group>,
    shape: ClaimShape,
    private readonly policy: Policy,
    private readonly at: number,
  ) {
    for (const group of groups) {
      const { kind, share } = group
      let from = this.from.get(kind)
      if (from === undefined) {
        from = this.lists.length
        this.from.set(kind, from)
        for (let i = 0; i < kind.ready.length; i++) this.lists.push(undefined)
      }
      if (!group.isOpen || !shape.matches(group)) continue
      const list = this.byShare.get(share) ?? []
      this.byShare.set(share, list)
      this.lists[from + group.place] = list
    }
  }

  add(task: LooseTask): void {
    const { group, number, priority, enqueuedAt } = task
    const list = this.lists[(this.from.get(group.kind) as number) + group.place]
    if (list === undefined) return
    list.push(this.numbers.push(number) - 1)
    this.groups.push(group)
    this.ranks.push(this.policy.rank(task, this.at))
    this.scores.push(this.policy.scoreAt(task, this.at))
    this.priorities.push(priority)
    this.ages.push(enqueuedAt)
  }

  /** The tenant's tasks, best first: their indexes, see {@link numberAt} and {@link groupAt}. */
  heapOf(share: TenantShare): Heap<number> {
    const heap = new Heap<number>((a, b) => this.isBefore(a, b))
    for (const index of this.byShare.get(share) ?? []) heap.add(index)
    return heap
  }

  numberAt(index: number): number {
    return this.numbers[index] as number
  }

  groupAt(index: number): Group {
    return this.groups[index] as Group
  }

  /** The order of `byStanding` (`policy.ts`). */
  private isBefore(a: number, b: number): boolean {
    const { ranks, scores, priorities, ages, numbers } = this
    const difference = at(ranks, b) - at(ranks, a) || at(scores, b) - at(scores, a) || at(priorities, b) - at(priorities, a) || at(ages, a) - at(ages, b) || at(numbers, a) - at(numbers, b)
    return difference < 0
  }
}

const at = (column: ReadonlyArray<number>, index: number): number => column[index] as number
