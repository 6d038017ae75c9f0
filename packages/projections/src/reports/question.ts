/** The question that a report answers. */
import type { BreakerSpanRow } from '../read-models/breakers.js'
import type { Dimension, FailureRollupRow } from '../read-models/rollup-tables.js'
import type { BucketSize, Clock, Span } from './calendar.js'
import type { FigureColumn, RollupPart } from './cell.js'

export const reportNames = ['summary', 'throughput', 'latency', 'retries', 'deadlines', 'failures', 'breakers', 'fairness'] as const
export type ReportName = (typeof reportNames)[number]

export interface ReportQuestion {
  readonly report: ReportName
  /** Whole quarters of an hour. */
  readonly period: Span
  readonly clock: Clock
  readonly bucket: BucketSize
  readonly by: Dimension
  /** How many groups, or signatures of failures, have rows of their own. The others are summed. */
  readonly top: number
  /** Milliseconds since 1970. Quarters that have not ended by then are not compared. */
  readonly now: number
}

/** A time in which a tenant had ready tasks throughout. Without `to` it has not ended. */
export interface Backlog {
  readonly tenant: string
  readonly from: number
  readonly to: number | undefined
}

/** `tenant`: as in the table `tenant_weights`. */
export interface WeightChange {
  readonly tenant: string
  readonly at: number
  readonly weight: number | null
}

/** The rows of one queue. Rows of rollups begin within the period, in the order of time. */
export interface ReportSource {
  /** Rows with at least these columns. */
  readonly rollups: (dimension: Dimension, period: Span, columns: ReadonlyArray<FigureColumn>) => Iterable<RollupPart>
  /** How much happened to each group in the period, in any unit. */
  readonly sizes: (dimension: Dimension, period: Span) => Iterable<readonly [value: string, size: number]>
  readonly failures: (dimension: Dimension, period: Span) => Iterable<FailureRollupRow>
  /** The spans that overlap the period, in the order of events. */
  readonly breakerSpans: (period: Span) => Iterable<BreakerSpanRow>
  /** The backlogs that overlap the period. */
  readonly backlogs: (period: Span) => Iterable<Backlog>
  /** All changes, in the order of events. */
  readonly weights: () => Iterable<WeightChange>
}
