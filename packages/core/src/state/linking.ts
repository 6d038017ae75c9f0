/**
 * The indexes that a task is in by its fields. A change of a task takes it out of them (`unlink`), and puts it in again (`link`). Undoing a change and
 * loading a snapshot do the same, so an index cannot disagree with its records.
 */
import type { Group } from '../records/group.js'
import { byNumber, isHeld, type TaskRecord } from '../records/records.js'
import { addToList, removeFromList } from '../structures/by-key.js'
import { SortedList } from '../structures/sorted-list.js'
import { isFinal, priorityOf, type Status } from '../model/task.js'
import { listOf } from './status-lists.js'
import type { Tables } from './tables.js'

export const numberOf = ({ number }: TaskRecord): number => number
const tokenOf = (task: TaskRecord): number => task.lease?.token ?? 0
export const delayOf = (task: TaskRecord): number => task.delayedUntil
export const leaseEndOf = (task: TaskRecord): number => task.lease?.expiresAt ?? 0
/** Leases that end at the same time are ordered by token. Tasks that were claimed together mostly finish in that order, so they are removed from the front. */
export const byToken = (a: TaskRecord, b: TaskRecord): number => tokenOf(a) - tokenOf(b) || byNumber(a, b)
const newLine = (): SortedList<TaskRecord> => new SortedList(numberOf, byNumber)
const newLeaseList = (): SortedList<TaskRecord> => new SortedList(tokenOf, byNumber)

const count = (tables: Tables, group: Group, status: Status, by: number): void => {
  tables.counts[status] += by
  if (tables.tenantCounts.isOn) tables.tenantCounts.add(group.tenant, status, by)
}

/** Tasks by a time at which something happens: two of the {@link Tables}. */
export type Timers = Record<'delays' | 'leaseEnds', { readonly add: (task: TaskRecord) => void }>

/** `timers`: what gets the tasks with a delay or a lease. A load gathers them, because these lists are filled at once. */
export const link = (tables: Tables, task: TaskRecord, timers: Timers = tables): void => {
  const { status } = task
  listOf(task).add(task)
  count(tables, task.group, status, 1)
  if (task.extras.parking !== undefined) tables.callbackKeys.add(task, task.extras.parking)
  if (task.extras.orderingKey !== undefined && !isFinal(status)) addToList(tables.lines, task.extras.orderingKey, task, newLine)
  if (status === 'pending') {
    tables.ready.add(task)
    if (task.priority === priorityOf.CRITICAL) tables.alerts.critical.add(task)
  } else if (status === 'scheduled' || status === 'waiting') timers.delays.add(task)
  else if (status === 'dead-letter') {
    tables.deadLetters.add(task)
    tables.alerts.countDeadLetter(task, 1)
    if (task.delayedUntil > 0) timers.delays.add(task)
  } else if (task.lease !== null && isHeld(task)) {
    timers.leaseEnds.add(task)
    addToList(tables.leases, task.lease.agent, task, newLeaseList)
  }
}

export const unlink = (tables: Tables, task: TaskRecord): void => {
  const { status } = task
  listOf(task).remove(task)
  count(tables, task.group, status, -1)
  if (task.extras.parking !== undefined) tables.callbackKeys.remove(task, task.extras.parking)
  if (task.extras.orderingKey !== undefined && !isFinal(status)) removeFromList(tables.lines, task.extras.orderingKey, task)
  if (status === 'pending') {
    tables.ready.remove(task)
    if (task.priority === priorityOf.CRITICAL) tables.alerts.critical.remove(task)
  } else if (status === 'scheduled' || status === 'waiting') tables.delays.remove(task)
  else if (status === 'dead-letter') {
    tables.deadLetters.remove(task)
    tables.alerts.countDeadLetter(task, -1)
    if (task.delayedUntil > 0) tables.delays.remove(task)
  } else if (task.lease !== null && isHeld(task)) {
    tables.leaseEnds.remove(task)
    removeFromList(tables.leases, task.lease.agent, task)
  }
}
