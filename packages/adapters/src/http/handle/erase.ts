/** Erases the content of a finished task. */
import * as E from 'fp-ts/lib/Either.js'
import { problemOf } from '../problem.js'
import type { Handled, QueueCall } from '../routes/route.js'
import type { ReasonBody } from '../json/wire.js'

export const eraseTask = async ({ queue, params, body, caller }: QueueCall<ReasonBody>): Promise<Handled> => {
  const outcome = await queue.erase(params.id ?? '', body.reason, caller)
  if (E.isLeft(outcome)) return E.left(problemOf(outcome.left))
  const { value, revision } = outcome.right
  return E.right({ status: 200, text: JSON.stringify({ ...value, revision }), revision })
}
