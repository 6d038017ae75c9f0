/**
 * Whether tenants got their shares. In each quarter of an hour, the tenants are compared that had ready tasks throughout. Of the claims that they got
 * together, each was due the share of its weight. A tenant that ran out of tasks got all that it asked for, and is not compared. A quarter with fewer
 * than two such tenants does not count.
 */
import { quarterMs } from '../read-models/rollup-tables.js'
import { jainIndex } from '../simulate/fairness.js'
import type { Span } from './calendar.js'
import { Groups } from './groups.js'
import type { Backlog, ReportQuestion, ReportSource, WeightChange } from './question.js'
import { groupColumn, groupOf, type ReportRow, rounded, timeColumns } from './rows.js'

interface Share {
  claimed: number
  due: number
  got: number
  weight: number
}

export const fairnessReport = ({ clock, period, top, now }: ReportQuestion, source: ReportSource, buckets: ReadonlyArray<Span>) => {
  const groups = new Groups<Share>(buckets, () => ({ claimed: 0, due: 0, got: 0, weight: 1 }))
  const compared = new Compared(source.backlogs(period), Math.min(now, period.to))
  const weights = new Weights([...source.weights()])
  for (const [quarter, claims] of claimsByQuarter(period, source)) {
    weights.passTo(quarter)
    compared.passTo(quarter)
    for (const [tenant, claimed] of claims) {
      const share = groups.at(quarter, tenant)
      if (share === undefined) continue
      share.claimed += claimed
      share.weight = weights.of(tenant)
    }
    const tenants = compared.tenants()
    if (tenants.length < 2) continue
    const all = tenants.reduce((sum, tenant) => sum + (claims.get(tenant) ?? 0), 0)
    const weight = tenants.reduce((sum, tenant) => sum + weights.of(tenant), 0)
    for (const tenant of tenants) {
      const share = groups.at(quarter, tenant)
      if (share === undefined) continue
      share.weight = weights.of(tenant)
      share.due += (all * share.weight) / weight
      share.got += claims.get(tenant) ?? 0
    }
  }
  const told = groups.largest(top, ({ claimed, due }) => claimed + due, (sum, { claimed, due, got }) => {
    sum.claimed += claimed
    sum.due += due
    sum.got += got
  })
  const ofBuckets = buckets.map((_, place) => {
    const cells = groups.in(place)
    return { claimed: cells.reduce((sum, each) => sum + each.claimed, 0), jain: nullOr(jainIndex(cells)) }
  })
  const rows = told.map(({ place, value, others, cell: { claimed, due, got, weight } }): ReportRow => {
    const { from, to } = buckets[place] as Span
    const { claimed: total, jain } = ofBuckets[place] ?? { claimed: 0, jain: null }
    return {
      from: clock.textOf(from), to: clock.textOf(to),
      ...groupOf('tenant', value, others),
      weight: others > 0 ? null : weight,
      claimed,
      claimedShare: total === 0 ? null : rounded(claimed / total),
      due: rounded(due), got, ratio: due === 0 ? null : rounded(got / due), jain,
    }
  })
  return {
    columns: [
      ...timeColumns,
      ...groupColumn('tenant'),
      { name: 'weight', about: 'its weight at the beginning of the last quarter of an hour of the bucket in which it had claims or was compared' },
      { name: 'claimed', about: 'its claims' },
      { name: 'claimedShare', about: 'their share of all claims' },
      { name: 'due', about: 'of the claims that are compared, so many were due to it by its weight' },
      { name: 'got', about: 'and so many it got' },
      { name: 'ratio', about: 'got of due: 1 is its share' },
      { name: 'jain', about: "Jain's index of all ratios of the bucket: 1 if all got the same part of their due" },
    ],
    rows,
    places: told.map(({ place }) => place),
  }
}

const nullOr = (value: number | null): number | null => (value === null ? null : rounded(value))

/** Claims by tenant for each quarter with claims, in order. Memory holds one quarter at a time. */
function* claimsByQuarter(period: Span, source: ReportSource): Generator<readonly [quarter: number, claims: ReadonlyMap<string, number>]> {
  let quarter = Number.NaN
  let claims = new Map<string, number>()
  for (const { quarter_hour, value, claimed = 0 } of source.rollups('tenant', period, ['claimed'])) {
    if (claimed === 0) continue
    if (quarter_hour !== quarter) {
      if (claims.size > 0) yield [quarter, claims]
      quarter = quarter_hour
      claims = new Map()
    }
    claims.set(value, claimed)
  }
  if (claims.size > 0) yield [quarter, claims]
}

/** The tenants that had ready tasks throughout a quarter that is over. Time must not go back. Memory holds each backlog once, however long it is. */
class Compared {
  /** Backlogs that begin later. The next one to begin is the last in the list. */
  private readonly waiting: Array<Backlog>
  private present: ReadonlyArray<Backlog> = []

  /** `end`: quarters that end later are not compared. */
  constructor(backlogs: Iterable<Backlog>, private readonly end: number) {
    this.waiting = [...backlogs].sort((a, b) => b.from - a.from)
  }

  /** Goes on to the quarter that begins at this time. */
  passTo(quarter: number): void {
    const { waiting, end } = this
    const begun: Array<Backlog> = []
    for (let next = waiting.at(-1); next !== undefined && next.from <= quarter; next = waiting.at(-1)) {
      begun.push(next)
      waiting.pop()
    }
    this.present = [...this.present, ...begun].filter(({ to = end }) => quarter + quarterMs <= Math.min(to, end))
  }

  tenants(): ReadonlyArray<string> {
    return this.present.map(({ tenant }) => tenant)
  }
}

/** The weights at a time, which must not go back. */
class Weights {
  private byTenant = new Map<string, number>()
  private next = 0

  constructor(private readonly changes: ReadonlyArray<WeightChange>) {}

  passTo(at: number): void {
    for (; this.next < this.changes.length; this.next++) {
      const change = this.changes[this.next] as WeightChange
      if (change.at > at) return
      if (change.tenant === '') this.byTenant = new Map()
      else if (change.weight === null) this.byTenant.delete(change.tenant)
      else this.byTenant.set(change.tenant, change.weight)
    }
  }

  of(tenant: string): number {
    return this.byTenant.get(tenant) ?? this.byTenant.get('default') ?? 1
  }
}
