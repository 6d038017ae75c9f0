/** Changes a task that nobody holds: its priority, its times, its payload (LK-11). The former values stay in the log. */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { CommandOf } from '../model/commands.js'
import type { EventOf, QueueEvent } from '../model/events.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import { contentRevisionOf, isHeld, type TaskRecord } from '../records/records.js'
import { isFinal } from '../model/task.js'
import type { Decider } from './decision.js'
import { taskById } from './lookup.js'

type Amend = CommandOf<'AmendTask'>
type Data = EventOf<'TaskAmended'>['data']

export const decideAmend: Decider<'AmendTask'> = (command, tables, { at }) =>
  pipe(
    taskById(tables, command.task, at),
    E.chain((task) => {
      const obstacle = obstacleTo(task, command) ?? staleContent(task, command)
      if (obstacle !== undefined) return E.left(obstacle)
      const changes = { ...priorityChange(task, command), ...deadlineChange(task, command), ...availabilityChange(task, command, at) }
      if (command.content === undefined && Object.keys(changes).length === 0) return E.right([])
      return E.right([amended(task, command.reason, changes, command.content, at)])
    }),
  )

/** The event of a task that gets another payload; `undefined` if the payload stays. */
export const payloadAmended = (task: TaskRecord, { reason, content }: CommandOf<'Retry'>, at: number): ReadonlyArray<QueueEvent> =>
  content === undefined ? [] : [amended(task, reason, {}, content, at)]

const amended = (task: TaskRecord, reason: string, changes: Partial<Data>, content: string | undefined, at: number): QueueEvent => {
  const data: Data = { task: task.id, reason, ...changes }
  return content === undefined
    ? { type: 'TaskAmended', at, data }
    : { type: 'TaskAmended', at, data: { ...data, formerContentRevision: contentRevisionOf(task) }, content }
}

/** The payload was amended after the command's content was read. */
export const staleContent = (task: TaskRecord, { contentRevision }: { readonly contentRevision?: number }): Rejection | undefined =>
  contentRevision === undefined || contentRevision === contentRevisionOf(task)
    ? undefined
    : reject('conflict', `the payload of ${task.id} was amended meanwhile: look at it, and try again`)

const obstacleTo = (task: TaskRecord, { priority, deadlineAt, availableAt, content, contentRevision }: Amend): Rejection | undefined => {
  const { id, status, lease } = task
  if ([priority, deadlineAt, availableAt, content, contentRevision].every((given) => given === undefined)) {
    return invalid([{ path: '(command)', message: 'must change something: priority, payload, deadlineAt or availableAt' }])
  }
  if (isHeld(task)) {
    return reject('wrong-state', `${lease?.agent ?? 'an agent'} is working on ${id} as it is: amend it when the claim has ended, or cancel it and enqueue another`)
  }
  if (isFinal(status)) return reject('wrong-state', `${id} is ${status}, which is final: restart it or enqueue another task`)
  if (availableAt === undefined) return undefined
  if (status === 'dead-letter') return reject('wrong-state', `${id} is a dead letter, which has no availableAt: retry it, or snooze it until then`)
  if (status === 'waiting') return reject('wrong-state', `${id} waits for a callback, and has no availableAt until that comes`)
  return undefined
}

const priorityChange = (task: TaskRecord, { priority }: Amend): Partial<Data> =>
  priority === undefined || priority === task.priority ? {} : { priority, formerPriority: task.priority }

const deadlineChange = ({ extras }: TaskRecord, { deadlineAt }: Amend): Partial<Data> => {
  const formerDeadlineAt = extras.deadlineAt ?? null
  return deadlineAt === undefined || deadlineAt === formerDeadlineAt ? {} : { deadlineAt, formerDeadlineAt }
}

/** A time that has passed counts as no time. */
const availabilityChange = ({ status, delayedUntil, extras }: TaskRecord, { availableAt: wanted }: Amend, at: number): Partial<Data> => {
  if (wanted === undefined) return {}
  const availableAt = inFuture(wanted, at)
  const formerAvailableAt = status === 'scheduled' ? delayedUntil : status === 'blocked' ? inFuture(extras.availableAt ?? null, at) : null
  return availableAt === formerAvailableAt ? {} : { availableAt, formerAvailableAt }
}
const inFuture = (instant: number | null, at: number): number | null => (instant !== null && instant > at ? instant : null)

/** The names of the fields that a `TaskAmended` can change. */
export const amendableFields = ['priority', 'payload', 'deadlineAt', 'availableAt'] as const
export type AmendedField = (typeof amendableFields)[number]
export const changedBy = (event: EventOf<'TaskAmended'> | undefined): ReadonlyArray<AmendedField> => {
  if (event === undefined) return []
  const { data } = event
  return amendableFields.filter((name) => (name === 'payload' ? data.formerContentRevision : data[name]) !== undefined)
}
