/** A read model: a fold with a name and a version whose state can be saved in a checkpoint and loaded again. */
import type { QueueEvent } from '@daybook/core'
import type { Either } from 'fp-ts/lib/Either.js'

/** Who caused an event, and why. A member is missing if the program that wrote the event left it out. */
export interface EventMeta {
  /** The token, agent or program that gave the command. */
  readonly actor?: string
  /** A value that all events have which one request caused, also in other systems. */
  readonly correlationId?: string
  /** The id of the command. */
  readonly causationId?: string
}

/** An event of a queue's log. It is the same whether it was just appended or is read years later. */
export interface LoggedEvent {
  readonly revision: number
  /** Unique in the log. */
  readonly id: string
  /** Type, time and facts. `event.content` is always missing: see `content`. */
  readonly event: QueueEvent
  readonly meta: EventMeta
  /**
   * The part of an event on which no decision depends, as JSON text: payload, description and metadata of a task, a result, or the payload of a
   * callback. `undefined` if the event has none.
   */
  readonly content: () => string | undefined
}

/**
 * Folds the events of one queue into a state `S`. `R` is the result that others see.
 *
 * `test/projections` checks these laws for every projection. The result does not depend on how the events are batched, nor on whether they were
 * folded as they were appended or later. Folding on from `decode(encode(s))` gives the same as folding on from `s`.
 */
export interface Projection<S, R> {
  readonly name: string
  /** Raise it whenever the same events give another state or another encoding. Checkpoints of other versions are not used. */
  readonly version: number
  readonly initial: () => S
  /** May change `state` in place. The caller must use only the returned state. */
  readonly fold: (state: S, logged: LoggedEvent) => S
  /** A copy that later folds do not change. */
  readonly result: (state: S) => R
  /** The state as JSON. */
  readonly encode: (state: S) => unknown
  /** `Left` says why the JSON is not a state of this projection. */
  readonly decode: (json: unknown) => Either<string, S>
}

/** A result, and the revision of the last event in it; -1 before the first. */
export interface Shown<R> {
  readonly revision: number
  readonly value: R
}
