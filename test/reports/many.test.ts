/** EV-05: reports about thousands of groups: a limit of rows, and shares of tenants as a naive count finds them. */
import { clockOf, type Dimension, quarterMs, type ReportName, reportOf, type ReportSource, type RollupPart } from '@daybook/projections/reports'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const begin = Date.UTC(2026, 0, 1)
const nothing: ReportSource = { rollups: () => [], sizes: () => [], failures: () => [], breakerSpans: () => [], backlogs: () => [], weights: () => [] }
const ask = (source: Partial<ReportSource>, { report, quarters, bucket, by, top = 1_000 }: { readonly report: ReportName; readonly quarters: number; readonly bucket: 15 | 'total'; readonly by: Dimension; readonly top?: number }) => {
  const clock = clockOf('UTC')
  if (E.isLeft(clock)) throw new Error(clock.left)
  const to = begin + quarters * quarterMs
  return reportOf({ report, period: { from: begin, to }, clock: clock.right, bucket, by, top, now: to }, { ...nothing, ...source })
}

describe('EV-05: a report has at most 100,000 rows', () => {
  /** The rows of rollups that were read. */
  let read = 0
  const groups = (count: number, quarters: number): Partial<ReportSource> => ({
    rollups: function* (): Generator<RollupPart> {
      for (let quarter = 0; quarter < quarters; quarter++) {
        for (let group = 0; group < count; group++) {
          read++
          yield { quarter_hour: begin + quarter * quarterMs, value: `tenant ${group}`, claimed: 1 }
        }
      }
    },
    sizes: () => Array.from({ length: count }, (_, group) => [`tenant ${group}`, 1] as const),
  })

  test('of groups and buckets, and no more are read than are needed to know', () => {
    expect(ask(groups(1_000, 100), { report: 'throughput', quarters: 100, bucket: 15, by: 'tenant' })).toMatchObject({ right: { rows: { length: 100_000 } } })
    read = 0
    expect(ask(groups(1_000, 300), { report: 'throughput', quarters: 300, bucket: 15, by: 'tenant' })).toEqual(E.left(expect.stringMatching(/at most 100000 rows.*top/)))
    expect(read).toBeLessThan(110_000)
    expect(ask(groups(1_000, 300), { report: 'throughput', quarters: 300, bucket: 'total', by: 'tenant' })).toMatchObject({ right: { rows: { length: 1_000 } } })
  })

  test('of spans of breakers', () => {
    const spans = (count: number): ReportSource['breakerSpans'] => () =>
      Array.from({ length: count }, (_, i) => ({ queue: 'q', type: `type ${i % 5_000}`, revision: i, state: 'open', began_at: begin + i, ended_at: begin + i + 5, cause: 'manual', reason: null }))
    expect(ask({ breakerSpans: spans(1_000) }, { report: 'breakers', quarters: 4, bucket: 'total', by: 'all' })).toMatchObject({ right: { rows: { length: 1_000 } } })
    expect(ask({ breakerSpans: spans(100_001) }, { report: 'breakers', quarters: 4, bucket: 'total', by: 'all' })).toEqual(E.left(expect.stringContaining('a shorter period')))
  })
})

test('EV-05: shares of many tenants, with any backlogs, are those of a naive count of quarters', () => {
  const quarters = 12
  const tenants = Array.from({ length: 40 }, (_, i) => `tenant ${i}`)
  const minutes = (least: number): fc.Arbitrary<number> => fc.integer({ min: least, max: quarters * 15 + 40 }).map((minute) => begin + minute * 60_000)
  const backlogs = fc.array(fc.record({ tenant: fc.constantFrom(...tenants), from: minutes(-40), to: fc.option(minutes(-40), { nil: undefined }) }), { maxLength: 60 })
    // Backlogs of one tenant do not overlap, so it has one here.
    .map((all) => [...new Map(all.map((one) => [one.tenant, one])).values()].filter(({ from, to = Infinity }) => from < to))
  const claims = fc.array(fc.record({ quarter: fc.nat(quarters - 1), tenant: fc.constantFrom(...tenants), claimed: fc.integer({ min: 1, max: 9 }) }), { maxLength: 150 })
    .map((all) => [...new Map(all.map((one) => [`${one.quarter} ${one.tenant}`, one])).values()].sort((a, b) => a.quarter - b.quarter))
  fc.assert(fc.property(backlogs, claims, (backlogs, claims) => {
    const told = ask({
      backlogs: () => backlogs,
      rollups: () => claims.map(({ quarter, tenant, claimed }) => ({ quarter_hour: begin + quarter * quarterMs, value: tenant, claimed })),
      weights: () => tenants.map((tenant, i) => ({ tenant, at: begin - 1, weight: 1 + (i % 3) })),
    }, { report: 'fairness', quarters, bucket: 'total', by: 'tenant' })
    if (E.isLeft(told)) throw new Error(told.left)
    const due = new Map<string, number>()
    const got = new Map<string, number>()
    for (let quarter = 0; quarter < quarters; quarter++) {
      const [from, to] = [begin + quarter * quarterMs, begin + (quarter + 1) * quarterMs]
      const compared = backlogs.filter((each) => each.from <= from && (each.to ?? Infinity) >= to).map(({ tenant }) => tenant)
      if (compared.length < 2) continue
      const weight = (tenant: string): number => 1 + (tenants.indexOf(tenant) % 3)
      const claimed = (tenant: string): number => claims.find((each) => each.quarter === quarter && each.tenant === tenant)?.claimed ?? 0
      const [all, weights] = [compared.reduce((sum, tenant) => sum + claimed(tenant), 0), compared.reduce((sum, tenant) => sum + weight(tenant), 0)]
      for (const tenant of compared) {
        due.set(tenant, (due.get(tenant) ?? 0) + (all * weight(tenant)) / weights)
        got.set(tenant, (got.get(tenant) ?? 0) + claimed(tenant))
      }
    }
    const rows = told.right.rows
    for (const tenant of tenants) {
      const row = rows.find((each) => each['tenant'] === tenant)
      expect(row?.['due'] ?? 0).toBeCloseTo(due.get(tenant) ?? 0, 3)
      expect(row?.['got'] ?? 0).toBe(got.get(tenant) ?? 0)
    }
  }), { numRuns: 200 })
})
