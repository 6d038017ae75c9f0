/** The port to a collector of traces and metrics. Without one, nothing of this exists. */
import type { AppendObserver } from '../store/index.js'

export interface RequestAsked {
  readonly method: string
  /** The path with its `{names}`, not their values. */
  readonly route: string
  readonly queue: string | undefined
  readonly correlationId: string
  /** Of the caller's span, if it sent a valid one. */
  readonly traceparent: string | undefined
}

export interface RequestSpan {
  /** Of this span. */
  readonly traceparent: string
  readonly end: (status: number) => void
}

/** One metric as prom-client lists it. A histogram has cumulative `_bucket`, `_sum` and `_count` values. */
export interface MetricSnapshot {
  readonly name: string
  readonly help: string
  readonly type: unknown
  readonly values: ReadonlyArray<{ readonly value: number; readonly labels: Readonly<Partial<Record<string, string | number>>>; readonly metricName?: string }>
}

export interface Telemetry {
  /** Begins the span of a request. */
  readonly request: (asked: RequestAsked) => RequestSpan
  /** Begins the span of an append: in the trace of the request whose commands it writes, or linked to all of them if there are several. */
  readonly append: AppendObserver
  /** Sends what this returns from now on, in the interval of `OTEL_METRIC_EXPORT_INTERVAL`. */
  readonly export: (metrics: () => Promise<ReadonlyArray<MetricSnapshot>>) => void
  /** Sends what was not sent yet. Never rejects, and takes at most some seconds. */
  readonly close: () => Promise<void>
}
