/** What a projection into tables needs of the store of its rows. */
import type { LoggedEvent } from '../projection.js'
import type { RowOf, Table } from './table.js'

/** The rows of one table that belong to one queue. */
export interface Rows<R> {
  /** The row found by these values (see {@link Table.foundBy}, without the queue), with all that was put before. Change it only if you `put` it afterwards. */
  readonly get: (...values: ReadonlyArray<string | number>) => R | undefined
  /** Writes a row, new or changed: at the end of the batch, once, as it is then. */
  readonly put: (row: R) => void
}

/** One full-text index of the file: the words of a task. */
export interface Words {
  readonly put: (key: number, description: string, error: string) => void
}

/** Everything that a projection writes for one queue. */
export interface Written {
  readonly queue: string
  /** Names a task in the file, in all queues, by its number in this queue. */
  readonly keyOf: (number: number) => number
  /** The rows of one of the projection's tables. */
  readonly rows: <T extends Table>(table: T) => Rows<RowOf<T>>
  readonly words: Words
}

/** A projection being fed with the events of one queue. */
export interface Feed {
  readonly fold: (logged: LoggedEvent) => void
  /** The end of a batch: puts what it has kept back. */
  readonly settle: () => void
}

/**
 * A fold whose state is rows. It keeps nothing between two batches: with the same rows, it goes on as if it had never stopped.
 *
 * Law: the rows do not depend on how the events are batched.
 */
export interface TableProjection {
  readonly name: string
  /** Raise it whenever the same events give other rows or other tables: the tables are then built anew, while the old ones still answer. */
  readonly version: number
  /** One line for people. */
  readonly about: string
  readonly tables: ReadonlyArray<Table>
  /** Whether it writes `words`. */
  readonly hasWords?: true
  readonly feed: (written: Written) => Feed
}
