/** From the log to the state: the newest usable snapshot, then what came after it. */
import { evolve, foldVersion, initial, isUnreadable, type QueueState, revisionOf, skip, snapshotReader } from '@daybook/core'
import type { EventStore, RecordedEvent, SnapshotStore } from '../store/index.js'
import { decodeRecorded } from './wire.js'

export const streamPrefix = 'taskqueue-'
export const streamOf = (queue: string): string => `${streamPrefix}${queue}`

export interface Replayed {
  readonly state: QueueState
  /** Of the snapshot it started from, -1 for none. */
  readonly snapshotRevision: number
}

export interface ReplayReport {
  /** A snapshot could not be used. */
  readonly skipped: (name: string, reason: string) => void
  readonly progress: (events: number, of: number) => void
}

/** Folds recorded events on. Consumes `state`. */
export const foldRecorded = (state: QueueState, events: ReadonlyArray<RecordedEvent>): QueueState => {
  let current = state
  for (const recorded of events) {
    const event = decodeRecorded(recorded)
    current = isUnreadable(event) ? skip(current, recorded.type, event) : evolve(current, event)
  }
  return current
}

export const replay = async (
  store: EventStore,
  snapshots: SnapshotStore | undefined,
  queue: string,
  report: ReplayReport,
): Promise<Replayed> => {
  const stream = streamOf(queue)
  const head = await store.head(stream)
  const loaded = snapshots === undefined ? undefined : await loadSnapshot(snapshots, stream, head, report)
  let state = loaded ?? initial(queue)
  const snapshotRevision = revisionOf(state)
  let done = 0
  const of = head - snapshotRevision
  report.progress(done, of)
  for await (const page of store.read(stream, { from: snapshotRevision + 1 })) {
    state = foldRecorded(state, page)
    done += page.length
    report.progress(done, Math.max(of, done))
  }
  return { state, snapshotRevision }
}

const loadSnapshot = async (
  snapshots: SnapshotStore,
  stream: string,
  head: number,
  report: ReplayReport,
): Promise<QueueState | undefined> => {
  const { usable, skipped } = await snapshots.list(stream, foldVersion, head)
  for (const { name, reason } of skipped) report.skipped(name, reason)
  for (const snapshot of usable) {
    try {
      const reader = snapshotReader()
      for await (const page of snapshot.lines()) for (const line of page) reader.line(line)
      const state = reader.finish()
      if (revisionOf(state) === snapshot.header.revision) return state
      report.skipped(`${stream}@${snapshot.header.revision}`, 'it holds another revision than its name says')
    } catch (error) {
      // A cache that cannot be read costs time, never truth: the next older one, or the whole log.
      report.skipped(`${stream}@${snapshot.header.revision}`, error instanceof Error ? error.message : String(error))
    }
  }
  return undefined
}
