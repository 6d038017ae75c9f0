/** The effects of ended claims on the breaker of their type, and the transitions of breakers (LK-13 to LK-15). */
import type { EventOf } from '../model/events.js'
import { breakerSettings } from '../model/settings.js'
import { type Breaker, type BreakerState, failuresAt, type Lease, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { misfit } from './change.js'

/** Called when the claim of a probe has ended: another task may become the probe (LK-15). */
export const freeProbe = (tables: Tables, task: TaskRecord): void => {
  const breaker = tables.breakers.get(task.group.type)
  if (breaker?.probe === task) tables.breakers.update(breaker, (b) => (b.probe = null))
}

/** Whether each failed attempt counts as a failure, or only each dead letter. */
export const countsAttempts = (tables: Tables, task: TaskRecord): boolean =>
  breakerSettings(tables.head.settings, task.group.type).countOn === 'attempt'

/** Counts a failure on a closed breaker, if the claim was made after the breaker last opened. */
export const countFailure = (tables: Tables, task: TaskRecord, lease: Lease): void => {
  const { head } = tables
  const breaker = tables.breakers.of(task.group.type)
  if (breaker.state !== 'closed' || lease.epoch !== breaker.epoch) return
  const failures = failuresAt(breaker, breakerSettings(head.settings, breaker.type), head.at) + 1
  tables.breakers.update(breaker, (b) => {
    b.failures = failures
    b.lastFailure = head.at
  })
}

export const succeeded = (tables: Tables, breaker: Breaker, task: TaskRecord, lease: Lease): void => {
  const resets = breaker.state === 'closed' && lease.epoch === breaker.epoch && breaker.failures > 0
  if (!resets && breaker.probe !== task) return
  tables.breakers.update(breaker, (b) => {
    if (resets) b.failures = 0
    if (b.probe === task) b.probe = null
  })
}

type BreakerMove = EventOf<'BreakerOpened'> | EventOf<'BreakerHalfOpened'> | EventOf<'BreakerClosed'>

/** The transitions of a breaker (LK-13, LK-15). An operator may open it at any time, and close it unless it is closed. */
const isLegalMove = (from: BreakerState, event: BreakerMove): boolean => {
  if (event.type === 'BreakerHalfOpened') return from === 'open'
  switch (event.data.cause) {
    case 'threshold':
      return from === 'closed'
    case 'probe-failed':
    case 'probe-succeeded':
      return from === 'half-open'
    case 'manual':
      return event.type === 'BreakerOpened' || from !== 'closed'
  }
}

export const breakerMoved = (tables: Tables, event: BreakerMove): void => {
  const type = event.data.taskType
  if (!isLegalMove(tables.breakers.get(type)?.state ?? 'closed', event)) return misfit(tables)
  const { halfOpenAfter } = breakerSettings(tables.head.settings, type)
  tables.breakers.update(tables.breakers.of(type), (breaker) => {
    breaker.probe = null
    switch (event.type) {
      case 'BreakerOpened':
        breaker.state = 'open'
        breaker.openedAt = event.at
        breaker.halfOpenAt = event.data.cause === 'manual' ? 0 : event.at + Math.ceil(halfOpenAfter * 1_000)
        breaker.epoch++
        breaker.reason = event.data.reason ?? event.data.cause
        return
      case 'BreakerHalfOpened':
        breaker.state = 'half-open'
        breaker.halfOpenAt = event.at
        return
      case 'BreakerClosed':
        breaker.state = 'closed'
        breaker.failures = 0
        breaker.halfOpenAt = 0
        breaker.reason = event.data.reason ?? event.data.cause
        return
    }
  })
}
