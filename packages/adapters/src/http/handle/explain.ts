/** Why a task is not running. */
import { explainOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { problemOf } from '../problem.js'
import { askerOf, type ExplainQuery } from '../query.js'
import { shownReasons } from '../reasons.js'
import type { Handled, ViewCall } from '../route.js'
import { noSuchTask } from './tasks.js'

export const explain = async ({ queue, params, query }: ViewCall<ExplainQuery>): Promise<Handled> => {
  const { id = '' } = params
  const found = await queue.read((state, at) => explainOf(state, id, at, askerOf(query)))
  if (E.isLeft(found)) return E.left(problemOf(found.left))
  const { value: explanation, revision } = found.right
  if (explanation === undefined) return E.left(noSuchTask(queue, id))
  return E.right({ status: 200, text: JSON.stringify({ ...explanation, reasons: shownReasons(explanation.reasons) }), revision })
}
