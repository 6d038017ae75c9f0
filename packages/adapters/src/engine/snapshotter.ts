/** Snapshots are taken in small steps, while the queue works on. */
import { beginSnapshot, foldVersion, type QueueState, type SnapshotWork, taskCount } from '@daybook/core'
import type { SnapshotStore, SnapshotWriter } from '../store/index.js'
import { shortTurns } from '../short-turns.js'
import { describe } from './refusals.js'
import { isSnapshotDue } from './snapshot-policy.js'

/** Tasks written at least before others get their turn: a fraction of a millisecond, which a lone claim meets several times on its way. */
const tasksPerTurn = 256

export interface SnapshotterOptions {
  readonly stream: string
  /** Of the last event that is durable. */
  readonly lastId: () => string | undefined
  /** Events between two snapshots; by default as many as it pays to wait for. */
  readonly every: number | undefined
  readonly warn: (message: string) => void
}

export class Snapshotter {
  private tried: number
  private isUnderWay = false

  /** `last` is the revision of the newest snapshot, -1 for none. Without a store, none is ever taken. */
  constructor(
    private readonly store: SnapshotStore | undefined,
    private last: number,
    private readonly options: SnapshotterOptions,
  ) {
    this.tried = last
  }

  /** Of the newest snapshot, -1 for none. */
  get revision(): number {
    return this.last
  }

  isDue(revision: number, state: QueueState): boolean {
    if (this.store === undefined || this.isUnderWay) return false
    const { every } = this.options
    const events = revision - this.tried
    return every === undefined ? isSnapshotDue(events, taskCount(state)) : events >= every
  }

  /** Resolves when no snapshot is under way. */
  async idle(): Promise<void> {
    while (this.isUnderWay) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  /** Call with nothing in flight: a snapshot never holds what is not durable. */
  async take(state: QueueState): Promise<void> {
    if (this.store === undefined) return
    const { stream, lastId } = this.options
    const eventId = lastId()
    if (eventId === undefined) return
    this.isUnderWay = true
    const work = beginSnapshot(state)
    this.tried = work.revision
    try {
      const { revision } = work
      const writer = await this.store.create({ stream, revision, eventId, foldVersion })
      try {
        await writeOut(work, writer)
        await writer.commit()
        this.last = work.revision
      } catch (error) {
        await writer.abort()
        throw error
      }
    } catch (error) {
      // Only the next start is slower; the next snapshot is tried when it is due.
      this.options.warn(`no snapshot at revision ${work.revision}: ${describe(error)}`)
      work.abandon()
    } finally {
      this.isUnderWay = false
    }
  }
}

const writeOut = async (work: SnapshotWork, writer: SnapshotWriter): Promise<void> => {
  const othersTurn = shortTurns()
  for (let pages = work.next(tasksPerTurn); pages !== undefined; pages = work.next(tasksPerTurn)) {
    for (const page of pages) await writer.page(page)
    await othersTurn()
  }
}
