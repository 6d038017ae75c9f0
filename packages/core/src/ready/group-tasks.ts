/**
 * The ready tasks of a group. Fewer than {@link fewMax} are kept unsorted: a queue may have a group for each of a million tenants, and comparing a
 * few tasks costs less than keeping them in order. More are kept in lanes (`policy.ts`), until the group is empty again.
 */
import type { Group } from '../records/group.js'
import { type Few, itemsOf, withItem, withoutItem } from '../structures/small-set.js'
import type { TaskRecord } from '../records/records.js'
import { Lane, type LaneKind } from './lane.js'
import type { Placements } from './placements.js'
import { byPriorityThenAge } from './policy.js'

export const fewMax = 16

export type ReadyTasks = Few<TaskRecord> | GroupLanes

/** Lanes that are still to be made: the tasks of one lane after the other, and their keys. Within a lane the tasks are in any order. */
export interface LanesToMake {
  readonly kinds: ReadonlyArray<LaneKind>
  /** The index in the arrays at which each lane ends. */
  readonly ends: ReadonlyArray<number>
  readonly tasks: ReadonlyArray<TaskRecord>
  readonly keys: ReadonlyArray<number>
}

/** The ready tasks of a group that has, or had, many. After a replay, the first use makes the lanes: there may be a million groups with a few tasks each. */
export class GroupLanes {
  private made: ReadonlyArray<Lane> = noLanes

  constructor(private toMake?: LanesToMake) {}

  /** All lanes. No lane is empty. */
  get all(): ReadonlyArray<Lane> {
    if (this.toMake !== undefined) this.make()
    return this.made
  }

  /** Makes the lanes now. */
  make(): void {
    if (this.toMake === undefined) return
    const { kinds, ends, tasks, keys } = this.toMake
    this.toMake = undefined
    this.made = kinds.map((kind, i) => {
      const lane = new Lane(kind)
      const from = i === 0 ? 0 : ends[i - 1]
      lane.fill(tasks.slice(from, ends[i]), keys.slice(from, ends[i]))
      return lane
    })
  }

  /** The lane of a task, made if it does not exist. */
  of(task: TaskRecord, places: Placements): Lane {
    const id = places.laneOf(task)
    for (const lane of this.all) if (lane.id === id) return lane
    const lane = new Lane({ id, keyOf: places.keyOf(task) })
    this.made = [...this.made, lane]
    return lane
  }

  drop(lane: Lane): void {
    this.made = this.all.filter((other) => other !== lane)
  }

  /** Visits the first task of each lane, without making lanes. */
  eachFirst(visit: (lane: LaneKind, task: TaskRecord, key: number) => void): void {
    if (this.toMake === undefined) {
      for (const lane of this.made) visit(lane, lane.first() as TaskRecord, lane.firstKey())
      return
    }
    const { kinds, ends, tasks, keys } = this.toMake
    let from = 0
    kinds.forEach((kind, i) => {
      const end = ends[i] as number
      let first = from
      for (let at = from + 1; at < end; at++) {
        const difference = (keys[at] as number) - (keys[first] as number)
        if (difference < 0 || (difference === 0 && byPriorityThenAge(tasks[at] as TaskRecord, tasks[first] as TaskRecord) < 0)) first = at
      }
      visit(kind, tasks[first] as TaskRecord, keys[first] as number)
      from = end
    })
  }
}
const noLanes: ReadonlyArray<never> = []

/** All ready tasks of the group. */
export const readyIn = ({ readyTasks }: Group): ReadonlyArray<TaskRecord> =>
  readyTasks instanceof GroupLanes ? readyTasks.all.flatMap((lane) => [...lane]) : itemsOf(readyTasks)

/** The lanes; empty if the group has too few tasks for lanes. */
export const lanesIn = ({ readyTasks }: Group): ReadonlyArray<Lane> => (readyTasks instanceof GroupLanes ? readyTasks.all : noLanes)

/** The tasks that may be the group's first at some time: all of a few, or the first task of each lane. */
export const headsOf = ({ readyTasks }: Group): ReadonlyArray<TaskRecord> =>
  readyTasks instanceof GroupLanes ? readyTasks.all.map((lane) => lane.first() as TaskRecord) : itemsOf(readyTasks)

/** An observer of changes to {@link headsOf}. */
export interface HeadsWatcher {
  readonly addHead: (task: TaskRecord) => void
  readonly removeHead: (task: TaskRecord) => void
}

/** `places` must have the task already. */
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

/** `places` must still have the task. */
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
