/** Batches: tasks that are counted together, and a task that is enqueued when all of them are finished. */
import type { CallOptions } from '../options.js'
import type { ScheduledTask } from './schedules.js'
import type { Enqueued, NewTask } from './tasks.js'

/** What a batch enqueues when it is finished: a task without id, key, dependencies and times. It gets the counts as `metadata.batch`. */
export type BatchCallback = ScheduledTask

export interface NewBatch {
  /** Default: a new one. The same id with the same definition is the same batch, so that a call can be repeated. */
  readonly id?: string | undefined
  readonly tenant?: string | undefined
  /** For people. */
  readonly description?: string | undefined
  /** At most 1,000, all or none. More can be enqueued with its `batchId` while it is open. */
  readonly tasks?: ReadonlyArray<NewTask> | undefined
  readonly callback?: BatchCallback | undefined
  /** Whether dead letters hold it (`finished`, the default), or not (`settled`). */
  readonly on?: 'finished' | 'settled' | undefined
  /** More tasks will follow: {@link Batches.close} it then. Default false. */
  readonly open?: boolean | undefined
}

/** Why a batch is not finished. */
export interface BatchReason {
  readonly code: 'batch-open' | 'tasks-open' | 'dead-letters' | 'approvals'
  readonly message: string
  readonly change: string
  /** Ids of some of the tasks that it is about. */
  readonly tasks?: ReadonlyArray<string>
}

export interface BatchView {
  readonly id: string
  readonly tenant?: string
  readonly description?: string
  /** Open for more tasks; closed, and waiting for the end of those that it has; finished. */
  readonly state: 'open' | 'closed' | 'finished'
  readonly on: 'finished' | 'settled'
  readonly createdAt: string
  readonly closedAt?: string
  readonly cancelledAt?: string
  readonly cancelReason?: string
  readonly finishedAt?: string
  /** How many tasks it has, and how many of these stand where, now. */
  readonly tasks: number
  readonly open: number
  readonly completed: number
  readonly cancelled: number
  readonly discarded: number
  readonly deadLetters: number
  /** What waits for a guardian, and would become tasks of it. */
  readonly approvals: number
  /** From 0 to 1: the share of its tasks that it need not wait for any more. */
  readonly progress: number
  readonly callback?: BatchCallback
  /** The id of the callback, once it is enqueued. */
  readonly callbackTask?: string
  /** None if it is finished. */
  readonly reasons: ReadonlyArray<BatchReason>
}

export interface BatchFilter {
  readonly state?: BatchView['state'] | undefined
  readonly tenant?: string | undefined
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

export interface BatchPage {
  /** The newest first. */
  readonly batches: ReadonlyArray<BatchView>
  readonly nextCursor: string | null
}

export interface CreatedBatch {
  readonly batch: BatchView
  /** In the order of its tasks. */
  readonly results: ReadonlyArray<Enqueued>
}

export interface Batches {
  /** Makes a batch with its tasks: all or none, in one append. */
  readonly create: (batch: NewBatch, options?: CallOptions) => Promise<CreatedBatch>
  readonly list: (filter?: BatchFilter, options?: CallOptions) => Promise<BatchPage>
  readonly get: (id: string, options?: CallOptions) => Promise<BatchView>
  /** No more tasks join it, except those that its own tasks add while they are being worked on. */
  readonly close: (id: string, options?: CallOptions) => Promise<BatchView>
  /** Closes it and cancels its open tasks. Its callback is not enqueued, unless `runsCallback` is true. */
  readonly cancel: (id: string, reason: string, options?: CallOptions & { readonly runsCallback?: boolean }) => Promise<{ readonly batch: BatchView; readonly cancelled: number }>
}
