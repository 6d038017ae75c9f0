/** Takes snapshots in small steps while the queue works. */
import { beginIncrement, beginSnapshot, changedCount, finishedCount, foldVersion, nameCount, noteChanges, type QueueState, revisionOf, type SnapshotWork, storedCount, taskCount } from '@daybook/core'
import { errorText } from '../../error-text.js'
import type { ChainHead, SnapshotBase, SnapshotHeader, SnapshotPoint, SnapshotStore, SnapshotWriter } from '../../store/index.js'
import { shortTurns } from '../../short-turns.js'
import { inSeries, isIncrementBetter, isMergeDue, isSnapshotDue, type SnapshotCost } from './snapshot-policy.js'

/** The least number of tasks per step, which takes a fraction of a millisecond. A single claim waits for several steps. */
const tasksPerTurn = 256

export interface SnapshotterOptions {
  readonly stream: string
  /** Id of the last durable event. */
  readonly lastId: () => string | undefined
  /** The last seal of the log; `undefined` for none. */
  readonly sealed: () => ChainHead | undefined
  /** Number of events between two snapshots. Default: see `snapshot-policy.ts`. */
  readonly every: number | undefined
  /** Whether a command waits for an answer. */
  readonly isBusy: () => boolean
  readonly warn: (message: string) => void
}

interface Series {
  /** How many tasks they have together. */
  tasks: number
  /** Whether they could not be merged, so that they may be of no use. */
  isDamaged: boolean
}

/** Whether there was no room on the disk. There is even less for a whole snapshot. */
const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(error.code))

export class Snapshotter {
  private tried: number
  private last: number
  private isUnderWay = false
  private isMerging = false
  private readonly stopping = new AbortController()
  /** The snapshot on which the next increment is based. */
  private base: SnapshotPoint | undefined
  /** The last snapshot and all on which it is based. A whole snapshot begins another series. */
  private series: Series

  /** `newest`: the newest snapshot. The state must have noted the changes since. Without a store, no snapshot is ever taken. */
  constructor(
    private readonly store: SnapshotStore | undefined,
    newest: SnapshotBase | undefined,
    private readonly options: SnapshotterOptions,
  ) {
    this.last = this.tried = newest?.revision ?? -1
    this.base = newest
    this.series = { tasks: newest?.tasks ?? 0, isDamaged: false }
  }

  /** Revision of the newest snapshot, -1 for none. */
  get revision(): number {
    return this.last
  }

  isDue(revision: number, state: QueueState): boolean {
    if (this.store === undefined || this.isUnderWay) return false
    const { every } = this.options
    const events = revision - this.tried
    return every === undefined ? isSnapshotDue(this.costOf(state, events)) : events >= every
  }

  private costOf(state: QueueState, events: number): SnapshotCost {
    return {
      events,
      tasks: taskCount(state),
      finished: finishedCount(state),
      stored: storedCount(state),
      names: nameCount(state),
      changed: this.base === undefined || this.series.isDamaged ? undefined : changedCount(state),
      inLast: this.series.tasks,
    }
  }

  /** Merges nothing from now on, and ends a merge that is under way. Resolves when no snapshot is being taken or merged. */
  async stop(): Promise<void> {
    this.stopping.abort()
    while (this.isUnderWay || this.isMerging) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  /** Takes a snapshot. Nothing may be in flight, because a snapshot must contain only durable events. */
  async take(state: QueueState): Promise<void> {
    if (this.store === undefined) return
    const { stream, lastId, sealed } = this.options
    const eventId = lastId()
    if (eventId === undefined) return
    this.isUnderWay = true
    const cost = this.costOf(state, revisionOf(state) - this.tried)
    const unfinished = cost.tasks - cost.finished
    const base = this.base !== undefined && isIncrementBetter(cost) ? { ...this.base, tasks: inSeries(cost) } : undefined
    const work = base === undefined ? beginSnapshot(state, true) : beginIncrement(state)
    const { revision } = work
    const header: SnapshotHeader = { stream, revision, eventId, foldVersion, sealed: sealed() ?? null, ...(base === undefined ? {} : { base }) }
    this.tried = revision
    // If this one fails, the next one is whole.
    this.base = undefined
    noteChanges(state)
    try {
      const writer = await this.store.create(header)
      try {
        await writeOut(work, writer, this.options.isBusy)
        await writer.commit()
        this.last = revision
        this.base = { revision, eventId }
        // A merge may have ended meanwhile.
        if (base === undefined) this.series = { tasks: unfinished, isDamaged: false }
        else this.series.tasks += base.tasks - cost.inLast
        if (base !== undefined && isMergeDue(cost, this.series.tasks)) void this.merge(this.store, header, this.series.tasks - unfinished)
      } catch (error) {
        await writer.abort()
        throw error
      }
    } catch (error) {
      // Without a snapshot the next start is only slower. The next one is tried when it is due.
      this.options.warn(`no snapshot at revision ${work.revision}: ${errorText(error)}`)
      work.abandon()
    } finally {
      this.isUnderWay = false
    }
  }

  /** Merges the last snapshot with all on which it is based. `spared`: how many tasks fewer its series has then. */
  private async merge(store: SnapshotStore, header: SnapshotHeader, spared: number): Promise<void> {
    const { series } = this
    const { signal } = this.stopping
    if (this.isMerging || signal.aborted) return
    this.isMerging = true
    try {
      await store.merge(header, signal)
      series.tasks -= spared
    } catch (error) {
      if (signal.aborted) return
      series.isDamaged = !isFull(error)
      this.options.warn(`the snapshot at revision ${header.revision} stays an increment${series.isDamaged ? ', and the next one will be whole' : ''}: ${errorText(error)}`)
    } finally {
      this.isMerging = false
    }
  }
}

const writeOut = async (work: SnapshotWork, writer: SnapshotWriter, isBusy: () => boolean): Promise<void> => {
  const othersTurn = shortTurns(isBusy)
  for (let pages = work.next(tasksPerTurn); pages !== undefined; pages = work.next(tasksPerTurn)) {
    for (const page of pages) await writer.page(page)
    await othersTurn()
  }
}
