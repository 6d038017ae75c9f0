/** What happened to one group in one bucket: a sum of rollups. */
import type { RollupRow } from '../read-models/rollup-tables.js'
import { Distribution } from './distribution.js'

type Key = 'queue' | 'dimension' | 'quarter_hour' | 'value'
type SketchColumn = 'wait_sketch' | 'run_sketch'
/** A column that is summed. */
export type SumColumn = Exclude<keyof RollupRow, Key | SketchColumn>
export type FigureColumn = SumColumn | SketchColumn
/** A row with some of its columns. */
export type RollupPart = Pick<RollupRow, 'quarter_hour' | 'value'> & Partial<RollupRow>

const isSketch = (column: FigureColumn): column is SketchColumn => column.endsWith('_sketch')

export class Cell {
  private readonly sums: Record<string, number> = {}
  private readonly times: Partial<Record<SketchColumn, Distribution>> = {}

  add(row: RollupPart, columns: ReadonlyArray<FigureColumn>): void {
    for (const column of columns) {
      if (!isSketch(column)) this.sums[column] = (this.sums[column] ?? 0) + (row[column] ?? 0)
      else if (row[column] !== '[]') (this.times[column] ??= new Distribution()).addText(row[column] ?? '')
    }
  }

  sum(...columns: ReadonlyArray<SumColumn>): number {
    return columns.reduce((sum, column) => sum + (this.sums[column] ?? 0), 0)
  }

  /** Number of times in a sketch. */
  count(column: SketchColumn): number {
    return this.times[column]?.count ?? 0
  }

  /** Quantiles in seconds, in the order of `shares`; `null` without times. */
  quantiles(column: SketchColumn, shares: ReadonlyArray<number>): ReadonlyArray<number | null> {
    return this.times[column]?.quantiles(shares)?.map((ms) => ms / 1_000) ?? shares.map(() => null)
  }
}
