/** Applies an event to one task. An event that does not fit the task counts as a misfit and changes nothing. */
import { isHeld, type Lease, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import type { Status } from '../model/task.js'

/** Counts an event that does not fit the state. */
export const misfit = ({ head }: Tables): void => void head.misfits++

/** Changes the task if its status `fits`. */
export const on = (tables: Tables, id: string, fits: (status: Status) => boolean, change: (task: TaskRecord) => void): void => {
  const task = tables.byId.get(id)
  if (task !== undefined && fits(task.status)) tables.update(task, change, tables.head.revision)
  else misfit(tables)
}

type HeldTask = TaskRecord & { lease: Lease }
const holds = (task: TaskRecord | undefined, token: number): task is HeldTask =>
  task !== undefined && isHeld(task) && task.lease?.token === token

/** Changes the task if this claim of it is a live lease. */
export const onHeld = (
  tables: Tables,
  held: { readonly task: string; readonly agent: string; readonly token: number },
  change: (task: HeldTask) => void,
): void => {
  const task = tables.held(held) ?? tables.byId.get(held.task)
  if (holds(task, held.token)) tables.update(task, change, tables.head.revision)
  else misfit(tables)
}

/** Sets the status of a task that nobody holds: blocked, scheduled or pending. */
export const rest = (task: TaskRecord, availableAt: number, at: number): void => {
  task.delayedUntil = 0
  if (task.missing > 0) task.status = 'blocked'
  else if (availableAt > at) {
    task.status = 'scheduled'
    task.delayedUntil = availableAt
  } else task.status = 'pending'
}
