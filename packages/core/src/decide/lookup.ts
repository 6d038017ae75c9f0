import * as E from 'fp-ts/lib/Either.js'
import { reject, type Rejection } from '../model/rejections.js'
import { knownAt } from '../state/retention.js'
import { isHeld, type Lease, type LeaseEnd, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'

/** A task in the state by its id, or by its number as `#42`. This includes tasks whose retention is over and that have not been evicted yet. */
export const recordOf = (tables: Tables, id: string): TaskRecord | undefined =>
  id.startsWith('#') ? tables.byNumber.get(Number(id.slice(1))) : tables.byId.get(id)

/** The task, if it is known at `at`. */
export const findTask = (tables: Tables, id: string, at: number): TaskRecord | undefined => knownAt(tables, recordOf(tables, id), at)

export const taskById = (tables: Tables, id: string, at: number): E.Either<Rejection, TaskRecord> => {
  const task = findTask(tables, id, at)
  return task === undefined
    ? E.left(
        reject('not-found', `no task ${id} in queue ${tables.queue}: it was never enqueued here, or it finished and its retention is over`),
      )
    : E.right(task)
}

interface Holding {
  readonly task: TaskRecord
  readonly lease: Lease
}

/** The claim of this lease, as events name it. */
export const claimOf = ({ id }: TaskRecord, { agent, token }: Lease) => ({ task: id, agent, token })

/** The task and its lease, if this agent holds it with this token. Otherwise the refusal (GB-03). */
export const heldBy = (
  tables: Tables,
  claim: { readonly task: string; readonly agent: string; readonly token: number },
  at: number,
): E.Either<Rejection, Holding> => {
  const task = tables.held(claim) ?? findTask(tables, claim.task, at)
  if (task === undefined) return taskById(tables, claim.task, at) as E.Left<Rejection>
  const { lease } = task
  if (lease !== null && lease.token === claim.token && lease.agent === claim.agent && isHeld(task)) {
    return E.right({ task, lease })
  }
  return E.left(reject('lease-lost', `${whyLost(task, claim)}: stop working on ${task.id}; do not report its outcome`))
}

const whyLost = (task: TaskRecord, claim: { readonly agent: string; readonly token: number }): string => {
  const { lease, status } = task
  if (lease === null) return `task ${task.id} was never claimed`
  if (status === 'cancelled') return 'cancelled'
  if (lease.agent !== claim.agent && lease.token === claim.token) return `token ${claim.token} was given to another agent`
  if (claim.token > lease.token) return `token ${claim.token} was never given for it: the newest is ${lease.token}`
  if (lease.token !== claim.token) return `expired: token ${claim.token} is not the newest, ${lease.token}`
  return lease.end === null ? `the task is ${status} already` : lostBy[lease.end]
}
const lostBy: Readonly<Record<LeaseEnd, string>> = {
  'agent-terminated': 'terminated: this agent was ended by an operator',
  'lease-expired': 'expired: no heartbeat came in time',
  'ran-too-long': 'expired: the attempt took longer than maxRunSeconds of the task',
  'report-missing': 'expired: the decision report was not handed in in time',
  failed: 'this claim has already been reported as failed',
  'rate-limited': 'this claim has already been reported as rate-limited',
  parked: 'this claim has parked the task',
  released: 'this claim has already been released',
  cancelled: 'cancelled',
}
