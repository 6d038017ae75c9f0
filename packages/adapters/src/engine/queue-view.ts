/** What a query sees of a queue. The present queue and the queue at a past revision are both views. */
import type { LogReader } from '../store/index.js'
import type { FindCauses } from './log/caused-events.js'
import type { QueueEngine } from './types.js'

export interface QueueView extends Pick<QueueEngine, 'name' | 'read' | 'contents' | 'nextSettled'> {
  /** The last revision of the view. */
  readonly revision: () => number
  /** Why the server refuses commands now; `undefined` if it does not. A past moment refuses none. */
  readonly refusal: () => string | undefined
  /** The log. It may have events after the view's revision, which a query must not show. */
  readonly log: LogReader
  /** An index of the log by actor and correlation id, if there is one. It may be behind the log. */
  readonly causes?: FindCauses | undefined
}

export const viewOf = (engine: QueueEngine, log: LogReader, causes?: FindCauses): QueueView => ({
  name: engine.name,
  read: (query) => engine.read(query),
  contents: (revisions) => engine.contents(revisions),
  nextSettled: (task, waitMs, signal) => engine.nextSettled(task, waitMs, signal),
  revision: () => engine.status().revision,
  refusal: () => {
    const { unavailable, readOnly, clockRefusal } = engine.status()
    return unavailable ?? readOnly ?? clockRefusal
  },
  log,
  causes,
})
