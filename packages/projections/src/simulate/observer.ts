/** What a simulation tells its observer while it runs, in the order of time. */
import type { QueueEvent } from '@daybook/core'

export interface Observer {
  /** An event of the queue. */
  readonly event: (event: QueueEvent) => void
  /** An agent of this pool began a task. Called after the event of its claim. `arrival`: the index in the workload. */
  readonly started: (at: number, pool: number, arrival: number) => void
  /** An agent of this pool has stopped working on a task. */
  readonly ended: (at: number, pool: number) => void
  /** The number of tasks that agents of this pool can work on at a time has changed by `change`. */
  readonly places: (at: number, pool: number, change: number) => void
  readonly crashed: (at: number, pool: number) => void
}
