/**
 * A transactional outbox in PostgreSQL: a task is written into a table in the transaction that it belongs to, and a relay moves it into the queue. What is rolled back is
 * never enqueued; what is committed is enqueued once.
 */
import { DaybookError } from '../errors.js'
import { newTaskId } from '../task-id.js'
import { taskTextOf } from '../task-text.js'
import { type AnyTaskType, isTaskType, type PayloadOf, sentTask, type TaskFields, type TypedTask } from '../handles/task-type.js'
import type { NewTask } from '../methods/tasks.js'
import { withActiveTrace } from '../transport/tracing.js'
import type { Sql } from './database.js'
import { createRelay, type Relay, type RelayOptions } from './relay.js'
import { migrationOf, tableOf } from './table.js'

export interface OutboxOptions {
  /** The table: a name in small letters, also with a schema (`app.daybook_outbox`). Default `daybook_outbox`. */
  readonly table?: string | undefined
  /** The queue of what is enqueued. Default `default`. */
  readonly queue?: string | undefined
}

/** A task in the outbox. */
export interface Outboxed {
  /** Of the task, once it is in the queue: `client.handle(id)` waits for its result. */
  readonly id: string
}

export interface Backlog {
  /** Rows that are not in their queue yet. */
  readonly waiting: number
  /** Rows that their queue has refused. */
  readonly refused: number
  /** Age of the oldest row that waits, in seconds; 0 if none does. */
  readonly oldestSeconds: number
}

export interface Outbox {
  readonly queue: string
  /** The same table, for another queue. */
  readonly in: (queue: string) => Outbox
  /** SQL that makes the table, for your migrations; it can be run again. `notify: false`: without the trigger, so that the relay finds rows by polling. */
  readonly migration: (options?: { readonly notify?: boolean }) => string
  /**
   * Writes a task into the table. `tx` is what runs SQL in your transaction: a client of `pg` after `BEGIN`, for example.
   *
   * Each row is a task of its own, also with the content of another; an `idempotencyKey` makes it the duplicate of others with that key.
   *
   * @throws DaybookError `invalid` for a payload that is not one of its type, or is no JSON. Whatever `tx` rejects with passes through.
   */
  readonly enqueue: {
    <T extends AnyTaskType>(tx: Sql, type: T, payload: PayloadOf<T>, fields?: TaskFields): Promise<Outboxed>
    (tx: Sql, task: NewTask | TypedTask): Promise<Outboxed>
  }
  /** Many tasks, in order. */
  readonly enqueueAll: (tx: Sql, tasks: ReadonlyArray<NewTask | TypedTask>) => Promise<ReadonlyArray<Outboxed>>
  /** For metrics and alerts. */
  readonly backlog: (sql: Sql) => Promise<Backlog>
  /** Moves the rows of all queues. Run as many as you like: one of them works, the others stand by. */
  readonly relay: (options: RelayOptions) => Relay
}

/** Rows in one statement; each has three of at most 65,535 parameters. */
const rowsMax = 1_000

/**
 * @throws RangeError for a table that is no plain name.
 * @example
 * const outbox = createOutbox()
 * await tx.query('BEGIN')
 * await tx.query('INSERT INTO orders …')
 * await outbox.enqueue(tx, { type: 'invoice', payload: { order: 7 } })
 * await tx.query('COMMIT')
 */
export const createOutbox = ({ table: name = 'daybook_outbox', queue = 'default' }: OutboxOptions = {}): Outbox => {
  const table = tableOf(name)

  const enqueueAll: Outbox['enqueueAll'] = async (tx, tasks) => {
    const rows: Array<{ readonly rowId: string; readonly id: string; readonly text: string }> = []
    for (const task of tasks) {
      const sent = await sentTask(task)
      const text = sent instanceof DaybookError ? sent : taskTextOf(withActiveTrace(sent))
      if (typeof text !== 'string') throw text
      const rowId = newTaskId()
      rows.push({ rowId, id: (sent as NewTask).id ?? rowId, text })
    }
    for (let from = 0; from < rows.length; from += rowsMax) {
      const some = rows.slice(from, from + rowsMax)
      const places = some.map((_, i) => `($${3 * i + 1}, $${3 * i + 2}, $${3 * i + 3}::json)`)
      await tx.query(`INSERT INTO ${table.sql} (id, queue, task) VALUES ${places.join(', ')}`, some.flatMap(({ rowId, text }) => [rowId, queue, text]))
    }
    return rows.map(({ id }) => ({ id }))
  }

  const backlog: Outbox['backlog'] = async (sql) => {
    const { rows } = await sql.query(
      `SELECT count(*) FILTER (WHERE problem IS NULL)::text AS waiting, count(*) FILTER (WHERE problem IS NOT NULL)::text AS refused,
         coalesce(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE problem IS NULL)), 0)::text AS "oldestSeconds" FROM ${table.sql}`,
    )
    const { waiting, refused, oldestSeconds } = rows[0] as Record<keyof Backlog, string>
    return { waiting: Number(waiting), refused: Number(refused), oldestSeconds: Number(oldestSeconds) }
  }

  return {
    queue,
    in: (other) => createOutbox({ table: name, queue: other }),
    migration: ({ notify = true } = {}) => migrationOf(table, notify),
    enqueue: async (tx: Sql, asked: NewTask | TypedTask | AnyTaskType, payload?: unknown, fields?: TaskFields): Promise<Outboxed> =>
      (await enqueueAll(tx, [isTaskType(asked) ? asked.task(payload as never, fields) : asked]))[0] as Outboxed,
    enqueueAll,
    backlog,
    relay: (options) => createRelay(table, options),
  }
}
