/** What can happen to tasks. Each is counted: in `totals` since the queue began, in `rollups` by quarter of an hour. */
import { integer } from './table.js'

export const happenings = {
  enqueued: integer('tasks enqueued'),
  imported: integer('tasks imported'),
  claimed: integer('claims'),
  completed: integer('tasks completed'),
  incomplete: integer('completions without the required decision report'),
  failed: integer('attempts that failed'),
  expired: integer('leases that expired'),
  revoked: integer('claims of agents that were terminated'),
  returned: integer('claims given back by agents that stopped'),
  released: integer('claims that agents refused'),
  parked: integer('times that a task was parked'),
  rate_limited: integer('attempts that met a rate limit'),
  called_back: integer('callbacks received'),
  timed_out: integer('callbacks that did not come in time'),
  retried: integer('retries'),
  dead_lettered: integer('dead letters'),
  requeued: integer('dead letters sent back'),
  discarded: integer('dead letters discarded'),
  cancelled: integer('tasks cancelled'),
}
export type CountColumn = keyof typeof happenings
export const countColumns = Object.keys(happenings) as ReadonlyArray<CountColumn>
