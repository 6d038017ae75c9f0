/** A report as JSON. */
import type { Report } from './report.js'
import { relativeError } from '../read-models/sketch.js'

/** The state of the tables that the figures come from. */
export interface Shown {
  readonly queue: string
  /** Revision of the last event that the figures include. */
  readonly revision: number
  /** How many events of the queue the figures do not include yet; `undefined` if that is not known. */
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
