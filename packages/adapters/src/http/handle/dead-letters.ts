/** The review of dead letters (LK-11). */
import { type DeadLetterFilter, deadLetterPatterns } from '@daybook/core'
import type { PatternsQuery } from '../query.js'
import { type Handled, type QueueCall, replyWith } from '../route.js'
import { quoteAll } from '../text.js'
import { isoOf } from '../time.js'
import type { BulkReviewBody, ReviewBody } from '../wire.js'

export const patterns = async ({ queue, query }: QueueCall<unknown, PatternsQuery>): Promise<Handled> => {
  const { type, signature, error } = query
  const filter: DeadLetterFilter = {
    ...(type === undefined ? {} : { type }),
    ...(signature === undefined ? {} : { signature }),
    ...(error === undefined ? {} : { error }),
  }
  return replyWith(await queue.read((state) => deadLetterPatterns(state, filter)), (found, revision) =>
    JSON.stringify({
      patterns: found.map((pattern) => ({ ...pattern, firstAt: isoOf(pattern.firstAt), lastAt: isoOf(pattern.lastAt) })),
      revision,
    }),
  )
}

const retriedText = ({ retried }: { readonly retried: ReadonlyArray<string> }): string => `{"retried":${quoteAll(retried)}}`
const discardedText = (reply: { readonly discarded: ReadonlyArray<string>; readonly cancelled: ReadonlyArray<string> }): string =>
  `{"discarded":${quoteAll(reply.discarded)},"cancelled":${quoteAll(reply.cancelled)}}`

const one = ({ params, body }: QueueCall<ReviewBody>) => ({ task: params.id ?? '', reviewer: body.reviewer, reason: body.reason })

export const retryOne = async (call: QueueCall<ReviewBody>): Promise<Handled> =>
  replyWith(await call.queue.submit({ type: 'Retry', ...one(call) }, call.caller), retriedText)

export const discardOne = async (call: QueueCall<ReviewBody>): Promise<Handled> =>
  replyWith(await call.queue.submit({ type: 'Discard', ...one(call) }, call.caller), discardedText)

export const retryMany = async ({ queue, body, caller }: QueueCall<BulkReviewBody>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'Retry', ...body }, caller), retriedText)

export const discardMany = async ({ queue, body, caller }: QueueCall<BulkReviewBody>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'Discard', ...body }, caller), discardedText)
