/**
 * Projections that users write. A module exports a fold into one value for each queue, or a fold into tables; this file turns it into tables of a
 * file. The loop that feeds them, their checkpoints and the switch to a new version are those of the read models.
 */
import * as E from 'fp-ts/lib/Either.js'
import { PathReporter } from 'io-ts/lib/PathReporter.js'
import type * as t from 'io-ts'
import type { LoggedEvent, Projection } from './projection.js'
import type { Feed, TableProjection } from './read-models/rows.js'
import { type RowOf, table, text } from './read-models/table.js'

/**
 * A fold into one value `S` for each queue. `R` is the result that others see, as JSON.
 *
 * The same laws hold as for a {@link Projection}. The value is written with each batch of events, so it should have some megabytes at most: what
 * grows with the number of tasks belongs in tables.
 */
export interface ValueProjection<S, R = unknown> {
  readonly name: string
  /** 1 or more. Raise it whenever the same events give another state, result or encoding. Everything is then built anew, while the old result still answers. */
  readonly version: number
  /** The codec of the state (io-ts). Its output must be JSON. */
  readonly codec: t.Type<S, unknown>
  readonly initial: () => S
  /** Folds one event. May change `state` in place. Returns the state to go on with. */
  readonly fold: (state: S, logged: LoggedEvent) => S
  /** The result of a state. Default: the encoded state. */
  readonly result?: (state: S) => R
}

/** A user's projection failed and cannot go on. Trying again does not help, because the same events come again. */
export class ProjectionFailed extends Error {
  override readonly name = 'ProjectionFailed'
}

/** A value projection for {@link runProjection}. */
export const projectionOf = <S, R = unknown>(own: ValueProjection<S, R>): Projection<S, R> => ({
  name: own.name,
  version: own.version,
  initial: () => {
    const first = own.initial()
    if (isPromise(first)) throw new Error('initial returned a promise: it must return the state itself')
    return first
  },
  fold: (state, logged) => {
    const next = own.fold(state, logged)
    if (next === undefined) throw new Error('fold returned no state: return the one to go on with')
    if (isPromise(next)) throw new Error('fold returned a promise: it must return the new state itself')
    return next
  },
  // Without `result` the codec's output is the result, whatever its type is.
  result: own.result ?? ((state) => own.codec.encode(state) as R),
  encode: (state) => own.codec.encode(state),
  decode: (json) => E.mapLeft((errors: t.Errors) => PathReporter.report(E.left(errors)).join('; '))(own.codec.decode(json)),
})

/** The table of a value projection. */
export const results = table({
  name: 'results',
  about: 'The result of each queue.',
  columns: {
    queue: text('the queue'),
    result: text('the result, as JSON'),
    state: text('the state with which the fold goes on, as JSON'),
  },
  key: ['queue'],
})

/** A value projection as a projection into the table {@link results}. */
export const valueTables = <S, R>(own: ValueProjection<S, R>): TableProjection => {
  const { name, version, initial, fold, result, encode, decode } = projectionOf(own)
  return {
    name,
    version,
    about: `The value of ${name}.`,
    tables: [results],
    feed: ({ queue, rows }) => {
      const kept = rows(results)
      const row = kept.get(queue)
      let state = row === undefined ? initial() : stateOf(row, decode, name)
      return {
        fold: (logged) => {
          state = fold(state, logged)
        },
        settle: () => kept.put({ queue, result: jsonText(result(state), 'result'), state: jsonText(encode(state), 'what the codec encodes') }),
      }
    },
  }
}

const stateOf = <S>({ queue, state }: RowOf<typeof results>, decode: Projection<S, unknown>['decode'], name: string): S => {
  const decoded = decode(JSON.parse(state))
  if (E.isRight(decoded)) return decoded.right
  throw new ProjectionFailed(`the codec of ${name} cannot read the state of queue ${queue} that it has written (${decoded.left}): if the codec is another one than before, raise the version`)
}

const isPromise = (value: unknown): boolean => typeof (value as { readonly then?: unknown } | null)?.then === 'function'

const jsonText = (value: unknown, what: string): string => {
  if (isPromise(value)) throw new Error(`${what} is a promise: it must be the value itself`)
  const json: unknown = JSON.stringify(value)
  if (typeof json === 'string') return json
  throw new Error(`${what} is no JSON value`)
}

/** The same projection, but its errors are {@link ProjectionFailed} and name the event at which it failed. */
export const named = (own: TableProjection): TableProjection => ({
  ...own,
  feed: (written) => {
    const failed = (where: string, error: unknown): ProjectionFailed =>
      error instanceof ProjectionFailed ? error : new ProjectionFailed(`${own.name} failed ${where} of queue ${written.queue}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    let last = -1
    const attempt = <A>(name: keyof Feed | 'feed', where: () => string, body: () => A): A => {
      try {
        const answer = body()
        // What it writes after it has returned would be in no batch.
        if (isPromise(answer)) throw new Error(`${name} returned a promise: it must have done its work when it returns`)
        return answer
      } catch (error) {
        throw failed(where(), error)
      }
    }
    const feed: Feed = attempt('feed', () => 'at its beginning', () => own.feed(written))
    return {
      fold: (logged) => {
        last = logged.revision
        attempt('fold', () => `at revision ${logged.revision} (${logged.event.type})`, () => feed.fold(logged))
      },
      settle: () => attempt('settle', () => `after revision ${last}`, () => feed.settle()),
    }
  },
})
