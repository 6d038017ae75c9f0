/** A read model: a fold with a name, a version, and a way to be put aside and taken up again. */
import type { QueueEvent } from '@daybook/core'
import type { Either } from 'fp-ts/lib/Either.js'

/**
 * Folds the events of one queue into a state `S`, of which `R` is what others see.
 *
 * Laws, which `test/projections` holds for every projection: the result does not depend on how the events
 * come in batches; `decode(encode(s))` goes on exactly as `s` would have.
 */
export interface Projection<S, R> {
  readonly name: string
  /** Another number whenever the same events give another state or text: checkpoints of other versions are not used. */
  readonly version: number
  readonly initial: () => S
  /** Takes over the state it is given: whoever calls goes on with the one that is returned. */
  readonly fold: (state: S, event: QueueEvent, revision: number) => S
  /** A copy, which later folds leave as it is. */
  readonly result: (state: S) => R
  /** The state as JSON. */
  readonly encode: (state: S) => unknown
  /** `Left` says why it is no state of this projection. */
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
