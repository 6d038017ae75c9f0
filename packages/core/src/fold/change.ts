/** How an event changes one task; one that does not fit the task it meets is counted and changes nothing. */
import { isHeld, type Lease, type TaskRecord } from '../state.js'
import type { Tables } from '../tables.js'
import type { Status } from '../task.js'

/** The task if its status `fits`. */
export const on = (tables: Tables, id: string, fits: (status: Status) => boolean, change: (task: TaskRecord) => void): void => {
  const task = tables.byId.get(id)
  if (task === undefined || !fits(task.status)) {
    tables.head.misfits++
    return
  }
  tables.update(task, (record) => {
    record.lastRevision = tables.head.revision
    change(record)
  })
}

/** The task if this claim of it is a live lease. */
export const onHeld = (
  tables: Tables,
  held: { readonly task: string; readonly token: number },
  change: (task: TaskRecord, lease: Lease) => void,
): void => {
  const task = tables.byId.get(held.task)
  const lease = task?.lease
  if (task === undefined || !lease || !isHeld(task) || lease.token !== held.token) {
    tables.head.misfits++
    return
  }
  tables.update(task, (record) => {
    record.lastRevision = tables.head.revision
    change(record, lease)
  })
}

/** The status of a task that nobody holds: waiting for others, for a time, or ready. */
export const rest = (task: TaskRecord, availableAt: number, at: number): void => {
  task.dueAt = 0
  if (task.missing > 0) task.status = 'blocked'
  else if (availableAt > at) {
    task.status = 'scheduled'
    task.dueAt = availableAt
  } else task.status = 'pending'
}
