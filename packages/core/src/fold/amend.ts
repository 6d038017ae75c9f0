/** The effect of a change to a task that nobody holds. */
import type { EventOf } from '../model/events.js'
import { isFinal, type Status } from '../model/task.js'
import type { TaskExtras } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { on, rest } from './change.js'
import { redriveReaches } from './review.js'

const canBeAmended = (status: Status): boolean => status !== 'in-progress' && status !== 'incomplete' && !isFinal(status)

export const taskAmended = (tables: Tables, { data }: EventOf<'TaskAmended'>): void => {
  const { task: id, priority, deadlineAt, availableAt, formerContentRevision } = data
  const { head } = tables
  on(tables, id, canBeAmended, (task) => {
    if (priority !== undefined) {
      task.priority = priority
      if (task.status === 'dead-letter') redriveReaches(tables, task)
    }
    let { extras } = task
    if (deadlineAt !== undefined) extras = withTime(extras, 'deadlineAt', deadlineAt)
    if (availableAt !== undefined) extras = withTime(extras, 'availableAt', availableAt)
    if (formerContentRevision !== undefined) extras = { ...extras, contentRevision: head.revision }
    task.extras = extras
    if (availableAt !== undefined && (task.status === 'pending' || task.status === 'scheduled')) rest(task, availableAt ?? 0, head.at)
  })
}

const withTime = (extras: TaskExtras, name: 'deadlineAt' | 'availableAt', time: number | null): TaskExtras => {
  const { [name]: _, ...others } = extras
  return time === null ? others : { ...others, [name]: time }
}
