/** The effects of events on limits and rates, and on the lines of tasks with an ordering key. */
import type { EventOf } from '../model/events.js'
import type { Limit } from '../model/limit.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { rest } from './change.js'

export const limitSet = (tables: Tables, { data: { limit, concurrency, rate } }: EventOf<'LimitSet'>): void =>
  put(tables, limit, { ...(concurrency === undefined ? {} : { concurrency }), ...(rate === undefined ? {} : { rate }) })

export const limitRemoved = (tables: Tables, { data: { limit } }: EventOf<'LimitRemoved'>): void => {
  if (tables.limits.set.has(limit)) put(tables, limit, undefined)
  else tables.head.misfits++
}

const put = ({ limits, shares }: Tables, key: string, limit: Limit | undefined): void => {
  for (const share of limits.put(key, limit)) shares.comeBack(share)
}

export const limitOpened = ({ limits, shares, head }: Tables, { at, data: { limit } }: EventOf<'LimitOpened'>): void => {
  const back = limits.opened(limit, at)
  if (back === undefined) head.misfits++
  else for (const share of back) shares.comeBack(share)
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
