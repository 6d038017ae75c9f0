/** Why a task is not running. */
import { type Asker, explainOf, type Explanation, type Reason } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { noSuchTask, type Problem } from '../problem.js'
import { askerOf, type ExplainQuery } from '../query.js'
import { shownReasons } from '../json/reasons.js'
import { find, type Handled, type ViewCall } from '../routes/route.js'
import { type Tenants, underTenant, withTenant } from '../routes/tenants.js'

export const explain = async ({ queue, params, query, tenants }: ViewCall<ExplainQuery>): Promise<Handled> => {
  const { id = '' } = params
  const asked = askedFor(query, tenants)
  if (E.isLeft(asked)) return asked
  const found = await find(queue, (state, at) => explainOf(state, id, at, asked.right), () => noSuchTask(queue, id))
  if (E.isLeft(found)) return found
  const { value: known, revision } = found.right
  const explanation = whileRefused(known, queue.refusal())
  const { positionAtLeast: _, ...rest } = explanation
  // The position would count tasks of other tenants.
  const shown = tenants === undefined ? explanation : { ...rest, position: null }
  return E.right({ status: 200, text: JSON.stringify({ ...shown, reasons: shownReasons(explanation.reasons, tenants) }), revision })
}

/** The explanation, with the server's refusal as its first reason: while commands are refused, nobody can claim the task. */
const whileRefused = (explanation: Explanation, refusal: string | undefined): Explanation => {
  const { reasons } = explanation
  if (refusal === undefined || reasons.some(({ code }) => code === 'finished')) return explanation
  const { positionAtLeast: _, ...rest } = explanation
  const refused: Reason = { code: 'unavailable', message: `this server cannot take commands now: ${refusal}`, change: 'what GET /readyz and the server\'s log ask for' }
  return { ...rest, runnable: false, position: null, reasons: [refused, ...reasons.filter(({ code }) => code !== 'ready')] }
}

/** The claim for which the task is explained. For a token of a tenant, it must be a claim that the token could make. */
const askedFor = (query: ExplainQuery, tenants: Tenants): E.Either<Problem, Asker | undefined> => {
  const asker = askerOf(query)
  if (asker === undefined || tenants === undefined) return E.right(asker)
  return E.chain((asked: Asker): E.Either<Problem, Asker> => {
    return asked.agent === undefined ? E.right(asked) : E.map(() => asked)(underTenant(asked.tenant, asked.agent, 'query.agentId'))
  })(withTenant(tenants, asker))
}
