/** A whole queue at one moment (EV-06). */
import { agentsOf, breakersOf, type BreakerView, depthOf, headOf, listTasks } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { problemOf } from '../problem.js'
import { filterOf, type TasksQuery } from '../query.js'
import type { Handled, ViewCall } from '../routes/route.js'
import { isoOf } from '../../iso-time.js'
import { shownAgent } from './agents.js'
import { shownBreakers, shownDepth } from './queue.js'
import { pageSizeOf, pageText } from './tasks.js'

/**
 * All parts are of one revision, because they come from one query. Breakers and agents come with each page, so there are at most as many of them as
 * tasks can be on one; `/breakers` and `/agents` have all.
 */
export const state = async ({ queue, query, limits, gone }: ViewCall<TasksQuery>): Promise<Handled> => {
  const left = gone()
  const { limit, cursor } = query
  const found = await queue.read((now, at) => {
    const breakers = Object.entries(breakersOf(now))
    const agents = agentsOf(now, at)
    return {
      page: listTasks(now, filterOf(query), pageSizeOf(limit, limits), cursor, at),
      shown: {
        at: isoOf(at),
        paused: headOf(now).paused,
        counts: shownDepth(depthOf(now, at), at),
        breakers: shownBreakers(Object.fromEntries(openFirst(breakers).slice(0, limits.pageMax))),
        breakersTotal: breakers.length,
        agents: agents.slice(0, limits.pageMax).map(shownAgent),
        agentsTotal: agents.length,
      },
    }
  })
  if (E.isLeft(found)) return E.left(problemOf(found.left))
  const { value: { page, shown }, revision } = found.right
  return E.right({ status: 200, text: `${JSON.stringify({ revision, ...shown }).slice(0, -1)},${await pageText(queue, page, limits, left)}}`, revision })
}

type Named = readonly [type: string, breaker: BreakerView]

/** What keeps tasks waiting must not be among those that are left out. */
const openFirst = (breakers: ReadonlyArray<Named>): ReadonlyArray<Named> => [...breakers].sort(([, a], [, b]) => Number(a.state === 'closed') - Number(b.state === 'closed'))
