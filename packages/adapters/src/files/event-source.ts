/** A queue's log as the source of projections. */
import type { EventSource } from '@daybook/projections'
import { type Daybook, decodeRecorded, type QueueEngine, streamOf } from '../engine/index.js'

/** `log` is the daybook's. `engine` publishes what becomes durable. */
export const eventSourceOf = (engine: QueueEngine, log: Daybook['log']): EventSource => ({
  head: () => log.head(streamOf(engine.name)),
  read: async function* (from) {
    for await (const page of log.read(streamOf(engine.name), { from })) {
      const [first] = page
      if (first !== undefined) yield { from: first.revision, events: page.map(decodeRecorded) }
    }
  },
  committed: engine.committed,
})
