/**
 * The port to snapshots: caches on local disk, deletable at any time, never the truth.
 * What cannot be used (damaged, too new, another version) is skipped with a reason, never an error.
 */
import type { KeptRows, RowsPlace, RowStore, SnapshotPage } from '@daybook/core'
import type { ChainHead } from '../chain/index.js'

export interface SnapshotHeader {
  readonly stream: string
  /** The last revision that the snapshot holds. */
  readonly revision: number
  /** Id of the event at that revision: another log has another there. */
  readonly eventId: string
  /** Version of the fold that made it; another version is not loaded. */
  readonly foldVersion: number
  /** The last seal of the log at that revision (EV-07), `null` for none. Snapshots of earlier versions do not say. */
  readonly sealed?: ChainHead | null
}

export interface SnapshotWriter {
  /** Awaited: gives back-pressure. */
  readonly page: (page: SnapshotPage) => Promise<void>
  /** Makes the snapshot visible, atomically; older ones of the stream beyond `keep` are removed. */
  readonly commit: () => Promise<void>
  readonly abort: () => Promise<void>
}

export interface LoadedSnapshot {
  readonly header: SnapshotHeader
  /** In the order written. Rejects when a checksum fails: then try the next one. */
  readonly pages: () => AsyncIterable<SnapshotPage>
  /** The rows at a place that its pages name. Throws if they are not there: then it cannot be used either. Not there if no page names any. */
  readonly rowsAt?: (place: RowsPlace) => KeptRows
}

export interface SkippedSnapshot {
  readonly name: string
  readonly reason: string
}

export interface SnapshotStore {
  /** Where the rows of old finished tasks of a stream are, so that snapshots need not have them. Default: in memory, and in snapshots. */
  readonly rowStoreOf?: (stream: string) => RowStore
  readonly create: (header: SnapshotHeader) => Promise<SnapshotWriter>
  /** Usable ones of the stream, newest first, none beyond `revisionMax`, only of this fold version. */
  readonly list: (
    stream: string,
    foldVersion: number,
    revisionMax: number,
  ) => Promise<{ readonly usable: ReadonlyArray<LoadedSnapshot>; readonly skipped: ReadonlyArray<SkippedSnapshot> }>
}
