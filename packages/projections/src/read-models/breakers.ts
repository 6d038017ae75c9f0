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
    previous_unclosed: maybe.text('in the list of breakers that are not closed: the type before this one'),
    next_unclosed: maybe.text('the type after it'),
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
  about: 'Where the list of breakers that are not closed begins. They all close when the queue is deleted.',
  columns: { queue, first: maybe.text('the first type of the list') },
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
    const [byType, spans, lists] = [rows(breakers), rows(breakerSpans), rows(unclosedBreakers)]
    const setFirst = (first: string | null): void => lists.put({ queue, first })
    const neighbour = (type: string | null, change: (row: RowOf<typeof breakers>) => void): void => {
      const row = type === null ? undefined : byType.get(queue, type)
      if (row === undefined) return
      change(row)
      byType.put(row)
    }
    const enlist = (breaker: RowOf<typeof breakers>): void => {
      breaker.next_unclosed = lists.get(queue)?.first ?? null
      neighbour(breaker.next_unclosed, (next) => (next.previous_unclosed = breaker.type))
      setFirst(breaker.type)
    }
    const unlist = (breaker: RowOf<typeof breakers>): void => {
      const { previous_unclosed: previous, next_unclosed: next } = breaker
      if (previous === null) setFirst(next)
      neighbour(previous, (row) => (row.next_unclosed = next))
      neighbour(next, (row) => (row.previous_unclosed = previous))
      breaker.previous_unclosed = null
      breaker.next_unclosed = null
    }
    const begin = (type: string, { state, at, revision, cause, reason }: Begun): void => {
      const known = byType.get(queue, type)
      const breaker: RowOf<typeof breakers> = known ?? { queue, type, state: 'closed', since: at, revision, opened: 0, open_ms: 0, half_open_ms: 0, previous_unclosed: null, next_unclosed: null }
      const wasClosed = breaker.state === 'closed'
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
      if (wasClosed && state !== 'closed') enlist(breaker)
      if (!wasClosed && state === 'closed') unlist(breaker)
      byType.put(breaker)
      spans.put({ queue, type, revision, state, began_at: at, ended_at: null, cause, reason })
    }
    return {
      fold: ({ event, revision }) => {
        const { at } = event
        if (event.type === 'QueueDeleted') {
          // The queue forgets its breakers.
          for (let type = lists.get(queue)?.first ?? null; type !== null; type = lists.get(queue)?.first ?? null) begin(type, { state: 'closed', at, revision, cause: 'deleted', reason: event.data.reason })
          return
        }
        if (event.type !== 'BreakerOpened' && event.type !== 'BreakerHalfOpened' && event.type !== 'BreakerClosed') return
        const { taskType: type } = event.data
        const state = event.type === 'BreakerOpened' ? 'open' : event.type === 'BreakerHalfOpened' ? 'half-open' : 'closed'
        const { cause = null, reason = null } = 'cause' in event.data ? event.data : {}
        begin(type, { state, at, revision, cause, reason })
      },
      settle: () => undefined,
    }
  },
}
