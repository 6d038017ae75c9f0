import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { LoadedSnapshot, SkippedSnapshot, SnapshotHeader, SnapshotStore, SnapshotWriter } from '../store/index.js'
import { makeFolder } from './make-folder.js'
import { isAlive } from './process-alive.js'
import { footerBytes, inspectSnapshot } from './snapshot-format.js'
import { type LadderLimits, ladderDefault, type Rung, superfluousRungs } from './snapshot-ladder.js'
import { snapshotName, snapshotsOf, unfinishedBy, unfinishedName } from './snapshot-names.js'
import { readSnapshotPages } from './snapshot-pages.js'
import { writeSnapshot } from './snapshot-writer.js'

export interface SnapshotFolderOptions {
  /** How many of the newest to keep of each stream. With two, one is left when the other is damaged. At least 1. Default: 2. */
  readonly keep?: number
  /** Which older ones to keep. */
  readonly ladder?: LadderLimits
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

/** Keeps snapshots as files in a folder, which is made when it is missing. The folder may be deleted at any time. */
export const openSnapshotFolder = async (
  dir: string,
  { keep = 2, ladder = ladderDefault }: SnapshotFolderOptions = {},
): Promise<SnapshotStore> => {
  if (!Number.isInteger(keep) || keep < 1) throw new RangeError(`keep must be 1 or more, not ${keep}.`)
  makeFolder(dir)
  await removeLeftovers(dir)

  /** Never deletes the one just written: after a log was restored from a backup, older snapshots may have higher revisions. */
  const prune = async (written: SnapshotHeader, writtenName: string): Promise<void> => {
    const others = snapshotsOf(written.stream, await readdir(dir)).filter(({ name }) => name !== writtenName)
    const older = others.slice(keep - 1)
    const rungs = (await Promise.all(older.map(({ name }) => rungOf(name, written)))).flatMap((rung) => rung ?? [])
    const superfluous = new Set(superfluousRungs(rungs, written.revision, ladder))
    const kept = new Set(rungs.flatMap(({ name }) => (superfluous.has(name) ? [] : [name])))
    for (const { name } of older) if (!kept.has(name)) await rm(join(dir, name), { force: true })
  }

  /** `undefined` for a file that no replay can begin with: it is damaged, or of another version of the fold. */
  const rungOf = async (name: string, { stream, foldVersion }: SnapshotHeader): Promise<Rung | undefined> => {
    const path = join(dir, name)
    const file = await inspectSnapshot(path).catch(() => 'it cannot be read')
    if (typeof file === 'string' || file.header.stream !== stream || file.header.foldVersion !== foldVersion) return undefined
    return { name, revision: file.header.revision, bytes: file.to + footerBytes }
  }

  const create: SnapshotStore['create'] = async (header): Promise<SnapshotWriter> => {
    const name = snapshotName(header.stream, header.revision)
    const unfinished = join(dir, unfinishedName(name, process.pid, serial++))
    const forget = (): void => void ownUnfinished.delete(unfinished)
    ownUnfinished.add(unfinished)
    const writer = await writeSnapshot(header, { unfinished, finished: join(dir, name) }, forget)
    const commit = (): Promise<void> => writer.commit().then(() => prune(header, name))
    return { ...writer, commit }
  }

  return { create, ...readSnapshotFolder(dir) }
}

const ifMissing = (error: NodeJS.ErrnoException): ReadonlyArray<string> => {
  if (error.code === 'ENOENT') return []
  throw error
}

/** The snapshots in a folder, for another thread or process than the one that takes them. */
export const readSnapshotFolder = (dir: string): Pick<SnapshotStore, 'list'> => {
  const list: SnapshotStore['list'] = async (stream, foldVersion, revisionMax) => {
    const usable: Array<LoadedSnapshot> = []
    const skipped: Array<SkippedSnapshot> = []
    for (const { name } of snapshotsOf(stream, await readdir(dir).catch(ifMissing))) {
      const path = join(dir, name)
      const skip = (reason: string): void => void skipped.push({ name, reason })
      const file = await inspectSnapshot(path).catch((error: unknown) => `it cannot be read: ${String(error)}`)
      if (typeof file === 'string') skip(file)
      else if (file.header.stream !== stream) skip(`it is of the stream ${file.header.stream}`)
      else if (file.header.foldVersion !== foldVersion) {
        skip(`it was made by version ${file.header.foldVersion} of the fold, not ${foldVersion}`)
      } else if (file.header.revision > revisionMax) {
        skip(`it ends at revision ${file.header.revision}, beyond ${revisionMax}`)
      } else usable.push({ header: file.header, pages: () => readSnapshotPages(path, file) })
    }
    return { usable, skipped }
  }
  return { list }
}
