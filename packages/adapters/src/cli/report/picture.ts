/** The picture of a report in the terminal: columns and lines over time, bars of groups, a strip of breakers. */
import type { Report } from '../../client/index.js'
import { type Bar, barChart } from '../drawing/bar-chart.js'
import type { Canvas } from '../drawing/canvas.js'
import { columnChart } from '../drawing/column-chart.js'
import { lineChart } from '../drawing/line-chart.js'
import { greatest, type Point, roundUpSeconds } from '../drawing/scale.js'
import { stripChart } from '../drawing/strip.js'
import { clean } from '../text.js'
import { headOf, mainColumns, shortTime, told } from './columns.js'

type Row = Report['rows'][number]

const numberIn = (row: Row, name: string): number => (typeof row[name] === 'number' ? (row[name] as number) : 0)
const sumOf = (rows: ReadonlyArray<Row>, name: string): number => rows.reduce((sum, row) => sum + numberIn(row, name), 0)
const grouped = (rows: ReadonlyArray<Row>, keyOf: (row: Row) => string): ReadonlyMap<string, ReadonlyArray<Row>> => {
  const groups = new Map<string, Array<Row>>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return groups
}
/** Which group a row is about. Names are not unique: a tenant may be called `no tenant`, and what is summed has no name either. */
const keyIn = (row: Row, by: string): string => JSON.stringify([row[by] ?? null, isSum(row)])
const isSum = ({ others }: Row): boolean => others !== null && others !== undefined
/** Of the group that a row is about. */
const nameIn = (row: Row, by: string): string => (isSum(row) ? `${row.others} others` : clean(String(row[by] ?? `no ${by}`), 60))
const isDuration = (name: string): boolean => name.endsWith('Seconds')

/** `07-01` at midnight, `14:00` at other times. */
const tickOf = (time: string): string => {
  const text = shortTime(time)
  return text.includes(' ') ? (text.split(' ')[1] as string) : text.slice(5)
}
const pointsOf = (rows: ReadonlyArray<Row>, valueOf: (row: Row) => number | null): ReadonlyArray<Point> => rows.map((row) => ({ label: tickOf(String(row.from ?? '')), value: valueOf(row) }))
const column = (name: string) => (row: Row): number | null => (typeof row[name] === 'number' ? (row[name] as number) : null)

/** Empty if the table says as much. */
export const reportPicture = (canvas: Canvas, report: Report): ReadonlyArray<string> => {
  const { rows, by = 'all' } = report
  if (rows.length === 0) return []
  if (report.report === 'breakers') return breakersOf(canvas, report)
  if (report.report === 'fairness') return fairnessOf(canvas, rows)
  if (report.report === 'failures') return groupsOf(canvas, rows, 'error', 'failures', (row) => keyIn(row, 'signature'))
  if (by !== 'all') return groupsOf(canvas, rows, by, mainColumns[report.report] ?? '', (row) => keyIn(row, by))
  return rows.length > 1 ? overTime(canvas, report) : ofOneBucket(canvas, rows[0] as Row)
}

// ---------------------------------------------------------------------------------------- over time

const overTime = (canvas: Canvas, { report, rows }: Report): ReadonlyArray<string> => {
  const { colors } = canvas
  const counted = (name: string, paint: Canvas['colors']['cyan'], most?: number): ReadonlyArray<string> =>
    columnChart(canvas, { title: headOf(name), points: pointsOf(rows, column(name)), told: (value) => told(name, value), paint, shares: 'total', ...(most === undefined ? {} : { most }), height: 5 })
  switch (report) {
    case 'latency':
      return [...percentiles(canvas, rows, 'wait'), '', ...percentiles(canvas, rows, 'run')]
    case 'throughput': {
      const most = greatest(rows.flatMap((row) => [numberIn(row, 'enqueued'), numberIn(row, 'completed')]))
      return [...counted('enqueued', colors.cyan, most), '', ...counted('completed', colors.green, most)]
    }
    case 'retries':
      return [...counted('failed', colors.red), '', ...counted('retried', colors.yellow)]
    case 'deadlines':
      return columnChart(canvas, { title: 'deadlines that were not met', points: pointsOf(rows, (row) => numberIn(row, 'deadlines') - numberIn(row, 'deadlinesMet')), told: (value) => told('deadlines', value), paint: colors.red, shares: 'total' })
    default:
      return [...counted('completed', colors.green), '', ...percentiles(canvas, rows, 'wait')]
  }
}

const percentiles = (canvas: Canvas, rows: ReadonlyArray<Row>, what: 'wait' | 'run'): ReadonlyArray<string> => {
  const { colors } = canvas
  const line = (percentile: string, paint: Canvas['colors']['cyan']) => ({ name: percentile.toLowerCase(), points: pointsOf(rows, column(`${what}${percentile}Seconds`)), paint })
  return lineChart(canvas, {
    title: what === 'wait' ? 'how long tasks waited' : 'how long they ran',
    lines: [line('P50', colors.green), line('P95', colors.yellow), line('P99', colors.red)],
    told: (value) => told('waitSeconds', value),
    topOf: roundUpSeconds,
  })
}

// ----------------------------------------------------------------------------------------- as bars

/** Counts, and durations below them: each kind has a scale of its own. */
const ofOneBucket = (canvas: Canvas, row: Row): ReadonlyArray<string> => {
  const names = Object.keys(row).filter((name) => typeof row[name] === 'number' && !/(?:PerHour|Share)$/.test(name))
  const barsOf = (some: ReadonlyArray<string>): ReadonlyArray<Bar> => some.map((name) => ({ name: headOf(name), value: numberIn(row, name), says: told(name, row[name]) }))
  const [counts, durations] = [names.filter((name) => !isDuration(name)), names.filter(isDuration)]
  return [
    ...(counts.length === 0 ? [] : barChart(canvas, { title: 'tasks', bars: barsOf(counts) })),
    ...(counts.length === 0 || durations.length === 0 ? [] : ['']),
    ...(durations.length === 0 ? [] : barChart(canvas, { title: 'times', bars: barsOf(durations) })),
  ]
}

/** Over all buckets: the sum of counts, the worst of durations. */
const groupsOf = (canvas: Canvas, rows: ReadonlyArray<Row>, by: string, name: string, keyOf: (row: Row) => string): ReadonlyArray<string> => {
  const groups = grouped(rows, keyOf)
  const bars = [...groups.values()].map((some): Bar => {
    const [first] = some as [Row]
    const value = isDuration(name) ? greatest(some.map((row) => numberIn(row, name))) : sumOf(some, name)
    // How many are summed differs between buckets.
    return { name: some.length > 1 && isSum(first) ? 'others' : nameIn(first, by), value, says: told(name, value) }
  })
  return barChart(canvas, { title: `${headOf(name)} by ${by}`, bars: [...bars].sort((a, b) => b.value - a.value) })
}

const fairnessOf = (canvas: Canvas, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const tenants = grouped(rows.filter((row) => typeof row.due === 'number'), (row) => keyIn(row, 'tenant'))
  const bars = [...tenants.values()].map((some): Bar => {
    const name = nameIn(some[0] as Row, 'tenant')
    const [got, due] = [sumOf(some, 'got'), sumOf(some, 'due')]
    return { name, value: got, due, says: due > 0 ? `${told('got', got)} of ${told('due', due)}` : told('got', got) }
  })
  return bars.every(({ due = 0 }) => due === 0) ? [] : barChart(canvas, { title: 'claims that tenants got while they were compared', bars })
}

// ---------------------------------------------------------------------------------------- breakers

const states = ['closed', 'half-open', 'open'] as const

const breakersOf = (canvas: Canvas, { rows, from, to }: Report): ReadonlyArray<string> => {
  const { colors, glyphs } = canvas
  const [begin, end] = [Date.parse(from), Date.parse(to)]
  const types = [...grouped(rows, ({ type }) => String(type))]
  return stripChart(canvas, {
    title: 'breakers',
    from: begin,
    to: end,
    states: [{ name: 'closed', glyph: glyphs.line, paint: colors.green }, { name: 'half-open', glyph: glyphs.fills[2] as string, paint: colors.yellow }, { name: 'open', glyph: glyphs.fills[0] as string, paint: colors.red }],
    rows: types.map(([type, some]) => ({
      name: clean(type, 60),
      says: `${told('seconds', sumOf(some.filter(({ state }) => state === 'open'), 'seconds'))} open`,
      segments: some.map((row) => ({ from: Date.parse(String(row.from)), to: Date.parse(String(row.from)) + numberIn(row, 'seconds') * 1_000, state: Math.max(0, states.indexOf(row.state as (typeof states)[number])) })),
    })),
    labels: [shortTime(from), shortTime(to)],
  })
}
