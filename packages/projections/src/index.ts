/** Daybook's read side: folds over the event log, and named views of a queue's state. Pure. */
export * from './projection.js'
export * from './ports.js'
export { type RunningProjection, type RunOptions, runProjection } from './run-projection.js'
export * from './totals.js'
export * from './dead-letter-review.js'
export * from './breaker-timeline.js'
export * from './views.js'
export * from './read-models/index.js'
