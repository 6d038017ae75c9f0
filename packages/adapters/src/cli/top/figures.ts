/** The data that `daybook top` shows: figures of all queues, and details of the selected one. */
import type { AlertView, TaskView } from '../../client/index.js'

/** How often something happens. */
export interface Rate {
  /** Over the last minute, or the observed part of it; `undefined` before the second sample. */
  readonly perMinute: number | undefined
  /** Per minute between two samples, oldest first. */
  readonly course: ReadonlyArray<number>
}

export interface QueueFigures {
  readonly name: string
  /** Why it is paused; `null` when it is not. */
  readonly paused: string | null
  readonly byStatus: Readonly<Record<string, number>>
  readonly arrivals: Rate
  readonly completions: Rate
  readonly oldestWaitSeconds: number
  readonly agents: number
  readonly agentsMax: number
  /** Types whose breaker is open or half open. */
  readonly breakers: ReadonlyArray<{ readonly type: string; readonly state: 'open' | 'half-open' }>
}

/** Details of the selected queue. */
export interface QueueDetail {
  readonly queue: string
  readonly alerts: ReadonlyArray<AlertView>
  /** Held tasks, those that have been running longest first. */
  readonly running: ReadonlyArray<TaskView>
  /** Ready tasks, those that were enqueued first come first. */
  readonly waiting: ReadonlyArray<TaskView>
}

export interface Figures {
  readonly at: number
  readonly queues: ReadonlyArray<QueueFigures>
  readonly detail: QueueDetail | undefined
}

/** Statuses of unfinished tasks, as the parts of the bar, in its order. */
export const barStatuses: ReadonlyArray<readonly [name: string, statuses: ReadonlyArray<string>]> = [
  ['running', ['in-progress', 'incomplete']],
  ['pending', ['pending', 'queued']],
  ['later', ['scheduled', 'waiting']],
  ['blocked', ['blocked']],
  ['dead', ['dead-letter']],
]

export const countOf = ({ byStatus }: QueueFigures, statuses: ReadonlyArray<string>): number => statuses.reduce((sum, status) => sum + (byStatus[status] ?? 0), 0)
export const depthOf = (queue: QueueFigures): number => barStatuses.reduce((sum, [, statuses]) => sum + countOf(queue, statuses), 0)
