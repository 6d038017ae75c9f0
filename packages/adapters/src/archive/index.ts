export { type ArchiveOptions, type ArchivePlan, type ArchiveProgress, archiveStream, planArchive, type TrimmableStore } from './archive-stream.js'
export { type ArchivedLog, type ArchivedStream, archiveLog, type ArchiveLogOptions, type Before, planLog } from './archive-log.js'
export { type Compacted, openTrimmable } from './open-trimmable.js'
