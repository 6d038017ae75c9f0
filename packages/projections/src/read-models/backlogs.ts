/** When each tenant had ready tasks without interruption, and its weight. These tell whether it got its share. */
import type { EventOf } from '@daybook/core'
import { BatchRows } from './batch-rows.js'
import { quarterMs, type TenantBacklogRow } from './rollup-tables.js'
import type { TaskRow, TaskRows } from './task-tables.js'

export class Backlogs {
  private readonly backlogs: BatchRows<TenantBacklogRow>

  constructor(
    private readonly queue: string,
    private readonly rows: Pick<TaskRows, 'tenantBacklog' | 'backlogSpans' | 'tenantWeights'>,
  ) {
    this.backlogs = new BatchRows(queue, rows.tenantBacklog, (tenant) => ({ queue, tenant, ready: 0, since: null }))
  }

  settle(): void {
    this.backlogs.settle()
  }

  /** The task changed its status. `before`: the former one. */
  moved({ tenant, status }: TaskRow, before: string, at: number): void {
    const by = Number(status === 'pending') - Number(before === 'pending')
    if (by === 0) return
    const { queue, rows } = this
    const backlog = this.backlogs.of(tenant ?? '')
    backlog.ready += by
    if (backlog.since === null) backlog.since = at
    else if (backlog.ready === 0) {
      if (hasWholeQuarter(backlog.since, at)) rows.backlogSpans.put({ queue, tenant: backlog.tenant, began_at: backlog.since, ended_at: at })
      backlog.since = null
    }
  }

  configured(revision: number, { at, data: { patch } }: EventOf<'QueueConfigured'>): void {
    for (const [tenant, weight] of Object.entries(patch.assignment?.tenants ?? {})) this.rows.tenantWeights.put({ queue: this.queue, revision, tenant, at, weight })
  }

  /** The queue was deleted, and with it its settings. */
  deleted(revision: number, at: number): void {
    this.rows.tenantWeights.put({ queue: this.queue, revision, tenant: '', at, weight: null })
  }
}

const hasWholeQuarter = (from: number, to: number): boolean => Math.ceil(from / quarterMs) * quarterMs + quarterMs <= to
