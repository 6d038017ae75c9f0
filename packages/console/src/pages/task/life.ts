/** The statuses of a task over time, and its attempts, from its events. No browser needed. */
import type { Status } from '@daybook/core'

/** An event of `GET …/tasks/{id}/history`. */
export interface HistoryEvent {
  readonly revision: number
  readonly type: string
  /** ISO 8601. */
  readonly at: string
  readonly actor?: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface Visit {
  readonly status: Status
  /** When the status began, in milliseconds since 1970. `undefined` if no event of the task tells, for example when its last dependency was completed. */
  readonly from: number | undefined
  /** The event that led to the status. */
  readonly revision: number | undefined
  readonly cause: string
}

export interface Attempt {
  readonly number: number
  readonly agent: string
  readonly from: number
  /** `undefined` while the status lasts. */
  readonly to: number | undefined
  readonly outcome: 'running' | 'completed' | 'failed' | 'expired' | 'released' | 'given back' | 'revoked' | 'parked' | 'rate-limited' | 'incomplete' | 'cancelled'
  readonly error: string | undefined
  /** The last reported progress. */
  readonly progress: unknown
  readonly checkpoint: unknown
  readonly revision: number
}

interface Step {
  readonly to?: Status
  readonly cause: string
  readonly ends?: Attempt['outcome']
}

const atOf = ({ at }: HistoryEvent): number => Date.parse(at)
const timeIn = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number(value))

/** The effect of an event on the task's status; `undefined` if the status stays. */
const stepOf = (event: HistoryEvent): Step | undefined => {
  const { type, data } = event
  switch (type) {
    case 'TaskEnqueued':
      if (Array.isArray(data.dependencies) && data.dependencies.length > 0) return { to: 'blocked', cause: 'enqueued; it waits for others' }
      return data.availableAt !== undefined && timeIn(data.availableAt) > atOf(event) ? { to: 'scheduled', cause: 'enqueued for later' } : { to: 'pending', cause: 'enqueued' }
    case 'TaskImported':
      return { to: data.status as Status, cause: 'imported' }
    case 'TaskDue':
      return { to: 'pending', cause: 'its time has come' }
    case 'Claimed':
      return { to: 'in-progress', cause: `claimed by ${String(data.agent)}` }
    case 'Completed':
      return { to: 'completed', cause: 'completed', ends: 'completed' }
    case 'MarkedIncomplete':
      return { to: 'incomplete', cause: 'completed without its decision report', ends: 'incomplete' }
    case 'Failed':
      return { cause: 'failed', ends: 'failed' }
    case 'ClaimExpired':
      return { to: 'pending', cause: 'its lease expired', ends: 'expired' }
    case 'RetryScheduled':
      return { to: 'scheduled', cause: 'waits for its retry' }
    case 'RateLimited':
      return { to: 'scheduled', cause: 'met a rate limit', ends: 'rate-limited' }
    case 'Released':
      return { to: 'pending', cause: 'released', ends: 'released' }
    case 'ClaimReturned':
      return { to: 'pending', cause: 'given back', ends: 'given back' }
    case 'ClaimRevoked':
      return { to: 'pending', cause: 'its agent was terminated', ends: 'revoked' }
    case 'TaskParked':
      return { to: 'waiting', cause: 'parked until a callback', ends: 'parked' }
    case 'CallbackReceived':
      return { to: 'pending', cause: 'its callback came' }
    case 'ParkTimedOut':
      return { to: 'pending', cause: 'no callback came in time' }
    case 'DeadLettered':
      return { to: 'dead-letter', cause: String(data.reason) }
    case 'Requeued':
      return { to: 'pending', cause: 'sent back by a reviewer' }
    case 'Discarded':
      return { to: 'discarded', cause: 'discarded by a reviewer' }
    case 'Cancelled':
      return { to: 'cancelled', cause: 'cancelled', ends: 'cancelled' }
    default:
      return undefined
  }
}

/** `status`: the present one, for changes that the task's own events do not tell. */
export const visitsOf = (events: ReadonlyArray<HistoryEvent>, status: Status): ReadonlyArray<Visit> => {
  const visits: Array<Visit> = []
  for (const event of events) {
    const step = stepOf(event)
    if (step?.to === undefined) continue
    const last = visits.at(-1)?.status
    if (step.to === 'in-progress' && last !== 'pending' && last !== undefined) visits.push({ status: 'pending', from: undefined, revision: undefined, cause: last === 'blocked' ? 'what it waited for was done' : 'ready' })
    if (step.to === last && step.to !== 'pending') continue
    visits.push({ status: step.to, from: atOf(event), revision: event.revision, cause: step.cause })
  }
  const last = visits.at(-1)?.status
  if (last !== status && !(last === 'pending' && status === 'queued')) visits.push({ status, from: undefined, revision: undefined, cause: last === 'blocked' ? 'what it waited for was done' : '' })
  return visits
}

const messageOf = (error: unknown): string | undefined => {
  if (typeof error === 'string') return error
  const { message } = (error ?? {}) as { readonly message?: unknown }
  return typeof message === 'string' ? message : undefined
}

export const attemptsOf = (events: ReadonlyArray<HistoryEvent>): ReadonlyArray<Attempt> => {
  const attempts: Array<Attempt> = []
  for (const event of events) {
    const { type, data, revision } = event
    const open = attempts.at(-1)?.to === undefined ? attempts.pop() : undefined
    if (type === 'Claimed') {
      if (open !== undefined) attempts.push(open)
      attempts.push({ number: attempts.length + 1, agent: String(data.agent), from: atOf(event), to: undefined, outcome: 'running', error: undefined, progress: undefined, checkpoint: undefined, revision })
    } else if (open !== undefined) {
      const ends = stepOf(event)?.ends
      attempts.push({
        ...open,
        progress: data.progress ?? open.progress,
        checkpoint: data.checkpoint ?? open.checkpoint,
        ...(ends === undefined ? {} : { to: ends === 'incomplete' ? undefined : atOf(event), outcome: ends, error: messageOf(data.error) ?? (typeof data.reason === 'string' ? data.reason : typeof data.cause === 'string' ? data.cause : undefined) }),
      })
    }
  }
  return attempts
}
