import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RowStore } from '@daybook/core'
import { joinBases, type LoadedSnapshot, type SkippedSnapshot, type SnapshotHeader, type SnapshotStore, type SnapshotWriter } from '../../store/index.js'
import { ifMissing } from '../../disk/if-missing.js'
import { makeFolder } from '../../disk/make-folder.js'
import { isAlive } from '../../disk/process-alive.js'
import { unnamedIn } from './prune.js'
import { openRowFiles, type RowFiles, type RowFilesOptions } from './row-files.js'
import { inspectSnapshot } from './snapshot-format.js'
import { type LadderLimits, ladderDefault } from './snapshot-ladder.js'
import { isRowFile, snapshotName, snapshotsOf, unfinishedBy, unfinishedName } from './snapshot-names.js'
import { readSnapshotPages } from './snapshot-pages.js'
import { writeSnapshot } from './snapshot-writer.js'
import { askSnapshots } from './thread-of-snapshots.js'

export interface SnapshotFolderOptions {
  /** Number of the newest snapshots to keep of each stream, see `newestRungs`; at least 1. With two, one is left if the other is damaged. Default: 2. */
  readonly keep?: number
  /** The limits on older snapshots. */
  readonly ladder?: LadderLimits
  /** Options of the row files. */
  readonly rows?: RowFilesOptions
}

export interface SnapshotFolder extends SnapshotStore {
  readonly rowStoreOf: (stream: string) => RowStore
  /** Closes the row files. States whose rows are there cannot read them any more. */
  readonly close: () => void
}

/** Files that this process is writing. An earlier process with the same pid may have left others. */
const ownUnfinished = new Set<string>()
let serial = 0

const removeLeftovers = async (dir: string): Promise<void> => {
  for (const name of await readdir(dir)) {
    const pid = unfinishedBy(name)
    const path = join(dir, name)
    if (pid === undefined || ownUnfinished.has(path) || (pid !== process.pid && isAlive(pid))) continue
    await rm(path, { force: true })
  }
}

/** Keeps snapshots as files in a folder, which is created if necessary. The folder may be deleted at any time. */
export const openSnapshotFolder = async (
  dir: string,
  { keep = 2, ladder = ladderDefault, rows: rowOptions }: SnapshotFolderOptions = {},
): Promise<SnapshotFolder> => {
  if (!Number.isInteger(keep) || keep < 1) throw new RangeError(`keep must be 1 or more, not ${keep}.`)
  makeFolder(dir)
  await removeLeftovers(dir)
  const rows = openRowFiles(dir, rowOptions)
  const all = await readdir(dir)
  await rows.remove(await unnamedIn(dir, all.filter(isRowFile), all))

  const { list } = snapshotsIn(dir, rows)

  /** The path of an unfinished file. */
  const begin = ({ stream, revision }: SnapshotHeader): string => {
    const path = join(dir, unfinishedName(snapshotName(stream, revision), process.pid, serial++))
    ownUnfinished.add(path)
    return path
  }

  const create: SnapshotStore['create'] = async (header): Promise<SnapshotWriter> => {
    const path = begin(header)
    const done = async (unnamed: ReadonlyArray<string>): Promise<void> => {
      ownUnfinished.delete(path)
      await rows.remove(unnamed)
    }
    return writeSnapshot(header, { dir, path, kept: { keep, ladder } }, (files) => rows.makeDurable(header.stream, files), done)
  }

  const merge: SnapshotStore['merge'] = async (header, signal) => {
    const path = begin(header)
    const stop = (): void => void askSnapshots({ kind: 'abort', path }).catch(() => undefined)
    signal.addEventListener('abort', stop)
    try {
      await askSnapshots({ kind: 'merge', path, dir, header })
    } catch (error) {
      // If the thread has failed, the file is still there.
      await rm(path, { force: true })
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      ownUnfinished.delete(path)
    }
  }

  return { create, merge, rowStoreOf: rows.storeOf, list, close: rows.close }
}

/** The snapshots in a folder, for other threads or processes than the one that takes them. */
export const readSnapshotFolder = (dir: string): Pick<SnapshotStore, 'list'> => snapshotsIn(dir, openRowFiles(dir))

const snapshotsIn = (dir: string, rows: RowFiles): Pick<SnapshotStore, 'list'> => {
  const list: SnapshotStore['list'] = async (stream, foldVersion, revisionMax) => {
    const found: Array<LoadedSnapshot> = []
    const skipped: Array<SkippedSnapshot> = []
    const named = snapshotsOf(stream, await readdir(dir).catch(ifMissing))
    const files = await Promise.all(named.map(({ name }) => inspectSnapshot(join(dir, name)).catch((error: unknown) => `it cannot be read: ${String(error)}`)))
    for (const [index, { name }] of named.entries()) {
      const file = files[index] as (typeof files)[number]
      const skip = (reason: string): void => void skipped.push({ name, reason })
      if (typeof file === 'string') skip(file)
      else if (file.header.stream !== stream) skip(`it is of the stream ${file.header.stream}`)
      else if (file.header.foldVersion !== foldVersion) {
        skip(`it was made by version ${file.header.foldVersion} of the fold, not ${foldVersion}`)
      } else if (file.header.revision > revisionMax) {
        skip(`it ends at revision ${file.header.revision}, beyond ${revisionMax}`)
      } else {
        const path = join(dir, name)
        const isReplaced = (): Promise<boolean> => inspectSnapshot(path).then((now) => typeof now === 'object' && now.footer.sha256 !== file.footer.sha256, () => false)
        found.push({ header: file.header, pages: () => readSnapshotPages(path, file), isReplaced, rowsAt: rows.rowsOf(stream) })
      }
    }
    const { usable, baseless } = joinBases(found.reverse())
    for (const { header } of baseless) {
      skipped.push({ name: snapshotName(stream, header.revision), reason: `it is an increment to the snapshot at revision ${header.base?.revision}, which cannot be used` })
    }
    return { usable: usable.toReversed(), skipped }
  }
  return { list }
}
