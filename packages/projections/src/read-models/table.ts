/**
 * The tables of read models, declared once. Their DDL, the types of their rows and their documentation follow from the declaration. A table has the
 * rows of all queues.
 */

export interface Column {
  readonly type: 'INTEGER' | 'TEXT' | 'REAL'
  readonly isOptional: boolean
  /** One line for people. */
  readonly about: string
}

export interface Table {
  readonly name: string
  /** One line for people. */
  readonly about: string
  readonly columns: Readonly<Record<string, Column>>
  /** The columns of the primary key. A single integer is the row's id in SQLite. */
  readonly key: ReadonlyArray<string>
  /** The columns by which `get` finds a row. Of several rows it returns the one with the largest key. Default: the key. */
  readonly foundBy?: ReadonlyArray<string>
  /** Columns that never change after a row was written. */
  readonly fixed?: ReadonlyArray<string>
  /** Fixed columns that the fold never reads. They are NULL in a row that was found. */
  readonly unread?: ReadonlyArray<string>
  readonly indexes?: ReadonlyArray<Index>
  /** A column that has a value in rows that are seldom looked up again. They are the first to be evicted from memory. */
  readonly finishedBy?: string
  /** Rows are only inserted and replaced, and the fold never reads them, so none is kept in memory. A batch has at most one row for each key. */
  readonly isWriteOnly?: true
}

/** The columns of an index, and a condition on its rows, as SQL. */
export interface Index {
  readonly name: string
  readonly on: string
  readonly where?: string
  /**
   * Made with the table, because the fold finds rows by it. Any other index is made when the table has first caught up with the log: to maintain it
   * from the beginning costs more.
   */
  readonly isForFold?: true
}

type ValueOf<C extends Column> = (C['type'] extends 'TEXT' ? string : number) | (C['isOptional'] extends true ? null : never)

/** A row: each column by its name. Times are milliseconds since 1970, in UTC. */
export type RowOf<T extends Table> = { -readonly [K in keyof T['columns']]: ValueOf<T['columns'][K]> }

export const integer = (about: string) => ({ type: 'INTEGER', isOptional: false, about }) as const
export const text = (about: string) => ({ type: 'TEXT', isOptional: false, about }) as const
export const maybe = {
  integer: (about: string) => ({ type: 'INTEGER', isOptional: true, about }) as const,
  text: (about: string) => ({ type: 'TEXT', isOptional: true, about }) as const,
  real: (about: string) => ({ type: 'REAL', isOptional: true, about }) as const,
} as const

export const table = <const T extends Table>(spec: T): T => spec
