/**
 * The ready tasks of a group. A few are kept in no order: a queue may have a group for each of a million tenants, and comparing a few
 * tasks costs less than keeping them in order. From {@link fewMax} on they are in lanes (`policy.ts`), until the group is empty again.
 */
import type { Group } from '../group.js'
import { type Few, itemsOf, withItem, withoutItem } from '../small-set.js'
import type { TaskRecord } from '../state.js'
import { Lane } from './lane.js'
import type { Placements } from './placements.js'

export const fewMax = 16

export type ReadyTasks = Few<TaskRecord> | GroupLanes

/** Many ready tasks of a group, or what is left of them. */
export class GroupLanes {
  /** `all`: none is empty. */
  constructor(public all: ReadonlyArray<Lane> = noLanes) {}

  /** The lane of a task; a new one if there is none. */
  of(task: TaskRecord, places: Placements): Lane {
    const id = places.laneOf(task)
    for (const lane of this.all) if (lane.id === id) return lane
    const lane = new Lane(id, places.keyOf(task))
    this.all = [...this.all, lane]
    return lane
  }

  drop(lane: Lane): void {
    this.all = this.all.filter((other) => other !== lane)
  }
}
const noLanes: ReadonlyArray<never> = []

/** All of them. */
export const readyIn = ({ readyTasks }: Group): ReadonlyArray<TaskRecord> =>
  readyTasks instanceof GroupLanes ? readyTasks.all.flatMap((lane) => [...lane]) : itemsOf(readyTasks)

/** The lanes, if there are so many tasks that they are in lanes. */
export const lanesIn = ({ readyTasks }: Group): ReadonlyArray<Lane> => (readyTasks instanceof GroupLanes ? readyTasks.all : noLanes)

/** Those that may be the group's first, whatever the time: a few, or the first tasks of the lanes. */
export const headsOf = ({ readyTasks }: Group): ReadonlyArray<TaskRecord> =>
  readyTasks instanceof GroupLanes ? readyTasks.all.map((lane) => lane.first() as TaskRecord) : itemsOf(readyTasks)

/** What is told of changes to {@link headsOf}. */
export interface HeadsWatcher {
  readonly addHead: (task: TaskRecord) => void
  readonly removeHead: (task: TaskRecord) => void
}

/** The task is in `places`. */
export const addToGroup = (task: TaskRecord, places: Placements, watchers: ReadonlyArray<HeadsWatcher>): void => {
  const { group } = task
  let { readyTasks } = group
  if (!(readyTasks instanceof GroupLanes)) {
    if (!Array.isArray(readyTasks) || readyTasks.length < fewMax) {
      group.readyTasks = withItem(readyTasks, task)
      for (const watcher of watchers) watcher.addHead(task)
      return
    }
    readyTasks = intoLanes(group, readyTasks, places, watchers)
  }
  const lane = readyTasks.of(task, places)
  const before = lane.first()
  lane.add(task)
  if (lane.first() === task) for (const watcher of watchers) replaceHead(watcher, before, task)
}

/** The same for many tasks, without watchers: after it, {@link sortAdded} must be called for each group. */
export const addUnsorted = (task: TaskRecord): void => {
  const { group } = task
  if (!(group.readyTasks instanceof GroupLanes)) group.readyTasks = withItem(group.readyTasks, task)
}

export const sortAdded = (group: Group, places: Placements): void => {
  const { readyTasks } = group
  if (Array.isArray(readyTasks) && readyTasks.length > fewMax) group.readyTasks = new GroupLanes([...lanesOf(readyTasks, places).values()])
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
  const { readyTasks } = group
  if (!(readyTasks instanceof GroupLanes)) {
    group.readyTasks = withoutItem(readyTasks, task)
    for (const watcher of watchers) watcher.removeHead(task)
    return
  }
  const lane = readyTasks.of(task, places)
  const isFirst = lane.first() === task
  lane.remove(task)
  if (isFirst) for (const watcher of watchers) replaceHead(watcher, task, lane.first())
  if (lane.size > 0) return
  if (readyTasks.all.length > 1) readyTasks.drop(lane)
  else group.readyTasks = undefined
}

const intoLanes = (group: Group, few: ReadonlyArray<TaskRecord>, places: Placements, watchers: ReadonlyArray<HeadsWatcher>): GroupLanes => {
  for (const watcher of watchers) for (const task of few) watcher.removeHead(task)
  const lanes = new GroupLanes()
  group.readyTasks = lanes
  for (const task of few) lanes.of(task, places).add(task)
  for (const watcher of watchers) for (const task of headsOf(group)) watcher.addHead(task)
  return lanes
}

const replaceHead = (watcher: HeadsWatcher, before: TaskRecord | undefined, after: TaskRecord | undefined): void => {
  if (before !== undefined) watcher.removeHead(before)
  if (after !== undefined) watcher.addHead(after)
}
