/**
 * A tenant's open groups that match a shape of claims. If they are many, the first tasks of their lanes are kept in order, so
 * that a claim does not look at each group. Lanes with the same id are ordered alike at any time (`policy.ts`), so one sorted
 * list for each id is exact, whatever the time of the claim.
 */
import { SmallSet } from '../small-set.js'
import type { Group, TaskRecord, TenantShare } from '../state.js'
import type { ClaimShape } from './claim-shape.js'
import type { Lane } from './lane.js'

export class ShapeTurn {
  /** Never empty. */
  private readonly groups = new SmallSet<Group>()
  /** The first tasks of all lanes of the groups, by the lanes' id. `undefined` until a claim needs them, and while the groups are few: then a look at each is as fast. */
  heads: Map<number, Lane> | undefined = undefined

  constructor(
    readonly shape: ClaimShape,
    readonly share: TenantShare,
    group: Group,
  ) {
    this.groups.add(group)
  }

  get hasGroups(): boolean {
    return this.groups.size > 0
  }

  [Symbol.iterator](): Iterator<Group> {
    return this.groups[Symbol.iterator]()
  }

  /** Whether this group is one of them. */
  has(group: Group): boolean {
    return group.isOpen && group.share === this.share && this.shape.matches(group)
  }

  add(group: Group): void {
    this.groups.add(group)
    if (this.heads !== undefined) for (const lane of group.lanes) this.moveHead(lane, undefined, lane.first())
  }

  remove(group: Group): void {
    this.groups.delete(group)
    if (this.heads !== undefined) for (const lane of group.lanes) this.moveHead(lane, lane.first(), undefined)
  }

  /** Sorts the first tasks, if the groups are many. From now on they are kept in order. */
  sort(): void {
    if (this.heads !== undefined || !this.groups.isLarge) return
    const firsts = new Map<number, { readonly heads: Lane; readonly tasks: Array<TaskRecord> }>()
    for (const { lanes } of this.groups) {
      for (const lane of lanes) {
        const task = lane.first()
        if (task === undefined) continue
        const known = firsts.get(lane.id)
        if (known === undefined) firsts.set(lane.id, { heads: lane.alike(), tasks: [task] })
        else known.tasks.push(task)
      }
    }
    this.heads = new Map()
    for (const [id, { heads, tasks }] of firsts) {
      heads.fill(tasks)
      this.heads.set(id, heads)
    }
    this.share.sorted++
  }

  /** A lane of one of the groups has another first task. */
  moveHead(lane: Lane, before: TaskRecord | undefined, after: TaskRecord | undefined): void {
    const { heads } = this
    if (heads === undefined) return
    let tasks = heads.get(lane.id)
    if (tasks === undefined) heads.set(lane.id, (tasks = lane.alike()))
    if (before !== undefined) tasks.remove(before)
    if (after !== undefined) tasks.add(after)
    if (tasks.size === 0) heads.delete(lane.id)
  }
}
