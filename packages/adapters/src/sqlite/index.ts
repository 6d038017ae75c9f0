export { openSqliteStore, type SqliteStoreOptions } from './open-store.js'
export { openSqliteLog } from './open-log.js'
export { type OpenedScan, scanSqlite } from './scan-events.js'
export { checkSqliteFile, type SqliteFileReport } from './check-file.js'
