/** Cancels a task and all tasks that depend on it (LK-12, INV-8). */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { TaskFilter } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { reject } from '../model/rejections.js'
import { isHeld, type TaskRecord } from '../records/records.js'
import { cancellable, isFinal, type Status } from '../model/task.js'
import { tasksMatching } from '../search/matching-tasks.js'
import type { Decider } from './decision.js'
import { taskById } from './lookup.js'

export const decideCancel: Decider<'Cancel'> = (command, tables, { at }) =>
  pipe(
    taskById(tables, command.task, at),
    E.chain((task) => {
      if (task.status === 'cancelled') return E.right([])
      if (task.status === 'dead-letter') {
        return E.left(reject('wrong-state', `${task.id} is a dead letter: review it with retry or discard`))
      }
      if (isFinal(task.status)) return E.left(reject('wrong-state', `${task.id} is ${task.status}, which is final`))
      return E.right([
        cancelledEvent(task, at, command.reason),
        ...cancelDependents(task, at, 'cancelled', new Set([task])),
      ] satisfies ReadonlyArray<QueueEvent>)
    }),
  )

/** Says whose lease ends with it. (A dependent is never held.) */
export const cancelledEvent = (task: TaskRecord, at: number, reason: string): QueueEvent => {
  const { id, lease } = task
  return { type: 'Cancelled', at, data: { task: id, reason, ...(isHeld(task) && lease !== null ? { agent: lease.agent, token: lease.token } : {}) } }
}

/** Maximum number of events of one command by filter; a single task with its dependents may have more. */
export const cancelMax = 1_000

export const decideCancelAll: Decider<'CancelAll'> = (command, tables, { at }) => {
  const { reason, max = cancelMax } = command
  const filter = cancellableOf(command.filter)
  const wrong = filter.statuses.find((status) => !cancellable.includes(status))
  if (wrong !== undefined) {
    return E.left(reject('invalid', `tasks that are ${wrong} cannot be cancelled; those that can are ${cancellable.join(', ')}${wrong === 'dead-letter' ? ': dead letters are discarded' : ''}`))
  }
  const seen = new Set<TaskRecord>()
  const events: Array<QueueEvent> = []
  for (const task of tasksMatching(tables, filter, command.after, at)) {
    if (events.length >= max) break
    if (seen.has(task)) continue
    seen.add(task)
    events.push(cancelledEvent(task, at, reason), ...cancelDependents(task, at, 'cancelled', seen))
  }
  return E.right(events)
}

/** The filter, with the default statuses if it names none. */
export const cancellableOf = (filter: TaskFilter): TaskFilter & { readonly statuses: ReadonlyArray<Status> } => ({
  ...filter,
  statuses: filter.statuses ?? cancellable,
})

/** Cancels all tasks that depend on `root`, directly or not, nearest first. Tasks in `seen` are left out, and the cancelled ones are added to it. */
export const cancelDependents = (
  root: TaskRecord,
  at: number,
  fate: 'cancelled' | 'discarded',
  seen: Set<TaskRecord>,
): ReadonlyArray<QueueEvent> => {
  const events: Array<QueueEvent> = []
  const queue: Array<TaskRecord> = [root]
  for (let i = 0; i < queue.length; i++) {
    const parent = queue[i] as TaskRecord
    for (const task of parent.dependents) {
      if (seen.has(task) || isFinal(task.status)) continue
      seen.add(task)
      queue.push(task)
      const reason = `Parent ${parent.id} ${parent === root ? fate : 'cancelled'}`
      events.push({ type: 'Cancelled', at, data: { task: task.id, reason } })
    }
  }
  return events
}
