/** Sets and removes limits. */
import * as E from 'fp-ts/lib/Either.js'
import type { PreparedTask } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { isSameLimit, limitsMax } from '../model/limit.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import type { Tables } from '../state/tables.js'
import type { Decider, Decision } from './decision.js'

const tooMany = (queue: string): Rejection =>
  reject('conflict', `queue ${queue} has ${limitsMax} limits, and cannot have more: remove some, or set one for all keys (*), types (type:*) or tenants (tenant:*)`)

export const decideSetLimit: Decider<'SetLimit'> = ({ key, concurrency, rate }, { limits, queue }, { at }) => {
  if (concurrency === undefined && rate === undefined) {
    return E.left(invalid([{ path: 'concurrency', message: 'must be given, or rate' }]))
  }
  const limit = { ...(concurrency === undefined ? {} : { concurrency }), ...(rate === undefined ? {} : { rate }) }
  const before = limits.set.get(key)
  if (isSameLimit(before, limit)) return E.right([])
  if (before === undefined && limits.set.size >= limitsMax) return E.left(tooMany(queue))
  return E.right([{ type: 'LimitSet', at, data: { limit: key, ...limit } }])
}

export const decideRemoveLimit: Decider<'RemoveLimit'> = ({ key }, { limits, queue }, { at }) =>
  limits.set.has(key) ? E.right([{ type: 'LimitRemoved', at, data: { limit: key } }]) : E.left(reject('not-found', `queue ${queue} has no limit ${key}`))

/**
 * The limits that these tasks of a request set for their concurrency keys. The last limit given for a key holds. A limit that already has this value
 * makes no event. The key keeps its rate, also that of the limit for all keys: a producer must not lift it.
 */
export const limitsGivenBy = (tasks: ReadonlyArray<PreparedTask>, request: ReadonlyArray<PreparedTask>, { limits, queue }: Tables, at: number): Decision => {
  const given = new Map<string, number>()
  for (const task of tasks) {
    const { concurrencyKey, concurrencyLimit } = task
    if (concurrencyLimit === undefined) continue
    if (concurrencyKey === undefined) return E.left(invalid([{ path: `tasks[${request.indexOf(task)}].concurrencyLimit`, message: 'needs a concurrencyKey for which it would hold' }]))
    given.set(concurrencyKey, concurrencyLimit)
  }
  const events: Array<QueueEvent> = []
  let size = limits.set.size
  for (const [limit, concurrency] of given) {
    const before = limits.set.get(limit)
    if (before?.concurrency === concurrency) continue
    if (before === undefined && ++size > limitsMax) return E.left(tooMany(queue))
    const { rate } = limits.limitOf(limit) ?? {}
    events.push({ type: 'LimitSet', at, data: { limit, concurrency, ...(rate === undefined ? {} : { rate }) } })
  }
  return E.right(events)
}
