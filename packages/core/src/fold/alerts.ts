/** The effects of events on alerts. */
import { type Alert, type Alerts, aboutDiscovery, countedMax, failureCountsAt, isSpike, keyOf, spikeStepMs, spikeSteps } from '../state/alerts.js'
import type { EventOf } from '../model/events.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { misfit } from './change.js'

export const alertRaised = (tables: Tables, { at, data }: EventOf<'AlertRaised'>): void => {
  if (tables.alerts.raised.has(data.key)) tables.head.misfits++
  else tables.alerts.raise({ ...data, raisedAt: at } satisfies Alert)
}

export const alertCleared = (tables: Tables, { data: { key } }: EventOf<'AlertCleared'>): void => {
  const { alerts } = tables
  const alert = alerts.raised.get(key)
  if (alert === undefined) return misfit(tables)
  alerts.raised.delete(key)
  if (alert.kind !== 'retry-spike') return
  const about = key.slice('retry-spike:'.length)
  const counts = alerts.failures.get(about)
  if (counts !== undefined) alerts.setFailures(about, { ...counts, spike: null })
}

/** Counts a failed attempt of this task (TQM-OBS-003). */
export const countFailedAttempt = (tables: Tables, { group: { phase }, extras: { discovery } }: TaskRecord): void => {
  count(tables, phase ?? 'none')
  if (discovery !== undefined) count(tables, aboutDiscovery(discovery))
}

const count = ({ alerts, head }: Tables, kind: string): void => {
  const now = Math.floor(head.at / spikeStepMs)
  if (!alerts.failures.has(kind)) forgetPast(alerts, now)
  const about = alerts.failures.has(kind) || alerts.failures.size < countedMax ? kind : aboutDiscovery('other')
  const known = alerts.failures.get(about)
  const step = Math.max(known?.step ?? 0, now)
  const before = known === undefined ? [] : failureCountsAt(known, step)
  const counts = [(before[0] ?? 0) + 1, ...before.slice(1)]
  const mean = counts.slice(1).reduce((a, b) => a + b, 0) / spikeSteps
  const spiked = isSpike(counts[0] as number, mean, head.settings.alerts.retrySpikeMin)
  alerts.setFailures(about, { step, counts, spike: spiked ? step : (known?.spike ?? null) })
}

/** Removes counts that no longer matter: kinds of discoveries come and go (INV-22). */
const forgetPast = (alerts: Alerts, now: number): void => {
  for (const [about, { step }] of [...alerts.failures]) {
    if (now - step > spikeSteps && !alerts.raised.has(keyOf('retry-spike', about))) alerts.setFailures(about, undefined)
  }
}
