/** What a worker tells: everything that is not plain success. Nothing is lost without one of these. */
import type { SettleOutcome } from './source.js'

export type WorkerEvent =
  /** Claiming did not work; it is tried again, unless `fatal`: then the worker stops. */
  | { readonly type: 'claim-failed'; readonly error: unknown; readonly fatal: boolean; readonly retryInMs: number }
  /** Outcomes could not be handed in; they are kept and sent again. */
  | { readonly type: 'settle-failed'; readonly outcomes: number; readonly error: unknown; readonly retryInMs: number }
  /** The queue did not accept an outcome: mostly `lease-lost`, somebody else has the task or had it. */
  | { readonly type: 'outcome-refused'; readonly taskId: string; readonly kind: SettleOutcome['kind']; readonly code: string; readonly detail: string }
  /** An outcome could not be handed in for too long; the task comes back when its lease ends. */
  | { readonly type: 'outcome-given-up'; readonly taskId: string; readonly kind: SettleOutcome['kind']; readonly error: unknown }
  /** Heartbeats could not be sent; they are tried again until the leases have ended. */
  | { readonly type: 'heartbeat-failed'; readonly heartbeats: number; readonly error: unknown }
  /** A task is no longer this worker's; `started` tells whether a handler was at it. */
  | { readonly type: 'lease-lost'; readonly taskId: string; readonly started: boolean; readonly detail: string }
  /** Completed without the decision report that the queue requires; it fails when the lease ends (LK-02). */
  | { readonly type: 'incomplete'; readonly taskId: string }
  /** A handler went on after the worker had stopped; the task comes back when its lease ends. */
  | { readonly type: 'abandoned'; readonly taskId: string }

export type OnWorkerEvent = (event: WorkerEvent) => void

export interface WorkerStats {
  readonly state: 'new' | 'running' | 'stopping' | 'stopped'
  /** Since the start. */
  readonly claimed: number
  readonly started: number
  /** Accepted by the queue. */
  readonly completed: number
  readonly failed: number
  readonly released: number
  /** Leases lost, outcomes refused or given up, handlers abandoned. */
  readonly lost: number
  /** Now. */
  readonly running: number
  /** Claimed, not started. */
  readonly buffered: number
  /** Finished, not yet accepted by the queue. */
  readonly unsettled: number
  /** How many tasks the worker would claim ahead now. */
  readonly prefetch: number
}
