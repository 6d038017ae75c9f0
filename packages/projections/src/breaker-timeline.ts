/** When each type's breaker was open, half-open and closed, and why (LK-13, LK-15). */
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { QueueEvent } from '@daybook/core'
import type { Projection } from './projection.js'

const Span = t.intersection([
  t.type({ state: t.keyof({ open: null, 'half-open': null, closed: null }), from: t.number, revision: t.number }),
  t.partial({ to: t.number, cause: t.string, reason: t.string }),
])
/** A time in one state, from `from` to `to` (milliseconds since 1970). Without `to` it has not ended. `revision`: that of the event that began it. */
export type BreakerSpan = Readonly<t.TypeOf<typeof Span>>

const OneType = t.type({ opened: t.number, openMs: t.number, halfOpenMs: t.number, spans: t.array(Span) })

export interface TypeTimeline {
  /** How often the breaker opened. */
  readonly opened: number
  /** Milliseconds spent open and half-open, without the current span. */
  readonly openMs: number
  readonly halfOpenMs: number
  /** The newest spans, oldest first. */
  readonly spans: ReadonlyArray<BreakerSpan>
}
export type BreakerTimeline = Readonly<Record<string, TypeTimeline>>
export type BreakerTimelineState = Map<string, TypeTimeline>

/** Number of spans kept per type. Older spans count only in the sums. */
const spansKept = 1_000

const Saved = t.array(t.tuple([t.string, OneType]))

const spanOf = (event: QueueEvent, revision: number): BreakerSpan | undefined => {
  const begins = { from: event.at, revision }
  switch (event.type) {
    case 'BreakerOpened':
    case 'BreakerClosed': {
      const { cause, reason } = event.data
      const state = event.type === 'BreakerOpened' ? 'open' : 'closed'
      return { state, ...begins, cause, ...(reason === undefined ? {} : { reason }) }
    }
    case 'BreakerHalfOpened':
      return { state: 'half-open', ...begins }
    default:
      return undefined
  }
}

const add = (before: TypeTimeline, span: BreakerSpan): TypeTimeline => {
  const last = before.spans[before.spans.length - 1]
  const lasted = (state: BreakerSpan['state']): number => (last?.state === state ? span.from - last.from : 0)
  const ended = last === undefined ? [] : [{ ...last, to: span.from }]
  return {
    opened: before.opened + (span.state === 'open' ? 1 : 0),
    openMs: before.openMs + lasted('open'),
    halfOpenMs: before.halfOpenMs + lasted('half-open'),
    spans: [...before.spans.slice(0, -1), ...ended, span].slice(-spansKept),
  }
}

export const breakerTimeline: Projection<BreakerTimelineState, BreakerTimeline> = {
  name: 'breaker-timeline',
  version: 2,
  initial: () => new Map(),
  fold: (state, { event, revision }) => {
    if (event.type === 'QueueDeleted') {
      // The queue forgets its breakers.
      const closed: BreakerSpan = { state: 'closed', from: event.at, revision, cause: 'deleted', reason: event.data.reason }
      for (const [type, timeline] of state) if (timeline.spans[timeline.spans.length - 1]?.state !== 'closed') state.set(type, add(timeline, closed))
      return state
    }
    const span = spanOf(event, revision)
    if (span === undefined || !('taskType' in event.data)) return state
    const { taskType } = event.data
    state.set(taskType, add(state.get(taskType) ?? { opened: 0, openMs: 0, halfOpenMs: 0, spans: [] }, span))
    return state
  },
  result: (state) => Object.fromEntries(state),
  encode: (state) => [...state],
  decode: (json) => (Saved.is(json) ? E.right(new Map(json)) : E.left('no breaker timeline')),
}
