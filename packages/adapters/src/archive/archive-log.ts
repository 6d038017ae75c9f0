/** Moves old events of queues into an archive: verifies each log, moves the events, then compacts the store. */
import { type SignedCheckpoints, verifyAt } from '../chain/index.js'
import { ensureSnapshot, queueOf, revisionAt } from '../engine/index.js'
import { type LogAddress, type OpenedLog, type SnapshotStore, StoreError } from '../store/index.js'
import { type ArchiveOptions, type ArchivePlan, type ArchiveProgress, archiveStream, planArchive } from './archive-stream.js'
import { joinedLog } from '../segments/joined-log.js'
import { type Compacted, openTrimmable } from './open-trimmable.js'
import type { Segment } from '../segments/segment.js'

/** The first revision that stays, or a time: earlier events are moved. */
export type Before = { readonly revision: number } | { readonly at: number }

export interface ArchivedStream extends ArchivePlan {
  readonly stream: string
  readonly segments: ReadonlyArray<Segment>
  /**
   * A snapshot that includes all moved events, so that a start need not read them. `undefined` if the folder of snapshots is not known, or if none
   * can be taken.
   */
  readonly snapshot?: number | undefined
}

export interface ArchiveLogOptions extends Omit<ArchiveOptions, 'progress'> {
  readonly address: LogAddress
  readonly streams: ReadonlyArray<string>
  readonly before: Before
  /** The largest number of events that are removed in one step. */
  readonly removeMax?: number
  /** The signed checkpoints of a stream. */
  readonly checkpoints?: (stream: string) => Promise<SignedCheckpoints | undefined>
  /** Where a snapshot is taken before events are moved, if no snapshot includes them. */
  readonly snapshots?: SnapshotStore | undefined
  readonly progress?: (progress: LogProgress) => void
}

export interface LogProgress {
  /** `compacting` is about the store, the others about a stream. */
  readonly step: 'checking' | 'folding' | ArchiveProgress['step'] | 'compacting'
  readonly stream?: string
  /** The last revision of this step so far, and the last that it will reach. */
  readonly revision?: number
  readonly last?: number
}

export interface ArchivedLog {
  readonly streams: ReadonlyArray<ArchivedStream>
  readonly compacted: Compacted | undefined
}

/** Returns what would be done. Nothing is changed, and a server may be running. */
export const planLog = async (log: OpenedLog, { streams, before, archive }: ArchiveLogOptions): Promise<ReadonlyArray<ArchivedStream>> => {
  const plans: Array<ArchivedStream> = []
  for (const stream of streams) plans.push({ stream, ...(await planOf(log, stream, before, archive)), segments: [] })
  return plans
}

const planOf = async (log: OpenedLog, stream: string, before: Before, archive: string): Promise<ArchivePlan> => {
  const revision = 'revision' in before ? before.revision : (await revisionAt(joinedLog(log, archive), stream, await log.head(stream), before.at - 1)) + 1
  return planArchive(log, archive, stream, revision)
}

/** @throws StoreError if a log is not whole, cannot be read, or is in use. Events that were moved by then stay moved, and the next run goes on from there. */
export const archiveLog = async (options: ArchiveLogOptions): Promise<ArchivedLog> => {
  const { address, archive, progress, checkpoints } = options
  const store = await openTrimmable(address, archive, options.removeMax)
  try {
    const streams: Array<ArchivedStream> = []
    for (const plan of await planLog(store.log, options)) {
      const { stream, first, archived, cut, head } = plan
      if (cut <= archived && archived <= first) {
        streams.push(plan)
        continue
      }
      const signed = await checkpoints?.(stream)
      const { broken } = await verifyAt(address, stream, { checkpoints: signed, progress: (events) => progress?.({ step: 'checking', stream, revision: events - 1, last: head }) })
      if (broken !== null) throw new StoreError('damaged', `The log ${stream} is not what was appended, and nothing of it was moved: ${broken.reason}. See daybook audit verify.`)
      const snapshot = await snapshotOf(store.log, plan, options)
      const segments = await archiveStream(store, stream, plan, { ...options, progress: (each) => progress?.({ ...each, stream, last: Math.max(cut, archived) - 1 }) })
      streams.push({ ...plan, first: await store.log.first(stream), segments, snapshot })
    }
    progress?.({ step: 'compacting' })
    return { streams, compacted: await store.compact() }
  } finally {
    await store.close()
  }
}

const snapshotOf = async (log: OpenedLog, { stream, head, cut }: ArchivePlan & { readonly stream: string }, { archive, snapshots, progress }: ArchiveLogOptions): Promise<number | undefined> => {
  if (snapshots === undefined) return undefined
  return ensureSnapshot(joinedLog(log, archive), snapshots, queueOf(stream), cut - 1, (events, of) => progress?.({ step: 'folding', stream, revision: head - of + events, last: head }))
}
