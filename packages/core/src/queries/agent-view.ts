/** The agents of a queue: those that are registered, and those that hold a task. */
import type { RegisteredAgent } from '../state/agent-register.js'
import { timeOf } from './query.js'
import { QueueState } from '../fold/queue-state.js'
import type { Tables } from '../state/tables.js'

export interface AgentView extends Partial<Omit<RegisteredAgent, 'agent' | 'ttlMs' | 'seenAt' | 'endsAt'>> {
  readonly agentId: string
  /** Whether the agent holds a task. */
  readonly status: 'idle' | 'working'
  /** Ids of the tasks that the agent holds, by number. */
  readonly tasks: ReadonlyArray<string>
  readonly leases: ReadonlyArray<{ readonly task: string; readonly token: number; readonly expiresAt: number }>
  /** Only of a registered agent: when it was last heard of, and when the registration ends unless it is heard of again. Milliseconds since 1970. */
  readonly lastSeenAt?: number
  readonly registeredUntil?: number
  /** Only of an agent that met a rate limit: until then it gets no task. */
  readonly sleepsUntil?: number
}

/** All agents, sorted by name. Registrations that have ended at `at` are left out. `at`: milliseconds since 1970; default: the state's own time. */
export const agentsOf = (state: QueueState, at = timeOf(state)): ReadonlyArray<AgentView> => {
  const tables = QueueState.tablesOf(state)
  const names = new Set([...tables.leases.keys(), ...[...tables.agents.live(at)].map(({ agent }) => agent)])
  return [...names].sort().map((agentId) => viewOf(tables, agentId, at))
}

const viewOf = (tables: Tables, agentId: string, at: number): AgentView => {
  const held = [...(tables.leases.get(agentId) ?? [])].sort((a, b) => a.number - b.number)
  const leases = held.flatMap(({ id, lease }) => (lease === null ? [] : [{ task: id, token: lease.token, expiresAt: lease.expiresAt }]))
  const sleepsUntil = tables.sleepers.until(agentId)
  const view = { agentId, status: held.length > 0 ? ('working' as const) : ('idle' as const), tasks: held.map(({ id }) => id), leases, ...(sleepsUntil > at ? { sleepsUntil } : {}) }
  const known = tables.agents.at(agentId, at)
  if (known === undefined) return view
  const { agent: _, ttlMs: __, seenAt, endsAt, ...abilities } = known
  return { ...view, ...abilities, lastSeenAt: seenAt, registeredUntil: endsAt }
}
