/** Reads the question for a report from the parameters of a request or the options of a command. */
import { type FieldError } from '@daybook/core'
import { type BucketSize, bucketSizeOf, type Clock, clockOf, type Dimension, dimensions, quarterMs, type ReportName, type ReportPeriod, wholeQuarters } from '@daybook/projections/reports'
import * as E from 'fp-ts/lib/Either.js'
import { isoOf, parseTime } from '../../iso-time.js'

export const formats = ['json', 'csv', 'svg'] as const
export type ReportFormat = (typeof formats)[number]

/** As text; all are optional. */
export interface ReportParameters {
  /** A time, or a day, which means its beginning in the zone. Default: a day before `to`. */
  readonly from?: string | undefined
  /** Not included. Default: the end of this quarter of an hour. */
  readonly to?: string | undefined
  /** month, week, day, hour, total, or a number of minutes. Default: depends on the length of the period. */
  readonly bucket?: string | undefined
  /** A time zone of the IANA list. Default: UTC. */
  readonly zone?: string | undefined
  readonly by?: string | undefined
  readonly top?: string | undefined
  readonly format?: string | undefined
}

/** Plain data, which can be sent to another thread. */
export interface ReportRequest {
  readonly queue: string
  readonly report: ReportName
  readonly period: ReportPeriod
  readonly zone: string
  readonly bucket: BucketSize
  readonly by: Dimension
  readonly top: number
  readonly format: ReportFormat
  readonly now: number
  /** Revision of the queue's last event, if that is known. */
  readonly head?: number | undefined
}

const dayMs = 86_400_000
const topDefault = 20
export const topMax = 1_000
const yearsMax = 20
/** In every zone, the last bucket ends in a year of four digits. */
const toMax = Date.UTC(9999, 11, 31)

export const readReportRequest = (queue: string, report: ReportName, parameters: ReportParameters, now: number, head?: number): E.Either<ReadonlyArray<FieldError>, ReportRequest> => {
  const { from: fromText, to: toText, zone = 'UTC', format = 'json' } = parameters
  const wrong = (path: string, message: string): E.Either<ReadonlyArray<FieldError>, never> => E.left([{ path, message }])
  const clock = clockOf(zone)
  if (E.isLeft(clock)) return wrong('zone', clock.left)
  const to = toText === undefined ? Math.ceil(now / quarterMs) * quarterMs : timeOf(toText, clock.right)
  if (to === undefined) return wrong('to', notTime)
  if (to > toMax) return wrong('to', `must be at most ${isoOf(toMax)}`)
  const from = fromText === undefined ? to - dayMs : timeOf(fromText, clock.right)
  if (from === undefined) return wrong('from', notTime)
  if (from >= to) return wrong('from', 'must be before to')
  if (to - from > yearsMax * 366 * dayMs) return wrong('from', `must be at most ${yearsMax} years before to`)
  const period = wholeQuarters({ from, to })
  if (report === 'breakers' && (parameters.bucket !== undefined || parameters.by !== undefined)) return wrong(parameters.bucket === undefined ? 'by' : 'bucket', 'has no meaning here: the breakers are told by type, each time in a state by itself')
  const bucket = parameters.bucket === undefined ? bucketFor(report, period) : bucketSizeOf(parameters.bucket)
  if (bucket === undefined) return wrong('bucket', 'must be month, week, day, hour, total, or a number of minutes that divides a day and is a multiple of 15')
  const by = report === 'fairness' ? 'tenant' : parameters.by === undefined ? 'all' : dimensions.find((each) => each === parameters.by)
  if (by === undefined || (report === 'fairness' && (parameters.by ?? 'tenant') !== 'tenant')) return wrong('by', report === 'fairness' ? 'must be tenant: shares are those of tenants' : `must be one of ${dimensions.join(', ')}`)
  if (report === 'deadlines' && by === 'agent') return wrong('by', 'cannot be agent: a deadline belongs to a task, whoever works on it')
  const top = parameters.top === undefined ? topDefault : /^\d{1,4}$/.test(parameters.top) ? Number(parameters.top) : 0
  if (top < 1 || top > topMax) return wrong('top', `must be a whole number from 1 to ${topMax}`)
  const known = formats.find((each) => each === format)
  if (known === undefined) return wrong('format', `must be one of ${formats.join(', ')}`)
  return E.right({ queue, report, period, zone, bucket, by, top, format: known, now, head })
}

const notTime = 'must be a time that exists, as in 2026-07-01T12:00:00.000Z, or a day, as in 2026-07-01'

const timeOf = (text: string, clock: Clock): number | undefined => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return parseTime(text)
  const day = parseTime(`${text}T00:00:00Z`)
  return day === undefined ? undefined : clock.beginOf(day)
}

/** Chosen so that a report has some dozens of buckets, and a summary one. */
const bucketFor = (report: ReportName, { from, to }: ReportPeriod): BucketSize => {
  if (report === 'summary' || report === 'fairness' || report === 'failures') return 'total'
  const days = (to - from) / dayMs
  return days <= 2.2 ? 'hour' : days <= 100 ? 'day' : days <= 366 ? 'week' : 'month'
}
