/** The read model of agents: what each of them did. */
import type { EventOf } from '@daybook/core'
import { BatchRows } from './batch-rows.js'
import type { Rows } from './rows.js'
import type { AgentRow } from './task-tables.js'

type Outcome = 'completed' | 'failed' | 'expired' | 'released'

export class Agents {
  private readonly rows: BatchRows<AgentRow>

  constructor(queue: string, agents: Rows<AgentRow>) {
    this.rows = new BatchRows(queue, agents, (agent) => newRow(queue, agent))
  }

  settle(): void {
    this.rows.settle()
  }

  registered({ at, data }: EventOf<'AgentRegistered'>): void {
    const { agent, endsAt, types, phases, skills, tenant = null, maxTasks = null } = data
    const list = (values: ReadonlyArray<string> | undefined): string | null => (values === undefined ? null : JSON.stringify(values))
    const row = this.rowOf(agent, at)
    row.last_seen_at = at
    row.registered_at = at
    row.registered_until = endsAt
    row.types = list(types)
    row.phases = list(phases)
    row.skills = list(skills)
    row.tenant = tenant
    row.max_tasks = maxTasks
  }

  terminated({ at, data: { agent } }: EventOf<'AgentTerminated'>): void {
    const row = this.rowOf(agent, at)
    row.terminated_at = at
    row.registered_until = null
  }

  claimed(agent: string, at: number, task: string): void {
    const row = this.rowOf(agent, at)
    row.last_seen_at = at
    row.holds++
    row.claims++
    row.last_task_id = task
  }

  seen(agent: string, at: number): void {
    this.rowOf(agent, at).last_seen_at = at
  }

  /** A claim of the agent has ended. `wasHeard`: the agent reported the end itself. */
  ended(agent: string, at: number, wasHeard: boolean, outcome: Outcome | undefined): void {
    const row = this.rowOf(agent, at)
    if (wasHeard) row.last_seen_at = at
    row.holds--
    if (outcome !== undefined) row[outcome]++
  }

  private rowOf(agent: string, at: number): AgentRow {
    const row = this.rows.of(agent)
    if (row.first_seen_at < 0) row.first_seen_at = row.last_seen_at = at
    return row
  }
}

/** The row of an agent that was not seen before. */
const newRow = (queue: string, agent: string): AgentRow => ({
  queue, agent, first_seen_at: -1, last_seen_at: -1, registered_at: null, registered_until: null, types: null, phases: null, skills: null, tenant: null, max_tasks: null,
  terminated_at: null, holds: 0, claims: 0, completed: 0, failed: 0, expired: 0, released: 0, last_task_id: null,
})
