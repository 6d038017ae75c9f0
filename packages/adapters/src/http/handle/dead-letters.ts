/** The review of dead letters (LK-11). */
import { countDeadLetters, type DeadLetterFilter, deadLetterPatterns, type Json, type Redrive, redriveOf, unretriable } from '@daybook/core'
import { defined, ifDefined } from '../../defined.js'
import type { PatternsQuery, ReasonQuery } from '../query.js'
import * as E from 'fp-ts/lib/Either.js'
import { submitWithPayload } from '../../engine/index.js'
import { problemOf } from '../problem.js'
import { type Handled, type QueueCall, replyWith, type ViewCall } from '../routes/route.js'
import { withTenant } from '../routes/tenants.js'
import { quoteAll } from '../json/text.js'
import { isoOf, millisecondsOf } from '../../iso-time.js'
import type { BulkRetryBody, BulkReviewBody, BulkSnoozeBody, RetryBody, ReviewBody, SnoozeBody } from '../json/wire.js'

export const patterns = async ({ queue, query, tenants, limits }: ViewCall<PatternsQuery>): Promise<Handled> => {
  const asked = withTenant(tenants, query)
  if (E.isLeft(asked)) return asked
  const { type, signature, error, tenant, limit = limits.pageMax, cursor = 0 } = asked.right
  const start = Number(cursor)
  const end = start + Number(limit)
  const filter: DeadLetterFilter = defined({ type, signature, error })
  return replyWith(await queue.read((state) => deadLetterPatterns(state, filter, tenant)), (found, revision) =>
    JSON.stringify({
      patterns: found.slice(start, end).map((pattern) => ({ ...pattern, firstAt: isoOf(pattern.firstAt), lastAt: isoOf(pattern.lastAt) })),
      total: found.length,
      nextCursor: end < found.length ? String(end) : null,
      revision,
    }),
  )
}

const retriedText = ({ retried }: { readonly retried: ReadonlyArray<string> }): string => `{"retried":${quoteAll(retried)}}`
const discardedText = (reply: { readonly discarded: ReadonlyArray<string>; readonly cancelled: ReadonlyArray<string> }): string =>
  `{"discarded":${quoteAll(reply.discarded)},"cancelled":${quoteAll(reply.cancelled)}}`

const one = ({ params, body }: QueueCall<ReviewBody>) => ({ task: params.id ?? '', reviewer: body.reviewer, reason: body.reason })

export const retryOne = async (call: QueueCall<RetryBody>): Promise<Handled> => {
  const { queue, caller, limits, body: { payload } } = call
  const command = { type: 'Retry' as const, ...one(call) }
  // The payload is checked when it is made canonical.
  const outcome = submitWithPayload(queue, command, payload as Json | undefined, caller, limits.taskBytesMax)
  return replyWith(await outcome, retriedText)
}

export const discardOne = async (call: QueueCall<ReviewBody>): Promise<Handled> =>
  replyWith(await call.queue.submit({ type: 'Discard', ...one(call) }, call.caller), discardedText)

const shownRedrive = ({ startedAt, nextAt, stopped, after: _, epochs: __, ...redrive }: Redrive): object => ({
  ...redrive,
  startedAt: isoOf(startedAt),
  nextAt: nextAt === 0 ? null : isoOf(nextAt),
  stopped: ifDefined(stopped, (when) => ({ ...when, at: isoOf(when.at) })),
})

export const retryMany = async ({ queue, body, caller }: QueueCall<BulkRetryBody>): Promise<Handled> => {
  const { perMinute, dryRun = false, ...command } = body
  const count = (state: Parameters<typeof countDeadLetters>[0]): number => countDeadLetters(state, command.filter)
  if (dryRun) return replyWith(await queue.read(count), (found) => JSON.stringify({ retried: [], count: found }))
  if (perMinute === undefined) {
    const outcome = await queue.submit({ type: 'Retry', ...command }, caller)
    if (E.isLeft(outcome)) return replyWith(outcome, retriedText)
    const left = await queue.read((state) => unretriable(state, command.filter))
    return replyWith(outcome, ({ retried }) => JSON.stringify({ retried, ...(E.isRight(left) && left.right.value.length > 0 ? { skipped: left.right.value } : {}) }))
  }
  const found = await queue.read(count)
  if (E.isLeft(found)) return E.left(problemOf(found.left))
  return replyWith(await queue.submit({ type: 'Redrive', ...command, perMinute }, caller), (redrive) =>
    JSON.stringify({ retried: [], count: found.right.value, redrive: shownRedrive(redrive) }),
  )
}

const redriveText = (redrive: Redrive | null): string => JSON.stringify({ redrive: redrive === null ? null : shownRedrive(redrive) })

export const redrive = async ({ queue }: ViewCall): Promise<Handled> => replyWith(await queue.read(redriveOf), redriveText)

export const stopRedrive = async ({ queue, query, caller }: QueueCall<unknown, ReasonQuery>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'StopRedrive', reviewer: caller.actor, reason: query.reason ?? 'stopped by an operator' }, caller), redriveText)

const snoozedText = (reply: { readonly snoozed: ReadonlyArray<string> }): string => `{"snoozed":${quoteAll(reply.snoozed)}}`
const escalatedText = (reply: { readonly escalated: ReadonlyArray<string> }): string => `{"escalated":${quoteAll(reply.escalated)}}`

export const snoozeOne = async (call: QueueCall<SnoozeBody>): Promise<Handled> =>
  replyWith(await call.queue.submit({ type: 'Snooze', ...one(call), until: millisecondsOf(call.body.until) }, call.caller), snoozedText)

export const snoozeMany = async ({ queue, body, caller }: QueueCall<BulkSnoozeBody>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'Snooze', ...body, until: millisecondsOf(body.until) }, caller), snoozedText)

export const escalateOne = async (call: QueueCall<ReviewBody>): Promise<Handled> =>
  replyWith(await call.queue.submit({ type: 'Escalate', ...one(call) }, call.caller), escalatedText)

export const escalateMany = async ({ queue, body, caller }: QueueCall<BulkReviewBody>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'Escalate', ...body }, caller), escalatedText)

export const discardMany = async ({ queue, body, caller }: QueueCall<BulkReviewBody>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'Discard', ...body }, caller), discardedText)
