/** The columns of the reports by bucket and group. */
import type { Cell, FigureColumn } from './cell.js'
import type { ReportName } from './question.js'
import { type Column, rounded } from './rows.js'

type Value = number | null
interface Figures {
  /** The columns of rollups that they are computed from. */
  readonly from: ReadonlyArray<FigureColumn>
  readonly columns: ReadonlyArray<Column>
  /** Computes the values of the columns. `hours`: the length of the bucket. */
  readonly of: (cell: Cell, hours: number) => ReadonlyArray<Value>
}

const figure = (name: string, about: string): Column => ({ name, about })
const share = (part: number, whole: number): Value => (whole === 0 ? null : rounded(part / whole))
const mean = (ms: number, count: number): Value => (count === 0 ? null : rounded(ms / count / 1_000))
const quantiles = [0.5, 0.95, 0.99]

const waits = (...names: ReadonlyArray<string>) => names.map((name) => figure(`wait${name}Seconds`, name === 'Mean' ? 'mean of the waits, from when a task became ready to its claim' : `${name.slice(1)} of 100 waits were not longer`))
const runs = (...names: ReadonlyArray<string>) => names.map((name) => figure(`run${name}Seconds`, name === 'Mean' ? 'mean of the run times, from a claim to its end' : `${name.slice(1)} of 100 run times were not longer`))

const enqueued = figure('enqueued', 'tasks enqueued, imported ones included')
const claimed = figure('claimed', 'claims')
const completed = figure('completed', 'tasks completed')
const failed = figure('failed', 'attempts that failed, leases that expired included')
const retried = figure('retried', 'attempts after which a retry was scheduled')
const deadLettered = figure('deadLettered', 'tasks that became dead letters')
const deadlines = figure('deadlines', 'deadlines in this time, without tasks that were cancelled before')
const met = figure('deadlinesMet', 'of these, completed by then')

export const figuresOf: Readonly<Record<Exclude<ReportName, 'failures' | 'breakers' | 'fairness'>, Figures>> = {
  summary: {
    from: ['enqueued', 'imported', 'claimed', 'completed', 'failed', 'expired', 'retried', 'dead_lettered', 'deadlines', 'deadlines_met', 'wait_sketch', 'run_sketch'],
    columns: [enqueued, claimed, completed, failed, retried, deadLettered, ...waits('P50', 'P95', 'P99'), ...runs('P50', 'P95', 'P99'), deadlines, met],
    of: (cell) => [
      cell.sum('enqueued', 'imported'), cell.sum('claimed'), cell.sum('completed'), cell.sum('failed', 'expired'), cell.sum('retried'), cell.sum('dead_lettered'),
      ...cell.quantiles('wait_sketch', quantiles), ...cell.quantiles('run_sketch', quantiles), cell.sum('deadlines'), cell.sum('deadlines_met'),
    ],
  },
  throughput: {
    from: ['enqueued', 'imported', 'claimed', 'completed', 'dead_lettered', 'cancelled'],
    columns: [enqueued, claimed, completed, deadLettered, figure('cancelled', 'tasks cancelled'), figure('enqueuedPerHour', '`enqueued`, by the hours of the bucket'), figure('completedPerHour', '`completed`, by the hours of the bucket')],
    of: (cell, hours) => {
      const [arrived, done] = [cell.sum('enqueued', 'imported'), cell.sum('completed')]
      return [arrived, cell.sum('claimed'), done, cell.sum('dead_lettered'), cell.sum('cancelled'), share(arrived, hours), share(done, hours)]
    },
  },
  latency: {
    from: ['claimed', 'wait_ms', 'run_ms', 'wait_sketch', 'run_sketch'],
    columns: [claimed, ...waits('Mean', 'P50', 'P95', 'P99'), figure('ended', 'claims that ended, however'), ...runs('Mean', 'P50', 'P95', 'P99')],
    of: (cell) => {
      const [begun, ended] = [cell.sum('claimed'), cell.count('run_sketch')]
      return [begun, mean(cell.sum('wait_ms'), begun), ...cell.quantiles('wait_sketch', quantiles), ended, mean(cell.sum('run_ms'), ended), ...cell.quantiles('run_sketch', quantiles)]
    },
  },
  retries: {
    from: ['claimed', 'failed', 'expired', 'retried', 'dead_lettered', 'rate_limited'],
    columns: [claimed, failed, retried, figure('retryShare', 'retries for each claim'), deadLettered, figure('rateLimited', 'attempts that met a rate limit')],
    of: (cell) => [cell.sum('claimed'), cell.sum('failed', 'expired'), cell.sum('retried'), share(cell.sum('retried'), cell.sum('claimed')), cell.sum('dead_lettered'), cell.sum('rate_limited')],
  },
  deadlines: {
    from: ['deadlines', 'deadlines_met'],
    columns: [deadlines, met, figure('metShare', 'the share of these')],
    of: (cell) => [cell.sum('deadlines'), cell.sum('deadlines_met'), share(cell.sum('deadlines_met'), cell.sum('deadlines'))],
  },
}
