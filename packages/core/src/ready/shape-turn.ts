/**
 * A tenant's open groups that match a shape of claims. If many of their tasks may be the first, these are kept in order, so that a
 * claim does not look at each. Lanes with the same id are ordered alike at any time (`policy.ts`), so one sorted
 * list for each id is exact, whatever the time of the claim.
 */
import { SmallSet } from '../small-set.js'
import type { Group, TaskRecord, TenantShare } from '../state.js'
import type { ClaimShape } from './claim-shape.js'
import { headsOf } from './group-tasks.js'
import { Lane } from './lane.js'
import type { Placements } from './placements.js'

/** A claim looks at so many tasks of a tenant one by one. */
const looksMax = 32

export class ShapeTurn {
  /** Never empty. */
  private readonly groups = new SmallSet<Group>()
  /** The tasks that may be first in their groups, by lane. `undefined` until a claim needs them, and while they are few: then a look at each is as fast. */
  heads: Map<number, Lane> | undefined = undefined

  constructor(
    readonly shape: ClaimShape,
    readonly share: TenantShare,
    private readonly places: Placements,
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
    if (this.heads !== undefined) for (const task of headsOf(group)) this.addHead(task)
  }

  remove(group: Group): void {
    this.groups.delete(group)
    if (this.heads !== undefined) for (const task of headsOf(group)) this.removeHead(task)
  }

  /** Sorts the tasks that may be first, if they are many. From now on they are kept in order. */
  sort(): void {
    if (this.heads !== undefined || !this.hasManyHeads()) return
    const { places } = this
    const byLane = new Map<number, Array<TaskRecord>>()
    for (const group of this.groups) {
      for (const task of headsOf(group)) {
        const lane = places.laneOf(task)
        const known = byLane.get(lane)
        if (known === undefined) byLane.set(lane, [task])
        else known.push(task)
      }
    }
    this.heads = new Map()
    for (const [id, tasks] of byLane) {
      const heads = new Lane(id, places.keyOf(tasks[0] as TaskRecord))
      heads.fill(tasks)
      this.heads.set(id, heads)
    }
    this.share.sorted++
  }

  private hasManyHeads(): boolean {
    if (this.groups.isLarge) return true
    let heads = 0
    for (const { few, lanes } of this.groups) heads += few.length + lanes.length
    return heads > looksMax
  }

  addHead(task: TaskRecord): void {
    const { heads, places } = this
    if (heads === undefined) return
    const id = places.laneOf(task)
    let lane = heads.get(id)
    if (lane === undefined) heads.set(id, (lane = new Lane(id, places.keyOf(task))))
    lane.add(task)
  }

  removeHead(task: TaskRecord): void {
    const { heads } = this
    if (heads === undefined) return
    const lane = heads.get(this.places.laneOf(task))
    lane?.remove(task)
    if (lane?.size === 0) heads.delete(lane.id)
  }
}
