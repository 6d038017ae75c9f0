/** The files of an increment, of its base, of the base of that, and so on up to a whole snapshot. */
import { join } from 'node:path'
import type { SnapshotBase, SnapshotHeader } from '../../store/index.js'
import { inspectSnapshot, type SnapshotFile } from './snapshot-format.js'
import { snapshotName } from './snapshot-names.js'

export interface SeriesFile {
  readonly path: string
  readonly file: SnapshotFile
}

/** Those from the snapshot `last` on, which comes first. `undefined` if one of them is not there. */
export const seriesOf = async (dir: string, { stream, foldVersion }: SnapshotHeader, last: Omit<SnapshotBase, 'tasks'>): Promise<ReadonlyArray<SeriesFile> | undefined> => {
  const series: Array<SeriesFile> = []
  for (let wanted: Omit<SnapshotBase, 'tasks'> | undefined = last; wanted !== undefined; ) {
    const path = join(dir, snapshotName(stream, wanted.revision))
    const file: SnapshotFile | string = await inspectSnapshot(path).catch(() => 'it cannot be read')
    if (typeof file === 'string') return undefined
    const { header } = file
    if (header.stream !== stream || header.foldVersion !== foldVersion || header.revision !== wanted.revision || header.eventId !== wanted.eventId) return undefined
    series.push({ path, file })
    wanted = header.base
  }
  return series
}
