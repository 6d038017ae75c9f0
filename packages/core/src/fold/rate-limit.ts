/** Rate limits: the task and its agent wait, and other agents slow down (LK-16). Neither counts as a failure (INV-21). */
import type { EventOf } from '../model/events.js'
import { keptError } from '../model/last-error.js'
import type { Tables } from '../state/tables.js'
import { endClaim } from './claim.js'

export const rateLimited = (tables: Tables, { data }: EventOf<'RateLimited'>): void => {
  const { agent, error, availableAt, count, checkpoint } = data
  const { head, sleepers } = tables
  const said = { lastError: keptError(error.message), rateLimits: count }
  const { misfits } = head
  endClaim(tables, data, 'rate-limited', 0, 0, checkpoint === undefined ? said : { ...said, checkpointRevision: head.revision }, availableAt)
  if (head.misfits === misfits && availableAt > head.at) sleepers.set(agent, Math.max(sleepers.until(agent), availableAt))
}

export const slowdownSignalled = (tables: Tables, { data: { taskType, until } }: EventOf<'SlowdownSignalled'>): void =>
  tables.slowdowns.set(taskType, Math.max(tables.slowdowns.until(taskType), until))

export const agentResumed = (tables: Tables, agent: string): void => {
  if (!tables.sleepers.has(agent)) return
  tables.sleepers.set(agent, 0)
  // A claim of this agent may wait in any line.
  tables.ready.wakeAll()
}
