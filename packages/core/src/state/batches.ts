/**
 * The batches of a queue (INV-33): tasks that are counted together, and a task that is enqueued when all of them are finished (ADR 69).
 *
 * A batch is open for more tasks, then closed, then finished. A record is replaced as a whole, except for what it counts: that follows from the
 * transitions of its tasks, and a rollback takes these back.
 */
import type { BatchEnd } from '../model/batch-end.js'
import type { Approval } from './approvals.js'
import type { NumberSet } from '../structures/number-set.js'
import { SortedList } from '../structures/sorted-list.js'
import type { TaskRecord } from '../records/records.js'
import type { Status } from '../model/task.js'
import type { ScheduledTask } from '../model/task-fields.js'
import { UndoMap } from '../structures/undo-map.js'

/** Batches of a queue that are not finished at most; and finished ones that are kept at most, the newest. They are in memory and in snapshots. */
export const batchesMax = 10_000
/** Characters of one callback as JSON, and of those of all batches of a queue that are not finished. */
export const callbackTextMax = 65_536
export const callbackTextsMax = 4_194_304

/** What the status of a task counts as in its batch. */
export type CountedAs = 'open' | 'completed' | 'cancelled' | 'discarded' | 'deadLetters'
export const countedOf = (status: Status): CountedAs => {
  switch (status) {
    case 'completed':
    case 'cancelled':
    case 'discarded':
      return status
    case 'dead-letter':
      return 'deadLetters'
    default:
      return 'open'
  }
}

/** Of its tasks, how many stand where; and what waits for a guardian and would become tasks of it. */
export type BatchCounts = { [K in CountedAs | 'approvals']: number }
export const noCounts = (): BatchCounts => ({ open: 0, completed: 0, cancelled: 0, discarded: 0, deadLetters: 0, approvals: 0 })

export interface Batch {
  readonly id: string
  /** Of its first event: only tasks that were enqueued later can be its own. An id may be used again. */
  readonly revision: number
  readonly createdAt: number
  readonly tenant?: string
  readonly description?: string
  readonly on: BatchEnd
  /** The task that is enqueued when it is finished; `null` if there is none, or none any more. */
  readonly callback: ScheduledTask | null
  /** Characters of the callback as JSON. */
  readonly size: number
  /** No more tasks come from outside of it since then; 0 while it is open. */
  readonly closedAt: number
  readonly cancelled: { readonly at: number; readonly reason: string } | null
  readonly finishedAt: number
  /** The id of the callback, once it was enqueued. */
  readonly callbackTask: string | null
  /** Changed in place. */
  readonly counts: BatchCounts
  /** Numbers of its tasks that are not final. Changed in place. */
  readonly live: NumberSet
}

/** What decides whether a batch is finished. */
export type BatchGate = Pick<Batch, 'on' | 'cancelled'> & { readonly closedAt: number; readonly counts: Pick<BatchCounts, 'open' | 'deadLetters' | 'approvals'> }

/** Whether nothing is left to wait for. Nobody has to review what is left of a cancelled batch. */
export const hasNothingLeft = ({ on, cancelled, closedAt, counts: { open, deadLetters, approvals } }: BatchGate): boolean =>
  closedAt > 0 && open === 0 && (on === 'settled' || cancelled !== null || (deadLetters === 0 && approvals === 0))

const isRipe = (batch: Batch): boolean => batch.finishedAt === 0 && hasNothingLeft(batch)
/** Nothing changes it any more. */
export const isEnded = ({ finishedAt, counts: { open, deadLetters, approvals } }: Batch): boolean => finishedAt > 0 && open + deadLetters + approvals === 0

const goesOn = ({ finishedAt, cancelled }: Batch): boolean => finishedAt === 0 && cancelled === null

const byRevision = (a: Batch, b: Batch): number => a.revision - b.revision

export class Batches extends UndoMap<Batch> {
  /** Those that have ended, the longest finished first. */
  private readonly ended = new SortedList<Batch>(({ finishedAt }) => finishedAt, byRevision)
  /** Those that have nothing left to wait for, and are not finished yet. Mostly the same append finishes them: see `decide/batch-ends.ts`. */
  private readonly ripe = new Set<string>()
  /** Number of batches that are not finished. */
  unfinished = 0
  /** Characters of all callbacks as JSON. */
  textSize = 0

  protected override replaced(from: Batch | undefined, to: Batch | undefined): void {
    if (from !== undefined) this.unlist(from)
    if (to !== undefined) this.list(to)
    this.textSize += (to?.size ?? 0) - (from?.size ?? 0)
    this.unfinished += (to?.finishedAt === 0 ? 1 : 0) - (from?.finishedAt === 0 ? 1 : 0)
  }

  get endedCount(): number {
    return this.ended.size
  }

  /** The oldest first. */
  all(): ReadonlyArray<Batch> {
    return [...this.values()].sort(byRevision)
  }

  firstEnded(): Batch | undefined {
    return this.ended.first()
  }

  /** The ids of those that a tick is to finish. */
  ripeOnes(): ReadonlyArray<string> {
    return this.ripe.size === 0 ? none : [...this.ripe].sort()
  }

  get isAnyRipe(): boolean {
    return this.ripe.size > 0
  }

  /** The batch that the task is in, if it is known. */
  of({ extras: { batchId }, enqueuedRevision }: Pick<TaskRecord, 'extras' | 'enqueuedRevision'>): Batch | undefined {
    return batchId === undefined ? undefined : this.since(batchId, enqueuedRevision)
  }

  /** The batch for whose tasks a guardian's decision is awaited. */
  ofApproval({ tasks: [first], revision }: Approval): Batch | undefined {
    return first?.batchId === undefined ? undefined : this.since(first.batchId, revision)
  }

  /** The id of the batch that tasks which come of this one join as well: its own, while that goes on. */
  joinedBy(task: Pick<TaskRecord, 'extras' | 'enqueuedRevision'>): string | undefined {
    const batch = this.of(task)
    return batch !== undefined && goesOn(batch) ? batch.id : undefined
  }

  /** Whether the tasks that are approved join the batch for which they were planned. */
  isJoinedByApproved(approval: Approval): boolean {
    const batch = this.ofApproval(approval)
    return batch !== undefined && goesOn(batch)
  }

  private since(id: string, revision: number): Batch | undefined {
    const batch = this.get(id)
    return batch !== undefined && revision > batch.revision ? batch : undefined
  }

  /** Adds the batch, or replaces the one with this id. */
  put(batch: Batch): void {
    this.set(batch.id, batch)
  }

  /** The task's status has changed. `undefined`: it was not there before, or is not any more. A rollback calls it as well. */
  moved(task: TaskRecord, from: Status | undefined, to: Status | undefined): void {
    const before = from === undefined ? undefined : countedOf(from)
    const after = to === undefined ? undefined : countedOf(to)
    if (before === after) return
    const batch = this.of(task)
    if (batch === undefined) return
    this.count(batch, before, after)
    if (after === 'open' || after === 'deadLetters') batch.live.add(task.number)
    else batch.live.remove(task.number)
  }

  /** Something that waits for a guardian was opened, or closed. */
  awaits(approval: Approval, isOpen: boolean): void {
    const batch = this.ofApproval(approval)
    if (batch !== undefined) this.count(batch, isOpen ? undefined : 'approvals', isOpen ? 'approvals' : undefined)
  }

  /** A task of a snapshot, which is counted already. */
  enlist(task: TaskRecord): void {
    this.of(task)?.live.add(task.number)
  }

  private count(batch: Batch, from: keyof BatchCounts | undefined, to: keyof BatchCounts | undefined): void {
    this.unlist(batch)
    if (from !== undefined) batch.counts[from]--
    if (to !== undefined) batch.counts[to]++
    this.list(batch)
  }

  private list(batch: Batch): void {
    if (isEnded(batch)) this.ended.add(batch)
    else if (isRipe(batch)) this.ripe.add(batch.id)
  }

  private unlist(batch: Batch): void {
    if (isEnded(batch)) this.ended.remove(batch)
    else this.ripe.delete(batch.id)
  }
}
const none: ReadonlyArray<never> = []
