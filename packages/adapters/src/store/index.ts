export * from './event-store.js'
export * from './snapshot-store.js'
export * from './log-reader.js'
export * from './lost-events.js'
