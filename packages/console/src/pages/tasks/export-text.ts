/** Tasks as a file. No browser needed. */
import type { TaskView } from '@daybook/client'

const columns = ['id', 'number', 'type', 'status', 'priority', 'tenant', 'ticketId', 'phase', 'attempt', 'attemptsMax', 'claimedBy', 'createdAt', 'completedAt', 'lastError'] as const satisfies ReadonlyArray<keyof TaskView>

export const exportText = (tasks: ReadonlyArray<TaskView>, kind: 'csv' | 'ndjson'): string =>
  kind === 'ndjson'
    ? tasks.map((task) => `${JSON.stringify(task)}\n`).join('')
    : [columns.join(','), ...tasks.map((task) => columns.map((column) => csvCell(task[column])).join(','))].map((line) => `${line}\r\n`).join('')

/** Spreadsheets take a cell for a formula that begins so, even after blanks and in full width: the same as in the files of reports. */
const formula = /^[\s\0]*[=+\-@＝＋－＠|%\t\r\n]/

/** A text that a spreadsheet would take for a formula gets an apostrophe before it. */
export const csvCell = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  const text = String(value)
  const safe = typeof value === 'string' && formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe
}
