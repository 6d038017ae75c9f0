/** Deletes the snapshots of a folder that are no longer needed. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SnapshotHeader } from '../../store/index.js'
import { ifMissing } from '../../disk/if-missing.js'
import { isShortage } from '../../disk/shortage.js'
import { inspectSnapshot } from './snapshot-format.js'
import { type LadderLimits, newestRungs, type Rung, superfluousRungs, withoutBaseless } from './snapshot-ladder.js'
import { rowFileName, rowFilesOf, snapshotName, snapshotsOf, streamPartOf } from './snapshot-names.js'

export interface Kept {
  /** Number of the newest snapshots to keep of each stream, see `newestRungs`. */
  readonly keep: number
  /** The limits on older snapshots. */
  readonly ladder: LadderLimits
}

/**
 * Deletes snapshots of the stream of which one was just written. That one is never deleted: after a log was restored from a backup, older snapshots
 * may have higher revisions. Returns the stream's row files that no snapshot names.
 */
export const prune = async (dir: string, written: SnapshotHeader, { keep, ladder }: Kept): Promise<ReadonlyArray<string>> => {
  const writtenName = snapshotName(written.stream, written.revision)
  const others = snapshotsOf(written.stream, await readdir(dir)).filter(({ name }) => name !== writtenName)
  const inspected = await Promise.all([writtenName, ...others.map(({ name }) => name)].map((name) => rungOf(dir, name, written))).catch(ifShort)
  // They are thinned out after the next snapshot.
  if (inspected === undefined) return []
  const all = withoutBaseless(inspected.flatMap((rung) => rung ?? []))
  const newest = newestRungs(all, keep)
  const rungs = all.filter((rung) => !newest.includes(rung))
  const superfluous = new Set(superfluousRungs(rungs, written.revision, ladder, await rowBytesOf(dir, written.stream, rungs, newest)))
  const kept = new Set(all.flatMap(({ name }) => (superfluous.has(name) ? [] : [name])))
  for (const { name } of others.slice(keep - 1)) if (!kept.has(name)) await rm(join(dir, name), { force: true })
  const left = await readdir(dir)
  return unnamedIn(dir, rowFilesOf(written.stream, left), snapshotsOf(written.stream, left).map(({ name }) => name))
}

/** For `catch`: nothing, if files cannot be opened just now. */
const ifShort = (error: unknown): undefined => {
  if (!isShortage(error)) throw error
}

/** `undefined` for a file with which no replay can begin: it is damaged, or of another version of the fold. Rejects if it cannot be opened just now. */
const rungOf = async (dir: string, name: string, { stream, foldVersion }: SnapshotHeader): Promise<Rung | undefined> => {
  const file = await inspectSnapshot(join(dir, name)).catch((error: unknown) => {
    if (isShortage(error)) throw error
    return 'it cannot be read'
  })
  if (typeof file === 'string' || file.header.stream !== stream || file.header.foldVersion !== foldVersion) return undefined
  const { revision, base } = file.header
  return { name, revision, bytes: file.size, rows: file.rows, ...(base === undefined ? {} : { base: base.revision }) }
}

/** How much room the row files take that only rungs need. This is less than their sizes, because the unused part for columns takes none. */
const rowBytesOf = async (dir: string, stream: string, rungs: ReadonlyArray<Rung>, newest: ReadonlyArray<Rung>): Promise<ReadonlyMap<string, number>> => {
  const others = new Set(newest.flatMap(({ rows = [] }) => [...rows]))
  const files = new Set(rungs.flatMap((rung) => [...(rung.rows ?? [])].filter((file) => !others.has(file))))
  return new Map(await Promise.all([...files].map(async (file) => [file, await stat(join(dir, rowFileName(stream, file))).then(({ size, blocks }) => (blocks > 0 ? Math.min(size, 512 * blocks) : size), () => 0)] as const)))
}

/** Those of these row files that none of the snapshots names. None if that is not certain. */
export const unnamedIn = async (dir: string, rowFiles: ReadonlyArray<string>, snapshots: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  if (rowFiles.length === 0) return []
  const named = await rowFilesNamedIn(dir, snapshots).catch(() => undefined)
  return named === undefined ? [] : rowFiles.filter((name) => !named.has(name))
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
