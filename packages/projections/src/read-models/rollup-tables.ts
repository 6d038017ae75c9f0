/** The tables on which reports are based: what happened in each quarter of an hour. */
import { happenings } from './happenings.js'
import { integer, maybe, type RowOf, table, text } from './table.js'

/**
 * Reports sum whole quarters of an hour, in milliseconds. The offset of every time zone of today is a multiple of it, so a day anywhere consists of
 * whole quarters.
 */
export const quarterMs = 900_000

/** The dimensions of reports. Each dimension has its own rows, so that their number is the sum of the different values and not their product. */
export const dimensions = ['all', 'type', 'phase', 'tenant', 'agent', 'discovery'] as const
export type Dimension = (typeof dimensions)[number]

const queue = text('the queue')
const place = {
  queue,
  dimension: text('all, type, phase, tenant, agent or discovery: by what the row tells apart'),
  quarter_hour: integer('when the quarter of an hour began'),
  value: text("the type, phase, tenant, agent or kind of discovery; '' for none, and for all"),
}
const sketch = (of: string): string => `the distribution of ${of}, as a JSON list: interval, count, interval, count, …; see the page on reports`

export const rollups = table({
  name: 'rollups',
  about: 'What happened in each quarter of an hour. The agent is that of the last claim of the task.',
  columns: {
    ...place,
    ...happenings,
    wait_ms: integer('sum of the milliseconds from when a task became ready to its claim, of the claims in this time'),
    run_ms: integer('sum of the milliseconds from a claim to its end, of the claims that ended in this time'),
    deadlines: integer('tasks whose deadline is in this time, without those that were cancelled before it; not told by agent'),
    deadlines_met: integer('of these, completed by then'),
    // Last, so that a query that does not need the sketches does not read them.
    wait_sketch: text(sketch('these waits')),
    run_sketch: text(sketch('these times')),
  },
  key: ['queue', 'dimension', 'quarter_hour', 'value'],
})
export type RollupRow = RowOf<typeof rollups>

export const failureRollups = table({
  name: 'failure_rollups',
  about: 'Failures in each quarter of an hour, by signature.',
  columns: {
    ...place,
    signature: text('the same for failures that are alike'),
    failures: integer('how many: attempts that failed, leases that ended by themselves, callbacks that did not come'),
    error: text('the error of the last of them, its first 1,000 characters'),
  },
  key: ['queue', 'dimension', 'quarter_hour', 'value', 'signature'],
})
export type FailureRollupRow = RowOf<typeof failureRollups>

export const tenantBacklog = table({
  name: 'tenant_backlog',
  about: 'The ready tasks of each tenant now.',
  columns: { queue, tenant: text("the tenant; '' for none"), ready: integer('how many'), since: maybe.integer('since when it has had some all the time; NULL if it has none') },
  key: ['queue', 'tenant'],
})
export type TenantBacklogRow = RowOf<typeof tenantBacklog>

export const backlogSpans = table({
  name: 'backlog_spans',
  about: 'The times in which a tenant had ready tasks throughout, if a whole quarter of an hour was in them. Only then its claims are compared with its weight.',
  columns: { queue, tenant: text("the tenant; '' for none"), began_at: integer('when it began'), ended_at: integer('when it had none any more') },
  key: ['queue', 'tenant', 'began_at'],
  isWriteOnly: true,
})

export const tenantWeights = table({
  name: 'tenant_weights',
  about: 'Every change of the weight of a tenant.',
  columns: {
    queue,
    revision: integer('the revision of the event'),
    tenant: text("the tenant; default for all others; '' if the queue was deleted, and with it all weights"),
    at: integer('when'),
    weight: maybe.real('the weight; NULL if it has the default again'),
  },
  key: ['queue', 'revision', 'tenant'],
  isWriteOnly: true,
})

export const rollupTables = [rollups, failureRollups, tenantBacklog, backlogSpans, tenantWeights]
