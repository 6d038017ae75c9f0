/** The read model of event counts: what happened in each minute, by type of event. */
import { integer, table, text, type RowOf } from './table.js'
import type { TableProjection } from './rows.js'

const minuteMs = 60_000

const eventCounts = table({
  name: 'event_counts',
  about: 'How many events of each type happened in each minute.',
  columns: { queue: text('the queue'), minute: integer('when the minute began'), event: text('the type of the event'), count: integer('how many') },
  key: ['queue', 'minute', 'event'],
})
type Row = RowOf<typeof eventCounts>

export const eventCountReadModel: TableProjection = {
  name: 'event-counts',
  version: 1,
  about: 'Events by type and minute.',
  tables: [eventCounts],
  feed: ({ queue, rows }) => {
    const kept = rows(eventCounts)
    let minute = 0
    const counts = new Map<string, Row>()
    const settle = (): void => {
      for (const row of counts.values()) kept.put(row)
      counts.clear()
    }
    return {
      fold: ({ event: { type, at } }) => {
        if (at >= minute + minuteMs) {
          settle()
          minute = at - (at % minuteMs)
        }
        let row = counts.get(type)
        if (row === undefined) counts.set(type, (row = kept.get(queue, minute, type) ?? { queue, minute, event: type, count: 0 }))
        row.count++
      },
      settle,
    }
  },
}
