import type { Database } from 'better-sqlite3'
import type { AppendBatch } from './append-transaction.js'

/**
 * Binding texts is most of the cost of an insert. A statement of thirty-two rows that binds shared values once takes a quarter less time than one
 * statement per row. More rows gain nothing.
 */
const rowsAtOnce = 32

const insertRows = (rows: number): string =>
  `INSERT INTO events
   SELECT column1, stream, column1 + shift, column2, column3, column4, column5, created
   FROM (SELECT ? AS stream, ? AS shift, ? AS created)
   CROSS JOIN (VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join()})`

export const eventInserter = (db: Database) => {
  const insertOne = db.prepare(insertRows(1))
  const insertMany = db.prepare(insertRows(rowsAtOnce))

  /** Inserts the batch's events from this position and revision on. */
  return (batch: AppendBatch, position: number, revision: number, created: string): void => {
    const { stream, ids, types, datas, metadatas } = batch
    const rows = (from: number, to: number): Array<unknown> => {
      const values: Array<unknown> = [stream, revision - position, created]
      for (let i = from; i < to; i++) values.push(position + i, ids[i], types[i], datas[i], metadatas[i])
      return values
    }
    let done = 0
    for (; done + rowsAtOnce <= ids.length; done += rowsAtOnce) insertMany.run(rows(done, done + rowsAtOnce))
    for (; done < ids.length; done++) insertOne.run(rows(done, done + 1))
  }
}
