/** Batches: made, closed and cancelled. What finishes them is in `batch-ends.ts`. */
import * as E from 'fp-ts/lib/Either.js'
import { type Batch, batchesMax, callbackTextMax, callbackTextsMax } from '../state/batches.js'
import type { CommandOf } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { isIsolated, isUnder, refusalOfPlanned, refusalOfTenant } from '../model/isolation.js'
import { canonicalJson } from '../text/json-text.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import { batchAt } from '../state/retention.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import type { ScheduledTask } from '../model/task-fields.js'
import { cancelDependents, cancelledEvent, cancelMax } from './cancel.js'
import type { Decider } from './decision.js'
import { takeInNew } from './enqueue.js'
import { noBatch } from './joining.js'
import { canonicalTask } from './planned-content.js'

export const decideCreateBatch: Decider<'CreateBatch'> = (command, tables, { at }) => {
  const { id, tenant, description, on = 'finished' } = command
  const refused = refusalOfTenants(command, tables)
  if (refused !== undefined) return E.left(refused)
  const planned = command.callback === undefined ? E.right(undefined) : callbackFrom(command.callback)
  if (E.isLeft(planned)) return planned
  const callback = planned.right
  const known = batchAt(tables, id, at)
  const tasks = command.tasks.map((task) => ({ ...task, batchId: id }))
  if (known !== undefined) {
    // Whoever sends it takes the batch for closed, and would wait for its end in vain.
    const isOpenedByAnother = command.open !== true && known.closedAt === 0 && known.cancelled === null
    if (isOpenedByAnother) return E.left(reject('conflict', `queue ${tables.queue} has a batch ${id} already, and it is open: send it with open, close it, or use another id`))
    // The same request sent again: its tasks are duplicates.
    if (isSame(known, command, callback)) return takeInNew(tasks, tables, at)
    return E.left(reject('conflict', `queue ${tables.queue} has another batch ${id} already: use another id`))
  }
  const full = refusalOfSize(tables, callback)
  if (full !== undefined) return E.left(full)
  const taken = takeInNew(tasks, tables, at, id)
  if (E.isLeft(taken)) return taken
  const created = { batch: id, on, ...(description === undefined ? {} : { description }), ...(tenant === undefined ? {} : { tenant }), ...(callback === undefined ? {} : { callback }) }
  return E.right([
    { type: 'BatchCreated', at, data: created },
    ...taken.right,
    ...(command.open === true ? [] : [{ type: 'BatchClosed' as const, at, data: { batch: id } }]),
  ])
}

/** Nothing more joins it from outside. */
export const decideCloseBatch: Decider<'CloseBatch'> = ({ id }, tables, { at }) => {
  const batch = batchAt(tables, id, at)
  if (batch === undefined) return E.left(noBatch(tables, id))
  return E.right(batch.closedAt > 0 ? [] : [{ type: 'BatchClosed', at, data: { batch: id } }])
}

export const decideCancelBatch: Decider<'CancelBatch'> = ({ id, reason, runsCallback, max = cancelMax }, tables, { at }) => {
  const batch = batchAt(tables, id, at)
  if (batch === undefined) return E.left(noBatch(tables, id))
  if (batch.cancelled === null && batch.finishedAt > 0) return E.left(reject('wrong-state', `batch ${id} is finished: there is nothing left to cancel`))
  const events: Array<QueueEvent> = []
  if (batch.cancelled === null) events.push({ type: 'BatchCancelled', at, data: { batch: id, reason, ...(runsCallback === undefined ? {} : { runsCallback }) } })
  const seen = new Set<TaskRecord>()
  for (const number of batch.live) {
    if (events.length >= max) break
    const task = tables.unfinished.get(number)
    // Dead letters are for a reviewer.
    if (task === undefined || task.status === 'dead-letter' || seen.has(task)) continue
    seen.add(task)
    events.push(cancelledEvent(task, at, reason), ...cancelDependents(task, at, 'cancelled', seen))
  }
  return E.right(events)
}

/** A batch with a tenant is of this tenant alone, and so are its tasks. */
const refusalOfTenants = ({ id, tenant, tasks, callback }: CommandOf<'CreateBatch'>, tables: Tables): Rejection | undefined => {
  if (isIsolated(tables)) {
    const refused = refusalOfTenant(tenant, tables.queue, '')
    if (refused !== undefined) return refused
    if (tenant !== undefined && !isUnder(tenant, id)) return invalid([{ path: 'id', message: `must begin with ${tenant}: because the tenants of queue ${tables.queue} are isolated` }])
  }
  if (tenant === undefined) return undefined
  const message = `must be ${tenant}, because the batch is of this tenant`
  const other = tasks.findIndex((task) => task.tenant !== tenant)
  if (other >= 0) return invalid([{ path: `tasks[${other}].tenant`, message }])
  if (callback !== undefined && callback.tenant !== tenant) return invalid([{ path: 'callback.tenant', message }])
  return callback === undefined ? undefined : refusalOfPlanned(callback, tables, 'callback.')
}

const callbackFrom = (given: ScheduledTask): E.Either<Rejection, ScheduledTask> => {
  const task = canonicalTask(given, 'callback', callbackTextMax, `the callback is over ${callbackTextMax} characters of JSON: keep large inputs elsewhere, and refer to them`)
  if (E.isLeft(task)) return task
  if (task.right.metadata?.['batch'] !== undefined) return E.left(invalid([{ path: 'callback.metadata.batch', message: 'is given by the queue: use another name' }]))
  return task
}

const refusalOfSize = ({ batches, queue }: Tables, callback: ScheduledTask | undefined): Rejection | undefined => {
  if (batches.unfinished >= batchesMax) return reject('conflict', `queue ${queue} has ${batchesMax} batches that are not finished, which is the limit: close or cancel some`)
  const size = callback === undefined ? 0 : JSON.stringify(callback).length
  if (batches.textSize + size > callbackTextsMax) return reject('too-large', `the callbacks of all batches of queue ${queue} are over ${callbackTextsMax} characters of JSON together: keep large inputs elsewhere, and refer to them`)
  return undefined
}

/** A finished batch has no callback any more, so that is not compared. */
const isSame = (known: Batch, { tenant, description, on = 'finished' }: CommandOf<'CreateBatch'>, callback: ScheduledTask | undefined): boolean => {
  if (known.tenant !== tenant || known.description !== description || known.on !== on) return false
  return known.finishedAt > 0 || known.cancelled !== null || canonicalJson(known.callback) === canonicalJson(callback ?? null)
}
