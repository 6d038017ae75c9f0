/** What the outbox needs of a PostgreSQL client. `Client`, `PoolClient` and `Pool` of `pg` are such as they are; any other library that runs SQL can be made one. */

/** Runs SQL with parameters `$1`, `$2` …, all of them texts. */
export interface Sql {
  readonly query: (text: string, values?: Array<string>) => Promise<{ readonly rows: ReadonlyArray<unknown> }>
}

/** A connection that only the relay uses, until it gives it back. */
export interface Connection extends Sql {
  /** Gives it back; with `true`, it is broken and must not be used again. */
  readonly release: (broken?: boolean) => void
  /** Optional: without it there are no notifications, and the table is polled. */
  on?(event: 'notification' | 'end', listener: () => void): unknown
  on?(event: 'error', listener: (error: Error) => void): unknown
}

/** A `Pool` of `pg`, or anything else that gives connections. */
export interface Connections {
  readonly connect: () => Promise<Connection>
}
