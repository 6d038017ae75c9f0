/** Rebuilds the state: loads the newest usable snapshot and folds the events after it. */
import { randomInt } from 'node:crypto'
import { beginReplay, endReplay, evolve, finishedCount, foldVersion, initial, isUnreadable, noteChanges, type QueueEvent, type QueueState, revisionOf, type RowStore, skip, snapshotReader, taskCount, type Unreadable, WrongBase } from '@daybook/core'
import { errorText } from '../../error-text.js'
import { Chain, lastSealIn, readSeal } from '../../seals/index.js'
import { type ChainHead, type LoadedSnapshot, type LogReader, type RecordedEvent, type SnapshotBase, type SnapshotHeader, type SnapshotStore, StoreError } from '../../store/index.js'
import { decodeRecorded } from '../log/wire.js'

/** See `initial` in the core. */
const indexSeed = randomInt(2 ** 32)

/** A queue before its first event. `endReplay` must be called when its log has been folded. `rowStore`: see `initial` in the core. */
export const emptyState = (queue: string, rowStore?: RowStore): QueueState => beginReplay(initial(queue, indexSeed, rowStore))

export const streamPrefix = 'taskqueue-'
export const streamOf = (queue: string): string => `${streamPrefix}${queue}`
export const queueOf = (stream: string): string => stream.slice(streamPrefix.length)

export interface Replayed {
  readonly state: QueueState
  readonly chain: Chain
  /** The snapshot from which the replay started. The state has noted the changes since. */
  readonly snapshot: SnapshotBase | undefined
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
 * @throws StoreError `truncated` if the events do not continue at the end of the state: the beginning of the log was cut off, or it is another log.
 */
export const foldRecorded = (
  state: QueueState,
  events: ReadonlyArray<RecordedEvent>,
  onEvent?: (event: QueueEvent | Unreadable, before: QueueState) => void,
): QueueState => {
  const next = revisionOf(state) + 1
  // Checked before folding, which consumes the state. Revisions grow, so the right first and last revision prove that there is no gap.
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
  store: LogReader,
  snapshots: SnapshotStore | undefined,
  queue: string,
  report: ReplayReport,
): Promise<Replayed> => {
  const stream = streamOf(queue)
  const head = await store.head(stream)
  const loaded = snapshots === undefined ? undefined : await loadSnapshot(store, snapshots, stream, head, report)
  let state = loaded?.state ?? emptyState(queue, snapshots?.rowStoreOf?.(stream))
  let lastId = loaded?.header.eventId
  let sealed = loaded === undefined ? undefined : await sealOf(store, loaded.header)
  const snapshot = loaded === undefined ? undefined : baseOf(loaded.header, state)
  if (snapshot !== undefined) noteChanges(state)
  const snapshotRevision = revisionOf(state)
  let done = 0
  const of = head - snapshotRevision
  report.progress(done, of)
  for await (const page of store.read(stream, { from: snapshotRevision + 1 })) {
    state = foldRecorded(state, page)
    lastId = page[page.length - 1]?.id ?? lastId
    sealed = lastSealIn(page) ?? sealed
    done += page.length
    report.progress(done, Math.max(of, done))
  }
  const chain = await chainFrom(store, stream, sealed, revisionOf(state))
  return { state: endReplay(state), chain, snapshot, lastId }
}

const baseOf = ({ revision, eventId, base }: SnapshotHeader, loaded: QueueState): SnapshotBase => ({ revision, eventId, tasks: base?.tasks ?? taskCount(loaded) - finishedCount(loaded) })

/** The chain of a log that ends at `head`. Events after its last seal are read once more; there are none, unless an older server wrote them. */
const chainFrom = async (store: LogReader, stream: string, sealed: ChainHead | undefined, head: number): Promise<Chain> => {
  const chain = new Chain(stream, sealed)
  if (sealed === undefined || sealed.revision >= head) return chain
  for await (const page of store.read(stream, { from: sealed.revision + 1, limit: head - sealed.revision })) chain.take(page)
  return chain
}

/** The last seal at the revision of a snapshot. If the snapshot does not name it, because an earlier version wrote it, the seal is looked for in the log. */
const sealOf = async (store: LogReader, { stream, revision, sealed }: SnapshotHeader): Promise<ChainHead | undefined> => {
  if (sealed !== undefined) return sealed ?? undefined
  for await (const page of store.read(stream, { from: revision, direction: 'backwards' })) {
    const found = lastSealIn([...page].reverse())
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Why the snapshot is not of this log; `undefined` if the log has the snapshot's last event, and the seal that it names (EV-07). If the events cannot
 * be read, because they were cut off or are damaged, the snapshot is trusted.
 */
const strangeness = async (store: LogReader, { stream, revision, eventId, sealed }: SnapshotHeader): Promise<string | undefined> => {
  const [event] = await store.pick(stream, [revision]).catch(() => [])
  if (event !== undefined && event.id !== eventId) return 'it is of another log'
  if (sealed === undefined || sealed === null) return undefined
  const [last] = sealed.revision === revision ? [event] : await store.pick(stream, [sealed.revision]).catch(() => [])
  if (last === undefined) return undefined
  if (readSeal(last.metadata)?.seal.hash === sealed.hash) return undefined
  return `the log was altered since: revision ${sealed.revision} does not have the hash that it had. Run daybook audit verify`
}

/** The snapshot, and all on which it is based. */
const partsOf = (snapshot: LoadedSnapshot): ReadonlyArray<LoadedSnapshot> => [snapshot, ...(snapshot.base === undefined ? [] : partsOf(snapshot.base))]

/**
 * The state of the newest usable snapshot that is not beyond the revision `head`; `undefined` if there is none. `endReplay` must be called when the
 * events after it have been folded.
 */
export const loadSnapshot = async (
  store: LogReader,
  snapshots: Pick<SnapshotStore, 'list' | 'rowStoreOf'>,
  stream: string,
  head: number,
  report: Pick<ReplayReport, 'skipped'>,
): Promise<{ readonly state: QueueState; readonly header: SnapshotHeader } | undefined> => {
  const { usable, skipped } = await snapshots.list(stream, foldVersion, head)
  for (const { name, reason } of skipped) report.skipped(name, reason)
  /** Each is read once, however many increments are based on it. */
  const unreadable = new Set<LoadedSnapshot>()
  for (const snapshot of usable) {
    const parts = partsOf(snapshot)
    const known = parts.find((part) => unreadable.has(part))
    if (known !== undefined) {
      report.skipped(`${stream}@${snapshot.header.revision}`, known === snapshot ? 'it cannot be read' : `it is based on the snapshot at revision ${known.header.revision}, which cannot be read`)
      continue
    }
    let reading = snapshot
    try {
      const strange = await strangeness(store, snapshot.header)
      if (strange !== undefined) {
        report.skipped(`${stream}@${snapshot.header.revision}`, strange)
        continue
      }
      const reader = snapshotReader(snapshots.rowStoreOf?.(stream), snapshot.rowsAt)
      for (const part of parts) {
        reading = part
        if (part !== snapshot) reader.base()
        for await (const page of part.pages()) reader.page(page)
      }
      reading = snapshot
      const state = reader.finish(true)
      if (revisionOf(state) === snapshot.header.revision) return { state, header: snapshot.header }
      report.skipped(`${stream}@${snapshot.header.revision}`, 'it holds another revision than its name says')
    } catch (error) {
      if ((await reading.isReplaced?.()) === true) return loadSnapshot(store, snapshots, stream, head, report)
      // A snapshot is a cache: the next older one is used, or the whole log.
      unreadable.add(error instanceof WrongBase ? snapshot : reading)
      report.skipped(`${stream}@${snapshot.header.revision}`, errorText(error))
    }
  }
  return undefined
}
