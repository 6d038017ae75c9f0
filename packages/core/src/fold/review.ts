/** The decisions of reviewers about dead letters, other than sending them back or discarding them at once (LK-11). */
import type { EventOf } from '../model/events.js'
import { rankOf, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { isFinal, type Status } from '../model/task.js'
import { misfit, on } from './change.js'

const isDead = (status: Status): boolean => status === 'dead-letter'

export const snoozed = (tables: Tables, { at, data: { task: id, until, reviewer, reason } }: EventOf<'Snoozed'>): void =>
  on(tables, id, isDead, (task) => {
    task.delayedUntil = until
    task.extras = { ...task.extras, snooze: { at, reviewer, reason } }
  })

export const snoozeLapsed = (tables: Tables, { data }: EventOf<'SnoozeLapsed'>): void =>
  on(tables, data.task, isDead, (task) => {
    const { snooze: _, ...kept } = task.extras
    task.delayedUntil = 0
    task.extras = kept
  })

export const escalated = (tables: Tables, { at, data: { task: id, reviewer, reason } }: EventOf<'Escalated'>): void =>
  on(tables, id, isDead, (task) => {
    task.extras = { ...task.extras, escalated: { at, reviewer, reason } }
  })

export const redriveStarted = ({ head }: Tables, { at, data }: EventOf<'RedriveStarted'>): void => {
  if ((head.redrive?.nextAt ?? 0) > 0) head.misfits++
  else head.redrive = { ...data, startedAt: at, retried: 0, nextAt: at, after: -1, epochs: {} }
}

export const redriveStopped = ({ head }: Tables, { at, data: { cause, taskType } }: EventOf<'RedriveStopped'>): void => {
  if (head.redrive === null || head.redrive.nextAt === 0) head.misfits++
  else head.redrive = { ...head.redrive, nextAt: 0, stopped: { at, cause, ...(taskType === undefined ? {} : { taskType }) } }
}

/** A dead letter that has moved forward is still to come. Those between it and the last one are seen again, and only those that are still meant are sent back. */
export const redriveReaches = ({ head }: Tables, task: Pick<TaskRecord, 'priority' | 'number'>): void => {
  if (head.redrive !== null && head.redrive.after >= rankOf(task)) head.redrive = { ...head.redrive, after: rankOf(task) - 1 }
}

export const redriveAdvanced = (tables: Tables, { data: { task: id, nextAt } }: EventOf<'RedriveAdvanced'>): void => {
  const { head, breakers, byId } = tables
  const { redrive } = head
  const task = byId.get(id)
  if (redrive === null || redrive.nextAt === 0 || task === undefined || isFinal(task.status)) return misfit(tables)
  // The escalation is one of the task's events.
  tables.update(task, () => undefined, head.revision)
  const { type } = task.group
  const epochs = Object.hasOwn(redrive.epochs, type) ? redrive.epochs : Object.fromEntries([...Object.entries(redrive.epochs), [type, breakers.get(type)?.epoch ?? 0]])
  head.redrive = { ...redrive, retried: redrive.retried + 1, after: rankOf(task), nextAt, epochs }
}
