/** What the naive fold keeps of a task, of a type's breaker and of an agent. */
import type { DataOf } from '@daybook/core'

export interface ShadowLease {
  readonly agent: string
  readonly token: number
  readonly at: number
  readonly epoch: number
  readonly probe: boolean
  expiresAt: number
}

export interface ShadowTask {
  /** The facts with all amendments. */
  facts: DataOf<'TaskEnqueued'>
  readonly createdAt: number
  readonly enqueuedRevision: number
  contentRevision: number
  /** `waiting` means unfinished and not held. A status depends on more than this. */
  stage: 'waiting' | 'parked' | 'held' | 'incomplete' | 'dead-letter' | 'completed' | 'cancelled' | 'discarded'
  /** When the task's delay ends; 0 if there is none, or if it is over. */
  delayedUntil: number
  retries: number
  attempts: number
  lease: ShadowLease | null
  barred: Array<string>
  /** Whether the task was bumped and has had no attempt since. */
  isBumped: boolean
  /** Agents that failed the task, each with the time of its last failure, the newest last. */
  failers: Array<readonly [agent: string, at: number]>
  finishedAt: number
  lastRevision: number
  checkpointRevision: number | undefined
  progressRevision: number | undefined
  lastError: string | undefined
  signature: string | undefined
  deadLetter: { readonly at: number; readonly reason: string } | undefined
  rateLimits: number | undefined
  snooze: { readonly until: number } | undefined
  escalated: { readonly at: number; readonly reviewer: string; readonly reason: string } | undefined
  parked: { readonly callbackKey: string; readonly until: number; readonly onTimeout: 'fail' | 'requeue' } | undefined
  callback: { readonly key: string; readonly at: number; readonly revision: number } | undefined
}

export interface ShadowBreaker {
  state: 'closed' | 'open' | 'half-open'
  /** The times of the failures that still count. */
  failures: Array<number>
  lastFailure: number
  openedAt: number
  halfOpenAt: number
  epoch: number
  probe: string | null
  reason: string
}

export interface ShadowAgent extends Omit<DataOf<'AgentRegistered'>, 'endsAt'> {
  readonly ttlMs: number
  readonly seenAt: number
}
