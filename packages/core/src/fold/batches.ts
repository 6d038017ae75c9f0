/** The effects of events on batches. What they count follows from their tasks: see `batches.ts`. */
import { type Batch, isEnded, noCounts } from '../state/batches.js'
import type { EventOf } from '../model/events.js'
import { NumberSet } from '../structures/number-set.js'
import type { Tables } from '../state/tables.js'
import { misfit } from './change.js'

export const batchCreated = (tables: Tables, { at, data }: EventOf<'BatchCreated'>): void => {
  const { batch: id, on, description, tenant, callback } = data
  const { batches, head } = tables
  const known = batches.get(id)
  // The decision treated it as forgotten. Another server's clock may differ.
  if (known !== undefined && !isEnded(known)) return misfit(tables)
  if (known !== undefined) batches.delete(id)
  batches.put({
    id,
    revision: head.revision,
    createdAt: at,
    ...(tenant === undefined ? {} : { tenant }),
    ...(description === undefined ? {} : { description }),
    on,
    callback: callback ?? null,
    size: callback === undefined ? 0 : JSON.stringify(callback).length,
    closedAt: 0,
    cancelled: null,
    finishedAt: 0,
    callbackTask: null,
    counts: noCounts(),
    live: new NumberSet(),
  })
}

export const batchClosed = (tables: Tables, { at, data }: EventOf<'BatchClosed'>): void =>
  onUnfinished(tables, data.batch, (batch) => (batch.closedAt > 0 ? undefined : { ...batch, closedAt: at }))

export const batchCancelled = (tables: Tables, { at, data: { batch: id, reason, runsCallback } }: EventOf<'BatchCancelled'>): void =>
  onUnfinished(tables, id, (batch) => {
    if (batch.cancelled !== null) return undefined
    const closed = { ...batch, closedAt: batch.closedAt > 0 ? batch.closedAt : at, cancelled: { at, reason } }
    return runsCallback === true ? closed : { ...closed, callback: null, size: 0 }
  })

export const batchFinished = (tables: Tables, { at, data: { batch: id, callback } }: EventOf<'BatchFinished'>): void =>
  onUnfinished(tables, id, (batch) => ({ ...batch, closedAt: batch.closedAt > 0 ? batch.closedAt : at, finishedAt: at, callback: null, size: 0, callbackTask: callback ?? null }))

/** Replaces the batch, unless it is finished or the event does not fit it. */
const onUnfinished = ({ batches, head }: Tables, id: string, change: (batch: Batch) => Batch | undefined): void => {
  const batch = batches.get(id)
  const changed = batch === undefined || batch.finishedAt > 0 ? undefined : change(batch)
  if (changed === undefined) head.misfits++
  else batches.put(changed)
}
