/** The read model of breakers: their present state, and their states over time. */
import { integer, maybe, type RowOf, table, text } from './table.js'
import type { TableProjection } from './rows.js'

const queue = text('the queue')

const breakers = table({
  name: 'breakers',
  about: 'The breaker of each type that ever opened.',
  columns: {
    queue,
    type: text('the task type'),
    state: text('open, half-open or closed'),
    since: integer('when that began'),
    revision: integer('the revision of the event with which it began; `breaker_spans.revision`'),
    opened: integer('how often it opened'),
    open_ms: integer('milliseconds that it was open, without the span under way'),
    half_open_ms: integer('the same for half-open'),
  },
  key: ['queue', 'type'],
})

const breakerSpans = table({
  name: 'breaker_spans',
  about: 'The timeline of the breakers: each time in one state.',
  columns: {
    queue,
    type: text('the task type'),
    revision: integer('the revision of the event with which it began'),
    state: text('open, half-open or closed'),
    began_at: integer('when it began'),
    ended_at: maybe.integer('when it ended; NULL while it goes on'),
    cause: maybe.text('threshold, probe-failed, probe-succeeded, manual, or deleted with the queue'),
    reason: maybe.text('the reason that an operator gave'),
  },
  key: ['queue', 'type', 'revision'],
})

const unclosedBreakers = table({
  name: 'unclosed_breakers',
  about: 'The types whose breakers are not closed: they end when the queue is deleted.',
  columns: { queue, types: text('a JSON list of task types') },
  key: ['queue'],
})

export type BreakerSpanRow = RowOf<typeof breakerSpans>

/** A span that begins. */
type Begun = Pick<BreakerSpanRow, 'state' | 'revision' | 'cause' | 'reason'> & { readonly at: number }

export const breakerReadModel: TableProjection = {
  name: 'breakers',
  version: 2,
  about: 'Breakers and their timeline.',
  tables: [breakers, breakerSpans, unclosedBreakers],
  feed: ({ queue, rows }) => {
    const [byType, spans, unclosed] = [rows(breakers), rows(breakerSpans), rows(unclosedBreakers)]
    const begin = (type: string, { state, at, revision, cause, reason }: Begun): void => {
      const known = byType.get(queue, type)
      const breaker: RowOf<typeof breakers> = known ?? { queue, type, state: 'closed', since: at, revision, opened: 0, open_ms: 0, half_open_ms: 0 }
      const last = known === undefined ? undefined : spans.get(queue, type, known.revision)
      if (last !== undefined) {
        last.ended_at = at
        spans.put(last)
        if (last.state === 'open') breaker.open_ms += at - last.began_at
        if (last.state === 'half-open') breaker.half_open_ms += at - last.began_at
      }
      if (state === 'open') breaker.opened++
      breaker.state = state
      breaker.since = at
      breaker.revision = revision
      byType.put(breaker)
      spans.put({ queue, type, revision, state, began_at: at, ended_at: null, cause, reason })
    }
    const unclosedTypes = (): ReadonlyArray<string> => JSON.parse(unclosed.get(queue)?.types ?? '[]') as ReadonlyArray<string>
    const setUnclosed = (types: ReadonlyArray<string>): void => unclosed.put({ queue, types: JSON.stringify(types) })
    return {
      fold: ({ event, revision }) => {
        const { at } = event
        if (event.type === 'QueueDeleted') {
          // The queue forgets its breakers.
          for (const type of unclosedTypes()) begin(type, { state: 'closed', at, revision, cause: 'deleted', reason: event.data.reason })
          setUnclosed([])
          return
        }
        if (event.type !== 'BreakerOpened' && event.type !== 'BreakerHalfOpened' && event.type !== 'BreakerClosed') return
        const { taskType: type } = event.data
        const state = event.type === 'BreakerOpened' ? 'open' : event.type === 'BreakerHalfOpened' ? 'half-open' : 'closed'
        const { cause = null, reason = null } = 'cause' in event.data ? event.data : {}
        begin(type, { state, at, revision, cause, reason })
        const others = unclosedTypes().filter((other) => other !== type)
        setUnclosed(state === 'closed' ? others : [...others, type])
      },
      settle: () => undefined,
    }
  },
}
