/**
 * A tenant's open groups that match a shape of claims. If they are many, the first tasks of their lanes are kept in order, so
 * that a claim does not look at each group. Lanes with the same id are ordered alike at any time (`policy.ts`), so one sorted
 * list for each id is exact, whatever the time of the claim.
 */
import type { Group, TaskRecord, TenantShare } from '../state.js'
import type { ClaimShape } from './claim-shape.js'
import type { Lane } from './lane.js'

/** With more groups than this, first tasks are kept in order. Below it, a look at each is as fast. */
const fewMax = 16

export class ShapeTurn {
  /** Never empty. A set if they are many, because groups come and go. */
  private groups: Array<Group> | Set<Group>
  /** The first tasks of all lanes of the groups, by the lanes' id. `undefined` until a claim needs them. */
  heads: Map<number, Lane> | undefined = undefined

  constructor(
    readonly shape: ClaimShape,
    readonly share: TenantShare,
    group: Group,
  ) {
    this.groups = [group]
  }

  get hasGroups(): boolean {
    return size(this.groups) > 0
  }

  [Symbol.iterator](): Iterator<Group> {
    return this.groups[Symbol.iterator]()
  }

  /** Whether this group is one of them. */
  has(group: Group): boolean {
    return group.isOpen && group.share === this.share && this.shape.matches(group)
  }

  add(group: Group): void {
    const { groups } = this
    if (groups instanceof Set) groups.add(group)
    else if (groups.push(group) > fewMax) this.groups = new Set(groups)
    if (this.heads !== undefined) for (const lane of group.lanes) this.moveHead(lane, undefined, lane.first())
  }

  remove(group: Group): void {
    const { groups } = this
    if (groups instanceof Set) groups.delete(group)
    else {
      groups[groups.indexOf(group)] = groups[groups.length - 1] as Group
      groups.pop()
    }
    if (this.heads !== undefined) for (const lane of group.lanes) this.moveHead(lane, lane.first(), undefined)
  }

  /** Sorts the first tasks, if the groups are many. From now on they are kept in order. */
  sort(): void {
    if (this.heads !== undefined || !(this.groups instanceof Set)) return
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

const size = (groups: Array<Group> | Set<Group>): number => (groups instanceof Set ? groups.size : groups.length)
