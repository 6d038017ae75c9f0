/** The refusals of queues that were never used, or were deleted. */
import { noSuchQueue, problem, type Problem } from '../problem.js'
import type { QueueRoute } from './route.js'

/**
 * `revision`: that of its last event, -1 for none. `deleted`: why it was deleted; `null` if it was not, or was used since. Returns `undefined` if the
 * request may be answered.
 */
export const refusalOfUnused = (unused: QueueRoute['unused'], name: string, revision: number, deleted: string | null): Problem | undefined => {
  if (unused !== 'refused') return undefined
  if (revision < 0) return noSuchQueue(name)
  return deleted === null ? undefined : problem('not-found', wasDeleted(name, deleted))
}

const wasDeleted = (name: string, reason: string): string =>
  `queue ${name} was deleted${reason === '' ? '' : ` (${reason})`}: its next task or setting creates it again; /api/queues/${name}/events still has its log`
