/** The read models that the server keeps, each in tables of one SQLite file. */
import { breakerReadModel } from './breakers.js'
import { causeReadModel, isCommandId } from './causes.js'
import { eventCountReadModel } from './event-counts.js'
import type { TableProjection } from './rows.js'
import { taskReadModel } from './tasks.js'

export * from './rows.js'
export * from './table.js'
export { breakerReadModel, causeReadModel, eventCountReadModel, isCommandId, taskReadModel }

export const readModels: ReadonlyArray<TableProjection> = [taskReadModel, breakerReadModel, eventCountReadModel, causeReadModel]
