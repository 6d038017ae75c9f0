/** Takes a snapshot of a queue without a server. */
import { revisionOf, unreadableCount } from '@daybook/core'
import type { LogReader, SnapshotStore } from '../../store/index.js'
import { replay, type ReplayReport, streamOf } from './replay.js'
import { Snapshotter } from './snapshotter.js'

/**
 * Makes sure that a snapshot of this version includes the event at `revision`; if there is none, takes one of the whole log. Returns the revision of
 * such a snapshot. `undefined` if none can be taken, because the log has events that this version cannot read.
 */
export const ensureSnapshot = async (log: LogReader, snapshots: SnapshotStore, queue: string, revision: number, progress: ReplayReport['progress']): Promise<number | undefined> => {
  const warnings: Array<string> = []
  const { state, chain, snapshot, lastId } = await replay(log, snapshots, queue, { skipped: () => undefined, progress })
  if (snapshot !== undefined && snapshot.revision >= revision) return snapshot.revision
  if (unreadableCount(state) > 0) return undefined
  const snapshotter = new Snapshotter(snapshots, snapshot, { stream: streamOf(queue), lastId: () => lastId, sealed: () => chain.head, every: undefined, isBusy: () => false, warn: (message) => warnings.push(message) })
  await snapshotter.take(state)
  // A merge would only be of use to later starts, and the caller waits.
  await snapshotter.stop()
  const [warning] = warnings
  if (warning !== undefined) throw new Error(warning)
  return revisionOf(state)
}
