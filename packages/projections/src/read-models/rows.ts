/** What a fold into tables needs of the store of its rows. */
import type { LoggedEvent } from '../projection.js'
import type { RowOf, Table } from './table.js'

/** The rows of one table that belong to one queue. */
export interface Rows<R> {
  /**
   * The row with these values of {@link Table.foundBy} (without the queue), including all rows that were put before. Change a row only if you `put`
   * it afterwards.
   */
  readonly get: (...values: ReadonlyArray<string | number>) => R | undefined
  /** Puts a new or changed row. It is written once, at the end of the batch, with the values that it has then. */
  readonly put: (row: R) => void
}

/** The full-text index of the file: the words of a task. */
export interface Words {
  readonly put: (key: number, description: string, error: string) => void
}

/** Everything that a projection writes for one queue. */
export interface Written {
  readonly queue: string
  /** The key of a task in the file, unique in all queues, from its number in this queue. */
  readonly keyOf: (number: number) => number
  /** The rows of one of the projection's tables. */
  readonly rows: <T extends Table>(table: T) => Rows<RowOf<T>>
  readonly words: Words
}

/** A projection that is fed with the events of one queue. */
export interface Feed {
  readonly fold: (logged: LoggedEvent) => void
  /** Called at the end of a batch: puts all rows that were held back. */
  readonly settle: () => void
}

/**
 * A fold whose state is rows. It keeps nothing between two batches: with the same rows, it goes on as if it had never stopped.
 *
 * Law: the rows do not depend on how the events are batched.
 */
export interface TableProjection {
  readonly name: string
  /** Raise it whenever the same events give other rows or other tables. The tables are then built anew, while the old ones still answer. */
  readonly version: number
  /** One line for people. */
  readonly about: string
  readonly tables: ReadonlyArray<Table>
  /** Whether it writes `words`. */
  readonly hasWords?: true
  readonly feed: (written: Written) => Feed
}
