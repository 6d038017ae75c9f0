/** Finds the events of an actor or a correlation id through the read models. */
import Database from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { isCommandId } from '@daybook/projections'
import type { CauseQuestion, Caused, FindCauses } from '../engine/index.js'

/**
 * The file's answer. `undefined` if it has none: the file does not exist, has no such table yet, or misses events that could not be read.
 *
 * @throws SqliteError if the file cannot be read.
 */
export const readCauses = (file: string, { queue, actor, correlationId, from, until, limit }: CauseQuestion): Caused | undefined => {
  if (!existsSync(file)) return undefined
  const db = new Database(file, { readonly: true, timeout: 5_000 })
  try {
    return db.transaction(() => {
      if (db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'causes'").pluck().get() === 0) return undefined
      const shown = db
        .prepare<[string], { readonly revision: number; readonly eventId: string; readonly unreadable: number }>("SELECT revision, event_id AS eventId, unreadable FROM projections WHERE name = 'causes' AND state = 'current' AND queue = ?")
        .get(queue)
      if (shown === undefined || shown.unreadable > 0) return undefined
      const isAsked = [...(actor === undefined ? [] : ['actor = ?']), ...(correlationId === undefined ? [] : [isCommandId(correlationId) ? '(correlation = ? OR correlation IS NULL)' : 'correlation = ?'])]
      const asked = [actor, correlationId].flatMap((value) => value ?? [])
      // Spans do not overlap, so of those that begin before `from` only the last one can reach it.
      const begin = db.prepare<[string, number], number>('SELECT revision FROM causes WHERE queue = ? AND revision <= ? ORDER BY revision DESC LIMIT 1').pluck().get(queue, from) ?? from
      const spans = db
        .prepare<[ReadonlyArray<string | number>], readonly [number, number]>(`SELECT revision, last_revision FROM causes WHERE ${isAsked.join(' AND ')} AND queue = ? AND revision BETWEEN ? AND ? ORDER BY revision LIMIT ?`)
        .raw()
        .all([...asked, queue, begin, until, limit + 1])
      const { revision, eventId } = shown
      return { revision, eventId, spans: spans.slice(0, limit), isMore: spans.length > limit }
    })()
  } finally {
    db.close()
  }
}

/** Reads on the caller's thread. If the file cannot be read, there is no answer, and the log is read instead. */
export const causesIn =
  (file: string): FindCauses =>
  (question) =>
    Promise.resolve()
      .then(() => readCauses(file, question))
      .catch(() => undefined)
