/** What follows from a rate limit: how long the task and its agent wait, and how long other agents wait with tasks of the type (LK-16). */
import type { CommandOf, Envelope } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { rateLimitOf } from '../model/rate-limit.js'
import { retryDelayMs } from '../model/retry.js'
import { toInstant } from '../model/scalars.js'
import type { Lease, TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { claimOf } from './lookup.js'

/** The events of a failure that is a rate limit; `undefined` if it counts as an ordinary failure. So does a rate limit beyond `maxPerTask`. */
export const decideRateLimit = (
  { error, retryable, checkpoint }: CommandOf<'Fail'>,
  tables: Tables,
  { at, random }: Envelope,
  task: TaskRecord,
  lease: Lease,
): ReadonlyArray<QueueEvent> | undefined => {
  const { base, max, jitter, slowdownFactor, maxPerTask } = tables.head.settings.rateLimit
  const count = (task.extras.rateLimits ?? 0) + 1
  const limit = retryable && count <= maxPerTask ? rateLimitOf(error, at) : undefined
  if (limit === undefined) return undefined
  const waitMs = limit.askedMs ?? retryDelayMs(base, count, { maxBackoffSeconds: max, jitter }, random)
  const availableAt = toInstant(at + waitMs)
  const data = { ...claimOf(task, lease), error, availableAt, count, ...(checkpoint === undefined ? {} : { checkpoint }) }
  const limited: QueueEvent = { type: 'RateLimited', at, data }
  const { type: taskType } = task.group
  const until = toInstant(at + Math.min(waitMs, max * 1_000) * slowdownFactor)
  return until <= Math.max(at, tables.slowdowns.until(taskType)) ? [limited] : [limited, { type: 'SlowdownSignalled', at, data: { taskType, until, agent: lease.agent } }]
}
