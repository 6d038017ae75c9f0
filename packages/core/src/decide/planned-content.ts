/** Tasks that the state keeps with their content until the queue enqueues them: those of schedules, and callbacks of batches. */
import * as E from 'fp-ts/lib/Either.js'
import type { PreparedTask } from '../model/commands.js'
import { LongJson, NotJson } from '../text/json.js'
import { canonicalJson, quote } from '../text/json-text.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import { priorityOf } from '../model/task.js'
import { preparedInSchedule, type ScheduledTask } from '../model/task-fields.js'
import { copierOf } from '../structures/unrolled.js'

/** The task as it will be read from the log. `path`: where the request has it. `tooLarge`: what is said if its text has more than `lengthMax` characters. */
export const canonicalTask = (task: ScheduledTask, path: string, lengthMax: number, tooLarge: string): E.Either<Rejection, ScheduledTask> => {
  try {
    return E.right(JSON.parse(canonicalJson(task, path, lengthMax)) as ScheduledTask)
  } catch (error) {
    if (error instanceof LongJson) return E.left(reject('too-large', tooLarge))
    if (!(error instanceof NotJson)) throw error
    return E.left(invalid([{ path: error.path, message: error.message }]))
  }
}

const copyPrepared = copierOf(preparedInSchedule)

export const preparedFrom = (task: ScheduledTask, id: string, idempotencyKey: string): PreparedTask => {
  const { type, payload = null, description, metadata, priority, requires } = task
  const content =
    `{"payload":${canonicalJson(payload)}` +
    (description === undefined ? '' : `,"description":${quote(description)}`) +
    (metadata === undefined ? '}' : `,"metadata":${canonicalJson(metadata)}}`)
  const prepared: { -readonly [K in keyof PreparedTask]: PreparedTask[K] } = { id, type, idempotencyKey, content }
  if (priority !== undefined) prepared.priority = typeof priority === 'number' ? priority : priorityOf[priority]
  if (requires?.skills !== undefined) prepared.skills = requires.skills
  copyPrepared(task, prepared)
  return prepared
}
