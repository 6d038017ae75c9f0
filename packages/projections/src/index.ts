/** Daybook's read side: folds over the event log. Pure. */
export * from './projection.js'
export * from './ports.js'
export { type RunningProjection, type RunOptions, runProjection } from './run-projection.js'
export * from './read-models/index.js'
export { named, ProjectionFailed, projectionOf, results, type ValueProjection, valueTables } from './own-projection.js'
export { readOwn } from './read-own.js'
