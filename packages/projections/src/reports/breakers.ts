/** When each breaker was open, half-open and closed. */
import type { ReportQuestion, ReportSource } from './question.js'
import { type ReportRow, rowsMax } from './rows.js'

export const breakersReport = ({ clock, period, now }: ReportQuestion, source: ReportSource) => {
  const rows: Array<ReportRow> = []
  for (const { type, state, began_at, ended_at, cause, reason } of source.breakerSpans(period)) {
    if (rows.length > rowsMax) break
    // Of a time that has not come, nobody knows.
    if (ended_at === null && began_at < period.from && now <= period.from) continue
    const from = Math.max(began_at, period.from)
    const to = Math.min(ended_at ?? now, period.to)
    if (to <= from && ended_at !== null) continue
    rows.push({
      type, state,
      from: clock.textOf(from),
      to: ended_at === null || ended_at > period.to ? null : clock.textOf(to),
      seconds: Math.max(0, to - from) / 1_000,
      cause, reason,
    })
  }
  return {
    columns: [
      { name: 'type', about: 'the task type' },
      { name: 'state', about: 'open, half-open or closed' },
      { name: 'from', about: 'when it began, or when the period begins' },
      { name: 'to', about: 'when it ended; nothing if it goes on beyond the period' },
      { name: 'seconds', about: 'how long it lasted in the period' },
      { name: 'cause', about: 'threshold, probe-failed, probe-succeeded, manual, or deleted with the queue' },
      { name: 'reason', about: 'the reason that an operator gave' },
    ],
    rows,
    places: rows.map(() => 0),
  }
}
