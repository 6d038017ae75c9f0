/** The files of an increment, of its base, of the base of that, and so on up to a whole snapshot. */
import { join } from 'node:path'
import type { SnapshotHeader, SnapshotPoint } from '../../store/index.js'
import { inspectSnapshot, type SnapshotFile } from './snapshot-format.js'
import { snapshotName } from './snapshot-names.js'

export interface SeriesFile {
  readonly path: string
  readonly file: SnapshotFile
}

/** Those from the snapshot `last` on, which comes first. Rejects if one of them is not there. */
export const seriesOf = async (dir: string, { stream, foldVersion }: SnapshotHeader, last: SnapshotPoint): Promise<readonly [SeriesFile, ...ReadonlyArray<SeriesFile>]> => {
  const find = async (wanted: SnapshotPoint): Promise<SeriesFile> => {
    const path = join(dir, snapshotName(stream, wanted.revision))
    const file = await inspectSnapshot(path).catch(() => 'it cannot be read')
    const isThat = typeof file === 'object' && file.header.stream === stream && file.header.foldVersion === foldVersion && file.header.revision === wanted.revision && file.header.eventId === wanted.eventId
    if (!isThat) throw new Error(`the snapshot at revision ${wanted.revision} is gone, and others need it`)
    return { path, file }
  }
  const first = await find(last)
  const others: Array<SeriesFile> = []
  for (let wanted = first.file.header.base; wanted !== undefined; ) {
    const next = await find(wanted)
    others.push(next)
    wanted = next.file.header.base
  }
  return [first, ...others]
}
