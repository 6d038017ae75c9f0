/** EV-05: what is rolled up by quarter of an hour equals what a naive count of the whole history finds. */
import type { QueueEvent } from '@daybook/core'
import { dimensions, Distribution, quarterMs, relativeError, type RollupRow } from '@daybook/projections/reports'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'
import { accountOf, valueOf } from './account.js'
import { openViews, queue, recorded, rowsOf } from './views.js'

const histories = scenarios(80).map((scenario) => new World(() => ({})).run(scenario).log)
/** Each planted defect is found by one of the first sixty. */
const runs = { numRuns: Number(process.env.HISTORIES ?? 0) > 0 ? Math.min(300, Number(process.env.HISTORIES)) : 60 }

const viewsOf = (log: ReadonlyArray<QueueEvent>) => {
  const views = openViews()
  views.current.take(queue, recorded(log))
  return views
}
const quarterOf = (at: number): number => at - (at % quarterMs)

/** Each within 1 % of the time of that rank. */
const expectQuantiles = (text: string, times: ReadonlyArray<number>): void => {
  const sorted = [...times].sort((a, b) => a - b)
  const shares = [0.01, 0.5, 0.95, 0.99, 1]
  const distribution = new Distribution()
  distribution.addText(text)
  const found = distribution.quantiles(shares)
  if (sorted.length === 0) return expect(found).toBeUndefined()
  shares.forEach((share, i) => {
    const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] as number
    expect(Math.abs((found?.[i] ?? NaN) - exact)).toBeLessThanOrEqual(relativeError * exact)
  })
}

describe('EV-05: rollups over random histories', () => {
  test('count in each quarter of an hour, by each dimension, what happened in it; times are right within 1 %', () => {
    let quarters = 0
    fc.assert(
      fc.property(histories, (log) => {
        const views = viewsOf(log)
        const { happenings, tasks } = accountOf(log)
        const rows = rowsOf<RollupRow>(views, 'SELECT * FROM rollups')
        for (const dimension of dimensions) {
          const expected = new Map<string, { counts: Record<string, number>; waits: Array<number>; runs: Array<number> }>()
          const at = (when: number, value: string) => {
            const key = `${quarterOf(when)} ${value}`
            const found = expected.get(key) ?? { counts: {}, waits: [], runs: [] }
            expected.set(key, found)
            return found
          }
          const add = (counts: Record<string, number>, column: string): void => void (counts[column] = (counts[column] ?? 0) + 1)
          for (const { at: when, column, task, agent, wait, run } of happenings) {
            const { counts, waits, runs } = at(when, valueOf(task, dimension, agent))
            add(counts, column)
            if (wait !== undefined) waits.push(wait)
            if (run !== undefined) runs.push(run)
          }
          for (const task of tasks) {
            const { deadlineAt } = task.facts
            if (deadlineAt === undefined || deadlineAt === null || dimension === 'agent') continue
            if (task.stage === 'cancelled' && task.finishedAt <= deadlineAt) continue
            const { counts } = at(deadlineAt, valueOf(task, dimension, ''))
            add(counts, 'deadlines')
            if (task.stage === 'completed' && task.finishedAt <= deadlineAt) add(counts, 'deadlines_met')
          }
          const found = rows.filter((row) => row.dimension === dimension)
          for (const row of found) {
            const { queue: _, dimension: __, quarter_hour, value, wait_ms, wait_sketch, run_ms, run_sketch, ...counts } = row
            const { counts: wanted, waits, runs } = expected.get(`${quarter_hour} ${value}`) ?? { counts: {}, waits: [], runs: [] }
            expected.delete(`${quarter_hour} ${value}`)
            expect(Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)), `${dimension} ${value}`).toEqual(wanted)
            expect([wait_ms, run_ms]).toEqual([waits.reduce((sum, ms) => sum + ms, 0), runs.reduce((sum, ms) => sum + ms, 0)])
            expectQuantiles(wait_sketch, waits)
            expectQuantiles(run_sketch, runs)
          }
          expect([...expected.keys()], 'without a row').toEqual([])
          if (dimension === 'all') quarters = Math.max(quarters, found.length)
        }
        views.close()
      }),
      runs,
    )
    expect(quarters, 'histories are long enough').toBeGreaterThan(3)
  })

  test('what two batches bring is added up', () => {
    const at = Date.UTC(2026, 9, 25)
    const task = (number: number): QueueEvent => ({ type: 'TaskEnqueued', at, data: { task: `t${number}`, number, type: 'mow', priority: 5, idempotencyKey: `k${number}`, timeout: 60, maxRetries: 3, backoffSeconds: 1 } }) as QueueEvent
    const claim = (number: number, after: number): QueueEvent => ({ type: 'Claimed', at: at + after, data: { task: `t${number}`, agent: 'bob', token: number, expiresAt: at + 60_000 } }) as QueueEvent
    const events = recorded([task(1), task(2), task(3), claim(1, 20), claim(2, 30), claim(3, 40)])
    const views = openViews()
    for (const [from, to] of [[0, 4], [4, 5], [5, 6]]) views.current.take(queue, events.slice(from, to))
    expect(rowsOf(views, "SELECT enqueued, claimed, wait_ms, wait_sketch, run_sketch FROM rollups WHERE dimension = 'agent' ORDER BY value")).toEqual([
      { enqueued: 3, claimed: 0, wait_ms: 0, wait_sketch: '[]', run_sketch: '[]' },
      { enqueued: 0, claimed: 3, wait_ms: 90, wait_sketch: '[20,1,30,1,40,1]', run_sketch: '[]' },
    ])
    views.close()
  })

  test('failures are counted by their signatures', () => {
    fc.assert(
      fc.property(histories, (log) => {
        const views = viewsOf(log)
        const { happenings } = accountOf(log)
        for (const dimension of dimensions) {
          const expected = new Map<string, number>()
          for (const { at, task, agent, signature } of happenings) {
            if (signature === undefined) continue
            const key = JSON.stringify([quarterOf(at), valueOf(task, dimension, agent), signature])
            expected.set(key, (expected.get(key) ?? 0) + 1)
          }
          const rows = rowsOf<{ readonly key: string; readonly failures: number }>(views, `SELECT json_array(quarter_hour, value, signature) AS key, failures FROM failure_rollups WHERE dimension = '${dimension}'`)
          expect(new Map(rows.map(({ key, failures }) => [key, failures]))).toEqual(expected)
        }
        views.close()
      }),
      runs,
    )
  })

  test('tenants have their backlogs as long as they had ready tasks', () => {
    fc.assert(
      fc.property(histories, (log) => {
        const views = viewsOf(log)
        const { backlogs } = accountOf(log)
        const hasQuarter = (from: number, to: number): boolean => quarterOf(from + quarterMs - 1) + quarterMs <= to
        const over = backlogs.flatMap(({ tenant, from, to }) => (to !== undefined && hasQuarter(from, to) ? [{ tenant, began_at: from, ended_at: to }] : []))
        expect(rowsOf(views, 'SELECT tenant, began_at, ended_at FROM backlog_spans ORDER BY tenant, began_at')).toEqual(over.sort((a, b) => (a.tenant < b.tenant ? -1 : a.tenant > b.tenant ? 1 : a.began_at - b.began_at)))
        const open = backlogs.flatMap(({ tenant, from, to }) => (to === undefined ? [{ tenant, since: from }] : []))
        expect(rowsOf(views, 'SELECT tenant, since FROM tenant_backlog WHERE since IS NOT NULL ORDER BY tenant')).toEqual(open.sort((a, b) => (a.tenant < b.tenant ? -1 : 1)))
        views.close()
      }),
      runs,
    )
  })
})
