export { openSqliteStore, type SqliteStoreOptions } from './open-store.js'
export { openSqliteLog } from './open-log.js'
export { checkSqliteFile, type SqliteFileReport } from './check-file.js'
