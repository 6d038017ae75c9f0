/** The routes of batches. */
import { BatchEnd, BatchId, listOf, Name, ScheduledTask, Text } from '@daybook/core'
import * as t from 'io-ts'
import { readers } from './access.js'
import { ids, keys, orNull, revision } from '../answers/parts.js'
import { EnqueuedOfMany } from '../answers/tasks.js'
import * as batches from '../handle/batches.js'
import type { HttpLimits } from '../limits.js'
import * as q from '../query.js'
import { input, parameters, queueRoute, type Route, viewRoute } from './route.js'
import { Time } from '../../iso-time.js'
import { TaskBody } from '../json/wire.js'

export const NewBatchBody = t.partial(
  { id: BatchId, tenant: Name, description: Text, tasks: listOf(TaskBody), callback: ScheduledTask, on: BatchEnd, open: t.boolean },
  'NewBatch',
)
export type NewBatchBody = t.TypeOf<typeof NewBatchBody>
/** Closing says nothing more. */
const CloseBatchBody = t.exact(t.partial({}, 'CloseBatch'))
export const CancelBatchBody = t.intersection([t.type({ reason: Text }), t.partial({ runsCallback: t.boolean })], 'CancelBatch')
export type CancelBatchBody = t.TypeOf<typeof CancelBatchBody>

const BatchReason = t.intersection(
  [t.type({ code: keys(['batch-open', 'tasks-open', 'dead-letters', 'approvals']), message: t.string, change: t.string }), t.partial({ tasks: ids })],
  'BatchReason',
)
const batch = t.intersection([
  t.type({
    id: t.string,
    state: keys(['open', 'closed', 'finished']),
    on: BatchEnd,
    createdAt: Time,
    tasks: t.number,
    open: t.number,
    completed: t.number,
    cancelled: t.number,
    discarded: t.number,
    deadLetters: t.number,
    approvals: t.number,
    progress: t.number,
    reasons: t.readonlyArray(BatchReason),
  }),
  t.partial({ tenant: t.string, description: t.string, closedAt: Time, cancelledAt: Time, cancelReason: t.string, finishedAt: Time, callback: ScheduledTask, callbackTask: t.string }),
])
const Batch = t.intersection([batch, t.type({})], 'Batch')
const BatchAnswer = t.intersection([batch, t.type(revision)], 'Batch now')
const BatchesAnswer = t.type({ batches: t.readonlyArray(Batch), nextCursor: orNull(t.string), ...revision }, 'Batches')
const CreatedBatchAnswer = t.type({ batch: Batch, results: t.readonlyArray(EnqueuedOfMany), ...revision }, 'Created batch')
const CancelledBatchAnswer = t.type({ batch: Batch, cancelled: t.number, ...revision }, 'Cancelled batch')

export const batchRoutes = (of: string, { pageMax }: HttpLimits): ReadonlyArray<Route> => [
  queueRoute({
    method: 'POST', path: `${of}/batches`, who: ['producer'], tenants: 'own', unused: 'opened',
    tag: 'batches', summary: 'Makes a batch with its tasks.',
    description: 'Makes a batch and enqueues its tasks: all or none. With `open`, others may join it by their `batchId` until it is closed. When all of them are finished, its `callback` is enqueued. The same again is the same batch.',
    refusals: ['conflict', 'unknown-dependency', 'dependency-cycle', 'wrong-state'],
    body: input(NewBatchBody), answers: { 201: CreatedBatchAnswer }, handle: batches.create,
  }),
  viewRoute({
    path: `${of}/batches`, who: readers, tenants: 'own', unused: 'empty',
    tag: 'batches', summary: 'The batches that are known, the newest first.',
    query: parameters(q.batchesQuery(pageMax)), answers: { 200: BatchesAnswer }, handle: batches.list,
  }),
  viewRoute({
    path: `${of}/batches/{batch}`, who: ['producer', 'worker', ...readers], tenants: 'own',
    tag: 'batches', summary: 'A batch: how far it is, and why it is not finished.',
    query: parameters(q.MomentQuery), answers: { 200: BatchAnswer }, handle: batches.show,
  }),
  queueRoute({
    method: 'POST', path: `${of}/batches/{batch}/close`, who: ['producer', 'operator'], tenants: 'own',
    tag: 'batches', summary: 'Closes a batch: no more tasks join it.',
    description: 'Closes a batch: no more tasks join it, except those that its own tasks add while they are being worked on. If all of its tasks are finished, it is. A producer that is no operator can close what it made itself.',
    body: input(CloseBatchBody, { mayBeAbsent: true }), answers: { 200: BatchAnswer }, handle: batches.close,
  }),
  queueRoute({
    method: 'POST', path: `${of}/batches/{batch}/cancel`, who: ['producer', 'operator'], tenants: 'own',
    tag: 'batches', summary: 'Closes a batch and cancels its open tasks.',
    description: 'Closes a batch and cancels its open tasks and all that depend on them. Its callback is not enqueued, unless `runsCallback` is given. A producer that is no operator can cancel what it made itself.',
    refusals: ['wrong-state'],
    body: input(CancelBatchBody), answers: { 200: CancelledBatchAnswer }, handle: batches.cancel,
  }),
]
