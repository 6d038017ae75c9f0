/**
 * The ready tasks of a group. Fewer than {@link fewMax} are kept unsorted: a queue may have a group for each of a million tenants, and comparing a
 * few tasks costs less than keeping them in order. More are kept in lanes (`policy.ts`), until the group is empty again.
 */
import type { Group } from '../records/group.js'
import { type Few, itemsOf, withItem, withoutItem } from '../structures/small-set.js'
import type { TaskRecord } from '../records/records.js'
import type { Heads } from './heads.js'
import { Lane } from './lane.js'
import type { Placements } from './placements.js'

export const fewMax = 16

export type ReadyTasks = Few<TaskRecord> | GroupLanes

/** The lanes of a group that has, or had, many ready tasks. */
export class GroupLanes {
  /** No lane is empty. */
  all: ReadonlyArray<Lane> = noLanes

  /** The lane of a task, made if it does not exist. */
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

/** All ready tasks of the group. */
export const readyIn = ({ readyTasks }: Group): ReadonlyArray<TaskRecord> =>
  readyTasks instanceof GroupLanes ? readyTasks.all.flatMap((lane) => [...lane]) : itemsOf(readyTasks)

/** The lanes; empty if the group has too few tasks for lanes. */
export const lanesIn = ({ readyTasks }: Group): ReadonlyArray<Lane> => (readyTasks instanceof GroupLanes ? readyTasks.all : noLanes)

/** The tasks that may be the group's first at some time: all of a few, or the first task of each lane. */
export const headsOf = ({ readyTasks }: Group): ReadonlyArray<TaskRecord> =>
  readyTasks instanceof GroupLanes ? readyTasks.all.map((lane) => lane.first() as TaskRecord) : itemsOf(readyTasks)

/** `orders`: the orders of first tasks that have those of the group. `places` must have the task already. */
export const addToGroup = (task: TaskRecord, places: Placements, orders: ReadonlyArray<Heads>): void => {
  const { group } = task
  let { readyTasks } = group
  if (!(readyTasks instanceof GroupLanes)) {
    if (!Array.isArray(readyTasks) || readyTasks.length < fewMax) {
      group.readyTasks = withItem(readyTasks, task)
      for (const order of orders) order.addHead(task)
      return
    }
    readyTasks = intoLanes(group, readyTasks, places, orders)
  }
  const lane = readyTasks.of(task, places)
  const before = lane.first()
  lane.add(task)
  if (lane.first() === task) for (const order of orders) replaceHead(order, before, task)
}

/** `places` must still have the task. */
export const removeFromGroup = (task: TaskRecord, places: Placements, orders: ReadonlyArray<Heads>): void => {
  const { group } = task
  const { readyTasks } = group
  if (!(readyTasks instanceof GroupLanes)) {
    group.readyTasks = withoutItem(readyTasks, task)
    for (const order of orders) order.removeHead(task)
    return
  }
  const lane = readyTasks.of(task, places)
  const isFirst = lane.first() === task
  lane.remove(task)
  if (isFirst) for (const order of orders) replaceHead(order, task, lane.first())
  if (lane.size > 0) return
  if (readyTasks.all.length > 1) readyTasks.drop(lane)
  else group.readyTasks = undefined
}

const intoLanes = (group: Group, few: ReadonlyArray<TaskRecord>, places: Placements, orders: ReadonlyArray<Heads>): GroupLanes => {
  for (const order of orders) for (const task of few) order.removeHead(task)
  const lanes = new GroupLanes()
  group.readyTasks = lanes
  for (const task of few) lanes.of(task, places).add(task)
  for (const order of orders) for (const task of headsOf(group)) order.addHead(task)
  return lanes
}

const replaceHead = (order: Heads, before: TaskRecord | undefined, after: TaskRecord | undefined): void => {
  if (before !== undefined) order.removeHead(before)
  if (after !== undefined) order.addHead(after)
}
