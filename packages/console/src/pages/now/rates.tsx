/** Arrivals and completions per minute over six hours, on one axis. */
import type { Report, ReportRows } from '@daybook/client'
import { serverNow } from '../../api/server-time.js'
import type { Shown } from '../../api/use-query.js'
import { numberText } from '../../parts/format.js'
import { LineChart } from '../../parts/line-chart.js'

const bucketMinutes = 15

type RateRow = ReportRows['throughput']

export const Rates = ({ shown: { value, error } }: { readonly shown: Shown<Report<RateRow>> }) => {
  if (value === undefined) return error === undefined ? null : <div class="rates"><dt>per minute</dt><dd class="quiet">{error.code === 'disabled' ? 'not known: this server keeps no read models' : error.message}</dd></div>
  const { rows } = value
  if (rows.length < 2) return null
  const perMinute = (count: number, row: RateRow): number => {
    // The last quarter of an hour is not over.
    const minutes = Math.min(bucketMinutes, Math.max(1, (serverNow() - Date.parse(row.from)) / 60_000))
    return count / minutes
  }
  const arrivals = rows.map((row) => perMinute(row.enqueued, row))
  const completions = rows.map((row) => perMinute(row.completed, row))
  const last = rows.length - 1
  return (
    <div class="rates">
      <dt>per minute, six hours</dt>
      <dd>
        <LineChart
          isSmall height={40} times={rows.map(({ from }) => Date.parse(from) / 1_000)}
          label={`arrivals and completions per minute over six hours; in the last quarter of an hour ${numberText(arrivals[last] ?? 0)} and ${numberText(completions[last] ?? 0)}`}
          lines={[
            { label: 'arrivals', status: 'pending', values: arrivals, dash: [4, 3] },
            { label: 'completions', status: 'completed', values: completions, isFilled: true },
          ]}
        />
        <small><span data-status="pending">┄ {numberText(arrivals[last] ?? 0)} in</span> · <span data-status="completed">━ {numberText(completions[last] ?? 0)} done</span></small>
      </dd>
    </div>
  )
}
