/** A read model: a fold with a name and a version whose state can be saved in a checkpoint and loaded again. */
import type { QueueEvent } from '@daybook/core'
import type { Either } from 'fp-ts/lib/Either.js'

/**
 * Folds the events of one queue into a state `S`. `R` is the result that others see.
 *
 * Laws, which `test/projections` checks for every projection: the result does not depend on how the events are
 * batched; folding on from `decode(encode(s))` gives the same as folding on from `s`.
 */
export interface Projection<S, R> {
  readonly name: string
  /** Raise it whenever the same events give another state or another encoding: checkpoints of other versions are not used. */
  readonly version: number
  readonly initial: () => S
  /** May change `state` in place. The caller must use the returned state only. */
  readonly fold: (state: S, event: QueueEvent, revision: number) => S
  /** A copy that later folds do not change. */
  readonly result: (state: S) => R
  /** The state as JSON. */
  readonly encode: (state: S) => unknown
  /** `Left` says why this is not a state of this projection. */
  readonly decode: (json: unknown) => Either<string, S>
}

/** A result, and the revision of the last event in it; -1 before the first. */
export interface Shown<R> {
  readonly revision: number
  readonly value: R
}

/** Folds a list of events, the first of which has revision `from`. */
export const foldAll = <S, R>(projection: Projection<S, R>, events: ReadonlyArray<QueueEvent>, from = 0, state: S = projection.initial()): S =>
  events.reduce((current, event, i) => projection.fold(current, event, from + i), state)
