/** Which tasks a batch takes in. */
import type { PreparedTask } from '../model/commands.js'
import { reject, type Rejection } from '../model/rejections.js'
import { batchAt, type KnownTasks } from '../state/retention.js'
import { isHeld } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import type { Earlier } from './duplicates.js'

/** Tells nothing of a batch of another tenant. */
export const noBatch = ({ queue }: Pick<Tables, 'queue'>, id: string): Rejection =>
  reject('not-found', `no batch ${id} in queue ${queue}: it was never created here, or it finished and its retention is over`)

/** Why a new task cannot join the batch that it names. */
export const refusalOfJoining = (task: PreparedTask, { tables }: KnownTasks, at: number): Rejection | undefined => {
  const { batchId = '', tenant, parentTaskId } = task
  const batch = batchAt(tables, batchId, at)
  if (batch === undefined || (batch.tenant !== undefined && batch.tenant !== tenant)) return noBatch(tables, batchId)
  if (batch.finishedAt > 0) return reject('wrong-state', `batch ${batchId} is finished: ${task.id} needs another batch, or none`)
  if (batch.cancelled !== null) return reject('wrong-state', `batch ${batchId} was cancelled: ${task.id} needs another batch, or none`)
  if (batch.closedAt === 0) return undefined
  // It holds the batch, so nothing is finished while it adds tasks.
  const parent = parentTaskId === undefined ? undefined : tables.byId.get(parentTaskId)
  if (parent !== undefined && isHeld(parent) && tables.batches.of(parent) === batch) return undefined
  return reject('wrong-state', `batch ${batchId} is closed: only a task of it that is being worked on adds more, and ${task.id} would have to name it as parentTaskId`)
}

/** Why a task that is a duplicate cannot join: the batch would not wait for the other one. */
export const refusalOfDuplicate = <T extends PreparedTask>(task: T, known: KnownTasks, earlier: Earlier<T> | undefined): Rejection | undefined => {
  const { id, idempotencyKey, batchId } = task
  const record = known.byId(id) ?? known.byKey(idempotencyKey)
  const other = record ?? earlier?.byId.get(id) ?? earlier?.byKey.get(idempotencyKey)
  const isInside = record !== undefined ? known.tables.batches.of(record)?.id === batchId : other === undefined || ('idempotencyKey' in other && other.batchId === batchId)
  if (isInside) return undefined
  return reject('conflict', `${id} would be in batch ${batchId ?? ''}, and is a duplicate of ${other?.id ?? 'a task'}, which is not: give it an idempotencyKey of its own, or deduplicate: off`)
}
