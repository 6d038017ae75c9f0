/** Who may take a task: what a claim takes over from a registration, and which agents come last for a task (TQM-ASSIGN-001, TQM-ASSIGN-005). */
import type { Asker } from './reason.js'
import { retryDelayMs } from '../model/retry.js'
import type { Failers, TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'

/** The claim. Fields that it leaves out are taken from the registration of its agent, if there is one at `at`. */
export const takeOver = <A extends Asker>(tables: Tables, asker: A, at: number): A => {
  if (tables.agents.size === 0 || asker.agent === undefined) return asker
  const known = tables.agents.at(asker.agent, at)
  if (known === undefined) return asker
  const taken: { -readonly [K in keyof Asker]: Asker[K] } = { ...asker }
  if (taken.types === undefined && known.types !== undefined) taken.types = known.types
  if (taken.phases === undefined && known.phases !== undefined) taken.phases = known.phases
  if (taken.skills === undefined && known.skills !== undefined) taken.skills = known.skills
  if (taken.tenant === undefined && known.tenant !== undefined) taken.tenant = known.tenant
  // Only optional members of Asker were added.
  return taken as A
}

/** Number of further tasks that this agent may hold at `at`; infinity if it has set no limit. */
export const roomOf = (tables: Tables, agent: string | undefined, at: number): number => {
  if (tables.agents.size === 0 || agent === undefined) return Number.POSITIVE_INFINITY
  const { maxTasks } = tables.agents.at(agent, at) ?? {}
  return maxTasks === undefined ? Number.POSITIVE_INFINITY : Math.max(0, maxTasks - (tables.leases.get(agent)?.size ?? 0))
}

// ------------------------------------------------------------------------------------- who comes last

/** The largest number of agents whose failures with one task are remembered. */
const failersMax = 8

/** The task's failures with this one added: the last failure of each agent, the newest last. */
export const withFailure = (failers: Failers | undefined, agent: string, at: number): Failers => [
  ...(failers ?? []).filter(([other]) => other !== agent).slice(1 - failersMax),
  [agent, at],
]

/** The end of the time in which this agent comes last for the task because it failed it; 0 if it does not come last. */
export const lastUntil = (tables: Tables, task: TaskRecord, agent: string, at: number): number => {
  if (task.extras.failers === undefined) return 0
  return failersOf(tables, task, at).find((failer) => failer.agent === agent)?.until ?? 0
}

/** The agents that come last for the task at `at`, each with the end of that time. */
export const failersOf = ({ head }: Tables, { extras: { failers = [] } }: TaskRecord, at: number): ReadonlyArray<{ readonly agent: string; readonly until: number }> =>
  failers
    .map(([agent, failedAt]) => ({ agent, until: Math.ceil(failedAt + head.settings.assignment.agentTaskBackoffWindow * 1_000) }))
    .filter(({ until }) => until > at)

/** How long a ready task is left to other agents, in milliseconds. One that has not taken it by then is busy, or was killed and is still registered. */
const leftToOthersMs = 60_000

/**
 * Until when an agent that failed the task leaves it to others that could take it. When the task became ready is not stored. So the time counts from the
 * end of the longest backoff that its last failure can have had.
 */
export const leftUntil = ({ head }: Tables, { backoffSeconds, retries, extras: { failers } }: TaskRecord): number => {
  const failedAt = failers?.[failers.length - 1]?.[1] ?? 0
  return failedAt + retryDelayMs(backoffSeconds, retries, head.settings.defaults, 1) + leftToOthersMs
}

/** From when on this agent may get the task, although others could take it. */
export const getsAgainAt = (tables: Tables, task: TaskRecord, agent: string, at: number): number => Math.min(lastUntil(tables, task, agent, at), leftUntil(tables, task))

export const isBarred = ({ extras: { claimants } }: TaskRecord, agent: string): boolean => claimants?.includes(agent) === true
