/** Takes snapshots in small steps while the queue works. */
import { beginSnapshot, finishedCount, foldVersion, type QueueState, type SnapshotWork, storedCount, taskCount } from '@daybook/core'
import type { ChainHead } from '../../chain/index.js'
import type { SnapshotStore, SnapshotWriter } from '../../store/index.js'
import { shortTurns } from '../../short-turns.js'
import { describe } from '../refusals.js'
import { isSnapshotDue } from './snapshot-policy.js'

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

export class Snapshotter {
  private tried: number
  private isUnderWay = false

  /** `last`: the revision of the newest snapshot, -1 for none. Without a store, no snapshot is ever taken. */
  constructor(
    private readonly store: SnapshotStore | undefined,
    private last: number,
    private readonly options: SnapshotterOptions,
  ) {
    this.tried = last
  }

  /** Revision of the newest snapshot, -1 for none. */
  get revision(): number {
    return this.last
  }

  isDue(revision: number, state: QueueState): boolean {
    if (this.store === undefined || this.isUnderWay) return false
    const { every } = this.options
    const events = revision - this.tried
    return every === undefined ? isSnapshotDue(events, taskCount(state), finishedCount(state), storedCount(state)) : events >= every
  }

  /** Resolves when no snapshot is being taken. */
  async idle(): Promise<void> {
    while (this.isUnderWay) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  /** Takes a snapshot. Nothing may be in flight, because a snapshot must contain only durable events. */
  async take(state: QueueState): Promise<void> {
    if (this.store === undefined) return
    const { stream, lastId, sealed } = this.options
    const eventId = lastId()
    if (eventId === undefined) return
    this.isUnderWay = true
    const work = beginSnapshot(state, true)
    this.tried = work.revision
    try {
      const { revision } = work
      const writer = await this.store.create({ stream, revision, eventId, foldVersion, sealed: sealed() ?? null })
      try {
        await writeOut(work, writer, this.options.isBusy)
        await writer.commit()
        this.last = work.revision
      } catch (error) {
        await writer.abort()
        throw error
      }
    } catch (error) {
      // Without a snapshot the next start is only slower. The next one is tried when it is due.
      this.options.warn(`no snapshot at revision ${work.revision}: ${describe(error)}`)
      work.abandon()
    } finally {
      this.isUnderWay = false
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
