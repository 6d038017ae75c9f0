/** The events that a worker reports to its owner. Every lost outcome is reported. */
import type { Status } from '@daybook/core'
import type { Reason } from '../methods/explanation.js'
import type { SettleOutcome } from './source.js'

export type WorkerEvent =
  /** The queue has durably accepted an outcome. `status` is the task's new status. There is one event for each outcome. */
  | { readonly type: 'outcome-accepted'; readonly taskId: string; readonly kind: SettleOutcome['kind']; readonly status: Status }
  /** A claim failed. It is tried again, unless `fatal`: then the worker stops. */
  | { readonly type: 'claim-failed'; readonly error: unknown; readonly fatal: boolean; readonly retryInMs: number }
  /** The queue has matching tasks, but does not give them to this worker. Reported when the reason changes. */
  | { readonly type: 'found-nothing'; readonly reason: Reason }
  /** The worker works without being registered. */
  | { readonly type: 'registration-refused'; readonly error: unknown }
  /** Outcomes could not be sent. They are kept and sent again. */
  | { readonly type: 'settle-failed'; readonly outcomes: number; readonly error: unknown; readonly retryInMs: number }
  /** The queue refused an outcome. Mostly with `lease-lost`: another agent has the task, or had it. */
  | { readonly type: 'outcome-refused'; readonly taskId: string; readonly kind: SettleOutcome['kind']; readonly code: string; readonly detail: string }
  /** An outcome was given up, because it could not be sent for too long. The task becomes available again when its lease ends. */
  | { readonly type: 'outcome-given-up'; readonly taskId: string; readonly kind: SettleOutcome['kind']; readonly error: unknown }
  /** Heartbeats could not be sent. They are sent again until the leases have ended. */
  | { readonly type: 'heartbeat-failed'; readonly heartbeats: number; readonly error: unknown }
  /** The worker has lost a task. `started`: whether its handler had been called. */
  | { readonly type: 'lease-lost'; readonly taskId: string; readonly started: boolean; readonly detail: string }
  /** A task was completed without the decision report that the queue requires. It fails when the lease ends (LK-02). */
  | { readonly type: 'incomplete'; readonly taskId: string }
  /** A handler ran longer than `maxRunSeconds`. Its signal was aborted, and the attempt is reported as failed. */
  | { readonly type: 'run-time-exceeded'; readonly taskId: string; readonly maxRunSeconds: number }
  /**
   * A handler did not end after its signal was aborted, and no longer counts among the running handlers. After a stop the task becomes available
   * again when its lease ends; after `run-time-exceeded` its failure is reported.
   */
  | { readonly type: 'abandoned'; readonly taskId: string; readonly reason: 'stopped' | 'run-time-exceeded' }

export type OnWorkerEvent = (event: WorkerEvent) => void

export interface WorkerStats {
  readonly state: 'new' | 'running' | 'stopping' | 'stopped'
  /** Number of tasks claimed since the start. */
  readonly claimed: number
  readonly started: number
  /** Number of completions that the queue accepted. */
  readonly completed: number
  readonly failed: number
  readonly released: number
  readonly parked: number
  /** Number of leases lost, outcomes refused or given up, and handlers abandoned at a stop. */
  readonly lost: number
  /** Number of handlers that are running now. */
  readonly running: number
  /** Number of tasks that are claimed and not started. */
  readonly buffered: number
  /** Number of finished tasks whose outcome is not accepted yet. */
  readonly unsettled: number
  /** Number of tasks that the worker would claim ahead now. */
  readonly prefetch: number
}
