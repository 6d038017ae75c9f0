/** The decisions of guardians. */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Approval } from '../state/approvals.js'
import type { QueueEvent } from '../model/events.js'
import { reject, type Rejection } from '../model/rejections.js'
import { holderOfKey } from '../state/retention.js'
import type { Tables } from '../state/tables.js'
import type { PlannedTask } from '../model/task-fields.js'
import { isFinal } from '../model/task.js'
import type { Decider, Decision } from './decision.js'
import { findTask } from './lookup.js'
import { factsOfPlan } from './spawn.js'

export const decideApprove: Decider<'Approve'> = ({ approval: id, reason, contents = [] }, tables, { at }) =>
  pipe(
    openApproval(tables, id),
    E.chain((approval): Decision => {
      const { kind, root, tasks } = approval
      const first: QueueEvent = kind === 'spawn' ? { type: 'SpawnApproved', at, data: { approval: id, reason } } : { type: 'GuardianReleased', at, data: { approval: id, root, reason } }
      if (kind === 'dead-letter') return sendBack(approval, first, reason, tables, at)
      if (contents.length !== tasks.length) return E.left(reject('conflict', `${id} was opened a moment ago: try again`))
      const lost = tasks.flatMap(({ dependencies = [] }) => dependencies).find((dependency) => isHopeless(tables, approval, dependency, at))
      if (lost !== undefined) return E.left(reject('unknown-dependency', `${lost} will never complete: refuse ${id}`))
      const { lastNumber } = tables.head
      const isJoined = tables.batches.isJoinedByApproved(approval)
      return E.right([
        first,
        ...tasks.map((plan, i): QueueEvent => ({ type: 'TaskEnqueued', at, data: factsOfPlan(isJoined ? plan : withoutBatch(plan), lastNumber + 1 + i), content: contents[i] ?? '{}' })),
      ])
    }),
  )

export const decideRefuse: Decider<'Refuse'> = ({ approval, reason }, tables, { at }) =>
  pipe(
    openApproval(tables, approval),
    E.map(() => [{ type: 'SpawnRefused', at, data: { approval, reason } }]),
  )

const openApproval = ({ approvals, queue }: Tables, id: string): E.Either<Rejection, Approval> => {
  const approval = approvals.get(id)
  return approval === undefined
    ? E.left(reject('not-found', `nothing waits for approval as ${id} in queue ${queue}: it was decided on, or its dead letter was reviewed; see the list of approvals`))
    : E.right(approval)
}

/** For a batch that is finished or was cancelled. */
const withoutBatch = ({ batchId: _, ...plan }: PlannedTask): PlannedTask => plan

/** Whether the task depends on one that will never complete and that is not spawned together with it. */
const isHopeless = (tables: Tables, { tasks }: Approval, id: string, at: number): boolean => {
  if (tasks.some(({ task }) => task === id)) return false
  const dependency = findTask(tables, id, at)
  return dependency === undefined || (isFinal(dependency.status) && dependency.status !== 'completed')
}

const sendBack = ({ id, parent }: Approval, released: QueueEvent, reason: string, tables: Tables, at: number): Decision => {
  const task = tables.byId.get(parent)
  if (task?.status !== 'dead-letter') return E.right([released])
  const rival = holderOfKey(tables, task.key, at)
  if (rival !== undefined) {
    return E.left(reject('conflict', `${rival.id} was enqueued since with the same idempotency key as ${parent}: refuse ${id}, or cancel that one first`))
  }
  return E.right([released, { type: 'Requeued', at, data: { task: parent, reviewer: 'guardian', reason } }])
}
