/** Approvals: what waits for a guardian. */
import type { ApprovalView as CoreApproval, Json, JsonObject } from '@daybook/core'
import type { CallOptions } from '../options.js'
import type { TaskView } from './tasks.js'

/** A task that is enqueued if a guardian approves. */
export type WaitingTask = Omit<CoreApproval['tasks'][number], 'task' | 'skills' | 'deadlineAt'> & {
  readonly id: string
  readonly requires?: { readonly skills: ReadonlyArray<string> }
  /** Only in the answer about a single approval, as `description` and `metadata`. */
  readonly payload?: Json
  readonly description?: string
  readonly metadata?: JsonObject
}

export interface Approval extends Omit<CoreApproval, 'at' | 'tasks' | 'revision'> {
  readonly at: string
  readonly tasks: ReadonlyArray<WaitingTask>
}

export type TaskInChain = Pick<TaskView, 'id' | 'number' | 'type' | 'phase' | 'status' | 'discovery' | 'parentTaskId' | 'lastError' | 'createdAt'>

/** An approval with all that a guardian needs to decide on it. */
export interface ApprovalContext extends Approval {
  /** The known tasks of its chain, including the first. */
  readonly chain: ReadonlyArray<TaskInChain>
  /** Failures of validation in the chain, by signature. */
  readonly signatures: Readonly<Record<string, number>>
}

export interface Approved {
  /** Ids of the tasks that were enqueued. */
  readonly spawned: ReadonlyArray<string>
  /** Ids of the dead letters that were sent back: at most one. */
  readonly retried: ReadonlyArray<string>
}

/** Approvals wait for a guardian: discoveries about other tickets, halted chains of fixes, dead letters in such chains. */
export interface Approvals {
  /** All open approvals, the oldest first. */
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<Approval>>
  readonly get: (id: string, options?: CallOptions) => Promise<ApprovalContext>
  /** Enqueues the waiting tasks, or sends the dead letter back. Rejects with `not-found` if the approval was decided before. */
  readonly approve: (id: string, reason: string, options?: CallOptions) => Promise<Approved>
  readonly refuse: (id: string, reason: string, options?: CallOptions) => Promise<void>
}
