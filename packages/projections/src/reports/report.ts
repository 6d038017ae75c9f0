/**
 * Reports: a period of a queue in figures, by bucket and group, from rollups. Pure: the same rows and the same question give the same report.
 *
 *     rows of quarters of an hour ──▶ cells by bucket and group ──▶ figures ──▶ rows ──▶ JSON, CSV or a picture
 */
import * as E from 'fp-ts/lib/Either.js'
import { breakersReport } from './breakers.js'
import { bucketsOf, type BucketSize, type Span } from './calendar.js'
import { Cell } from './cell.js'
import { failuresReport } from './failures.js'
import { fairnessReport } from './fairness.js'
import { figuresOf } from './figures.js'
import { largestOf } from './groups.js'
import type { ReportName, ReportQuestion, ReportSource } from './question.js'
import { type Column, groupColumn, groupOf, type ReportRow, rowsMax, timeColumns } from './rows.js'

export interface Report {
  readonly report: ReportName
  readonly period: Span
  readonly buckets: ReadonlyArray<Span>
  readonly bucket: BucketSize
  readonly question: ReportQuestion
  /** The columns of the rows, in order. */
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<ReportRow>
  /** The bucket's index for each row. */
  readonly places: ReadonlyArray<number>
}

/** `Left` says what is wrong with the question. */
export const reportOf = (question: ReportQuestion, source: ReportSource): E.Either<string, Report> => {
  const { report, clock, period, bucket } = question
  const found = bucketsOf(clock, period, report === 'breakers' ? 'total' : bucket)
  if (E.isLeft(found)) return found
  const buckets = found.right
  const told =
    report === 'breakers' ? breakersReport(question, source)
    : report === 'failures' ? failuresReport(question, source, buckets)
    : report === 'fairness' ? fairnessReport(question, source, buckets)
    : figuresReport(report, question, source, buckets)
  if (told.rows.length > rowsMax) return E.left(`a report has at most ${rowsMax} rows: take a shorter period${report === 'breakers' ? '' : ', larger buckets or a smaller top'}`)
  return E.right({ report, period, buckets, bucket, question, ...told })
}

/** One bucket after the other, so that memory holds no more than the groups that are shown. */
const figuresReport = (report: keyof typeof figuresOf, question: ReportQuestion, source: ReportSource, buckets: ReadonlyArray<Span>) => {
  const { by, period, clock, top } = question
  const { from: read, columns, of } = figuresOf[report]
  const shown = by === 'all' ? [''] : largestOf(new Map(source.sizes(by, period)), top).shown
  const isShown = new Set(shown)
  const rows: Array<ReportRow> = []
  const places: Array<number> = []
  let place = 0
  let cells = new Map<string, Cell>()
  let others = new Cell()
  let otherValues = new Set<string>()

  const tell = (value: string, cell: Cell, othersIn = 0): void => {
    const { from, to } = buckets[place] as Span
    const values = of(cell, (to - from) / 3_600_000)
    // A deadline belongs to no agent, so 0 would be no figure.
    const told = columns.map(({ name }, i) => [name, by === 'agent' && name.startsWith('deadlines') ? null : (values[i] ?? null)])
    rows.push({ from: clock.textOf(from), to: clock.textOf(to), ...groupOf(by, value, othersIn), ...Object.fromEntries(told) })
    places.push(place)
  }
  const endBucket = (): void => {
    // Without groups, a bucket in which nothing happened has a row as well.
    if (by === 'all') tell('', cells.get('') ?? new Cell())
    else for (const value of shown) if (cells.has(value)) tell(value, cells.get(value) as Cell)
    if (otherValues.size > 0) tell('', others, otherValues.size)
    cells = new Map()
    others = new Cell()
    otherValues = new Set()
    place++
  }

  for (const row of source.rollups(by, period, read)) {
    if (rows.length > rowsMax) break
    while (row.quarter_hour >= (buckets[place] as Span).to) endBucket()
    const { value } = row
    if (!isShown.has(value)) {
      otherValues.add(value)
      others.add(row, read)
      continue
    }
    let cell = cells.get(value)
    if (cell === undefined) cells.set(value, (cell = new Cell()))
    cell.add(row, read)
  }
  while (place < buckets.length) endBucket()
  return { columns: [...timeColumns, ...groupColumn(by), ...columns], rows, places }
}
