/** The agents of a queue, and what they did. */
import type { EventOf } from '@daybook/core'
import type { Rows } from './rows.js'
import type { AgentRow } from './task-tables.js'

type Outcome = 'completed' | 'failed' | 'expired' | 'released'

export class Agents {
  constructor(
    private readonly queue: string,
    private readonly agents: Rows<AgentRow>,
  ) {}

  registered({ at, data }: EventOf<'AgentRegistered'>): void {
    const { agent, endsAt, types, phases, skills, tenant = null, maxTasks = null } = data
    const list = (values: ReadonlyArray<string> | undefined): string | null => (values === undefined ? null : JSON.stringify(values))
    this.change(agent, at, (row) => {
      row.last_seen_at = at
      row.registered_at = at
      row.registered_until = endsAt
      row.types = list(types)
      row.phases = list(phases)
      row.skills = list(skills)
      row.tenant = tenant
      row.max_tasks = maxTasks
    })
  }

  terminated({ at, data: { agent } }: EventOf<'AgentTerminated'>): void {
    this.change(agent, at, (row) => {
      row.terminated_at = at
      row.registered_until = null
    })
  }

  claimed(agent: string, at: number, task: string): void {
    this.change(agent, at, (row) => {
      row.last_seen_at = at
      row.holds++
      row.claims++
      row.last_task_id = task
    })
  }

  seen(agent: string, at: number): void {
    this.change(agent, at, (row) => (row.last_seen_at = at))
  }

  /** Its claim has ended; `wasHeard` if it said so itself. */
  ended(agent: string, at: number, wasHeard: boolean, outcome: Outcome | undefined): void {
    this.change(agent, at, (row) => {
      if (wasHeard) row.last_seen_at = at
      row.holds--
      if (outcome !== undefined) row[outcome]++
    })
  }

  private change(agent: string, at: number, change: (row: AgentRow) => void): void {
    const row = this.agents.get(this.queue, agent) ?? this.newRow(agent, at)
    change(row)
    this.agents.put(row)
  }

  private newRow(agent: string, at: number): AgentRow {
    return {
      queue: this.queue, agent, first_seen_at: at, last_seen_at: at, registered_at: null, registered_until: null, types: null, phases: null, skills: null, tenant: null, max_tasks: null,
      terminated_at: null, holds: 0, claims: 0, completed: 0, failed: 0, expired: 0, released: 0, last_task_id: null,
    }
  }
}
