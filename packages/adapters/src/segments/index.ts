/** Old events in compressed segment files, and such files and a store as one log. What moves events there is in `archive/`. */
export { archiveBeside, archiveFolderOf } from './folder-of.js'
export { joinedLog } from './joined-log.js'
export { joinedStore } from './joined-store.js'
export { openSegment, type Segment } from './segment.js'
export { listSegments, SegmentFolder, streamFolder } from './segment-folder.js'
export { type SegmentBeginning, SegmentWriter } from './segment-writer.js'
