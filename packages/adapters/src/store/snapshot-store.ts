/**
 * The port to snapshots. They are caches on a local disk, which can be deleted at any time; the log is the truth. A snapshot that cannot be used
 * (damaged, too new, another version) is skipped with a reason, and is never an error.
 */
import type { KeptRows, RowsPlace, RowStore, SnapshotPage } from '@daybook/core'
import type { ChainHead } from './chain-end.js'

export interface SnapshotHeader {
  readonly stream: string
  /** The last revision that the snapshot includes. */
  readonly revision: number
  /** Id of the event at that revision. Another log has another id there. */
  readonly eventId: string
  /** Version of the fold that made it. A snapshot of another version is not loaded. */
  readonly foldVersion: number
  /** The last seal of the log at that revision (EV-07); `null` for none. Missing in snapshots of earlier versions. */
  readonly sealed?: ChainHead | null
  /** Only in an increment: the snapshot on which it is based. */
  readonly base?: SnapshotBase
}

/** A moment of a log: the last revision, and the id of the event there. */
export interface SnapshotPoint {
  readonly revision: number
  readonly eventId: string
}

export interface SnapshotBase extends SnapshotPoint {
  /** How many tasks this increment and all snapshots on which it is based have together, at most. A task that changed is counted more than once. */
  readonly tasks: number
}

export interface SnapshotWriter {
  /** Adds a page. Awaited, for back-pressure. */
  readonly page: (page: SnapshotPage) => Promise<void>
  /** Makes the snapshot visible, atomically. Older snapshots of the stream beyond `keep` are removed. */
  readonly commit: () => Promise<void>
  readonly abort: () => Promise<void>
}

export interface LoadedSnapshot {
  readonly header: SnapshotHeader
  /** The pages in the order in which they were written. Rejects if a checksum fails: then try the next snapshot. */
  readonly pages: () => AsyncIterable<SnapshotPage>
  /** The base of an increment, and so on up to a whole snapshot, which has none. Its pages must be read after those of the increment. */
  readonly base?: LoadedSnapshot
  /** Whether a merged snapshot has taken its place since it was listed: then its pages cannot be read any more. Default: never. */
  readonly isReplaced?: () => Promise<boolean>
  /** The rows at a place that its pages name. Throws if they are gone: then the snapshot cannot be used. Missing if no page names a place. */
  readonly rowsAt?: (place: RowsPlace) => KeptRows
}

export interface SkippedSnapshot {
  readonly name: string
  readonly reason: string
}

export interface SnapshotStore {
  /** A store for the rows of a stream's old finished tasks, so that snapshots need not contain them. Default: rows are in memory, and in snapshots. */
  readonly rowStoreOf?: (stream: string) => RowStore
  /** Rejects an increment if its base, or the base of that, is not there any more. */
  readonly create: (header: SnapshotHeader) => Promise<SnapshotWriter>
  /**
   * Puts a whole snapshot in the place of an increment, made of it and all on which it is based. Increments to it stay usable. Rejects if one of these
   * cannot be read, or if the signal ends it; then the increment stays as it is.
   */
  readonly merge: (increment: SnapshotHeader, signal: AbortSignal) => Promise<void>
  /** The usable snapshots of the stream, newest first, none beyond `revisionMax`, only of this fold version. */
  readonly list: (
    stream: string,
    foldVersion: number,
    revisionMax: number,
  ) => Promise<{ readonly usable: ReadonlyArray<LoadedSnapshot>; readonly skipped: ReadonlyArray<SkippedSnapshot> }>
}

/** Joins increments with their bases. `snapshots`: the oldest first. Those whose base is not among them, or cannot be used, are `baseless`. */
export const joinBases = (snapshots: ReadonlyArray<LoadedSnapshot>): { readonly usable: ReadonlyArray<LoadedSnapshot>; readonly baseless: ReadonlyArray<LoadedSnapshot> } => {
  const usable: Array<LoadedSnapshot> = []
  const baseless: Array<LoadedSnapshot> = []
  for (const snapshot of snapshots) {
    const { base: wanted } = snapshot.header
    const base = wanted === undefined ? undefined : usable.find((other) => isBase(other, wanted))
    if (wanted !== undefined && base === undefined) baseless.push(snapshot)
    else usable.push(base === undefined ? snapshot : { ...snapshot, base })
  }
  return { usable, baseless }
}

const isBase = ({ header }: LoadedSnapshot, { revision, eventId }: SnapshotPoint): boolean => header.revision === revision && header.eventId === eventId
