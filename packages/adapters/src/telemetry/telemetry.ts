/** The port to a collector of traces and metrics. Without a collector it is not used. */
import type { AppendObserver } from '../store/index.js'

export interface RequestAsked {
  readonly method: string
  /** The path with its `{names}`, without their values. */
  readonly route: string
  readonly queue: string | undefined
  readonly correlationId: string
  /** That of the caller's span, if it sent a valid one. */
  readonly traceparent: string | undefined
}

export interface RequestSpan {
  /** That of this span; `undefined` if no spans are made. */
  readonly traceparent: string | undefined
  /** `status`: of the answer, if there was one. `isGone`: the caller went away before it had the whole answer. */
  readonly end: (status: number | undefined, isGone: boolean) => void
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
  /** Begins the span of an append. It is in the trace of the request whose commands it writes; if there are several, it is linked to all of them. */
  readonly append: AppendObserver
  /** From now on sends these metrics, at the interval of `OTEL_METRIC_EXPORT_INTERVAL`. */
  readonly export: (metrics: () => Promise<ReadonlyArray<MetricSnapshot>>) => void
  /** Sends everything that was not sent yet. Never rejects, and takes at most some seconds. */
  readonly close: () => Promise<void>
}
