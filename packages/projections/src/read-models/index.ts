/** The read models that the server keeps, each in tables of one SQLite file. */
import { breakerReadModel } from './breakers.js'
import { eventCountReadModel } from './event-counts.js'
import type { TableProjection } from './rows.js'
import { taskReadModel } from './tasks.js'

export * from './rows.js'
export * from './table.js'
export { breakerReadModel, eventCountReadModel, taskReadModel }

export const readModels: ReadonlyArray<TableProjection> = [taskReadModel, breakerReadModel, eventCountReadModel]
