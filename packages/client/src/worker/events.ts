/** The events that a worker reports to its owner. No outcome is lost without one of them. */
import type { Status } from '@daybook/core'
import type { Reason } from '../explanation.js'
import type { SettleOutcome } from './source.js'

export type WorkerEvent =
  /** The queue has accepted an outcome, and it is durable. `status` is the task's new status. There is one event per outcome. */
  | { readonly type: 'outcome-accepted'; readonly taskId: string; readonly kind: SettleOutcome['kind']; readonly status: Status }
  /** A claim failed. It is tried again, unless `fatal`: then the worker stops. */
  | { readonly type: 'claim-failed'; readonly error: unknown; readonly fatal: boolean; readonly retryInMs: number }
  /** The queue has tasks that match, and does not give them to this worker. Told when the reason changes. */
  | { readonly type: 'found-nothing'; readonly reason: Reason }
  /** The worker works without being registered. */
  | { readonly type: 'registration-refused'; readonly error: unknown }
  /** Outcomes could not be sent. They are kept and sent again. */
  | { readonly type: 'settle-failed'; readonly outcomes: number; readonly error: unknown; readonly retryInMs: number }
  /** The queue refused an outcome. Mostly `lease-lost`: another agent has the task, or had it. */
  | { readonly type: 'outcome-refused'; readonly taskId: string; readonly kind: SettleOutcome['kind']; readonly code: string; readonly detail: string }
  /** An outcome could not be sent for too long. The task becomes available again when its lease ends. */
  | { readonly type: 'outcome-given-up'; readonly taskId: string; readonly kind: SettleOutcome['kind']; readonly error: unknown }
  /** Heartbeats could not be sent. They are sent again until the leases have ended. */
  | { readonly type: 'heartbeat-failed'; readonly heartbeats: number; readonly error: unknown }
  /** The worker has lost a task. `started`: whether its handler had been called. */
  | { readonly type: 'lease-lost'; readonly taskId: string; readonly started: boolean; readonly detail: string }
  /** Completed without the decision report that the queue requires. It fails when the lease ends (LK-02). */
  | { readonly type: 'incomplete'; readonly taskId: string }
  /** A handler ran longer than `maxRunSeconds`. Its signal was aborted, and the attempt is reported as failed. */
  | { readonly type: 'run-time-exceeded'; readonly taskId: string; readonly maxRunSeconds: number }
  /**
   * A handler did not end after its signal was aborted. It no longer takes a place among the running handlers. After a stop
   * the task becomes available again when its lease ends; after `run-time-exceeded` its failure is reported.
   */
  | { readonly type: 'abandoned'; readonly taskId: string; readonly reason: 'stopped' | 'run-time-exceeded' }

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
  readonly parked: number
  /** Leases lost, outcomes refused or given up, handlers abandoned at a stop. */
  readonly lost: number
  /** Handlers running now. */
  readonly running: number
  /** Claimed, not started. */
  readonly buffered: number
  /** Finished, not yet accepted by the queue. */
  readonly unsettled: number
  /** Number of tasks that the worker would claim ahead now. */
  readonly prefetch: number
}
