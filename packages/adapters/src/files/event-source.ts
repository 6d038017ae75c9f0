/** A queue's log as the source of projections. */
import type { EventSource } from '@daybook/projections'
import { map } from 'rxjs'
import { type Daybook, loggedEvent, type QueueEngine, streamOf } from '../engine/index.js'

/** `log`: that of the daybook. `engine`: tells when the log has grown. */
export const eventSourceOf = (engine: QueueEngine, log: Daybook['log']): EventSource => ({
  head: () => log.head(streamOf(engine.name)),
  read: async function* (from) {
    for await (const page of log.read(streamOf(engine.name), { from })) {
      const [first] = page
      if (first !== undefined) yield { from: first.revision, events: page.map(loggedEvent) }
    }
  },
  grown: engine.committed.pipe(map(({ from, events }) => from + events.length - 1)),
})
