/** A report as a picture: SVG that is legible in light, in dark and in print. */
import { scaleLinear, scaleSymlog } from 'd3-scale'
import { bucketChart, lengthText, lengthTicks, rowChart, type Series, shortName, stripChart } from '../charts/index.js'
import { type BucketSize, bucketsOf, type Clock } from './calendar.js'
import type { Shown } from './json.js'
import type { ReportName } from './question.js'
import type { Report } from './report.js'
import type { ReportRow } from './rows.js'

const titles: Readonly<Record<ReportName, string>> = {
  summary: 'Waits', throughput: 'Throughput', latency: 'Waits', retries: 'Retries', deadlines: 'Deadlines met', failures: 'Failures by signature', breakers: 'Breakers', fairness: 'Claims of tenants against their shares',
}
/** The largest number of groups in a picture. The others are summed, or left out with a note. */
const groupsMax = 6
const rowsMax = 24

export const pictureOf = (report: Report, { queue, revision }: Shown): string => {
  const { report: name, period, question: { clock } } = report
  const of = `queue ${queue}, ${dayText(clock, period.from)} to ${dayText(clock, period.to)}, ${clock.zone}, up to revision ${revision}`
  const heading = (...what: ReadonlyArray<string>) => ({ title: titles[name], subtitle: [...what, of].filter((words) => words !== '').join('; ') })
  switch (name) {
    case 'throughput':
      return report.buckets.length < 2 ? counts(report, 'completed', heading, 'tasks completed') : bars(report, heading('tasks completed'), 'completed', report.question.by === 'all' ? 'enqueued' : undefined)
    case 'summary':
    case 'latency':
      return report.buckets.length < 2 ? quantiles(report, heading) : lines(report, heading)
    case 'retries':
      return report.buckets.length < 2 ? counts(report, 'retried', heading, 'retries') : bars(report, heading('retries'), 'retried')
    case 'deadlines':
      return report.question.by === 'all' && report.buckets.length > 1 ? metBars(report, heading('deadlines')) : metShares(report, heading)
    case 'failures':
      return report.buckets.length < 2 ? counts(report, 'failures', heading, '') : bars(report, heading(), 'failures')
    case 'breakers':
      return strips(report, heading)
    case 'fairness':
      return ratios(report, heading)
  }
}

// ------------------------------------------------------------------------------------------ groups

const groupName = ({ question: { by }, report }: Report, row: ReportRow): string => {
  const group = by === 'all' ? '' : String(row[by] ?? `no ${by}`)
  if (report !== 'failures') return by === 'all' ? 'all' : group
  const failure = String(row.error ?? row.signature)
  return by === 'all' ? failure : `${group}: ${failure}`
}

const numberIn = (row: ReportRow, column: string): number => (typeof row[column] === 'number' ? row[column] : 0)

/** A name, and a row for each bucket in which the group occurs. The groups that the report has summed are one of them. */
type Group = readonly [name: string, rows: ReadonlyMap<number, ReportRow>]

/** The groups in the order in which they first occur, each with its rows. */
const groupsOf = (report: Report): ReadonlyArray<Group> => {
  const { question: { by }, buckets, places } = report
  const found = new Map<string, readonly [name: string, rows: Map<number, ReportRow>]>()
  for (const [i, row] of report.rows.entries()) {
    const isRest = row.others !== undefined
    // Names are not unique: signatures may have the same error, and a tenant may be named `no tenant`.
    const key = isRest ? 'others' : JSON.stringify([row[by] ?? null, row.signature ?? null])
    const name = !isRest ? groupName(report, row) : buckets.length > 1 ? 'others' : `${row.others} others`
    const group = found.get(key) ?? ([name, new Map<number, ReportRow>()] as const)
    group[1].set(places[i] ?? 0, row)
    found.set(key, group)
  }
  return [...found.values()]
}

const sumOf = (rows: ReadonlyMap<number, ReportRow>, column: string): number => [...rows.values()].reduce((sum, row) => sum + numberIn(row, column), 0)

/** How many groups are summed in each bucket that has such. */
const sumsIn = ([, rows]: Group): ReadonlyArray<number> => [...rows.values()].flatMap(({ others }) => (typeof others === 'number' ? [others] : []))
const isSum = (group: Group): boolean => sumsIn(group).length > 0

/** How many groups these are, with the summed ones. `undefined` if several buckets have sums, which need not be of the same groups. */
const countOf = (groups: ReadonlyArray<Group>): number | undefined => {
  const sums = groups.flatMap(sumsIn)
  return sums.length > 1 ? undefined : groups.length - sums.length + (sums[0] ?? 0)
}

/** What a picture of these rows leaves out, in words. */
const leftOut = (rows: number, count: number | undefined): string => (rows <= rowsMax ? '' : count === undefined ? `only ${rowsMax} are shown` : `${rowsMax} of ${count} are shown`)

/** The largest groups first, and all others as one. What is summed already is among these. */
const countSeries = (report: Report, column: string): ReadonlyArray<Series> => {
  const groups = [...groupsOf(report)].sort((a, b) => Number(isSum(a)) - Number(isSum(b)) || sumOf(b[1], column) - sumOf(a[1], column))
  const count = countOf(groups)
  const shown = groups.slice(0, groups.length > groupsMax ? groupsMax - 1 : groupsMax)
  const rest = groups.slice(shown.length)
  const of = (rows: ReadonlyArray<ReadonlyMap<number, ReportRow>>) => report.buckets.map((_, place) => rows.reduce((sum, each) => sum + numberIn(each.get(place) ?? {}, column), 0))
  const told = shown.map(([name, rows]) => ({ name: shortName(name, 40), values: of([rows]) }))
  return rest.length === 0 ? told : [...told, { name: count === undefined ? 'others' : `${count - shown.length} others`, values: of(rest.map(([, rows]) => rows)) }]
}

// ------------------------------------------------------------------------------------------ charts

type Heading = { readonly title: string; readonly subtitle: string }
type HeadingOf = (...what: ReadonlyArray<string>) => Heading

const bars = (report: Report, heading: Heading, column: string, compared?: string): string => {
  const series = countSeries(report, column)
  const lines = compared === undefined ? [] : countSeries(report, compared).map(({ values }) => ({ name: compared, values }))
  return bucketChart({
    ...heading, unit: column, buckets: report.buckets, lines, times: timesOf(report),
    bars: compared === undefined ? series : series.map(({ values }) => ({ name: column, values })),
    ...countAxis([...sumsOf(series, report.buckets.length), ...lines.flatMap(({ values }) => values)]),
  })
}

const metBars = (report: Report, heading: Heading): string => {
  const [met, all] = [countSeries(report, 'deadlinesMet')[0], countSeries(report, 'deadlines')[0]]
  const missed = (all?.values ?? []).map((value, place) => (value ?? 0) - (met?.values[place] ?? 0))
  const series = [{ name: 'met', values: met?.values ?? [] }, { name: 'missed', values: missed }]
  return bucketChart({ ...heading, unit: 'deadlines', buckets: report.buckets, lines: [], bars: series, times: timesOf(report), ...countAxis(sumsOf(series, report.buckets.length)) })
}

const sumsOf = (series: ReadonlyArray<Series>, length: number): ReadonlyArray<number> => Array.from({ length }, (_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0))

const countAxis = (values: ReadonlyArray<number | null>) => {
  const place = scaleLinear([0, Math.max(1, ...values.map((value) => value ?? 0))], [0, 1]).nice(5)
  return { place: (value: number) => place(value), ticks: place.ticks(5).filter((at) => Number.isInteger(at)).map((at) => ({ at, label: at.toLocaleString('en-US') })) }
}

const secondsAxis = (values: ReadonlyArray<number | null>) => {
  const ticks = lengthTicks(Math.max(1, ...values.map((value) => value ?? 0)))
  const place = scaleSymlog([0, ticks[ticks.length - 1]?.at ?? 1], [0, 1]).constant(1)
  return { place: (value: number) => place(value), ticks }
}

const lines = (report: Report, heading: HeadingOf): string => {
  const of = (rows: ReadonlyMap<number, ReportRow>, column: string) => report.buckets.map((_, place) => {
    const value = rows.get(place)?.[column]
    return typeof value === 'number' ? value : null
  })
  // A group that only came later may be among the largest. What is summed is none of them.
  const sizeOf = (group: Group): number => (isSum(group) ? -1 : sumOf(group[1], 'claimed'))
  const groups = [...groupsOf(report)].sort((a, b) => sizeOf(b) - sizeOf(a))
  const count = countOf(groups)
  const isOne = report.question.by === 'all'
  const told: ReadonlyArray<Series> = isOne
    ? ['P50', 'P95', 'P99'].map((name) => ({ name, isMain: name === 'P95', values: of(groups[0]?.[1] ?? new Map<number, ReportRow>(), `wait${name}Seconds`) }))
    : groups.slice(0, groupsMax).map(([name, rows], i) => ({ name: shortName(name, 40), isMain: i === 0, values: of(rows, 'waitP95Seconds') }))
  const what = isOne ? 'from ready to the claim' : groups.length > groupsMax ? `P95 of the ${groupsMax} largest${count === undefined ? '' : ` of ${count}`}` : 'P95'
  return bucketChart({ ...heading(what), unit: 'wait', buckets: report.buckets, bars: [], lines: told, times: timesOf(report), ...secondsAxis(told.flatMap(({ values }) => values)) })
}

/** Of a report with one bucket. */
const quantiles = (report: Report, heading: HeadingOf): string => {
  const all = groupsOf(report)
  const groups = all.slice(0, rowsMax)
  const values = (rows: ReadonlyMap<number, ReportRow>): ReadonlyArray<number> => ['P50', 'P95', 'P99'].map((name) => numberIn(rows.get(0) ?? {}, `wait${name}Seconds`))
  return rowChart({
    ...heading('from ready to the claim', leftOut(all.length, countOf(all))),
    groups: groups.map(([name, rows]) => {
      const [p50 = 0, p95 = 0, p99 = 0] = values(rows)
      return { name, rows: [{ name: '', isMain: true, marks: [{ mark: 'ring', value: p50 }, { mark: 'dot', value: p95 }, { mark: 'bar', value: p99 }], says: lengthText(p95) }] }
    }),
    ...secondsAxis(groups.flatMap(([, rows]) => values(rows))),
    saysHead: 'P95',
    key: [{ mark: 'ring', name: 'P50: half wait less' }, { mark: 'dot', name: 'P95: 95 of 100 wait less' }, { mark: 'bar', name: 'P99' }],
  })
}

const counts = (report: Report, column: string, heading: HeadingOf, what: string): string => {
  const all = groupsOf(report)
  const told = all.filter((group) => all.length <= rowsMax || !isSum(group)).map(([name, rows]) => ({ name, value: sumOf(rows, column) })).sort((a, b) => b.value - a.value).slice(0, rowsMax)
  return rowChart({
    ...heading(what, leftOut(all.length, countOf(all))), ...countAxis(told.map(({ value }) => value)), saysHead: column,
    groups: told.map(({ name, value }) => ({ name, rows: [{ name: '', isMain: true, marks: [{ mark: 'dot', value }], says: value.toLocaleString('en-US') }] })),
  })
}

const metShares = (report: Report, heading: HeadingOf): string => {
  const found = groupsOf(report).filter(([, rows]) => sumOf(rows, 'deadlines') > 0)
  const groups = found.map(([name, rows]) => ({ name, share: sumOf(rows, 'deadlinesMet') / sumOf(rows, 'deadlines') }))
  return shares(groups, heading(groups.length === 0 ? 'no task had a deadline' : leftOut(groups.length, countOf(found))), 'met', (share) => `${(share * 100).toFixed(1)} %`, 1)
}

const ratios = (report: Report, heading: HeadingOf): string => {
  const found = groupsOf(report).filter(([, rows]) => sumOf(rows, 'due') > 0)
  const groups = found.map(([name, rows]) => ({ name, share: sumOf(rows, 'got') / sumOf(rows, 'due') }))
  return shares(groups, heading(...(groups.length === 0 ? ['no two tenants could be compared'] : ['claims got of those due by weight', leftOut(groups.length, countOf(found))])), 'got of due', (share) => share.toFixed(2), Math.max(1, ...groups.map(({ share }) => share)))
}

const shares = (groups: ReadonlyArray<{ readonly name: string; readonly share: number }>, heading: Heading, saysHead: string, says: (share: number) => string, most: number): string => {
  const place = scaleLinear([0, most], [0, 1]).nice(5)
  return rowChart({
    ...heading, saysHead, place: (value) => place(value), ticks: place.ticks(5).map((at) => ({ at, label: saysHead === 'met' ? `${Math.round(at * 100)} %` : String(at) })),
    groups: groups.slice(0, rowsMax).map(({ name, share }) => ({ name, rows: [{ name: '', isMain: true, marks: [{ mark: 'dot', value: share }], says: says(share) }] })),
  })
}

const strips = (report: Report, heading: HeadingOf): string => {
  const { period, rows } = report
  const all = [...new Set(rows.map(({ type }) => String(type)))]
  const types = all.slice(0, rowsMax)
  return stripChart({
    ...heading(types.length === 0 ? 'no breaker changed' : leftOut(all.length, all.length)), ...period, times: timesOf(report), saysHead: 'open',
    rows: types.map((type) => {
      const spans = rows.filter((row) => row.type === type)
      const open = spans.filter(({ state }) => state === 'open').reduce((sum, row) => sum + numberIn(row, 'seconds'), 0)
      return {
        name: type, says: lengthText(open),
        spans: spans.map((row) => {
          const from = Date.parse(String(row.from))
          return { from, to: from + numberIn(row, 'seconds') * 1_000, mark: row.state === 'open' ? 'full' : row.state === 'half-open' ? 'half' : 'line' }
        }),
      }
    }),
    key: [{ mark: 'full', name: 'open' }, { mark: 'half', name: 'half-open' }, { mark: 'line', name: 'closed' }],
  })
}

// -------------------------------------------------------------------------------------------- time

const sizes: ReadonlyArray<readonly [BucketSize, ms: number]> = [[15, 900_000], [60, 3_600_000], [180, 10_800_000], [360, 21_600_000], [720, 43_200_000], ['day', 86_400_000], ['week', 604_800_000], ['month', 2_678_400_000]]
const ticksMax = 9
/**
 * A tick that is nearer to the previous one than this share of the usual distance is left out. That happens where clocks change, and where the period
 * cuts a bucket short.
 */
const nearest = 0.6

const timesOf = ({ period, question: { clock } }: Report): ReadonlyArray<{ readonly at: number; readonly label: string }> => {
  const [size, usual] = sizes.find(([, ms]) => (period.to - period.from) / ms <= 2 * ticksMax) ?? (['month', 2_678_400_000] as const)
  const found = bucketsOf(clock, period, size)
  const begins = found._tag === 'Left' ? [] : found.right.map(({ from }) => from)
  const every = Math.ceil(begins.length / ticksMax)
  const kept: Array<number> = []
  for (const at of begins.filter((begin, i) => i % every === 0 && isRound(clock, begin, size)).reverse()) {
    if (at <= (kept[kept.length - 1] ?? Infinity) - nearest * every * usual) kept.push(at)
  }
  return kept.reverse().map((at) => ({ at, label: timeText(clock, at, size) }))
}

const isRound = (clock: Clock, at: number, size: BucketSize): boolean => {
  const local = clock.textOf(at)
  return typeof size === 'number' ? local.slice(14, 16) === '00' || size < 60 : local.slice(11, 16) === '00:00' || local.slice(11, 16) === '01:00'
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const timeText = (clock: Clock, at: number, size: BucketSize): string => {
  const text = clock.textOf(at)
  const month = months[Number(text.slice(5, 7)) - 1] ?? ''
  if (size === 'month') return `${month} ${text.slice(0, 4)}`
  const clockText = text.slice(11, 16)
  return typeof size === 'number' && clockText !== '00:00' ? clockText : `${month} ${Number(text.slice(8, 10))}`
}

/** `2026-11-22`, with the time if it is not midnight. */
const dayText = (clock: Clock, at: number): string => {
  const text = clock.textOf(at)
  return text.slice(11, 16) === '00:00' ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`
}

