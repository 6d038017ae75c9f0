/** Reports: a period of a queue in figures. */
import type { Time } from './tasks.js'

export type ReportName = 'summary' | 'throughput' | 'latency' | 'retries' | 'deadlines' | 'failures' | 'breakers' | 'fairness'

export interface ReportOptions {
  /** A time, or a day such as `2026-07-01`, which means its beginning in the zone. Default: a day before `to`. */
  readonly from?: Time | undefined
  /** Not included. Default: now. */
  readonly to?: Time | undefined
  /** A number is in minutes. Default: depends on the length of the period. */
  readonly bucket?: 'month' | 'week' | 'day' | 'hour' | 'total' | number | undefined
  /** A time zone of the IANA list. Default: UTC. */
  readonly zone?: string | undefined
  readonly by?: 'all' | 'type' | 'phase' | 'tenant' | 'agent' | 'discovery' | undefined
  /** How many groups have rows of their own. The others are summed. Default 20. */
  readonly top?: number | undefined
  /** Waits until the tables include this revision. */
  readonly atLeast?: number | undefined
}

/** `Row`: see {@link ReportRows}. */
export interface Report<Row = ReportRow> {
  readonly report: ReportName
  readonly queue: string
  /** The revision of the last event that the report includes; -1 for none. */
  readonly revision: number
  /** Number of events in the log that the report does not include yet. */
  readonly behind?: number
  readonly from: string
  readonly to: string
  readonly zone: string
  readonly bucket?: string
  readonly by?: string
  /** The largest relative error of its quantiles. */
  readonly relativeError?: number
  readonly rows: ReadonlyArray<Row>
}

/** A row of any report. */
export type ReportRow = Readonly<Record<string, string | number | null>>

/** The beginning and end of a bucket, in the zone. The group is there if the report is asked for by it; `null` stands for tasks without one, and for `others` groups that are summed. */
export type ReportBucket = {
  readonly from: string
  readonly to: string
  readonly type?: string | null
  readonly phase?: string | null
  readonly tenant?: string | null
  readonly agent?: string | null
  readonly discovery?: string | null
  readonly others?: number
}

type WaitQuantiles = { readonly waitP50Seconds: number | null; readonly waitP95Seconds: number | null; readonly waitP99Seconds: number | null }
type RunQuantiles = { readonly runP50Seconds: number | null; readonly runP95Seconds: number | null; readonly runP99Seconds: number | null }

/** The rows of each report. What cannot be computed, such as a share of nothing, is `null`; docs/reports.md says what each member is. */
export interface ReportRows {
  readonly summary: ReportBucket & WaitQuantiles & RunQuantiles & {
    readonly enqueued: number
    readonly claimed: number
    readonly completed: number
    readonly failed: number
    readonly retried: number
    readonly deadLettered: number
    /** These two: `null` by agent. */
    readonly deadlines: number | null
    readonly deadlinesMet: number | null
  }
  readonly throughput: ReportBucket & {
    readonly enqueued: number
    readonly claimed: number
    readonly completed: number
    readonly deadLettered: number
    readonly cancelled: number
    readonly enqueuedPerHour: number | null
    readonly completedPerHour: number | null
  }
  readonly latency: ReportBucket & WaitQuantiles & RunQuantiles & {
    readonly claimed: number
    readonly waitMeanSeconds: number | null
    readonly ended: number
    readonly runMeanSeconds: number | null
  }
  readonly retries: ReportBucket & {
    readonly claimed: number
    readonly failed: number
    readonly retried: number
    readonly retryShare: number | null
    readonly deadLettered: number
    readonly rateLimited: number
  }
  readonly deadlines: ReportBucket & { readonly deadlines: number; readonly deadlinesMet: number; readonly metShare: number | null }
  /** `signature`: `null` for `others` that are summed. */
  readonly failures: ReportBucket & { readonly signature: string | null; readonly failures: number; readonly error: string | null }
  /** A row for each time in a state; `to`: `null` if it goes on. */
  readonly breakers: {
    readonly type: string
    readonly state: 'open' | 'half-open' | 'closed'
    readonly from: string
    readonly to: string | null
    readonly seconds: number
    readonly cause: string | null
    readonly reason: string | null
  }
  readonly fairness: ReportBucket & {
    readonly weight: number | null
    readonly claimed: number
    readonly claimedShare: number | null
    readonly due: number
    readonly got: number
    readonly ratio: number | null
    readonly jain: number | null
  }
}
