/**
 * The lists of a queue, each under one name, so that HTTP, the command line and the queue files mean the same list. They query the state on which the
 * queue decides, so there is no second fold that could differ.
 */
import {
  agentsOf,
  breakersOf,
  type DeadLetterFilter,
  deadLetterPatterns,
  depthOf,
  listTasks,
  type QueueState,
  type Status,
  type TaskFilter,
  type TaskPage,
} from '@daybook/core'

/** A list of tasks. */
export interface ListView {
  readonly name: string
  /** One line for people. */
  readonly about: string
  readonly statuses: ReadonlyArray<Status>
  /** A page in the view's order; `after` is `next` of the previous page. */
  readonly list: (state: QueueState, limit: number, after?: string, filter?: Omit<TaskFilter, 'statuses'>) => TaskPage
}

const listView = (name: string, about: string, statuses: ReadonlyArray<Status>): ListView => ({
  name,
  about,
  statuses,
  list: (state, limit, after, filter = {}) => listTasks(state, { ...filter, statuses }, limit, after),
})

export const listViews = {
  pending: listView('pending', 'ready to be claimed, in the order of claims', ['pending', 'queued']),
  scheduled: listView('scheduled', 'waiting for their time: a retry, or availableAt', ['scheduled']),
  waiting: listView('waiting', 'parked until a callback comes', ['waiting']),
  blocked: listView('blocked', 'waiting for other tasks', ['blocked']),
  'in-progress': listView('in-progress', 'held by an agent', ['in-progress', 'incomplete']),
  completed: listView('completed', 'done, within the retention', ['completed']),
  'dead-letters': listView('dead-letters', 'given up by the queue, for people to decide on', ['dead-letter']),
  cancelled: listView('cancelled', 'cancelled or discarded, within the retention', ['cancelled', 'discarded']),
} as const satisfies Readonly<Record<string, ListView>>

/** The other views. */
export const otherViews = {
  depth: depthOf,
  breakers: breakersOf,
  agents: agentsOf,
  patterns: (state: QueueState, filter: DeadLetterFilter = {}) => deadLetterPatterns(state, filter),
} as const
