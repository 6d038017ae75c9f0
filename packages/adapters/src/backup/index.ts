export { type BackedUp, type BackedUpQueue, backUp, type BackupOptions } from './backup.js'
