/** Reads a report from the file of read models. It opens the file and closes it again, and does not change it. */
import Database from 'better-sqlite3'
import { type BreakerSpanRow, clockOf, type FailureRollupRow, pictureOf, reportCsv, reportJson, reportOf, type ReportSource, type RollupPart } from '@daybook/projections/reports'
import * as E from 'fp-ts/lib/Either.js'
import { everyQueue } from '../schema.js'
import type { ReportRequest } from './request.js'

export interface ReportAnswer {
  readonly text: string
  readonly type: string
  /** Revision of the last event that the report includes; -1 for none. */
  readonly revision: number
}

/**
 * `missing`: the file has no such tables yet. `unfinished`: they are being built for the first time, so they lack earlier events. `invalid`: the
 * question is wrong.
 */
export interface ReportRefusal {
  readonly kind: 'missing' | 'unfinished' | 'invalid'
  readonly message: string
}

/** @throws SqliteError if the file cannot be read. */
export const readReport = (file: string, request: ReportRequest): E.Either<ReportRefusal, ReportAnswer> => {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    // One transaction, so that all rows are of the same moment.
    return db.transaction(() => answer(db, request))()
  } finally {
    db.close()
  }
}

/** The queues that the file has events of. @throws SqliteError if the file cannot be read. */
export const queuesIn = (file: string): ReadonlyArray<string> => {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    return db.prepare<[], string>("SELECT DISTINCT queue FROM projections WHERE state = 'current' AND revision >= 0 ORDER BY queue").pluck().all()
  } finally {
    db.close()
  }
}

const answer = (db: Database.Database, request: ReportRequest): E.Either<ReportRefusal, ReportAnswer> => {
  const { queue, zone, format, head } = request
  if (!has(db, 'rollups') || !has(db, 'breaker_spans')) return E.left({ kind: 'missing', message: 'the tables of reports are not there yet: they are built from the log' })
  const revision = db.prepare<[string], number | null>("SELECT min(revision) FROM projections WHERE state = 'current' AND name IN ('tasks', 'breakers') AND queue = ?").pluck().get(queue) ?? -1
  if (isBuiltFirst(db, queue)) {
    const progress = `${revision + 1}${head === undefined ? '' : ` of ${head + 1}`} events so far`
    return E.left({ kind: 'unfinished', message: `the tables of reports are not complete yet: they are built from the log, ${progress}` })
  }
  const clock = clockOf(zone)
  if (E.isLeft(clock)) return E.left({ kind: 'invalid', message: clock.left })
  const report = reportOf({ ...request, clock: clock.right }, sourceOf(db, queue))
  if (E.isLeft(report)) return E.left({ kind: 'invalid', message: report.left })
  const shown = { queue, revision, behind: head === undefined ? undefined : Math.max(0, head - revision) }
  switch (format) {
    case 'json':
      return E.right({ text: reportJson(report.right, shown), type: 'application/json; charset=utf-8', revision })
    case 'csv':
      return E.right({ text: reportCsv(report.right), type: 'text/csv; charset=utf-8', revision })
    case 'svg':
      return E.right({ text: pictureOf(report.right, shown), type: 'image/svg+xml; charset=utf-8', revision })
  }
}

const has = (db: Database.Database, table: string): boolean => db.prepare('SELECT count(*) FROM sqlite_schema WHERE name = ?').pluck().get(table) === 1

/** Whether the tables lack events that were in the log before them. A file of an earlier version does not tell. */
const isBuiltFirst = (db: Database.Database, queue: string): boolean =>
  has(db, 'first_builds') && db.prepare('SELECT count(*) FROM first_builds WHERE queue IN (?, ?)').pluck().get(queue, everyQueue) !== 0

const sourceOf = (db: Database.Database, queue: string): ReportSource => {
  const rows = <R>(sql: string, ...values: ReadonlyArray<string | number>): Iterable<R> => db.prepare<[ReadonlyArray<string | number>], R>(sql).iterate(values)
  const quarters = 'queue = ? AND dimension = ? AND quarter_hour >= ? AND quarter_hour < ?'
  return {
    rollups: (dimension, { from, to }, columns) => rows<RollupPart>(`SELECT quarter_hour, value, ${columns.join(', ')} FROM rollups WHERE ${quarters} ORDER BY quarter_hour`, queue, dimension, from, to),
    sizes: function* (dimension, { from, to }) {
      const sql = `SELECT value, sum(enqueued + imported + claimed + completed + deadlines) AS size FROM rollups WHERE ${quarters} GROUP BY value`
      for (const { value, size } of rows<{ value: string; size: number }>(sql, queue, dimension, from, to)) yield [value, size]
    },
    failures: (dimension, { from, to }) => rows<FailureRollupRow>(`SELECT * FROM failure_rollups WHERE ${quarters} ORDER BY quarter_hour`, queue, dimension, from, to),
    breakerSpans: ({ from, to }) => rows<BreakerSpanRow>('SELECT * FROM breaker_spans WHERE queue = ? AND began_at < ? AND ifnull(ended_at, ?) >= ? ORDER BY revision', queue, to, to, from),
    backlogs: function* ({ from, to }) {
      for (const each of rows<{ tenant: string; from: number; to: number | null }>(
        'SELECT tenant, began_at AS "from", ended_at AS "to" FROM backlog_spans WHERE queue = ? AND began_at < ? AND ended_at > ? UNION ALL SELECT tenant, since, NULL FROM tenant_backlog WHERE queue = ? AND since < ?',
        queue, to, from, queue, to,
      )) yield { ...each, to: each.to ?? undefined }
    },
    weights: () => rows('SELECT tenant, at, weight FROM tenant_weights WHERE queue = ? ORDER BY revision', queue),
  }
}
