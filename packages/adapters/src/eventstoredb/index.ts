export { openEventStoreDb } from './eventstoredb-store.js'
export type { EventStoreDbOptions } from './options.js'
