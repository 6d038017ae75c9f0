/** What a simulation tells while it runs, in the order of time. */
import type { QueueEvent } from '@daybook/core'

export interface Observer {
  /** An event of the queue. */
  readonly event: (event: QueueEvent) => void
  /** An agent of this pool began with a task; told after the event of its claim. `arrival`: its index in the workload. */
  readonly started: (at: number, pool: number, arrival: number) => void
  /** It is no longer at it. */
  readonly ended: (at: number, pool: number) => void
  /** Agents of this pool can work on so many tasks more at a time, or fewer. */
  readonly places: (at: number, pool: number, change: number) => void
  readonly crashed: (at: number, pool: number) => void
}
