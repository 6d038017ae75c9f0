/** The read model of causes: who caused which events. */
import { integer, maybe, type RowOf, table, text } from './table.js'
import type { EventMeta } from '../projection.js'
import type { TableProjection } from './rows.js'

const causes = table({
  name: 'causes',
  about: 'Who caused which events: a row for each run of events with the same actor and correlation id.',
  columns: {
    queue: text('the queue'),
    revision: integer('the revision of the first event'),
    last_revision: integer('the revision of the last event; all between are of the same run'),
    at: integer('when the first event happened'),
    actor: maybe.text('the token, agent or program that gave the command'),
    correlation: maybe.text('the correlation id: the same for everything that one request led to; NULL if the commands of the run had none, so that each is its own'),
  },
  key: ['queue', 'revision'],
  // Finds the last row of the queue.
  foundBy: ['queue'],
  fixed: ['queue', 'revision', 'at', 'actor', 'correlation'],
  indexes: [
    { name: 'causes_by_actor', on: 'actor, queue', where: 'actor IS NOT NULL' },
    { name: 'causes_by_correlation', on: 'correlation, queue', where: 'correlation IS NOT NULL' },
  ],
})

/**
 * Whether this may be a command id that the engine made: a UUID of version 8. It is the correlation id of a command that came without one.
 * Consecutive events with such ids share one row, because one row for each command would make the table as large as those of tasks.
 */
export const isCommandId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)

const correlationOf = ({ correlationId, causationId }: EventMeta): string | null => (correlationId === undefined || (correlationId === causationId && isCommandId(correlationId)) ? null : correlationId)

export const causeReadModel: TableProjection = {
  name: 'causes',
  version: 1,
  about: 'Who caused which events.',
  tables: [causes],
  feed: ({ queue, rows }) => {
    const kept = rows(causes)
    let row: RowOf<typeof causes> | undefined
    let meta: EventMeta | undefined
    let isPut = false
    return {
      fold: ({ revision, event: { at }, meta: next }) => {
        row ??= kept.get(queue)
        const isSame = row !== undefined && row.last_revision === revision - 1 && (next === meta || (row.actor === (next.actor ?? null) && row.correlation === correlationOf(next)))
        meta = next
        if (row === undefined || !isSame) {
          row = { queue, revision, last_revision: revision, at, actor: next.actor ?? null, correlation: correlationOf(next) }
          isPut = false
        }
        row.last_revision = revision
        if (!isPut) kept.put(row)
        isPut = true
      },
      settle: () => {
        row = undefined
        meta = undefined
        isPut = false
      },
    }
  },
}
