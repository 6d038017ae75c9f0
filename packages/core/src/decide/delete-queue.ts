/** Deletes a queue without unfinished tasks. Its log stays (ADR 19). */
import * as E from 'fp-ts/lib/Either.js'
import { reject } from '../model/rejections.js'
import { isFinal, statuses } from '../model/task.js'
import type { Decider } from './decision.js'

/** The largest number of finished tasks that one event forgets. The queue decides nothing else meanwhile. */
const deletableMax = 10_000

export const decideDeleteQueue: Decider<'DeleteQueue'> = ({ reason }, tables, { at }) => {
  const { queue, counts, head, finished } = tables
  if (head.deleted !== null) return E.right([])
  const unfinished = statuses.filter((status) => !isFinal(status) && counts[status] > 0)
  if (unfinished.length > 0) {
    const found = unfinished.map((status) => `${counts[status]} ${status}`).join(', ')
    return E.left(reject('wrong-state', `queue ${queue} holds tasks that are not finished (${found}): let them be worked off, cancel them, or discard dead letters first`))
  }
  if (finished.size > deletableMax) {
    return E.left(reject('wrong-state', `queue ${queue} still knows ${finished.size} finished tasks, and at most ${deletableMax} are forgotten at once: lower retentionSeconds, and delete it when they have left`))
  }
  return E.right([{ type: 'QueueDeleted', at, data: { reason } }])
}
