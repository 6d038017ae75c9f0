/** How many unfinished tasks each reason keeps from running. It is computed from counts, without looking at the tasks that wait. */
import type { BreakerView, Depth, LimitView, TaskView } from '@daybook/client'
import type { Status } from '@daybook/core'
import { termText } from '../../search/parse.js'

export interface BlockedBy {
  readonly key: string
  readonly reason: string
  readonly count: number
  /** The status whose hue is used. */
  readonly status: Status
  /** Where the user should look next: a search on the page of tasks, or another page. */
  readonly to: { readonly search: string } | { readonly page: string }
}

export interface QueueNow {
  readonly depth: Depth
  readonly breakers: Readonly<Record<string, BreakerView>>
  readonly limits: ReadonlyArray<LimitView>
  readonly paused: string | null
  readonly isAtCapacity: boolean
  readonly agentsAtWork: number
  /** Tasks that agents hold, for the limits that hold for each type or tenant. */
  readonly held: ReadonlyArray<Pick<TaskView, 'type' | 'tenant'>>
}

/** A limit that holds for each type or tenant without a limit of its own. */
export const isForEach = ({ key }: LimitView): boolean => key === 'type:*' || key === 'tenant:*'

/** Such a limit as one for each type or tenant with ready tasks. Its rate is left out: when each began is not known. */
const eachOf = ({ key, concurrency }: LimitView, { depth: { byType, byTenant }, limits, held }: QueueNow): ReadonlyArray<LimitView> => {
  if (concurrency === undefined) return []
  const isOfType = key === 'type:*'
  const live = new Map<string | undefined, number>()
  for (const { type, tenant } of held) {
    const name = isOfType ? type : tenant
    live.set(name, (live.get(name) ?? 0) + 1)
  }
  const own = new Set(limits.map((limit) => limit.key))
  return Object.keys(isOfType ? byType : byTenant)
    .map((name) => ({ key: `${isOfType ? 'type' : 'tenant'}:${name}`, concurrency, live: live.get(name) ?? 0 }))
    .filter((limit) => !own.has(limit.key))
}

/** The counts are an answer's object, and a type may be named like something that every object has, such as `constructor`. */
const countIn = (counts: Readonly<Record<string, number>>, name: string): number => (Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0)

/**
 * Reasons, the most frequent first, without those for zero tasks. A ready task counts for each of its reasons, so the sum may exceed the depth.
 * Limits of concurrency keys are left out, because the counts do not tell which tasks have the key.
 */
export const blockedBy = (now: QueueNow): ReadonlyArray<BlockedBy> => {
  const { depth: { byStatus, byType, byTenant }, breakers, limits, paused, isAtCapacity, agentsAtWork } = now
  const ready = byStatus.pending + byStatus.queued
  const found: Array<BlockedBy> = [
    { key: 'blocked', reason: 'wait for other tasks', count: byStatus.blocked, status: 'blocked', to: { search: 'status:blocked' } },
    { key: 'scheduled', reason: 'wait for their time, or for a retry', count: byStatus.scheduled, status: 'scheduled', to: { search: 'status:scheduled' } },
    { key: 'waiting', reason: 'are parked for a callback', count: byStatus.waiting, status: 'waiting', to: { search: 'status:waiting' } },
    { key: 'incomplete', reason: 'lack a decision report', count: byStatus.incomplete, status: 'incomplete', to: { search: 'status:incomplete' } },
    { key: 'dead-letter', reason: 'are dead letters', count: byStatus['dead-letter'], status: 'dead-letter', to: { page: 'dead-letters' } },
  ]
  if (paused !== null) found.push({ key: 'paused', reason: 'are held by the pause', count: ready, status: 'waiting', to: { search: 'status:pending' } })
  if (isAtCapacity) found.push({ key: 'capacity', reason: 'wait for capacity', count: ready, status: 'queued', to: { search: 'status:queued' } })
  const shut = Object.entries(breakers).filter(([, { state }]) => state !== 'closed')
  for (const [type] of shut) {
    found.push({ key: `breaker ${type}`, reason: `are held by the breaker of ${type}`, count: countIn(byType, type), status: 'dead-letter', to: { page: 'breakers' } })
  }
  // A pause and breakers say why nobody works.
  const free = ready - shut.reduce((sum, [type]) => sum + countIn(byType, type), 0)
  if (paused === null && agentsAtWork === 0) found.push({ key: 'agents', reason: 'are ready, and no agent is at work', count: free, status: 'pending', to: { page: 'agents' } })
  for (const { key, concurrency, live, shutUntil } of limits.flatMap((limit) => (isForEach(limit) ? eachOf(limit, now) : [limit]))) {
    const [, scope, name = ''] = /^(type|tenant):(.*)$/s.exec(key) ?? []
    const isFull = (concurrency !== undefined && live !== undefined && live >= concurrency) || shutUntil !== undefined
    if (scope === undefined || !isFull) continue
    found.push({ key, reason: `wait for the limit ${key}`, count: countIn(scope === 'type' ? byType : byTenant, name), status: 'pending', to: { search: termText(scope, name) } })
  }
  return found.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
}
