/** The effects of events on alerts. */
import { type Alert, type FailureCounts, isSpike, spikeStepMs, spikeSteps } from '../alerts.js'
import type { EventOf } from '../events.js'
import type { Tables } from '../tables.js'

export const alertRaised = (tables: Tables, { at, data }: EventOf<'AlertRaised'>): void => {
  if (tables.alerts.raised.has(data.key)) tables.head.misfits++
  else tables.alerts.raise({ ...data, raisedAt: at } satisfies Alert)
}

export const alertCleared = (tables: Tables, { data: { key } }: EventOf<'AlertCleared'>): void => {
  const { alerts, head } = tables
  const alert = alerts.raised.get(key)
  if (alert === undefined) {
    head.misfits++
    return
  }
  alerts.clear(key)
  if (alert.kind !== 'retry-spike') return
  const phase = key.slice('retry-spike:'.length)
  const counts = alerts.failures.get(phase)
  if (counts !== undefined) alerts.setFailures(phase, { ...counts, spike: null })
}

/** An attempt of a task of this phase has failed. */
export const countFailedAttempt = ({ alerts, head }: Tables, phase: string): void => {
  const known = alerts.failures.get(phase)
  const step = Math.max(known?.step ?? 0, Math.floor(head.at / spikeStepMs))
  const before = known === undefined ? [] : shifted(known, step)
  const counts = [(before[0] ?? 0) + 1, ...before.slice(1)]
  const mean = counts.slice(1).reduce((a, b) => a + b, 0) / spikeSteps
  const spiked = isSpike(counts[0] as number, mean, head.settings.alerts.retrySpikeMin)
  alerts.setFailures(phase, { step, counts, spike: spiked ? step : (known?.spike ?? null) })
}

/** The counts as of a later step. */
const shifted = ({ step, counts }: FailureCounts, to: number): ReadonlyArray<number> => {
  const passed = Math.min(to - step, spikeSteps + 1)
  return [...Array<number>(passed).fill(0), ...counts].slice(0, spikeSteps + 1)
}
