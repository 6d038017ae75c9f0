/** Decides what is due at a time. */
import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from './decision.js'
import { runEndsAt } from './run-time.js'
import type { Tables } from '../state/tables.js'
import { holderOfKey } from '../state/retention.js'
import { decideAlerts } from './alerts.js'
import { Draft } from './draft.js'
import { isUnderWay, redriveDue } from './redrive.js'
import type { TaskRecord } from '../records/records.js'
import { runSchedules } from './schedules.js'

/** The largest number of tasks in one tick. The rest is due again at once. */
export const tickMax = 1_000

export const decideTick: Decider<'Tick'> = ({ leasesUntil, alerts }, tables, envelope) => {
  const draft = new Draft(tables, envelope)
  const { at } = envelope
  /** Idempotency keys that tasks take with this tick: those of scheduled runs, and of dead letters that are sent back. */
  const keys = new Set<string>()
  // Schedules come first: a run depends on whether the previous one is finished, and the steps below may finish it.
  runSchedules(draft, keys)
  for (const breaker of tables.breakers.cooling) {
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
  for (const { key, shutUntil } of tables.limits.closed) {
    if (shutUntil > at || settled >= tickMax) break
    settled++
    draft.emit({ type: 'LimitOpened', at, data: { limit: key } })
  }
  for (const task of tables.delays) {
    if (task.delayedUntil > at || settled >= tickMax) break
    settled++
    if (task.status === 'waiting') draft.timeOut(task)
    else if (task.status === 'dead-letter') endSnooze(draft, task, keys)
    else draft.emit({ type: 'TaskDue', at, data: { task: task.id } })
  }
  const endedBy = Math.min(at, leasesUntil ?? at)
  for (const task of tables.leaseEnds) {
    if (task.lease === null || task.lease.expiresAt > endedBy || settled >= tickMax) break
    settled++
    draft.expire(task, task.lease, task.status === 'incomplete' ? 'report-missing' : task.lease.expiresAt >= runEndsAt(task, task.lease) ? 'ran-too-long' : 'lease-expired')
  }
  redriveDue(draft, keys)
  if (alerts === true) decideAlerts(draft)
  return E.right(draft.events)
}

/** When the first lease ends, in milliseconds since 1970; `undefined` when there is none. */
export const nextLeaseEnd = (tables: Tables): number | undefined => tables.leaseEnds.first()?.lease?.expiresAt

/**
 * When anything but a lease ends by itself next: a delay, a wait, a breaker's, a schedule's or a limit's time, or the next step of a redrive.
 * 0 while a batch waits for nothing more and is not finished. `undefined` for never.
 */
export const nextOther = ({ batches, delays, breakers, schedules, slowdowns, sleepers, limits, head: { redrive } }: Tables): number | undefined => {
  if (batches.isAnyRipe) return 0
  const waits = [delays.first()?.delayedUntil, slowdowns.first()?.until, sleepers.first()?.until]
  const times = [...waits, limits.nextOpening, breakers.cooling.first()?.halfOpenAt, schedules.nextDue(), isUnderWay(redrive) ? redrive.nextAt : undefined]
  return times.reduce((first, time) => earliest(first, time), undefined)
}

/** Sends a snoozed dead letter back, unless another task has its key now. */
const endSnooze = (draft: Draft, task: TaskRecord, keys: Set<string>): void => {
  const { at, tables } = draft
  const { reviewer = '', reason = '' } = task.extras.snooze ?? {}
  const isTaken = keys.has(task.key) || holderOfKey(tables, task.key, at) !== undefined
  keys.add(task.key)
  draft.emit(isTaken ? { type: 'SnoozeLapsed', at, data: { task: task.id } } : { type: 'Requeued', at, data: { task: task.id, reviewer, reason } })
}

export const earliest = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined ? b : b === undefined ? a : Math.min(a, b))
