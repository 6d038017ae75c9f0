/** The tasks that may be first in their groups, kept in order by lane, so that a claim does not look at each group. */
import type { Group } from '../group.js'
import type { TaskRecord } from '../state.js'
import { headsOf, type HeadsWatcher, lanesOf } from './group-tasks.js'
import { Lane } from './lane.js'
import type { Placements } from './placements.js'

export class Heads implements HeadsWatcher {
  private readonly byLane: Map<number, Lane>
  /** Itself. */
  readonly asWatchers: ReadonlyArray<HeadsWatcher> = [this]

  constructor(
    private readonly places: Placements,
    groups: Iterable<Group>,
  ) {
    this.byLane = lanesOf(Array.from(groups, headsOf).flat(), places)
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

  addHead(task: TaskRecord): void {
    const { byLane, places } = this
    const id = places.laneOf(task)
    let lane = byLane.get(id)
    if (lane === undefined) byLane.set(id, (lane = new Lane(id, places.keyOf(task))))
    lane.add(task)
  }

  removeHead(task: TaskRecord): void {
    const lane = this.byLane.get(this.places.laneOf(task))
    lane?.remove(task)
    if (lane?.size === 0) this.byLane.delete(lane.id)
  }
}
