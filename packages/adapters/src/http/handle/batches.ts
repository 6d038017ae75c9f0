/** Batches: tasks that are counted together, and a task that is enqueued when all of them are finished. */
import { type BatchView, batchesOf, batchOf, under } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { defined, ifDefined } from '../../defined.js'
import type { Answer, QueueView } from '../../engine/index.js'
import { hasRole } from '../routes/access.js'
import type { CancelBatchBody, NewBatchBody } from '../routes/batch-routes.js'
import { invalid, problem, type Problem, problemOf } from '../problem.js'
import type { BatchesQuery } from '../query.js'
import { find, type Handled, type QueueCall, replyFound, replyWith, type ViewCall } from '../routes/route.js'
import { isOwn, tenantFor, type Tenants, underTenant } from '../routes/tenants.js'
import { isoOf } from '../../iso-time.js'
import { enqueuedText, idsFor, isEventOf, pageSizeOf, prepareAll, tooMany, withoutMadeIds } from './tasks.js'

/** The share of its tasks that it need not wait for any more. */
const progressOf = ({ state, on, tasks, completed, cancelled, discarded, deadLetters }: BatchView): number =>
  // Once finished, a batch waits for none, not even for a dead letter that is sent back.
  state === 'finished' || tasks === 0 ? Number(state === 'finished') : Math.floor(((completed + cancelled + discarded + (on === 'settled' ? deadLetters : 0)) / tasks) * 1_000) / 1_000

const shown = (batch: BatchView): object => {
  const { revision: _, createdAt, closedAt, cancelledAt, finishedAt, reasons, ...rest } = batch
  return {
    ...rest,
    progress: progressOf(batch),
    createdAt: isoOf(createdAt),
    closedAt: ifDefined(closedAt, isoOf),
    cancelledAt: ifDefined(cancelledAt, isoOf),
    finishedAt: ifDefined(finishedAt, isoOf),
    reasons,
  }
}

export const create = async (call: QueueCall<NewBatchBody>): Promise<Handled> => {
  const { queue, caller, limits, tenants, body } = call
  const { tasks = [], callback, open, id: given, tenant: named, ...rest } = body
  const refused = tooMany('tasks', tasks.length, limits.itemsMax)
  if (refused !== undefined) return E.left(refused)
  const found = tenantFor(tenants, named)
  if (E.isLeft(found)) return found
  const tenant = found.right
  const made = idsFor(call)(tasks.length)
  const id = given ?? (tenant === undefined ? made : under(tenant, made))
  if (tenants !== undefined) {
    const own = underTenant(tenant, id, 'id')
    if (E.isLeft(own)) return own
  }
  const inAnother = tasks.findIndex(({ batchId }) => batchId !== undefined && batchId !== id)
  if (inAnother >= 0) return E.left(invalid([{ path: `tasks[${inAnother}].batchId`, message: 'is that of the batch that is made: leave it out' }]))
  const withTenant = defined({ tenant })
  const prepared = prepareAll(call, tasks.map((task) => ({ ...withTenant, ...task, batchId: id })))
  if (E.isLeft(prepared)) return prepared
  const outcome = await queue.submit(
    {
      type: 'CreateBatch', id, ...rest, ...withTenant, tasks: prepared.right,
      ...(callback === undefined ? {} : { callback: { ...withTenant, ...callback } }),
      ...(open === true ? { open } : {}),
    },
    caller,
  )
  if (E.isLeft(outcome)) return E.left(withoutMadeIds(problemOf(outcome.left), tasks, prepared.right))
  return replyWith(outcome, ({ batch, results }, revision) => `{"batch":${JSON.stringify(shown(batch))},"results":[${results.map(enqueuedText).join(',')}],"revision":${revision}}`, 201)
}

export const list = async ({ queue, query, limits, tenants }: ViewCall<BatchesQuery>): Promise<Handled> => {
  const { state, tenant, limit, cursor } = query
  const asked = tenantFor(tenants, tenant)
  if (E.isLeft(asked)) return asked
  const filter = defined({ state, tenants: ifDefined(asked.right, (own) => [own]) })
  const page = await queue.read((known, at) => batchesOf(known, filter, pageSizeOf(limit, limits), ifDefined(cursor, Number), at))
  return replyWith(page, ({ batches, next }, revision) => JSON.stringify({ batches: batches.map(shown), nextCursor: next === undefined ? null : String(next), revision }))
}

/** The batch of the path. One of another tenant is answered as one that does not exist. */
const batchFor = (queue: Pick<QueueView, 'name' | 'read'>, id: string, tenants: Tenants): Promise<E.Either<Problem, Answer<BatchView>>> => {
  const own = (batch: BatchView | undefined): BatchView | undefined => (batch !== undefined && isOwn(tenants, batch.tenant) ? batch : undefined)
  const missing = () => problem('not-found', `no batch ${id} in queue ${queue.name}: it was never created here, or it finished and its retention is over`)
  return find(queue, (state, at) => own(batchOf(state, id, at)), missing)
}

const batchText = (batch: BatchView, revision: number): string => JSON.stringify({ ...shown(batch), revision })

export const show = async ({ queue, params, tenants }: ViewCall): Promise<Handled> => replyFound(await batchFor(queue, params.batch ?? '', tenants), batchText)

/** The batch of the path, if the caller may change it: a producer may what it made itself. */
const mine = async (call: QueueCall): Promise<E.Either<Problem, Answer<BatchView>>> => {
  const { queue, params, tenants, grant } = call
  const found = await batchFor(queue, params.batch ?? '', tenants)
  if (E.isLeft(found) || hasRole(grant, 'operator') || (await isEventOf(call, found.right.value.revision))) return found
  return E.left(problem('forbidden', `batch ${found.right.value.id} was not made by ${grant.name}: this needs the role operator`))
}

export const close = async (call: QueueCall): Promise<Handled> => {
  const found = await mine(call)
  if (E.isLeft(found)) return found
  return replyWith(await call.queue.submit({ type: 'CloseBatch', id: found.right.value.id }, call.caller), batchText)
}

export const cancel = async (call: QueueCall<CancelBatchBody>): Promise<Handled> => {
  const { queue, caller, body: { reason, runsCallback } } = call
  const found = await mine(call)
  if (E.isLeft(found)) return found
  const { id } = found.right.value
  // Each part is durable before the next: what was closed by the first takes in nothing more.
  for (let count = 0; ; ) {
    const outcome = await queue.submit({ type: 'CancelBatch', id, reason, ...(runsCallback === true ? { runsCallback } : {}) }, caller)
    if (E.isRight(outcome)) count += outcome.right.value.cancelled.length
    if (E.isRight(outcome) && outcome.right.value.batch.open > 0 && outcome.right.value.cancelled.length > 0) continue
    return replyWith(outcome, ({ batch }, revision) => JSON.stringify({ batch: shown(batch), cancelled: count, revision }))
  }
}
