/** Failures by signature. */
import type { Span } from './calendar.js'
import { Groups } from './groups.js'
import type { ReportQuestion, ReportSource } from './question.js'
import { groupColumn, groupOf, type ReportRow, timeColumns } from './rows.js'

interface Failures {
  count: number
  error: string
}

export const failuresReport = ({ by, clock, period, top }: ReportQuestion, source: ReportSource, buckets: ReadonlyArray<Span>) => {
  const groups = new Groups<Failures>(buckets, () => ({ count: 0, error: '' }))
  for (const { quarter_hour, value, signature, failures, error } of source.failures(by, period)) {
    const cell = groups.at(quarter_hour, JSON.stringify([value, signature]))
    if (cell === undefined) continue
    cell.count += failures
    cell.error = error
  }
  const rows: Array<ReportRow> = []
  const places: Array<number> = []
  const told = groups.largest(top, ({ count }) => count, (sum, { count }) => void (sum.count += count))
  for (const { place, value: key, others, cell } of told) {
    const { from, to } = buckets[place] as Span
    const [value = '', signature = ''] = others > 0 ? [] : (JSON.parse(key) as ReadonlyArray<string>)
    rows.push({
      from: clock.textOf(from), to: clock.textOf(to),
      ...groupOf(by, value, 0),
      ...(others > 0 ? { signature: null, others, error: null } : { signature, error: cell.error }),
      failures: cell.count,
    })
    places.push(place)
  }
  return {
    columns: [
      ...timeColumns,
      ...groupColumn(by),
      { name: 'signature', about: 'the same for failures that are alike' },
      { name: 'failures', about: 'attempts that failed, leases that ended by themselves, callbacks that did not come' },
      { name: 'error', about: 'the error of the last of them' },
    ],
    rows,
    places,
  }
}
