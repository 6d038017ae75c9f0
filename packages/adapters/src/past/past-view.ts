/** A queue at a past moment: the view over a past state. */
import { type QueueState, revisionOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { type FindCauses, type QueueView, streamOf } from '../engine/index.js'
import type { LogReader } from '../store/index.js'

/** Reads contents from the log. */
export const contentsFrom = (log: LogReader, queue: string): QueueView['contents'] => async (revisions) => (await log.pick(streamOf(queue), revisions)).map((event) => event?.data)

/** `at`: the time of the view, in milliseconds since 1970, for everything that depends on time. */
export const pastView = (name: string, state: QueueState, at: number, log: LogReader, causes?: FindCauses): QueueView => {
  const revision = revisionOf(state)
  return {
    name,
    revision: () => revision,
    refusal: () => undefined,
    read: async (query) => E.right({ value: query(state, at), revision }),
    contents: contentsFrom(log, name),
    // The view ends here, so nothing later is waited for.
    nextSettled: async () => undefined,
    log,
    causes,
  }
}
