/**
 * The ready tasks of a group. A few are kept in no order: a queue may have a group for each of a million tenants, and comparing a few
 * tasks costs less than keeping them in order. From {@link fewMax} on they are in lanes (`policy.ts`), until the group is empty again.
 */
import type { Group, TaskRecord } from '../state.js'
import { Lane } from './lane.js'
import type { Placements } from './placements.js'

export const fewMax = 16
/** The tasks of a group without any. It is replaced before the first one is added. */
export const noReady: Array<TaskRecord> = []
export const noLanes: ReadonlyArray<never> = []

/** All of them. */
export const readyIn = ({ few, lanes }: Group): ReadonlyArray<TaskRecord> => (lanes.length === 0 ? few : lanes.flatMap((lane) => [...lane]))

/** Those that may be the group's first, whatever the time: a few, or the first tasks of the lanes. */
export const headsOf = ({ few, lanes }: Group): ReadonlyArray<TaskRecord> =>
  lanes.length === 0 ? few : lanes.map((lane) => lane.first() as TaskRecord)

/** What is told of changes to {@link headsOf}. */
export interface HeadsWatcher {
  readonly addHead: (task: TaskRecord) => void
  readonly removeHead: (task: TaskRecord) => void
}

/** The task is in `places`. */
export const addToGroup = (task: TaskRecord, places: Placements, watchers: ReadonlyArray<HeadsWatcher>): void => {
  const { group } = task
  if (group.lanes.length === 0) {
    if (group.few.length < fewMax) {
      if (group.few === noReady) group.few = [task]
      else group.few.push(task)
      for (const watcher of watchers) watcher.addHead(task)
      return
    }
    intoLanes(group, places, watchers)
  }
  const lane = laneOf(group, task, places)
  const before = lane.first()
  lane.add(task)
  if (lane.first() === task) for (const watcher of watchers) replaceHead(watcher, before, task)
}

/** The same for many tasks, without watchers: after it, {@link sortAdded} must be called for each group. */
export const addUnsorted = (task: TaskRecord): void => {
  const { group } = task
  if (group.few === noReady) group.few = [task]
  else group.few.push(task)
}

export const sortAdded = (group: Group, places: Placements): void => {
  const { few } = group
  if (few.length <= fewMax) return
  group.few = noReady
  group.lanes = [...lanesOf(few, places).values()]
}

/** The tasks by lane. Those that come in the order of their lanes cost O(1) each. */
export const lanesOf = (tasks: Iterable<TaskRecord>, places: Placements): Map<number, Lane> => {
  const byLane = new Map<number, Array<TaskRecord>>()
  for (const task of tasks) {
    const id = places.laneOf(task)
    const known = byLane.get(id)
    if (known === undefined) byLane.set(id, [task])
    else known.push(task)
  }
  const lanes = new Map<number, Lane>()
  for (const [id, ofLane] of byLane) {
    const lane = new Lane(id, places.keyOf(ofLane[0] as TaskRecord))
    lane.fill(ofLane)
    lanes.set(id, lane)
  }
  return lanes
}

/** The task is in `places` still. */
export const removeFromGroup = (task: TaskRecord, places: Placements, watchers: ReadonlyArray<HeadsWatcher>): void => {
  const { group } = task
  if (group.lanes.length === 0) {
    const { few } = group
    const last = few.pop() as TaskRecord
    if (last !== task) few[few.indexOf(task)] = last
    if (few.length === 0) group.few = noReady
    for (const watcher of watchers) watcher.removeHead(task)
    return
  }
  const lane = laneOf(group, task, places)
  const isFirst = lane.first() === task
  lane.remove(task)
  if (isFirst) for (const watcher of watchers) replaceHead(watcher, task, lane.first())
  if (lane.size === 0) group.lanes = group.lanes.length === 1 ? noLanes : group.lanes.filter((other) => other !== lane)
}

const intoLanes = (group: Group, places: Placements, watchers: ReadonlyArray<HeadsWatcher>): void => {
  const { few } = group
  for (const watcher of watchers) for (const task of few) watcher.removeHead(task)
  group.few = noReady
  for (const task of few) laneOf(group, task, places).add(task)
  for (const watcher of watchers) for (const task of headsOf(group)) watcher.addHead(task)
}

const replaceHead = (watcher: HeadsWatcher, before: TaskRecord | undefined, after: TaskRecord | undefined): void => {
  if (before !== undefined) watcher.removeHead(before)
  if (after !== undefined) watcher.addHead(after)
}

/** The lane of a task in its group; a new one if there is none. */
const laneOf = (group: Group, task: TaskRecord, places: Placements): Lane => {
  const id = places.laneOf(task)
  for (const lane of group.lanes) if (lane.id === id) return lane
  const lane = new Lane(id, places.keyOf(task))
  group.lanes = [...group.lanes, lane]
  return lane
}
