/**
 * Reports of a day of 10,000,000 events, and of a year of such days without groups. The rows of rollups are made here as the fold would write them
 * for 3,333,333 tasks of 20 types, 5 phases, 50 tenants, 200 agents and 5 kinds of discoveries, because it would take most of an hour to write and
 * fold such a log. Measured is the time to read, sum and print them.
 */
import { join } from 'node:path'
import { ViewsFile } from '@daybook/adapters/read-models'
import { readReport, readReportRequest } from '@daybook/adapters/reports'
import { readModels } from '@daybook/projections'
import { addTime, type Dimension, intervalOf, quarterMs, type ReportName, type Sketch, sketchText } from '@daybook/projections/reports'
import type { Case, Figures } from '../case.js'
import { nowMs } from '../measure.js'

const begin = Date.UTC(2026, 9, 1)
const dayMs = 86_400_000
const quartersOfDay = dayMs / quarterMs
const tasksOfQuarter = Math.round(10_000_000 / 3 / quartersOfDay)
const valuesOf: Readonly<Record<Dimension, number>> = { all: 1, type: 20, phase: 5, tenant: 50, agent: 200, discovery: 5 }

/** Random numbers that are the same in each run. */
const drawing = () => {
  let state = 1
  return (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

/** A sketch of `count` times around `typicalMs`, spread over some powers of ten, as waits are. */
const times = (draw: () => number, count: number, typicalMs: number): string => {
  const sketch: Sketch = new Map()
  const draws = Math.min(count, 2_000)
  for (let i = 0; i < draws; i++) {
    const normal = Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw())
    addTime(sketch, intervalOf(Math.round(typicalMs * Math.exp(1.2 * normal))), Math.max(1, Math.round(count / draws)))
  }
  return sketchText(sketch)
}

const writeRows = (file: string, days: number): void => {
  const views = ViewsFile.open({ file, models: readModels })
  const { db } = views
  views.beginFirstBuilds([])
  const draw = drawing()
  const columns = (db.pragma('table_info(rollups)') as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name)
  const insert = db.prepare(`INSERT INTO rollups (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`)
  const none = Object.fromEntries(columns.map((name) => [name, 0]))
  db.transaction(() => {
    db.prepare("INSERT INTO projections VALUES ('tasks', 'current', 'default', 1, 9999999, '', 0, '')").run()
    for (let quarter = 0; quarter < days * quartersOfDay; quarter++) {
      // The other days of the year have only rows without groups.
      const dimensions = quarter < quartersOfDay ? (Object.keys(valuesOf) as ReadonlyArray<Dimension>) : (['all'] as const)
      const shapes = quarter < quartersOfDay ? undefined : { wait: times(draw, 500, 2_000), run: times(draw, 500, 30_000) }
      for (const dimension of dimensions) {
        for (let value = 0; value < valuesOf[dimension]; value++) {
          const count = Math.round(tasksOfQuarter / valuesOf[dimension])
          insert.run({
            ...none, queue: 'default', dimension, quarter_hour: begin + quarter * quarterMs, value: dimension === 'all' ? '' : `${dimension}-${value}`,
            enqueued: count, claimed: count, completed: count, failed: Math.round(count / 20), wait_ms: count * 4_000, run_ms: count * 60_000, deadlines: count, deadlines_met: Math.round(count * 0.9),
            wait_sketch: shapes?.wait ?? times(draw, count, 2_000), run_sketch: shapes?.run ?? times(draw, count, 30_000),
          })
        }
      }
    }
  })()
  views.close()
}

const measure = (file: string, report: ReportName, days: number, more: { readonly by?: string; readonly bucket?: string; readonly format?: string }): number => {
  const request = readReportRequest('default', report, { from: new Date(begin).toISOString(), to: new Date(begin + days * dayMs).toISOString(), zone: 'Europe/Berlin', ...more }, begin + 400 * dayMs)
  if (request._tag === 'Left') throw new Error(JSON.stringify(request.left))
  const begun = nowMs()
  const answer = readReport(file, request.right)
  const ms = nowMs() - begun
  if (answer._tag === 'Left' || answer.right.text.length < 100) throw new Error('no report')
  return ms
}

export const reports: Case = {
  name: 'report',
  what: 'reports of a day of 10⁷ events from 27,000 rows of rollups, which are made for it, in a time zone; and of a year by day',
  goals: { 'day summary ms': ['≤', 300], 'day latency by hour ms': ['≤', 300], 'day latency by hour and tenant ms': ['≤', 300], 'day summary by agent ms': ['≤', 300], 'day picture ms': ['≤', 300] },
  run: async (folder, scale): Promise<Figures> => {
    const file = join(folder, 'views.db')
    const days = scale < 1 ? 8 : 365
    writeRows(file, days)
    // The first one also compiles the code.
    const cold = measure(file, 'summary', 1, {})
    return {
      'day summary, first, ms': cold,
      'day summary ms': measure(file, 'summary', 1, {}),
      'day latency by hour ms': measure(file, 'latency', 1, { bucket: 'hour' }),
      'day latency by hour and tenant ms': measure(file, 'latency', 1, { bucket: 'hour', by: 'tenant' }),
      'day summary by agent ms': measure(file, 'summary', 1, { by: 'agent' }),
      'day picture ms': measure(file, 'latency', 1, { bucket: 'hour', format: 'svg' }),
      [`${days} days latency by day ms`]: measure(file, 'latency', days, { bucket: 'day' }),
    }
  },
}
