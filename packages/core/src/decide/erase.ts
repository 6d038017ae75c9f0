/**
 * Erases the content of a finished task (EV-07). The event records the intention. The task's encryption key is deleted after that, by whoever keeps
 * it.
 */
import * as E from 'fp-ts/lib/Either.js'
import { reject, type Rejection } from '../model/rejections.js'
import { isFinal, type Status } from '../model/task.js'
import type { Decider } from './decision.js'
import { findTask, taskById } from './lookup.js'

export const decideErase: Decider<'Erase'> = ({ task: id, reason, outlived }, tables, { at }) => {
  const task = findTask(tables, id, at)
  if (task === undefined && (outlived !== true || id.startsWith('#'))) return taskById(tables, id, at) as E.Left<Rejection>
  if (task !== undefined && !isFinal(task.status)) return E.left(reject('wrong-state', `${task.id} is ${task.status}: only a finished task can be erased. ${remedy(task.status)}`))
  return E.right([{ type: 'TaskErased', at, data: { task: task?.id ?? id, reason } }])
}

const remedy = (status: Status): string => (status === 'dead-letter' ? 'Discard it first' : 'Cancel it first, or wait until it is finished')
