/** The tasks that may be the first of their groups, kept in order by lane, so that a claim need not look at each group. */
import type { Group } from '../records/group.js'
import type { TaskRecord } from '../records/records.js'
import { headsOf } from './group-tasks.js'
import { Lane } from './lane.js'
import type { Placements } from './placements.js'

export class Heads {
  private readonly byLane = new Map<number, Lane>()
  /** An array of only this object, made once. */
  readonly alone: ReadonlyArray<Heads> = [this]

  constructor(
    private readonly places: Placements,
    groups: Iterable<Group>,
  ) {
    for (const group of groups) this.addGroup(group)
  }

  lanes(): Iterable<Lane> {
    return this.byLane.values()
  }

  addGroup(group: Group): void {
    for (const task of headsOf(group)) this.addHead(task)
  }

  removeGroup(group: Group): void {
    for (const task of headsOf(group)) this.removeHead(task)
  }

  /** Adds a task that may now be the first of its group. */
  addHead(task: TaskRecord): void {
    const { byLane, places } = this
    const id = places.laneOf(task)
    let lane = byLane.get(id)
    if (lane === undefined) byLane.set(id, (lane = new Lane(id, places.keyOf(task))))
    lane.add(task)
  }

  /** Removes a task that can no longer be the first of its group, or has left it. */
  removeHead(task: TaskRecord): void {
    const lane = this.byLane.get(this.places.laneOf(task))
    lane?.remove(task)
    if (lane?.size === 0) this.byLane.delete(lane.id)
  }
}
