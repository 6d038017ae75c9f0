/** A report as CSV (RFC 4180). */
import { dimensions } from '../read-models/rollup-tables.js'
import type { Report } from './report.js'

/**
 * Spreadsheets take a cell for a formula if it begins with one of these characters, even after blanks and in full width. A formula could send the
 * sheet elsewhere. An apostrophe before it makes it a text (https://owasp.org/www-community/attacks/CSV_Injection). Quotes alone do not help.
 */
const formula = /^[\s\0]*[=+\-@＝＋－＠|%\t\r\n]/

/** A cell that no program takes for a formula. */
export const csvCell = (value: string | number | null | undefined): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = formula.test(value) ? `'${value}` : value
  return /["',;\r\n\t]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line of names, then a line for each row. A row that sums several groups has their number instead of a name. */
export const reportCsv = ({ columns, rows }: Pick<Report, 'columns' | 'rows'>): string => {
  const names = columns.map(({ name }) => name)
  const lines = rows.map((row) => names.map((name) => csvCell(row[name] === null && row.others !== undefined && groupNames.has(name) ? `${row.others} others` : row[name])).join(','))
  return `${[names.join(','), ...lines].join('\r\n')}\r\n`
}

/** The columns that name groups. */
const groupNames: ReadonlySet<string> = new Set([...dimensions, 'signature'])
