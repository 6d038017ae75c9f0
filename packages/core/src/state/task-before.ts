/** The undo of a task's change. */
import type { Lease, TaskExtras, TaskRecord } from '../records/records.js'
import type { Status } from '../model/task.js'
import type { Undo } from '../structures/undo-log.js'

/** The former values of a task's changeable fields, and the undo that restores them. Both are one object, because nearly every event makes one. */
export class TaskBefore implements Undo {
  readonly savedFor: number
  readonly priority: number
  readonly status: Status
  readonly retries: number
  readonly attempts: number
  readonly missing: number
  readonly dependents: Array<TaskRecord>
  readonly blocking: number
  readonly lease: Lease | null
  readonly delayedUntil: number
  readonly finishedAt: number
  readonly lastRevision: number
  readonly extras: TaskExtras

  constructor(
    private readonly tables: { readonly restore: (task: TaskRecord, before: TaskBefore) => void },
    private readonly task: TaskRecord,
  ) {
    this.savedFor = task.savedFor
    this.priority = task.priority
    this.status = task.status
    this.retries = task.retries
    this.attempts = task.attempts
    this.missing = task.missing
    this.dependents = task.dependents
    this.blocking = task.blocking
    this.lease = task.lease
    this.delayedUntil = task.delayedUntil
    this.finishedAt = task.finishedAt
    this.lastRevision = task.lastRevision
    this.extras = task.extras
  }

  undo(): void {
    this.tables.restore(this.task, this)
  }

  putBack(): void {
    const { task } = this
    task.savedFor = this.savedFor
    task.priority = this.priority
    task.status = this.status
    task.retries = this.retries
    task.attempts = this.attempts
    task.missing = this.missing
    task.dependents = this.dependents
    task.blocking = this.blocking
    task.lease = this.lease
    task.delayedUntil = this.delayedUntil
    task.finishedAt = this.finishedAt
    task.extras = this.extras
  }
}
