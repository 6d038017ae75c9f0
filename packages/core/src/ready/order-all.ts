/**
 * Puts all ready tasks in order at once. Sorted by group, their records are scattered in memory, and a cache miss takes as long as a hundred
 * additions. So the fields that the order needs are read once, by number, in the order in which the records were made.
 */
import type { Group } from '../records/group.js'
import type { TaskRecord } from '../records/records.js'
import { fewMax, GroupLanes } from './group-tasks.js'
import type { LaneKind } from './lane.js'
import type { Placements } from './placements.js'

/**
 * A group with more tasks than this gets its lanes at once. A claim looks at up to 16 groups first, and must not wait until lanes are made for more
 * than a few thousand tasks.
 */
const laterMax = 256

/**
 * `tasks`: all ready tasks, by number. `groups`: their groups, which so far only have their number of tasks. Cost: O(n) if lanes are in the order of
 * numbers, as most are.
 */
export const orderAll = (tasks: ReadonlyArray<TaskRecord>, groups: ReadonlyArray<Group>, places: Placements): void => {
  const groupNumbers = new Map(groups.map((group, number) => [group, number]))
  const laneNumbers = new Map<number, number>()
  const kinds: Array<LaneKind> = []
  const early: Array<TaskRecord> = []
  const groupOf = new Int32Array(tasks.length)
  const laneOf = new Int32Array(tasks.length)
  const keyOf = new Float64Array(tasks.length)
  for (let at = 0; at < tasks.length; at++) {
    const task = tasks[at] as TaskRecord
    if (places.isEarly(task)) early.push(task)
    else places.add(task)
    const id = places.laneOf(task)
    let lane = laneNumbers.get(id)
    if (lane === undefined) {
      lane = kinds.push({ id, keyOf: places.keyOf(task) }) - 1
      laneNumbers.set(id, lane)
    }
    laneOf[at] = lane
    groupOf[at] = groupNumbers.get(task.group) as number
    keyOf[at] = (kinds[lane] as LaneKind).keyOf(task)
  }

  places.fillEarly(early)

  // By group, then by lane, then by number.
  const order = sortedBy(groupOf, groups.length, sortedBy(laneOf, kinds.length, Int32Array.from(tasks.keys())))
  const sorted = Array.from(order, (at) => tasks[at] as TaskRecord)
  const keys = Array.from(order, (at) => keyOf[at] as number)
  const laneAt = (place: number): number => laneOf[order[place] as number] as number
  let from = 0
  for (const group of groups) {
    const to = from + group.ready
    if (group.ready === 1) group.readyTasks = sorted[from] as TaskRecord
    else if (group.ready <= fewMax) group.readyTasks = sorted.slice(from, to)
    else {
      const laneKinds: Array<LaneKind> = []
      const ends: Array<number> = []
      for (let end = from; end < to; ends.push(end - from)) {
        const lane = laneAt(end)
        while (end < to && laneAt(end) === lane) end++
        laneKinds.push(kinds[lane] as LaneKind)
      }
      const lanes = new GroupLanes({ kinds: laneKinds, ends, tasks: sorted.slice(from, to), keys: keys.slice(from, to) })
      if (group.ready > laterMax) lanes.make()
      group.readyTasks = lanes
    }
    from = to
  }
}

/** `places`, sorted by `numberOf`, whose numbers are from 0 to `count`. Stable. */
const sortedBy = (numberOf: Int32Array, count: number, places: Int32Array): Int32Array => {
  const next = new Int32Array(count + 1)
  for (const place of places) (next[(numberOf[place] as number) + 1] as number)++
  for (let number = 0; number < count; number++) (next[number + 1] as number) += next[number] as number
  const sorted = new Int32Array(places.length)
  for (const place of places) sorted[(next[numberOf[place] as number] as number)++] = place
  return sorted
}
