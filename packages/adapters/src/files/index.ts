export { openSnapshotFolder, type SnapshotFolderOptions } from './snapshots.js'
