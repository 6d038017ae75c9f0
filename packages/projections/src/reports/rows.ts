/** The rows of reports. */
import type { Dimension } from '../read-models/rollup-tables.js'

export type ReportRow = Readonly<Record<string, string | number | null>>

export interface Column {
  readonly name: string
  /** One line for people. */
  readonly about: string
}

/** A report with more rows is refused: nobody reads them, and its text would be larger than memory. */
export const rowsMax = 100_000

export const timeColumns: ReadonlyArray<Column> = [{ name: 'from', about: 'when the bucket begins' }, { name: 'to', about: 'when it ends' }]

const what: Readonly<Record<Dimension, string>> = {
  all: '', type: 'the task type', phase: 'the phase', tenant: 'the tenant', agent: 'the agent of the last claim', discovery: 'the kind of discovery that the task is about',
}

export const groupColumn = (by: Dimension): ReadonlyArray<Column> => (by === 'all' ? [] : [{ name: by, about: what[by] }])

/** The member of a row that names its group: `null` for none. With `others` above 0 it stands for this many summed groups. */
export const groupOf = (by: Dimension, value: string, others: number): ReportRow =>
  by === 'all' ? {} : others > 0 ? { [by]: null, others } : { [by]: value === '' ? null : value }

/** Six digits are more than anybody reads. */
export const rounded = (value: number): number => Number(value.toPrecision(6))
