/** Decides what is due. */
import * as E from 'fp-ts/lib/Either.js'
import type { CommandOf, Envelope } from '../commands.js'
import type { QueueEvent } from '../events.js'
import type { Rejection } from '../rejections.js'
import type { Tables } from '../tables.js'
import { Draft } from './draft.js'
import { runSchedules } from './schedules.js'

/** Maximum number of tasks in one tick. The others are due again at once. */
export const tickMax = 1_000

export const decideTick = (
  { leasesUntil }: CommandOf<'Tick'>,
  tables: Tables,
  envelope: Envelope,
): E.Either<Rejection, ReadonlyArray<QueueEvent>> => {
  const draft = new Draft(tables, envelope)
  const { at } = envelope
  for (const breaker of tables.cooling) {
    if (breaker.halfOpenAt > at) break
    draft.emit({ type: 'BreakerHalfOpened', at, data: { taskType: breaker.type } })
  }
  let settled = 0
  for (const { name: taskType, until } of tables.slowdowns) {
    if (until > at || settled >= tickMax) break
    settled++
    draft.emit({ type: 'SlowdownEnded', at, data: { taskType } })
  }
  for (const { name: agent, until } of tables.sleepers) {
    if (until > at || settled >= tickMax) break
    settled++
    draft.emit({ type: 'AgentResumed', at, data: { agent } })
  }
  for (const task of tables.delays) {
    if (task.delayedUntil > at || settled >= tickMax) break
    settled++
    if (task.status === 'waiting') draft.timeOut(task)
    else draft.emit({ type: 'TaskDue', at, data: { task: task.id } })
  }
  const endedBy = Math.min(at, leasesUntil ?? at)
  for (const task of tables.leaseEnds) {
    if (task.lease === null || task.lease.expiresAt > endedBy || settled >= tickMax) break
    settled++
    draft.expire(task, task.lease, task.status === 'incomplete' ? 'report-missing' : 'lease-expired')
  }
  runSchedules(draft)
  return E.right(draft.events)
}

/** When the first lease ends, in milliseconds since 1970; `undefined` when there is none. */
export const nextLeaseEnd = (tables: Tables): number | undefined => tables.leaseEnds.first()?.lease?.expiresAt

/** When anything but a lease ends by itself next: a delay, a wait for a callback, of a breaker, of a schedule or after a rate limit. `undefined` for never. */
export const nextOther = ({ delays, cooling, schedules, slowdowns, sleepers }: Tables): number | undefined => {
  const limits = earliest(slowdowns.first()?.until, sleepers.first()?.until)
  return earliest(delays.first()?.delayedUntil, earliest(cooling.first()?.halfOpenAt, earliest(schedules.nextDue(), limits)))
}

const earliest = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined ? b : b === undefined ? a : Math.min(a, b))
