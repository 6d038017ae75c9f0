/** A report as JSON. */
import type { Report } from './report.js'
import { relativeError } from './sketch.js'

/** Where the figures are from. */
export interface Shown {
  readonly queue: string
  /** Revision of the last event that they show. */
  readonly revision: number
  /** Events that the queue has and they do not show; `undefined` if that is not known. */
  readonly behind?: number | undefined
}

export const reportJson = ({ report, period, bucket, rows, question: { clock, by } }: Report, { queue, revision, behind }: Shown): string =>
  JSON.stringify({
    report, queue, revision, behind,
    from: clock.textOf(period.from), to: clock.textOf(period.to), zone: clock.zone,
    ...(report === 'breakers' ? {} : { bucket: typeof bucket === 'number' ? String(bucket) : bucket, by }),
    ...(report === 'summary' || report === 'latency' ? { relativeError } : {}),
    rows,
  })
