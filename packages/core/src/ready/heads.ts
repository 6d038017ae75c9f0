/** The tasks that may be the first of their groups, kept in order by lane, so that a claim need not look at each group. */
import type { Group } from '../records/group.js'
import type { TaskRecord } from '../records/records.js'
import { GroupLanes, headsOf, type HeadsWatcher } from './group-tasks.js'
import { itemsOf } from '../structures/small-set.js'
import { Lane, type LaneKind } from './lane.js'
import type { Placements } from './placements.js'

export class Heads implements HeadsWatcher {
  private readonly byLane: Map<number, Lane>
  /** An array of only this object, made once. */
  readonly asWatchers: ReadonlyArray<HeadsWatcher> = [this]

  constructor(
    private readonly places: Placements,
    groups: Iterable<Group>,
  ) {
    this.byLane = lanesOf(groups, places)
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
    if (lane === undefined) byLane.set(id, (lane = new Lane({ id, keyOf: places.keyOf(task) })))
    lane.add(task)
  }

  removeHead(task: TaskRecord): void {
    const lane = this.byLane.get(this.places.laneOf(task))
    lane?.remove(task)
    if (lane?.size === 0) this.byLane.delete(lane.id)
  }
}

/**
 * The tasks that may be the first of their groups, by lane. A task in a lane of its group already has its key there, so its record, which may be
 * anywhere in memory, is not read.
 */
const lanesOf = (groups: Iterable<Group>, places: Placements): Map<number, Lane> => {
  const byLane = new Map<number, { readonly kind: LaneKind; readonly tasks: Array<TaskRecord>; readonly keys: Array<number> }>()
  const add = (kind: LaneKind, task: TaskRecord, key: number): void => {
    let lane = byLane.get(kind.id)
    if (lane === undefined) byLane.set(kind.id, (lane = { kind, tasks: [], keys: [] }))
    lane.tasks.push(task)
    lane.keys.push(key)
  }
  for (const { readyTasks } of groups) {
    if (readyTasks instanceof GroupLanes) readyTasks.eachFirst(add)
    else
      for (const task of itemsOf(readyTasks)) {
        const keyOf = places.keyOf(task)
        add({ id: places.laneOf(task), keyOf }, task, keyOf(task))
      }
  }
  const lanes = new Map<number, Lane>()
  for (const [id, { kind, tasks, keys }] of byLane) {
    const lane = new Lane(kind)
    lane.fill(tasks, keys)
    lanes.set(id, lane)
  }
  return lanes
}
