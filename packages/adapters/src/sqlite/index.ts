export { openSqliteStore, type SqliteStoreOptions } from './open-store.js'
export { checkSqliteFile, type SqliteFileReport } from './check-file.js'
