/**
 * How many agents work at the same time (TQM-CAP). An agent is active while it holds a lease. At capacity no other agent starts, except on a bumped
 * task and within `overcapLimit`. Over capacity only bumped tasks start (INV-10).
 */
import type { Tables } from './tables.js'
import type { Status } from '../model/task.js'

/** Number of agents that hold a lease. */
export const activeAgents = ({ leases }: Tables): number => leases.size

export const isAtCapacity = (tables: Tables): boolean => tables.leases.size >= tables.head.settings.capacity.maxConcurrentAgents

/** Whether capacity keeps an agent from all bumped tasks, or from all others. Without `agent`: an agent that holds no lease. */
export const isCapacityShut = (tables: Tables, agent: string | undefined, isBumped: boolean): boolean => {
  const { maxConcurrentAgents, overcapLimit, bumpAndStart } = tables.head.settings.capacity
  const active = tables.leases.size
  if (active < maxConcurrentAgents) return false
  const isActive = agent !== undefined && tables.leases.has(agent)
  if (isBumped && bumpAndStart) return !isActive && active >= maxConcurrentAgents + overcapLimit
  return !isActive || active > maxConcurrentAgents
}

/** A ready task is shown as `queued` while the queue is at capacity (TQM-CAP-002). */
export const shownStatus = (tables: Tables, status: Status): Status => (status === 'pending' && isAtCapacity(tables) ? 'queued' : status)
