/** How far the read models of a queue are (EV-04). */
import * as E from 'fp-ts/lib/Either.js'
import type { ReadModels } from '../../read-models/index.js'
import { type Problem, problem } from '../problem.js'
import type { AtLeastQuery } from '../query.js'
import type { Handled, QueueCall } from '../routes/route.js'
import type { ServerParts } from '../server-parts.js'

/** The read models, or why there are none: they begin when the server has read its log, and its routes answer before. */
export const openReadModels = ({ readModels, keepsReadModels }: Pick<ServerParts, 'readModels' | 'keepsReadModels'>): E.Either<Problem, ReadModels> => {
  const views = readModels()
  if (views !== undefined) return E.right(views)
  if (keepsReadModels) return E.left(problem('unavailable', 'the server is starting, and has not opened its read models yet', { retryAfterSeconds: 1 }))
  return E.left(problem('disabled', 'this server keeps no read models, which reports are made of: start it with a store on disk or EventStoreDB, and without --read-models off'))
}

/** With `atLeast` it answers once the tables include that revision, so that the caller can then query the file. */
export const readModelsOf =
  (readModels: () => E.Either<Problem, ReadModels>) =>
  async ({ queue, query, limits }: QueueCall<unknown, AtLeastQuery>): Promise<Handled> => {
    const open = readModels()
    if (E.isLeft(open)) return open
    const views = open.right
    const { atLeast } = query
    if (atLeast !== undefined && !(await views.reached(queue.name, Number(atLeast), limits.atLeastWaitMs))) {
      return E.left(problem('unavailable', `the read models have not reached revision ${atLeast} yet`, { retryAfterSeconds: 1 }))
    }
    const { revision, behind } = views.statusOf(queue)
    const building = views.building()
    return E.right({ status: 200, revision, text: JSON.stringify({ revision, behind, ...(building === undefined ? {} : { building: { projections: building.names, done: building.done, of: building.of } }) }) })
  }
