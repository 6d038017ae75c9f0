/** Puts a task before all others, and lets it start beyond capacity (TQM-BUMP). */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { activeAgents } from '../state/capacity.js'
import type { QueueEvent } from '../model/events.js'
import { plural } from '../text/plural.js'
import { reject, type Rejection } from '../model/rejections.js'
import { isBumped, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import type { Decider } from './decision.js'
import { taskById } from './lookup.js'

/** The largest number of bumped tasks that wait at the same time. Each claim looks at all of them. */
export const bumpedMax = 100

export const decideBump: Decider<'Bump'> = (command, tables, { at }) =>
  pipe(
    taskById(tables, command.task, at),
    E.chain((task) => {
      const obstacle = obstacleTo(task, tables)
      if (obstacle !== undefined) return E.left(obstacle)
      if (isBumped(task)) return E.right([])
      const { maxConcurrentAgents } = tables.head.settings.capacity
      const active = activeAgents(tables)
      return E.right([
        {
          type: 'TaskBumped',
          at,
          data: { task: task.id, reason: command.reason, activeAgents: active, maxConcurrentAgents, isOverCapacity: active >= maxConcurrentAgents },
        },
      ] satisfies ReadonlyArray<QueueEvent>)
    }),
  )

const obstacleTo = (task: TaskRecord, tables: Tables): Rejection | undefined => {
  const { maxConcurrentAgents, overcapLimit, bumpAndStart } = tables.head.settings.capacity
  const active = activeAgents(tables)
  if (!bumpAndStart) return reject('disabled', 'tasks of this queue are not bumped: capacity.bumpAndStart is false')
  if (task.status !== 'pending') return reject('wrong-state', `${task.id} is ${task.status}: only a task that is ready can be bumped`)
  if (active >= maxConcurrentAgents + overcapLimit) {
    return reject('capacity-exceeded', `${plural(active, 'agent')} at work, and the limit is ${maxConcurrentAgents} and ${overcapLimit} more for bumped tasks: wait for one to end, or raise capacity.maxConcurrentAgents or capacity.overcapLimit`)
  }
  if (!isBumped(task) && tables.ready.bumped.size >= bumpedMax) return reject('conflict', `${bumpedMax} bumped tasks wait already: bump others when these have started`)
  return undefined
}
