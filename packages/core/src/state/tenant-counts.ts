/**
 * The number of tasks of each tenant by status, in a queue whose tenants are isolated: there, answers to a tenant have its own figures alone (ADR
 * 65). Other queues count nothing: nobody asks for it there, and a queue may have a million tenants.
 */
import type { TaskRecord } from '../records/records.js'
import { type Status, statuses } from '../model/task.js'

type Counts = Record<Status, number>

const noTasks = (): Counts => Object.fromEntries(statuses.map((status) => [status, 0])) as Counts

export class TenantCounts {
  /** Tenants with tasks. */
  private readonly byTenant = new Map<string, Counts>()
  isOn = false

  /** Begins with these tasks, those of the state, or counts no more. */
  turn(isOn: boolean, tasks: Iterable<TaskRecord>): void {
    this.isOn = isOn
    this.byTenant.clear()
    if (isOn) for (const { group, status } of tasks) this.add(group.tenant, status, 1)
  }

  add(tenant: string | undefined, status: Status, by: number): void {
    if (!this.isOn || tenant === undefined) return
    const known = this.byTenant.get(tenant)
    if (known !== undefined) {
      known[status] += by
      return
    }
    const counts = noTasks()
    counts[status] += by
    this.byTenant.set(tenant, counts)
  }

  /** The tenant has no more tasks. */
  drop(tenant: string | undefined): void {
    if (tenant !== undefined) this.byTenant.delete(tenant)
  }

  of(tenant: string): Readonly<Counts> {
    return this.byTenant.get(tenant) ?? noTasks()
  }
}
