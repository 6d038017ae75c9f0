/** Reports (EV-05). */
import * as E from 'fp-ts/lib/Either.js'
import { reportNames } from '@daybook/projections/reports'
import { errorText } from '../../error-text.js'
import type { ReadModels } from '../../read-models/index.js'
import { readReportRequest } from '../../read-models/reports/index.js'
import { invalid, type Problem, problem } from '../problem.js'
import type { ReportQuery } from '../query.js'
import type { Handled, QueueCall } from '../routes/route.js'

/** Read from the tables, on another thread. With `atLeast` it waits until they include that revision. */
export const report =
  (readModels: () => E.Either<Problem, ReadModels>) =>
  async ({ daybook, queue, query, limits, params }: QueueCall<unknown, ReportQuery>): Promise<Handled> => {
    const open = readModels()
    if (E.isLeft(open)) return open
    const views = open.right
    const name = reportNames.find((each) => each === params.report)
    if (name === undefined) return E.left(problem('not-found', `there is no report ${JSON.stringify(params.report)}: there are ${reportNames.join(', ')}`))
    const { atLeast, ...parameters } = query
    const { revision, aheadMs } = queue.status()
    // The last 24 hours are those of the queue: its time may be ahead of this server's clock, or the clock ahead of all times.
    const request = readReportRequest(queue.name, name, parameters, daybook.now() + aheadMs, revision)
    if (E.isLeft(request)) return E.left(invalid(request.left.map(({ path, message }) => ({ path: `query.${path}`, message }))))
    if (atLeast !== undefined && !(await views.reached(queue.name, Number(atLeast), limits.atLeastWaitMs))) {
      return E.left(problem('unavailable', `the read models have not reached revision ${atLeast} yet`, { retryAfterSeconds: 1 }))
    }
    let answer
    try {
      answer = await views.report(request.right)
    } catch (error) {
      return E.left(problem('unavailable', `the report cannot be read now: ${views.problem()?.reason ?? errorText(error)}`, { retryAfterSeconds: 1 }))
    }
    if (E.isRight(answer)) return E.right({ status: 200, ...answer.right })
    const { kind, message } = answer.left
    if (kind === 'invalid') return E.left(invalid([{ path: name === 'breakers' ? 'query.from' : 'query.bucket', message }]))
    const building = views.building()
    const obstacle = views.problem()?.reason
    if (obstacle !== undefined) return E.left(problem('unavailable', `the tables of reports are not there: ${obstacle}`, { retryAfterSeconds: 1 }))
    return E.left(problem('unavailable', kind === 'unfinished' || building === undefined ? message : `${message}, ${building.done} of ${building.of} events so far`, { retryAfterSeconds: 1 }))
  }
