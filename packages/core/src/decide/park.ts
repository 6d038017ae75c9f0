/** Parks a task until a callback comes (a person's approval, a webhook), and takes the callback. */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { isolatedCallback } from '../model/isolation.js'
import { reject } from '../model/rejections.js'
import { knownAt } from '../state/retention.js'
import { toInstant } from '../model/scalars.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import type { Decider, Decision } from './decision.js'
import { claimOf, heldBy } from './lookup.js'

export const decidePark: Decider<'Park'> = (command, tables, { at }) =>
  pipe(
    heldBy(tables, command, at),
    E.chain(({ task, lease }): Decision => {
      const { timeoutSeconds, onTimeout = 'fail', checkpoint } = command
      const callbackKey = isolatedCallback(command.callbackKey, task.group.tenant, tables)
      if (typeof callbackKey !== 'string') return E.left(callbackKey)
      const rival = waitingFor(tables, callbackKey)
      if (rival !== undefined) {
        return E.left(reject('conflict', `${rival.id} already waits for the callback ${callbackKey}: use a key of the task's own, for example one with its id`))
      }
      const data = {
        ...claimOf(task, lease),
        callbackKey,
        until: toInstant(at + Math.ceil(timeoutSeconds * 1_000)),
        onTimeout,
        ...(checkpoint === undefined ? {} : { checkpoint }),
      }
      return E.right([{ type: 'TaskParked', at, data }])
    }),
  )

export const decideCallback: Decider<'Callback'> = ({ callbackKey, content }, tables, { at }) => {
  const task = ownerOf(tables, callbackKey, at)
  if (task === undefined) {
    return E.left(reject('not-found', `no task of queue ${tables.queue} waits for the callback ${callbackKey}: its wait timed out, it was cancelled, or the key is wrong`))
  }
  // A repeated callback: only the first counts.
  if (waitingFor(tables, callbackKey) === undefined) return E.right([])
  return E.right([{ type: 'CallbackReceived', at, data: { task: task.id, callbackKey }, content }])
}

/** The task that waits for this callback. */
const waitingFor = (tables: Tables, key: string): TaskRecord | undefined => {
  const task = tables.ownerOfCallback(key)
  return task?.status === 'waiting' && task.extras.parking?.key === key ? task : undefined
}

/** The task that waits for this callback, or that has got it and is still known. */
export const ownerOf = (tables: Tables, key: string, at: number): TaskRecord | undefined => knownAt(tables, tables.ownerOfCallback(key), at)
