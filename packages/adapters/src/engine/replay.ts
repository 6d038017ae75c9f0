/** Rebuilds the state: loads the newest usable snapshot and folds the events after it. */
import { randomInt } from 'node:crypto'
import { beginReplay, endReplay, evolve, foldVersion, initial, isUnreadable, type QueueEvent, type QueueState, revisionOf, skip, snapshotReader, type Unreadable } from '@daybook/core'
import { type EventStore, type LogReader, type RecordedEvent, type SnapshotHeader, type SnapshotStore, StoreError } from '../store/index.js'
import { decodeRecorded } from './wire.js'

/** See core's `initial`. */
const indexSeed = randomInt(2 ** 32)

/** A queue before its first event. `endReplay` must be called when its log has been folded. */
export const emptyState = (queue: string): QueueState => beginReplay(initial(queue, indexSeed))

export const streamPrefix = 'taskqueue-'
export const streamOf = (queue: string): string => `${streamPrefix}${queue}`

export interface Replayed {
  readonly state: QueueState
  /** Revision of the snapshot it started from, -1 for none. */
  readonly snapshotRevision: number
  /** Id of the last event, `undefined` for none. */
  readonly lastId: string | undefined
}

export interface ReplayReport {
  /** Called for a snapshot that cannot be used. */
  readonly skipped: (name: string, reason: string) => void
  readonly progress: (events: number, of: number) => void
}

/**
 * Folds recorded events into `state`, which it consumes, and reports each.
 *
 * @throws StoreError `truncated` if the events do not continue where the state ends: the beginning of the log was cut off, or it is another log.
 */
export const foldRecorded = (
  state: QueueState,
  events: ReadonlyArray<RecordedEvent>,
  onEvent?: (event: QueueEvent | Unreadable, before: QueueState) => void,
): QueueState => {
  const next = revisionOf(state) + 1
  // Checked before folding, which consumes the state. Revisions grow, so the right first and last revision mean that there is no gap.
  const [first] = events
  const last = events[events.length - 1]
  if (first !== undefined && first.revision !== next) throw gapError(first, next)
  if (last !== undefined && last.revision !== next + events.length - 1) throw gapError(last, next + events.length - 1)
  let current = state
  for (const recorded of events) {
    const event = decodeRecorded(recorded)
    onEvent?.(event, current)
    current = isUnreadable(event) ? skip(current, recorded.type, event) : evolve(current, event)
  }
  return current
}

const gapError = ({ stream, revision }: RecordedEvent, wanted: number): StoreError =>
  new StoreError(
    'truncated',
    `The log ${stream} goes on at revision ${revision} where ${wanted} should be: events were cut off or removed by somebody. ` +
      'Nothing is made up for them: bring back a snapshot that reaches behind the gap, or a backup of the log',
  )

export const replay = async (
  store: EventStore,
  snapshots: SnapshotStore | undefined,
  queue: string,
  report: ReplayReport,
): Promise<Replayed> => {
  const stream = streamOf(queue)
  const head = await store.head(stream)
  const loaded = snapshots === undefined ? undefined : await loadSnapshot(store, snapshots, stream, head, report)
  let state = loaded?.state ?? emptyState(queue)
  let lastId = loaded?.eventId
  const snapshotRevision = revisionOf(state)
  let done = 0
  const of = head - snapshotRevision
  report.progress(done, of)
  for await (const page of store.read(stream, { from: snapshotRevision + 1 })) {
    state = foldRecorded(state, page)
    lastId = page[page.length - 1]?.id ?? lastId
    done += page.length
    report.progress(done, Math.max(of, done))
  }
  return { state: endReplay(state), snapshotRevision, lastId }
}

/** Whether the log has the last event of the snapshot. If the event cannot be read, because it was cut off or is damaged, the snapshot is trusted. */
const isOfThisLog = async (store: LogReader, { stream, revision, eventId }: SnapshotHeader): Promise<boolean> => {
  const [event] = await store.pick(stream, [revision]).catch(() => [])
  return event === undefined || event.id === eventId
}

/** The state of the newest usable snapshot that is not beyond the revision `head`; `undefined` if there is none. `endReplay` must be called when the events after it have been folded. */
export const loadSnapshot = async (
  store: LogReader,
  snapshots: Pick<SnapshotStore, 'list'>,
  stream: string,
  head: number,
  report: Pick<ReplayReport, 'skipped'>,
): Promise<{ readonly state: QueueState; readonly eventId: string } | undefined> => {
  const { usable, skipped } = await snapshots.list(stream, foldVersion, head)
  for (const { name, reason } of skipped) report.skipped(name, reason)
  for (const snapshot of usable) {
    try {
      if (!(await isOfThisLog(store, snapshot.header))) {
        report.skipped(`${stream}@${snapshot.header.revision}`, 'it is of another log')
        continue
      }
      const reader = snapshotReader(indexSeed)
      for await (const page of snapshot.pages()) reader.page(page)
      const state = reader.finish(true)
      if (revisionOf(state) === snapshot.header.revision) return { state, eventId: snapshot.header.eventId }
      report.skipped(`${stream}@${snapshot.header.revision}`, 'it holds another revision than its name says')
    } catch (error) {
      // A snapshot is a cache: without it, the next older one or the whole log is used.
      report.skipped(`${stream}@${snapshot.header.revision}`, error instanceof Error ? error.message : String(error))
    }
  }
  return undefined
}
