/**
 * Moves one batch of rows into their queues, in one transaction of the database:
 *
 * 1. One relay at a time has the advisory lock of the table, so rows are sent in the order of their numbers, however many relays run.
 * 2. It locks rows, and sends them.
 * 3. It removes those that the queues have, and sets aside those that were refused.
 *
 * If it ends anywhere before the commit, the rows stay, and are sent again. The queue knows them by their ids.
 */
import type { DaybookClient } from '../methods/daybook-client.js'
import type { Sql } from './database.js'
import { type Row, type Sent, sendRows } from './send.js'
import type { Table } from './table.js'

export interface BatchHost {
  readonly table: Table
  readonly client: DaybookClient
  readonly rowsMax: number
  /** Gives up the request under way. */
  readonly signal: AbortSignal
}

export interface Batch {
  /** `false`: another relay is at work. */
  readonly leads: boolean
  /** By queue. */
  readonly sent: ReadonlyMap<string, Sent>
}

/** So many bytes of tasks in one batch, or one task that is larger: below what a server takes in a request. */
const bytesMax = 1_000_000
/** The first key of the advisory lock; the second is the table's id in the database: one table may have several names, and one name may be that of several tables. */
const lockKey = 0x44617962

/** `resting`: queues that are left out. */
export const moveBatch = async (db: Sql, { table, client, rowsMax, signal }: BatchHost, resting: ReadonlyArray<string>): Promise<Batch> => {
  const sent = new Map<string, Sent>()
  await db.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  const leads = await lead(db, table)
  if (leads) {
    const rows = await take(db, table, rowsMax, resting)
    for (const [queue, some] of byQueue(rows)) sent.set(queue, await sendRows(client.in(queue), some, signal))
    await remove(db, table, [...sent.values()].flatMap(({ done }) => done))
    for (const { refused } of sent.values()) for (const { row, error } of refused) await setAside(db, table, row, error)
  }
  await db.query('COMMIT')
  return { leads, sent }
}

const lead = async (db: Sql, table: Table): Promise<boolean> => {
  const { rows } = await db.query(`SELECT pg_try_advisory_xact_lock(${lockKey}, $1::regclass::oid::int) AS leads`, [table.sql])
  return (rows[0] as { readonly leads: boolean }).leads
}

/** A row that somebody else has locked is left for later. */
const take = async (db: Sql, { sql }: Table, rowsMax: number, resting: ReadonlyArray<string>): Promise<ReadonlyArray<Row>> => {
  const { rows } = await db.query(
    `WITH locked AS (
       SELECT number, id, queue, task::text AS task FROM ${sql}
       WHERE problem IS NULL AND queue NOT IN (SELECT json_array_elements_text($1::json))
       ORDER BY number LIMIT ${rowsMax} FOR UPDATE SKIP LOCKED
     ), counted AS (
       SELECT *, sum(octet_length(task)) OVER (ORDER BY number) - octet_length(task) AS bytes_before FROM locked
     )
     SELECT number::text AS number, id, queue, task FROM counted WHERE bytes_before < ${bytesMax} ORDER BY counted.number`,
    [JSON.stringify(resting)],
  )
  return rows as ReadonlyArray<Row>
}

const byQueue = (rows: ReadonlyArray<Row>): ReadonlyMap<string, ReadonlyArray<Row>> => {
  const queues = new Map<string, Array<Row>>()
  for (const row of rows) {
    const known = queues.get(row.queue)
    if (known === undefined) queues.set(row.queue, [row])
    else known.push(row)
  }
  return queues
}

const remove = async (db: Sql, { sql }: Table, rows: ReadonlyArray<Row>): Promise<void> => {
  if (rows.length === 0) return
  await db.query(`DELETE FROM ${sql} WHERE number IN (SELECT each::bigint FROM json_array_elements_text($1::json) AS each)`, [JSON.stringify(rows.map(({ number }) => number))])
}

const setAside = async (db: Sql, { sql }: Table, { number }: Row, { code, detail, errors }: Sent['refused'][number]['error']): Promise<void> => {
  await db.query(`UPDATE ${sql} SET refused_at = now(), problem = $2::json WHERE number = $1::bigint`, [number, JSON.stringify({ code, detail, errors })])
}
