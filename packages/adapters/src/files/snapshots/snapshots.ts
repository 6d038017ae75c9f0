import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { RowStore } from '@daybook/core'
import { isBase, joinBases, type LoadedSnapshot, type SkippedSnapshot, type SnapshotHeader, type SnapshotStore, type SnapshotWriter } from '../../store/index.js'
import { makeFolder } from '../make-folder.js'
import { isAlive } from '../process-alive.js'
import { openRowFiles, type RowFiles, type RowFilesOptions } from './row-files.js'
import { inspectSnapshot } from './snapshot-format.js'
import { type LadderLimits, ladderDefault, newestRungs, type Rung, superfluousRungs, withoutBaseless } from './snapshot-ladder.js'
import { isRowFile, rowFileName, rowFilesOf, snapshotName, snapshotsOf, streamPartOf, unfinishedBy, unfinishedName } from './snapshot-names.js'
import { readSnapshotPages } from './snapshot-pages.js'
import { writeSnapshot } from './snapshot-writer.js'

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

  /** Deletes row files that nobody needs. If that is not certain, they stay until the next time. */
  const removeUnnamed = async (rowFiles: ReadonlyArray<string>, names: ReadonlyArray<string>): Promise<void> => {
    if (rowFiles.length === 0) return
    const named = await rowFilesNamedIn(dir, names).catch(() => undefined)
    if (named !== undefined) await rows.remove(rowFiles.filter((name) => !named.has(name)))
  }
  const all = await readdir(dir)
  await removeUnnamed(all.filter(isRowFile), all)

  /** Never deletes the snapshot that was just written: after a log was restored from a backup, older snapshots may have higher revisions. */
  const prune = async (written: SnapshotHeader, writtenName: string): Promise<void> => {
    const others = snapshotsOf(written.stream, await readdir(dir)).filter(({ name }) => name !== writtenName)
    const inspected = await Promise.all([writtenName, ...others.map(({ name }) => name)].map((name) => rungOf(name, written)))
    const all = withoutBaseless(inspected.flatMap((rung) => rung ?? []))
    const newest = newestRungs(all, keep)
    const rungs = all.filter((rung) => !newest.includes(rung))
    const superfluous = new Set(superfluousRungs(rungs, written.revision, ladder, await rowBytesOf(written.stream, rungs, newest)))
    const kept = new Set(all.flatMap(({ name }) => (superfluous.has(name) ? [] : [name])))
    for (const { name } of others.slice(keep - 1)) if (!kept.has(name)) await rm(join(dir, name), { force: true })
    const left = await readdir(dir)
    await removeUnnamed(rowFilesOf(written.stream, left), snapshotsOf(written.stream, left).map(({ name }) => name))
  }

  /** The sizes of row files that only rungs need. */
  const rowBytesOf = async (stream: string, rungs: ReadonlyArray<Rung>, newest: ReadonlyArray<Rung>): Promise<ReadonlyMap<string, number>> => {
    const others = new Set(newest.flatMap(({ rows = [] }) => [...rows]))
    const files = new Set(rungs.flatMap((rung) => [...(rung.rows ?? [])].filter((file) => !others.has(file))))
    return new Map(await Promise.all([...files].map(async (file) => [file, await stat(join(dir, rowFileName(stream, file))).then(({ size }) => size, () => 0)] as const)))
  }

  /** `undefined` for a file with which no replay can begin: it is damaged, or of another version of the fold. */
  const rungOf = async (name: string, { stream, foldVersion }: SnapshotHeader): Promise<Rung | undefined> => {
    const path = join(dir, name)
    const file = await inspectSnapshot(path).catch(() => 'it cannot be read')
    if (typeof file === 'string' || file.header.stream !== stream || file.header.foldVersion !== foldVersion) return undefined
    const { revision, base } = file.header
    return { name, revision, bytes: file.size, rows: file.rows, ...(base === undefined ? {} : { base: base.revision }) }
  }

  const { list } = snapshotsIn(dir, rows)
  const create: SnapshotStore['create'] = async (header): Promise<SnapshotWriter> => {
    const { base } = header
    if (base !== undefined && !(await list(header.stream, header.foldVersion, base.revision)).usable.some((snapshot) => isBase(snapshot, base))) {
      throw new Error(`the snapshot at revision ${base.revision}, on which it is based, is gone`)
    }
    const name = snapshotName(header.stream, header.revision)
    const unfinished = join(dir, unfinishedName(name, process.pid, serial++))
    const forget = (): void => void ownUnfinished.delete(unfinished)
    ownUnfinished.add(unfinished)
    const writer = await writeSnapshot(header, { unfinished, finished: join(dir, name) }, (files) => rows.makeDurable(header.stream, files), forget)
    const commit = (): Promise<void> => writer.commit().then(() => prune(header, name))
    return { ...writer, commit }
  }

  return { create, rowStoreOf: rows.storeOf, list, close: rows.close }
}

/** The row files that these snapshots name. Rejects if one of the snapshots cannot be read now. */
const rowFilesNamedIn = async (dir: string, names: ReadonlyArray<string>): Promise<ReadonlySet<string>> => {
  const named = new Set<string>()
  for (const name of names) {
    const part = streamPartOf(name)
    if (part === undefined) continue
    const file = await inspectSnapshot(join(dir, name)).catch(ifMissing)
    if (typeof file === 'object' && 'rows' in file) for (const id of file.rows) named.add(`${part}.${id}.rows`)
  }
  return named
}

const ifMissing = (error: NodeJS.ErrnoException): ReadonlyArray<string> => {
  if (error.code === 'ENOENT') return []
  throw error
}

/** The snapshots in a folder, for other threads or processes than the one that takes them. */
export const readSnapshotFolder = (dir: string): Pick<SnapshotStore, 'list'> => snapshotsIn(dir, openRowFiles(dir))

const snapshotsIn = (dir: string, rows: RowFiles): Pick<SnapshotStore, 'list'> => {
  const list: SnapshotStore['list'] = async (stream, foldVersion, revisionMax) => {
    const found: Array<LoadedSnapshot> = []
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
      } else found.push({ header: file.header, pages: () => readSnapshotPages(path, file), rowsAt: rows.rowsOf(stream) })
    }
    const { usable, baseless } = joinBases(found.reverse())
    for (const { header } of baseless) {
      skipped.push({ name: snapshotName(stream, header.revision), reason: `it is an increment to the snapshot at revision ${header.base?.revision}, which cannot be used` })
    }
    return { usable: usable.toReversed(), skipped }
  }
  return { list }
}
