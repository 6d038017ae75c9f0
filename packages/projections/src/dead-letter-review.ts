/** The decisions about dead letters, and who made them (LK-11). */
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { Projection } from './projection.js'

const DeadLetterDecision = t.type({
  revision: t.number,
  /** Milliseconds since 1970. */
  at: t.number,
  verdict: t.keyof({ retry: null, discard: null }),
  task: t.string,
  reviewer: t.string,
  reason: t.string,
})
export type DeadLetterDecision = Readonly<t.TypeOf<typeof DeadLetterDecision>>

const Tally = t.type({ retried: t.number, discarded: t.number, lastAt: t.number })
export type ReviewTally = Readonly<t.TypeOf<typeof Tally>>

export interface DeadLetterReview {
  readonly reviewers: Readonly<Record<string, ReviewTally>>
  /** The newest decisions, oldest first. */
  readonly decisions: ReadonlyArray<DeadLetterDecision>
}

export interface DeadLetterReviewState {
  readonly reviewers: Map<string, ReviewTally>
  readonly decisions: Array<DeadLetterDecision>
}

/** Number of decisions kept in full. Older ones count only in the tallies. */
export const decisionsKept = 1_000

const Saved = t.type({ reviewers: t.array(t.tuple([t.string, Tally])), decisions: t.array(DeadLetterDecision) })

export const deadLetterReview: Projection<DeadLetterReviewState, DeadLetterReview> = {
  name: 'dead-letter-review',
  version: 1,
  initial: () => ({ reviewers: new Map(), decisions: [] }),
  fold: (state, { event, revision }) => {
    if (event.type !== 'Requeued' && event.type !== 'Discarded') return state
    const { reviewers, decisions } = state
    const { task, reviewer, reason } = event.data
    const verdict = event.type === 'Requeued' ? 'retry' : 'discard'
    const { retried = 0, discarded = 0 } = reviewers.get(reviewer) ?? {}
    reviewers.set(reviewer, {
      retried: retried + (verdict === 'retry' ? 1 : 0),
      discarded: discarded + (verdict === 'discard' ? 1 : 0),
      lastAt: event.at,
    })
    decisions.push({ revision, at: event.at, verdict, task, reviewer, reason })
    if (decisions.length > decisionsKept) decisions.shift()
    return state
  },
  result: ({ reviewers, decisions }) => ({ reviewers: Object.fromEntries(reviewers), decisions: [...decisions] }),
  encode: ({ reviewers, decisions }): t.TypeOf<typeof Saved> => ({ reviewers: [...reviewers], decisions }),
  decode: (json) =>
    Saved.is(json) ? E.right({ reviewers: new Map(json.reviewers), decisions: [...json.decisions] }) : E.left('no dead letter review'),
}
