import type { ReportName } from '../../client/index.js'

/** In the order of the help; the first is the default. */
export const reportNames: ReadonlyArray<ReportName> = ['summary', 'throughput', 'latency', 'retries', 'deadlines', 'failures', 'breakers', 'fairness']
