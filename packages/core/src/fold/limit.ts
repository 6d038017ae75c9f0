/** The effects of events on limits and rates, and on the lines of tasks with an ordering key. */
import type { EventOf } from '../model/events.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { rest } from './change.js'

export const limitSet = (tables: Tables, { data: { limit, concurrency, rate } }: EventOf<'LimitSet'>): void =>
  tables.limits.put(limit, { ...(concurrency === undefined ? {} : { concurrency }), ...(rate === undefined ? {} : { rate }) })

export const limitRemoved = (tables: Tables, { data: { limit } }: EventOf<'LimitRemoved'>): void => {
  if (tables.limits.set.has(limit)) tables.limits.put(limit, undefined)
  else tables.head.misfits++
}

export const limitOpened = ({ limits, head }: Tables, { at, data: { limit } }: EventOf<'LimitOpened'>): void => {
  if (!limits.opened(limit, at)) head.misfits++
}

/** The task is finished: it no longer holds back the next task in its line. */
export const makeRoom = (tables: Tables, task: TaskRecord, at: number): void => {
  const { orderingKey } = task.extras
  if (orderingKey === undefined) return
  const next = tables.lines.get(orderingKey)?.first()
  if (next === undefined || next.number < task.number) return
  tables.update(next, (waiting) => {
    waiting.missing--
    if (waiting.status === 'blocked') rest(waiting, waiting.extras.availableAt ?? 0, at)
  })
}
