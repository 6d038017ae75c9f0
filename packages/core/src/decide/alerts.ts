/** Which alerts are to be raised and cleared, and when the next change is due. */
import { discoveryIn, keyOf, kindOf, spikeStepMs, spikeSteps } from '../state/alerts.js'
import type { AlertKind } from '../model/alert-kind.js'
import type { TaskRecord } from '../records/records.js'
import { plural } from '../text/plural.js'
import type { Tables } from '../state/tables.js'
import { clipped } from '../model/scalars.js'
import type { Draft } from './draft.js'

/** The largest number of alerts that one tick raises or clears. The rest is due again at once. */
const alertsPerTick = 1_000

/** A change of an alert that is due at a time. */
interface Change {
  readonly key: string
  readonly at: number
}

/** When an alert is to be raised or cleared next: `undefined` for never, 0 for now. */
export const nextAlert = (tables: Tables): number | undefined => {
  if (tables.alerts.changed.size > 0) return 0
  let next: number | undefined
  for (const { at } of timed(tables)) next = next === undefined ? at : Math.min(next, at)
  return next
}

export const decideAlerts = (draft: Draft): void => {
  const { tables, at } = draft
  const due = [...tables.alerts.changed, ...timed(tables).flatMap((change) => (change.at <= at ? [change.key] : []))]
  // Sorted, so that the order does not depend on how the state came about.
  for (const key of due.sort().slice(0, alertsPerTick)) {
    if (tables.alerts.raised.has(key)) draft.emit({ type: 'AlertCleared', at, data: { key } })
    else draft.emit({ type: 'AlertRaised', at, data: { key, kind: kindOf(key), message: clipped(messageOf(tables, key, at), 1_000) } })
  }
}

/**
 * The next change of each condition that depends on time. The result does not depend on the present time, so a tick always finds due the change that
 * woke it.
 */
const timed = (tables: Tables): ReadonlyArray<Change> => {
  const { alerts, head } = tables
  const changes: Array<Change> = []
  const critical = alerts.critical.first()
  if (alerts.raised.has('critical-waiting')) {
    if (critical === undefined) changes.push({ key: 'critical-waiting', at: 0 })
  } else if (critical !== undefined) {
    changes.push({ key: 'critical-waiting', at: overAfter(critical.extras.readySince ?? 0, head.settings.alerts.criticalDepthSeconds) })
  }
  const oldest = oldestReady(tables)
  const starvation = alerts.raised.get('starvation')
  if (starvation !== undefined) {
    // Other tasks may be starved by then: that raises the alert again.
    if (oldest === undefined || oldest.enqueuedAt > starvation.raisedAt) changes.push({ key: 'starvation', at: 0 })
  } else if (oldest !== undefined) {
    changes.push({ key: 'starvation', at: overAfter(oldest.enqueuedAt, head.settings.score.starvationLimit) })
  }
  for (const about of alerts.spiking) {
    const key = keyOf('retry-spike', about)
    const spike = alerts.failures.get(about)?.spike ?? 0
    changes.push({ key, at: alerts.raised.has(key) ? (spike + 2) * spikeStepMs : 0 })
  }
  return changes
}

/** The first whole millisecond that is more than `seconds` after `since`. */
const overAfter = (since: number, seconds: number): number => Math.floor(since + seconds * 1_000) + 1

/** The ready task that was enqueued first, found among the first tasks of each phase and priority. */
const oldestReady = ({ counts, lists }: Tables): TaskRecord | undefined => {
  if (counts.pending === 0) return undefined
  let oldest: TaskRecord | undefined
  for (const { pending } of lists.values()) {
    for (const list of pending) {
      const first = list.first()
      if (first !== undefined && (oldest === undefined || first.enqueuedAt < oldest.enqueuedAt)) oldest = first
    }
  }
  return oldest
}

const messageOf = (tables: Tables, key: string, at: number): string => {
  const kind: AlertKind = kindOf(key)
  const about = key.slice(kind.length + 1)
  const { alerts } = tables
  switch (kind) {
    case 'critical-waiting': {
      const task = alerts.critical.first()
      const seconds = Math.floor((at - (task?.extras.readySince ?? at)) / 1_000)
      return `${plural(alerts.critical.size, 'ready CRITICAL task')} when it was raised, the oldest for ${seconds} s: ${task?.id ?? ''} (${task?.group.type ?? ''})`
    }
    case 'starvation': {
      const task = oldestReady(tables)
      return `${task?.id ?? ''} (${task?.group.type ?? ''}, priority ${task?.priority ?? 0}) has waited for ${Math.floor((at - (task?.enqueuedAt ?? at)) / 1_000)} s`
    }
    case 'dead-letters':
      return `tasks of type ${about} were given up: see GET …/dead-letters, or daybook dlq list --type ${about}`
    case 'attempts-exhausted': {
      const task = tables.byId.get(about)
      return `${about} (${task?.group.type ?? ''}) ended without success after ${plural(task?.attempts ?? 0, 'attempt')}: ${task?.extras.lastError ?? 'no error was reported'}`
    }
    case 'breaker-open': {
      const breaker = tables.breakers.get(about)
      return `the breaker of type ${about} is ${breaker?.state ?? 'open'}${breaker === undefined || breaker.reason === '' ? '' : ` (${breaker.reason})`}: its tasks are held back`
    }
    case 'retry-spike': {
      const { counts = [] } = alerts.failures.get(about) ?? {}
      const usual = counts.slice(1).reduce((a, b) => a + b, 0) / spikeSteps
      const discovery = discoveryIn(about)
      const whose = discovery !== undefined ? `of tasks about ${discovery}` : about === 'none' ? 'without a phase' : `of phase ${about}`
      return `${plural(counts[0] ?? 0, 'failed attempt')} ${whose} in five minutes; usual are ${Math.round(usual * 10) / 10}`
    }
  }
}
