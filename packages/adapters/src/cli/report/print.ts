/** Prints a report on a terminal. */
import { lengthText } from '@daybook/projections/charts'
import { plural } from '@daybook/core'
import type { Report } from '../../client/index.js'
import type { Printer } from '../printer.js'
import type { Column } from '../table.js'
import { clean } from '../text.js'

type Value = string | number | null | undefined

/** The column that the bar shows, if the rows are buckets. */
const barOf: Readonly<Record<string, string>> = { throughput: 'completed', latency: 'waitP95Seconds', retries: 'retried', deadlines: 'deadlines', failures: 'failures' }
const barWidth = 20

export const printReport = (printer: Printer, report: Report): void => {
  const { rows, by = 'all', from, to, zone, queue, revision, behind = 0, relativeError } = report
  printer.line(`${report.report} of ${clean(queue)}, ${shortTime(from)} to ${shortTime(to)}, ${zone}, up to revision ${revision}${behind > 0 ? ` (${plural(behind, 'event')} behind)` : ''}`)
  const [first] = rows
  if (first === undefined) return printer.line(printer.colors.dim('nothing happened'))
  // If the whole period is one bucket, the heading names it.
  const isWhole = report.report !== 'breakers' && rows.every((row) => row.from === from && row.to === to)
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'others' && !(name === 'to' && report.report !== 'breakers') && !(isWhole && name === 'from'))
  const bar = barOf[report.report]
  const most = bar === undefined || by !== 'all' || isWhole || report.report === 'failures' ? 0 : Math.max(...rows.map((row) => Number(row[bar] ?? 0)))
  const columns: ReadonlyArray<Column> = [...names.map((name) => ({ head: headOf(name), ...(texts.has(name) ? { min: 12 } : {}) })), ...(most > 0 ? [{ head: '', leaveOut: 1 }] : [])]
  printer.table(columns, rows.map((row) => [
    ...names.map((name) => (row[name] === null && row.others !== undefined && (name === by || name === 'signature') ? `${row.others} others` : told(name, row[name]))),
    ...(most > 0 && bar !== undefined ? ['█'.repeat(Math.round((Number(row[bar] ?? 0) / most) * barWidth))] : []),
  ]))
  if (relativeError !== undefined) printer.line(printer.colors.dim(`percentiles are within ${relativeError * 100} % of the exact ones`))
}

const texts: ReadonlySet<string> = new Set(['error', 'reason', 'type', 'tenant', 'agent', 'discovery'])

/** `waitP50Seconds` → `wait P50`; `deadLettered` → `dead lettered`. */
const headOf = (name: string): string => (name === 'from' ? 'from' : name.replace(/Seconds$/, '').replace(/(P\d\d|Mean|[A-Z])/g, (part) => ` ${part.startsWith('P') && part.length > 1 ? part : part.toLowerCase()}`))

const told = (name: string, value: Value): string => {
  if (value === null || value === undefined) return name === 'from' || name === 'to' ? '' : '-'
  if (typeof value === 'string') return name === 'from' || name === 'to' ? shortTime(value) : name === 'signature' ? value.slice(0, 12) : clean(value)
  if (/seconds$/i.test(name)) return value < 1 && value > 0 ? `${Number((value * 1_000).toPrecision(3))}ms` : lengthText(value)
  if (/Share$/.test(name)) return `${(value * 100).toFixed(1)} %`
  return Number.isInteger(value) ? value.toLocaleString('en-US') : String(Number(value.toPrecision(4)))
}

/** `2026-07-01 14:00`, without the time at midnight. The offset is printed where clocks change, because an hour may come twice. */
const shortTime = (text: string): string => {
  const [day = '', clock = ''] = text.split('T')
  return clock.startsWith('00:00') ? day : `${day} ${clock.slice(0, 5)}`
}
