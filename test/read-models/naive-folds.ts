/** What the tables must show of a log, folded as simply as possible: totals by type, the spans of breakers, and the decisions about dead letters. */
import type { EventType, QueueEvent } from '@daybook/core'

/** What each event of a task counts as. */
const countOf: Readonly<Partial<Record<EventType, string>>> = {
  TaskEnqueued: 'enqueued', TaskImported: 'imported', Claimed: 'claimed', Completed: 'completed', MarkedIncomplete: 'incomplete', Failed: 'failed', ClaimExpired: 'expired',
  ClaimRevoked: 'revoked', ClaimReturned: 'returned', Released: 'released', TaskParked: 'parked', RateLimited: 'rateLimited', CallbackReceived: 'calledBack', ParkTimedOut: 'timedOut',
  RetryScheduled: 'retried', DeadLettered: 'deadLettered', Requeued: 'requeued', Discarded: 'discarded', Cancelled: 'cancelled',
}
const noCounts = Object.fromEntries([...Object.values(countOf), 'waits', 'runs', 'runMs'].map((name) => [name, 0]))
const runEnds: ReadonlySet<string> = new Set<EventType>(['Released', 'RateLimited', 'TaskParked', 'Failed', 'ClaimExpired', 'ClaimReturned', 'ClaimRevoked', 'Completed', 'Cancelled'])
const lastOnes: ReadonlySet<string> = new Set<EventType>(['Completed', 'Cancelled', 'Discarded'])

export const totalsOf = (log: ReadonlyArray<QueueEvent>): Readonly<Record<string, object>> => {
  const types = new Map<string, Record<string, number>>()
  const open = new Map<string, { readonly counts: Record<string, number>; claimedAt?: number | undefined }>()
  for (const { type, at, data } of log) {
    const count = countOf[type]
    if (count === undefined || !('task' in data)) continue
    if (type === 'TaskEnqueued' || type === 'TaskImported') {
      const counts = types.get(data.type) ?? { ...noCounts }
      types.set(data.type, counts)
      open.set(data.task, { counts })
    }
    const task = open.get(data.task)
    if (task === undefined) continue
    const add = (name: string, by = 1): void => void (task.counts[name] = (task.counts[name] ?? 0) + by)
    add(count)
    if (type === 'Claimed') {
      add('waits')
      task.claimedAt = at
    } else if (runEnds.has(type) && task.claimedAt !== undefined) {
      add('runs')
      add('runMs', at - task.claimedAt)
      task.claimedAt = undefined
    }
    // An imported task that was finished does not change any more.
    if (lastOnes.has(type) || (type === 'TaskImported' && data.status !== 'dead-letter')) open.delete(data.task)
  }
  return Object.fromEntries(types)
}

export const breakerSpansOf = (log: ReadonlyArray<QueueEvent>): ReadonlyArray<object> => {
  const spans: Array<{ readonly type: string; readonly revision: number; readonly state: string; readonly began_at: number; ended_at: number | null; readonly cause: string | null; readonly reason: string | null }> = []
  const begin = (type: string, revision: number, state: string, at: number, cause?: string, reason?: string): void => {
    const before = spans.findLast((span) => span.type === type)
    if (before !== undefined) before.ended_at = at
    spans.push({ type, revision, state, began_at: at, ended_at: null, cause: cause ?? null, reason: reason ?? null })
  }
  log.forEach((event, revision) => {
    const { at } = event
    if (event.type === 'BreakerOpened') begin(event.data.taskType, revision, 'open', at, event.data.cause, event.data.reason)
    if (event.type === 'BreakerHalfOpened') begin(event.data.taskType, revision, 'half-open', at)
    if (event.type === 'BreakerClosed') begin(event.data.taskType, revision, 'closed', at, event.data.cause, event.data.reason)
    if (event.type !== 'QueueDeleted') return
    // The queue forgets its breakers.
    for (const type of new Set(spans.map((span) => span.type))) {
      if (spans.findLast((span) => span.type === type)?.state !== 'closed') begin(type, revision, 'closed', at, 'deleted', event.data.reason)
    }
  })
  return spans.sort((a, b) => a.revision - b.revision || (a.type < b.type ? -1 : 1))
}

export const decisionsOf = (log: ReadonlyArray<QueueEvent>): ReadonlyArray<object> =>
  log.flatMap((event, revision) => {
    if (event.type !== 'Requeued' && event.type !== 'Discarded') return []
    const { task, reviewer, reason } = event.data
    return [{ revision, at: event.at, verdict: event.type === 'Requeued' ? 'retried' : 'discarded', task, reviewer, reason }]
  })
