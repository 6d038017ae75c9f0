/** Tasks that wait for a callback: parked by their agent, answered, or timed out. */
import type { EventOf } from '../model/events.js'
import { parkTimeoutMessage } from '../model/last-error.js'
import { answeredMax, type Parking, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { countFailedAttempt } from './alerts.js'
import { countFailure, countsAttempts, freeProbe } from './breaker.js'
import { misfit, onHeld, rest } from './change.js'

export const taskParked = (tables: Tables, event: EventOf<'TaskParked'>): void => {
  const { callbackKey: key, until, onTimeout, checkpoint } = event.data
  const { revision } = tables.head
  const owner = tables.ownerOfCallback(key)
  if (owner?.status === 'waiting' && owner.extras.parking?.key === key) return misfit(tables)
  onHeld(tables, event.data, (task) => {
    task.lease = { ...task.lease, end: 'parked' }
    task.status = 'waiting'
    task.delayedUntil = until
    const answered = task.extras.parking?.answered ?? noKeys
    const parking: Parking = { key, onTimeout, answered }
    task.extras = { ...task.extras, parking, ...(checkpoint === undefined ? {} : { checkpointRevision: revision }) }
    // First the task forgets its own former answer: it will be listed under the same key.
    forgetAnswer(tables, owner, task, key)
    freeProbe(tables, task)
  })
}
const noKeys: ReadonlyArray<string> = []

/** A key means the newest task that waits for it. So the task that was answered under this key before forgets it. */
const forgetAnswer = (tables: Tables, owner: TaskRecord | undefined, parked: TaskRecord, key: string): void => {
  if (owner === undefined) return
  const forget = (task: TaskRecord): void => {
    const { parking } = task.extras
    if (parking !== undefined) task.extras = { ...task.extras, parking: { ...parking, answered: parking.answered.filter((each) => each !== key) } }
  }
  // The parked task itself is being changed already.
  if (owner.number === parked.number) forget(parked)
  else tables.update(owner, forget)
}

/** Changes the task if it waits for this key. */
const onWaiting = (tables: Tables, id: string, key: string, change: (task: TaskRecord, parking: Parking) => void): void => {
  const task = tables.byId.get(id)
  const parking = task?.extras.parking
  if (task?.status === 'waiting' && parking?.key === key) tables.update(task, () => change(task, parking), tables.head.revision)
  else tables.head.misfits++
}

export const callbackReceived = (tables: Tables, { at, data }: EventOf<'CallbackReceived'>): void =>
  onWaiting(tables, data.task, data.callbackKey, (task, parking) => {
    const callback = { key: parking.key, at, revision: tables.head.revision }
    task.extras = { ...task.extras, parking: { ...parking, callback, answered: [...parking.answered, parking.key].slice(-answeredMax) } }
    rest(task, 0, at)
  })

export const parkTimedOut = (tables: Tables, { at, data }: EventOf<'ParkTimedOut'>): void =>
  onWaiting(tables, data.task, data.callbackKey, (task) => {
    rest(task, 0, at)
    if (data.onTimeout === 'requeue') return
    task.attempts++
    task.retries++
    const { bumpedAt: _, ...extras } = task.extras
    task.extras = { ...extras, lastError: parkTimeoutMessage, signature: data.signature }
    countFailedAttempt(tables, task)
    if (task.lease !== null && countsAttempts(tables, task)) countFailure(tables, task, task.lease)
  })
