/** Prints a report on a terminal. */
import { plural } from '@daybook/core/common'
import type { Report } from '../../client/index.js'
import type { Canvas } from '../drawing/canvas.js'
import { printPicture } from '../drawing/print-picture.js'
import type { Printer } from '../printer.js'
import type { Column } from '../table.js'
import { clean } from '../text.js'
import { headOf, mainColumns, shortTime, told } from './columns.js'
import { reportPicture } from './picture.js'

const barWidth = 20

/** With a canvas, a picture comes before the table. */
export const printReport = (printer: Printer, report: Report, canvas: Canvas | undefined): void => {
  const { rows, by = 'all', from, to, zone, queue, revision, behind = 0, relativeError } = report
  printer.line(`${report.report} of ${clean(queue)}, ${shortTime(from)} to ${shortTime(to)}, ${zone}, up to revision ${revision}${behind > 0 ? ` (${plural(behind, 'event')} behind)` : ''}`)
  const [first] = rows
  if (first === undefined) return printer.line(printer.colors.dim('nothing happened'))
  if (canvas !== undefined) printPicture(printer, canvas, reportPicture(canvas, report))
  // If the whole period is one bucket, the heading names it.
  const isWhole = report.report !== 'breakers' && rows.every((row) => row.from === from && row.to === to)
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'others' && !(name === 'to' && report.report !== 'breakers') && !(isWhole && name === 'from'))
  const bar = report.report === 'summary' || canvas !== undefined ? undefined : mainColumns[report.report]
  const most = bar === undefined || by !== 'all' || isWhole || report.report === 'failures' ? 0 : Math.max(...rows.map((row) => Number(row[bar] ?? 0)))
  // On a narrow terminal figures are left out, the last ones first. What tells rows apart stays.
  const columns: ReadonlyArray<Column> = [
    ...names.map((name, i) => ({ head: headOf(name), ...(texts.has(name) ? { min: 12 } : {}), ...(namesRow.has(name) || texts.has(name) || i < 2 ? {} : { leaveOut: i }) })),
    ...(most > 0 ? [{ head: '', leaveOut: names.length }] : []),
  ]
  printer.table(columns, rows.map((row) => [
    ...names.map((name) => (row[name] === null && row.others !== undefined && (name === by || name === 'signature') ? `${row.others} others` : told(name, row[name]))),
    ...(most > 0 && bar !== undefined ? ['█'.repeat(Math.round((Number(row[bar] ?? 0) / most) * barWidth))] : []),
  ]))
  if (relativeError !== undefined) printer.line(printer.colors.dim(`percentiles are within ${relativeError * 100} % of the exact ones`))
}

const namesRow: ReadonlySet<string> = new Set(['from', 'to', 'phase', 'state', 'signature'])
const texts: ReadonlySet<string> = new Set(['error', 'reason', 'type', 'tenant', 'agent', 'discovery'])
