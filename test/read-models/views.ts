/** Files of read models in tests. */
import { encodeData } from '@daybook/adapters/engine'
import { ViewsFile } from '@daybook/adapters/read-models'
import type { RecordedEvent } from '@daybook/adapters/store'
import type { QueueEvent } from '@daybook/core'
import { readModels, type TableProjection } from '@daybook/projections'

export const queue = 'q'

/** Events as a store gives them back. */
export const recorded = (events: ReadonlyArray<QueueEvent>): ReadonlyArray<RecordedEvent> =>
  events.map((event, revision) => ({
    stream: `taskqueue-${queue}`,
    revision,
    position: revision,
    id: `id-${revision}`,
    type: event.type,
    data: encodeData(event),
    metadata: JSON.stringify({ schemaVersion: 1, at: new Date(event.at).toISOString(), actor: 'ann' }),
    created: new Date(event.at).toISOString(),
  }))

export const openViews = (file = ':memory:', models: ReadonlyArray<TableProjection> = readModels): ViewsFile => ViewsFile.open({ file, models })

/** All rows of all tables, sorted. */
export const dump = ({ db }: ViewsFile): Readonly<Record<string, ReadonlyArray<string>>> => {
  const names = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%'").pluck().all()
  const rows = (sql: string): ReadonlyArray<string> => db.prepare(sql).all().map((row) => JSON.stringify(row)).sort()
  return { ...Object.fromEntries(names.map((name) => [name, rows(`SELECT * FROM "${name}"`)])), words: rows('SELECT rowid, description, error FROM search') }
}

/** The rows of a query. */
export const rowsOf = <R>({ db }: ViewsFile, sql: string): ReadonlyArray<R> => db.prepare<[], R>(sql).all()
