/** The figures of a report as people read them. No browser needed. */
import type { ReportRow } from '@daybook/client'
import { counted, durationText, numberText } from '../../parts/format.js'
import { shortSignature } from '../dead-letters/group.js'

/** Of the rows, in their order, without what belongs to another. */
export const columnsOf = (rows: ReadonlyArray<ReportRow>): ReadonlyArray<string> => Object.keys(rows[0] ?? {}).filter((name) => name !== 'others')

/** All rows are of the same time, which then need not stand in each. */
export const haveOneBucket = (rows: ReadonlyArray<ReportRow>): boolean => rows.length > 0 && rows.every(({ from, to }) => from === rows[0]?.['from'] && to === rows[0]?.['to'])

/** `waitP50Seconds` → `wait P50`: the unit stands with each figure. */
export const columnTitle = (name: string): string => name.replace(/Seconds$|^seconds$/, (found) => (found === 'seconds' ? 'for' : '')).replace(/([a-z])([A-Z])/g, '$1 $2').replace(/ ([A-Z][a-z])/g, (found) => found.toLowerCase())

const groups: ReadonlySet<string> = new Set(['type', 'phase', 'tenant', 'agent', 'discovery'])

/** Durations with their units, shares in percent, and what a row stands for that has no group of its own. */
export const figureText = (row: ReportRow, name: string): string => {
  const value = row[name]
  if (value === undefined || value === null) return (groups.has(name) || name === 'signature') && typeof row['others'] === 'number' ? counted(row['others'], 'other') : groups.has(name) ? `no ${name}` : '–'
  if (typeof value === 'string') return name === 'signature' ? shortSignature(value) : value
  if (/seconds$/i.test(name)) return durationText(value)
  return /Share$/.test(name) ? `${numberText(value * 100)} %` : numberText(value)
}
